//! Commands that are put back, to the last bit.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::groups::team::{
    app, assert_sound, call, done, file, files, home, owners, repository, run,
};

#[test]
fn everything_comes_back() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    for (path, mode) in [
        ("keep.md", "owner"),
        ("a/deep/one.md", "group"),
        ("a/deep/two.md", "group"),
        ("run.sh", "group"),
        ("a/file", "group"),
    ] {
        file(&ada, path, "text\n", mode);
    }
    run(&ada, "chmod", &["+x", "run.sh"]).data();
    let large = "x".repeat(3 << 20);
    file(&ada, "large.bin", &large, "group");
    let before = files(&server);
    let records = owners(&ada);
    let head = repository(&server).text(&["rev-parse", "HEAD"]);
    run(&bob, "mkdir", &["new"]).data();
    // Deletes, moves, makes, changes modes and kinds; something protected is always among it.
    for (command, words) in [
        ("rm", vec!["-rf", "a", "large.bin", "run.sh", "keep.md"]),
        ("mv", vec!["a", "large.bin", "keep.md", "new/"]),
        ("chmod", vec!["-R", "a+x", "."]),
        ("chmod", vec!["-R", "a-rwx", "keep.md", "a", "run.sh"]),
        ("find", vec![".", "-type", "f", "-delete"]),
        (
            "truncate",
            vec!["-s", "1", "large.bin", "a/file", "made.md", "keep.md"],
        ),
        ("cp", vec!["large.bin", "keep.md"]),
        ("git", vec!["rm", "-rfq", "."]),
    ] {
        let answer = run(&bob, command, &words);
        let kept = if words[1] == "a-rwx" {
            "`run.sh`"
        } else {
            "`keep.md`"
        };
        if kept == "`run.sh`" {
            // It takes rights away, which only counts for what can be executed.
            answer.data();
            run(&ada, "chmod", &["+x", "run.sh"]).data();
            assert_eq!(files(&server), before);
            continue;
        }
        answer.refused(403, "PERMISSION_DENIED");
        assert!(answer.text.contains(kept), "{}", answer.text);
        assert!(files(&server) == before, "{command} {words:?}");
        assert_eq!(owners(&ada), records);
        let file = std::fs::metadata(home(&server).join("data/run.sh")).unwrap();
        assert_eq!(file.permissions().mode() & 0o111, 0o111, "{command}");
        let past = repository(&server).text(&["rev-list", "HEAD"]);
        assert!(past.lines().any(|id| id == head), "{command}");
    }
    assert_sound(&server);
}

#[test]
fn owners_follow_a_command() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "a.md", "a\n", "group");
    file(&ada, "own.md", "a\n", "owner");
    run(&bob, "cp", &["a.md", "b.md"]).data();
    run(&bob, "rm", &["a.md"]).data();
    run(&ada, "mv", &["own.md", "moved.md"]).data();
    let who = |path: &str| owners(&ada)[path].clone();
    assert_eq!(who("b.md"), (Some("bob".to_owned()), "group".to_owned()));
    // A name that is free again belongs to who takes it.
    file(&bob, "a.md", "b\n", "owner");
    assert_eq!(who("a.md"), (Some("bob".to_owned()), "owner".to_owned()));
    assert_eq!(owners(&ada).len(), 3);
    assert_sound(&server);
}

#[test]
fn git_makes_one_commit_on_top_by_its_real_author() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "a.md", "one\n", "group");
    file(&ada, "a.md", "two\n", "group");
    let before = repository(&server).commits();
    run(&bob, "git", &["revert", "--no-edit", "HEAD"]).data();
    assert_eq!(files(&server)["a.md"], b"one\n");
    run(&bob, "git", &["reset", "-q", "--hard", "HEAD~2"]).data();
    assert_eq!(repository(&server).commits(), before + 2 - 1);
    run(&bob, "git", &["checkout", "-q", "-b", "other"]).data();
    let head = repository(&server).text(&["symbolic-ref", "HEAD"]);
    assert_eq!(head, "refs/heads/main");
    let log = repository(&server).text(&["log", "-1", "--format=%an: %s"]);
    assert_eq!(log, "bob: Revert \"Update a.md\"");
    assert_sound(&server);
}

#[test]
fn what_came_from_outside_is_not_lost_by_a_refusal() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "a.md", "a\n", "owner");
    std::fs::write(home(&server).join("data/outside.md"), "put here\n").unwrap();
    let answer = run(&bob, "rm", &["outside.md", "a.md"]);
    answer.refused(403, "PERMISSION_DENIED");
    assert_eq!(files(&server)["outside.md"], b"put here\n");
    // It is nobody's until it is written.
    assert_eq!(owners(&ada)["outside.md"], (None, "group".to_owned()));
    let write = json!({"path": "outside.md", "content": "x"});
    done(&bob, "shed_patch_text", write);
    assert_eq!(owners(&ada)["outside.md"].0, Some("bob".to_owned()));
    let set = json!({"path": "outside.md", "mode": "owner"});
    call(&ada, "shed_group_set_mode", set).refused(403, "NOT_FILE_OWNER");
}

#[test]
fn a_command_that_is_stopped_is_judged_too() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "a.md", "a\n", "owner");
    file(&ada, "open.md", "a\n", "group");
    let slow = json!({"cmd": "sed", "args": ["-i", "s/a/b/", "open.md"]});
    done(&bob, "shed_exec", slow);
    assert_eq!(files(&server)["open.md"], b"b\n");
    assert_sound(&server);
}

#[test]
fn another_spelling_is_the_same_file() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    // A command keeps the spelling that it is given; é is two characters here.
    run(&ada, "mkdir", &["e\u{301}"]).data();
    file(&ada, "a.md", "a\n", "group");
    run(&ada, "cp", &["a.md", "e\u{301}/e\u{301}.md"]).data();
    let set = json!({"path": "\u{e9}/\u{e9}.md", "mode": "owner"});
    let set = call(&ada, "shed_group_set_mode", set);
    if set.status == 404 {
        // The path can only be said as it is spelled on disk.
        let set = json!({"path": "e\u{301}/e\u{301}.md", "mode": "owner"});
        done(&ada, "shed_group_set_mode", set);
    }
    let spelled = "e\u{301}/e\u{301}.md";
    for (operation, arguments) in [
        ("shed_delete", json!({"path": spelled})),
        ("shed_delete", json!({"path": "e\u{301}"})),
        ("shed_patch_text", json!({"path": spelled, "content": "x"})),
        (
            "shed_rename",
            json!({"old_path": spelled, "new_path": "mine.md"}),
        ),
        ("shed_exec", json!({"cmd": "rm", "args": [spelled]})),
        ("shed_exec", json!({"cmd": "mv", "args": ["e\u{301}", "f"]})),
    ] {
        let answer = call(&bob, operation, arguments);
        answer.refused(403, "PERMISSION_DENIED");
    }
    let cleaned = bob.call("shed_maintenance", &json!({}));
    assert_eq!(cleaned.data()["orphan_ownerships"], json!([]));
    assert_eq!(files(&server).len(), 2);
    done(&ada, "shed_delete", json!({"path": spelled}));
    assert_eq!(owners(&ada).len(), 1);
    assert_sound(&server);
}

#[test]
fn a_member_s_locked_edit_holds_the_others_off() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "a.md", "one\n", "group");
    let path = json!({"path": "a.md"});
    done(&bob, "shed_lockedit_open", path.clone());
    let write = json!({"path": "a.md", "content": "x"});
    call(&ada, "shed_patch_text", write.clone()).refused(423, "FILE_LOCKED");
    call(&ada, "shed_lockedit_open", path.clone()).refused(423, "FILE_LOCKED");
    run(&ada, "rm", &["a.md"]).refused(423, "FILE_LOCKED");
    let copy = json!({"path": "a.md", "content": "two\n"});
    done(&bob, "shed_lockedit_overwrite", copy);
    done(&bob, "shed_lockedit_save", path.clone());
    assert_eq!(files(&server)["a.md"], b"two\n");
    assert_eq!(owners(&ada)["a.md"].0, Some("ada".to_owned()));
    let log = repository(&server).text(&["log", "-1", "--format=%an: %s"]);
    assert_eq!(log, "bob: Edit a.md");
    // Every member can end an edit that nobody ends.
    done(&bob, "shed_lockedit_open", path.clone());
    done(&ada, "shed_force_unlock", path);
    done(&ada, "shed_patch_text", write);
    assert_sound(&server);
}
