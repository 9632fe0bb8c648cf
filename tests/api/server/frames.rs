//! No page of the server shows in a frame of another one, where a person would press what they do
//! not see.

use serde_json::json;

use crate::ops::stage::{done, file, small};
use fileshed_test_support::{Answer, TestApp};

/// Requests a path as a browser does.
fn page(app: &TestApp, address: &str) -> Answer {
    let browser = app.client().header("Accept", "text/html,*/*;q=0.8");
    browser.get(address)
}

/// The path of a link on this server.
fn path(url: &str) -> &str {
    let (_scheme, rest) = url.split_once("://").unwrap();
    &rest[rest.find('/').unwrap()..]
}

#[test]
fn no_page_shows_in_a_frame() {
    let app = small().app();
    let ada = app.as_user("ada");
    file(&ada, "storage", "a.txt", "text");
    let made = |arguments: serde_json::Value| {
        let link = done(&ada, "shed_link_create", &arguments);
        path(link["download_url"].as_str().unwrap()).to_owned()
    };
    let receives = made(json!({"upload": true}));
    let signs_in = made(json!({"workspace": true}));
    let wrong = |link: &str| {
        let (rest, last) = link.split_at(link.len() - 1);
        format!("{rest}{}", if last == "x" { "y" } else { "x" })
    };
    for (address, status) in [
        ("/", 200),
        ("/docs/", 200),
        (&receives, 200),
        (&wrong(&receives), 404),
        (&signs_in, 200),
        (&wrong(&signs_in), 404),
        ("/page/oidc", 404),
        ("/page/oidc/callback", 404),
    ] {
        let answer = page(&app, address);
        assert_eq!(answer.status, status, "{address}: {}", answer.text);
        let kind = answer.header("content-type");
        if !kind.starts_with("text/html") {
            // An answer that is no page has no buttons to protect.
            assert_eq!(kind, "application/json", "{address}");
            continue;
        }
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{address}: {policy}"
        );
    }
    for address in ["/", "/docs/"] {
        assert_eq!(page(&app, address).header("x-frame-options"), "DENY");
    }
    // Administrators have no page but the one.
    let admin = page(&app, "/admin");
    assert_eq!((admin.status, admin.header("location")), (303, "./#/admin"));
    // A file that a link gives does nothing in a browser, framed or not.
    let brought = page(&app, &made(json!({"zone": "storage", "path": "a.txt"})));
    let policy = brought.header("content-security-policy");
    assert!(policy.contains("default-src 'none'"), "{policy}");
}
