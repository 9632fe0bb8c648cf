//! `rename`: substitutions in names, done by the server alone.

use serde_json::{Value, json};

use crate::ops::stage::{content, done, file, installed, output, ran, small};
use fileshed_test_support::TestApp;

#[test]
fn names_are_substituted() {
    let server = TestApp::start();
    let client = server.client();
    for name in ["IMG 1.JPEG", "IMG 2.JPEG", "notes.txt", "d/IMG 3.JPEG"] {
        file(&client, "storage", name, name);
    }
    let rename = |args: &[&str]| ran(&client, "storage", "rename", args);
    let substitution = "s/img (\\d).jpeg/photo-$1.jpeg/i";
    let planned = rename(&["-n", substitution, "*.JPEG"]);
    assert_eq!(
        planned["stdout"],
        "rename(IMG 1.JPEG, photo-1.jpeg)\nrename(IMG 2.JPEG, photo-2.jpeg)\n"
    );
    let done = rename(&["-v", substitution, "*"]);
    assert_eq!(
        (&done["stdout"], &done["stderr"], &done["returncode"]),
        (
            &json!("IMG 1.JPEG renamed as photo-1.jpeg\nIMG 2.JPEG renamed as photo-2.jpeg\n"),
            &json!(""),
            &json!(0)
        )
    );
    assert_eq!(content(&client, "storage", "photo-2.jpeg"), "IMG 2.JPEG");
    // A substitution applies to the whole path.
    file(&client, "storage", "a/a.txt", "a");
    rename(&["s,/a,/b,", "a/a.txt"]);
    assert_eq!(content(&client, "storage", "a/b.txt"), "a");
    rename(&["s/a\\//d\\//", "a/b.txt"]);
    assert_eq!(content(&client, "storage", "d/b.txt"), "a");
    rename(&["s/d/e/", "d/"]);
    assert_eq!(content(&client, "storage", "e/b.txt"), "a");
}

#[test]
fn what_is_there_already_stays_unless_it_is_forced() {
    let server = TestApp::start();
    let client = server.client();
    for name in ["a", "b", "x1", "d/x"] {
        file(&client, "storage", name, name);
    }
    let rename = |args: &[&str]| ran(&client, "storage", "rename", args);
    let refused = rename(&["s/a/b/", "a", "x1", "gone-a"]);
    assert_eq!(refused["returncode"], 1);
    assert_eq!(
        refused["stderr"],
        "rename: a not renamed: b already exists\n\
         rename: gone-a not renamed: file not found: `gone-a`\n"
    );
    assert_eq!(content(&client, "storage", "b"), "b");
    let missing = rename(&["s/^/none\\//", "a"]);
    assert_eq!(missing["returncode"], 1, "{missing}");
    let full = rename(&["-f", "s/b/d/", "b"]);
    assert_eq!(full["returncode"], 1, "{full}");
    assert_eq!(rename(&["-f", "s/a/b/", "a"])["returncode"], 0);
    assert_eq!(content(&client, "storage", "b"), "a");
    // Two files that would get one name: the first has it.
    file(&client, "storage", "x2", "x2");
    assert_eq!(rename(&["s/\\d//", "x1", "x2"])["returncode"], 1);
    assert_eq!(content(&client, "storage", "x"), "x1");
    assert_eq!(content(&client, "storage", "x2"), "x2");
}

#[test]
fn a_name_that_may_not_be_stops_all() {
    let server = small().app();
    let client = server.as_user("alice");
    for zone in ["storage", "documents"] {
        for name in ["xb", "b"] {
            file(&client, zone, name, name);
        }
        for (expression, code) in [
            ("s/b/..\\/..\\/b/", "PATH_ESCAPE"),
            ("s/b/\\/etc\\/b/", "PATH_ESCAPE"),
            ("s/b/.lfsig/", "PROTECTED_PATH"),
            ("s/b/.FS_pepper/", "PROTECTED_PATH"),
            ("s/b/nul/", "INVALID_PATH"),
            ("s/b/x?/", "INVALID_PATH"),
            ("s/b//", "MISSING_PARAMETER"),
            ("s/b/./", "INVALID_PATH"),
        ] {
            let arguments = json!({"zone": zone, "cmd": "rename",
                "args": [expression, "xb", "b"]});
            let answer = client.call("shed_exec", &arguments);
            assert_eq!(answer.code(), code, "{expression}: {}", answer.text);
            assert_eq!(content(&client, zone, "xb"), "xb");
        }
    }
    let arguments = json!({"zone": "documents", "cmd": "rename", "args": ["s/b/.git/", "b"]});
    let answer = client.call("shed_exec", &arguments);
    assert_eq!(answer.code(), "PROTECTED_PATH", "{}", answer.text);
}

#[test]
fn a_locked_edit_is_in_the_way_of_both_names() {
    let server = small().app();
    let client = server.as_user("alice");
    for name in ["a", "d/b"] {
        file(&client, "storage", name, name);
    }
    let held = json!({"zone": "storage", "path": "d/b"});
    done(&client, "shed_lockedit_open", &held);
    for args in [
        &["s/b/c/", "d/b"][..],
        &["-f", "s/a/d\\/b/", "a"],
        &["s/d/e/", "d"],
    ] {
        let arguments = json!({"zone": "storage", "cmd": "rename", "args": args});
        let answer = client.call("shed_exec", &arguments);
        assert_eq!(answer.code(), "FILE_LOCKED", "{args:?} {}", answer.text);
    }
    let arguments = json!({"zone": "storage", "path": "d/b", "cmd": "rename",
        "args": ["s/b/c/", "."]});
    let answer = client.call("shed_lockedit_exec", &arguments);
    assert_eq!(answer.code(), "COMMAND_FORBIDDEN", "{}", answer.text);
}

#[test]
fn a_renaming_in_documents_is_one_commit() {
    let server = small().app();
    let client = server.as_user("alice");
    file(&client, "documents", "a.md", "a");
    file(&client, "documents", "b.md", "b");
    ran(&client, "documents", "rename", &["s/md$/txt/", "*.md"]);
    if !installed(&client, "git") {
        return;
    }
    let log = output(&client, "documents", "git", &["log", "--format=%s"]);
    assert_eq!(log.lines().next(), Some("rename s/md$/txt/ *.md"));
    assert_eq!(log.lines().count(), 3);
    let names = output(&client, "documents", "git", &["ls-files"]);
    assert_eq!(names, "a.txt\nb.txt\n");
}

/// Perl reads all of these as code that runs.
#[test]
fn no_perl_runs() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a", "a");
    for expression in [
        "s/a/$ENV{eval(q(open F,q(>),q(ran);q(b)))}/",
        "s/a/$ARGV[open(F,q(>),q(ran))]/",
        "s/a/@ENV{open(F,q(>),q(ran))}/",
        "s/a/$::h{open(F,q(>),q(ran))}/",
        "s/a/$h{open(F,q(>),q(ran))}/",
        "s/a/@{[open(F,q(>),q(ran))]}/",
        "s/$ENV{open(F,q(>),q(ran))}|a/b/",
        "s/(?{open(F,q(>),q(ran))})a/b/",
        "s/a/open(F,q(>),q(ran))/e",
        "s/a/b/;open(F,q(>),q(ran))",
    ] {
        let arguments = json!({"zone": "storage", "cmd": "rename", "args": [expression, "a"]});
        let answer = client.call("shed_exec", &arguments);
        assert_eq!(answer.code(), "ARGUMENT_FORBIDDEN", "{expression}");
    }
    let names = output(&client, "storage", "ls", &["-A"]);
    assert_eq!(names, "a\n");
}

#[test]
fn built_in_commands_write_where_others_do() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a", "a");
    for (cmd, args, expected) in [
        ("which", json!(["cat"]), "/usr/bin/cat\n"),
        ("rename", json!(["-n", "s/a/b/", "a"]), "rename(a, b)\n"),
    ] {
        let arguments = json!({"zone": "storage", "cmd": cmd, "args": args, "stdout_file": "out"});
        let data = done(&client, "shed_exec", &arguments);
        assert_eq!(data["stdout"], "", "{data}");
        assert_eq!(data["stdout_file_size"], expected.len(), "{data}");
        assert_eq!(content(&client, "storage", "out"), expected);
        let arguments = json!({"zone": "storage", "cmd": cmd, "args": args, "max_output": 4});
        let data = done(&client, "shed_exec", &arguments);
        assert_eq!(data["stdout"], expected[..4], "{data}");
        assert_eq!(data["truncated"], Value::Bool(true), "{data}");
    }
}
