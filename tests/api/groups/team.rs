//! A server with one group.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use fileshed_test_support::on_disk::{Repository, Tree, tree};
use fileshed_test_support::{Answer, Client, Setup, TestApp};

/// Everybody who is in the group.
pub(crate) const MEMBERS: [&str; 3] = ["ada", "bob", "cyd"];

/// The server, not yet started.
pub(crate) fn setup() -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
}

/// An application with the group `team`.
pub(crate) fn app() -> TestApp {
    let app = setup().app();
    make(&app, "team", "Team", &MEMBERS);
    app
}

/// Makes a group beside the running server.
pub(crate) fn make(server: &TestApp, id: &str, name: &str, members: &[&str]) {
    let members = members.join(",");
    let made = server.run(&[
        "group",
        "create",
        "--id",
        id,
        "--name",
        name,
        "--members",
        &members,
    ]);
    assert_eq!((made.code, made.stdout.trim()), (Some(0), id), "{made:?}");
}

/// A call in the group, by its name.
pub(crate) fn call(client: &Client<'_>, operation: &str, mut arguments: Value) -> Answer {
    arguments["group"] = "Team".into();
    if !operation.starts_with("shed_group_") && operation != "shed_copy_to_group" {
        arguments["zone"] = "group".into();
    }
    client.call(operation, &arguments)
}

/// The same, which succeeds.
#[track_caller]
pub(crate) fn done(client: &Client<'_>, operation: &str, arguments: Value) -> Value {
    call(client, operation, arguments).data().clone()
}

/// Runs a command in the group.
pub(crate) fn run(client: &Client<'_>, cmd: &str, args: &[&str]) -> Answer {
    call(client, "shed_exec", json!({"cmd": cmd, "args": args}))
}

/// Makes a file of the group.
#[track_caller]
pub(crate) fn file(client: &Client<'_>, path: &str, content: &str, mode: &str) {
    let arguments = json!({"path": path, "content": content, "mode": mode});
    done(client, "shed_create_file", arguments);
}

pub(crate) fn home(server: &TestApp) -> PathBuf {
    server.data().join("groups/team")
}

/// All files of the group, on disk.
pub(crate) fn files(server: &TestApp) -> Tree {
    tree(&home(server).join("data"))
}

/// The repository of the group.
pub(crate) fn repository(server: &TestApp) -> Repository {
    Repository::at(&home(server).join("repo.git"), &home(server).join("data"))
}

/// Owner and mode of every file, as a member sees them.
pub(crate) fn owners(client: &Client<'_>) -> BTreeMap<String, (Option<String>, String)> {
    owners_in(&done(client, "shed_group_info", json!({})))
}

/// The same in the answer of `shed_group_info`.
pub(crate) fn owners_in(info: &Value) -> BTreeMap<String, (Option<String>, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    info["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| {
            let who = (text(&file["owner"]), text(&file["mode"]).unwrap());
            (text(&file["path"]).unwrap(), who)
        })
        .collect()
}

/// Asserts that history is sound, a straight line, and has every file as it is.
#[track_caller]
pub(crate) fn assert_sound(server: &TestApp) {
    assert_clean(server);
    repository(server).assert_sound();
}

/// Asserts that the last commit has every file as it is.
#[track_caller]
pub(crate) fn assert_clean(server: &TestApp) {
    let status = run(
        &server.as_user(MEMBERS[0]),
        "git",
        &["status", "--porcelain"],
    );
    assert_eq!(status.data()["stdout"], "", "{}", status.text);
}
