//! A session from its beginning with a token to its end.

use fileshed_test_support::jwt::{now, sign};
use fileshed_test_support::{Client, Server, TestApp};
use serde_json::{Value, json};

use super::browser::{Browser, link, path, printed, token, with_cookie};

const NOTE: &str = "shed_create_file";

#[test]
fn who_has_a_token_is_signed_in_with_it() {
    let server = TestApp::with_key();
    let browser = Browser::at(&server);
    let state = browser.state();
    assert_eq!(
        state,
        json!({"signed_in": false, "user": null, "name": null, "mode": "user", "role": null,
               "role_lapsed": false, "ways": ["link", "token"], "link_hours": 168})
    );
    browser.sign_in("shed_made-up").refused(401, "UNAUTHORIZED");
    assert_eq!(browser.secret(), "");

    let secret = token(&server, "alice", &[]);
    let answer = browser.sign_in(&secret);
    assert_eq!(answer.data(), &json!({"name": "alice"}));
    assert!(!answer.header("set-cookie").contains(&secret));
    assert!(answer.header("set-cookie").contains("; Path=/;"));
    let state = browser.state();
    assert_eq!(
        (&state["name"], &state["role"]),
        (&json!("alice"), &json!("user"))
    );

    let note = json!({"zone": "storage", "path": "a.md", "content": "x"});
    browser.page().call(NOTE, &note).data();
    let read = json!({"zone": "storage", "path": "a.md"});
    server.with_token(&secret).call("shed_read", &read).data();
    server
        .as_user("bob")
        .call("shed_read", &read)
        .refused(404, "FILE_NOT_FOUND");

    browser.sign_out(&json!({})).data();
    assert_eq!(browser.secret(), "");
    assert_eq!(browser.name(), None);
}

/// The page names the drafts in a browser by it.
#[test]
fn people_of_one_display_name_are_told_apart() {
    let server = TestApp::with_key();
    let known = |user: &str| {
        let named = server
            .as_user(user)
            .header("X-OpenWebUI-User-Name", "Alex%20Kim");
        let answer = named.call("shed_link_create", &json!({"workspace": true}));
        let browser = Browser::at(&server);
        let link = path(answer.data()["download_url"].as_str().unwrap());
        assert_eq!(browser.press(&link).status, 303);
        let state = browser.state();
        assert_eq!(state["name"], "Alex Kim");
        state["user"].clone()
    };
    assert_eq!(
        (known("kim-1"), known("kim-2")),
        (json!("kim-1"), json!("kim-2"))
    );
}

#[test]
fn commits_name_the_person_on_every_surface() {
    let server = TestApp::with_key();
    let secret = token(&server, "alice", &[]);
    let browser = Browser::at(&server);
    browser.sign_in(&secret).data();
    let write = |client: Client<'_>, path: &str| {
        let file = json!({"zone": "documents", "path": path, "content": "x"});
        client.call(NOTE, &file).data();
    };
    write(browser.page(), "unknown.md");
    let named = || {
        server
            .as_user("alice")
            .header("X-OpenWebUI-User-Name", "Alice")
    };
    write(named(), "chat.md");
    write(server.with_token(&secret), "script.md");
    write(browser.page(), "page.md");
    let drive = server.with_token(&secret);
    assert_eq!(
        drive.send("PUT", "/dav/documents/drive.md", b"x").status,
        201
    );
    write(server.as_user("alice"), "terminal.md");
    let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "--format=%an"]});
    let log = named().call("shed_exec", &log);
    let authors: Vec<&str> = log.data()["stdout"].as_str().unwrap().lines().collect();
    assert_eq!(
        authors,
        ["Alice", "Alice", "Alice", "Alice", "Alice", "alice"]
    );
    assert_eq!(browser.name().as_deref(), Some("Alice"));
}

#[test]
fn signing_out_ends_the_session_itself() {
    let server = TestApp::with_key();
    let secret = token(&server, "alice", &[]);
    let browsers = [(); 3].map(|()| Browser::at(&server));
    for browser in &browsers {
        browser.sign_in(&secret).data();
    }
    let [one, two, three] = &browsers;
    let kept = one.secret();
    one.sign_out(&json!({})).data();
    let stolen = with_cookie(&server, &kept).header("X-Fileshed-Page", "1");
    stolen
        .call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");
    assert_eq!(two.name().as_deref(), Some("alice"));
    two.sign_out(&json!({"everywhere": true})).data();
    assert_eq!((two.name(), three.name()), (None, None));
    // The cookie of the ended session is removed from the browser.
    assert_eq!(three.secret(), "");
}

#[test]
fn a_session_ends_with_its_token_with_its_user_and_with_time() {
    let server = TestApp::with_key();
    let listed = |column: usize| {
        let line = printed(&server.run(&["token", "list"]));
        let last = line.lines().last().unwrap().to_owned();
        last.split('\t').nth(column).unwrap().to_owned()
    };
    let browser = Browser::at(&server);
    browser.sign_in(&token(&server, "alice", &[])).data();
    assert_eq!(browser.name().as_deref(), Some("alice"));
    printed(&server.run(&["token", "revoke", "--id", &listed(0)]));
    assert_eq!(browser.name(), None);

    let second = token(&server, "bob", &[]);
    browser.sign_in(&second).data();
    let shown = printed(&server.run(&["user", "show", "--user", "bob"]));
    assert!(shown.contains("sessions\t1"), "{shown}");
    let ended = printed(&server.run(&["user", "end", "--user", "bob"]));
    assert!(ended.contains("1 session"), "{ended}");
    assert_eq!(browser.name(), None);

    let third = token(&server, "carol", &[]);
    browser.sign_in(&third).data();
    printed(&server.run(&["user", "suspend", "--user", "carol"]));
    let refused = browser.page().call("shed_stats", &json!({}));
    refused.refused(403, "ACCESS_DENIED");
    browser.sign_in(&third).refused(403, "ACCESS_DENIED");
    printed(&server.run(&["user", "resume", "--user", "carol"]));
    assert_eq!(browser.name().as_deref(), Some("carol"));

    server.advance(25 * 3600);
    assert_eq!(browser.name(), None, "nobody used it for a day");
}

#[test]
fn a_token_that_only_reads_signs_in_to_read() {
    let server = TestApp::with_key();
    let browser = Browser::at(&server);
    browser
        .sign_in(&token(&server, "alice", &["--scope", "read"]))
        .data();
    browser.page().call("shed_stats", &json!({})).data();
    let note = json!({"zone": "storage", "path": "a.md", "content": "x"});
    browser
        .page()
        .call(NOTE, &note)
        .refused(403, "ACCESS_DENIED");
}

#[test]
fn in_shared_mode_nobody_signs_in() {
    let server = TestApp::start();
    let browser = Browser::at(&server);
    let state = browser.state();
    assert_eq!(
        state,
        json!({
            "signed_in": true, "user": null, "name": null, "mode": "shared", "role": "user",
            "role_lapsed": false, "ways": [], "link_hours": 168,
        })
    );
    browser.page().call("shed_stats", &json!({})).data();
    let secret = token(&server, "alice", &[]);
    browser.sign_in(&secret).refused(403, "ACCESS_DENIED");
    let link = link(&server, "alice");
    assert_eq!(browser.press(&link).status, 403);
    assert_eq!(browser.any().get(&link).status, 403);
    assert_eq!(browser.secret(), "");
    let answer = server.call("shed_link_create", &json!({"workspace": true}));
    assert_eq!(answer.data()["download_url"], server.url("/"));
}

#[test]
fn a_session_of_open_webui_counts_where_the_page_is_at_its_address() {
    let secret = "webui-secret";
    let server = TestApp::with()
        .env("FILESHED_WEBUI_SECRET_KEY", secret)
        .env("FILESHED_NAMESPACE", "plain")
        .app();
    let session = |user: &str| {
        sign(
            secret,
            &json!({"id": user, "typ": "session", "iat": now(), "exp": now() + 300}),
        )
    };
    let with = |session: &str| {
        server
            .client()
            .header("Cookie", &format!("token={session}"))
    };
    let page = |session: &str| with(session).header("X-Fileshed-Page", "1");
    let state = page(&session("ada")).get("/page/session").body;
    assert_eq!(
        (&state["signed_in"], &state["name"]),
        (&json!(true), &json!("ada"))
    );
    assert_eq!(state["ways"], json!(["openwebui", "link", "token"]));
    let note = json!({"zone": "storage", "path": "a.md", "content": "x"});
    page(&session("ada")).call(NOTE, &note).data();
    assert!(server.data().join("users/ada/Storage/data/a.md").exists());

    with(&session("ada"))
        .call(NOTE, &note)
        .refused(401, "UNAUTHORIZED");
    page(&sign("guessed", &json!({"id": "ada", "exp": now() + 300})))
        .call(NOTE, &note)
        .refused(401, "UNAUTHORIZED");
    // A session of this server takes precedence over one of Open WebUI.
    let browser = Browser::at(&server);
    browser.sign_in(&token(&server, "bob", &[])).data();
    let both = format!(
        "fileshed-session={}; token={}",
        browser.secret(),
        session("ada")
    );
    let state = server
        .client()
        .header("Cookie", &both)
        .header("X-Fileshed-Page", "1")
        .get("/page/session")
        .body;
    assert_eq!(state["name"], "bob");
}

#[test]
fn the_cookie_is_as_strict_as_the_public_address_allows() {
    for (public_url, begin, attribute) in [
        (
            "https://files.example.org",
            "__Host-fileshed-session=",
            "Path=/; HttpOnly; SameSite=Lax; Secure",
        ),
        (
            "https://example.org/shed",
            "__Secure-fileshed-session=",
            "Path=/shed; HttpOnly; SameSite=Lax; Secure",
        ),
    ] {
        let server = TestApp::with()
            .env("FILESHED_API_KEYS", "service-key")
            .env("FILESHED_PUBLIC_URL", public_url)
            .app();
        let origin = public_url.trim_end_matches("/shed");
        let body = json!({"token": token(&server, "alice", &[])}).to_string();
        let page = server
            .client()
            .header("X-Fileshed-Page", "1")
            .header("Origin", origin);
        let answer = page.send("POST", "/page/sign-in", body.as_bytes());
        let set = answer.header("set-cookie");
        assert!(set.starts_with(begin) && set.contains(attribute), "{set}");
        let cookie = set.split(';').next().unwrap();
        let page = page.header("Cookie", cookie);
        page.call("shed_stats", &json!({})).data();
    }
}

#[test]
fn no_secret_is_logged_and_sessions_survive_the_server() {
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_LOG_LEVEL", "debug")
        .start();
    let browser = Browser::at(&server);
    let secret = token(&server, "alice", &[]);
    browser.sign_in(&secret).data();
    let link = link(&server, "alice");
    let link_secret = link.rsplit('/').next().unwrap();
    browser.any().get(&link);
    assert_eq!(browser.press(&link).status, 303);
    browser.press(&link);
    browser.page().call("shed_stats", &json!({})).data();
    let session = browser.secret();
    assert!(
        server.logged("operation=\"page/sign-in/…\""),
        "{}",
        server.log()
    );
    assert!(server.logged("shed_stats"));
    let again = server.again();
    let after = with_cookie(&again, &session).header("X-Fileshed-Page", "1");
    after.call("shed_stats", &json!({})).data();
    for log in [server.log(), again.log()] {
        for hidden in [secret.as_str(), link_secret, session.as_str()] {
            assert!(!log.contains(hidden), "{log}");
        }
    }
}

#[test]
fn who_is_let_in_and_why_not_is_told_to_programs() {
    let server = TestApp::with_key();
    let state = |client: Client<'_>| client.get("/page/session?for=/models").body;
    let ada = state(server.as_user("ada"));
    assert_eq!(
        (&ada["name"], &ada["refusal"]),
        (&json!("ada"), &Value::Null)
    );
    let unnamed = server
        .client()
        .header("Authorization", "Bearer service-key");
    let wrong = server.client().header("Authorization", "Bearer old-key");
    for (client, code) in [(unnamed, "INVALID_USER"), (wrong, "UNAUTHORIZED")] {
        let state = state(client);
        assert_eq!(state["signed_in"], false);
        assert_eq!(state["refusal"]["code"], code, "{state}");
        assert!(state["refusal"]["hint"].is_string(), "{state}");
    }
}
