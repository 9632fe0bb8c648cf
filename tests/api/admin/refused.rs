//! Users without the administrator role can neither read nor change anything through the administration
//! API.

use serde_json::{Value, json};

use super::stage::{CANARY, admin, furnished, get, post, printed, row, setup};
use crate::sign_in::browser::{Browser, token};
use fileshed_test_support::{Answer, TestApp};

const READS: [&str; 5] = ["overview", "tenants", "running", "links", "locks"];

fn writes() -> [(&'static str, Value); 7] {
    [
        ("users/suspend", json!({"user": "bob"})),
        ("users/resume", json!({"user": "bob"})),
        ("tenants/quota", json!({"user": "bob", "quota_mb": 1})),
        ("tenants/delete", json!({"user": "bob", "name": "bob"})),
        ("running/end", json!({"id": "command-1"})),
        ("links/end", json!({"id": "0"})),
        ("locks/release", json!({"id": "0"})),
    ]
}

/// The refusal says who may, and nothing of what there is.
#[track_caller]
fn says_nothing(answer: &Answer) {
    answer.refused(403, "ACCESS_DENIED");
    for word in ["bob", "ada", CANARY, "team"] {
        assert!(!answer.text.contains(word), "{}", answer.text);
    }
}

#[test]
fn who_is_no_administrator_learns_nothing() {
    let server = setup().app();
    furnished(&server);
    let secret = token(&server, "ada", &[]);
    let reader = token(&server, "ada", &["--scope", "read"]);
    for client in [
        server.as_user("ada"),
        server
            .as_user("ada")
            .header("X-OpenWebUI-User-Role", "user"),
        server.with_token(&secret),
        // The header is a gateway's: beside a token nobody believes it.
        server
            .with_token(&secret)
            .header("X-OpenWebUI-User-Role", "admin"),
        server.with_token(&reader),
    ] {
        for what in READS {
            says_nothing(&client.get(&format!("/admin/api/{what}")));
        }
        for (what, given) in writes() {
            says_nothing(&post(&client, what, &given));
            // Not even whether it could be read.
            says_nothing(&post(&client, what, &json!([])));
        }
    }
    for what in READS {
        let answer = server.client().get(&format!("/admin/api/{what}"));
        answer.refused(401, "UNAUTHORIZED");
    }
    let tenants = get(&server, "tenants")["tenants"].clone();
    let bob = row(&tenants, "id", "bob");
    assert_eq!(
        (&bob["suspended"], &bob["own_quota"]),
        (&json!(false), &json!(false))
    );
}

#[test]
fn the_one_person_of_shared_mode_needs_a_token_of_that_scope() {
    let server = TestApp::start();
    for client in [
        server.client(),
        server.client().header("X-Fileshed-Page", "1"),
    ] {
        says_nothing(&client.get("/admin/api/tenants"));
    }
    let secret = token(&server, "keeper", &["--scope", "admin"]);
    let answer = server.with_token(&secret).get("/admin/api/tenants");
    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[test]
fn a_token_of_the_scope_admin_administers_until_it_is_taken_back() {
    let server = setup().app();
    furnished(&server);
    let secret = token(&server, "keeper", &["--scope", "admin", "--label", "watch"]);
    let keeper = server.with_token(&secret);
    for what in READS {
        let answer = keeper.get(&format!("/admin/api/{what}"));
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    // It is its user's, too, and nobody else's.
    let file = json!({"zone": "storage", "path": "own.md", "content": "x"});
    keeper.call("shed_create_file", &file).data();
    let foreign = json!({"zone": "documents", "path": format!("{CANARY}-ada.md")});
    keeper
        .call("shed_read", &foreign)
        .refused(404, "FILE_NOT_FOUND");
    let list = printed(&server.run(&["token", "list"]));
    let line = list.lines().find(|line| line.ends_with("watch")).unwrap();
    let columns: Vec<&str> = line.split('\t').collect();
    assert_eq!(columns[2], "admin");
    printed(&server.run(&["token", "revoke", "--id", columns[0]]));
    keeper
        .get("/admin/api/tenants")
        .refused(401, "UNAUTHORIZED");
}

#[test]
fn a_browser_administers_with_its_page_alone() {
    let server = setup().app();
    furnished(&server);
    let browser = Browser::at(&server);
    browser
        .sign_in(&token(&server, "keeper", &["--scope", "admin"]))
        .data();
    assert_eq!(browser.state()["role"], "admin");
    let answer = browser.page().get("/admin/api/tenants");
    assert_eq!(answer.status, 200, "{}", answer.text);
    post(&browser.page(), "users/suspend", &json!({"user": "bob"})).data();
    // A form, an address that is typed in, and a page of another site have the cookie, too, which does
    // not count there.
    for other in [browser.form(), browser.any()] {
        let answer = other.get("/admin/api/tenants");
        answer.refused(401, "UNAUTHORIZED");
    }
    let foreign = browser.any().header("X-Fileshed-Page", "1");
    let foreign = foreign.header("Origin", "https://evil.example");
    says_nothing(&foreign.get("/admin/api/tenants"));
    let form = post(&browser.form(), "users/resume", &json!({"user": "bob"}));
    assert!([401, 403].contains(&form.status), "{}", form.text);
    // Its session makes no token that administers.
    let made = browser
        .page()
        .send("POST", "/page/tokens", b"{\"label\": \"x\"}");
    made.refused(403, "ACCESS_DENIED");
    let other = Browser::at(&server);
    other.sign_in(&token(&server, "ada", &[])).data();
    assert_eq!(other.state()["role"], "user");
    says_nothing(&other.page().get("/admin/api/tenants"));
}

#[test]
fn an_administrator_who_is_suspended_is_none() {
    let server = setup().app();
    furnished(&server);
    printed(&server.run(&["user", "suspend", "--user", "root"]));
    let refused = admin(&server).get("/admin/api/tenants");
    refused.refused(403, "ACCESS_DENIED");
}

#[test]
fn what_cannot_be_read_does_nothing() {
    let server = setup().app();
    furnished(&server);
    for (what, _) in writes() {
        for body in [&b"[]"[..], b"{", b"{}", b"null", &[b'x'; 9000]] {
            let answer = admin(&server).send("POST", &format!("/admin/api/{what}"), body);
            answer.refused(400, "INVALID_PARAMETER");
        }
    }
    let wrong = admin(&server).send("DELETE", "/admin/api/tenants", b"");
    assert_eq!(wrong.status, 405, "{}", wrong.text);
    let page = server.client().get("/admin");
    assert_eq!((page.status, page.header("location")), (303, "./#/admin"));
}
