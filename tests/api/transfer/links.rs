//! `/links/…`: what a link gives, and that it gives nothing else.

use serde_json::{Value, json};

use crate::transfer::form::{self, files, many_users, send};
use fileshed_test_support::{Client, Server, TestApp};

fn put(client: &Client<'_>, zone: &str, path: &str, content: &str) {
    let file = json!({"zone": zone, "path": path, "content": content});
    client.call("shed_create_file", &file).data();
}

fn link(client: &Client<'_>, arguments: &Value) -> Value {
    client.call("shed_link_create", arguments).data().clone()
}

/// The part of a link's address behind the server.
fn address(link: &Value) -> String {
    let url = link["download_url"].as_str().unwrap();
    url[url.find("/links/").unwrap()..].to_owned()
}

#[test]
fn a_link_saves_a_file_and_shows_a_picture() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    for path in ["page.html", "chart.png", "drawing.svg", "notes.txt"] {
        put(&ada, "storage", path, "<b>x</b>");
        let link = link(&ada, &json!({"zone": "storage", "path": path}));
        let (url, markdown) = (
            link["download_url"].as_str().unwrap(),
            &link["clickable_link"],
        );
        let shows = path.ends_with("png") || path.ends_with("svg");
        let mark = if shows { "!" } else { "" };
        assert_eq!(*markdown, format!("{mark}[{path}]({url})"));
        assert_eq!(link.get("attached"), None);
        let got = server.client().get(&address(&link));
        let policy = got.header("content-security-policy");
        assert!(policy.ends_with("; sandbox"), "{policy}");
        let disposition = format!("attachment; filename=\"{path}\"");
        assert_eq!(got.header("content-disposition"), disposition);
        assert_eq!(got.header("x-content-type-options"), "nosniff");
        assert_eq!(
            got.header("cross-origin-resource-policy"),
            "",
            "another page shows it"
        );
    }
}

#[test]
fn a_download_link_gives_what_is_there_now() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    put(&ada, "documents", "report.md", "draft");
    let link = link(&ada, &json!({"zone": "documents", "path": "report.md"}));
    assert_eq!(link["size_bytes"], 5);
    assert_eq!(link["filename"], "report.md");
    let url = link["download_url"].as_str().unwrap();
    assert_eq!(link["clickable_link"], format!("[report.md]({url})"));
    let address = address(&link);
    assert_eq!(url, server.url(&address));

    let anybody = server.client();
    let got = anybody.get(&address);
    assert_eq!((got.status, got.text.as_str()), (200, "draft"));
    assert_eq!(
        got.header("content-disposition"),
        "attachment; filename=\"report.md\""
    );
    assert_eq!(got.header("cache-control"), "private, no-cache");
    // A browser gets the file too, not a page.
    let browser = anybody.clone().header("Accept", "text/html,*/*");
    assert_eq!(browser.get(&address).text, "draft");
    put(&ada, "documents", "report.md", "final version");
    assert_eq!(anybody.get(&address).text, "final version");
    let part = anybody.clone().header("Range", "bytes=6-").get(&address);
    assert_eq!((part.status, part.text.as_str()), (206, "version"));
    let head = anybody.send("HEAD", &address, b"");
    assert_eq!(head.header("content-length"), "13");
    let known = anybody.clone().header("If-None-Match", head.header("etag"));
    assert_eq!(known.get(&address).status, 304);
    // It is for this file and for nothing else, and takes nothing.
    anybody
        .get(&format!("{address}/x"))
        .refused(404, "UNKNOWN_OPERATION");
    send(&anybody, &address, &[("a", b"x")]).refused(404, "FILE_NOT_FOUND");
    anybody
        .send("PUT", &address, b"x")
        .refused(405, "METHOD_NOT_ALLOWED");
}

#[test]
fn a_link_to_uploads_stays_in_its_conversation() {
    let server = many_users().app();
    let ada = server.as_user("ada").chat("c1");
    send(&ada, "/files/upload", &[("a.txt", b"one")]).data();
    send(
        &server.as_user("ada").chat("c2"),
        "/files/upload",
        &[("a.txt", b"two")],
    )
    .data();
    let link = link(&ada, &json!({"zone": "uploads", "path": "a.txt"}));
    assert_eq!(server.client().get(&address(&link)).text, "one");
    let listed = server
        .as_user("ada")
        .chat("c3")
        .call("shed_link_list", &json!({}));
    assert_eq!(listed.data()["files"][0]["size_bytes"], 3);
}

#[test]
fn a_link_ends_as_soon_as_its_maker_said() {
    let server = many_users().env("FILESHED_LINK_EXPIRY_HOURS", "48").app();
    let ada = server.as_user("ada");
    put(&ada, "storage", "a.txt", "one");
    let made = |hours: Value| {
        let call = json!({"zone": "storage", "path": "a.txt", "expires_hours": hours});
        ada.call("shed_link_create", &call)
    };
    let soon = address(made(json!(2)).data());
    let late = address(made(Value::Null).data());
    let opens = |address: &str| server.client().get(address).status == 200;
    server.advance(3600);
    assert!(opens(&soon) && opens(&late));
    server.advance(3601);
    assert!(!opens(&soon) && opens(&late));
    for hours in [0, 49] {
        let refused = made(json!(hours));
        refused.refused(400, "INVALID_PARAMETER");
        assert_eq!(refused.body["error"]["details"]["maximum"], 48);
        let message = refused.body["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("`expires_hours` must be 1 to 48"),
            "{message}"
        );
    }
    made(json!(48)).data();
    server.advance(46 * 3600);
    assert!(!opens(&late));
}

#[test]
fn links_that_do_not_work_all_look_the_same() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    let make = |path: &str| {
        put(&ada, "storage", path, "x");
        link(&ada, &json!({"zone": "storage", "path": path}))
    };
    let (revoked, gone, expired, moved) = (make("a"), make("b"), make("c"), make("d"));
    let id = json!({"file_id": revoked["file_id"]});
    assert_eq!(server.client().get(&address(&revoked)).status, 200);
    ada.call("shed_link_delete", &id).data();
    ada.call("shed_delete", &json!({"zone": "storage", "path": "b"}))
        .data();
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite")).unwrap();
    registry
        .execute(
            "UPDATE links SET expires_at = 1000000000 WHERE id = ?1",
            [expired["file_id"].as_str().unwrap()],
        )
        .unwrap();
    // The path is a directory now, and then leads out of the zone.
    ada.call("shed_delete", &json!({"zone": "storage", "path": "d"}))
        .data();
    let place = server.data().join("users/ada/Storage/data/d");
    std::os::unix::fs::symlink("/etc/passwd", &place).unwrap();

    let anybody = server.client();
    for (what, browser) in [
        ("a program", anybody.clone()),
        ("a browser", anybody.clone().header("Accept", "text/html")),
    ] {
        let unknown = browser.get("/links/nonsense");
        assert_eq!(unknown.status, 404, "{what}");
        for link in [&revoked, &gone, &expired, &moved] {
            let answer = browser.get(&address(link));
            assert_eq!(answer.told(), unknown.told(), "{what}");
            let answer = send(&browser, &address(link), &[("a", b"x")]);
            assert_eq!(answer.told(), unknown.told(), "{what}");
        }
    }
    anybody
        .get("/links/nonsense")
        .refused(404, "FILE_NOT_FOUND");
    let page = anybody
        .clone()
        .header("Accept", "text/html")
        .get("/links/x");
    assert!(
        page.text.contains("<h1>This link does not work</h1>"),
        "{}",
        page.text
    );
}

#[test]
fn a_token_is_one_text_and_no_other() {
    let server = Server::start();
    let client = server.client();
    put(&client, "storage", "a", "secret");
    let address = address(&link(&client, &json!({"zone": "storage", "path": "a"})));
    let token = address.strip_prefix("/links/").unwrap();
    assert_eq!(token.len(), 40);
    assert_eq!(client.get(&address).text, "secret");
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut tried = 0;
    for place in 0..token.len() {
        let was = alphabet
            .iter()
            .position(|c| *c == token.as_bytes()[place])
            .unwrap();
        // Each of the six bits that the character stands for.
        for bit in 0..6 {
            let mut changed = token.as_bytes().to_vec();
            changed[place] = alphabet[was ^ (1 << bit)];
            let changed = String::from_utf8(changed).unwrap();
            client
                .get(&format!("/links/{changed}"))
                .refused(404, "FILE_NOT_FOUND");
            tried += 1;
        }
    }
    assert_eq!(tried, 240);
    for other in [
        format!("{token}="),
        format!("{token}A"),
        token[1..].to_owned(),
        format!("%20{token}"),
        format!("{token}%00"),
        "%2e%2e%2fhealth".to_owned(),
        "%ff".to_owned(),
        "A".repeat(5000),
    ] {
        let answer = client.get(&format!("/links/{other}"));
        assert!(
            [400, 404].contains(&answer.status),
            "{other}: {}",
            answer.text
        );
        assert!(!answer.text.contains("secret"));
    }
    assert!(!server.log().contains(token), "a token is in the log");
}

#[test]
fn links_belong_to_who_made_them() {
    let server = many_users().env("FILESHED_LINK_MAX_PER_USER", "2").app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    put(&ada, "storage", "a", "x");
    let file = json!({"zone": "storage", "path": "a"});
    let first = link(&ada, &file);
    let listed = bob.call("shed_link_list", &json!({}));
    assert_eq!(listed.data()["count"], 0);
    let id = json!({"file_id": first["file_id"]});
    bob.call("shed_link_delete", &id)
        .refused(400, "NOT_A_FILESHED_LINK");
    bob.call("shed_link_create", &file)
        .refused(404, "FILE_NOT_FOUND");
    assert_eq!(server.client().get(&address(&first)).text, "x");
    // So many for one user, and one taken back makes room.
    link(&ada, &file);
    ada.call("shed_link_create", &file)
        .refused(507, "QUOTA_EXCEEDED");
    put(&bob, "storage", "a", "y");
    link(&bob, &file);
    ada.call("shed_link_delete", &id).data();
    link(&ada, &file);
}

#[test]
fn where_a_link_leads_is_never_what_a_request_says() {
    let server = TestApp::with_key();
    let ada = server.as_user("ada");
    put(&ada, "storage", "a", "x");
    let file = json!({"zone": "storage", "path": "a"});
    let evil = ada
        .clone()
        .header("Host", "evil.example")
        .header("X-Forwarded-Host", "evil.example")
        .header("Forwarded", "host=evil.example");
    let made = link(&evil, &file);
    assert!(!made.to_string().contains("evil"), "{made}");
    assert_eq!(made["download_url"], server.url(&address(&made)));

    let server = TestApp::with()
        .env("FILESHED_PUBLIC_URL", "https://files.example.org/shed/")
        .app();
    put(&server.client(), "storage", "a", "x");
    let made = link(&server.client(), &file);
    let url = made["download_url"].as_str().unwrap();
    assert!(
        url.starts_with("https://files.example.org/shed/links/"),
        "{url}"
    );
    assert_eq!(server.client().get(&address(&made)).text, "x");
}

#[test]
fn an_upload_link_takes_files_and_shows_nothing() {
    let server = many_users()
        .env("FILESHED_QUOTA_PER_USER_MB", "2")
        .env("FILESHED_MAX_FILE_SIZE_MB", "1")
        .app();
    let ada = server.as_user("ada").chat("c1");
    let made = link(&ada, &json!({"upload": true}));
    assert_eq!(
        (&made["zone"], &made["path"]),
        (&json!("uploads"), &json!("."))
    );
    assert_eq!(made["size_bytes"], Value::Null);
    let address_of_link = address(&made);
    let anybody = server.client();
    let answer = send(
        &anybody,
        &address_of_link,
        &[("a.txt", b"one"), ("d/b", b"two")],
    );
    assert_eq!(answer.body["data"], json!({"count": 2}));
    // The same name again: both stay, and nobody learns of it.
    let again = send(
        &anybody,
        &format!("{address_of_link}?overwrite=true"),
        &[("a.txt", b"2nd")],
    );
    assert_eq!(again.body["data"], json!({"count": 1}));
    let on_disk = files(&server, "ada");
    assert_eq!(on_disk["Uploads/c1/a.txt"], b"one");
    assert_eq!(on_disk["Uploads/c1/a (2).txt"], b"2nd");
    assert_eq!(on_disk.len(), 3);

    let page = anybody
        .clone()
        .header("Accept", "text/html")
        .get(&address_of_link);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    for hidden in ["a.txt", "uploads", "c1", "ada"] {
        assert!(!page.text.contains(hidden), "{hidden}: {}", page.text);
    }
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");

    // Failures say nothing of what is there, nor how much.
    let large = vec![0; (1 << 20) + 1];
    let half = vec![0; 1 << 20];
    send(&anybody, &address_of_link, &[("half", &half)]).data();
    for (name, content, status, code) in [
        ("large", &large[..], 413, "FILE_TOO_LARGE"),
        ("more", &half[..], 507, "QUOTA_EXCEEDED"),
        ("../x", b"x", 400, "INVALID_PATH"),
        ("d/../../x", b"x", 400, "INVALID_PATH"),
        (".fs_pepper", b"x", 400, "INVALID_PATH"),
    ] {
        let answer = send(&anybody, &address_of_link, &[(name, content)]);
        answer.refused(status, code);
        assert_eq!(
            answer.body["error"]["details"],
            json!({}),
            "{}",
            answer.text
        );
        assert!(!answer.text.contains("shed_"), "{}", answer.text);
    }
    let html = anybody.clone().header("Accept", "text/html");
    let told = send(&html, &address_of_link, &[("large", &large)]);
    assert_eq!(told.status, 413);
    assert!(
        told.text
            .contains("This file is too large: at most 1 MB are taken.")
    );
    let thanks = send(&html, &address_of_link, &[("c", b"x")]);
    assert!(
        thanks.text.contains("The file was received."),
        "{}",
        thanks.text
    );
    assert!(form::staged(&server, "ada").is_empty());
}

#[test]
fn an_upload_link_has_one_destination() {
    let server = many_users().app();
    let ada = server.as_user("ada");
    put(&ada, "documents", "inbox/there.md", "x");
    let made = link(
        &ada,
        &json!({"zone": "documents", "path": "inbox/new", "upload": true}),
    );
    assert_eq!(made["filename"], "new");
    let address = address(&made);
    let anybody = server.client();
    let elsewhere = format!("{address}?zone=storage&path=..&chat=c9");
    send(&anybody, &elsewhere, &[("a", b"1")]).data();
    send(&anybody, &address, &[("../b", b"1")]).refused(400, "INVALID_PATH");
    assert_eq!(files(&server, "ada")["Documents/data/inbox/new/a"], b"1");
    assert_eq!(files(&server, "ada").len(), 2);
    let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "-1", "--format=%an %s"]});
    let log = ada.call("shed_exec", &log);
    assert_eq!(log.data()["stdout"], "ada Upload inbox/new/a\n");
    // Its maker lists it and takes it back.
    let listed = ada.call("shed_link_list", &json!({}));
    let entry = &listed.data()["files"][0];
    assert_eq!(
        (&entry["upload"], &entry["source_path"]),
        (&json!(true), &json!("inbox/new"))
    );
    ada.call("shed_link_delete", &json!({"file_id": entry["file_id"]}))
        .data();
    send(&anybody, &address, &[("a", b"1")]).refused(404, "FILE_NOT_FOUND");
}
