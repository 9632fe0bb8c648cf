//! Ranges and conditions as curl asks for them.

use std::process::Command;

use fileshed_test_support::{Server, skip};

/// Runs curl on a URL; returns status and body, or `None` if there is no curl.
fn curl(arguments: &[&str], address: &str) -> Option<(u16, Vec<u8>)> {
    let output = Command::new("curl")
        .args(["-s", "-w", "%{stderr}%{http_code}"])
        .args(arguments)
        .arg(address)
        .output();
    let Ok(output) = output else {
        skip("ranges are asked for with curl, which is not there");
        return None;
    };
    let status = String::from_utf8(output.stderr).unwrap().parse().unwrap();
    Some((status, output.stdout))
}

#[test]
fn ranges_and_conditions_are_those_of_the_standard() {
    let server = Server::start();
    let address = server.url("/files/content?zone=storage&path=data.bin");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("data.bin");
    let content: Vec<u8> = (0..1_000_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    std::fs::write(&file, &content).unwrap();
    let local = file.to_str().unwrap();
    let Some((status, _)) = curl(&["-T", local, "-o", "/dev/null"], &address) else {
        return;
    };
    assert_eq!(status, 201);
    for (range, status, expected) in [
        ("0-0", 206, &content[..1]),
        ("100-199999", 206, &content[100..200_000]),
        ("999999-", 206, &content[999_999..]),
        ("-5", 206, &content[999_995..]),
        ("-2000000", 206, &content[..]),
        ("500000-2000000", 206, &content[500_000..]),
        ("0-1,5-6", 200, &content[..]),
    ] {
        let (found, body) = curl(&["-r", range], &address).unwrap();
        assert_eq!(found, status, "{range}");
        assert!(body == expected, "{range}: {} bytes", body.len());
    }
    for range in ["1000000-", "-0"] {
        let (status, body) = curl(&["-r", range, "-D", "-"], &address).unwrap();
        assert_eq!(status, 416, "{range}");
        let text = String::from_utf8_lossy(&body).to_lowercase();
        assert!(text.contains("content-range: bytes */1000000"), "{text}");
    }
    // A download that goes on where it stopped.
    let part = directory.path().join("part");
    std::fs::write(&part, &content[..300_000]).unwrap();
    curl(&["-C", "-", "-o", part.to_str().unwrap()], &address).unwrap();
    assert!(std::fs::read(&part).unwrap() == content);

    // The tag that curl keeps, and the date of its own file.
    let tag = directory.path().join("tag");
    let tag = tag.to_str().unwrap();
    curl(&["--etag-save", tag, "-o", "/dev/null"], &address).unwrap();
    let known = curl(&["--etag-compare", tag], &address).unwrap();
    assert_eq!(known, (304, Vec::new()));
    let (status, _) = curl(&["-z", "Fri, 01 Jan 2100 00:00:00 GMT"], &address).unwrap();
    assert_eq!(status, 304);
    let (status, _) = curl(&["-z", "Mon, 01 Jan 2001 00:00:00 GMT"], &address).unwrap();
    assert_eq!(status, 200);

    // A range continues only the state that it began with.
    let text = std::fs::read_to_string(tag).unwrap();
    let same = format!("If-Range: {}", text.trim());
    let (status, body) = curl(&["-r", "10-19", "-H", &same], &address).unwrap();
    assert_eq!((status, &body[..]), (206, &content[10..20]));
    curl(&["-T", local, "-o", "/dev/null"], &address).unwrap();
    let (status, body) = curl(&["-r", "10-19", "-H", &same], &address).unwrap();
    assert_eq!((status, body.len()), (200, content.len()));
    let (status, _) = curl(&["--etag-compare", tag, "-o", "/dev/null"], &address).unwrap();
    assert_eq!(status, 200);
}

#[test]
fn a_refusal_comes_before_the_content() {
    let server = Server::with().env("FILESHED_MAX_FILE_SIZE_MB", "1").start();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("large");
    std::fs::write(&file, vec![0; 3 << 20]).unwrap();
    let address = server.url("/files/content?zone=storage&path=large");
    // curl waits to be told to go on, and is told that it need not.
    let arguments = ["-v", "-T", file.to_str().unwrap(), "-o", "/dev/null"];
    let output = Command::new("curl").args(arguments).arg(&address).output();
    let Ok(output) = output else {
        skip("large uploads are tried with curl, which is not there");
        return;
    };
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(log.contains("< HTTP/1.1 413"), "{log}");
    assert!(!log.contains("100 Continue"), "{log}");
}
