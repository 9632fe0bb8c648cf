//! Declared effects of operations, compared with what the operations do.

use std::collections::BTreeMap;
use std::path::Path;

use fileshed::ops::OPERATIONS;
use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::stage::small;
use fileshed_test_support::{Client, TestApp, team_of};

/// Files of a user and of the group, by their paths, and what else a call can change.
type State = BTreeMap<String, Vec<u8>>;

fn state(server: &TestApp, client: &Client<'_>, user: &str) -> State {
    let mut state = State::new();
    for directory in [
        server.data().join("users").join(user),
        server.data().join("groups").join(team_of(user)),
    ] {
        collect(&directory, &directory, &mut state);
    }
    let links = client.call("shed_link_list", &json!({})).data().clone();
    for link in links["files"].as_array().expect("links") {
        state.insert(format!("link {}", link["file_id"]), Vec::new());
    }
    let group = client.call("shed_group_info", &json!({"group": "team"}));
    for file in group.body["data"]["files"].as_array().into_iter().flatten() {
        let rights = format!("{} {}", file["owner"], file["mode"]);
        state.insert(format!("rights {}", file["path"]), rights.into_bytes());
    }
    state
}

/// Collects the files below a directory, without those of the history, of staging and of the bin.
fn collect(top: &Path, directory: &Path, state: &mut State) {
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["repo.git", ".git", "staging", "bin"].contains(&&*name) {
            continue;
        }
        if path.is_dir() {
            collect(top, &path, state);
        } else {
            let relative = path.strip_prefix(top).unwrap().display().to_string();
            state.insert(relative, std::fs::read(&path).unwrap_or_default());
        }
    }
}

#[test]
fn operations_do_what_their_effect_says() {
    let server = small().app();
    let mut wrong = Vec::new();
    for entry in OPERATIONS {
        let mut changes = false;
        for (number, example) in entry.examples.iter().enumerate() {
            let user = &format!("{}-{number}", entry.id);
            let client = server.as_user(user);
            let arguments: Value = serde_json::from_str(example).unwrap();
            calls::prepare(&client, entry.id, &arguments);
            let arguments = calls::with_link(&client, entry.id, arguments);
            // Directories and registers that a first look makes are there from here on.
            client.call("shed_stats", &json!({}));
            let before = state(&server, &client, user);
            client.call(entry.id, &arguments).data();
            let after = state(&server, &client, user);
            changes |= before != after;
            if entry.effect.reads_only && before != after {
                wrong.push(format!("{}: {example} changes something", entry.id));
            }
            let kept = before
                .iter()
                .all(|(name, content)| after.get(name) == Some(content));
            if !entry.effect.destroys && !kept {
                wrong.push(format!("{}: {example} replaces something", entry.id));
            }
            // A second call may succeed or be refused, but must have no further effect.
            client.call(entry.id, &arguments);
            if entry.effect.settles && state(&server, &client, user) != after {
                wrong.push(format!("{}: {example} has an effect again", entry.id));
            }
        }
        // Of these the examples happen to change nothing that can be seen here.
        let unseen = ["shed_exec", "shed_convert_eol", "shed_maintenance"].contains(&entry.id);
        if !changes && !entry.effect.reads_only && !unseen {
            wrong.push(format!(
                "{}: EFFECT says that a call changes something, but `state` is the same after each example",
                entry.id
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
