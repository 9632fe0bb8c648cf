//! The scenarios of the document about isolation in each of the three modes: shared, isolated and
//! refused. Every pair of a scenario and a mode stands in the table, as what holds there or as the
//! scenario that says it instead.

use std::collections::BTreeSet;
use std::fs;

use fileshed_test_support::{Answer, Client, TestApp, repository};
use serde_json::{Value, json};

use super::{call, done, files, refused};

/// The test of a scenario in one mode.
enum Cell {
    /// It holds, as this shows.
    Holds(fn(&Client<'_>)),
    /// It speaks of another mode; in this one the scenario of that name does.
    Instead(&'static str),
}
use Cell::{Holds, Instead};

const MODES: [&str; 3] = ["shared", "isolated", "refused"];

/// Scenarios in the order of the document; shared, isolated, refused.
const TABLE: [(&str, [Cell; 3]); 11] = [
    (
        "Shared workspace when AUTO_LOGIN is enabled",
        [
            Holds(files_are_in_the_shared_directory),
            Instead("Isolated per-user workspace when AUTO_LOGIN is disabled"),
            Instead("Anonymous call is refused in multi-user mode"),
        ],
    ),
    (
        "Isolated per-user workspace when AUTO_LOGIN is disabled",
        [
            Instead("Shared workspace when AUTO_LOGIN is enabled"),
            Holds(files_are_in_a_directory_of_the_user),
            Instead("Anonymous call is refused in multi-user mode"),
        ],
    ),
    (
        "Cross-user isolation prevents reads across users",
        [
            Instead("Tool binding is a no-op in shared mode"),
            Holds(what_others_have_is_not_found),
            Holds(what_others_have_is_refused),
        ],
    ),
    (
        "Anonymous call is refused in multi-user mode",
        [
            Instead("Shared workspace when AUTO_LOGIN is enabled"),
            Instead("Isolated per-user workspace when AUTO_LOGIN is disabled"),
            Holds(nothing_is_done_for_nobody),
        ],
    ),
    (
        "Path traversal is rejected in shared mode",
        [
            Holds(no_path_leads_out),
            Instead("Path traversal is rejected in isolated mode"),
            Holds(no_path_is_looked_at),
        ],
    ),
    (
        "Path traversal is rejected in isolated mode",
        [
            Instead("Path traversal is rejected in shared mode"),
            Holds(no_path_leads_out),
            Holds(no_path_is_looked_at),
        ],
    ),
    (
        "Reserved .lfsig segment is blocked in every mode",
        [
            Holds(the_reserved_name_is_refused),
            Holds(the_reserved_name_is_refused),
            Holds(no_path_is_looked_at),
        ],
    ),
    (
        "Misconfigured BASE_DIR returns a friendly error",
        [
            Holds(what_cannot_be_made_is_told_with_its_setting),
            Holds(what_cannot_be_made_is_told_with_its_setting),
            Holds(nobody_learns_of_the_base_directory),
        ],
    ),
    (
        "Tool binding refuses captured-then-swapped session in isolated mode",
        [
            Instead("Tool binding is a no-op in shared mode"),
            Holds(a_credential_of_one_user_is_none_of_another),
            Holds(a_credential_that_is_none_makes_no_user),
        ],
    ),
    (
        "Tool binding is a no-op in shared mode",
        [
            Holds(whoever_is_named_has_the_same_files),
            Instead("Tool binding refuses captured-then-swapped session in isolated mode"),
            Instead("Tool binding refuses captured-then-swapped session in isolated mode"),
        ],
    ),
    (
        "Empty sub-path in shared mode does not leak to CWD",
        [
            Holds(the_current_directory_is_no_workspace),
            Holds(the_current_directory_is_no_workspace),
            Holds(no_path_is_looked_at),
        ],
    ),
];

/// A string that no caller but its owner may read.
const CANARY: &str = "canary-of-alice";

#[test]
fn every_scenario_holds_in_every_mode_that_it_speaks_of() {
    for (scenario, cells) in &TABLE {
        for (mode, cell) in MODES.into_iter().zip(cells) {
            let Holds(shows) = cell else { continue };
            println!("{mode}: {scenario}");
            in_mode(mode, shows);
        }
    }
}

#[test]
fn the_table_has_every_scenario_and_leaves_no_mode_to_nobody() {
    let list = fs::read_to_string(repository().join("tests/api/fs/scenarios.txt"));
    let list = list.expect("the list");
    let listed: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("Scenario: ")?.split(" => ").next())
        .collect();
    let table: Vec<&str> = TABLE.iter().map(|(scenario, _)| *scenario).collect();
    assert_eq!(table, listed);
    // Each `Instead` names a scenario that holds in the same mode.
    let holds: BTreeSet<(&str, usize)> = TABLE
        .iter()
        .flat_map(|(scenario, cells)| {
            let cells = cells.iter().enumerate();
            let held = cells.filter(|(_, cell)| matches!(cell, Holds(_)));
            held.map(|(mode, _)| (*scenario, mode))
        })
        .collect();
    for (scenario, cells) in &TABLE {
        for (mode, cell) in cells.iter().enumerate() {
            if let Instead(other) = cell {
                assert!(
                    holds.contains(&(*other, mode)),
                    "{scenario}, {}",
                    MODES[mode]
                );
            }
        }
    }
}

/// A server in a mode with a file of alice's, a file beside it where it runs, and who calls it.
fn in_mode(mode: &str, shows: &dyn Fn(&Client<'_>)) {
    let setup = TestApp::with().file("leak.txt", CANARY);
    let secret = json!({"path": "secret.txt", "content": CANARY});
    if mode == "shared" {
        let server = setup.app();
        return shows(&server.client());
    }
    let server = setup.env("FILESHED_API_KEYS", "service-key").app();
    done(&server.as_user("alice"), "write_file", &secret);
    if mode == "isolated" {
        shows(&server.as_user("bob"));
        return;
    }
    // A caller without credential, and a gateway that names no user.
    let before = files(&server.data());
    let gateway = server
        .client()
        .header("Authorization", "Bearer service-key");
    for nobody in [server.client(), gateway] {
        shows(&nobody);
    }
    assert_eq!(files(&server.data()), before, "something was made");
}

fn info(client: &Client<'_>) -> Value {
    client.get("/fs/info").body
}

/// The answer that nobody gets, whatever is asked.
#[track_caller]
fn assert_refused(answer: &Answer) {
    assert_eq!(answer.status, 401, "{}", answer.text);
    assert!(answer.body["error"].is_string(), "{}", answer.text);
    assert!(!answer.text.contains(CANARY), "{}", answer.text);
}

fn files_are_in_the_shared_directory(client: &Client<'_>) {
    done(
        client,
        "write_file",
        &json!({"path": "dog.md", "content": "x"}),
    );
    let data = client.server().data();
    assert!(data.join("shared/Storage/data/dog.md").is_file());
    assert!(!data.join("users").exists());
    assert_eq!(info(client)["mode"], "shared");
}

fn files_are_in_a_directory_of_the_user(client: &Client<'_>) {
    done(
        client,
        "write_file",
        &json!({"path": "dog.md", "content": "x"}),
    );
    let data = client.server().data();
    let own = files(&data)
        .into_iter()
        .find(|path| path.ends_with("Storage/data/dog.md"))
        .expect("the file");
    let own = own.strip_prefix(data.join("users")).expect("a user's");
    let name = own.iter().next().and_then(|name| name.to_str());
    let name = name.expect("a name");
    assert_eq!((name.len(), name.contains("bob")), (32, false), "{name}");
    assert!(!data.join("shared/Storage/data/dog.md").exists());
    assert_eq!(info(client)["mode"], "isolated");
}

fn what_others_have_is_not_found(bob: &Client<'_>) {
    let error = refused(bob, "read_file", &json!({"path": "secret.txt"}));
    assert_eq!(error, "File not found: secret.txt");
    let found = done(bob, "grep_search", &json!({"pattern": "canary"}));
    assert!(!found.to_string().contains("secret.txt"), "{found}");
    assert_eq!(done(bob, "list_files", &json!({}))["entries"], json!([]));
}

fn what_others_have_is_refused(nobody: &Client<'_>) {
    for (tool, arguments) in [
        ("read_file", json!({"path": "secret.txt"})),
        ("grep_search", json!({"pattern": "canary"})),
        ("list_files", json!({})),
    ] {
        assert_refused(&call(nobody, tool, &arguments));
    }
}

fn nothing_is_done_for_nobody(nobody: &Client<'_>) {
    for (tool, arguments) in [
        ("write_file", json!({"path": "a", "content": "x"})),
        ("remove_file", json!({"path": "secret.txt"})),
        ("read_file", json!({"path": "secret.txt"})),
    ] {
        let answer = call(nobody, tool, &arguments);
        assert_refused(&answer);
        let said = "FileSystemTool requires an authenticated user when AUTO_LOGIN=False";
        let error = answer.body["error"].as_str().unwrap_or_default();
        assert!(error.starts_with(said), "{error}");
    }
    assert_eq!(info(nobody)["mode"], "refused");
}

/// Paths that would reach files of others or of the machine.
fn ways_out(client: &Client<'_>) -> Vec<String> {
    let mut ways = vec!["../../etc/passwd".to_owned(), "a/../../../leak.txt".into()];
    for file in files(&client.server().data()) {
        if let Some(user) = file.iter().rev().nth(3).and_then(|name| name.to_str())
            && file.ends_with("secret.txt")
        {
            ways.push(format!("../../{user}/secret.txt"));
            ways.push(format!("../../../{user}/Storage/data/secret.txt"));
        }
    }
    ways
}

fn no_path_leads_out(client: &Client<'_>) {
    for path in ways_out(client) {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("list_files", json!({"path": path})),
        ] {
            let error = refused(client, tool, &arguments);
            assert_eq!(error, format!("Path escapes workspace boundary: {path}"));
        }
    }
    let metrics = client.server().client().get("/metrics").text;
    let mode = info(client)["mode"].as_str().map(str::to_owned);
    let counted = format!(
        "fileshed_fs_boundary_violations_total{{mode=\"{}\"}} {}\n",
        mode.unwrap_or_default(),
        3 * ways_out(client).len()
    );
    assert!(metrics.contains(&counted), "{counted} in {metrics}");
}

fn no_path_is_looked_at(nobody: &Client<'_>) {
    let paths = ways_out(nobody);
    let reserved = [".lfsig/poison.json".to_owned(), "leak.txt".into()];
    for path in paths.into_iter().chain(reserved) {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
        ] {
            assert_refused(&call(nobody, tool, &arguments));
            let below = nobody.clone().header("X-Fileshed-Workspace", "");
            assert_refused(&call(&below, tool, &arguments));
        }
    }
    // Requests that were refused without a user are not counted as boundary violations.
    let metrics = nobody.server().client().get("/metrics").text;
    for line in metrics.lines() {
        if line.starts_with("fileshed_fs_boundary_violations_total{") {
            assert!(line.ends_with(" 0"), "{line}");
        }
    }
}

fn the_reserved_name_is_refused(client: &Client<'_>) {
    for (tool, arguments) in [
        (
            "write_file",
            json!({"path": ".lfsig/poison.json", "content": "{}"}),
        ),
        ("read_file", json!({"path": "a/.lfsig/anything"})),
    ] {
        let error = refused(client, tool, &arguments);
        assert_eq!(error, "Path component '.lfsig' is reserved");
    }
    let made = files(&client.server().data());
    assert!(!made.iter().any(|path| path.ends_with("poison.json")));
}

fn what_cannot_be_made_is_told_with_its_setting(client: &Client<'_>) {
    let data = client.server().data();
    let told = info(client);
    let above = match told["mode"].as_str() {
        Some("shared") => data.join("shared"),
        _ => data.join("users"),
    };
    if above.exists() {
        fs::rename(&above, data.join("before")).expect("renamed");
    }
    fs::write(&above, "in the way").expect("written");
    let write = json!({"path": "a.md", "content": "x"});
    let answer = call(client, "write_file", &write);
    let said = "Cannot create user namespace at storage: Not a directory. Check that \
                storage_base_path is writable by the process user of the server.";
    assert_eq!((answer.status, &answer.body["error"]), (500, &json!(said)));
    assert_eq!(info(client)["resolution_error"], said);
    let path = data.to_str().expect("a path");
    assert!(!answer.text.contains(path), "{}", answer.text);
}

/// Callers without a user are refused alike, whether or not the base directory can be used.
fn nobody_learns_of_the_base_directory(nobody: &Client<'_>) {
    let data = nobody.server().data();
    fs::rename(data.join("users"), data.join("before")).expect("renamed");
    fs::write(data.join("users"), "in the way").expect("written");
    let answer = call(nobody, "read_file", &json!({"path": "a.md"}));
    assert_refused(&answer);
    let told = info(nobody);
    for text in [&answer.text, &told.to_string()] {
        assert!(!text.contains("storage_base_path"), "{text}");
    }
    fs::remove_file(data.join("users")).expect("removed");
    fs::rename(data.join("before"), data.join("users")).expect("renamed");
}

fn token_of_alice(server: &TestApp) -> String {
    let made = server.run(&["token", "create", "--user", "alice"]).stdout;
    let mut words = made.split_whitespace();
    let secret = words.find(|word| word.starts_with("shed_"));
    secret.expect("a token").to_owned()
}

fn a_credential_of_one_user_is_none_of_another(bob: &Client<'_>) {
    let server = bob.server();
    let captured = server.with_token(&token_of_alice(server));
    let read = json!({"path": "secret.txt"});
    let content = done(&captured, "read_file", &read);
    assert!(content.to_string().contains(CANARY), "{content}");
    let swapped = captured.header("X-OpenWebUI-User-Id", "bob");
    let answer = call(&swapped, "read_file", &read);
    let said = "tool/user-id mismatch: this tool was bound to a different user session and cannot \
                be reused";
    assert_eq!((answer.status, &answer.body["error"]), (403, &json!(said)));
    assert!(!answer.text.contains(CANARY), "{}", answer.text);
}

/// Checks callers who name a user without a credential, or with a forged token.
fn a_credential_that_is_none_makes_no_user(nobody: &Client<'_>) {
    let server = nobody.server();
    let forged = server.with_token("shed_0000000000000000000000000000000000000000000");
    for client in [server.client(), forged] {
        let named = client.header("X-OpenWebUI-User-Id", "alice");
        assert_refused(&call(&named, "read_file", &json!({"path": "secret.txt"})));
    }
}

fn whoever_is_named_has_the_same_files(client: &Client<'_>) {
    let alice = client.clone().header("X-OpenWebUI-User-Id", "alice");
    done(
        &alice,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    let bob = client.clone().header("X-OpenWebUI-User-Id", "bob");
    let read = done(&bob, "read_file", &json!({"path": "a.md"}));
    assert_eq!(read["content"], "     1→x");
}

fn the_current_directory_is_no_workspace(client: &Client<'_>) {
    for workspace in ["", ".", "/"] {
        let client = client.clone().header("X-Fileshed-Workspace", workspace);
        let error = refused(&client, "read_file", &json!({"path": "leak.txt"}));
        assert_eq!(error, "File not found: leak.txt");
    }
}
