//! `GET /terminal/files/read` and `/files/display`

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use fileshed_test_support::processes::resident;
use fileshed_test_support::{Server, TestApp};
use serde_json::json;

use super::{get, post, refused, write};

/// The bytes of a picture of one point.
const PNG: &str = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489";

#[test]
fn a_text_comes_with_its_lines() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/a.md", "one\ntwo\nthree");
    let read = |query: &[(&str, &str)]| {
        let mut all = vec![("path", "/storage/a.md/")];
        all.extend(query);
        get(&client, "/files/read", &all)
    };
    let whole = json!({"path": "/storage/a.md", "total_lines": 3, "content": "one\ntwo\nthree"});
    assert_eq!(read(&[]).body, whole);
    for (first, last, content) in [
        ("2", "2", "two\n"),
        ("2", "9", "two\nthree"),
        ("7", "9", ""),
    ] {
        let part = read(&[("start_line", first), ("end_line", last)]);
        assert_eq!(part.body["content"], content);
        assert_eq!(part.body["total_lines"], 3);
    }
    refused(
        &read(&[("start_line", "0")]),
        400,
        "INVALID_PARAMETER",
        "`start_line` is 0",
    );
    refused(
        &read(&[("end_line", "x")]),
        400,
        "INVALID_PARAMETER",
        "`end_line`",
    );
    // An empty object comes with any method.
    let with_body = client.send("GET", "/terminal/files/read?path=/storage/a.md", b"{}");
    assert_eq!(with_body.body, whole);
    write(&client, "/storage/empty", "");
    let empty = get(&client, "/files/read", &[("path", "/storage/empty")]);
    assert_eq!(
        (&empty.body["content"], &empty.body["total_lines"]),
        (&json!(""), &json!(0))
    );
}

#[test]
fn what_is_no_file_is_not_read() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/d/a.md", "x");
    for (path, names) in [
        ("/storage/none", "`/storage/none`"),
        ("/storage/d", "`/storage/d` is a directory"),
        ("/storage", "`/storage` is a directory"),
        ("/logs/none", "list_files(directory=\"/logs\")"),
    ] {
        let read = get(&client, "/files/read", &[("path", path)]);
        refused(&read, 404, "FILE_NOT_FOUND", names);
    }
    let nothing = get(&client, "/files/read", &[]);
    refused(&nothing, 400, "MISSING_PARAMETER", "`path`");
}

#[test]
fn old_encodings_are_read_as_characters() {
    let app = TestApp::start();
    let client = app.client();
    for (name, hex, text) in [
        ("latin.txt", "6772fcdfe065", "gr\u{fc}\u{df}\u{e0}e"),
        ("wide.txt", "fffe6100fc000a00", "a\u{fc}\n"),
        ("marked.txt", "efbbbf61", "\u{feff}a"),
    ] {
        let made = json!({"path": name, "content": hex, "file_type": "bytes"});
        client.data_in("storage", "shed_create_file", made);
        let read = get(&client, "/files/read", &[("path", name)]);
        assert_eq!(read.body["content"], text, "{}", read.text);
    }
}

#[test]
fn pictures_come_as_they_are_and_other_bytes_when_they_are_wanted() {
    let app = TestApp::start();
    let client = app.client();
    for name in ["a.png", "a.zip"] {
        let made = json!({"path": name, "content": PNG, "file_type": "bytes"});
        client.data_in("storage", "shed_create_file", made);
    }
    let picture = get(&client, "/files/read", &[("path", "/storage/a.png")]);
    assert_eq!(
        (picture.status, picture.header("content-type")),
        (200, "image/png")
    );
    assert!(picture.text.contains("IHDR"));
    assert!(
        picture
            .header("content-security-policy")
            .contains("sandbox")
    );
    let archive = get(&client, "/files/read", &[("path", "/storage/a.zip")]);
    refused(&archive, 415, "UNSUPPORTED_FILE_TYPE", "`/storage/a.zip`");
    let forced = get(
        &client,
        "/files/read",
        &[("path", "/storage/a.zip"), ("force_binary", "True")],
    );
    assert_eq!(
        (forced.status, forced.header("content-type")),
        (200, "application/zip")
    );
    let not = get(
        &client,
        "/files/read",
        &[("path", "/storage/a.zip"), ("force_binary", "False")],
    );
    assert_eq!(not.status, 415);
}

#[test]
fn the_administrator_says_which_bytes_models_get() {
    let app = TestApp::with()
        .env(
            "FILESHED_TERMINAL_BINARY_MIME_PREFIXES",
            "audio, application/zip",
        )
        .app();
    let client = app.client();
    for (name, status) in [
        ("a.png", 415),
        ("a.zip", 200),
        ("a.mp3", 200),
        ("a.bin", 415),
    ] {
        let made = json!({"path": name, "content": PNG, "file_type": "bytes"});
        client.data_in("storage", "shed_create_file", made);
        let read = get(&client, "/files/read", &[("path", name)]);
        assert_eq!(read.status, status, "{name}");
    }
}

#[test]
fn a_long_text_is_read_in_parts() {
    let app = TestApp::with()
        .env("FILESHED_MAX_OUTPUT_DEFAULT", "1000")
        .env("FILESHED_MAX_OUTPUT_GATEWAY", "1000")
        .env("FILESHED_MAX_OUTPUT_ABSOLUTE", "10000")
        .app();
    let client = app.client();
    let lines: Vec<String> = (1..=5000)
        .map(|number| format!("line {number}\n"))
        .collect();
    write(&client, "/storage/long.txt", &lines.concat());
    let read = |query: &[(&str, &str)]| {
        let mut all = vec![("path", "/storage/long.txt")];
        all.extend(query);
        get(&client, "/files/read", &all)
    };
    refused(&read(&[]), 413, "FILE_TOO_LARGE", "start_line=1");
    refused(
        &read(&[("start_line", "2")]),
        413,
        "FILE_TOO_LARGE",
        "`/storage/long.txt`",
    );
    let part = read(&[("start_line", "4000"), ("end_line", "4001")]);
    assert_eq!(part.body["content"], "line 4000\nline 4001\n");
    assert_eq!(part.body["total_lines"], 5000);
}

#[test]
fn a_file_to_show_is_named_and_not_read() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/a.md", "x");
    for (path, exists) in [
        ("a.md", true),
        ("/storage/a.md", true),
        ("none.md", false),
        ("/storage", false),
        ("/groups/x/y", false),
    ] {
        let shown = get(&client, "/files/display", &[("path", path)]);
        assert_eq!(shown.status, 200);
        assert_eq!(shown.body["exists"], exists, "{path}");
        assert!(shown.body["path"].as_str().unwrap().starts_with('/'));
    }
    let posted = post(&client, "/files/display", &json!({"path": "a.md"}));
    assert_eq!(posted.status, 405);
}

#[test]
fn large_files_are_not_held_for_readers_who_do_not_read() {
    const SIZE: usize = 20 * 1024 * 1024;
    let server = Server::start();
    let client = server.client();
    assert_eq!(get(&client, "/files/list", &[]).status, 200);
    let zone = server.data().join("shared/Storage/data");
    std::fs::write(zone.join("large.png"), vec![0; SIZE]).unwrap();
    std::fs::write(zone.join("larger.png"), vec![0; SIZE + 1]).unwrap();
    let process = server.process().as_raw_nonzero().get();
    let before = resident(process);
    let head = format!(
        "GET /terminal/files/read?path=large.png HTTP/1.1\r\nHost: {}\r\n\r\n",
        server.address()
    );
    let mut readers: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut reader = TcpStream::connect(server.address()).unwrap();
            reader.write_all(head.as_bytes()).unwrap();
            let mut beginning = [0; 12];
            reader.read_exact(&mut beginning).unwrap();
            assert_eq!(&beginning, b"HTTP/1.1 200");
            reader
        })
        .collect();
    let after = resident(process);
    assert!(after < before + SIZE as u64, "{before} {after}");
    readers.clear();
    let whole = get(&client, "/files/read", &[("path", "large.png")]);
    assert_eq!(whole.bytes.len(), SIZE);
    let larger = get(&client, "/files/read", &[("path", "larger.png")]);
    refused(&larger, 413, "FILE_TOO_LARGE", "`/storage/larger.png`");
}

#[test]
fn a_slash_that_was_left_out_is_shown() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/documents/a.md", "one");
    for (path, meant) in [
        ("documents/a.md", "`/documents/a.md`"),
        ("documents/b.md", "list_files"),
    ] {
        let read = get(&client, "/files/read", &[("path", path)]);
        refused(&read, 404, "FILE_NOT_FOUND", meant);
    }
}

#[test]
fn an_archive_is_read_as_its_list() {
    let app = TestApp::start();
    let client = app.client();
    for name in ["Übersicht März.csv", "報告書 2026年.md", "a/straße.txt"] {
        write(&client, &format!("/storage/d/{name}"), "ü\n");
    }
    let packed = json!({"src": "d", "dest": "ガイド.zip"});
    client.data_in("storage", "shed_zip", packed);
    let read = get(&client, "/files/read", &[("path", "/storage/ガイド.zip")]);
    let list = read.body["content"].as_str().expect("a list");
    assert!(
        list.starts_with("ZIP archive: 3 files, 9 bytes unpacked\n"),
        "{list}"
    );
    for name in [
        "d/Übersicht März.csv",
        "d/報告書 2026年.md",
        "d/a/straße.txt",
    ] {
        assert!(list.contains(&format!("         3  {name}\n")), "{list}");
    }
    // The other readers have the same.
    let lines = json!({"zone": "storage", "path": "ガイド.zip", "offset": 2, "limit": 2});
    let lines = client.call("shed_read", &lines).data().clone();
    assert_eq!(lines["total_lines"], read.body["total_lines"]);
    let compact = client.post("fs/read_file", br#"{"path": "\u30ac\u30a4\u30c9.zip"}"#);
    assert!(compact.text.contains("straße.txt"), "{}", compact.text);
    // A file that only has the name is read as what it is.
    write(&client, "/storage/no.zip", "text");
    let text = get(&client, "/files/read", &[("path", "/storage/no.zip")]);
    assert_eq!(text.body["content"], "text");
}
