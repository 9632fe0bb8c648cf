//! Tokens that people make for their own programs, and take back.

use fileshed_test_support::{Answer, TestApp};
use serde_json::{Value, json};

use super::browser::{Browser, link, printed, token};

/// A browser that a link signed in.
fn by_link<'a>(server: &'a TestApp, user: &str) -> Browser<'a> {
    let browser = Browser::at(server);
    browser.press(&link(server, user));
    assert_eq!(browser.name().as_deref(), Some(user));
    browser
}

fn make(browser: &Browser<'_>, wanted: &Value) -> Answer {
    let body = wanted.to_string();
    browser.page().send("POST", "/page/tokens", body.as_bytes())
}

fn revoke(browser: &Browser<'_>, id: &Value) -> Answer {
    let body = json!({"id": id}).to_string();
    let page = browser.page();
    page.send("POST", "/page/tokens/revoke", body.as_bytes())
}

fn listed(browser: &Browser<'_>) -> Value {
    browser.page().get("/page/tokens").body
}

#[test]
fn who_is_signed_in_makes_tokens_and_ends_them() {
    let server = TestApp::with_key();
    let ada = by_link(&server, "ada");
    assert_eq!(listed(&ada), json!({"tokens": [], "may_make": true}));
    let made = make(&ada, &json!({"label": " backup ", "days": 30}));
    assert_eq!(made.header("cache-control"), "no-store");
    let secret = made.data()["secret"].as_str().unwrap().to_owned();
    let note = json!({"zone": "storage", "path": "a.md", "content": "x"});
    server
        .with_token(&secret)
        .call("shed_create_file", &note)
        .data();

    let tokens = listed(&ada);
    let found = &tokens["tokens"][0];
    assert_eq!(
        (&found["label"], &found["scope"]),
        (&json!("backup"), &json!("write"))
    );
    assert_eq!(found["id"], made.data()["id"]);
    assert!(found["expires_at"].is_string());
    assert!(!tokens.to_string().contains(&secret));

    revoke(&ada, &found["id"]).data();
    server
        .with_token(&secret)
        .call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");
    assert_eq!(listed(&ada)["tokens"], json!([]));
    revoke(&ada, &found["id"]).refused(400, "INVALID_PARAMETER");
}

#[test]
fn a_token_may_be_made_that_only_reads() {
    let server = TestApp::with_key();
    let ada = by_link(&server, "ada");
    let made = make(&ada, &json!({"label": "reader", "only_reads": true}));
    let program = server.with_token(made.data()["secret"].as_str().unwrap());
    program.call("shed_stats", &json!({})).data();
    let note = json!({"zone": "storage", "path": "a.md", "content": "x"});
    program
        .call("shed_create_file", &note)
        .refused(403, "ACCESS_DENIED");
    assert_eq!(listed(&ada)["tokens"][0].get("expires_at"), None);
}

#[test]
fn nobody_sees_or_ends_what_another_made() {
    let server = TestApp::with_key();
    let (ada, bob) = (by_link(&server, "ada"), by_link(&server, "bob"));
    let made = make(&ada, &json!({"label": "canary"}));
    assert_eq!(listed(&bob)["tokens"], json!([]));
    revoke(&bob, &made.data()["id"]).refused(400, "INVALID_PARAMETER");
    let program = server.with_token(made.data()["secret"].as_str().unwrap());
    program.call("shed_stats", &json!({})).data();
}

#[test]
fn what_was_made_with_a_token_makes_none() {
    let server = TestApp::with_key();
    let found = token(&server, "ada", &["--expires-days", "1"]);
    let browser = Browser::at(&server);
    browser.sign_in(&found).data();
    make(&browser, &json!({"label": "for ever"})).refused(403, "ACCESS_DENIED");
    let tokens = listed(&browser);
    assert_eq!(tokens["may_make"], false);
    // Ending it is allowed, and ends the session, too.
    revoke(&browser, &tokens["tokens"][0]["id"]).data();
    assert_eq!(browser.name(), None);
}

#[test]
fn no_other_credential_and_no_other_page_makes_a_token() {
    let server = TestApp::with_key();
    let ada = by_link(&server, "ada");
    let body = json!({"label": "stolen"}).to_string();
    let ask = |client: fileshed_test_support::Client<'_>| {
        client.send("POST", "/page/tokens", body.as_bytes()).status
    };
    assert_eq!(
        ask(server.as_user("ada").header("X-Fileshed-Page", "1")),
        403
    );
    let secret = token(&server, "ada", &[]);
    assert_eq!(
        ask(server.with_token(&secret).header("X-Fileshed-Page", "1")),
        403
    );
    // Without the header that only the page sends, and from another site.
    assert_eq!(ask(ada.form()), 403);
    let foreign = ada.any().header("X-Fileshed-Page", "1");
    assert_eq!(ask(foreign.header("Origin", "https://evil.example")), 403);
    assert_eq!(ask(server.client().header("X-Fileshed-Page", "1")), 401);
    assert_eq!(
        listed(&ada)["tokens"].as_array().unwrap().len(),
        1,
        "the one of the command line"
    );
    // A server without users has no tokens.
    let shared = TestApp::start();
    let browser = Browser::at(&shared);
    make(&browser, &json!({"label": "x"})).refused(403, "ACCESS_DENIED");
}

#[test]
fn labels_days_and_the_number_of_tokens_are_bounded() {
    let server = TestApp::with_key();
    let ada = by_link(&server, "ada");
    for label in ["", "  ", "two\nlines", &"x".repeat(101)] {
        make(&ada, &json!({"label": label})).refused(400, "INVALID_PARAMETER");
    }
    for days in [0, 3651] {
        make(&ada, &json!({"label": "x", "days": days})).refused(400, "INVALID_PARAMETER");
    }
    make(&ada, &json!({})).refused(400, "INVALID_PARAMETER");
    for number in 0..50 {
        make(&ada, &json!({"label": number.to_string()})).data();
    }
    make(&ada, &json!({"label": "one more"})).refused(507, "QUOTA_EXCEEDED");
    let first = listed(&ada)["tokens"][0]["id"].clone();
    revoke(&ada, &first).data();
    make(&ada, &json!({"label": "one more"})).data();
}

#[test]
fn who_is_suspended_makes_no_token() {
    let server = TestApp::with_key();
    let ada = by_link(&server, "ada");
    printed(&server.run(&["user", "suspend", "--user", "ada"]));
    make(&ada, &json!({"label": "x"})).refused(403, "ACCESS_DENIED");
}
