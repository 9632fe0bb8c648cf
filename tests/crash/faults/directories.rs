//! Directories of the server's own that somebody removes, while it runs or not.

use std::path::Path;

use serde_json::json;

use crate::faults::unprivileged;
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Client, Server, wait_until};

const ZONES: [&str; 3] = ["storage", "documents", "group"];

/// What is removed, below the data directory, and the zones whose files go with it.
const REMOVED: &[(&str, &[&str])] = &[
    ("users/ada", &["storage", "documents"]),
    ("users/ada/Storage", &["storage"]),
    ("users/ada/Storage/data", &["storage"]),
    ("users/ada/Storage/editzone", &[]),
    ("users/ada/Documents", &["documents"]),
    ("users/ada/Documents/data", &["documents"]),
    ("users/ada/Documents/editzone", &[]),
    ("users/ada/staging", &[]),
    ("groups/team-ada", &["group"]),
    ("groups/team-ada/data", &["group"]),
    ("groups/team-ada/editzone", &[]),
    ("groups/team-ada/staging", &[]),
    (".instances", &[]),
];

fn names(client: &Client<'_>, zone: &str) -> Vec<String> {
    let listed = client.data_in(zone, "shed_exec", json!({"cmd": "ls", "args": ["-1"]}));
    let listed = listed["stdout"].as_str().unwrap().to_owned();
    listed.lines().map(str::to_owned).collect()
}

/// What is gone is gone; everything else is there, and everything can be used.
fn goes_on(server: &Server, what: &str, emptied: &[&str]) {
    let ada = server.as_user("ada").chat("chat");
    ada.call("shed_stats", &json!({})).data();
    for zone in ZONES {
        let expected: &[&str] = if emptied.contains(&zone) {
            &[]
        } else {
            &["edited.md", "kept.md"]
        };
        assert_eq!(names(&ada, zone), expected, "{what}: {zone}");
        ada.data_in(zone, "shed_tree", json!({}));
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
            names(&ada, zone).contains(&"copy.md".to_owned()),
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
    let bob = server.as_user("bob").chat("chat");
    for zone in ["storage", "documents"] {
        assert_eq!(names(&bob, zone), ["kept.md"], "{what}: {zone}");
    }
    for parent in ["users/ada/Documents", "groups/team-ada"] {
        let parent = server.data().join(parent);
        Repository::at(&parent.join("repo.git"), &parent.join("data")).assert_sound();
    }
}

fn furnish(server: &Server) {
    let ada = server.as_user("ada").chat("chat");
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

#[test]
fn directories_that_go_while_the_server_runs_take_only_what_was_in_them() {
    for (what, emptied) in REMOVED {
        let Some(setup) = unprivileged::setup() else {
            return;
        };
        let server = setup.start();
        furnish(&server);
        removed(&server.data().join(what));
        goes_on(&server, what, emptied);
    }
}

#[test]
fn directories_that_go_while_no_server_runs_take_only_what_was_in_them() {
    for (what, emptied) in REMOVED {
        let Some(setup) = unprivileged::setup() else {
            return;
        };
        let mut server = setup.start();
        furnish(&server);
        server.kill();
        removed(&server.data().join(what));
        goes_on(&server.again(), what, emptied);
    }
}

/// The whole data directory: the server answers with errors, and starts again with nothing, or
/// with everything where it was put back.
#[test]
fn a_data_directory_that_goes_is_missed_until_it_is_back() {
    let Some(setup) = unprivileged::setup() else {
        return;
    };
    let mut server = setup.start();
    furnish(&server);
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
    goes_on(&empty.again(), "put back", &[]);
}
