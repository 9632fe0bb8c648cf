//! A server with two users and a group, whose files and names hold canaries.

use fileshed_test_support::{Answer, Client, Finished, Setup, TestApp, create_team};
use serde_json::{Value, json};

/// In the content, the path and the command line of everything that users have here: no answer to an
/// administrator holds it.
pub(super) const CANARY: &str = "canary-5c1e";

pub(super) fn setup() -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_GROUPS", "local")
}

/// Ada and Bob in the group `team`, each with a file, a link and a locked edit.
pub(super) fn furnished(server: &TestApp) {
    let made = server.run(&create_team("ada,bob"));
    printed(&made);
    for user in ["ada", "bob"] {
        let client = server.as_user(user);
        let path = format!("{CANARY}-{user}.md");
        for zone in ["documents", "storage"] {
            let file = json!({"zone": zone, "path": path, "content": CANARY});
            client.call("shed_create_file", &file).data();
        }
        let file = json!({"zone": "group", "group": "Team", "path": path, "content": CANARY});
        client.call("shed_create_file", &file).data();
        let place = json!({"zone": "documents", "path": path});
        client.call("shed_link_create", &place).data();
        client.call("shed_lockedit_open", &place).data();
    }
}

/// A client with the headers that Open WebUI sends for an administrator.
pub(super) fn admin(server: &TestApp) -> Client<'_> {
    server
        .as_user("root")
        .header("X-OpenWebUI-User-Role", "admin")
}

/// Reads an administrator's endpoint, which must answer; the answer must not contain the users' content.
#[track_caller]
pub(super) fn get(server: &TestApp, what: &str) -> Value {
    let answer = admin(server).get(&format!("/admin/api/{what}"));
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("cache-control"), "no-store");
    assert!(!answer.text.contains(CANARY), "{}", answer.text);
    answer.body
}

pub(super) fn post(client: &Client<'_>, what: &str, given: &Value) -> Answer {
    let body = given.to_string();
    client.send("POST", &format!("/admin/api/{what}"), body.as_bytes())
}

/// Does something as an administrator, which must succeed.
#[track_caller]
pub(super) fn act(server: &TestApp, what: &str, given: &Value) {
    let answer = post(&admin(server), what, given);
    assert_eq!(answer.status, 200, "{what} {given}: {}", answer.text);
    assert!(!answer.text.contains(CANARY), "{}", answer.text);
}

/// The row of a list that has this value.
#[track_caller]
pub(super) fn row(rows: &Value, name: &str, value: &str) -> Value {
    let rows = rows.as_array().unwrap();
    let found = rows.iter().find(|row| row[name] == value);
    found
        .unwrap_or_else(|| panic!("{name}={value} in {rows:?}"))
        .clone()
}

#[track_caller]
pub(super) fn printed(finished: &Finished) -> String {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished.stdout.trim_end().to_owned()
}
