//! A download that is refused fails in every tool, leaves no file, and says why.

use serde_json::json;

use super::commands::{exec, file, is_missing, server};
use super::origin::CONTENT;
use super::{Origin, Unseen};
use fileshed_test_support::{Server, skip};

/// The files of the zone.
fn names(server: &Server) -> Vec<String> {
    let data = server.data().join("shared/Storage/data");
    let mut names: Vec<String> = std::fs::read_dir(data)
        .into_iter()
        .flatten()
        .map(|entry| {
            let entry = entry.expect("an entry");
            entry.file_name().to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

/// Requests that are refused: an address that is not public, over http and TLS, a redirect to it, a name
/// without an address, a host that does not answer as one.
fn refused(origin: &Origin, unseen: &Unseen) -> Vec<(String, &'static str)> {
    let private = format!("127.0.0.1:{}", unseen.port());
    vec![
        ("http://127.0.0.1/".to_owned(), "not a public address"),
        (format!("http://{private}/"), "not a public address"),
        (format!("https://{private}/"), "not a public address"),
        (
            origin.url(&format!("/to/{private}/")),
            "not a public address",
        ),
        (
            "http://nothing.invalid/a".to_owned(),
            "`nothing.invalid` has no address",
        ),
        (
            "https://nothing.invalid/a".to_owned(),
            "`nothing.invalid` has no address",
        ),
        (origin.url("/large"), "larger than 1 MiB (max_file_size_mb)"),
        // Longer than the head of a request may be.
        (
            format!("{}?{}", origin.url("/file"), "a".repeat(40_000)),
            "longer than 8 KiB",
        ),
    ]
}

#[test]
fn a_refused_download_fails_and_leaves_nothing() {
    let origin = Origin::start();
    let server = server(&origin);
    let unseen = Unseen::new();
    let tools: [(&str, &[&str], &[&str]); 8] = [
        ("curl", &["-sS", "-L", "-o", "x"], &[]),
        ("curl", &["-L", "-I", "-o", "x"], &[]),
        (
            "curl",
            &["-sSL", "--retry", "1", "-o", "x"],
            &["-o", "y", "ORIGIN"],
        ),
        ("curl", &["-s", "-f", "-L", "-o", "x"], &[]),
        ("wget", &["-O", "x"], &[]),
        ("wget", &["-q", "-S", "-O", "x"], &[]),
        ("ffmpeg", &["-i"], &["x.wav"]),
        ("git", &["clone"], &["x"]),
    ];
    let fine = origin.url("/file");
    for (cmd, before, after) in tools {
        if is_missing(&server, cmd) {
            skip(format_args!("{cmd} is not installed"));
            continue;
        }
        for (address, reason) in refused(&origin, &unseen) {
            if cmd == "git" && !address.starts_with("https:") {
                continue;
            }
            // ffmpeg itself takes no address of that length.
            if cmd == "ffmpeg" && address.len() > 4096 {
                continue;
            }
            let heads = before.contains(&"-I");
            let redirected = address.contains("/to/");
            // The head of a large file is none, and that of a redirect is the site's.
            if heads && (address.ends_with("/large") || redirected) {
                continue;
            }
            let after: Vec<&str> = after
                .iter()
                .map(|word| if *word == "ORIGIN" { &*fine } else { word })
                .collect();
            let args = [before, &[address.as_str()], &after].concat();
            let answer = exec(&server, cmd, &args, &json!({"timeout": 60}));
            let what = format!(
                "{cmd} {before:?} {}: {}",
                &address[..address.len().min(60)],
                answer.text
            );
            let data = answer.data();
            assert_ne!(data["returncode"], 0, "{what}");
            let stderr = data["stderr"].as_str().expect("text");
            assert!(stderr.contains(reason), "{what}");
            let kept = names(&server);
            assert!(kept.is_empty(), "{kept:?}: {what}");
            unseen.assert_unseen(&what);
        }
    }
}

#[test]
fn a_refused_download_leaves_what_was_there() {
    let origin = Origin::start();
    let server = server(&origin);
    let unseen = Unseen::new();
    for (cmd, options) in [("curl", &["-sSL"][..]), ("wget", &["-q"])] {
        if is_missing(&server, cmd) {
            skip(format_args!("{cmd} is not installed"));
            continue;
        }
        for (address, _) in refused(&origin, &unseen) {
            let write = json!({"zone": "storage", "path": "x", "content": "before"});
            server.call("shed_create_file", &write).data();
            let args = [options, &[address.as_str()]].concat();
            let answer = exec(&server, cmd, &args, &json!({"stdout_file": "x"}));
            assert_ne!(answer.data()["returncode"], 0, "{}", answer.text);
            assert_eq!(file(&server, "x"), "before", "{}", answer.text);
            assert_eq!(names(&server), ["x"], "{}", answer.text);
            let output = if cmd == "wget" { "-O" } else { "-o" };
            let args = [options, &[output, "x", &address]].concat();
            let answer = exec(&server, cmd, &args, &json!({}));
            assert_ne!(answer.data()["returncode"], 0, "{}", answer.text);
            assert_eq!(file(&server, "x"), "before", "{}", answer.text);
        }
    }
}

#[test]
fn what_a_site_says_of_its_own_is_downloaded() {
    let origin = Origin::start();
    let server = server(&origin);
    if is_missing(&server, "curl") {
        skip("curl is not installed");
        return;
    }
    let missing = origin.url("/missing");
    let answer = exec(&server, "curl", &["-sS", "-o", "x", &missing], &json!({}));
    assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
    assert_eq!(file(&server, "x"), "no\n");
    let (a, b) = (origin.url("/file"), origin.url("/missing"));
    let args = ["-sS", "-o", "a", &a, "-o", "b", &b];
    let answer = exec(&server, "curl", &args, &json!({}));
    assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
    assert_eq!(file(&server, "a"), CONTENT);
    assert_eq!(file(&server, "b"), "no\n");
}
