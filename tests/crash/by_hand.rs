//! The moments between an effect and its end, made by hand instead of met by chance.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::on_disk::{Repository, staged, totals, tree};
use fileshed_test_support::wire::Wire;

/// A process that is gone, as it names itself.
const DEAD: &str = "00000000deadbeef";

fn server() -> Server {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .start()
}

/// Leaves the data as a process does that died in the middle of a change.
fn interrupted(data: &Path, zone: &str, operation: &str, author: &str) {
    std::fs::write(data.join(".instances").join(DEAD), "").unwrap();
    Connection::open(data.join("access_auth.sqlite"))
        .unwrap()
        .execute(
            "INSERT INTO intents (home, zone, instance, operation, author_name, author_email)
             VALUES ('users/ada', ?1, ?2, ?3, ?4, 'ada@example.org')",
            (zone, DEAD, operation, author),
        )
        .unwrap();
}

fn intents(data: &Path) -> i64 {
    Connection::open(data.join("access_auth.sqlite"))
        .unwrap()
        .query_row("SELECT count(*) FROM intents", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_change_without_its_commit_is_committed_for_its_author() {
    let mut server = server();
    let mut wire = Wire::open(&server, "ada", "work");
    for name in ["a.txt", "b.txt", "c.txt"] {
        let call = json!({"zone": "documents", "path": name, "content": "before\n"});
        wire.data("shed_create_file", &call);
    }
    server.kill();
    let home = server.data().join("users/ada");
    let documents = home.join("Documents/data");
    std::fs::write(documents.join("a.txt"), "changed, and longer\n").unwrap();
    std::fs::remove_file(documents.join("b.txt")).unwrap();
    std::fs::create_dir(documents.join("new")).unwrap();
    std::fs::write(documents.join("new/file"), "new\n").unwrap();
    std::fs::write(home.join("staging").join(format!("{DEAD}-7")), "staged").unwrap();
    interrupted(&server.data(), "documents", "shed_rename", "Ada Lovelace");

    server = server.again();
    let mut wire = Wire::open(&server, "ada", "work");
    let stats = wire.data("shed_stats", &json!({}));
    let (bytes, files) = totals(&tree(&documents));
    assert_eq!(stats["documents"]["size_bytes"], bytes);
    assert_eq!(stats["documents"]["files"], files);
    assert_eq!(intents(&server.data()), 0);
    assert_eq!(staged(&home), Vec::<String>::new());

    let repository = Repository::of(&home);
    assert_eq!(repository.commits(), 4);
    let last = repository.text(&["log", "-1", "--format=%an <%ae>|%cn|%s"]);
    let subject = "shed_rename (recovered after an interruption)";
    assert_eq!(
        last,
        format!("Ada Lovelace <ada@example.org>|fileshed|{subject}")
    );
    // By which way it came is not known any more.
    let stored = repository.text(&["log", "--format=raw"]);
    assert_eq!(stored.matches("\nfileshed-by ").count(), 3, "{stored}");
    let changed = repository.text(&["show", "--format=", "--name-status", "--no-renames", "HEAD"]);
    assert_eq!(changed, "M\ta.txt\nD\tb.txt\nA\tnew/file");
    wire.data(
        "shed_exec",
        &json!({"zone": "documents", "cmd": "git", "args": ["status"]}),
    );
    repository.assert_sound();
}

#[test]
fn space_that_was_entered_for_nothing_is_free_again() {
    let mut server = server();
    let mut wire = Wire::open(&server, "ada", "work");
    let call = json!({"zone": "storage", "path": "a.txt", "content": "12345"});
    wire.data("shed_create_file", &call);
    server.kill();
    Connection::open(server.data().join("access_auth.sqlite"))
        .unwrap()
        .execute(
            "UPDATE usage SET bytes = 900000000, files = 77 WHERE zone = 'storage'",
            [],
        )
        .unwrap();
    interrupted(&server.data(), "storage", "shed_create_file", "ada");
    server = server.again();
    let mut wire = Wire::open(&server, "ada", "work");
    let stats = wire.data("shed_stats", &json!({}));
    assert_eq!(stats["storage"]["size_bytes"], 5);
    assert_eq!(stats["storage"]["files"], 1);
    assert_eq!(stats["total"]["size_bytes"], 5);
}

#[test]
fn what_was_staged_without_a_change_is_swept() {
    let mut server = server();
    let mut wire = Wire::open(&server, "ada", "work");
    let call = json!({"zone": "storage", "path": "a.txt", "content": "12345"});
    wire.data("shed_create_file", &call);
    server.kill();
    let home = server.data().join("users/ada");
    // Content that waited for its turn, and the temp directory of a command that only read.
    std::fs::write(home.join("staging").join(format!("{DEAD}-0")), "staged").unwrap();
    let private = home.join("staging").join(format!("{DEAD}-1"));
    std::fs::create_dir(&private).unwrap();
    std::fs::write(private.join("sort1234"), "half sorted").unwrap();
    server = server.again();
    Wire::open(&server, "ada", "work").data("shed_stats", &json!({}));
    assert_eq!(staged(&home), Vec::<String>::new());
}

#[test]
fn locks_of_git_that_a_dead_process_left_are_no_obstacle() {
    let mut server = server();
    let mut wire = Wire::open(&server, "ada", "work");
    let call = json!({"zone": "documents", "path": "a.txt", "content": "one\n"});
    wire.data("shed_create_file", &call);
    server.kill();
    let home = server.data().join("users/ada");
    for name in ["HEAD.lock", "index.lock", "refs/heads/main.lock"] {
        std::fs::write(home.join("Documents/repo.git").join(name), "").unwrap();
    }
    std::fs::write(home.join("Documents/data/b.txt"), "two\n").unwrap();
    interrupted(&server.data(), "documents", "shed_create_file", "ada");
    server = server.again();
    let mut wire = Wire::open(&server, "ada", "work");
    let call = json!({"zone": "documents", "path": "c.txt", "content": "three\n"});
    wire.data("shed_create_file", &call);
    let call = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
    assert_eq!(wire.data("shed_exec", &call)["stdout"], "");
    let repository = Repository::of(&home);
    repository.assert_sound();
    assert_eq!(repository.commits(), 3);
}

/// Leaves the data as a process does that died while it replaced `documents/d` by `storage/d`.
fn half_moved(home: &Path, steps: usize) {
    let aside = format!("staging/{DEAD}-3");
    let (from, to) = ("Storage/data/d", "Documents/data/d");
    let inode = std::fs::metadata(home.join(from)).unwrap().ino();
    let journal = json!([
        {"exchange": false, "inode": inode, "from": from, "to": aside},
        {"exchange": true, "inode": inode, "from": aside, "to": to},
    ]);
    let place = home.join(format!("staging/{DEAD}-4.journal"));
    std::fs::write(place, journal.to_string()).unwrap();
    let aside = home.join(aside);
    if steps > 0 {
        std::fs::rename(home.join(from), &aside).unwrap();
    }
    if steps > 1 {
        let replaced = home.join("replaced");
        std::fs::rename(home.join(to), &replaced).unwrap();
        std::fs::rename(&aside, home.join(to)).unwrap();
        std::fs::rename(&replaced, &aside).unwrap();
    }
}

#[test]
fn a_move_that_replaces_is_undone_at_any_step() {
    let mut server = server();
    let files = [
        ("storage", "d/new.txt", "new"),
        ("documents", "d/old.txt", "old"),
    ];
    for (zone, path, content) in files {
        let call = json!({"zone": zone, "path": path, "content": content});
        Wire::open(&server, "ada", "work").data("shed_create_file", &call);
    }
    let home = server.data().join("users/ada");
    let before = ["Storage/data", "Documents/data"].map(|zone| tree(&home.join(zone)));
    for steps in 0..=2 {
        server.kill();
        half_moved(&home, steps);
        for zone in ["storage", "documents"] {
            interrupted(&server.data(), zone, "shed_move", "ada");
        }
        server = server.again();
        let mut wire = Wire::open(&server, "ada", "work");
        let stats = wire.data("shed_stats", &json!({}));
        let after = ["Storage/data", "Documents/data"].map(|zone| tree(&home.join(zone)));
        assert_eq!(after, before, "{steps}");
        for zone in ["storage", "documents"] {
            assert_eq!(stats[zone]["size_bytes"], 3);
            assert_eq!(stats[zone]["files"], 1);
        }
        assert_eq!(intents(&server.data()), 0);
        assert_eq!(staged(&home), Vec::<String>::new());
        let repository = Repository::of(&home);
        repository.assert_sound();
        assert_eq!(repository.commits(), 1);
    }
}

#[test]
fn nothing_is_lost_where_a_name_was_taken_meanwhile() {
    let mut server = server();
    let mut wire = Wire::open(&server, "ada", "work");
    for (zone, path, content) in [("storage", "d/new", "new"), ("documents", "d/old", "old")] {
        let call = json!({"zone": zone, "path": path, "content": content});
        wire.data("shed_create_file", &call);
    }
    server.kill();
    let home = server.data().join("users/ada");
    half_moved(&home, 2);
    std::fs::write(home.join("Storage/data/d"), "a file of that name").unwrap();
    interrupted(&server.data(), "storage", "shed_move", "ada");
    server = server.again();
    let stats = Wire::open(&server, "ada", "work").data("shed_stats", &json!({}));
    assert_eq!(stats["storage"]["files"], 2);
    let storage = tree(&home.join("Storage/data"));
    let names: Vec<&str> = storage.keys().map(String::as_str).collect();
    assert_eq!(names, ["d", "d (recovered)/new"]);
    assert_eq!(
        tree(&home.join("Documents/data")).keys().next().unwrap(),
        "d/old"
    );
    assert_eq!(staged(&home), Vec::<String>::new());
}
