//! Statements and databases that mean harm.

use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use super::{ask, at, people, select, sql};
use crate::ops::stage::{NEIGHBOUR, SECRET, done, file, place, small};
use fileshed_test_support::{Client, TestApp, eventually};

/// A statement that never ends.
pub(super) const ENDLESS: &str =
    "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a FROM n) SELECT count(*) FROM n";

/// A neighbour with a database, and files that nothing may read or make.
fn scene() -> TestApp {
    let server = small().env("FILESHED_EXEC_TIMEOUT_DEFAULT", "3").app();
    let neighbour = server.as_user(NEIGHBOUR);
    sql(
        &neighbour,
        "storage",
        "secret.db",
        "CREATE TABLE secret (a)",
    );
    let insert = format!("INSERT INTO secret VALUES ('{SECRET}')");
    sql(&neighbour, "storage", "secret.db", &insert);
    people(&server.as_user("eve"), "storage");
    server
}

/// Names below a directory, with their sizes.
fn names(directory: &Path) -> Vec<(String, u64)> {
    let mut found: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let size = entry.metadata().unwrap().len();
            (entry.file_name().to_string_lossy().into_owned(), size)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn no_statement_reaches_another_file() {
    let server = scene();
    let eve = server.as_user("eve");
    let secret = place(&server, NEIGHBOUR, "storage").join("secret.db");
    let canary = server.data().join("canary.db");
    let registry = server.data().join("access_auth.sqlite");
    let (secret, canary, registry) = (secret.display(), canary.display(), registry.display());
    let before = names(&place(&server, "eve", "storage"));
    for query in [
        format!("ATTACH '{secret}' AS x"),
        format!("ATTACH 'file:{registry}?mode=ro' AS x"),
        format!("/* */ -- \n aTTach DATABASE '{secret}' AS x"),
        format!("EXPLAIN ATTACH '{secret}' AS x"),
        format!("VACUUM INTO '{canary}'"),
        "VACUUM main INTO 'inside.db'".to_owned(),
        "DETACH main".to_owned(),
        format!("SELECT readfile('{secret}')"),
        format!("SELECT writefile('{canary}', 'x')"),
        "SELECT load_extension('./evil.so')".to_owned(),
        "SELECT fts3_tokenizer('simple', x'0000000000000000')".to_owned(),
        "SELECT edit('x', 'id')".to_owned(),
        format!("PRAGMA temp_store_directory = '{canary}'"),
        "PRAGMA data_store_directory = '/tmp'".to_owned(),
        "PRAGMA writable_schema = ON".to_owned(),
        "PRAGMA trusted_schema = ON".to_owned(),
        "PRAGMA journal_mode = OFF".to_owned(),
        "PRAGMA mmap_size = 1000000".to_owned(),
        "PRAGMA max_page_count = 1000000000".to_owned(),
        "PRAGMA hard_heap_limit = 0".to_owned(),
        "PRAGMA wal_checkpoint".to_owned(),
        "PRAGMA lock_proxy_file = 'x'".to_owned(),
        "SELECT * FROM pragma_database_list".to_owned(),
        "UPDATE sqlite_master SET sql = 'x'".to_owned(),
        "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 3, 'CREATE TABLE x (a)')".to_owned(),
        "CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')".to_owned(),
        "CREATE VIRTUAL TABLE x USING sqlite_dbpage".to_owned(),
    ] {
        let answer = ask(&eve, "storage", "people.db", &query);
        let refused = ["COMMAND_FORBIDDEN", "EXEC_ERROR"].contains(&answer.code());
        assert!(refused, "{query}: {}", answer.text);
        let place = server.data().display().to_string();
        let told = answer.text.replace(&query.replace('\n', "\\n"), "");
        assert!(
            !told.contains(&place) && !told.contains(SECRET),
            "{query}: {}",
            answer.text
        );
    }
    assert!(!server.data().join("canary.db").exists());
    assert_eq!(names(&place(&server, "eve", "storage")), before);
}

#[test]
fn inner_tables_of_indexes_are_closed() {
    let server = scene();
    let eve = server.as_user("eve");
    sql(
        &eve,
        "storage",
        "f.db",
        "CREATE VIRTUAL TABLE f USING fts5(a)",
    );
    sql(
        &eve,
        "storage",
        "f.db",
        "CREATE VIRTUAL TABLE r USING rtree(id, x, y)",
    );
    sql(
        &eve,
        "storage",
        "f.db",
        "INSERT INTO f VALUES ('hello world')",
    );
    for query in [
        "UPDATE f_data SET block = x'00'",
        "DELETE FROM f_content",
        "DROP TABLE f_idx",
        "INSERT INTO r_node VALUES (9, x'ffff')",
        "CREATE TRIGGER g AFTER INSERT ON f_docsize BEGIN SELECT 1; END",
    ] {
        let answer = ask(&eve, "storage", "f.db", query);
        assert_eq!(answer.code(), "EXEC_ERROR", "{query}: {}", answer.text);
    }
    let found = select(
        &eve,
        "storage",
        "f.db",
        "SELECT a FROM f WHERE f MATCH 'world'",
    );
    assert_eq!(found, json!([{"a": "hello world"}]));
}

#[test]
fn a_statement_that_never_ends_disturbs_nobody() {
    let server = scene();
    let eve = server.as_user("eve");
    std::thread::scope(|scope| {
        let endless = scope.spawn(|| ask(&eve, "storage", "people.db", ENDLESS));
        let bob = server.as_user("bob");
        let mut answered = 0;
        while !endless.is_finished() {
            people(&bob, "storage");
            select(&eve, "storage", "people.db", "SELECT * FROM people");
            answered += u32::from(!endless.is_finished());
        }
        endless.join().unwrap().refused(504, "TIMEOUT");
        assert!(answered > 0, "others were answered while it ran");
    });
}

#[test]
fn what_takes_too_much_ends() {
    let server = scene();
    let eve = server.as_user("eve");
    let deep = format!("SELECT {}1{}", "(".repeat(5000), ")".repeat(5000));
    let long = format!("SELECT 1{}", " + 1".repeat(5000));
    let compound = format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(2000));
    let endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n)";
    for query in [
        "SELECT zeroblob(2000000000)",
        "SELECT randomblob(1000000000)",
        "SELECT printf('%.*c', 2000000000, 'x')",
        "SELECT printf('%2000000000d', 1)",
        "SELECT replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000000)))",
        &format!("{endless} SELECT group_concat(hex(zeroblob(1000))) FROM n"),
        &format!("{endless} SELECT json_group_array(a) FROM n"),
        &format!("{endless} SELECT a FROM n ORDER BY a DESC"),
        &format!("{endless} SELECT DISTINCT a, randomblob(1000) FROM n ORDER BY 2"),
        &format!("{endless} INSERT INTO people SELECT a, a FROM n"),
        "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' LIKE replace(hex(zeroblob(600)), '00', '%a')",
        &deep,
        &long,
        &compound,
    ] {
        // An answer that does not come in time fails the call.
        let answer = ask(&eve, "storage", "people.db", query);
        let shown: String = query.chars().take(90).collect();
        let expected = ["EXEC_ERROR", "TIMEOUT", "FILE_TOO_LARGE", "QUOTA_EXCEEDED"];
        let ended = expected.contains(&answer.code()) || answer.status == 200;
        assert!(ended, "{shown}: {}", answer.text);
        assert!(answer.text.len() < 100_000, "{shown}");
    }
    let rows = select(
        &eve,
        "storage",
        "people.db",
        "SELECT count(*) AS n FROM people",
    );
    assert_eq!(rows, json!([{"n": 2}]));
    let staging = server.data().join("users/eve/staging");
    eventually("nothing is left of it", || {
        let left = names(&staging);
        left.iter()
            .all(|(name, _)| name.contains(".lock"))
            .then_some(())
    });
}

/// Gives a crafted file to a user.
fn plant(server: &TestApp, name: &str, make: impl FnOnce(&Path)) {
    make(&place(server, "eve", "storage").join(name));
}

#[test]
fn what_a_schema_says_is_not_trusted() {
    let server = scene();
    let eve = server.as_user("eve");
    plant(&server, "crafted.db", |path| {
        let database = Connection::open(path).unwrap();
        database
            .execute_batch(
                "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TABLE log (a);
                 CREATE VIEW v AS SELECT a FROM t;
                 CREATE VIEW w AS SELECT load_extension('./evil.so') AS a;
                 CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO log SELECT load_extension('./evil.so'); END;
                 PRAGMA writable_schema = 1;
                 UPDATE sqlite_master SET sql = 'CREATE VIEW v AS SELECT fts3_tokenizer(''simple'') AS a' WHERE name = 'v';
                 INSERT INTO sqlite_master VALUES ('table', 'p', 'p', 0, 'CREATE VIRTUAL TABLE p USING dbstat');",
            )
            .unwrap();
    });
    for query in [
        "SELECT * FROM v",
        "SELECT * FROM w",
        "INSERT INTO t VALUES (2)",
        "SELECT * FROM p",
    ] {
        let answer = ask(&eve, "storage", "crafted.db", query);
        let refused = ["COMMAND_FORBIDDEN", "EXEC_ERROR"].contains(&answer.code());
        assert!(refused || query.ends_with(" p"), "{query}: {}", answer.text);
    }
    assert_eq!(
        select(&eve, "storage", "crafted.db", "SELECT a FROM t"),
        json!([{"a": 1}])
    );
}

/// A small generator, so that a failure can be repeated.
fn next(state: &mut u64) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn broken_databases_break_nothing() {
    let server = scene();
    let eve = server.as_user("eve");
    let whole = server.data().join("whole.db");
    let database = Connection::open(&whole).unwrap();
    database
        .execute_batch(
            "CREATE TABLE t (a PRIMARY KEY, b); CREATE INDEX i ON t (b); CREATE VIRTUAL TABLE f USING fts5(a);
             WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n LIMIT 300)
             INSERT INTO t SELECT a, printf('%080X', a * 7919) FROM n;
             INSERT INTO f SELECT b FROM t; CREATE VIEW v AS SELECT * FROM t JOIN f ON t.b = f.a;",
        )
        .unwrap();
    drop(database);
    let whole = std::fs::read(whole).unwrap();
    let mut state = 7;
    for round in 0..24 {
        let mut bytes = whole.clone();
        for _ in 0..=next(&mut state) % 40 {
            // The header is broken in some rounds only: else nothing else is looked at.
            let from = if round % 3 == 0 { 16 } else { 100 };
            let at = from + next(&mut state) % (bytes.len() - from);
            bytes[at] = next(&mut state) as u8;
        }
        if round % 5 == 0 {
            bytes.truncate(next(&mut state) % bytes.len());
        }
        plant(&server, "broken.db", |path| {
            std::fs::write(path, &bytes).unwrap();
        });
        for query in [
            "SELECT * FROM v",
            "SELECT a FROM f WHERE f MATCH 'A*'",
            "DELETE FROM t WHERE b > 'A'",
        ] {
            let answer = ask(&eve, "storage", "broken.db", query);
            let codes = [
                "",
                "EXEC_ERROR",
                "INVALID_FORMAT",
                "TIMEOUT",
                "FILE_TOO_LARGE",
                "BUSY",
            ];
            assert!(
                codes.contains(&answer.code()),
                "{round} {query}: {}",
                answer.text
            );
        }
    }
    select(&eve, "storage", "people.db", "SELECT * FROM people");
}

#[test]
fn links_and_odd_names_are_no_way_out() {
    let server = scene();
    let eve: Client<'_> = server.as_user("eve");
    let zone = place(&server, "eve", "storage");
    let secret = place(&server, NEIGHBOUR, "storage").join("secret.db");
    std::os::unix::fs::symlink(&secret, zone.join("link.db")).unwrap();
    std::os::unix::fs::symlink(secret.parent().unwrap(), zone.join("house")).unwrap();
    for path in ["link.db", "house/secret.db"] {
        ask(&eve, "storage", path, "SELECT * FROM secret").refused(403, "PATH_ESCAPE");
        let import = json!({"import_csv": path, "table": "t"});
        let answer = eve.call("shed_sqlite", &at("storage", "a.db", &import));
        answer.refused(403, "PATH_ESCAPE");
    }
    // A journal that is a link is not written through.
    let victim = server.data().join("victim");
    std::fs::write(&victim, "kept").unwrap();
    std::os::unix::fs::symlink(&victim, zone.join("people.db-journal")).unwrap();
    ask(
        &eve,
        "storage",
        "people.db",
        "INSERT INTO people VALUES (1, 2)",
    );
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
    // A pipe is not waited for.
    crate::ops::paths::fifo(&zone.join("pipe"));
    ask(&eve, "storage", "pipe", "SELECT 1").refused(400, "NOT_A_FILE");
    let import = json!({"import_csv": "pipe", "table": "t"});
    let answer = eve.call("shed_sqlite", &at("storage", "a.db", &import));
    answer.refused(400, "NOT_A_FILE");
    // Names that are addresses to SQLite are names.
    for path in [":memory:", "file:x.db", "-x.db", "x%00.db"] {
        sql(&eve, "storage", path, "CREATE TABLE t (a)");
        done(
            &eve,
            "shed_delete",
            &json!({"zone": "storage", "path": path}),
        );
    }
    file(&eve, "storage", "after", "x");
}
