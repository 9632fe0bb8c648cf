//! A path that begins with the name of another zone goes nowhere, and the right call is shown.

use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::stage::{bring, content, done, file, output, small};
use fileshed_test_support::{Answer, Client, TestApp};

/// Asserts a refusal whose hint holds `expected`.
#[track_caller]
fn refused(client: &Client<'_>, operation: &str, arguments: &Value, expected: &str) -> Answer {
    let answer = client.call(operation, arguments);
    answer.refused(400, "PATH_STARTS_WITH_ZONE");
    let hint = answer.body["error"]["hint"].as_str().unwrap();
    assert!(hint.contains(expected), "{expected}: {hint}");
    answer
}

#[test]
fn a_rename_shows_the_call_that_crosses() {
    let server = small().app();
    let alice = server.as_user("alice");
    for (zone, other, new_path, call) in [
        (
            "storage",
            "documents",
            "documents/d/sales.csv",
            r#"shed_copy(from="storage/sales.csv", to="documents/d/sales.csv", move=true)"#,
        ),
        (
            "storage",
            "documents",
            "Documents",
            r#"shed_copy(from="storage/sales.csv", to="documents/sales.csv", move=true)"#,
        ),
        (
            "documents",
            "storage",
            "/storage/moved.csv",
            r#"shed_copy(from="documents/sales.csv", to="storage/moved.csv", move=true)"#,
        ),
        (
            "documents",
            "group",
            "group/moved.csv",
            "shed_copy works between zones",
        ),
    ] {
        file(&alice, zone, "sales.csv", "a,b\n");
        let arguments = json!({"zone": zone, "old_path": "sales.csv", "new_path": new_path});
        let answer = refused(&alice, "shed_rename", &arguments, call);
        let message = answer.body["error"]["message"].as_str().unwrap();
        let named = format!("`new_path` begins with the name of the zone {other}");
        assert!(message.contains(&named), "{message}");
        assert_eq!(output(&alice, zone, "ls", &[]), "sales.csv\n");
        calls::follow_hint(&alice, &answer);
        for zone in ["storage", "documents"] {
            for path in ["sales.csv", "moved.csv", "d"] {
                alice.call("shed_delete", &json!({"zone": zone, "path": path}));
            }
        }
    }
}

#[test]
fn no_operation_writes_below_another_zones_name() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "x");
    file(&alice, "storage", "t.csv", "a,b\n1,2\n");
    done(
        &alice,
        "shed_zip",
        &json!({"zone": "storage", "src": "a.md", "dest": "a.zip"}),
    );
    bring(&alice, "uploads", "up.md", "x");
    let before = output(&alice, "storage", "find", &["."]);
    let made = json!({"path": "documents/x", "content": "00"});
    for (operation, arguments, expected) in [
        (
            "shed_create_file",
            made.clone(),
            r#"zone="documents", path="x""#,
        ),
        (
            "shed_patch_text",
            made.clone(),
            r#"zone="documents", path="x""#,
        ),
        ("shed_patch_bytes", made, r#"zone="documents", path="x""#),
        (
            "shed_zip",
            json!({"src": "a.md", "dest": "uploads/a.zip"}),
            r#"zone="uploads", dest="a.zip""#,
        ),
        (
            "shed_unzip",
            json!({"src": "a.zip", "dest": "documents"}),
            r#"zone="documents", dest=".""#,
        ),
        (
            "shed_sqlite",
            json!({"path": "documents/x.db", "query": "CREATE TABLE t (a)"}),
            r#"zone="documents", path="x.db""#,
        ),
        (
            "shed_sqlite",
            json!({"path": "x.db", "import_csv": "documents/t.csv", "table": "t"}),
            r#"zone="documents", import_csv="t.csv""#,
        ),
        (
            "shed_sqlite",
            json!({"path": "x.db", "query": "SELECT 1", "output_csv": "documents/t.csv"}),
            r#"zone="documents", output_csv="t.csv""#,
        ),
        (
            "shed_link_create",
            json!({"path": "group/in", "upload": true}),
            r#"zone="group", group=…, path="in""#,
        ),
        (
            "shed_import",
            json!({"import_all": true, "dest_subdir": "storage"}),
            r#"zone="storage", dest_subdir=".""#,
        ),
        (
            "shed_move_uploads_to_storage",
            json!({"src": "up.md", "dest": "documents/up.md"}),
            r#"shed_copy(from="uploads/up.md", to="documents/up.md", move=true)"#,
        ),
        (
            "shed_move_uploads_to_documents",
            json!({"src": "storage/a.md", "dest": "b.md"}),
            r#"shed_copy(from="storage/a.md", to="documents/b.md")"#,
        ),
        (
            "shed_copy_to_group",
            json!({"src_zone": "storage", "src_path": "uploads/up.md", "group": "team",
                "dest_path": "up.md"}),
            r#"shed_copy(from="uploads/up.md", to="group/team/up.md")"#,
        ),
    ] {
        let mut arguments = arguments.clone();
        if operation != "shed_import" {
            arguments["zone"] = "storage".into();
        }
        refused(&alice, operation, &arguments, expected);
    }
    assert_eq!(output(&alice, "storage", "find", &["."]), before);
}

#[test]
fn no_command_writes_below_another_zones_name() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "x");
    let before = output(&alice, "storage", "find", &["."]);
    for (arguments, expected) in [
        (
            json!({"cmd": "cp", "args": ["a.md", "documents"]}),
            r#"zone="documents", the argument `.`, or add allow_zone_in_path=true"#,
        ),
        (
            json!({"cmd": "mkdir", "args": ["-p", "Uploads/d"]}),
            r#"zone="uploads", the argument `d`"#,
        ),
        (
            json!({"cmd": "sort", "args": ["--output=documents/x", "a.md"]}),
            "the argument `x`",
        ),
        (
            json!({"cmd": "rename", "args": ["s/a.md/documents/", "a.md"]}),
            "allow_zone_in_path=true",
        ),
        (
            json!({"cmd": "echo", "args": ["x"], "stdout_file": "documents/x"}),
            r#"zone="documents", stdout_file="x""#,
        ),
        (
            json!({"cmd": "ls", "args": ["missing"], "stderr_file": "documents/x"}),
            r#"zone="documents", stderr_file="x""#,
        ),
    ] {
        let mut arguments = arguments.clone();
        arguments["zone"] = "storage".into();
        refused(&alice, "shed_exec", &arguments, expected);
    }
    assert_eq!(output(&alice, "storage", "find", &["."]), before);
}

#[test]
fn a_reader_is_shown_the_right_zone() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "documents", "a.md", "x");
    let missing = json!({"zone": "storage", "path": "documents/a.md"});
    for operation in [
        "shed_tree",
        "shed_file_type",
        "shed_hexdump",
        "shed_link_create",
        "shed_delete",
        "shed_lockedit_open",
        "shed_convert_eol",
    ] {
        let mut arguments = missing.clone();
        arguments["to"] = "unix".into();
        let expected = r#"zone="documents", path="a.md""#;
        refused(&alice, operation, &arguments, expected);
    }
    let cat = json!({"zone": "storage", "cmd": "cat", "args": ["documents/a.md"]});
    let expected = r#"zone="documents", the argument `a.md`"#;
    refused(&alice, "shed_exec", &cat, expected);
}

#[test]
fn a_directory_that_has_the_name_of_a_zone_is_a_directory() {
    let server = small().app();
    let alice = server.as_user("alice");
    for (zone, name) in [("storage", "documents"), ("documents", "documents")] {
        let mut make = json!({"zone": zone, "cmd": "mkdir", "args": [name]});
        let answer = alice.call("shed_exec", &make);
        answer.refused(400, "PATH_STARTS_WITH_ZONE");
        make["allow_zone_in_path"] = true.into();
        assert_eq!(done(&alice, "shed_exec", &make)["returncode"], 0);
        file(&alice, zone, "documents/a.md", "x\n");
        let renamed = json!({"zone": zone, "old_path": "documents/a.md",
            "new_path": "documents/b.md"});
        done(&alice, "shed_rename", &renamed);
        let into = json!({"zone": zone, "cmd": "cat", "args": ["documents/b.md"],
            "stdout_file": "documents/c.md", "allow_zone_in_path": true});
        done(&alice, "shed_exec", &into);
    }
    // Reads need no permission, because the path is not taken for the zone of that name.
    assert_eq!(content(&alice, "storage", "documents/c.md"), "x\n");
    assert_eq!(
        output(&alice, "storage", "ls", &["documents"]),
        "b.md\nc.md\n"
    );
    // A command may make such a file of its own when it is allowed to.
    let echo = json!({"zone": "storage", "cmd": "echo", "args": ["x"],
        "stdout_file": "group/x", "allow_zone_in_path": true});
    done(&alice, "shed_exec", &echo);
    let rename = json!({"zone": "storage", "cmd": "rename", "args": ["s/x/uploads/", "group/x"],
        "allow_zone_in_path": true});
    assert_eq!(done(&alice, "shed_exec", &rename)["returncode"], 0);
}

#[test]
fn what_was_not_written_by_the_caller_may_have_the_name() {
    let server = small().app();
    let alice = server.as_user("alice");
    let make = json!({"zone": "storage", "path": "documents/a.md", "content": "x",
        "allow_zone_in_path": true});
    done(&alice, "shed_create_file", &make);
    let pack = json!({"zone": "storage", "src": "documents"});
    done(&alice, "shed_zip", &pack);
    let directory = json!({"zone": "storage", "path": "documents"});
    done(&alice, "shed_delete", &directory);
    let unpack = json!({"zone": "storage", "src": "documents.zip"});
    done(&alice, "shed_unzip", &unpack);
    assert_eq!(content(&alice, "storage", "documents/a.md"), "x");
}

#[test]
fn names_that_only_begin_alike_are_names() {
    let server = TestApp::start();
    let client = server.client();
    for path in ["documents.md", "storage2/a", "groups/a", "a/documents/b"] {
        file(&client, "storage", path, "x");
        assert_eq!(content(&client, "storage", path), "x");
    }
}
