//! A locked edit whose file is not what it opened any more.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::ops::stage::{Stage, content, done, file, output, place, ran, small};
use fileshed_test_support::{Client, TestApp};

/// Lets every lock of `path` expire.
pub(crate) fn expire(server: &TestApp, path: &str) {
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite")).unwrap();
    let aged = registry.execute(
        "UPDATE locks SET opened_at = opened_at - 25 * 3600 WHERE path = ?1",
        [path],
    );
    assert_eq!(aged.unwrap(), 1, "{path}");
}

/// Opens `path` and writes `text` into its working copy.
#[track_caller]
fn edit(client: &Client<'_>, zone: &str, path: &str, text: &str) -> Value {
    let arguments = json!({"zone": zone, "path": path, "content": text});
    done(client, "shed_lockedit_open", &arguments);
    done(client, "shed_lockedit_overwrite", &arguments);
    arguments
}

/// Asserts that a save is refused, and how the file stands to what was opened.
#[track_caller]
fn refused(client: &Client<'_>, arguments: &Value, standing: &str) -> String {
    let answer = client.call("shed_lockedit_save", arguments);
    answer.refused(412, "PRECONDITION_FAILED");
    assert_eq!(answer.body["error"]["details"]["file"], standing);
    assert_eq!(answer.body["error"]["details"]["path"], arguments["path"]);
    answer.body["error"]["hint"].as_str().unwrap().to_owned()
}

/// The content of the working copy.
#[track_caller]
fn copy(client: &Client<'_>, arguments: &Value) -> String {
    let mut arguments = arguments.clone();
    arguments["cmd"] = "cat".into();
    arguments["args"] = json!(["."]);
    let shown = done(client, "shed_lockedit_exec", &arguments);
    shown["stdout"].as_str().unwrap().to_owned()
}

/// Two conversations of one user.
fn chats(server: &TestApp) -> (Client<'_>, Client<'_>) {
    let chat = |id| server.as_user("alice").chat(id);
    (chat("a"), chat("b"))
}

/// Two conversations of one user, or of two members of a group.
fn pairs(server: &TestApp) -> [(&'static str, Client<'_>, Client<'_>); 3] {
    let chat = |name| server.as_user("alice").chat(name);
    let member = |name| server.as_member(name, "team-of-both");
    [
        ("storage", chat("a"), chat("b")),
        ("documents", chat("a"), chat("b")),
        ("group", member("anna"), member("ben")),
    ]
}

fn with_group(mut arguments: Value) -> Value {
    if arguments["zone"] == "group" {
        arguments["group"] = "team".into();
    }
    arguments
}

#[track_caller]
fn make(client: &Client<'_>, zone: &str, path: &str, text: &str) {
    let arguments = json!({"zone": zone, "path": path, "content": text});
    done(client, "shed_create_file", &with_group(arguments));
}

#[track_caller]
fn text_of(client: &Client<'_>, zone: &str, path: &str) -> String {
    let cat = json!({"zone": zone, "cmd": "cat", "args": [path]});
    let shown = done(client, "shed_exec", &with_group(cat));
    shown["stdout"].as_str().unwrap().to_owned()
}

#[test]
fn a_line_that_another_wrote_after_the_lock_expired_stays() {
    let server = small().app();
    for (zone, first, second) in pairs(&server) {
        make(&first, zone, "d/a.md", "old\n");
        let arguments = json!({"zone": zone, "path": "d/a.md", "content": "mine\n"});
        let arguments = with_group(arguments);
        done(&first, "shed_lockedit_open", &arguments);
        done(&first, "shed_lockedit_overwrite", &arguments);
        expire(&server, "d/a.md");
        let theirs = json!({"zone": zone, "path": "d/a.md", "content": "theirs\n"});
        done(&second, "shed_patch_text", &with_group(theirs));
        let hint = refused(&first, &arguments, "changed");
        let place = match zone {
            "group" => "zone=\"group\", group=\"team\"".to_owned(),
            zone => format!("zone=\"{zone}\""),
        };
        for call in [
            format!("shed_lockedit_save({place}, path=\"d/a.md\", overwrite=true)"),
            format!("shed_lockedit_cancel({place}, path=\"d/a.md\")"),
            format!("shed_lockedit_exec({place}, path=\"d/a.md\", cmd=\"cat\", args=[\".\"])"),
            format!("shed_exec({place}, cmd=\"cat\", args=[\"d/a.md\"])"),
        ] {
            assert!(hint.contains(&call), "{call}: {hint}");
        }
        assert_eq!(text_of(&second, zone, "d/a.md"), "old\ntheirs\n");
        assert_eq!(copy(&first, &arguments), "mine\n");
        refused(&first, &arguments, "changed");

        let mut replace = arguments.clone();
        replace["overwrite"] = true.into();
        let data = done(&first, "shed_lockedit_save", &replace);
        assert_eq!(data["committed"], zone != "storage");
        assert_eq!(text_of(&second, zone, "d/a.md"), "mine\n");
        first
            .call("shed_lockedit_save", &replace)
            .refused(409, "NOT_IN_EDIT_MODE");
    }
}

#[test]
fn the_other_way_out_begins_with_what_is_there() {
    let server = small().app();
    let (first, second) = chats(&server);
    file(&first, "storage", "a.md", "old\n");
    let arguments = edit(&first, "storage", "a.md", "mine\n");
    expire(&server, "a.md");
    file(&second, "storage", "a.md", "theirs\n");
    refused(&first, &arguments, "changed");
    let data = done(&first, "shed_lockedit_cancel", &arguments);
    assert_eq!(data["changes_discarded"], true);
    let data = done(&first, "shed_lockedit_open", &arguments);
    assert_eq!(data["content"], "theirs\n");
}

#[test]
fn an_expired_lock_whose_file_is_as_it_was_saves() {
    let server = small().app();
    for (zone, first, second) in pairs(&server) {
        make(&first, zone, "a.md", "old\n");
        let arguments = with_group(json!({"zone": zone, "path": "a.md", "content": "mine\n"}));
        done(&first, "shed_lockedit_open", &arguments);
        expire(&server, "a.md");
        // Work goes on while nobody took the file over.
        done(&first, "shed_lockedit_overwrite", &arguments);
        assert_eq!(copy(&first, &arguments), "mine\n");
        // Changed and put back is as it was.
        make(&second, zone, "a.md", "theirs\n");
        make(&second, zone, "a.md", "old\n");
        done(&first, "shed_lockedit_save", &arguments);
        assert_eq!(text_of(&second, zone, "a.md"), "mine\n");
    }
}

#[test]
fn a_save_that_a_crash_cut_off_before_the_unlocking_is_repeated() {
    for zone in ["storage", "documents"] {
        let mut server = small().start();
        let alice = server.as_user("alice");
        file(&alice, zone, "a.md", "old\n");
        edit(&alice, zone, "a.md", "mine\n");
        let at = place(&server, "alice", zone).join("a.md");
        server.kill();
        // The file arrived, the lock is still there.
        std::fs::write(at, "mine\n").unwrap();
        let server = server.again();
        let alice = server.as_user("alice");
        let arguments = json!({"zone": zone, "path": "a.md"});
        assert_eq!(done(&alice, "shed_lockedit_save", &arguments)["size"], 5);
        assert_eq!(content(&alice, zone, "a.md"), "mine\n");
        let again = alice.call("shed_lockedit_save", &arguments);
        again.refused(409, "NOT_IN_EDIT_MODE");
    }
}

#[test]
fn a_file_that_went_away_is_not_made_again_in_silence() {
    let server = small().app();
    let (first, second) = chats(&server);
    for zone in ["storage", "documents"] {
        for (operation, arguments) in [
            ("shed_delete", json!({"path": "d/a.md"})),
            (
                "shed_rename",
                json!({"old_path": "d/a.md", "new_path": "b.md"}),
            ),
            ("shed_rename", json!({"old_path": "d", "new_path": "e"})),
            ("shed_exec", json!({"cmd": "rm", "args": ["-r", "d"]})),
        ] {
            file(&first, zone, "d/a.md", "old\n");
            let edited = edit(&first, zone, "d/a.md", "mine\n");
            expire(&server, "d/a.md");
            let mut arguments = arguments.clone();
            arguments["zone"] = zone.into();
            done(&second, operation, &arguments);
            refused(&first, &edited, "gone");
            let shown = output(&second, zone, "find", &[".", "-name", "a.md"]);
            assert!(!shown.contains("d/a.md"), "{operation}: {shown}");
            assert_eq!(copy(&first, &edited), "mine\n");
            let mut anyway = edited.clone();
            anyway["overwrite"] = true.into();
            done(&first, "shed_lockedit_save", &anyway);
            assert_eq!(content(&second, zone, "d/a.md"), "mine\n");
            for path in ["d", "e", "b.md"] {
                second.call("shed_delete", &json!({"zone": zone, "path": path}));
            }
        }
    }
}

/// The example's file was changed while it was open.
pub(super) fn under_the_lock(stage: &Stage<'_>) {
    let arguments = stage.example(&json!({}));
    std::fs::write(stage.place("storage").join("notes/todo.md"), "theirs").unwrap();
    stage.refuses(&arguments, &["`notes/todo.md`", "changed"]);
}

/// A directory took the place of the example's file.
pub(super) fn by_a_directory(stage: &Stage<'_>) {
    let arguments = stage.example(&json!({"overwrite": true}));
    let at = stage.place("storage").join("notes/todo.md");
    std::fs::remove_file(&at).unwrap();
    std::fs::create_dir(&at).unwrap();
    stage.refuses(&arguments, &["`notes/todo.md`", "directory"]);
}

#[test]
fn a_directory_that_took_the_name_stays() {
    let server = small().app();
    let (first, second) = chats(&server);
    file(&first, "storage", "a.md", "old\n");
    let arguments = edit(&first, "storage", "a.md", "mine\n");
    expire(&server, "a.md");
    done(
        &second,
        "shed_delete",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    file(&second, "storage", "a.md/b.md", "theirs\n");
    refused(&first, &arguments, "replaced");
    let mut anyway = arguments.clone();
    anyway["overwrite"] = true.into();
    let answer = first.call("shed_lockedit_save", &anyway);
    answer.refused(400, "NOT_A_FILE");
    assert_eq!(content(&second, "storage", "a.md/b.md"), "theirs\n");
    assert_eq!(copy(&first, &arguments), "mine\n");
    let rename = json!({"zone": "storage", "old_path": "a.md", "new_path": "theirs"});
    done(&second, "shed_rename", &rename);
    done(&first, "shed_lockedit_save", &anyway);
    assert_eq!(content(&first, "storage", "a.md"), "mine\n");
}

#[test]
fn whose_lock_was_ended_or_taken_over_saves_nothing() {
    let server = small().app();
    let member = |name| server.as_member(name, "team-of-both");
    let (anna, ben) = (member("anna"), member("ben"));
    for taken_over in [false, true] {
        make(&anna, "group", "a.md", "old\n");
        let mine = with_group(json!({"zone": "group", "path": "a.md", "content": "mine\n"}));
        let theirs = with_group(json!({"zone": "group", "path": "a.md", "content": "theirs\n"}));
        done(&anna, "shed_lockedit_open", &mine);
        done(&anna, "shed_lockedit_overwrite", &mine);
        if taken_over {
            expire(&server, "a.md");
            done(&ben, "shed_lockedit_open", &theirs);
            let answer = anna.call("shed_lockedit_save", &mine);
            answer.refused(403, "NOT_LOCK_OWNER");
            done(&ben, "shed_lockedit_overwrite", &theirs);
            done(&ben, "shed_lockedit_save", &theirs);
        } else {
            done(&ben, "shed_force_unlock", &theirs);
            make(&ben, "group", "a.md", "theirs\n");
        }
        for operation in ["shed_lockedit_save", "shed_lockedit_overwrite"] {
            let answer = anna.call(operation, &mine);
            answer.refused(409, "NOT_IN_EDIT_MODE");
        }
        let opened = done(&anna, "shed_lockedit_open", &mine);
        assert_eq!(opened["content"], "theirs\n");
        done(&anna, "shed_lockedit_cancel", &mine);
    }
}

#[test]
fn a_command_that_walked_into_the_file_is_not_undone_by_the_save() {
    let server = small().app();
    let alice = server.as_user("alice");
    for zone in ["storage", "documents"] {
        file(&alice, zone, "d/a.md", "from the archive\n");
        assert_eq!(
            ran(&alice, zone, "tar", &["-cf", "a.tar", "d"])["returncode"],
            0
        );
        file(&alice, zone, "d/a.md", "old\n");
        let arguments = edit(&alice, zone, "d/a.md", "mine\n");
        output(&alice, zone, "tar", &["-xf", "a.tar"]);
        refused(&alice, &arguments, "changed");
        assert_eq!(content(&alice, zone, "d/a.md"), "from the archive\n");
        // Opened again, the copy is still there, and it is said that the file is another.
        let answer = alice.call("shed_lockedit_open", &arguments);
        assert_eq!(answer.data()["content"], "mine\n");
        let message = answer.body["message"].as_str().unwrap();
        assert!(message.contains("changed since"), "{message}");
        done(&alice, "shed_lockedit_cancel", &arguments);
    }
}

#[test]
fn an_expired_edit_goes_on_where_it_has_something_to_lose() {
    let server = small().app();
    let (first, second) = chats(&server);
    file(&first, "storage", "a.md", "old\n");
    let arguments = edit(&first, "storage", "a.md", "mine\n");
    expire(&server, "a.md");
    let opened = done(&first, "shed_lockedit_open", &arguments);
    assert_eq!(opened["content"], "mine\n");
    // The lock counts again.
    let theirs = json!({"zone": "storage", "path": "a.md", "content": "theirs\n"});
    let answer = second.call("shed_create_file", &theirs);
    answer.refused(423, "FILE_LOCKED");
    done(&first, "shed_lockedit_save", &arguments);
    assert_eq!(content(&first, "storage", "a.md"), "mine\n");

    // A working copy that was not written is replaced by the current file.
    done(&first, "shed_lockedit_open", &arguments);
    expire(&server, "a.md");
    done(&second, "shed_create_file", &theirs);
    let opened = done(&first, "shed_lockedit_open", &arguments);
    assert_eq!(opened["content"], "theirs\n");
    done(&first, "shed_lockedit_save", &arguments);
}

#[test]
fn an_edit_that_lost_its_copy_is_opened_anew() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "old\n");
    let arguments = edit(&alice, "storage", "a.md", "mine\n");
    let editzone: PathBuf = place(&server, "alice", "storage").with_file_name("editzone");
    std::fs::remove_dir_all(&editzone).unwrap();
    let opened = done(&alice, "shed_lockedit_open", &arguments);
    assert_eq!(opened["content"], "old\n");
    done(&alice, "shed_lockedit_save", &arguments);
}

#[test]
fn locks_of_an_older_registry_are_trusted_until_they_expire() {
    let server = small().app();
    let alice = server.as_user("alice");
    for expired in [false, true] {
        file(&alice, "storage", "a.md", "old\n");
        let arguments = edit(&alice, "storage", "a.md", "mine\n");
        let registry =
            rusqlite::Connection::open(server.data().join("access_auth.sqlite")).unwrap();
        registry
            .execute("UPDATE locks SET opened = NULL", [])
            .unwrap();
        if expired {
            expire(&server, "a.md");
            refused(&alice, &arguments, "changed");
            done(&alice, "shed_lockedit_cancel", &arguments);
        } else {
            done(&alice, "shed_lockedit_save", &arguments);
        }
    }
}

#[test]
fn of_a_save_and_a_write_at_once_neither_is_lost() {
    let server = small().app();
    let (first, second) = chats(&server);
    for round in 0..12 {
        file(&first, "storage", "a.md", "old\n");
        let arguments = edit(&first, "storage", "a.md", "mine\n");
        expire(&server, "a.md");
        let theirs = json!({"zone": "storage", "path": "a.md", "content": "theirs\n"});
        let (saved, _) = std::thread::scope(|scope| {
            let save = scope.spawn(|| first.call("shed_lockedit_save", &arguments).status);
            let write = scope.spawn(|| done(&second, "shed_patch_text", &theirs));
            (save.join().unwrap(), write.join().unwrap())
        });
        let expected = match saved {
            200 => "mine\ntheirs\n",
            412 => "old\ntheirs\n",
            other => panic!("round {round}: {other}"),
        };
        assert_eq!(content(&first, "storage", "a.md"), expected);
        if saved == 412 {
            done(&first, "shed_lockedit_cancel", &arguments);
        }
    }
}
