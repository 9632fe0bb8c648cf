//! Pages of other sites, as browsers send their requests.

use serde_json::json;

use fileshed_test_support::{Client, Server, Setup, TestApp};

const SITE: &str = "https://chat.example.org";

fn setup() -> Setup {
    TestApp::with().env(
        "FILESHED_CORS_ORIGINS",
        "https://chat.example.org,http://localhost:3000",
    )
}

/// Sends the preflight request of a browser and returns the answer.
fn preflight(server: &Server, path: &str, origin: &str) -> String {
    let host = server.address();
    let request = format!(
        "OPTIONS {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nOrigin: {origin}\r\n\
         Access-Control-Request-Method: POST\r\n\
         Access-Control-Request-Headers: authorization, content-type, x-openwebui-chat-id\r\n\
         Access-Control-Request-Private-Network: true\r\nSec-Fetch-Site: cross-site\r\n\r\n"
    );
    server.raw(request.as_bytes()).to_lowercase()
}

fn page<'a>(server: &'a TestApp, origin: &str) -> Client<'a> {
    server
        .client()
        .header("Origin", origin)
        .header("Sec-Fetch-Site", "cross-site")
}

#[track_caller]
fn has(answer: &str, header: &str, word: &str) {
    let line = answer
        .lines()
        .find(|line| line.starts_with(&format!("{header}:")));
    let line = line.unwrap_or_else(|| panic!("{header} is missing in\n{answer}"));
    assert!(line.contains(word), "{word} is missing in {line}");
}

#[test]
fn a_browser_is_told_what_pages_of_listed_sites_may() {
    let server = setup().env("FILESHED_API_KEYS", "service-key").start();
    for path in [
        "/shed_create_file",
        "/files/content",
        "/openapi.json",
        "/nothing",
    ] {
        let answer = preflight(&server, path, SITE);
        assert!(answer.starts_with("http/1.1 200 "), "{path}: {answer}");
        has(&answer, "access-control-allow-origin", SITE);
        for method in ["get", "post", "put", "delete"] {
            has(&answer, "access-control-allow-methods", method);
        }
        for header in [
            "authorization",
            "content-type",
            "x-session-id",
            "x-openwebui-chat-id",
            "x-openwebui-message-id",
        ] {
            has(&answer, "access-control-allow-headers", header);
        }
        has(&answer, "access-control-allow-private-network", "true");
        has(&answer, "access-control-max-age", "600");
        has(&answer, "vary", "origin");
        assert!(!answer.contains("allow-credentials"), "{answer}");
    }
    assert!(!server.data().join("users").exists(), "no operation ran");
}

#[test]
fn a_browser_is_told_nothing_about_other_sites() {
    for server in [setup().start(), Server::start()] {
        for origin in [
            "https://evil.example",
            "https://chat.example.org.evil.example",
            "https://sub.chat.example.org",
            "http://chat.example.org",
            "https://chat.example.org:8443",
            "null",
            "*",
            "",
        ] {
            for path in ["/shed_create_file", "/openapi.json"] {
                let answer = preflight(&server, path, origin);
                assert!(!answer.contains("access-control-"), "{origin}: {answer}");
            }
            let answer = page(&server, origin).get("/openapi.json");
            assert_eq!(answer.header("access-control-allow-origin"), "", "{origin}");
        }
    }
}

#[test]
fn a_page_of_a_listed_site_reads_answers_and_refusals() {
    let server = setup().env("FILESHED_API_KEYS", "service-key").app();
    let document = page(&server, SITE).get("/openapi.json");
    assert_eq!(document.header("access-control-allow-origin"), SITE);
    let nobody = page(&server, SITE).call("shed_parameters", &json!({}));
    nobody.refused(401, "UNAUTHORIZED");
    assert_eq!(nobody.header("access-control-allow-origin"), SITE);
    let exposed = nobody.header("access-control-expose-headers");
    assert!(exposed.contains("x-request-id"), "{exposed}");
    let alice = page(&server, SITE)
        .header("Authorization", "Bearer service-key")
        .header("X-User-Id", "alice");
    alice.call("shed_parameters", &json!({})).data();
}

/// Open WebUI calls a terminal that a user has added from its own page.
#[test]
fn a_page_of_a_listed_site_works_in_a_terminal() {
    let server = setup()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .app();
    let config = page(&server, SITE).get("/terminal/api/config");
    assert_eq!(config.status, 200, "before it has a credential");
    assert_eq!(config.header("access-control-allow-origin"), SITE);
    let made = server.run(&["token", "create", "--user", "alice"]);
    let alice = page(&server, SITE)
        .header("Authorization", &format!("Bearer {}", made.stdout.trim()))
        .header("X-Session-Id", "chat-1");
    let made = json!({"path": "/storage/d"}).to_string();
    let made = alice.send("POST", "/terminal/files/mkdir", made.as_bytes());
    assert_eq!(made.status, 200, "{}", made.text);
    for status in [200, 404] {
        let deleted = alice.send("DELETE", "/terminal/files/delete?path=/storage/d", b"");
        assert_eq!(deleted.status, status, "{}", deleted.text);
        assert_eq!(deleted.header("access-control-allow-origin"), SITE);
    }
    let evil = page(&server, "https://evil.example").get("/terminal/api/config");
    assert_eq!(evil.header("access-control-allow-origin"), "");
}

#[test]
fn a_persons_own_server_lets_listed_sites_in_and_no_others() {
    let server = setup().app();
    let write = json!({"zone": "storage", "path": "a.md", "content": "x"});
    let call = |client: &Client<'_>| client.call("shed_create_file", &write);
    call(&page(&server, SITE)).data();
    call(&page(&server, "http://localhost:3000")).data();
    for origin in ["https://evil.example", "null", "http://localhost:3001"] {
        let answer = call(&page(&server, origin));
        answer.refused(403, "ACCESS_DENIED");
        assert_eq!(answer.header("access-control-allow-origin"), "");
    }
    // A name that resolves to this machine is no loopback name, whichever site shows the page.
    let rebound = page(&server, SITE).header("Host", "evil.example");
    call(&rebound).refused(403, "ACCESS_DENIED");
    // Another tab of the same browser names no origin.
    let navigated = server.client().header("Sec-Fetch-Site", "cross-site");
    call(&navigated).refused(403, "ACCESS_DENIED");
}

#[test]
fn without_listed_sites_nothing_changes() {
    let server = Server::start();
    let answer = preflight(&server, "/shed_create_file", SITE);
    assert!(answer.starts_with("http/1.1 204 "), "{answer}");
    assert!(!answer.contains("access-control-"), "{answer}");
}
