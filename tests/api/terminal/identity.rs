//! Callers of a terminal: the headers of Open WebUI's proxy, and what they must not be enough for.

use fileshed_test_support::jwt::{now, sign};
use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Answer as Answered, Client, Setup, TestApp};
use serde_json::{Value, json};

const SECRET: &str = "forwarding-secret";
const WEBUI_SECRET: &str = "webui-secret";
const STORAGE: &str = "/terminal/files/list?directory=/storage";
const GROUPS: &str = "/terminal/files/list?directory=/groups";

fn setup() -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "other,terminal-key")
}

/// A client with the headers that the proxy sends for a user.
fn proxy<'a>(app: &'a TestApp, key: &str, user: &str) -> Client<'a> {
    app.client()
        .header("Authorization", &format!("Bearer {key}"))
        .header("X-User-Id", user)
}

/// Gives a user a file of a name in the storage.
fn write(client: &Client<'_>, path: &str) {
    let file = json!({"zone": "storage", "path": path, "content": "x"});
    client.call("shed_create_file", &file).data();
}

fn names(answer: &Answered) -> Vec<&str> {
    assert_eq!(answer.status, 200, "{}", answer.text);
    let entries = answer.body["entries"].as_array().expect("entries");
    let names = entries.iter().filter_map(|entry| entry["name"].as_str());
    names.collect()
}

#[track_caller]
fn refused(answer: &Answered, status: u16, code: &str) {
    let found = (answer.status, answer.body["code"].as_str());
    assert_eq!(found, (status, Some(code)), "{}", answer.text);
    for secret in ["service-key", "terminal-key", "eyJ", "ada"] {
        assert!(!answer.text.contains(secret), "{}", answer.text);
    }
}

#[test]
fn the_key_of_a_terminal_names_its_users_there_and_nowhere_else() {
    let app = setup().app();
    write(&app.as_user("ada"), "of-ada");
    write(&app.as_user("bob"), "of-bob");
    for (user, file) in [("ada", "of-ada"), ("bob", "of-bob")] {
        let listed = proxy(&app, "terminal-key", user).get(STORAGE);
        assert_eq!(names(&listed), [file]);
    }
    let nobody = app.client().header("Authorization", "Bearer terminal-key");
    refused(&nobody.get(STORAGE), 401, "INVALID_USER");
    refused(&app.client().get(STORAGE), 401, "UNAUTHORIZED");
    for unfilled in ["", "{{USER_ID}}", "null"] {
        let answer = proxy(&app, "terminal-key", unfilled).get(STORAGE);
        refused(&answer, 401, "INVALID_USER");
    }
    for wrong in ["terminal-ke", "terminal-keyy", "Terminal-key"] {
        refused(&proxy(&app, wrong, "ada").get(STORAGE), 401, "UNAUTHORIZED");
    }
    let operation = proxy(&app, "terminal-key", "ada").call("shed_stats", &json!({}));
    operation.refused(401, "UNAUTHORIZED");
}

#[test]
fn beside_a_service_key_the_header_of_the_proxy_says_nothing() {
    let app = setup().app();
    write(&app.as_user("ada"), "of-ada");
    let leaked = proxy(&app, "service-key", "ada").get(STORAGE);
    refused(&leaked, 403, "ACCESS_DENIED");
    assert!(leaked.text.contains("terminal_api_keys"), "{}", leaked.text);
    // As for operations.
    let named = app.as_user("ada").get(STORAGE);
    assert_eq!(names(&named), ["of-ada"]);
    let two = app.as_user("ada").header("X-User-Id", "bob").get(STORAGE);
    assert_eq!(two.status, 403, "{}", two.text);
    let renamed = setup().env("FILESHED_HEADER_USER_ID", "X-User-Id").app();
    let leaked = proxy(&renamed, "service-key", "ada").get(STORAGE);
    refused(&leaked, 403, "ACCESS_DENIED");
}

#[test]
fn where_users_are_signed_a_service_key_opens_nothing() {
    let app = setup().env("FILESHED_FORWARD_JWT_SECRET", SECRET).app();
    let claims = json!({"sub": "ada", "iss": "open-webui", "iat": now(), "exp": now() + 300});
    let signed = sign(SECRET, &claims);
    let header = "X-OpenWebUI-User-Jwt";
    for name in ["X-User-Id", "X-OpenWebUI-User-Id"] {
        let leaked = app
            .client()
            .header("Authorization", "Bearer service-key")
            .header(name, "ada");
        refused(&leaked.get(STORAGE), 403, "ACCESS_DENIED");
    }
    let terminal = proxy(&app, "terminal-key", "ada");
    assert_eq!(terminal.get(STORAGE).status, 200);
    assert_eq!(terminal.header(header, &signed).get(STORAGE).status, 200);
    let other = proxy(&app, "terminal-key", "bob").header(header, &signed);
    assert_eq!(other.get(STORAGE).status, 403);
    let forged = proxy(&app, "terminal-key", "ada").header(header, "eyJhbGciOiJub25lIn0.e30.");
    assert_eq!(forged.get(STORAGE).status, 401);
    let kept = setup()
        .env("FILESHED_FORWARD_JWT_SECRET", SECRET)
        .env("FILESHED_TERMINAL_API_KEYS", "service-key");
    let finished = kept.run(&["config"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished.stderr.contains("`forward_jwt_secret` is set"),
        "{finished:?}"
    );
}

#[test]
fn sessions_and_personal_tokens_are_their_users() {
    let account = json!({"id": "ada", "email": "ada@example.org", "name": "Ada", "role": "user"});
    let webui = StandIn::answering(move |asked: &Asked| match asked.path.as_str() {
        "/api/v1/users/user/status" if asked.bearer() == "sk-ada" => Answer::json(&account),
        _ => Answer::refused(),
    });
    let session = sign(
        WEBUI_SECRET,
        &json!({"id": "ada", "typ": "session", "exp": now() + 300}),
    );
    let app = setup()
        .env("FILESHED_WEBUI_SECRET_KEY", WEBUI_SECRET)
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .app();
    write(&app.as_user("ada"), "of-ada");
    assert_eq!(
        names(&proxy(&app, "sk-ada", "ada").get(STORAGE)),
        ["of-ada"]
    );
    assert_eq!(proxy(&app, "sk-ada", "bob").get(STORAGE).status, 403);
    let offline = setup().env("FILESHED_WEBUI_SECRET_KEY", WEBUI_SECRET).app();
    write(&offline.as_user("ada"), "of-ada");
    assert_eq!(
        names(&proxy(&offline, &session, "ada").get(STORAGE)),
        ["of-ada"]
    );
    assert_eq!(proxy(&offline, &session, "bob").get(STORAGE).status, 403);
    assert_eq!(proxy(&offline, "eyJ.e30.x", "ada").get(STORAGE).status, 401);
    let made = offline.run(&["token", "create", "--user", "ada"]);
    let by_token = offline.with_token(made.stdout.trim()).get(STORAGE);
    assert_eq!(names(&by_token), ["of-ada"]);
}

#[test]
fn a_key_of_a_terminal_ends_shared_mode() {
    let shared = TestApp::start();
    assert_eq!(shared.client().get(STORAGE).status, 200);
    let page = shared.client().header("Origin", "https://evil.example");
    assert_eq!(page.get(STORAGE).status, 403);
    let app = TestApp::with()
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .app();
    app.client()
        .call("shed_stats", &json!({}))
        .refused(401, "UNAUTHORIZED");
    let missing = app.client().get(STORAGE);
    refused(&missing, 401, "UNAUTHORIZED");
    assert!(
        missing.text.contains("`terminal_api_keys`"),
        "{}",
        missing.text
    );
    assert_eq!(proxy(&app, "terminal-key", "ada").get(STORAGE).status, 200);
}

#[test]
fn groups_are_those_of_the_same_users_last_call_that_names_some() {
    let app = setup().env("FILESHED_GROUPS", "headers").app();
    let terminal = |user: &str| proxy(&app, "terminal-key", user);
    assert_eq!(names(&terminal("ada").get(GROUPS)), [""; 0]);
    app.as_member("ada", "g1")
        .call("shed_stats", &json!({}))
        .data();
    assert_eq!(names(&terminal("ada").get(GROUPS)), ["team"]);
    assert_eq!(names(&terminal("bob").get(GROUPS)), [""; 0]);
    // Its connection may name them for some of its calls.
    let named = terminal("bob")
        .header("X-OpenWebUI-User-Group-Ids", "g2")
        .header("X-OpenWebUI-User-Groups", "other");
    assert_eq!(names(&named.get(GROUPS)), ["other"]);
    assert_eq!(names(&terminal("bob").get(GROUPS)), ["other"]);
    // A user who has left all groups is in none.
    let left = app.client().header("Authorization", "Bearer service-key");
    left.header("X-OpenWebUI-User-Id", "ada")
        .call("shed_stats", &json!({}))
        .data();
    assert_eq!(names(&terminal("ada").get(GROUPS)), [""; 0]);
}

#[test]
fn a_call_that_knows_no_groups_ends_no_membership() {
    let app = setup().env("FILESHED_GROUPS", "headers").app();
    let ask = |group: &str| -> Value {
        let info = app
            .as_member("bob", group)
            .call("shed_group_info", &json!({"group": group}));
        info.data()["members"].clone()
    };
    app.as_member("ada", "g1")
        .call("shed_group_list", &json!({}))
        .data();
    let before = ask("g1");
    let again = setup_beside(&app);
    proxy(&again, "terminal-key", "ada").get(GROUPS);
    assert_eq!(ask("g1"), before);
    assert!(before.to_string().contains("ada"), "{before}");
}

/// Another server of the same data, which remembers nothing.
fn setup_beside(app: &TestApp) -> TestApp {
    let data = app.data();
    setup()
        .env("FILESHED_GROUPS", "headers")
        .env("FILESHED_STORAGE_BASE_PATH", data.to_str().expect("a path"))
        .app()
}
