//! Attempts to use another user's session, all of which fail.

use fileshed_test_support::TestApp;
use serde_json::json;

use super::browser::{Browser, link, token, with_cookie};

fn note() -> serde_json::Value {
    json!({"zone": "storage", "path": "a.md", "content": "x"})
}

/// A browser in which alice is signed in.
fn alice(server: &TestApp) -> Browser<'_> {
    let browser = Browser::at(server);
    browser.sign_in(&token(server, "alice", &[])).data();
    browser
}

/// Origins in requests of other sites' pages.
const FOREIGN: [&[(&str, &str)]; 6] = [
    &[("Origin", "https://evil.example")],
    &[("Origin", "null")],
    &[("Sec-Fetch-Site", "cross-site")],
    &[("Sec-Fetch-Site", "same-site")],
    &[
        ("Origin", "http://127.0.0.1:8000"),
        ("Sec-Fetch-Site", "same-site"),
    ],
    &[("Origin", "http://127.0.0.1:8000.evil.example")],
];

#[test]
fn pages_of_other_sites_cannot_use_a_session() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_CORS_ORIGINS", "https://chat.example.org")
        .app();
    let browser = alice(&server);
    browser.page().call("shed_create_file", &note()).data();
    let delete = json!({"zone": "storage", "path": "a.md"});
    for origin in FOREIGN {
        let with = |client| {
            origin.iter().fold(
                client,
                |client: fileshed_test_support::Client<'_>, (name, value)| {
                    client.header(name, value)
                },
            )
        };
        // A form or a request without questions beforehand has no header of the page.
        let answer = with(browser.any()).call("shed_delete", &delete);
        answer.refused(401, "UNAUTHORIZED");
        // With it, whatever let it through.
        let forged = with(browser.any().header("X-Fileshed-Page", "1"));
        forged
            .call("shed_delete", &delete)
            .refused(403, "ACCESS_DENIED");
        let body = json!({"token": token(&server, "eve", &[])}).to_string();
        let answer = forged.send("POST", "/page/sign-in", body.as_bytes());
        answer.refused(403, "ACCESS_DENIED");
        let answer = forged.send("POST", "/page/sign-out", b"{}");
        answer.refused(403, "ACCESS_DENIED");
        let answer = with(browser.any()).send("POST", "/page/sign-out", b"{}");
        answer.refused(403, "ACCESS_DENIED");
        // Another site cannot sign a person in as another user either.
        let link = link(&server, "eve");
        let answer = with(browser.any()).send("POST", &link, b"");
        assert_eq!((answer.status, answer.header("set-cookie")), (403, ""));
    }
    // A listed site may call, with a token of its own.
    let listed = browser
        .any()
        .header("X-Fileshed-Page", "1")
        .header("Origin", "https://chat.example.org");
    listed
        .call("shed_delete", &delete)
        .refused(403, "ACCESS_DENIED");
    let ask = server
        .client()
        .header("Origin", "https://chat.example.org")
        .header("Access-Control-Request-Method", "POST")
        .header("Access-Control-Request-Headers", "x-fileshed-page");
    let answer = ask.send("OPTIONS", "/shed_delete", b"");
    let allowed = answer.header("access-control-allow-headers").to_lowercase();
    assert!(!allowed.contains("x-fileshed-page"), "{allowed}");
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    assert_eq!(browser.name().as_deref(), Some("alice"));
}

#[test]
fn a_small_picture_is_kept_by_the_browser_and_asked_for_again() {
    let server = TestApp::with_key();
    let browser = alice(&server);
    let picture = include_bytes!("../server/wide.png");
    let wide = "/files/content?zone=storage&path=wide.png";
    assert_eq!(browser.page().send("PUT", wide, picture).status, 201);
    let address = "/page/thumbnail?zone=storage&path=wide.png";
    let made = browser.any().get(address);
    assert_eq!(
        (made.status, made.header("cache-control")),
        (200, "private, no-cache")
    );
    let again = browser.any().header("If-None-Match", made.header("etag"));
    let again = again.get(address);
    assert_eq!(
        (again.status, again.header("cache-control")),
        (304, "private, no-cache")
    );
    // A refusal is kept by nobody, and after signing out there is nothing else.
    let missing = browser
        .any()
        .get("/page/thumbnail?zone=storage&path=missing.png");
    assert_eq!(
        (missing.status, missing.header("cache-control")),
        (404, "no-store")
    );
    let kept = browser.any().header("If-None-Match", made.header("etag"));
    browser.sign_out(&json!({}));
    assert_eq!(kept.get(address).status, 401);
}

#[test]
fn a_cookie_counts_without_the_page_for_showing_a_file_alone() {
    let server = TestApp::with_key();
    let browser = alice(&server);
    browser.page().call("shed_create_file", &note()).data();
    let file = "/files/content?zone=storage&path=a.md";
    let missing = "/files/content?zone=storage&path=missing.md";
    let archive = "/files/archive?zone=storage&path=.&name=a.md";
    let member = "/page/member?zone=storage&path=a.md&name=a";
    for headers in [
        &[][..],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate")],
    ] {
        let client = headers.iter().fold(browser.any(), |client, (name, value)| {
            client.header(name, value)
        });
        for (address, status) in [
            (file, 200),
            (archive, 200),
            (missing, 404),
            // It is no archive.
            (member, 400),
        ] {
            let answer = client.get(address);
            assert_eq!(answer.status, status, "{headers:?}: {}", answer.text);
            assert_eq!(answer.header("cache-control"), "no-store", "{address}");
        }
    }
    let navigation: &[(&str, &str)] = &[
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
    ];
    // Another page learns neither the content nor whether a user is signed in.
    for headers in FOREIGN.into_iter().chain([navigation]) {
        for client in [browser.any(), server.client()] {
            let client = headers
                .iter()
                .fold(client, |client, (name, value)| client.header(name, value));
            for address in [file, archive, missing] {
                client.get(address).refused(403, "ACCESS_DENIED");
            }
        }
    }
    let answer = browser
        .any()
        .send("PUT", "/files/content?zone=storage&path=b.md", b"x");
    answer.refused(401, "UNAUTHORIZED");
    let answer = browser
        .any()
        .send("POST", "/files/upload?zone=storage", b"x");
    answer.refused(401, "UNAUTHORIZED");
    for (method, address) in [
        ("POST", "/files/uploads?zone=storage"),
        ("PATCH", "/files/uploads/0"),
        ("DELETE", "/files/uploads/0"),
    ] {
        let cookie = browser.any().header("Tus-Resumable", "1.0.0");
        cookie
            .send(method, address, b"")
            .refused(401, "UNAUTHORIZED");
    }
    let answer = browser
        .page()
        .send("PUT", "/files/content?zone=storage&path=b.md", b"x");
    assert_eq!(answer.status, 201, "{}", answer.text);
}

#[test]
fn what_only_the_page_reads_needs_its_header_and_nobody_keeps_it() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_BIN_DAYS", "30")
        .app();
    let browser = Browser::at(&server);
    let keeper = token(&server, "keeper", &["--scope", "admin"]);
    browser.sign_in(&keeper).data();
    browser.page().call("shed_create_file", &note()).data();
    for address in [
        "/page/list?zone=storage&path=.",
        "/page/search?query=x",
        "/page/uploads",
        "/page/bin",
        "/page/tokens",
        "/admin/api/overview",
        "/admin/api/tenants",
        "/admin/api/running",
        "/admin/api/links",
        "/admin/api/locks",
    ] {
        let shown = browser.page().get(address);
        assert_eq!(shown.status, 200, "{address}: {}", shown.text);
        assert_eq!(shown.header("cache-control"), "no-store", "{address}");
        let opened = browser.any().get(address);
        assert!([401, 403].contains(&opened.status), "{address}");
        // A program with a credential of its own sends no header of the page.
        if !address.starts_with("/page/tokens") {
            let program = server.with_token(&keeper).get(address);
            assert_eq!(program.status, 200, "{address}: {}", program.text);
        }
    }
    for answer in [
        browser.page().call("shed_stats", &json!({})),
        browser
            .page()
            .call("shed_read", &json!({"zone": "nowhere"})),
        with_cookie(&server, "unknown")
            .header("X-Fileshed-Page", "1")
            .call("shed_stats", &json!({})),
    ] {
        assert_eq!(
            answer.header("cache-control"),
            "no-store",
            "{}",
            answer.text
        );
    }
}

#[test]
fn beside_another_credential_a_cookie_is_nothing() {
    let server = TestApp::with_key();
    let browser = alice(&server);
    let eve = token(&server, "eve", &[]);
    let page = || browser.page();
    let answer = page()
        .header("Authorization", &format!("Bearer {eve}"))
        .get("/page/session");
    assert_eq!(answer.body["name"], "eve");
    for wrong in ["Bearer shed_made-up", "Basic YWxpY2U6eA==", "Bearer"] {
        let answer = page()
            .header("Authorization", wrong)
            .call("shed_stats", &json!({}));
        answer.refused(401, "UNAUTHORIZED");
    }
    // A header that names another user makes nobody that one.
    let answer = page()
        .header("X-OpenWebUI-User-Id", "eve")
        .call("shed_stats", &json!({}));
    answer.refused(403, "ACCESS_DENIED");
}

#[test]
fn no_other_surface_takes_the_cookie() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .app();
    let browser = alice(&server);
    let ask = br#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
    for (method, path, body) in [
        ("GET", "/terminal/files/list?directory=/", &b""[..]),
        ("POST", "/terminal/execute", br#"{"command": "ls"}"#),
        ("POST", "/mcp", ask),
        ("POST", "/fs/list_files", b"{}"),
        ("GET", "/fs/info", b""),
    ] {
        let answer = browser.page().send(method, path, body);
        let refused = answer.status == 401
            || answer.body["code"] == "UNAUTHORIZED"
            || answer.body["mode"] == "refused";
        assert!(
            refused,
            "{method} {path}: {} {}",
            answer.status, answer.text
        );
    }
}

#[test]
fn a_secret_is_new_at_each_sign_in_and_cannot_be_chosen() {
    let server = TestApp::with_key();
    let planted = "A".repeat(43);
    let secret = token(&server, "alice", &[]);
    let body = json!({"token": secret}).to_string();
    let victim = with_cookie(&server, &planted).header("X-Fileshed-Page", "1");
    let answer = victim.send("POST", "/page/sign-in", body.as_bytes());
    let set = answer.header("set-cookie");
    assert!(answer.status == 200 && !set.contains(&planted), "{set}");
    let eve = with_cookie(&server, &planted).header("X-Fileshed-Page", "1");
    eve.call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");

    let browser = Browser::at(&server);
    browser.sign_in(&secret).data();
    let first = browser.secret();
    browser.sign_in(&secret).data();
    assert_ne!(browser.secret(), first);
    let old = with_cookie(&server, &first).header("X-Fileshed-Page", "1");
    old.call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");
    // If a cookie comes twice, another site has set one of them.
    let twice = browser
        .page()
        .header("Cookie", &format!("{}={planted}", super::browser::COOKIE));
    twice
        .call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");
}

#[test]
fn a_link_is_not_guessed_and_leads_nowhere_else() {
    let server = TestApp::with_key();
    let link = link(&server, "alice");
    let (base, secret) = link.rsplit_once('/').unwrap();
    assert_eq!(secret.len(), 43, "256 bits");
    let changed = format!(
        "{}{}",
        &secret[..42],
        if secret.ends_with('A') { 'B' } else { 'A' }
    );
    let browser = Browser::at(&server);
    for guess in [
        "x",
        &secret[..42],
        &changed,
        &secret.to_uppercase(),
        &format!("{secret}%00"),
        &"A".repeat(5000),
    ] {
        let answer = browser.press(&format!("{base}/{guess}"));
        assert!(
            answer.status == 404 || answer.status == 400,
            "{guess}: {}",
            answer.status
        );
        assert_eq!(browser.secret(), "");
    }
    for query in ["?next=https://evil.example", "?redirect=//evil.example"] {
        let answer = browser
            .form()
            .header("X-Forwarded-Host", "evil.example")
            .send(
                "POST",
                &format!("{link}{query}"),
                b"next=https://evil.example",
            );
        if answer.status == 303 {
            assert_eq!(answer.header("location"), "../../");
        } else {
            assert_eq!(answer.status, 404, "it is used up");
        }
    }
}
