//! Changes of databases: the record of each, and leftovers of those that were interrupted.

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};

use super::{ask, at, people, select, sql};
use crate::ops::stage::{done, installed, output, place, ran, small};
use fileshed_test_support::on_disk::take_turn;
use fileshed_test_support::{Client, Server, Setup, TestApp, eventually};

fn commits(client: &Client<'_>) -> Vec<String> {
    let log = output(client, "documents", "git", &["log", "--format=%s"]);
    log.lines().map(str::to_owned).collect()
}

/// Asserts that bytes and files of a zone in the registry match the disk.
#[track_caller]
fn space_is_exact(server: &TestApp, client: &Client<'_>, user: &str, zone: &str) {
    let stats = done(client, "shed_stats", &json!({}));
    let (mut bytes, mut files) = (0, 0);
    for entry in std::fs::read_dir(place(server, user, zone)).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != ".git" {
            bytes += entry.metadata().unwrap().len();
            files += 1;
        }
    }
    let seen = (&stats[zone]["size_bytes"], &stats[zone]["files"]);
    assert_eq!(seen, (&json!(bytes), &json!(files)), "{zone}");
}

#[test]
fn a_change_is_one_commit_and_its_space_is_exact() {
    let server = small().app();
    let alice = server.as_user("alice");
    for zone in ["storage", "documents"] {
        sql(&alice, zone, "a.db", "CREATE TABLE t (a)");
        space_is_exact(&server, &alice, "alice", zone);
        sql(
            &alice,
            zone,
            "a.db",
            "INSERT INTO t VALUES (zeroblob(100000))",
        );
        space_is_exact(&server, &alice, "alice", zone);
        sql(&alice, zone, "a.db", "DELETE FROM t WHERE a = 1");
        sql(&alice, zone, "a.db", "SELECT * FROM t WHERE a = 1");
        ask(&alice, zone, "a.db", "INSERT INTO nowhere VALUES (1)").refused(400, "EXEC_ERROR");
        sql(&alice, zone, "a.db", "DELETE FROM t");
        sql(&alice, zone, "a.db", "VACUUM");
        space_is_exact(&server, &alice, "alice", zone);
        let export = json!({"query": "SELECT * FROM t", "output_csv": "t.csv"});
        done(&alice, "shed_sqlite", &at(zone, "a.db", &export));
        space_is_exact(&server, &alice, "alice", zone);
    }
    let log = commits(&alice);
    let expected = [
        "Write t.csv (shed_sqlite)",
        "shed_sqlite on a.db: VACUUM",
        "shed_sqlite on a.db: DELETE FROM t",
        "shed_sqlite on a.db: INSERT INTO t VALUES (zeroblob(100000))",
        "shed_sqlite on a.db: CREATE TABLE t (a)",
    ];
    assert_eq!(log, expected);
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
    // The history holds databases that open.
    let old = json!({"zone": "documents", "cmd": "git", "args": ["show", "HEAD~2:a.db"], "stdout_file": "old.db"});
    done(&alice, "shed_exec", &old);
    assert_eq!(
        select(&alice, "documents", "old.db", "SELECT count(*) AS n FROM t"),
        json!([{"n": 0}])
    );
}

#[test]
fn reads_take_no_turn_and_change_no_byte() {
    let server = small().app();
    let alice = server.as_user("alice");
    people(&alice, "storage");
    let file = place(&server, "alice", "storage").join("people.db");
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    let turn = server.data().join("users/alice/staging/storage.lock");
    let Some(turn) = take_turn(&turn) else {
        return;
    };
    let rows = select(&alice, "storage", "people.db", "SELECT name FROM people");
    assert_eq!(rows, json!([{"name": "Ada"}, {"name": "Alan"}]));
    drop(turn);
    assert_eq!(
        std::fs::metadata(&file).unwrap().modified().unwrap(),
        before
    );
}

/// A statement that is in the middle of a change for a long time, and changes more than SQLite
/// keeps in memory.
const SLOW: &str = "INSERT INTO t WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT zeroblob(2000) FROM n WHERE a < 10000 OR a < 0";

/// A server with room for it.
fn roomy() -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
}

/// Begins a change and gives the connection when the database on disk is half changed.
fn begin(server: &Server, data: &Path) -> TcpStream {
    let body = at("documents", "a.db", &json!({"query": SLOW})).to_string();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = format!(
        "POST /shed_sqlite HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer service-key\r\nX-OpenWebUI-User-Id: alice\r\nContent-Length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let larger = |name: &str, bytes| {
        let file = std::fs::metadata(data.join(name));
        file.is_ok_and(|file| file.len() > bytes)
    };
    eventually("the change is under way", || {
        (larger("a.db", 1_000_000) && larger("a.db-journal", 0)).then_some(())
    });
    stream
}

fn furnish(client: &Client<'_>) -> Value {
    sql(client, "documents", "a.db", "CREATE TABLE t (a)");
    sql(client, "documents", "a.db", "INSERT INTO t VALUES (1), (2)");
    select(client, "documents", "a.db", "SELECT * FROM t")
}

#[test]
fn a_caller_that_hangs_up_leaves_the_database_as_it_was() {
    let server = roomy().start();
    let alice = server.as_user("alice");
    let before = furnish(&alice);
    let data = place(&server, "alice", "documents");
    drop(begin(&server, &data));
    // The next change waits for the turn.
    sql(&alice, "documents", "a.db", "PRAGMA user_version = 1");
    assert!(!data.join("a.db-journal").exists());
    assert_eq!(
        select(&alice, "documents", "a.db", "SELECT * FROM t"),
        before
    );
    assert_eq!(commits(&alice).len(), 3);
    space_is_exact(&server, &alice, "alice", "documents");
}

#[test]
fn a_server_that_is_killed_leaves_the_database_as_it_was() {
    let mut server = roomy().start();
    let before = furnish(&server.as_user("alice"));
    let data = place(&server, "alice", "documents");
    let stream = begin(&server, &data);
    server.kill();
    drop(stream);
    let again = server.again();
    let alice = again.as_user("alice");
    assert_eq!(
        select(&alice, "documents", "a.db", "SELECT * FROM t"),
        before
    );
    assert_eq!(
        select(&alice, "documents", "a.db", "PRAGMA integrity_check"),
        json!([{"integrity_check": "ok"}])
    );
    assert!(!data.join("a.db-journal").exists());
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
    space_is_exact(&again, &alice, "alice", "documents");
    sql(&alice, "documents", "a.db", "INSERT INTO t VALUES (3)");
}

#[test]
fn many_write_at_once_and_nothing_is_lost() {
    let server = small().app();
    let alice = server.as_user("alice");
    sql(&alice, "storage", "a.db", "CREATE TABLE t (a)");
    std::thread::scope(|scope| {
        for writer in 0..3 {
            let client = alice.clone();
            scope.spawn(move || {
                for number in 0..8 {
                    let call = json!({"query": "INSERT INTO t VALUES (?)", "params": [writer * 100 + number]});
                    done(&client, "shed_sqlite", &at("storage", "a.db", &call));
                }
            });
        }
    });
    let rows = select(
        &alice,
        "storage",
        "a.db",
        "SELECT count(DISTINCT a) AS n FROM t",
    );
    assert_eq!(rows, json!([{"n": 24}]));
    space_is_exact(&server, &alice, "alice", "storage");
}

#[test]
fn a_database_with_a_log_works() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !installed(&alice, "sqlite3") {
        return;
    }
    for zone in ["storage", "documents"] {
        let made = "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)";
        assert_eq!(
            ran(&alice, zone, "sqlite3", &["w.db", made])["returncode"],
            0
        );
        assert_eq!(
            select(&alice, zone, "w.db", "SELECT a FROM t"),
            json!([{"a": 1}])
        );
        sql(&alice, zone, "w.db", "INSERT INTO t VALUES (2)");
        let export = json!({"query": "SELECT a FROM t", "output_csv": "w.csv"});
        done(&alice, "shed_sqlite", &at(zone, "w.db", &export));
        assert_eq!(output(&alice, zone, "cat", &["w.csv"]), "a\n1\n2\n");
        let names = output(&alice, zone, "ls", &[]);
        assert_eq!(names, "w.csv\nw.db\n");
        space_is_exact(&server, &alice, "alice", zone);
    }
    assert_eq!(
        output(&alice, "documents", "git", &["status", "--porcelain"]),
        ""
    );
}

#[test]
fn a_database_with_a_log_is_not_for_a_token_that_only_reads() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !installed(&alice, "sqlite3") {
        return;
    }
    let made = "PRAGMA journal_mode = WAL; CREATE TABLE t (a)";
    ran(&alice, "storage", "sqlite3", &["w.db", made]);
    let create = ["token", "create", "--user", "alice", "--scope", "read"];
    let secret = server.run(&create).stdout;
    let reader = server
        .client()
        .header("Authorization", &format!("Bearer {}", secret.trim()));
    let query = at("storage", "w.db", &json!({"query": "SELECT a FROM t"}));
    reader
        .call("shed_sqlite", &query)
        .refused(403, "ACCESS_DENIED");
    alice.call("shed_sqlite", &query).data();
}

#[test]
fn uploads_are_read_as_they_are() {
    let server = small().app();
    let alice = server.as_user("alice");
    people(&alice, "storage");
    let chat = server.data().join("users/alice/Uploads/default");
    std::fs::create_dir_all(&chat).unwrap();
    let made = place(&server, "alice", "storage").join("people.db");
    std::fs::copy(&made, chat.join("a b?#%41.db")).unwrap();
    let rows = select(&alice, "uploads", "a b?#%41.db", "SELECT name FROM people");
    assert_eq!(rows, json!([{"name": "Ada"}, {"name": "Alan"}]));
    for query in ["DELETE FROM people", "PRAGMA user_version = 5", "VACUUM"] {
        ask(&alice, "uploads", "a b?#%41.db", query).refused(403, "ZONE_READONLY");
    }
    // One in WAL mode with changes that are in its log only.
    let wal = rusqlite::Connection::open(chat.join("w.db")).unwrap();
    wal.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
    for end in ["", "-wal"] {
        std::fs::copy(
            chat.join(format!("w.db{end}")),
            chat.join(format!("copy.db{end}")),
        )
        .unwrap();
    }
    let before = std::fs::read(chat.join("copy.db-wal")).unwrap();
    assert_eq!(
        select(&alice, "uploads", "copy.db", "SELECT a FROM t"),
        json!([{"a": 1}])
    );
    ask(&alice, "uploads", "copy.db", "DELETE FROM t").refused(403, "ZONE_READONLY");
    assert_eq!(std::fs::read(chat.join("copy.db-wal")).unwrap(), before);
    assert!(!chat.join("copy.db-shm").exists());
}

#[test]
fn a_server_that_only_reads() {
    let server = small().start();
    people(&server.as_user("alice"), "storage");
    let mut server = server;
    server.kill();
    let server = server.again_with("FILESHED_SQLITE_READONLY", "true");
    let alice = server.as_user("alice");
    let rows = select(&alice, "storage", "people.db", "SELECT name FROM people");
    assert_eq!(rows.as_array().unwrap().len(), 2);
    for query in [
        "DELETE FROM people",
        "PRAGMA user_version = 5",
        "WITH x AS (SELECT 1) INSERT INTO people SELECT 1, 2 FROM x",
        "CREATE TABLE t (a)",
    ] {
        ask(&alice, "storage", "people.db", query).refused(403, "COMMAND_FORBIDDEN");
        ask(&alice, "storage", "new.db", "CREATE TABLE t (a)").refused(403, "COMMAND_FORBIDDEN");
    }
    let import = json!({"import_csv": "a.csv", "table": "t"});
    let answer = alice.call("shed_sqlite", &at("storage", "people.db", &import));
    answer.refused(403, "COMMAND_FORBIDDEN");
    let export = json!({"query": "SELECT * FROM people", "output_csv": "a.csv"});
    done(&alice, "shed_sqlite", &at("storage", "people.db", &export));
    if installed(&alice, "sqlite3") {
        let shell = |query: &str| ran(&alice, "storage", "sqlite3", &["people.db", query]);
        assert_eq!(shell("SELECT count(*) FROM people")["stdout"], "2\n");
        assert_ne!(shell("DELETE FROM people")["returncode"], 0);
        assert_eq!(shell("SELECT count(*) FROM people")["stdout"], "2\n");
    }
}

#[test]
fn who_reads_does_not_wait_for_who_writes() {
    // The locks of a file belong to a process, and this one is the other program.
    let server = small().start();
    let alice = server.as_user("alice");
    people(&alice, "storage");
    let file = place(&server, "alice", "storage").join("people.db");
    // Another program is in the middle of a change.
    let writer = rusqlite::Connection::open(&file).unwrap();
    writer.execute_batch("BEGIN; DELETE FROM people").unwrap();
    assert!(file.with_file_name("people.db-journal").exists());
    let rows = select(
        &alice,
        "storage",
        "people.db",
        "SELECT count(*) AS n FROM people",
    );
    assert_eq!(rows, json!([{"n": 2}]));
    let busy = ask(&alice, "storage", "people.db", "DELETE FROM people");
    busy.refused(429, "BUSY");
    writer.execute_batch("ROLLBACK").unwrap();
    sql(&alice, "storage", "people.db", "DELETE FROM people");
}

#[test]
fn a_token_that_only_reads() {
    let server = small().app();
    people(&server.as_user("alice"), "storage");
    let made = server.run(&["token", "create", "--user", "alice", "--scope", "read"]);
    let reader = server.with_token(made.stdout.trim());
    let rows = select(&reader, "storage", "people.db", "SELECT name FROM people");
    assert_eq!(rows.as_array().unwrap().len(), 2);
    ask(&reader, "storage", "people.db", "DELETE FROM people").refused(403, "ACCESS_DENIED");
    let export = json!({"query": "SELECT 1", "output_csv": "a.csv"});
    let answer = reader.call("shed_sqlite", &at("storage", "people.db", &export));
    answer.refused(403, "ACCESS_DENIED");
}
