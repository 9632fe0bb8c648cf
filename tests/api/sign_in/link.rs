//! Links that sign a browser in.

use std::sync::Barrier;

use fileshed_test_support::{Client, TestApp};
use serde_json::json;

use super::browser::{Browser, link, path, token};

#[test]
fn a_link_from_the_chat_opens_the_files_once() {
    let server = TestApp::with_key();
    let alice = server
        .as_user("alice")
        .header("X-OpenWebUI-User-Name", "Alice%20One");
    let answer = alice.call("shed_link_create", &json!({"workspace": true}));
    let made = answer.data();
    let url = made["download_url"].as_str().unwrap();
    assert_eq!(
        made["clickable_link"],
        json!(format!("[Open my files]({url})"))
    );
    assert!(url.starts_with(&server.url("/page/sign-in/")), "{url}");
    let link = path(url);

    // A preview of the link does not use it up.
    for method in ["HEAD", "GET", "GET"] {
        let answer = server.client().send(method, &link, b"");
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("set-cookie"), "");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
        assert_eq!(answer.header("cache-control"), "no-store");
        assert!(
            method == "HEAD" || answer.text.contains("Alice One"),
            "{}",
            answer.text
        );
    }
    let browser = Browser::at(&server);
    let answer = browser.press(&link);
    assert_eq!((answer.status, answer.header("location")), (303, "../../"));
    assert_eq!(browser.name().as_deref(), Some("Alice One"));

    let other = Browser::at(&server);
    for answer in [other.press(&link), other.any().get(&link)] {
        assert_eq!(answer.status, 404, "{}", answer.text);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert!(!answer.text.contains("Alice"), "{}", answer.text);
    }
    assert_eq!(other.name(), None);
    // Commits have the name that the chat gave.
    let note = json!({"zone": "documents", "path": "a.md", "content": "x"});
    browser.page().call("shed_create_file", &note).data();
    let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "-1", "--format=%an"]});
    let answer = browser.page().call("shed_exec", &log);
    assert_eq!(answer.data()["stdout"], "Alice One\n");
}

#[test]
fn a_link_from_the_chat_gives_less_than_its_user_has() {
    let server = TestApp::with_key();
    let keeper = server
        .as_user("keeper")
        .header("X-OpenWebUI-User-Role", "admin");
    assert_eq!(keeper.get("/admin/api/tenants").status, 200);
    let made = |client: &Client<'_>| {
        let answer = client.call("shed_link_create", &json!({"workspace": true}));
        path(answer.data()["download_url"].as_str().unwrap())
    };
    let browser = Browser::at(&server);
    assert_eq!(browser.press(&made(&keeper)).status, 303);
    let is_limited = |browser: &Browser<'_>| {
        assert_eq!(browser.state()["role"], "user");
        let tokens = browser.page().get("/page/tokens").body;
        assert_eq!(tokens["may_make"], false);
        browser
            .page()
            .send("POST", "/page/tokens", br#"{"label": "x"}"#)
            .refused(403, "ACCESS_DENIED");
        let asked = browser.page().get("/admin/api/tenants");
        asked.refused(403, "ACCESS_DENIED");
    };
    is_limited(&browser);
    // A session that it began makes none with more.
    let other = Browser::at(&server);
    assert_eq!(other.press(&made(&browser.page())).status, 303);
    is_limited(&other);
}

#[test]
fn an_administrator_makes_a_link_at_the_command_line() {
    let server = TestApp::with_key();
    let browser = Browser::at(&server);
    assert_eq!(browser.press(&link(&server, "alice")).status, 303);
    assert_eq!(browser.name().as_deref(), Some("alice"));
    for arguments in [&["login-link"][..], &["login-link", "--user", ""]] {
        assert_eq!(server.run(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn an_old_link_or_one_of_a_token_that_ended_is_none() {
    let server = TestApp::with_key();
    let browser = Browser::at(&server);
    let old = link(&server, "alice");
    server.advance(300);
    assert_eq!(browser.any().get(&old).status, 404);
    assert_eq!(browser.press(&old).status, 404);

    let secret = token(&server, "alice", &["--expires-days", "1"]);
    let call = server.with_token(&secret);
    let answer = call.call("shed_link_create", &json!({"workspace": true}));
    let of_token = path(answer.data()["download_url"].as_str().unwrap());
    assert_eq!(browser.press(&of_token).status, 303);
    assert_eq!(browser.name().as_deref(), Some("alice"));
    let ended = server.run(&["token", "list"]).stdout;
    let id = ended.split('\t').next().unwrap();
    assert_eq!(server.run(&["token", "revoke", "--id", id]).code, Some(0));
    assert_eq!(browser.name(), None);
}

#[test]
fn refusals_are_in_the_language_of_the_browser() {
    let server = TestApp::with_key();
    let used = link(&server, "alice");
    let browser = Browser::at(&server);
    assert_eq!(browser.press(&used).status, 303);
    let old = link(&server, "alice");
    server.advance(300);
    for (asked, tag, title) in [
        ("de-AT, en;q=0.5", "de", "Dieser Link funktioniert nicht"),
        ("de;q=0, en", "en", "This link does not work"),
    ] {
        for link in [&used, &old, "/page/sign-in/unknown"] {
            for method in ["GET", "POST"] {
                let form = Browser::at(&server).form();
                let refused = form
                    .header("Accept-Language", asked)
                    .send(method, link, b"");
                assert_eq!(refused.status, 404, "{method} {link}: {}", refused.text);
                for part in [
                    format!("<html lang=\"{tag}\">"),
                    format!("<h1>{title}</h1>"),
                ] {
                    assert!(refused.text.contains(&part), "{method}: {}", refused.text);
                }
            }
        }
        // There is no provider.
        let refused = server
            .client()
            .header("Accept-Language", asked)
            .get("/page/oidc");
        assert_eq!(refused.status, 404);
        assert!(refused.text.contains(title), "{}", refused.text);
    }
}

#[test]
fn of_two_browsers_at_once_one_is_signed_in() {
    let server = TestApp::with_key();
    for _ in 0..8 {
        let link = link(&server, "alice");
        let begin = Barrier::new(2);
        let press = || {
            let browser = Browser::at(&server);
            begin.wait();
            browser.press(&link).status
        };
        let mut statuses = std::thread::scope(|scope| {
            let threads = [scope.spawn(press), scope.spawn(press)];
            threads.map(|thread| thread.join().unwrap())
        });
        statuses.sort_unstable();
        assert_eq!(statuses, [303, 404]);
    }
}
