//! Attacks on the helper, with canaries where nothing may reach.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

/// What no command may ever show.
const CANARY: &str = "canary-6f1c2a";

/// A zone, a private directory, and everything around them that is forbidden.
pub(crate) struct Scene {
    directory: tempfile::TempDir,
}

/// How an attack ended.
pub(crate) struct Ended {
    pub(crate) output: String,
    pub(crate) status: Option<i32>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let scene = Self { directory };
        for name in ["zone", "private", "other"] {
            std::fs::create_dir(scene.path(name)).expect("made");
        }
        std::fs::write(scene.path("other/secret"), CANARY).expect("written");
        std::fs::write(scene.path("zone/a"), "one\ntwo\n").expect("written");
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    /// Puts a real program into the zone, executable.
    fn plant(&self, program: &str, name: &str) {
        std::fs::copy(program, self.path("zone").join(name)).expect("copied");
    }

    fn attack(&self, program: &str, arguments: &[&str]) -> Option<Ended> {
        self.attack_with(program, arguments, &json!({}))
    }

    /// Runs a program as the server would, with nothing checked. None when it is not installed.
    pub(crate) fn attack_with(
        &self,
        program: &str,
        arguments: &[&str],
        changes: &serde_json::Value,
    ) -> Option<Ended> {
        let file = installed(program)?;
        let mut order = json!({
            "server": std::process::id(),
            "program": file,
            "name": program,
            "arguments": arguments,
            "environment": [["PATH", "/usr/bin"], ["HOME", self.text("private")],
                            ["GAWK_SOCK_RETRIES", "1"]],
            "input": null,
            "limits": {"memory": 1_u64 << 31, "cpu_seconds": 5, "file_size": 1_u64 << 24,
                       "open_files": 64, "processes": 4096},
            "access": {
                "execute": [file, loader()],
                "read": [],
                "write": [self.path("zone"), self.path("private")],
                "network": "none",
            },
            "starts_others": false,
            "probe": false,
            "best_effort": false,
        });
        merge(&mut order, changes);
        let mut child = Command::new(env!("CARGO_BIN_EXE_fileshed"))
            .arg("jail")
            .current_dir(self.path("zone"))
            .env("SERVER_SECRET", CANARY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the helper starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin
            .write_all(order.to_string().as_bytes())
            .expect("read by the helper");
        drop(stdin);
        let output = child.wait_with_output().expect("the helper ends");
        Some(Ended {
            status: output.status.code(),
            output: format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ),
        })
    }

    /// The attack runs and gets nothing of the canary.
    fn holds(&self, program: &str, arguments: &[&str]) {
        match self.attack(program, arguments) {
            None => println!("SKIP: {program} is not installed"),
            Some(ended) => {
                assert!(
                    !ended.output.contains(CANARY) && !ended.output.contains("root:"),
                    "{program} {arguments:?}: {}",
                    ended.output
                );
                assert!(
                    !ended.output.contains("fileshed jail"),
                    "{program} did not start: {}",
                    ended.output
                );
            }
        }
        let secret = std::fs::read_to_string(self.path("other/secret")).expect("still there");
        assert_eq!(
            secret, CANARY,
            "{program} {arguments:?} changed what lies outside"
        );
    }
}

fn merge(order: &mut serde_json::Value, changes: &serde_json::Value) {
    for (name, value) in changes.as_object().into_iter().flatten() {
        match (&mut order[name], value) {
            (inner @ serde_json::Value::Object(_), serde_json::Value::Object(_)) => {
                merge(inner, value);
            }
            (slot, value) => *slot = value.clone(),
        }
    }
}

pub(crate) fn installed(program: &str) -> Option<PathBuf> {
    std::fs::canonicalize(Path::new("/usr/bin").join(program)).ok()
}

pub(crate) fn loader() -> PathBuf {
    let places = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    places
        .iter()
        .find_map(|place| std::fs::canonicalize(place).ok())
        .expect("a dynamic loader")
}

#[test]
fn a_command_works_in_its_room() {
    let scene = Scene::new();
    let ended = scene.attack("cat", &["a"]).expect("cat is installed");
    assert_eq!(
        (ended.output.as_str(), ended.status),
        ("one\ntwo\n", Some(0))
    );
    let ended = scene.attack("cp", &["a", "b"]).expect("cp is installed");
    assert_eq!(ended.status, Some(0), "{}", ended.output);
    assert!(scene.path("zone/b").exists());
}

#[test]
fn no_file_outside_is_read() {
    let scene = Scene::new();
    let secret = scene.text("other/secret");
    let parent = std::process::id().to_string();
    scene.holds("cat", &[&secret]);
    scene.holds("cat", &["../other/secret"]);
    scene.holds("cat", &["/etc/passwd"]);
    scene.holds("cat", &["/proc/self/root/etc/passwd"]);
    scene.holds("cat", &["/proc/self/environ"]);
    scene.holds("cat", &[&format!("/proc/{parent}/environ")]);
    scene.holds("cat", &[&format!("/proc/{parent}/cmdline")]);
    scene.holds(
        "cat",
        &["/root/.bashrc", "/home", "/etc/hostname", "/etc/shadow"],
    );
    scene.holds(
        "gawk",
        &["BEGIN{while((getline l < \"/etc/passwd\")==1) print l}"],
    );
    scene.holds("sed", &[&format!("r {secret}"), "a"]);
    scene.holds("tar", &["-cf", "-", &secret]);
    scene.holds(
        "find",
        &[
            "..", "-type", "f", "-name", "secret", "-size", "-1k", "-fprintf", "x", "%p",
        ],
    );
    scene.holds("sort", &[&format!("--files0-from={secret}")]);
    scene.holds("file", &["-f", &secret]);
    scene.holds("git", &["diff", "--no-index", "a", &secret]);
    scene.holds("jq", &["-n", "--rawfile", "x", &secret, "$x"]);
    scene.holds(
        "sqlite3",
        &[":memory:", &format!("SELECT readfile('{secret}')")],
    );
    scene.holds("curl", &[&format!("file://{secret}")]);
    scene.holds("ffmpeg", &["-f", "data", "-i", &secret, "-f", "data", "-"]);
    scene.holds("identify", &[&format!("text:{secret}")]);
    scene.holds("pandoc", &[&secret]);
    scene.holds("xxd", &[&secret]);
}

#[test]
fn a_link_planted_in_the_zone_leads_nowhere() {
    let scene = Scene::new();
    std::os::unix::fs::symlink(scene.path("other/secret"), scene.path("zone/link")).expect("made");
    std::os::unix::fs::symlink(scene.path("other"), scene.path("zone/dir")).expect("made");
    scene.holds("cat", &["link"]);
    scene.holds("cat", &["dir/secret"]);
    scene.holds("cp", &["-L", "link", "copy"]);
    scene.holds("cp", &["a", "link"]);
    scene.holds("rm", &["-rf", "dir/"]);
    scene.holds("truncate", &["-s", "0", "link"]);
    scene.holds("shred", &["link"]);
    assert!(!std::fs::read_to_string(scene.path("zone/copy")).is_ok_and(|text| text == CANARY));
}

#[test]
fn nothing_outside_is_written_or_removed() {
    let scene = Scene::new();
    let outside = scene.text("other");
    for (program, arguments) in [
        ("cp", vec!["a".to_owned(), outside.clone()]),
        ("cp", vec!["-t".to_owned(), outside.clone(), "a".to_owned()]),
        ("mv", vec!["a".to_owned(), outside.clone()]),
        ("tee", vec![format!("{outside}/tee")]),
        ("touch", vec![format!("{outside}/touch")]),
        ("mkdir", vec![format!("{outside}/dir")]),
        ("rm", vec!["-rf".to_owned(), outside.clone()]),
        (
            "sort",
            vec!["a".to_owned(), "-o".to_owned(), format!("{outside}/sort")],
        ),
        (
            "gawk",
            vec![format!("BEGIN{{print 1 > \"{outside}/awk\"}}")],
        ),
        ("sed", vec![format!("w {outside}/sed"), "a".to_owned()]),
        ("find", vec![outside.clone(), "-delete".to_owned()]),
        (
            "truncate",
            vec!["-s0".to_owned(), format!("{outside}/secret")],
        ),
        ("split", vec!["a".to_owned(), format!("{outside}/split")]),
        ("git", vec!["init".to_owned(), format!("{outside}/git")]),
        (
            "sqlite3",
            vec![format!("{outside}/db"), "CREATE TABLE t(a)".to_owned()],
        ),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        scene.holds(program, &arguments);
        let left: Vec<String> = std::fs::read_dir(scene.path("other"))
            .expect("still there")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(left, ["secret"], "{program} {arguments:?}");
    }
}

#[test]
fn no_second_program_starts() {
    let scene = Scene::new();
    scene.plant("/usr/bin/id", "upload");
    let loader = loader().to_string_lossy().into_owned();
    std::fs::write(scene.path("zone/script"), "#!/bin/sh\nid\n").expect("written");
    for (program, arguments) in [
        ("gawk", vec!["BEGIN{system(\"id\")}"]),
        ("gawk", vec!["BEGIN{\"id\" | getline l; print l}"]),
        ("gawk", vec!["BEGIN{print 1 | \"id\"}"]),
        ("sed", vec!["1e id", "a"]),
        ("sed", vec!["s/one/id/e", "a"]),
        ("find", vec!["a", "-exec", "/usr/bin/id", ";"]),
        ("find", vec!["a", "-exec", "./upload", ";"]),
        ("find", vec!["a", "-exec", loader.as_str(), "./upload", ";"]),
        ("find", vec!["a", "-exec", "./script", ";"]),
        (
            "tar",
            vec![
                "-cf",
                "x.tar",
                "--checkpoint=1",
                "--checkpoint-action=exec=id",
                "a",
            ],
        ),
        ("tar", vec!["-cf", "x.tar", "-I", "id", "a"]),
        ("split", vec!["--filter=id", "a"]),
        ("sort", vec!["--compress-program=id", "-S1b", "a"]),
        ("rg", vec!["--pre", "./script", "one"]),
        ("sqlite3", vec![":memory:", ".shell id"]),
        ("git", vec!["-c", "alias.x=!id", "x"]),
        ("git", vec!["-c", "core.fsmonitor=./script", "status"]),
        ("zip", vec!["x.zip", "a", "-T", "-TT", "id #"]),
        ("perl", vec!["-e", "print `id`; exec './upload'"]),
        (
            "python3",
            vec!["-c", "import os; os.execv('./upload', ['x'])"],
        ),
        (
            "python3",
            vec![
                "-c",
                "import subprocess; print(subprocess.run(['/usr/bin/id']))",
            ],
        ),
    ] {
        match scene.attack(program, &arguments) {
            None => println!("SKIP: {program} is not installed"),
            Some(ended) => assert!(
                !ended.output.contains("uid="),
                "{program} {arguments:?}: {}",
                ended.output
            ),
        }
    }
}

#[test]
fn programs_with_parts_of_their_own_start_nothing_else() {
    let scene = Scene::new();
    scene.plant("/usr/bin/id", "upload");
    let others = json!({"starts_others": true});
    for (program, arguments) in [
        ("git", vec!["-c", "alias.x=!id", "x"]),
        ("git", vec!["-c", "alias.x=!./upload", "x"]),
        ("git", vec!["-c", "core.pager=./upload", "-p", "help"]),
        ("find", vec!["a", "-exec", "/usr/bin/id", ";"]),
        ("find", vec!["a", "-exec", "./upload", ";"]),
        ("gawk", vec!["BEGIN{system(\"./upload\")}"]),
    ] {
        if let Some(ended) = scene.attack_with(program, &arguments, &others) {
            assert!(
                !ended.output.contains("uid="),
                "{program}: {}",
                ended.output
            );
        }
    }
}

#[test]
fn there_is_no_network() {
    let scene = Scene::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    listener.set_nonblocking(true).expect("set");
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let udp_port = udp.local_addr().expect("bound").port();
    udp.set_nonblocking(true).expect("set");
    let address = format!("http://127.0.0.1:{port}/");
    scene.holds("curl", &["-m", "2", &address]);
    scene.holds("wget", &["-t1", "-T2", "-O-", &address]);
    let tcp = format!("BEGIN{{s=\"/inet/tcp/0/127.0.0.1/{port}\"; print 1 |& s}}");
    scene.holds("gawk", &[&tcp]);
    let datagram = format!("BEGIN{{s=\"/inet/udp/0/127.0.0.1/{udp_port}\"; print 1 |& s}}");
    scene.holds("gawk", &[&datagram]);
    let families = "import socket\nfor f in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16, 17, 38):\n  try:\n    socket.socket(f, socket.SOCK_DGRAM); print('opened', f)\n  except OSError as e: pass\na, b = socket.socketpair(); a.send(b'x'); print('pair', b.recv(1))";
    if let Some(ended) = scene.attack("python3", &["-c", families]) {
        assert!(!ended.output.contains("opened"), "{}", ended.output);
        assert!(ended.output.contains("pair b'x'"), "{}", ended.output);
    }
    assert!(listener.accept().is_err(), "somebody connected");
    assert!(udp.recv(&mut [0; 8]).is_err(), "somebody sent");
}

#[test]
fn what_is_left_behind_is_plain_data() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    let scene = Scene::new();
    for (program, arguments) in [
        ("ln", vec!["-s", "/etc/passwd", "link"]),
        ("cp", vec!["-s", "a", "link"]),
        ("mkfifo", vec!["fifo"]),
        ("mknod", vec!["device", "c", "1", "3"]),
        ("chmod", vec!["4755", "a"]),
        ("chmod", vec!["2755", "a"]),
        ("install", vec!["-m", "4755", "a", "b"]),
        (
            "python3",
            vec!["-c", "import socket; socket.socket(1).bind('s')"],
        ),
    ] {
        scene.holds(program, &arguments);
    }
    for entry in std::fs::read_dir(scene.path("zone"))
        .expect("listed")
        .flatten()
    {
        let metadata = entry.path().symlink_metadata().expect("there");
        let kind = metadata.file_type();
        let odd = kind.is_symlink() || kind.is_fifo() || kind.is_socket() || kind.is_char_device();
        assert!(!odd, "{:?}", entry.path());
        assert_eq!(
            metadata.permissions().mode() & 0o6000,
            0,
            "{:?}",
            entry.path()
        );
    }
}

#[test]
fn other_processes_are_out_of_reach() {
    let scene = Scene::new();
    let mut bystander = Command::new("/usr/bin/sleep")
        .arg("600")
        .spawn()
        .expect("started");
    let pid = bystander.id();
    let kill =
        format!("import os\ntry:\n  os.kill({pid}, 9); print('killed')\nexcept OSError: pass");
    let session = "import os\nfor call in (os.setsid, lambda: os.setpgid(0, 0)):\n  try:\n    call(); print('left')\n  except OSError: pass";
    let fork = "import os\nif os.fork() == 0:\n  try:\n    os.setsid(); print('left')\n  except OSError: pass";
    for (program, text) in [
        ("python3", kill.as_str()),
        ("python3", session),
        ("python3", fork),
    ] {
        if let Some(ended) = scene.attack(program, &["-c", text]) {
            assert!(
                !ended.output.contains("killed") && !ended.output.contains("left"),
                "{}",
                ended.output
            );
        }
    }
    let alive = bystander.try_wait().expect("asked").is_none();
    bystander.kill().expect("ended");
    bystander.wait().expect("reaped");
    assert!(alive, "a command killed a process outside");
}

#[test]
fn kernel_interfaces_are_closed() {
    let scene = Scene::new();
    let calls = "import ctypes, platform\nlibc = ctypes.CDLL(None, use_errno=True)\nx86 = platform.machine() == 'x86_64'\ncalls = dict(ptrace=101, unshare=272, mount=165, bpf=321, keyctl=250, io_uring_setup=425, userfaultfd=323, perf_event_open=298, memfd_create=319, process_vm_readv=310, open_by_handle_at=304, personality=135, x32_getpid=0x40000000 + 39) if x86 else dict(unshare=97)\nfor name, number in calls.items():\n  result = libc.syscall(number, 0, 0, 0, 0, 0)\n  print(name, 'REFUSED' if result == -1 and ctypes.get_errno() in (1, 38) else 'open')";
    if let Some(ended) = scene.attack("python3", &["-c", calls]) {
        assert!(!ended.output.contains("open\n"), "{}", ended.output);
        assert!(ended.output.contains("unshare REFUSED"), "{}", ended.output);
    }
}

#[test]
fn limits_hold() {
    let scene = Scene::new();
    let ended = scene
        .attack("truncate", &["-s", "10T", "giant"])
        .expect("installed");
    assert_ne!(ended.status, Some(0));
    let memory = json!({"limits": {"memory": 1_u64 << 28}});
    if let Some(ended) = scene.attack_with("python3", &["-c", "x = b'x' * (1 << 30)"], &memory) {
        assert!(ended.output.contains("MemoryError"), "{}", ended.output);
    }
    let cpu = json!({"limits": {"cpu_seconds": 1}});
    let ended = scene.attack_with("gawk", &["BEGIN{for(;;);}"], &cpu);
    assert!(ended.is_none_or(|ended| ended.status.is_none()));
}

#[test]
fn an_unconfined_start_is_refused() {
    let scene = Scene::new();
    let ended = scene
        .attack_with("cat", &["a"], &json!({"access": {"execute": []}}))
        .expect("cat is installed");
    assert_eq!(ended.status, Some(125), "{}", ended.output);
    assert!(ended.output.contains("fileshed jail"), "{}", ended.output);
}
