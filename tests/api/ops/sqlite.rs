//! `shed_sqlite`

mod attacks;
mod csv;
mod planted;
mod real;
mod sheets;
mod values;
mod writes;

use serde_json::{Value, json};

pub(crate) use sheets::encrypted;

use crate::ops::fault;
use crate::ops::stage::{Provoked, Stage, done, file};
use fileshed_test_support::{Answer, Client};

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", |stage| {
        let made = json!({"path": "theirs", "query": "CREATE TABLE t (a)"});
        let change = json!({"path": "theirs", "query": "INSERT INTO t VALUES (1)"});
        fault::kept_by_a_colleague(stage, "shed_sqlite", &made, &change);
        let export = json!({"zone": "group", "group": "team", "path": "theirs",
            "query": "SELECT * FROM t", "output_csv": "theirs.csv"});
        stage.theirs("theirs.csv");
        stage.refuses(&export, &["`theirs.csv`", "owner"]);
    }),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", |stage| {
        fault::uploads(stage);
        for call in [
            json!({"import_csv": "a.csv", "table": "t"}),
            json!({"query": "SELECT 1", "output_csv": "a.csv"}),
        ] {
            stage.refuses(&at("uploads", "a.db", &call), &["uploads"]);
        }
        for query in ["DROP TABLE t", "INSERT INTO t VALUES (1)", "DELETE FROM t"] {
            let call = json!({"query": query});
            stage.refuses(&at("uploads", "a.db", &call), &["uploads"]);
        }
    }),
    ("FILE_NOT_FOUND", |stage| {
        let read = json!({"query": "SELECT 1"});
        stage.refuses(&at("storage", "missing.db", &read), &["`missing.db`"]);
        for query in [
            "SELECT * FROM t",
            "DROP TABLE t",
            "DROP TABLE IF EXISTS t",
            "INSERT INTO t VALUES (1)",
            "INSERT INTO t (a) SELECT 1",
            "UPDATE t SET a = 1",
            "DELETE FROM t",
            "ALTER TABLE t RENAME TO u",
            "CREATE INDEX i ON t (a)",
        ] {
            let call = at("storage", "missing.db", &json!({"query": query}));
            stage.refuses(&call, &["`missing.db`"]);
        }
        let import = json!({"import_csv": "missing.csv", "table": "t"});
        stage.refuses(&at("storage", "new.db", &import), &["`missing.csv`"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "folder/x", "x");
        let folder = ["`folder`", "a directory"];
        stage.refuses_example("path", "folder", &folder);
        for parameter in ["import_csv", "output_csv"] {
            let mut call = at("storage", "a.db", &json!({"table": "t"}));
            call[parameter] = "folder".into();
            if parameter == "output_csv" {
                call["query"] = "SELECT 1".into();
            }
            stage.refuses(&call, &folder);
        }
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape_by_link(stage);
        for (parameter, with) in [("import_csv", "table"), ("output_csv", "query")] {
            for path in ["../x", "way-out/passwd"] {
                fault::way_out(stage);
                let mut call = at("storage", "a.db", &json!({with: "SELECT 1"}));
                call[parameter] = path.into();
                stage.refuses(&call, &[path.split('/').next().unwrap()]);
            }
        }
    }),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_odd(stage);
        fault::through_a_file(stage);
    }),
    ("INVALID_FORMAT", |stage| {
        stage.file("storage", "a.csv", "name,age\nAda,36\n");
        for query in ["SELECT 1 FROM sqlite_schema", "CREATE TABLE t (a)"] {
            let call = at("storage", "a.csv", &json!({"query": query}));
            stage.refuses(&call, &["`a.csv`"]);
        }
    }),
    ("FILE_LOCKED", |stage| {
        let create = json!({"query": "CREATE TABLE t (a)"});
        let held = json!({"zone": "storage", "path": "held.db"});
        stage.done("shed_sqlite", &at("storage", "held.db", &create));
        stage.done("shed_lockedit_open", &held);
        let change = at(
            "storage",
            "held.db",
            &json!({"query": "INSERT INTO t VALUES (1)"}),
        );
        let other = stage.client().chat("other");
        stage.refuses_to(&other, &change, &["`held.db`", "another conversation"]);
        stage.done("shed_lockedit_open", &held);
        stage.refuses(&change, &["`held.db`", "this conversation"]);
        // A read is not refused.
        let read = json!({"query": "SELECT * FROM t"});
        stage.done("shed_sqlite", &at("storage", "held.db", &read));
    }),
    ("FILE_TOO_LARGE", |stage| {
        let create = json!({"query": "CREATE TABLE t (a)"});
        stage.done("shed_sqlite", &at("storage", "a.db", &create));
        for (path, query) in [
            ("a.db", "INSERT INTO t VALUES (zeroblob(1200000))"),
            ("new.db", "CREATE TABLE t AS SELECT zeroblob(1200000)"),
        ] {
            let call = at("storage", path, &json!({"query": query}));
            stage.refuses(&call, &[&format!("`{path}`"), "1048577"]);
        }
        let query = "SELECT hex(zeroblob(600000))";
        let call = json!({"query": query, "output_csv": "out.csv"});
        stage.refuses(&at("storage", "a.db", &call), &["`out.csv`", "1048577"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        let create = json!({"query": "CREATE TABLE t (a)"});
        stage.done("shed_sqlite", &at("storage", "a.db", &create));
        stage.file("documents", "full.txt", &"x".repeat(1 << 20));
        stage.file("storage", "full.txt", &"x".repeat((1 << 20) - 8192 - 4000));
        let insert = json!({"query": "INSERT INTO t VALUES (zeroblob(100000))"});
        stage.refuses(&at("storage", "a.db", &insert), &["2.0 MB"]);
        stage.refuses(&at("storage", "new.db", &create), &["2.0 MB"]);
        let export = json!({"query": "SELECT hex(zeroblob(10000))", "output_csv": "out.csv"});
        stage.refuses(&at("storage", "a.db", &export), &["2.0 MB"]);
    }),
    ("COMMAND_FORBIDDEN", |stage| {
        for (query, named) in [
            ("ATTACH 'other.db' AS other", "ATTACH"),
            ("/* a */ aTtAcH 'other.db' AS other", "ATTACH"),
            ("DETACH main", "DETACH"),
            ("VACUUM INTO 'other.db'", "VACUUM INTO"),
            ("BEGIN", "BEGIN"),
            ("SAVEPOINT a", "SAVEPOINT"),
            ("SELECT load_extension('x')", "load_extension"),
            ("PRAGMA writable_schema = 1", "writable_schema"),
            (
                "PRAGMA temp_store_directory = '/tmp'",
                "temp_store_directory",
            ),
            ("PRAGMA database_list", "database_list"),
            ("SELECT * FROM pragma_database_list", "database_list"),
            ("CREATE VIRTUAL TABLE v USING dbstat", "dbstat"),
        ] {
            stage.refuses_example("query", query, &[named]);
        }
    }),
    ("EXEC_ERROR", |stage| {
        people(&stage.client(), "storage");
        for (query, named) in [
            ("SELEC 1", "\"SELEC\": syntax error"),
            ("SELECT * FROM nobody", "no such table: nobody"),
            ("SELECT colour FROM people", "no such column: colour"),
            ("SELECT 1; SELECT 2", "more than one statement"),
            (" -- nothing", "`query`"),
            ("INSERT INTO people VALUES (1, 2, 3)", "3 values"),
            ("SELECT zeroblob(1000000000)", "too big"),
            ("DELETE FROM sqlite_master", "sqlite_master"),
        ] {
            let call = at("storage", "people.db", &json!({"query": query}));
            stage.refuses(&call, &[named]);
        }
        let hint = |query: &str| {
            let call = at("storage", "people.db", &json!({"query": query}));
            let answer = stage.client().call("shed_sqlite", &call);
            answer.body["error"]["hint"].as_str().unwrap().to_owned()
        };
        assert_eq!(hint("SELECT * FROM nobody"), "the tables are: people");
        assert_eq!(hint("SELECT colour FROM people"), "people has name, age");
        let export = json!({"query": "DELETE FROM people RETURNING *", "output_csv": "out.csv"});
        stage.refuses(&at("storage", "people.db", &export), &["`output_csv`"]);
    }),
    ("TIMEOUT", |stage| {
        // On the stage nobody waits long: a server of its own, whose time is short.
        let server = crate::ops::stage::small()
            .env("FILESHED_EXEC_TIMEOUT_DEFAULT", "1")
            .app();
        let call = at("storage", "a.db", &json!({"query": "CREATE TABLE t (a)"}));
        done(&server.as_user("a"), "shed_sqlite", &call);
        let call = at("storage", "a.db", &json!({"query": attacks::ENDLESS}));
        let answer = server.as_user("a").call("shed_sqlite", &call);
        stage.refused_elsewhere(&answer);
        assert_eq!(answer.body["error"]["details"]["timeout"], 1);
    }),
    ("TABLE_EXISTS", |stage| {
        people(&stage.client(), "storage");
        stage.file("storage", "a.csv", "name,age\nAda,36\n");
        let call = json!({"import_csv": "a.csv", "table": "People"});
        stage.refuses(&at("storage", "people.db", &call), &["`People`"]);
    }),
    ("CSV_EMPTY", |stage| {
        for content in ["", "\n\n", "name,age\n"] {
            imports(stage, content, &json!({}), &[]);
        }
        imports(stage, "1,2\n", &json!({"has_header": true}), &[]);
    }),
    ("CSV_PARSE_ERROR", |stage| {
        imports(stage, "a,b\n1,\"2\n3,4\n", &json!({}), &["line 2"]);
        imports(stage, "a,b\n1,\0\n", &json!({}), &["NUL"]);
        let utf16 = json!({"encoding": "utf-16"});
        imports(stage, "a,b\n1,\u{dc}\u{dc}2\n3", &utf16, &["utf-16le"]);
    }),
    ("CSV_TOO_WIDE", |stage| {
        let wide = vec!["a"; 5001].join(",");
        imports(
            stage,
            &format!("{wide}\n1\n"),
            &json!({}),
            &["5001", "5000"],
        );
    }),
];

/// Asserts the refusal of an import, which leaves the table as it was.
#[track_caller]
fn imports(stage: &Stage<'_>, content: &str, more: &Value, named: &[&str]) {
    people(&stage.client(), "storage");
    stage.file("storage", "a.csv", content);
    let call = json!({"import_csv": "a.csv", "table": "people", "if_exists": "replace"});
    let call = joined(call, more);
    stage.refuses(&at("storage", "people.db", &call), named);
    let rows = select(
        &stage.client(),
        "storage",
        "people.db",
        "SELECT * FROM people",
    );
    assert_eq!(rows.as_array().unwrap().len(), 2);
}

/// Arguments, with these in the place of theirs.
pub(super) fn joined(mut arguments: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

/// A call on a database.
pub(super) fn at(zone: &str, path: &str, call: &Value) -> Value {
    joined(json!({"zone": zone, "path": path}), call)
}

/// The call that makes of a file the table `t` of `data.db`, in the place of what it has.
pub(super) fn replacing(zone: &str, csv: &str, more: &Value) -> Value {
    let call = json!({"import_csv": csv, "table": "t", "if_exists": "replace"});
    joined(at(zone, "data.db", &call), more)
}

/// Any call of a statement.
pub(super) fn ask(client: &Client<'_>, zone: &str, path: &str, query: &str) -> Answer {
    client.call("shed_sqlite", &at(zone, path, &json!({"query": query})))
}

/// A statement that works.
#[track_caller]
pub(super) fn sql(client: &Client<'_>, zone: &str, path: &str, query: &str) -> Value {
    ask(client, zone, path, query).data().clone()
}

/// The rows of a query, all of them.
#[track_caller]
pub(super) fn select(client: &Client<'_>, zone: &str, path: &str, query: &str) -> Value {
    let call = at(zone, path, &json!({"query": query, "limit": 0}));
    done(client, "shed_sqlite", &call)["rows"].clone()
}

/// Two people in `people.db`.
pub(super) fn people(client: &Client<'_>, zone: &str) {
    let made = "CREATE TABLE IF NOT EXISTS people (name TEXT, age INTEGER)";
    sql(client, zone, "people.db", made);
    sql(client, zone, "people.db", "DELETE FROM people");
    let insert = "INSERT INTO people VALUES ('Ada', 36), ('Alan', 41)";
    sql(client, zone, "people.db", insert);
}

/// Imports text as a table of `data.db`.
#[track_caller]
pub(super) fn import(client: &Client<'_>, content: &str, more: &Value) -> Value {
    file(client, "storage", "data.csv", content);
    done(
        client,
        "shed_sqlite",
        &replacing("storage", "data.csv", more),
    )
}
