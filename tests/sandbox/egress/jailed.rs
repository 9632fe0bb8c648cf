//! Processes that may reach the proxy, attacked past every argument rule.

use fileshed_test_support::skip;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use fileshed_core::sandbox::egress::{EgressGrant, RefusalStyle};
use serde_json::{Value, json};

use super::origin::{CONTENT, sound};
use super::{Origin, Unseen, proxy};
use crate::attacks::{Scene, installed, loader, ways};

fn to_proxy(port: u16, environment: &[(String, String)]) -> Value {
    let mut variables = vec![("PATH".to_owned(), "/usr/bin".to_owned())];
    variables.extend(environment.iter().cloned());
    json!({"environment": variables, "access": {"network": {"proxy": {"port": port}}}})
}

#[test]
fn only_the_proxy_is_reached() {
    let origin = Origin::start();
    let egress = proxy(&[origin.place()]);
    let grant = egress.grant(RefusalStyle::InWords).expect("a grant");
    let unseen = Unseen::new();
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
    datagrams.set_nonblocking(true).expect("set");
    let scene = Scene::new();
    let order = to_proxy(grant.port(), &grant.environment());
    for separate in ways() {
        let through = scene.attack_in(separate, "curl", &["-s", &origin.url("/file")], &order);
        if let Some(ended) = through {
            assert_eq!(ended.output, CONTENT, "separate: {separate}");
        }
    }
    let (target, udp) = (unseen.port(), datagrams.local_addr().expect("bound").port());
    let address = format!("http://127.0.0.1:{target}/");
    let place = format!("127.0.0.1:{target}");
    let connect_to = format!("::{place}");
    let own_proxy = format!("http://{place}");
    let tcp = format!("BEGIN{{s=\"/inet/tcp/0/127.0.0.1/{target}\"; print 1 |& s}}");
    let datagram = format!("BEGIN{{s=\"/inet/udp/0/127.0.0.1/{udp}\"; print 1 |& s}}");
    for (program, arguments) in [
        ("curl", vec!["-m5", "--noproxy", "*", &address]),
        ("curl", vec!["-m5", "-x", &own_proxy, "http://example.org/"]),
        (
            "curl",
            vec!["-m5", "--socks5", &place, "http://example.org/"],
        ),
        (
            "curl",
            vec!["-m5", "--connect-to", &connect_to, "http://example.org/"],
        ),
        ("curl", vec!["-m5", "-p", &address]),
        ("curl", vec!["-m5", "-T", "a", &address]),
        ("wget", vec!["-t1", "-T5", "-O-", "--no-proxy", &address]),
        (
            "wget",
            vec!["-t1", "-T5", "-O-", "-e", "use_proxy=no", &address],
        ),
        ("wget", vec!["-t1", "-T5", "-O-", &address]),
        ("gawk", vec![&tcp]),
        ("gawk", vec![&datagram]),
    ] {
        for separate in ways() {
            scene.attack_in(separate, program, &arguments, &order);
            unseen.assert_unseen(&format!("{program} {arguments:?}, separate: {separate}"));
            assert!(datagrams.recv(&mut [0; 8]).is_err(), "{program} sent");
        }
    }
}

/// File rules know the port of the proxy and not its address.
#[test]
fn the_port_of_the_proxy_elsewhere_is_no_way_out() {
    let origin = Origin::start();
    let egress = proxy(&[origin.place()]);
    let grant = egress.grant(RefusalStyle::InWords).expect("a grant");
    let port = grant.port();
    let elsewhere = Unseen::at("127.0.0.2", port);
    let scene = Scene::new();
    let place = format!("127.0.0.2:{port}");
    let address = format!("https://{place}/r.git");
    let repository = "[core]\n\trepositoryformatversion = 0\n[http]\n\tproxy = \"\"\n";
    let remote = format!("[remote \"origin\"]\n\turl = {address}\n\tproxy = \"\"\n");
    scene.write("zone/r/.git/config", &format!("{repository}{remote}"));
    scene.write("zone/r/.git/HEAD", "ref: refs/heads/main\n");
    for directory in ["objects", "refs"] {
        std::fs::create_dir(scene.path("zone/r/.git").join(directory)).expect("made");
    }
    let connect = format!(
        "import socket as s
for family, host in ((s.AF_INET, '127.0.0.2'), (s.AF_INET6, '::ffff:127.0.0.2'), (s.AF_INET, '0.0.0.0')):
  try:
    c = s.socket(family); c.connect((host, {port})); c.send(b'x')
  except OSError: pass
c = s.socket(); c.setblocking(False)
try: c.connect(('127.0.0.2', {port}))
except OSError: pass
try: c.connect_ex(('127.0.0.1', {port})); c.connect(('127.0.0.2', {port}))
except OSError: pass
"
    );
    let order = to_proxy(port, &grant.environment());
    let git = git_order(&grant);
    for separate in ways() {
        for (program, arguments) in [
            ("python3", vec!["-c", &connect]),
            ("curl", vec!["-m5", "--noproxy", "*", &address]),
            ("wget", vec!["-t1", "-T5", "-O-", "--no-proxy", &address]),
        ] {
            scene.attack_in(separate, program, &arguments, &order);
            elsewhere.assert_unseen(&format!("{program}, separate: {separate}"));
        }
        let Some(order) = &git else {
            skip("git has no http");
            continue;
        };
        for arguments in [
            vec!["-C", "r", "ls-remote", "origin"],
            vec!["-C", "r", "ls-remote", &address],
            vec!["-C", "r", "fetch", &address],
        ] {
            scene.attack_in(separate, "git", &arguments, order);
            elsewhere.assert_unseen(&format!("git {arguments:?}, separate: {separate}"));
        }
    }
}

#[test]
fn other_sockets_do_not_exist() {
    let origin = Origin::start();
    let unseen = Unseen::new();
    let (good, bad) = (origin.port(), unseen.port());
    let attack = format!(
        "import socket as s
def tried(what, work):
  try:
    work(); print('OPEN', what)
  except OSError as e: print('refused', what)
for family in (s.AF_UNIX, s.AF_INET, s.AF_INET6, 16, 17, 38):
  for kind in (s.SOCK_DGRAM, s.SOCK_RAW, s.SOCK_SEQPACKET, s.SOCK_DGRAM | s.SOCK_CLOEXEC):
    tried((family, kind), lambda: s.socket(family, kind))
for family in (s.AF_UNIX, 16, 17, 38, 40):
  tried((family, 'stream'), lambda: s.socket(family, s.SOCK_STREAM))
for protocol in (132, 256, 262):
  tried((protocol, 'protocol'), lambda: s.socket(s.AF_INET, s.SOCK_STREAM, protocol))
there = ('127.0.0.1', {bad})
tried('connect', lambda: s.socket().connect(there))
tried('fast', lambda: s.socket().sendto(b'x', 0x20000000, there))
tried('fast message', lambda: s.socket().sendmsg([b'x'], [], 0x20000000, there))
def unspecified():
  c = s.socket(); c.setsockopt(6, 30, 1); c.connect(there); c.send(b'x')
tried('deferred', unspecified)
tried('bind', lambda: s.socket().bind(('127.0.0.1', 0)))
tried('listen', lambda: s.socket().listen())
c = s.socket(); c.connect(('127.0.0.1', {good})); print('the proxy is there')
c = s.socket(s.AF_INET6)
tried('mapped', lambda: c.connect(('::ffff:127.0.0.1', {bad})))
"
    );
    let scene = Scene::new();
    let order = to_proxy(good, &[]);
    for separate in ways() {
        if let Some(ended) = scene.attack_in(separate, "python3", &["-c", &attack], &order) {
            let said = |text: &str| ended.output.contains(text);
            assert!(!said("OPEN"), "{}", ended.output);
            assert!(said("refused fast"), "{}", ended.output);
            assert!(said("the proxy is there"), "{}", ended.output);
            assert!(said("refused mapped"), "{}", ended.output);
        }
    }
    unseen.assert_unseen("a socket");
}

#[test]
fn nothing_of_the_machines_names_is_read() {
    let scene = Scene::new();
    let order = to_proxy(9, &[]);
    for file in [
        "/etc/resolv.conf",
        "/etc/hosts",
        "/etc/nsswitch.conf",
        "/etc/passwd",
    ] {
        let ended = scene
            .attack_with("cat", &[file], &order)
            .expect("installed");
        assert_ne!(ended.status, Some(0), "{file}: {}", ended.output);
    }
}

#[test]
fn git_clones_through_the_proxy() {
    let repositories = tempfile::tempdir().expect("a directory");
    let bare = git2::Repository::init_bare(repositories.path().join("r.git")).expect("made");
    let blob = bare.blob(CONTENT.as_bytes()).expect("written");
    let mut tree = bare.treebuilder(None).expect("begun");
    tree.insert("f.txt", blob, 0o100_644).expect("inserted");
    let tree = bare
        .find_tree(tree.write().expect("written"))
        .expect("there");
    let author = git2::Signature::now("a", "a@example.org").expect("valid");
    let commit = bare
        .commit(Some("HEAD"), &author, &author, "one", &tree, &[])
        .expect("committed");
    let head = std::fs::read_to_string(bare.path().join("HEAD")).expect("there");
    let branch = head
        .trim()
        .strip_prefix("ref: ")
        .expect("a branch")
        .to_owned();
    std::fs::create_dir_all(bare.path().join("info")).expect("made");
    std::fs::write(
        bare.path().join("info/refs"),
        format!("{commit}\t{branch}\n"),
    )
    .expect("written");

    let origin = Origin::start().with_files(repositories.path().to_owned());
    let egress = proxy(&[origin.place()]);
    let grant = egress.grant(RefusalStyle::InWords).expect("a grant");
    let scene = Scene::new();
    let Some(order) = git_order(&grant) else {
        skip("git has no http");
        return;
    };
    let url = origin.url("/files/r.git");
    for separate in ways() {
        let copy = format!("copy-{separate}");
        let ended = scene
            .attack_in(
                separate,
                "git",
                &["clone", "--template=", &url, &copy],
                &order,
            )
            .expect("git is installed");
        assert_eq!(ended.status, Some(0), "{}", ended.output);
        let file = scene.path("zone").join(copy).join("f.txt");
        assert_eq!(std::fs::read_to_string(file).expect("checked out"), CONTENT);
    }
}

/// Returns an order for git with its parts for http; `None` if they are not installed.
fn git_order(grant: &EgressGrant) -> Option<Value> {
    let mut execute = vec![installed("git")?, loader()];
    for name in ["git", "git-remote-http"] {
        execute.push(std::fs::canonicalize(format!("/usr/lib/git-core/{name}")).ok()?);
    }
    let mut environment = grant.environment();
    for (name, value) in [
        ("HOME", "/nonexistent"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_SSL_NO_VERIFY", "1"),
    ] {
        environment.push((name.to_owned(), value.to_owned()));
    }
    let mut order = to_proxy(grant.port(), &environment);
    order["access"]["execute"] = json!(execute);
    order["starts_others"] = true.into();
    Some(order)
}

/// `openssl s_server` with a certificate of its own, which ends with its value.
struct TlsServer {
    process: Child,
    port: u16,
    /// Kept open: it writes what it serves.
    _output: BufReader<ChildStdout>,
}

impl TlsServer {
    /// `None` if openssl is not installed.
    fn start(directory: &Path) -> Option<Self> {
        let openssl = installed("openssl")?;
        let made = Command::new(&openssl)
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt"])
            .args([
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-subj",
                "/CN=localhost",
            ])
            .args(["-keyout", "key.pem", "-out", "cert.pem"])
            .current_dir(directory)
            .output()
            .expect("openssl runs");
        assert!(made.status.success(), "{made:?}");
        std::fs::create_dir_all(directory.join("r.git/info")).expect("made");
        let reference = format!("{}\trefs/heads/main\n", "a".repeat(40)).into_bytes();
        for (name, body) in [
            ("file", CONTENT.into()),
            ("sound", sound()),
            ("r.git/info/refs?service=git-upload-pack", reference),
            ("r.git/HEAD", b"ref: refs/heads/main\n".to_vec()),
        ] {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            let answer = [head.into_bytes(), body].concat();
            std::fs::write(directory.join(name), answer).expect("written");
        }
        let mut process = Command::new(&openssl)
            .args(["s_server", "-accept", "127.0.0.1:0", "-HTTP"])
            .args(["-cert", "cert.pem", "-key", "key.pem"])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("openssl runs");
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        let port = output
            .by_ref()
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                line.strip_prefix("ACCEPT ")?
                    .rsplit(':')
                    .next()?
                    .parse()
                    .ok()
            });
        let port = port.expect("the server says its port");
        Some(Self {
            process,
            port,
            _output: output,
        })
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn tls_goes_through_a_tunnel() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(server) = TlsServer::start(directory.path()) else {
        skip("openssl is not installed");
        return;
    };
    let egress = proxy(&[format!("127.0.0.1:{}", server.port)]);
    let grant = egress.grant(RefusalStyle::InWords).expect("a grant");
    let scene = Scene::new();
    let order = to_proxy(grant.port(), &grant.environment());
    let url = format!("https://127.0.0.1:{}/file", server.port);
    let sound = format!("https://127.0.0.1:{}/sound", server.port);
    let curl = ["-sSk", "-m", "10", &url];
    let wget = ["-q", "-t1", "-T10", "--no-check-certificate", "-O-", &url];
    let ffprobe = ["-v", "error", "-seekable", "0", "-show_format", &sound];
    for (program, arguments, part) in [
        ("curl", &curl[..], CONTENT),
        ("wget", &wget, CONTENT),
        ("ffprobe", &ffprobe, "=wav"),
    ] {
        for separate in ways() {
            if let Some(ended) = scene.attack_in(separate, program, arguments, &order) {
                assert!(ended.output.contains(part), "{program}: {}", ended.output);
            }
        }
    }
    let repository = format!("https://127.0.0.1:{}/r.git", server.port);
    match git_order(&grant) {
        None => skip("git has no http"),
        Some(order) => {
            let ended = scene
                .attack_with("git", &["ls-remote", &repository], &order)
                .expect("git is installed");
            assert!(ended.output.contains("refs/heads/main"), "{}", ended.output);
        }
    }
    let refused = grant.remarks();
    assert!(refused.is_empty(), "{refused:?}");
}
