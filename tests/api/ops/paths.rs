//! Paths mean the same to every operation.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::ops::stage::{bring, content, done, file, output, place, ran, small};
use fileshed_test_support::TestApp;

/// Makes a FIFO: a process that opens it without care waits for ever.
pub(crate) fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn spellings_of_one_path() {
    let server = TestApp::start();
    let client = server.client();
    let longest = "x".repeat(255);
    for (given, meant) in [
        ("/a/b.md", "a/b.md"),
        ("./a//b2.md", "a/b2.md"),
        ("a/../b3.md", "b3.md"),
        ("a/x/../../c/./d.md", "c/d.md"),
        ("e\u{301}te\u{301}.md", "\u{e9}t\u{e9}.md"),
        ("na me/\u{1f600} & (1).txt", "na me/\u{1f600} & (1).txt"),
        (".gitignore", ".gitignore"),
        ("CONSOLE", "CONSOLE"),
        ("-rf", "-rf"),
        ("...hidden", "...hidden"),
        (&longest, &longest),
    ] {
        for zone in ["storage", "documents"] {
            let arguments = json!({"zone": zone, "path": given, "content": given});
            let written = done(&client, "shed_create_file", &arguments);
            assert_eq!(
                (&written["path"], &written["created"]),
                (&json!(meant), &json!(true))
            );
            let again = json!({"zone": zone, "path": meant, "content": given});
            assert_eq!(
                done(&client, "shed_create_file", &again)["created"],
                false,
                "{given}"
            );
            assert_eq!(content(&client, zone, meant), given);
            let open = done(&client, "shed_lockedit_open", &arguments);
            assert_eq!(open["path"], meant);
            done(&client, "shed_lockedit_save", &arguments);
            let delete = done(&client, "shed_delete", &arguments);
            assert_eq!(delete["deleted"], meant);
        }
    }
}

#[test]
fn files_from_elsewhere_keep_their_spelling_and_are_found() {
    let server = TestApp::start();
    let client = server.client();
    done(&client, "shed_tree", &json!({"zone": "storage"}));
    let zone = server.data().join("shared/Storage/data");
    std::fs::write(zone.join("e\u{301}.txt"), "").unwrap();
    for path in ["e\u{301}.txt", "\u{e9}.txt"] {
        let arguments = json!({"zone": "storage", "path": path, "content": "x"});
        let written = done(&client, "shed_patch_text", &arguments);
        assert_eq!(written["created"], false, "{written}");
        assert_eq!(written["path"], "e\u{301}.txt", "{written}");
    }
}

#[test]
fn what_exists_may_have_any_name() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "x", "");
    let zone = place(&server, "alice", "storage");
    std::fs::create_dir(zone.join("what?")).unwrap();
    std::fs::write(zone.join("what?/con"), "old").unwrap();
    let arguments = |path: &str| json!({"zone": "storage", "path": path, "content": "new"});
    done(&alice, "shed_create_file", &arguments("what?/con"));
    done(&alice, "shed_create_file", &arguments("what?/fine"));
    let new = alice.call("shed_create_file", &arguments("what?/nul"));
    new.refused(400, "INVALID_PATH");
    done(&alice, "shed_delete", &arguments("what?"));
}

#[test]
fn a_directory_that_has_the_name_of_its_zone() {
    let server = TestApp::start();
    let client = server.client();
    let make = json!({"zone": "storage", "cmd": "mkdir", "args": ["storage"]});
    client
        .call("shed_exec", &make)
        .refused(400, "PATH_STARTS_WITH_ZONE");
    let mut make = make;
    make["allow_zone_in_path"] = true.into();
    assert_eq!(done(&client, "shed_exec", &make)["returncode"], 0);
    let arguments = json!({"zone": "storage", "path": "storage"});
    assert_eq!(done(&client, "shed_tree", &arguments)["tree"], "storage");
    file(&client, "storage", "storage/a", "x");
    assert_eq!(
        done(
            &client,
            "shed_exec",
            &json!({"zone": "storage", "cmd": "cat",
        "args": ["storage/a"], "allow_zone_in_path": true})
        )["stdout"],
        "x"
    );
}

#[test]
fn any_path_may_begin_with_the_name_of_a_zone_where_that_is_meant() {
    let server = small().app();
    let alice = server.as_user("alice");
    let call = |operation: &str, mut arguments: serde_json::Value| {
        arguments["zone"] = "storage".into();
        let refused = alice.call(operation, &arguments);
        refused.refused(400, "PATH_STARTS_WITH_ZONE");
        arguments["allow_zone_in_path"] = "true".into();
        done(&alice, operation, &arguments)
    };
    file(&alice, "storage", "a.md", "a\n");
    call(
        "shed_create_file",
        json!({"path": "documents/a.md", "content": "x"}),
    );
    call("shed_zip", json!({"src": "a.md", "dest": "uploads/a.zip"}));
    call(
        "shed_unzip",
        json!({"src": "uploads/a.zip", "dest": "group"}),
    );
    call(
        "shed_rename",
        json!({"old_path": "a.md", "new_path": "storage/a.md"}),
    );
    call(
        "shed_exec",
        json!({"cmd": "cp", "args": ["storage/a.md", "STORAGE"]}),
    );
    // A path that exists as written gets no note, in arguments either.
    for arguments in [
        json!(["storage/a.md", "documents/a.md", "group/a.md"]),
        json!(["-l", "storage"]),
    ] {
        let arguments = json!({"zone": "storage", "cmd": "ls", "args": arguments});
        assert_eq!(done(&alice, "shed_exec", &arguments)["returncode"], 0);
    }
    let moved = json!({"src": "storage/a.md", "dest": "storage/a.md"});
    let copy = "shed_copy_storage_to_documents";
    alice
        .call(copy, &moved)
        .refused(400, "PATH_STARTS_WITH_ZONE");
    let mut moved = moved;
    moved["allow_zone_in_path"] = true.into();
    done(&alice, copy, &moved);
    assert_eq!(content(&alice, "documents", "storage/a.md"), "a\n");
}

#[test]
fn links_lead_nowhere_outside() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "real/a.txt", "inside");
    file(&server.as_user("bob"), "storage", "his.txt", "bobs text");
    let zone = place(&server, "alice", "storage");
    let his = place(&server, "bob", "storage").join("his.txt");
    symlink("/etc/passwd", zone.join("file")).unwrap();
    symlink("/etc", zone.join("directory")).unwrap();
    symlink("../../../bob/Storage/data/his.txt", zone.join("his")).unwrap();
    symlink("real/a.txt", zone.join("good")).unwrap();
    symlink("nowhere", zone.join("dangling")).unwrap();
    for path in ["file", "directory/passwd", "his"] {
        let arguments = json!({"zone": "storage", "path": path, "content": "x", "overwrite": true});
        for operation in ["shed_create_file", "shed_patch_text", "shed_lockedit_open"] {
            let answer = alice.call(operation, &arguments);
            answer.refused(403, "PATH_ESCAPE");
            assert!(
                !answer.text.contains("bob") && !answer.text.contains("root:"),
                "{}",
                answer.text
            );
        }
        let cat = json!({"zone": "storage", "cmd": "cat", "args": [path]});
        alice.call("shed_exec", &cat).refused(403, "PATH_ESCAPE");
        let into = json!({"zone": "storage", "cmd": "echo", "args": ["x"], "stdout_file": path});
        alice.call("shed_exec", &into).refused(403, "PATH_ESCAPE");
    }
    assert_eq!(std::fs::read_to_string(his).unwrap(), "bobs text");
    // A link inside is followed; one that leads nowhere is not followed into being.
    file(&alice, "storage", "good", "through");
    assert_eq!(content(&alice, "storage", "real/a.txt"), "through");
    let arguments = json!({"zone": "storage", "path": "dangling", "content": "x"});
    alice
        .call("shed_create_file", &arguments)
        .refused(409, "FILE_EXISTS");
    assert!(!zone.join("nowhere").exists());
    // Links themselves can be renamed and removed.
    for path in ["file", "directory", "his", "dangling"] {
        let arguments =
            json!({"zone": "storage", "old_path": path, "new_path": format!("{path}-2")});
        done(&alice, "shed_rename", &arguments);
        let arguments = json!({"zone": "storage", "path": format!("{path}-2")});
        assert_eq!(
            done(&alice, "shed_delete", &arguments)["was_directory"],
            false
        );
    }
    assert_eq!(output(&alice, "storage", "ls", &[]), "good\nreal\n");
    assert!(Path::new("/etc/passwd").exists());
}

#[test]
fn a_fifo_blocks_nobody() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "x", "");
    fifo(&place(&server, "alice", "storage").join("pipe"));
    let arguments = json!({"zone": "storage", "path": "pipe", "content": "x"});
    for operation in [
        "shed_create_file",
        "shed_patch_text",
        "shed_patch_bytes",
        "shed_lockedit_open",
    ] {
        let mut arguments = arguments.clone();
        if operation == "shed_patch_bytes" {
            arguments["content"] = "00".into();
        }
        alice.call(operation, &arguments).refused(400, "NOT_A_FILE");
    }
    let arguments = json!({"zone": "storage", "old_path": "pipe", "new_path": "tube"});
    done(&alice, "shed_rename", &arguments);
    assert_eq!(output(&alice, "storage", "ls", &[]), "tube\nx\n");
    done(
        &alice,
        "shed_delete",
        &json!({"zone": "storage", "path": "tube"}),
    );
    // In documents it is no part of history.
    file(&alice, "documents", "x", "");
    fifo(&place(&server, "alice", "documents").join("pipe"));
    ran(&alice, "documents", "touch", &["y"]);
    assert_eq!(output(&alice, "documents", "git", &["ls-files"]), "x\ny\n");
}

/// A slash at the end means a directory, in which what is brought gets its own name.
#[test]
fn a_slash_at_the_end_means_a_directory() {
    let server = small().app();
    let client = server.as_member("ada", "team");
    bring(&client, "uploads", "u.md", "u");
    bring(&client, "storage", "s.md", "s");
    bring(&client, "storage", "tree/x.md", "x");
    bring(&client, "documents", "d.md", "d");
    for (operation, arguments, at) in [
        (
            "shed_rename",
            json!({"zone": "storage", "old_path": "s.md", "new_path": "new/deep/"}),
            "new/deep/s.md",
        ),
        (
            "shed_rename",
            json!({"zone": "storage", "old_path": "tree", "new_path": "new/"}),
            "new/tree",
        ),
        (
            "shed_rename",
            json!({"zone": "storage", "old_path": "new/tree/", "new_path": "tree"}),
            "tree",
        ),
        (
            "shed_move_uploads_to_storage",
            json!({"src": "u.md", "dest": "d/"}),
            "d/u.md",
        ),
        (
            "shed_copy_storage_to_documents",
            json!({"src": "tree", "dest": "d/"}),
            "d/tree",
        ),
        (
            "shed_move_documents_to_storage",
            json!({"src": "d.md", "dest": "d//"}),
            "d/d.md",
        ),
        (
            "shed_copy_to_group",
            json!({"src_zone": "storage", "src_path": "tree/x.md", "group": "team", "dest_path": "g/"}),
            "g/x.md",
        ),
    ] {
        let data = done(&client, operation, &arguments);
        let found = ["new_path", "destination", "dest_path"];
        let found = found.iter().find_map(|name| data[*name].as_str());
        assert_eq!(found, Some(at), "{operation}");
    }
    assert_eq!(content(&client, "storage", "d/u.md"), "u");
    assert_eq!(content(&client, "documents", "d/tree/x.md"), "x");
    for (operation, arguments, meant) in [
        (
            "shed_create_file",
            json!({"path": "n/", "content": ""}),
            "path=\"n\"",
        ),
        (
            "shed_patch_text",
            json!({"path": "n/", "content": ""}),
            "path=\"n\"",
        ),
        (
            "shed_patch_bytes",
            json!({"path": "n/", "content": ""}),
            "path=\"n\"",
        ),
        (
            "shed_zip",
            json!({"src": "new/deep", "dest": "n/"}),
            "dest=\"n/deep.zip\"",
        ),
        (
            "shed_sqlite",
            json!({"path": "n/", "query": "CREATE TABLE t (a)"}),
            "path=\"n\"",
        ),
        (
            "shed_exec",
            json!({"cmd": "ls", "stdout_file": "n/"}),
            "stdout_file=\"n\"",
        ),
    ] {
        let mut arguments = arguments;
        arguments["zone"] = "storage".into();
        let answer = client.call(operation, &arguments);
        answer.refused(400, "INVALID_PATH");
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains(meant), "{operation}: {hint}");
    }
}

/// Paths of Windows would be one file of that name.
#[test]
fn a_path_of_windows_is_refused_with_the_path_that_is_meant() {
    let server = small().app();
    let client = server.as_user("ada");
    bring(&client, "storage", "a.md", "a");
    for (given, meant) in [
        ("notes\\todo.md", "notes/todo.md"),
        ("C:\\Users\\me\\x.md", "Users/me/x.md"),
        ("c:/Users/x.md", "Users/x.md"),
        ("..\\x.md", "x.md"),
    ] {
        let meant = json!(meant).to_string();
        for (operation, arguments, parameter) in [
            (
                "shed_create_file",
                json!({"path": given, "content": "x"}),
                "path",
            ),
            (
                "shed_patch_text",
                json!({"path": given, "content": "x"}),
                "path",
            ),
            (
                "shed_rename",
                json!({"old_path": "a.md", "new_path": given}),
                "new_path",
            ),
            ("shed_zip", json!({"src": "a.md", "dest": given}), "dest"),
        ] {
            let mut arguments = arguments;
            arguments["zone"] = "storage".into();
            let answer = client.call(operation, &arguments);
            answer.refused(400, "INVALID_PATH");
            let hint = answer.body["error"]["hint"].as_str().unwrap();
            let expected = format!("{parameter}={meant}");
            assert!(hint.contains(&expected), "{operation}: {hint}");
        }
        let escaped = json!(format!("/storage/{given}")).to_string();
        let answer = client.send(
            "POST",
            "/terminal/files/write",
            format!("{{\"path\": {escaped}, \"content\": \"x\"}}").as_bytes(),
        );
        assert_eq!(answer.status, 400, "{}", answer.text);
        let answer = client.send(
            "POST",
            "/fs/write_file",
            format!("{{\"path\": {}, \"content\": \"x\"}}", json!(given)).as_bytes(),
        );
        assert!(!answer.body["error"].is_null(), "{}", answer.text);
    }
    let tree = done(&client, "shed_tree", &json!({"zone": "storage"}));
    assert_eq!(tree["tree"], ".\n└── a.md (1 B)", "{tree}");
}
