//! Authentication of WebDAV: a personal token as the password, and never a session of the page.

use super::Drive;
use crate::transfer::form::many_users;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_test_support::{Client, TestApp};

fn token(server: &TestApp, arguments: &[&str]) -> String {
    let made = server.run(&[&["token", "create"], arguments].concat());
    made.stdout.trim().to_owned()
}

fn with_password<'a>(server: &'a TestApp, user: &str, password: &str) -> Client<'a> {
    let credential = STANDARD.encode(format!("{user}:{password}"));
    server
        .client()
        .header("Authorization", &format!("Basic {credential}"))
}

#[test]
fn the_password_is_a_personal_token_and_the_name_is_any() {
    let server = many_users().start();
    let asked = server.client().send("PROPFIND", "/dav/", b"");
    asked.refused(401, "UNAUTHORIZED");
    assert!(asked.header("www-authenticate").starts_with("Basic realm="));
    let ada = token(&server, &["--user", "ada"]);
    for name in ["ada", "", "somebody else", "bob"] {
        let drive = Drive::of(with_password(&server, name, &ada), "/storage");
        drive.put("a.txt", name);
        assert_eq!(drive.get("a.txt"), (200, name.to_owned()));
    }
    let bob = token(&server, &["--user", "bob"]);
    let drive = Drive::of(with_password(&server, "ada", &bob), "/storage");
    assert_eq!(drive.get("a.txt").0, 404, "bob has a drive of his own");
    // A gateway's key is no password: it is nobody's.
    for password in ["service-key", "shed_none", "", &ada[..20]] {
        let drive = Drive::of(with_password(&server, "ada", password), "/storage");
        let refused = drive.send("PROPFIND", "", &[("Depth", "0")]);
        refused.refused(401, "UNAUTHORIZED");
    }
    assert!(!server.log().contains(&ada), "tokens are in no log");
}

#[test]
fn a_token_that_reads_changes_nothing() {
    let server = many_users().app();
    let ada = token(&server, &["--user", "ada"]);
    let drive = Drive::of(with_password(&server, "ada", &ada), "/storage");
    drive.put("a.txt", "a");
    let reads = token(&server, &["--user", "ada", "--scope", "read"]);
    let reader = Drive::of(with_password(&server, "ada", &reads), "/storage");
    assert_eq!(reader.get("a.txt"), (200, "a".to_owned()));
    assert_eq!(reader.list("").len(), 2);
    for method in [
        "PUT",
        "DELETE",
        "MKCOL",
        "LOCK",
        "PROPPATCH",
        "MOVE",
        "COPY",
    ] {
        let refused = reader.send(method, "a.txt", &[]);
        refused.refused(403, "ACCESS_DENIED");
    }
    assert_eq!(drive.get("a.txt"), (200, "a".to_owned()));
}

#[test]
fn no_page_may_call_with_what_a_browser_sends_along() {
    let server = many_users().app();
    let ada = token(&server, &["--user", "ada"]);
    let drive = Drive::of(with_password(&server, "ada", &ada), "/storage");
    drive.put("a.txt", "a");
    for headers in [
        [
            ("Origin", "https://evil.example"),
            ("Sec-Fetch-Site", "cross-site"),
        ],
        [("Origin", "null"), ("Sec-Fetch-Mode", "cors")],
        [
            ("Sec-Fetch-Site", "same-origin"),
            ("Sec-Fetch-Mode", "cors"),
        ],
    ] {
        for method in ["GET", "DELETE", "PROPFIND"] {
            let refused = drive.send(method, "a.txt", &headers);
            refused.refused(403, "ACCESS_DENIED");
        }
    }
    let session = server.client().header("Cookie", "fileshed-session=shed_x");
    let refused = session.send("GET", "/dav/storage/a.txt", b"");
    refused.refused(401, "UNAUTHORIZED");
    let opened = drive.send("GET", "a.txt", &[("Sec-Fetch-Site", "none")]);
    assert_eq!(opened.status, 200, "a person who types the address");
}

#[test]
fn one_setting_turns_it_off() {
    let server = TestApp::with().env("FILESHED_WEBDAV", "false").app();
    let client = server.client();
    client
        .send("PROPFIND", "/dav/storage/", b"")
        .refused(404, "UNKNOWN_OPERATION");
    assert_eq!(client.send("OPTIONS", "/", b"").header("dav"), "");
    let server = TestApp::start();
    assert_eq!(
        server.client().send("OPTIONS", "/", b"").header("dav"),
        "1, 2"
    );
}
