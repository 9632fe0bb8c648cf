//! A full disk: calls that need space are refused, and everything else works.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::faults::volume::{self, FileSystem, Volume};
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::{Answer, Client, Finished, Server, wait_until};

const ZONES: [&str; 3] = ["storage", "documents", "group"];

/// More than a full disk has left, and less than the quota.
const LARGE: usize = 1 << 20;

const FILE_SYSTEMS: [(FileSystem, u64); 3] = [
    (FileSystem::Tmpfs, 64 << 20),
    (FileSystem::Ext4, 64 << 20),
    (FileSystem::Xfs, 320 << 20),
];

fn call(client: &Client<'_>, zone: &str, operation: &str, mut arguments: Value) -> Answer {
    arguments["zone"] = json!(zone);
    if zone == "group" {
        arguments["group"] = json!("team");
    }
    client.call(operation, &arguments)
}

fn create(client: &Client<'_>, zone: &str, path: &str, content: &str) -> Answer {
    let file = json!({"path": path, "content": content});
    call(client, zone, "shed_create_file", file)
}

/// Returns the content of a file, as a command reads it.
fn content(client: &Client<'_>, zone: &str, path: &str) -> String {
    let answer = call(
        client,
        zone,
        "shed_exec",
        json!({"cmd": "cat", "args": [path]}),
    );
    let data = answer.data();
    assert_eq!(data["returncode"], 0, "{}", answer.text);
    data["stdout"].as_str().unwrap().to_owned()
}

#[track_caller]
fn refused_for_space(what: &str, answer: &Answer) {
    assert_eq!(
        (answer.status, answer.code()),
        (507, "QUOTA_EXCEEDED"),
        "{what}: {}",
        answer.text
    );
    let text = &answer.text;
    assert!(
        text.contains("disk of the server is full"),
        "{what}: {text}"
    );
}

fn furnished(volume: &Volume, server: &Server) {
    let ada = server.as_user("ada").chat("chat");
    for zone in ZONES {
        create(&ada, zone, "kept.md", "kept\n").data();
    }
    assert!(volume.free() > LARGE as u64 * 2);
}

/// Asserts that all earlier files are unchanged, and that no incomplete file is beside them.
fn nothing_is_torn(server: &Server, expected: &[&str]) {
    let ada = server.as_user("ada").chat("chat");
    for zone in ZONES {
        assert_eq!(content(&ada, zone, "kept.md"), "kept\n", "{zone}");
        let listed = call(
            &ada,
            zone,
            "shed_exec",
            json!({"cmd": "ls", "args": ["-1"]}),
        );
        let listed = listed.data()["stdout"].as_str().unwrap().to_owned();
        assert_eq!(listed.lines().collect::<Vec<_>>(), expected, "{zone}");
    }
}

#[test]
fn a_full_disk_refuses_what_needs_space_and_tears_nothing() {
    let Some((volume, setup)) = volume::small(48 << 20) else {
        return;
    };
    let mut server = setup.start();
    furnished(&volume, &server);
    let large = "x".repeat(LARGE);
    // Three levels of free space: none; enough for the registry but not for the content; enough for a part
    // of the content.
    for left in [0, 96 << 10, 512 << 10] {
        volume.fill(left);
        let ada = server.as_user("ada").chat("chat");
        for zone in ZONES {
            refused_for_space(zone, &create(&ada, zone, "new.md", &large));
            refused_for_space(zone, &create(&ada, zone, "kept.md", &large));
            let patch = json!({"path": "kept.md", "content": large});
            refused_for_space(zone, &call(&ada, zone, "shed_patch_text", patch));
            // Reads go on.
            call(&ada, zone, "shed_tree", json!({})).data();
            assert_eq!(content(&ada, zone, "kept.md"), "kept\n", "{zone}");
        }
        ada.call("shed_stats", &json!({})).data();
        // A new user is refused with the same message, and the server stays up.
        let bob = server.as_user(&format!("bob-{left}")).chat("chat");
        refused_for_space("new home", &create(&bob, "storage", "a.md", &large));
        assert_eq!(server.client().get("/health").status, 200);
        nothing_is_torn(&server, &["kept.md"]);
        volume.relieve();
    }
    volume.fill(0);
    // The same after a crash on the full disk.
    server.kill();
    volume.relieve();
    server = server.again();
    nothing_is_torn(&server, &["kept.md"]);
    let ada = server.as_user("ada").chat("chat");
    for zone in ZONES {
        create(&ada, zone, "new.md", "new\n").data();
        let patch = json!({"path": "kept.md", "content": "more\n"});
        call(&ada, zone, "shed_patch_text", patch).data();
        assert_eq!(content(&ada, zone, "kept.md"), "kept\nmore\n", "{zone}");
    }
    for zone in ["documents", "group"] {
        let status = json!({"cmd": "git", "args": ["status", "--porcelain"]});
        let status = call(&ada, zone, "shed_exec", status);
        assert_eq!(status.data()["stdout"], "", "{zone}");
    }
    create(
        &server.as_user("bob-0").chat("chat"),
        "storage",
        "a.md",
        "a\n",
    )
    .data();
    for parent in ["users/ada/Documents", "groups/team-ada"] {
        let parent = volume.copy(parent);
        let parent = parent.path().join("copy");
        Repository::at(&parent.join("repo.git"), &parent.join("data")).assert_sound();
    }
}

#[test]
fn a_deletion_on_a_full_disk_makes_space_out_of_the_bin() {
    let Some((volume, setup)) = volume::small(48 << 20) else {
        return;
    };
    let server = setup.env("FILESHED_BIN_DAYS", "30").start();
    furnished(&volume, &server);
    let ada = server.as_user("ada").chat("chat");
    let large = "x".repeat(LARGE);
    let delete = |path: &str| {
        let answer = call(&ada, "storage", "shed_delete", json!({"path": path}));
        answer.data().clone()
    };
    for path in ["old.md", "new.md"] {
        create(&ada, "storage", path, &large).data();
    }
    assert_eq!(delete("old.md")["restorable_days"], 30);
    volume.fill(0);
    // A file that is larger than the content of the bin does not fit.
    let larger = "x".repeat(8 * LARGE);
    refused_for_space("storage", &create(&ada, "storage", "more.md", &larger));
    let written = create(&ada, "storage", "more.md", &large);
    let said = written.body["message"].as_str().unwrap_or_default();
    assert!(said.contains("`old.md` left the bin"), "{}", written.text);
    // The answer does not promise what had to go, too.
    assert_eq!(delete("new.md").get("restorable_days"), None);
    create(&ada, "storage", "further.md", &large).data();
    let stats = ada.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["bin"]["files"], 0, "{}", stats.text);
    assert_eq!(content(&ada, "storage", "kept.md"), "kept\n");
}

/// A user can free the disk by deleting files, and everything works as before.
#[test]
fn on_a_full_disk_everything_can_be_deleted() {
    let Some((volume, setup)) = volume::small(64 << 20) else {
        return;
    };
    let mut server = setup.start();
    furnished(&volume, &server);
    let large = "x".repeat(4 * LARGE);
    let ways: [(&str, Value); 3] = [
        ("shed_delete", json!({"path": "large"})),
        ("shed_exec", json!({"cmd": "rm", "args": ["large"]})),
        (
            "shed_exec",
            json!({"cmd": "truncate", "args": ["-s", "0", "large"]}),
        ),
    ];
    for zone in ZONES {
        for (operation, arguments) in &ways {
            let what = format!("{zone}: {operation} {arguments}");
            let ada = server.as_user("ada").chat("chat");
            create(&ada, zone, "large", &large).data();
            volume.fill(0);
            refused_for_space(&what, &create(&ada, zone, "new.md", &large));
            let freed = call(&ada, zone, operation, arguments.clone());
            assert_eq!(freed.status, 200, "{what}: {}", freed.text);
            if *operation == "shed_exec" {
                assert_eq!(freed.data()["returncode"], 0, "{what}: {}", freed.text);
            }
            // History keeps what was deleted; storage has its space again.
            if zone == "storage" {
                assert!(
                    volume.free() >= 2 * LARGE as u64,
                    "{what}: {}",
                    volume.free()
                );
                create(&ada, zone, "new.md", &"y".repeat(LARGE)).data();
                call(&ada, zone, "shed_delete", json!({"path": "new.md"})).data();
            }
            volume.relieve();
            let gone = json!({"cmd": "rm", "args": ["-f", "large"]});
            call(&ada, zone, "shed_exec", gone).data();
        }
    }
    // Also after a start on the full disk, and in a working copy.
    let ada = server.as_user("ada").chat("chat");
    create(&ada, "storage", "large", &large).data();
    call(
        &ada,
        "storage",
        "shed_lockedit_open",
        json!({"path": "kept.md"}),
    )
    .data();
    volume.fill(0);
    server.kill();
    server = server.again();
    let ada = server.as_user("ada").chat("chat");
    call(
        &ada,
        "storage",
        "shed_lockedit_cancel",
        json!({"path": "kept.md"}),
    )
    .data();
    call(&ada, "storage", "shed_delete", json!({"path": "large"})).data();
    volume.relieve();
    nothing_is_torn(&server, &["kept.md"]);
    let ended = server.run(&["doctor"]);
    assert!(!ended.stdout.contains("registry: fail"), "{ended:?}");
    for parent in ["users/ada/Documents", "groups/team-ada"] {
        let parent = volume.copy(parent);
        let parent = parent.path().join("copy");
        Repository::at(&parent.join("repo.git"), &parent.join("data")).assert_sound();
    }
}

/// A file system that became read-only stops a start, and loses nothing.
#[test]
fn a_read_only_file_system_stops_the_start() {
    let Some((volume, setup)) = volume::small(48 << 20) else {
        return;
    };
    let mut server = setup.start();
    furnished(&volume, &server);
    server.kill();
    volume.remount("ro");
    for task in [
        &["serve", "--bind", "127.0.0.1:0"][..],
        &["doctor"],
        &["token", "list"],
    ] {
        let ended = server.run(task);
        assert_eq!(ended.code, Some(1), "{task:?}: {ended:?}");
        let said = ended.stderr + &ended.stdout;
        assert!(said.contains("Read-only file system"), "{task:?}: {said}");
    }
    volume.remount("rw");
    let server = server.again();
    nothing_is_torn(&server, &["kept.md"]);
}

/// The data becomes read-only while the server runs: every surface names the setting, reads still work, and
/// writes work again when the file system does.
#[test]
fn a_file_system_that_becomes_read_only_is_told() {
    let Some((volume, setup)) = volume::small(48 << 20) else {
        return;
    };
    let mut server = setup.start();
    furnished(&volume, &server);
    server.kill();
    volume.part("users");
    let server = server.again();
    let ada = server.as_user("ada").chat("chat");
    volume.remount_part("users", "ro");
    let write = json!({"path": "after.md", "content": "after"});
    let written = ada.post("fs/write_file", write.to_string().as_bytes());
    for (what, text) in [
        ("/fs", &written.text),
        ("storage", &create(&ada, "storage", "after.md", "").text),
        ("documents", &create(&ada, "documents", "after.md", "").text),
        (
            "a new user",
            &create(&server.as_user("bob"), "storage", "a.md", "").text,
        ),
        ("/ready", &server.client().get("/ready").text),
    ] {
        assert!(text.contains("storage_base_path"), "{what}: {text}");
        assert!(!text.contains("/data"), "{what}: {text}");
    }
    assert_eq!(server.client().get("/ready").status, 503);
    let read = call(&ada, "storage", "shed_read", json!({"path": "kept.md"}));
    assert!(read.data()["content"].as_str().unwrap().contains("kept"));
    volume.remount_part("users", "rw");
    nothing_is_torn(&server, &["kept.md"]);
    create(&ada, "storage", "after.md", "after\n").data();
    create(&ada, "documents", "after.md", "after\n").data();
    assert_eq!(server.client().get("/ready").status, 200);
}

/// Every file system refuses what needs space with the same words, answers what needs none, and lets
/// everybody free some.
#[test]
fn a_full_disk_of_every_file_system_answers_alike() {
    for (kind, size) in FILE_SYSTEMS {
        let Some((volume, setup)) = volume::of(kind, size) else {
            continue;
        };
        let server = setup.start();
        furnished(&volume, &server);
        let ada = server.as_user("ada").chat("chat");
        let large = "x".repeat(LARGE);
        for zone in ZONES {
            create(&ada, zone, "large", &large).data();
            create(&ada, zone, "small", "small\n").data();
        }
        let table = "CREATE TABLE t(n); INSERT INTO t VALUES (7)";
        let sql = |text: &str| json!({"path": "a.db", "query": text});
        for statement in table.split("; ") {
            call(&ada, "storage", "shed_sqlite", sql(statement)).data();
        }
        volume.fill(0);
        // Writes come first, until one meets the end of the disk: XFS then releases the space that it had
        // reserved.
        let mut writes = (0..32).map(|n| create(&ada, "storage", &format!("new-{n}"), &large));
        let refused = writes.find(|answer| answer.status != 200);
        refused_for_space("new", &refused.expect("the disk is full"));
        for zone in ZONES {
            let what = format!("{kind:?}, {zone}");
            assert_eq!(content(&ada, zone, "kept.md"), "kept\n", "{what}");
            for (operation, arguments) in [
                ("shed_read", json!({"path": "kept.md"})),
                ("shed_tree", json!({})),
                ("shed_exec", json!({"cmd": "ls", "args": []})),
                (
                    "shed_exec",
                    json!({"cmd": "grep", "args": ["kept", "kept.md"]}),
                ),
            ] {
                let answer = call(&ada, zone, operation, arguments);
                assert_eq!(answer.status, 200, "{what}: {operation}: {}", answer.text);
            }
            if zone != "storage" {
                let log = json!({"cmd": "git", "args": ["log", "--oneline"]});
                let log = call(&ada, zone, "shed_exec", log);
                assert_eq!(log.status, 200, "{what}: {}", log.text);
            }
            // A name may need a block of its directory: done, or refused for space.
            let moved = json!({"old_path": "small", "new_path": "moved"});
            let moved = call(&ada, zone, "shed_rename", moved);
            if moved.status != 200 {
                refused_for_space(&what, &moved);
            }
        }
        let selected = call(&ada, "storage", "shed_sqlite", sql("SELECT n FROM t"));
        assert_eq!(selected.status, 200, "{kind:?}: {}", selected.text);
        for (zone, operation, arguments) in [
            (
                "storage",
                "shed_exec",
                json!({"cmd": "rm", "args": ["large"]}),
            ),
            (
                "documents",
                "shed_exec",
                json!({"cmd": "truncate", "args": ["-s", "0", "large"]}),
            ),
            ("group", "shed_delete", json!({"path": "large"})),
        ] {
            let freed = call(&ada, zone, operation, arguments);
            assert_eq!(freed.status, 200, "{kind:?}, {zone}: {}", freed.text);
        }
        volume.relieve();
        for zone in ZONES {
            create(&ada, zone, "after.md", "after\n").data();
        }
    }
}

/// Another program takes the last byte before a deletion has what is kept for it.
#[test]
fn without_what_is_kept_for_them_deletions_work_too() {
    for (kind, size) in FILE_SYSTEMS {
        let Some((volume, setup)) = volume::of(kind, size) else {
            continue;
        };
        let server = setup.env("FILESHED_BIN_DAYS", "30").start();
        furnished(&volume, &server);
        let ada = server.as_user("ada").chat("chat");
        let large = "x".repeat(LARGE);
        let sql = |text: &str| json!({"path": "a.db", "query": text});
        for statement in ["CREATE TABLE t(n)", "INSERT INTO t VALUES (7)"] {
            call(&ada, "storage", "shed_sqlite", sql(statement)).data();
        }
        let fill = || {
            for zone in ZONES {
                create(&ada, zone, "large", &large).data();
                create(&ada, zone, "small", "small\n").data();
            }
            volume.fill(0);
            let mut writes = (0..32).map(|n| create(&ada, "storage", &format!("new-{n}"), &large));
            let refused = writes.find(|answer| answer.status != 200);
            refused_for_space("new", &refused.expect("the disk is full"));
            volume.take_reserve();
        };
        let run = |zone: &str, cmd: &str, args: &[&str]| {
            let answer = call(&ada, zone, "shed_exec", json!({"cmd": cmd, "args": args}));
            assert_eq!(
                answer.status, 200,
                "{kind:?}, {zone}: {cmd}: {}",
                answer.text
            );
            assert_eq!(answer.data()["returncode"], 0, "{kind:?}: {}", answer.text);
        };
        let relieve = || {
            volume.relieve();
            for zone in ZONES {
                let gone =
                    json!({"cmd": "rm", "args": ["-f", "large", "small", "moved", "moved-too"]});
                call(&ada, zone, "shed_exec", gone).data();
            }
        };
        let freeing: [(&str, Value); 3] = [
            ("shed_exec", json!({"cmd": "rm", "args": ["large"]})),
            (
                "shed_exec",
                json!({"cmd": "truncate", "args": ["-s", "0", "large"]}),
            ),
            ("shed_delete", json!({"path": "large"})),
        ];
        for (operation, arguments) in &freeing {
            let what = format!("{kind:?}: {operation} {arguments}");
            fill();
            for zone in ZONES {
                run(zone, "cat", &["kept.md"]);
                run(zone, "ls", &[]);
            }
            for zone in ["documents", "group"] {
                run(zone, "git", &["log", "--oneline"]);
                // The history takes space for it, which there may be none of.
                let deleted = call(&ada, zone, operation, arguments.clone());
                if deleted.status != 200 {
                    refused_for_space(&what, &deleted);
                }
            }
            let selected = call(&ada, "storage", "shed_sqlite", sql("SELECT n FROM t"));
            assert_eq!(selected.status, 200, "{what}: {}", selected.text);
            let path = json!({"zone": "storage", "path": "kept.md"});
            let names = json!({"zone": "storage", "old_path": "small", "new_path": "moved"});
            let places = json!({"src": "small", "dest": "moved-too"});
            for (operation, arguments) in [
                ("shed_link_create", path),
                ("shed_rename", names),
                ("shed_move_documents_to_storage", places),
            ] {
                let answer = ada.call(operation, &arguments);
                if answer.status != 200 {
                    refused_for_space(&format!("{what}: {operation}"), &answer);
                }
            }
            let freed = call(&ada, "storage", operation, arguments.clone());
            assert_eq!(freed.status, 200, "{what}: {}", freed.text);
            assert_eq!(freed.data().get("restorable_days"), None, "{what}");
            // XFS gives the blocks of a file back a while after it is gone.
            wait_until(&what, || volume.free() >= LARGE as u64 / 2);
            relieve();
        }
        for zone in ZONES {
            create(&ada, zone, "after.md", "after\n").data();
        }
        let ended = server.run(&["doctor"]);
        assert!(!ended.stdout.contains("registry: fail"), "{ended:?}");
    }
}

/// The most that an archive of a tenant unpacks to is known before anything is unpacked.
#[test]
fn an_import_that_does_not_fit_leaves_the_disk_as_it_was() {
    let Some((volume, setup)) = volume::small(64 << 20) else {
        return;
    };
    let server = setup.clone().start();
    let ada = server.as_user("ada").chat("chat");
    create(&ada, "storage", "kept.md", "kept\n").data();
    let longer = json!({"cmd": "truncate", "args": ["-s", "24M", "zeros"]});
    call(&ada, "storage", "shed_exec", longer).data();
    let export = setup.piped(&["tenant", "export", "--user", "ada"]);
    let archive = export.wait_with_output().unwrap().stdout;
    assert!(archive.len() < 256 << 10, "{}", archive.len());
    let delete = ["tenant", "delete", "--user", "ada", "--name", "ada"];
    assert_eq!(server.run(&delete).code, Some(0));
    let import = |archive: &[u8]| -> Finished {
        let mut child = setup.piped(&["tenant", "import"]);
        let mut input = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // It may end before it has read everything.
            scope.spawn(move || drop(input.write_all(archive)));
            child.wait_with_output().unwrap().into()
        })
    };
    volume.fill(20 << 20);
    let free = volume.free();
    // First an archive whose content does not fit, then one that does not fit itself.
    for archive in [&archive[..], &vec![7; 32 << 20]] {
        let refused = import(archive);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        for words in ["`storage_base_path` has", "at least", "free space"] {
            assert!(refused.stderr.contains(words), "{refused:?}");
        }
        assert!(volume.free().abs_diff(free) < 1 << 20, "{}", volume.free());
    }
    volume.relieve();
    let imported = import(&archive);
    assert_eq!(imported.code, Some(0), "{imported:?}");
    assert_eq!(content(&ada, "storage", "kept.md"), "kept\n");
}
