//! Files that a command replaces in the storage: they wait in the bin as they were.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::ops::stage::{collect, content, done, file, installed, place, ran, small};
use fileshed_test_support::{Client, TestApp};

/// The contents of the files in a user's bin.
fn kept(app: &TestApp, user: &str) -> BTreeSet<String> {
    let bin = app.data().join("users").join(user).join("bin");
    let files = std::fs::read_dir(bin).into_iter().flatten();
    let text = |file: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(file.expect("an entry").path()).expect("a text")
    };
    files.map(text).collect()
}

fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> BTreeSet<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// Makes the files that the lines work with.
fn make_files(client: &Client<'_>) {
    for (path, text) in [
        ("new", "new\n"),
        ("old", "old\n"),
        ("other", "other\n"),
        ("d/new", "in d\n"),
    ] {
        file(client, "storage", path, text);
    }
}

/// Runs a line that succeeds; returns the message of the answer.
#[track_caller]
fn run(client: &Client<'_>, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let arguments = json!({"zone": "storage", "cmd": words[0], "args": words[1..]});
    let answer = client.call("shed_exec", &arguments);
    assert_eq!(answer.data()["returncode"], 0, "{line}: {}", answer.text);
    let message = answer.body["message"].as_str();
    message.expect("a message").to_owned()
}

#[test]
fn what_a_command_writes_over_is_in_the_bin() {
    let app = small().app();
    for (at, (line, replaced)) in [
        ("cp new old", &["old\n"][..]),
        ("cp new other d", &["in d\n"]),
        ("cp -t d new", &["in d\n"]),
        ("cp -rt d new", &["in d\n"]),
        ("cp --targ=d new", &["in d\n"]),
        ("cp new old -S .bak", &["old\n"]),
        ("mv new old", &["old\n"]),
        ("mv -f new d", &["in d\n"]),
        ("install -m 644 new old", &["old\n"]),
        ("sed -i s/o/0/ old other", &["old\n", "other\n"]),
        ("truncate -s 1 old", &["old\n"]),
        ("sort -o old other", &["old\n"]),
        ("gzip old", &["old\n"]),
        // Lines that replace no file: the target is missing, or it keeps its content.
        ("cp new fresh", &[]),
        ("mv new fresh", &[]),
        ("touch old fresh", &[]),
        ("sed -n p old", &[]),
        ("cp missing old", &[]),
        ("mv -n new old", &[]),
        ("mkdir -p d/e/f", &[]),
    ]
    .into_iter()
    .enumerate()
    {
        let user = format!("user-{at}");
        let client = app.as_user(&user);
        make_files(&client);
        let words: Vec<&str> = line.split(' ').collect();
        let arguments = json!({"zone": "storage", "cmd": words[0], "args": words[1..]});
        let answer = client.call("shed_exec", &arguments);
        assert_eq!(answer.status, 200, "{line}: {}", answer.text);
        let message = answer.body["message"].as_str().expect("a message");
        assert!(!message.contains("undone"), "{line}: {message}");
        let expected = texts(replaced.iter().copied());
        assert_eq!(kept(&app, &user), expected, "{line}");
    }
}

/// Lines of other programs: the program, the lines before, the line itself, and the file that it replaces.
const PROGRAMS: &[(&str, &[&str], &str, &str)] = &[
    ("tee", &[], "tee old", "old"),
    ("zip", &["zip a.zip new"], "zip a.zip other", "a.zip"),
    (
        "tar",
        &["tar -cf a.tar new"],
        "tar -cf a.tar other",
        "a.tar",
    ),
    (
        "tar",
        &["tar -cf a.tar new"],
        "tar -rf a.tar other",
        "a.tar",
    ),
    ("7z", &["7z a a.7z new"], "7z a a.7z other", "a.7z"),
    (
        "pandoc",
        &["cp old a.html"],
        "pandoc -o a.html new",
        "a.html",
    ),
    (
        "convert",
        &[
            "convert -size 1x1 xc:red a.png",
            "convert -size 2x2 xc:blue b.png",
        ],
        "convert a.png b.png",
        "b.png",
    ),
    (
        "cp",
        &["cp new a.md", "cp old d/a.md"],
        "cp *.md d",
        "d/a.md",
    ),
    (
        "mv",
        &["cp new a.md", "cp old d/a.md"],
        "mv *.md d",
        "d/a.md",
    ),
];

/// Runs one of them as a user of its own; returns what is in the bin, the replaced file and the message.
fn replaced_by(
    client: &Client<'_>,
    user: &str,
    (before, line, replaced): (&[&str], &str, &str),
) -> (Vec<Vec<u8>>, Vec<u8>, String) {
    make_files(client);
    for line in before {
        run(client, line);
    }
    let app = client.server();
    let was = std::fs::read(place(app, user, "storage").join(replaced)).expect("a file");
    let message = run(client, line);
    let bin = app.data().join("users").join(user).join("bin");
    let kept = std::fs::read_dir(bin).into_iter().flatten().flatten();
    let kept = kept.map(|file| std::fs::read(file.path()).expect("a file"));
    (kept.collect(), was, message)
}

#[test]
fn what_any_program_writes_over_is_in_the_bin() {
    let app = small().app();
    for (at, (program, before, line, replaced)) in PROGRAMS.iter().enumerate() {
        let user = format!("user-{at}");
        let client = app.as_user(&user);
        if installed(&client, program) {
            let (kept, was, message) = replaced_by(&client, &user, (before, line, replaced));
            assert!(kept == [was], "{line}: {} files", kept.len());
            assert!(!message.contains("undone"), "{line}: {message}");
        }
    }
}

#[test]
fn what_no_argument_names_is_said() {
    let app = small().app();
    for (at, (before, line, replaced)) in [
        (
            &["gzip -k new", "cp other new"][..],
            "gzip -kf new",
            "new.gz",
        ),
        (&[], "cp -r d/. .", "new"),
        (&["mkdir e", "cp -r d e"], "cp -r e/d .", "d/new"),
    ]
    .into_iter()
    .enumerate()
    {
        let user = format!("user-{at}");
        let client = app.as_user(&user);
        let (kept, was, message) = replaced_by(&client, &user, (before, line, replaced));
        assert!(!kept.contains(&was), "{line}");
        let said = format!("content of `{replaced}` could not be kept");
        assert!(message.contains(&said), "{line}: {message}");
    }
}

#[test]
fn what_is_too_large_to_be_kept_is_said() {
    let app = small().app();
    let ada = app.as_user("ada");
    file(&ada, "storage", "new", "new");
    // Together they fit once.
    for (name, size) in [("large", "1000000"), ("more", "600000")] {
        ran(&ada, "storage", "truncate", &["-s", size, name]);
    }
    let arguments = json!({"zone": "storage", "cmd": "cp", "args": ["new", "large"]});
    let answer = ada.call("shed_exec", &arguments);
    let message = answer.body["message"]
        .as_str()
        .expect("a message")
        .to_owned();
    assert!(
        message.contains("content of `large` could not be kept"),
        "{message}"
    );
    assert!(kept_sizes(&app).is_empty());
    assert_eq!(content(&ada, "storage", "large"), "new");
}

/// The sizes of what is in the bin of ada.
fn kept_sizes(app: &TestApp) -> Vec<u64> {
    let bin = app.data().join("users/ada/bin");
    let files = std::fs::read_dir(bin).into_iter().flatten().flatten();
    files
        .map(|file| file.metadata().expect("there").len())
        .collect()
}

#[test]
fn a_database_is_kept_once_an_answer() {
    let app = small().app();
    let ada = app.as_user("ada");
    let sql = |client: &Client<'_>, sql: &str| {
        let arguments = json!({"zone": "storage", "path": "a.db", "query": sql, "params": []});
        done(client, "shed_sqlite", &arguments);
    };
    let answer = |id| ada.clone().header("x-openwebui-message-id", id);
    sql(&answer("one"), "CREATE TABLE t (a)");
    sql(&answer("one"), "INSERT INTO t VALUES (1)");
    // As it was made.
    assert_eq!(kept_sizes(&app).len(), 1);
    for _ in 0..3 {
        sql(&answer("two"), "INSERT INTO t VALUES (2)");
        sql(&answer("two"), "SELECT * FROM t");
    }
    assert_eq!(kept_sizes(&app).len(), 2);
    sql(&answer("three"), "DELETE FROM t");
    assert_eq!(kept_sizes(&app).len(), 3);
    if installed(&ada, "sqlite3") {
        for insert in ["INSERT INTO t VALUES (3)", "INSERT INTO t VALUES (4)"] {
            ran(&answer("four"), "storage", "sqlite3", &["a.db", insert]);
        }
        assert_eq!(kept_sizes(&app).len(), 4);
    }
}

#[test]
fn a_statement_says_that_a_database_without_room_in_the_bin_is_not_kept() {
    let app = small().app();
    let ada = app.as_user("ada");
    let sql = |sql: &str| {
        let arguments = json!({"zone": "storage", "path": "a.db", "query": sql, "params": []});
        let answer = ada.clone().header("x-openwebui-message-id", sql);
        let answer = answer.call("shed_sqlite", &arguments);
        answer.data();
        answer.text
    };
    sql("CREATE TABLE t (a)");
    sql("CREATE TABLE s (a)");
    file(&ada, "storage", "large", &"x".repeat(900 << 10));
    let inserted = sql("INSERT INTO t VALUES (zeroblob(600000))");
    assert!(!inserted.contains("not kept"), "{inserted}");
    let updated = sql("INSERT INTO s VALUES (1)");
    assert!(updated.contains("`a.db` was not kept"), "{updated}");
}

#[test]
fn what_a_command_did_is_taken_back() {
    let app = small().app();
    for (at, line) in [
        "cp new old",
        "cp new other d",
        "cp new fresh",
        "mv new old",
        "mv new d",
        "mv new other d",
        "mv new fresh",
        "mv d moved",
        "install -m 600 new old",
        "sed -i s/o/0/ old other",
        "truncate -s 1 old",
        "sort -o old other",
        "touch fresh",
        "rm -r d old",
        "rm new missing",
    ]
    .into_iter()
    .enumerate()
    {
        let user = format!("user-{at}");
        let client = app.as_user(&user);
        make_files(&client);
        let state = || {
            let mut found = BTreeMap::new();
            collect(&app.data().join("users").join(&user), &mut found);
            found
        };
        let before = state();
        let words: Vec<&str> = line.split(' ').collect();
        let arguments = json!({"zone": "storage", "cmd": words[0], "args": words[1..]});
        let answer = client.clone().header("x-openwebui-message-id", "one");
        done(&answer, "shed_exec", &arguments);
        assert_ne!(state(), before, "{line}");
        let undone = done(&client, "shed_undo", &json!({"answer": "one"}));
        assert_eq!(state(), before, "{line}: {undone}");
    }
}

#[test]
fn what_an_answer_did_to_a_database_is_taken_back() {
    let app = small().app();
    let ada = app.as_user("ada");
    let sql = |message: &str, sql: &str| {
        let arguments = json!({"zone": "storage", "path": "a.db", "query": sql});
        let client = ada.clone().header("x-openwebui-message-id", message);
        done(&client, "shed_sqlite", &arguments)
    };
    sql("one", "CREATE TABLE t (a)");
    sql("one", "INSERT INTO t VALUES (1)");
    sql("two", "INSERT INTO t VALUES (2)");
    sql("two", "UPDATE t SET a = 3");
    done(&ada, "shed_undo", &json!({"answer": "two"}));
    assert_eq!(sql("three", "SELECT a FROM t")["rows"], json!([{"a": 1}]));
    done(&ada, "shed_undo", &json!({"answer": "one"}));
    assert!(!place(&app, "ada", "storage").join("a.db").exists());
}
