//! Directories of the server's own that are removed by hand, while it runs or not.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::faults::unprivileged;
use fileshed_test_support::on_disk::{Repository, tree};
use fileshed_test_support::{Server, wait_until};

const ZONES: [&str; 3] = ["storage", "documents", "group"];

/// Paths below the data directory that are removed, and the zones whose files go with each. Each case has a
/// user of its own, whose name takes the place of `{user}`.
const REMOVED: &[(&str, &[&str])] = &[
    ("users/{user}", &["storage", "documents"]),
    ("users/{user}/Storage", &["storage"]),
    ("users/{user}/Storage/data", &["storage"]),
    ("users/{user}/Storage/editzone", &[]),
    ("users/{user}/Documents", &["documents"]),
    ("users/{user}/Documents/data", &["documents"]),
    ("users/{user}/Documents/editzone", &[]),
    ("users/{user}/staging", &[]),
    ("groups/team-{user}", &["group"]),
    ("groups/team-{user}/data", &["group"]),
    ("groups/team-{user}/editzone", &[]),
    ("groups/team-{user}/staging", &[]),
    (".instances", &[]),
];

/// Returns the directory with the files of a user's zone.
fn place(server: &Server, user: &str, zone: &str) -> PathBuf {
    server.data().join(match zone {
        "storage" => format!("users/{user}/Storage/data"),
        "documents" => format!("users/{user}/Documents/data"),
        _ => format!("groups/team-{user}/data"),
    })
}

fn names(server: &Server, user: &str, zone: &str) -> Vec<String> {
    let client = server.as_user(user).chat("chat");
    client.data_in(zone, "shed_tree", json!({}));
    tree(&place(server, user, zone)).into_keys().collect()
}

/// Asserts that only the zones `emptied` lost their files, and that every zone can be used.
fn goes_on(server: &Server, user: &str, what: &str, emptied: &[&str]) {
    let ada = server.as_user(user).chat("chat");
    ada.call("shed_stats", &json!({})).data();
    for zone in ZONES {
        let expected: &[&str] = if emptied.contains(&zone) {
            &[]
        } else {
            &["edited.md", "kept.md"]
        };
        assert_eq!(names(server, user, zone), expected, "{what}: {zone}");
    }
    for zone in ZONES {
        let file = json!({"path": "new.md", "content": "new\n"});
        ada.data_in(zone, "shed_create_file", file.clone());
        ada.data_in(zone, "shed_patch_text", file);
        let edit = json!({"path": "new.md", "content": "edited\n"});
        ada.data_in(zone, "shed_lockedit_open", edit.clone());
        ada.data_in(zone, "shed_lockedit_overwrite", edit.clone());
        ada.data_in(zone, "shed_lockedit_save", edit);
        ada.data_in(
            zone,
            "shed_exec",
            json!({"cmd": "cp", "args": ["new.md", "copy.md"]}),
        );
        assert!(
            place(server, user, zone).join("copy.md").exists(),
            "{what}: {zone}"
        );
    }
    ada.call("shed_maintenance", &json!({})).data();
    for zone in ["documents", "group"] {
        let status = json!({"cmd": "git", "args": ["status", "--porcelain"]});
        let status = ada.data_in(zone, "shed_exec", status);
        assert_eq!(status["stdout"], "", "{what}: {zone}");
    }
    // Others notice nothing.
    for zone in ["storage", "documents"] {
        assert_eq!(names(server, "bob", zone), ["kept.md"], "{what}: {zone}");
    }
    for zone in ["documents", "group"] {
        let data = place(server, user, zone);
        let parent = data.parent().unwrap();
        Repository::at(&parent.join("repo.git"), &parent.join("data")).assert_sound();
    }
}

fn furnish(server: &Server, user: &str) {
    let ada = server.as_user(user).chat("chat");
    for zone in ZONES {
        for path in ["kept.md", "edited.md"] {
            ada.data_in(
                zone,
                "shed_create_file",
                json!({"path": path, "content": "text\n"}),
            );
        }
        ada.data_in(zone, "shed_lockedit_open", json!({"path": "edited.md"}));
    }
}

fn furnish_bob(server: &Server) {
    let bob = server.as_user("bob").chat("chat");
    for zone in ["storage", "documents"] {
        bob.data_in(
            zone,
            "shed_create_file",
            json!({"path": "kept.md", "content": "text\n"}),
        );
    }
}

fn removed(place: &Path) {
    assert!(place.is_dir(), "{}", place.display());
    // Something may be made in it meanwhile.
    wait_until("it is removed", || std::fs::remove_dir_all(place).is_ok());
}

/// One user for each directory; all of them are removed while no server runs, or one after the other.
fn remove_all(is_running: bool) {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let mut server = setup.start();
    let user = |number: usize| format!("user-{number}");
    furnish_bob(&server);
    for number in 0..REMOVED.len() {
        furnish(&server, &user(number));
    }
    let remove = |server: &Server, number: usize| {
        let place = REMOVED[number].0.replace("{user}", &user(number));
        removed(&server.data().join(place));
    };
    if !is_running {
        server.kill();
        for number in 0..REMOVED.len() {
            remove(&server, number);
        }
        server = server.again();
    }
    for (number, (what, emptied)) in REMOVED.iter().enumerate() {
        if is_running {
            remove(&server, number);
        }
        goes_on(&server, &user(number), what, emptied);
    }
}

#[test]
fn directories_that_go_while_the_server_runs_take_only_what_was_in_them() {
    remove_all(true);
}

#[test]
fn directories_that_go_while_no_server_runs_take_only_what_was_in_them() {
    remove_all(false);
}

/// The whole data directory: the server answers with errors, and starts again with nothing, or
/// with everything where it was put back.
#[test]
fn a_data_directory_that_goes_is_missed_until_it_is_back() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let mut server = setup.start();
    furnish(&server, "ada");
    furnish_bob(&server);
    let (data, away) = (server.data(), server.data().with_extension("away"));
    // Moved elsewhere, it is still what the server has open; removed, nothing is acknowledged.
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&data, &away])
        .status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(&data).unwrap();
    let ada = server.as_user("ada").chat("chat");
    for operation in [
        "shed_create_file",
        "shed_patch_text",
        "shed_tree",
        "shed_stats",
    ] {
        let file = json!({"zone": "storage", "path": "a.md", "content": "a\n"});
        let answer = ada.call(operation, &file);
        assert_eq!(answer.status, 500, "{operation}: {}", answer.text);
        assert!(
            !answer.text.contains(data.to_str().unwrap()),
            "{}",
            answer.text
        );
    }
    assert_eq!(server.client().get("/health").status, 200);
    assert_eq!(server.client().get("/ready").status, 503);
    server.terminate();
    assert_eq!(server.wait(), Some(0), "{}", server.log());
    let mut empty = server.again();
    let stats = empty
        .as_user("ada")
        .chat("chat")
        .call("shed_stats", &json!({}));
    assert_eq!(stats.data()["total"]["size_bytes"], 0);
    assert!(
        empty.log().contains("a new store begins"),
        "{}",
        empty.log()
    );
    empty.kill();
    std::fs::remove_dir_all(&data).unwrap();
    std::fs::rename(&away, &data).unwrap();
    goes_on(&empty.again(), "ada", "put back", &[]);
}
