//! Real commands through the whole server, in the network mode `safe`.

use serde_json::{Value, json};

use super::origin::CONTENT;
use super::{Origin, Unseen};
use fileshed_test_support::{Answer, Server, skip};

/// A server that lets `origin` through and nothing else.
pub(super) fn server(origin: &Origin) -> Server {
    Server::with()
        .env("FILESHED_NETWORK_MODE", "safe")
        .env("FILESHED_NETWORK_ALLOW", &origin.place())
        .env("FILESHED_EXEC_MEMORY_LIMIT_MB", "2048")
        .env("FILESHED_MAX_FILE_SIZE_MB", "1")
        .start()
}

pub(super) fn exec(server: &Server, cmd: &str, args: &[&str], more: &Value) -> Answer {
    let mut body = json!({"zone": "storage", "cmd": cmd, "args": args});
    for (name, value) in more.as_object().into_iter().flatten() {
        body[name] = value.clone();
    }
    server.call("shed_exec", &body)
}

pub(super) fn file(server: &Server, name: &str) -> String {
    let place = server.data().join("shared/Storage/data").join(name);
    std::fs::read_to_string(place).unwrap_or_default()
}

pub(super) fn is_missing(server: &Server, command: &str) -> bool {
    let offered = server.call("shed_allowed_commands", &json!({}));
    let missing = offered.data()["storage"]["missing"].to_string();
    missing.contains(&format!("\"{command}\""))
}

#[test]
fn downloads_work() {
    let origin = Origin::start();
    let server = server(&origin);
    let url = origin.url("/file");
    let redirect = origin.url(&format!("/to/{}/file", origin.place()));
    for (name, cmd, args, more) in [
        ("a", "curl", vec!["-sS", "-o", "a", &url], json!({})),
        (
            "b",
            "curl",
            vec!["-sSL", &redirect],
            json!({"stdout_file": "b"}),
        ),
        ("c", "wget", vec!["-q", "-O", "c", &url], json!({})),
        (
            "d",
            "wget",
            vec!["-q", &redirect],
            json!({"stdout_file": "d"}),
        ),
        ("file", "curl", vec!["-sSO", &url], json!({})),
    ] {
        if is_missing(&server, cmd) {
            skip(format_args!("{cmd} is not installed"));
            continue;
        }
        let answer = exec(&server, cmd, &args, &more);
        assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
        assert_eq!(file(&server, name), CONTENT, "{name}");
    }
    let sound = origin.url("/sound.wav");
    if is_missing(&server, "ffprobe") {
        skip("ffprobe is not installed");
    } else {
        let args = ["-v", "error", "-show_format", &sound];
        let answer = exec(&server, "ffprobe", &args, &json!({}));
        assert!(
            answer.data()["stdout"].to_string().contains("wav"),
            "{}",
            answer.text
        );
    }
}

#[test]
fn nothing_else_is_reached() {
    let origin = Origin::start();
    let server = server(&origin);
    let unseen = Unseen::new();
    let tools: [(&str, &[&str]); 2] = [
        ("curl", &["-sSL", "-m", "10", "-o", "x"]),
        ("wget", &["-t", "1", "-T", "10", "-O", "x"]),
    ];
    let mut addresses: Vec<String> = unseen
        .spellings()
        .iter()
        .map(|place| format!("http://{place}/"))
        .collect();
    addresses.push(origin.url(&format!("/to/127.0.0.1:{}/", unseen.port())));
    addresses.push(format!("https://127.0.0.1:{}/", unseen.port()));
    // The server itself.
    addresses.push(server.url("/health"));
    for (cmd, options) in tools {
        if is_missing(&server, cmd) {
            skip(format_args!("{cmd} is not installed"));
            continue;
        }
        for address in &addresses {
            let args = [options, &[address.as_str()]].concat();
            let answer = exec(&server, cmd, &args, &json!({}));
            assert!(
                !file(&server, "x").contains("\"status\""),
                "{}",
                answer.text
            );
            unseen.assert_unseen(&format!("{cmd} {address}"));
        }
    }
    if is_missing(&server, "curl") {
        return;
    }
    let plain = format!("http://127.0.0.1:{}/", unseen.port());
    let answer = exec(&server, "curl", &["-sS", "-o", "x", &plain], &json!({}));
    let stderr = answer.data()["stderr"].to_string();
    assert!(stderr.contains("not a public address"), "{stderr}");
    // The log does not contain the port of the target; digits within a longer number are another one.
    let (log, port) = (server.log(), unseen.port().to_string());
    let mut words = log.split(|character: char| !character.is_alphanumeric());
    assert!(words.all(|word| word != port), "{log}");
}

#[test]
fn ways_around_are_refused_by_the_rules() {
    let origin = Origin::start();
    let server = server(&origin);
    let unseen = Unseen::new();
    let place = format!("127.0.0.1:{}", unseen.port());
    let (url, bad) = (origin.url("/file"), format!("http://{place}/"));
    let connect_to = format!("::{place}");
    let resolve = format!("example.org:80:{place}");
    let clone = origin.url("/files/r.git");
    for (cmd, args) in [
        ("curl", vec!["-o", "x", "-x", &bad, &url]),
        ("curl", vec!["-o", "x", "--proxy", &bad, &url]),
        ("curl", vec!["-o", "x", "--noproxy", "*", &bad]),
        ("curl", vec!["-o", "x", "--connect-to", &connect_to, &url]),
        ("curl", vec!["-o", "x", "--resolve", &resolve, &url]),
        ("curl", vec!["-o", "x", "-d", "a=1", &url]),
        ("curl", vec!["-o", "x", "-d", "@x", &url]),
        ("curl", vec!["-o", "x", "-T", "x", &url]),
        ("curl", vec!["-o", "x", "-F", "a=@x", &url]),
        ("curl", vec!["-o", "x", "-X", "POST", &url]),
        ("curl", vec!["-o", "x", "-H", "@x", &url]),
        ("curl", vec!["-o", "x", "-K", "x", &url]),
        ("curl", vec!["-o", "x", "file:///etc/passwd"]),
        ("wget", vec!["-O", "x", "--no-proxy", &bad]),
        ("wget", vec!["-O", "x", "-e", "use_proxy=no", &bad]),
        ("wget", vec!["-O", "x", "--post-data=a", &url]),
        ("wget", vec!["-O", "x", "--method=POST", &url]),
        ("wget", vec!["-O", "x", "-i", "x"]),
        ("git", vec!["clone", &clone]),
        (
            "git",
            vec!["-c", "http.proxy=", "clone", "https://example.org/a"],
        ),
        ("ffmpeg", vec!["-http_proxy", &bad, "-i", &url, "x.wav"]),
        ("ffmpeg", vec!["-i", "x", "-f", "wav", &url]),
    ] {
        let answer = exec(&server, cmd, &args, &json!({}));
        assert!(
            matches!(
                answer.code(),
                "ARGUMENT_FORBIDDEN" | "COMMAND_NOT_FOUND" | "GIT_NOT_AVAILABLE"
            ),
            "{cmd} {args:?}: {}",
            answer.text
        );
        unseen.assert_unseen(cmd);
    }
    let pushed = exec(&server, "git", &["push", "origin", "main"], &json!({}));
    assert_eq!(pushed.code(), "COMMAND_FORBIDDEN", "{}", pushed.text);
    assert!(origin.requests().is_empty(), "{:?}", origin.requests());
}

#[test]
fn a_command_that_is_stopped_leaves_no_connection() {
    let origin = Origin::start();
    let server = server(&origin);
    if is_missing(&server, "curl") {
        skip("curl is not installed");
        return;
    }
    let url = origin.url("/slow");
    let answer = exec(
        &server,
        "curl",
        &["-sS", "-o", "x", &url],
        &json!({"timeout": 5}),
    );
    assert_eq!(answer.code(), "TIMEOUT", "{}", answer.text);
    assert!(origin.closed(1), "the connection is still open");
}

#[test]
fn a_download_is_no_larger_than_a_file_may_be() {
    let origin = Origin::start();
    let server = server(&origin);
    let tools: [(&str, &[&str]); 2] = [
        ("curl", &["-sS", "-o", "x"]),
        ("wget", &["-q", "-t", "1", "-O", "x"]),
    ];
    for (cmd, options) in tools {
        if is_missing(&server, cmd) {
            skip(format_args!("{cmd} is not installed"));
            continue;
        }
        for path in ["/endless", "/large"] {
            let url = origin.url(path);
            let args = [options, &[url.as_str()]].concat();
            let answer = exec(&server, cmd, &args, &json!({}));
            assert!(file(&server, "x").len() <= (1 << 20) + 1);
            let fine = answer.body["data"]["returncode"] == 0;
            let told = answer.text.contains("max_file_size_mb");
            assert!(!fine || told, "{cmd} {path}: {}", answer.text);
        }
    }
}

#[test]
fn the_setting_is_checked_at_the_start() {
    let bad = Server::with().env("FILESHED_NETWORK_ALLOW", "10.0.0.0/8, 10.0.0.0/40");
    let ended = bad.run(&["config"]);
    assert_ne!(ended.code, Some(0));
    assert!(ended.stderr.contains("network_allow"), "{}", ended.stderr);
    let good = Server::with().env(
        "FILESHED_NETWORK_ALLOW",
        "10.0.0.0/8,files.example.org:8080",
    );
    let shown = good.run(&["config"]).stdout;
    assert!(
        shown.contains("network_allow = \"10.0.0.0/8, files.example.org:8080\""),
        "{shown}"
    );
}
