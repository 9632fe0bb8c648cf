//! Files that another user puts beside a database.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{ask, at, select, sql};
use crate::ops::stage::{done, installed, place, ran, small, upload};
use fileshed_test_support::journal::{database, is_played, rollback, with_log};
use fileshed_test_support::{Client, TestApp, eventually};

/// The owner's text, and the text that another user tries to put in its place.
const MINE: &str = "mine";
const THEIRS: &str = "theirs";

/// A place beside the data where databases are made.
fn workshop(server: &TestApp) -> PathBuf {
    let place = server.data().with_file_name("workshop");
    std::fs::create_dir_all(&place).unwrap();
    place
}

/// A database, and everything that can be planted beside it, by the end of its name.
fn planted(workshop: &Path) -> Vec<(Vec<u8>, &'static str, Vec<u8>)> {
    let clean = database(workshop, MINE);
    let hot = rollback(&database(workshop, THEIRS), None);
    let (in_wal, log) = with_log(workshop, MINE, THEIRS);
    let found = vec![(clean, "-journal", hot), (in_wal, "-wal", log)];
    for (clean, end, journal) in &found {
        // Else the rest shows nothing.
        assert_eq!(is_played(workshop, clean, end, journal), THEIRS, "{end}");
    }
    found
}

fn word(client: &Client<'_>, zone: &str) -> Value {
    select(client, zone, "plan.db", "SELECT word FROM plan")
}

#[test]
fn what_an_archive_put_beside_a_database_is_not_played() {
    let server = small().app();
    let alice = server.as_user("alice");
    done(&alice, "shed_tree", &json!({"zone": "storage"}));
    done(&alice, "shed_tree", &json!({"zone": "documents"}));
    let workshop = workshop(&server);
    for (clean, end, journal) in planted(&workshop) {
        for zone in ["storage", "documents"] {
            let directory = place(&server, "alice", zone);
            let beside = directory.join(format!("plan.db{end}"));
            std::fs::write(directory.join("plan.db"), &clean).unwrap();
            // As the members of an archive come.
            std::fs::write(workshop.join(format!("plan.db{end}")), &journal).unwrap();
            let tar = std::process::Command::new("tar")
                .args(["-cf", directory.join("a.tar").to_str().unwrap(), "-C"])
                .args([workshop.to_str().unwrap(), &format!("plan.db{end}")])
                .status();
            if tar.is_ok_and(|status| status.success()) && installed(&alice, "tar") {
                assert_eq!(ran(&alice, zone, "tar", &["-xf", "a.tar"])["returncode"], 0);
            } else {
                std::fs::write(&beside, &journal).unwrap();
            }
            assert_eq!(std::fs::read(&beside).unwrap(), journal);

            let answer = ask(&alice, zone, "plan.db", "SELECT word FROM plan");
            assert_eq!(
                answer.data()["rows"],
                json!([{"word": MINE}]),
                "{zone} {end}"
            );
            let notes = answer.data()["notes"].to_string();
            assert!(notes.contains(&format!("plan.db{end}")), "{notes}");
            let export = json!({"query": "SELECT word FROM plan", "output_csv": "out.csv"});
            let exported = done(&alice, "shed_sqlite", &at(zone, "plan.db", &export));
            assert!(
                exported["notes"].to_string().contains("plan.db"),
                "{exported}"
            );
            let csv = std::fs::read_to_string(directory.join("out.csv")).unwrap();
            assert_eq!(csv, "word\nmine\n");
            for change in [
                "INSERT INTO plan VALUES ('x')",
                "VACUUM",
                "PRAGMA user_version = 1",
            ] {
                let refused = ask(&alice, zone, "plan.db", change);
                refused.refused(400, "INVALID_FORMAT");
                assert!(
                    refused.text.contains(&format!("plan.db{end}")),
                    "{}",
                    refused.text
                );
                assert!(refused.text.contains("shed_delete"), "{}", refused.text);
            }
            // The journal was not played and no content was lost: both files are unchanged.
            assert_eq!(std::fs::read(directory.join("plan.db")).unwrap(), clean);
            assert_eq!(std::fs::read(&beside).unwrap(), journal);
            // The way out that is named.
            let away = json!({"zone": zone, "path": format!("plan.db{end}")});
            done(&alice, "shed_delete", &away);
            sql(&alice, zone, "plan.db", "INSERT INTO plan VALUES ('more')");
            let both = json!([{"word": MINE}, {"word": "more"}]);
            assert_eq!(word(&alice, zone), both);
        }
    }
}

#[test]
fn what_waits_for_a_database_is_not_taken_in_when_it_comes() {
    let server = small().app();
    let alice = server.as_user("alice");
    done(&alice, "shed_tree", &json!({"zone": "storage"}));
    let directory = place(&server, "alice", "storage");
    let (_, end, journal) = planted(&workshop(&server)).remove(0);
    std::fs::write(directory.join(format!("plan.db{end}")), &journal).unwrap();
    let refused = ask(
        &alice,
        "storage",
        "plan.db",
        "CREATE TABLE plan (word TEXT)",
    );
    refused.refused(400, "INVALID_FORMAT");
    assert!(!directory.join("plan.db").exists());
}

#[test]
fn what_is_finished_or_empty_is_in_nobodys_way() {
    let server = small().app();
    let alice = server.as_user("alice");
    sql(
        &alice,
        "storage",
        "plan.db",
        "CREATE TABLE plan (word TEXT)",
    );
    let directory = place(&server, "alice", "storage");
    // As `journal_mode` persist and truncate leave them, and an index without a log.
    for (end, content) in [
        ("-journal", vec![0; 600]),
        ("-journal", Vec::new()),
        ("-wal", Vec::new()),
        ("-shm", vec![7; 32768]),
    ] {
        std::fs::write(directory.join(format!("plan.db{end}")), content).unwrap();
        sql(
            &alice,
            "storage",
            "plan.db",
            "INSERT INTO plan VALUES ('x')",
        );
        let _gone_or_not = std::fs::remove_file(directory.join(format!("plan.db{end}")));
    }
    assert_eq!(word(&alice, "storage").as_array().unwrap().len(), 4);
    std::fs::create_dir(directory.join("plan.db-journal")).unwrap();
    let refused = ask(&alice, "storage", "plan.db", "DELETE FROM plan");
    refused.refused(400, "INVALID_FORMAT");
    assert_eq!(word(&alice, "storage").as_array().unwrap().len(), 4);
}

#[test]
fn the_command_plays_nothing_and_removes_no_file() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !installed(&alice, "sqlite3") {
        return;
    }
    done(&alice, "shed_tree", &json!({"zone": "storage"}));
    let directory = place(&server, "alice", "storage");
    let workshop = workshop(&server);
    let mut all = planted(&workshop);
    // One that has a file of the zone removed when it is played: it calls it its super-journal.
    let victim = directory.join("victim.txt");
    let name = victim.to_str().unwrap();
    let wanted = database(&workshop, THEIRS);
    for name in [name, "/zone/victim.txt", "victim.txt"] {
        all.push((
            database(&workshop, MINE),
            "-journal",
            rollback(&wanted, Some(name)),
        ));
    }
    for (clean, end, journal) in all {
        for file in ["plan.db-journal", "plan.db-wal", "plan.db-shm"] {
            let _old = std::fs::remove_file(directory.join(file));
        }
        std::fs::write(directory.join("plan.db"), &clean).unwrap();
        std::fs::write(&victim, "kept").unwrap();
        std::fs::write(directory.join(format!("plan.db{end}")), &journal).unwrap();
        for query in ["SELECT word FROM plan", "DELETE FROM plan"] {
            for name in ["plan.db", "./plan.db", "d/../plan.db"] {
                let call = json!({"zone": "storage", "cmd": "sqlite3", "args": [name, query]});
                let answer = alice.call("shed_exec", &call);
                answer.refused(400, "INVALID_FORMAT");
                assert!(
                    answer.text.contains(&format!("plan.db{end}")),
                    "{}",
                    answer.text
                );
            }
        }
        let call =
            json!({"zone": "storage", "cmd": "sqlite3", "args": ["file:plan.db", "SELECT 1"]});
        alice
            .call("shed_exec", &call)
            .refused(403, "ARGUMENT_FORBIDDEN");
        ask(&alice, "storage", "plan.db", "DELETE FROM plan").refused(400, "INVALID_FORMAT");
        assert_eq!(word(&alice, "storage"), json!([{"word": MINE}]));
        assert_eq!(std::fs::read(directory.join("plan.db")).unwrap(), clean);
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
    }
    // In uploads it would read what is planted, from where it cannot be taken away.
    let (clean, log) = with_log(&workshop, MINE, THEIRS);
    upload(&alice, "plan.db", clean);
    upload(&alice, "plan.db-wal", log);
    let call =
        json!({"zone": "uploads", "cmd": "sqlite3", "args": ["plan.db", "SELECT word FROM plan"]});
    alice
        .call("shed_exec", &call)
        .refused(400, "INVALID_FORMAT");
}

#[test]
fn a_command_that_is_stopped_leaves_the_database_as_it_was() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .app();
    let alice = server.as_user("alice");
    if !installed(&alice, "sqlite3") {
        return;
    }
    sql(
        &alice,
        "storage",
        "plan.db",
        "CREATE TABLE plan (word TEXT)",
    );
    sql(
        &alice,
        "storage",
        "plan.db",
        "INSERT INTO plan VALUES ('mine')",
    );
    // More than is kept in memory, so that the file is half changed; then without end.
    let endless = "PRAGMA cache_size = 1; BEGIN; UPDATE plan SET word = 'x'; \
        INSERT INTO plan WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) \
        SELECT hex(zeroblob(1000)) FROM n WHERE a < 3000 OR a < 0";
    let call =
        json!({"zone": "storage", "cmd": "sqlite3", "args": ["plan.db", endless], "timeout": 2});
    alice.call("shed_exec", &call).refused(504, "TIMEOUT");
    let directory = place(&server, "alice", "storage");
    eventually("it is rolled back", || {
        (!directory.join("plan.db-journal").exists()).then_some(())
    });
    assert_eq!(word(&alice, "storage"), json!([{"word": MINE}]));
    sql(
        &alice,
        "storage",
        "plan.db",
        "INSERT INTO plan VALUES ('more')",
    );
}
