//! `GET`, `HEAD` and `PUT /files/content`

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde_json::{Value, json};

use crate::transfer::form::{files, many_users};
use fileshed_test_support::{Answer, Client, Server, TestApp, skip};

const ADDRESS: &str = "/files/content?zone=storage&path=notes/a.md";

fn put(client: &Client<'_>, address: &str, content: &[u8]) -> Answer {
    client.send("PUT", address, content)
}

#[test]
fn a_file_goes_in_and_comes_out() {
    let server = TestApp::start();
    let client = server.client();
    let made = put(&client, ADDRESS, b"first");
    assert_eq!(made.status, 201, "{}", made.text);
    let expected =
        json!({"zone": "storage", "path": "notes/a.md", "size_bytes": 5, "created": true});
    assert_eq!(made.body["data"], expected);
    let replaced = put(&client, ADDRESS, b"second");
    assert_eq!(replaced.status, 200, "{}", replaced.text);
    assert_eq!(replaced.body["data"]["created"], false);
    assert_ne!(made.header("etag"), replaced.header("etag"));

    let got = client.get(ADDRESS);
    assert_eq!((got.status, got.text.as_str()), (200, "second"));
    assert_eq!(got.header("etag"), replaced.header("etag"));
    assert_eq!(got.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(
        got.header("content-disposition"),
        "attachment; filename=\"a.md\""
    );
    assert_eq!(got.header("accept-ranges"), "bytes");
    assert_eq!(got.header("x-content-type-options"), "nosniff");
    let head = client.send("HEAD", ADDRESS, b"");
    assert_eq!((head.status, head.text.as_str()), (200, ""));
    for name in ["etag", "last-modified", "content-length", "content-type"] {
        assert_eq!(head.header(name), got.header(name), "{name}");
    }
    let shown = client.get(&format!("{ADDRESS}&inline=true"));
    assert!(shown.header("content-disposition").starts_with("inline"));
    // An empty file is a file.
    assert_eq!(put(&client, ADDRESS, b"").status, 200);
    let empty = client.get(ADDRESS);
    assert_eq!((empty.status, empty.header("content-length")), (200, "0"));
}

#[test]
fn what_is_no_file_is_said() {
    let server = many_users().app();
    let client = server.as_user("ada");
    put(&client, ADDRESS, b"x");
    let address = |rest: &str| format!("/files/content?{rest}");
    for (rest, status, code) in [
        ("zone=storage&path=none", 404, "FILE_NOT_FOUND"),
        ("zone=storage", 400, "MISSING_PARAMETER"),
        ("path=a", 400, "MISSING_PARAMETER"),
        ("zone=storage&path=../x", 403, "PATH_ESCAPE"),
        ("zone=storage&path=%00", 400, "INVALID_PATH"),
        (
            "zone=storage&path=storage/notes/a.md",
            400,
            "PATH_STARTS_WITH_ZONE",
        ),
        (
            "zone=storage&path=notes/a.md&inline=no",
            400,
            "INVALID_PARAMETER",
        ),
        ("zone=storage&path=%ff", 400, "INVALID_PARAMETER"),
    ] {
        client.get(&address(rest)).refused(status, code);
    }
    for (rest, status, code) in [
        ("zone=storage&path=notes", 400, "NOT_A_FILE"),
        ("zone=storage&path=.", 400, "INVALID_PATH"),
        ("zone=documents&path=.git/config", 403, "PROTECTED_PATH"),
        ("zone=storage&path=notes/a.md/b", 400, "INVALID_PATH"),
    ] {
        put(&client, &address(rest), b"y").refused(status, code);
    }
    client
        .clone()
        .header("Content-Range", "bytes 0-0/5")
        .send("PUT", ADDRESS, b"y")
        .refused(400, "INVALID_PARAMETER");
    client
        .send("DELETE", ADDRESS, b"")
        .refused(405, "METHOD_NOT_ALLOWED");
    client.get("/files").refused(404, "UNKNOWN_OPERATION");
    client.get("/files/").refused(404, "UNKNOWN_OPERATION");
    client
        .get("/files/upload")
        .refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(files(&server, "ada").len(), 1);
    // Somebody else has nothing there.
    let bob = server.as_user("bob");
    bob.get(ADDRESS).refused(404, "FILE_NOT_FOUND");
    server.client().get(ADDRESS).refused(401, "UNAUTHORIZED");
    put(&server.client(), ADDRESS, b"y").refused(401, "UNAUTHORIZED");
}

/// Returns the names and contents of an archive, as Python reads it; `None` if there is no Python.
pub(crate) fn unpacked(archive: &[u8]) -> Option<Value> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.zip");
    std::fs::write(&file, archive).unwrap();
    let program = "import json, sys, zipfile\n\
        z = zipfile.ZipFile(sys.argv[1])\n\
        assert z.testzip() is None\n\
        print(json.dumps({i.filename: len(z.read(i)) for i in z.infolist()}))";
    let output = std::process::Command::new("python3")
        .args(["-c", program])
        .arg(&file)
        .output();
    let Ok(output) = output else {
        skip("archives are read by python3, which is not there");
        return None;
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// The bytes of an answer.
fn bytes(url: &str) -> Vec<u8> {
    let mut answer = ureq::get(url).call().unwrap();
    assert_eq!(answer.headers()["content-type"], "application/zip");
    answer
        .body_mut()
        .with_config()
        .limit(1 << 30)
        .read_to_vec()
        .unwrap()
}

#[test]
fn a_directory_comes_as_an_archive() {
    let server = Server::start();
    let client = server.client();
    put(
        &client,
        "/files/content?zone=documents&path=d/a.md",
        b"12345",
    );
    put(
        &client,
        "/files/content?zone=documents&path=d/e/b.bin",
        &vec![7; 300_000],
    );
    let address = "/files/content?zone=documents&path=d";
    let head = client.send("HEAD", address, b"");
    assert_eq!(
        head.header("content-disposition"),
        "attachment; filename=\"d.zip\""
    );
    let expected = json!({"d/a.md": 5, "d/e/b.bin": 300_000});
    let found = unpacked(&bytes(&server.url(address)));
    assert_eq!(found.unwrap_or(expected.clone()), expected);

    let link = json!({"zone": "documents", "path": "."});
    let link = client.call("shed_link_create", &link);
    let url = link.data()["download_url"].as_str().unwrap();
    let found = unpacked(&bytes(url));
    assert_eq!(found.unwrap_or(expected.clone()), expected);
    // The server keeps no copy of the archive.
    let stats = client.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["documents"]["size_bytes"], 300_005);
}

#[test]
fn a_condition_is_judged_when_the_file_is_replaced() {
    let server = TestApp::with_key();
    let client = server.as_user("ada");
    let only_new = client.clone().header("If-None-Match", "*");
    let made = put(&only_new, ADDRESS, b"one");
    assert_eq!(made.status, 201);
    put(&only_new, ADDRESS, b"two").refused(412, "PRECONDITION_FAILED");
    let tag = made.header("etag").to_owned();
    let mine = client.clone().header("If-Match", &tag);
    assert_eq!(put(&mine, ADDRESS, b"three").status, 200);
    put(&mine, ADDRESS, b"four").refused(412, "PRECONDITION_FAILED");
    assert_eq!(client.get(ADDRESS).text, "three");
    let there = client.clone().header("If-Match", "*");
    put(&there, "/files/content?zone=storage&path=new", b"x").refused(412, "PRECONDITION_FAILED");

    // Of many that saw the same state, one wins.
    let tag = client.get(ADDRESS).header("etag").to_owned();
    let winners: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|number| {
                let (server, tag) = (&server, &tag);
                scope.spawn(move || {
                    let client = server.as_user("ada").header("If-Match", tag);
                    let content = format!("writer {number}");
                    let answer = put(&client, ADDRESS, content.as_bytes());
                    (answer.status == 200).then_some(content)
                })
            })
            .collect();
        let outcomes = writers.into_iter().map(|writer| writer.join().unwrap());
        outcomes.flatten().collect()
    });
    assert_eq!(winners.len(), 1, "{winners:?}");
    assert_eq!(client.get(ADDRESS).text, winners[0]);
}

#[test]
fn a_change_by_a_command_changes_the_tag() {
    let server = TestApp::start();
    let client = server.client();
    put(&client, ADDRESS, b"abc");
    let before = client.get(ADDRESS);
    let touch = json!({"zone": "storage", "cmd": "touch", "args": ["-d", "2001-02-03T04:05:06Z", "notes/a.md"]});
    client.call("shed_exec", &touch).data();
    let after = client.get(ADDRESS);
    assert_ne!(before.header("etag"), after.header("etag"));
    assert_eq!(
        after.header("last-modified"),
        "Sat, 03 Feb 2001 04:05:06 GMT"
    );
}

#[test]
fn names_and_types_of_what_comes_out() {
    let server = TestApp::start();
    let client = server.client();
    for (name, content, kind, disposition) in [
        (
            "page.html",
            "<script>alert(1)</script>",
            "text/html; charset=utf-8",
            "filename=\"page.html\"",
        ),
        (
            "image.svg",
            "<svg/>",
            "image/svg+xml",
            "filename=\"image.svg\"",
        ),
        (
            "README",
            "text",
            "text/plain; charset=utf-8",
            "filename=\"README\"",
        ),
        (
            "日本 é.pdf",
            "%PDF",
            "application/pdf",
            "filename=\"__ e.pdf\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC%20%C3%A9.pdf",
        ),
        (
            "a\"b'c.txt",
            "x",
            "text/plain; charset=utf-8",
            "filename=\"a_b'c.txt\"; filename*=UTF-8''a%22b%27c.txt",
        ),
    ] {
        // Existing files may have names that new files may not have.
        let place = server.data().join("shared/Storage/data");
        std::fs::create_dir_all(&place).expect("made");
        std::fs::write(place.join(name), content).expect("written");
        let encoded = percent_encode(name.as_bytes(), NON_ALPHANUMERIC);
        for inline in ["false", "true"] {
            let address = format!("/files/content?zone=storage&path={encoded}&inline={inline}");
            let answer = client.get(&address);
            assert_eq!(answer.text, content, "{name}");
            assert_eq!(answer.header("content-type"), kind, "{name}");
            let how = if inline == "true" {
                "inline"
            } else {
                "attachment"
            };
            assert_eq!(
                answer.header("content-disposition"),
                format!("{how}; {disposition}")
            );
            let policy = answer.header("content-security-policy");
            let is_viewed = inline == "true" && kind == "application/pdf";
            assert!(policy.contains("default-src 'none'"), "{policy}");
            assert_eq!(policy.ends_with("sandbox"), !is_viewed, "{policy}");
        }
    }
}

/// A browser's own viewer does not start in a sandbox.
#[test]
fn a_pdf_is_shown_by_the_own_page_alone_and_loads_nothing() {
    let app = TestApp::start();
    let address = "/files/content?zone=storage&path=a.pdf";
    let client = app.client();
    assert_eq!(
        client.send("PUT", address, b"<script>x</script>").status,
        201
    );
    let saved = client.get(address);
    let policy = saved.header("content-security-policy");
    assert!(policy.ends_with("sandbox"), "{policy}");
    let shown = client.get(&format!("{address}&inline=true"));
    assert_eq!(shown.header("content-type"), "application/pdf");
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    assert_eq!(
        shown.header("content-security-policy"),
        "default-src 'none'; frame-ancestors 'self'"
    );
}
