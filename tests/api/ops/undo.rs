//! `shed_undo`

use serde_json::{Value, json};

mod answers;
mod documents;
mod model;
mod parts;
mod storage;

use crate::ops::diff::{NEW, OLD};
use crate::ops::stage::{Provoked, content, done, file, installed, place, ran, small, upload};
use fileshed_test_support::on_disk::tree;
use fileshed_test_support::{Client, Server, TestApp};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", |stage| {
        stage.refuses(&json!({"path": "attic/a.md"}), &["`path`", "`attic/a.md`"]);
    }),
    ("INVALID_GROUP_ID", |stage| {
        stage.refuses(&json!({"path": "group/a\u{7}b/x"}), &["`group`"]);
    }),
    ("GROUP_NOT_FOUND", |stage| {
        stage.refuses(&json!({"path": "group/nobodys/x"}), &["`nobodys`"]);
    }),
    ("GROUP_NOT_AVAILABLE", |stage| {
        let alone = TestApp::start();
        let refused = alone
            .client()
            .call("shed_undo", &json!({"path": "group/team/x"}));
        stage.refused_elsewhere(&refused);
    }),
    ("PATH_ESCAPE", |stage| {
        stage.refuses(&json!({"path": "storage/../x"}), &["`path`"]);
    }),
    ("PROTECTED_PATH", |stage| {
        stage.refuses(&json!({"path": "storage/.lfsig"}), &["`path`"]);
    }),
    ("INVALID_PATH", |stage| {
        stage.refuses(&json!({"path": "storage/"}), &["`path`"]);
    }),
    ("FILE_NOT_FOUND", |stage| {
        stage.refuses(&json!({"change": 4711}), &["change"]);
        stage.refuses(&json!({"path": "storage/nothing.md"}), &["`nothing.md`"]);
        stage.refuses(&json!({"answer": "of-nobody"}), &["change"]);
    }),
    ("FILE_EXISTS", |stage| {
        stage.file("storage", "once.md", "x");
        let undo = json!({"path": "storage/once.md"});
        let answer = stage.done("shed_undo", &undo)["answer"].clone();
        stage.refuses(&json!({"answer": answer}), &["already"]);
        stage.file("storage", "kept.md", "one\ntwo\n");
        let call = json!({"zone": "storage", "path": "kept.md", "content": "mine\n"});
        stage.done("shed_create_file", &call);
        std::fs::write(stage.place("storage").join("kept.md"), "theirs\n").expect("written");
        stage.refuses(&json!({"path": "storage/kept.md"}), &["`storage/kept.md`"]);
    }),
    ("FILE_LOCKED", |stage| {
        stage.file("storage", "edited.md", "one\n");
        let open = json!({"zone": "storage", "path": "edited.md"});
        stage.done("shed_lockedit_open", &open);
        stage.refuses(
            &json!({"path": "storage/edited.md"}),
            &["`storage/edited.md`"],
        );
    }),
    ("PERMISSION_DENIED", |stage| {
        let client = stage.client();
        let plan = json!({"zone": "group", "group": "team", "path": "given.md", "content": "x",
            "mode": "owner"});
        done(&client, "shed_create_file", &plan);
        // Seen here, the colleague can own it.
        stage.theirs("theirs.md");
        let owner = stage.colleague();
        let owner = owner.header_text("X-OpenWebUI-User-Id").expect("a user");
        let given = json!({"group": "team", "path": "given.md", "new_owner": owner});
        done(&client, "shed_group_chown", &given);
        stage.refuses(
            &json!({"path": "group/team/given.md"}),
            &["`group/team/given.md`"],
        );
    }),
    ("QUOTA_EXCEEDED", |stage| {
        stage.file("documents", "large", &"x".repeat(900 << 10));
        stage.done(
            "shed_delete",
            &json!({"zone": "documents", "path": "large"}),
        );
        stage.file("storage", "one", &"y".repeat(900 << 10));
        stage.file("storage", "two", &"z".repeat(900 << 10));
        stage.refuses(&json!({"path": "documents/large"}), &["quota"]);
    }),
];

/// The client in one chat, while the message of this id is written.
fn writes<'a>(client: &Client<'a>, message: &str) -> Client<'a> {
    client.clone().header("X-OpenWebUI-Message-Id", message)
}

fn undone(client: &Client<'_>, arguments: &Value) -> Vec<String> {
    let data = done(client, "shed_undo", arguments);
    let files = data["files"].as_array().expect("a list").iter();
    let mut files: Vec<_> = files
        .map(|file| file.as_str().expect("a text").to_owned())
        .collect();
    files.sort();
    files
}

fn missing(client: &Client<'_>, zone: &str, path: &str) -> bool {
    let read = json!({"zone": zone, "path": path});
    client.call("shed_read", &read).status == 404
}

#[test]
fn an_answer_is_taken_back_in_all_zones_and_again() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let before = writes(&ada, "before");
    file(&before, "storage", "notes/a.md", "one\ntwo\nthree\n");
    file(&before, "storage", "old/deep/x.md", "x\n");
    file(&before, "documents", "d.md", "one\ntwo\nthree\n");
    let plan = |content: &str| json!({"zone": "group", "group": "team", "path": "plan.md", "content": content});
    done(&before, "shed_create_file", &plan("ours\n"));

    let answer = writes(&ada, "answer");
    file(&answer, "storage", "notes/a.md", "ONE\ntwo\nthree\n");
    file(&answer, "storage", "made/here/new.md", "new\n");
    let append =
        json!({"zone": "storage", "path": "notes/a.md", "content": "four\n", "position": "end"});
    done(&answer, "shed_patch_text", &append);
    done(
        &answer,
        "shed_delete",
        &json!({"zone": "storage", "path": "old"}),
    );
    file(&answer, "documents", "d.md", "ONE\ntwo\nthree\n");
    done(
        &answer,
        "shed_rename",
        &json!({"zone": "documents", "old_path": "d.md", "new_path": "e.md"}),
    );
    done(&answer, "shed_create_file", &plan("theirs\n"));
    let moved = json!({"from": "storage/notes/a.md", "to": "documents/moved.md", "move": true});
    done(&answer, "shed_copy", &moved);

    let seen = done(&ada, "shed_undo", &json!({"dry_run": true}));
    assert_eq!(seen.get("undo"), None, "{seen}");
    assert!(missing(&ada, "storage", "notes/a.md"));

    let data = done(&writes(&ada, "asked"), "shed_undo", &json!({}));
    assert_eq!(data["answer"], "answer", "{data}");
    assert_eq!(content(&ada, "storage", "notes/a.md"), "one\ntwo\nthree\n");
    assert_eq!(content(&ada, "storage", "old/deep/x.md"), "x\n");
    assert_eq!(content(&ada, "documents", "d.md"), "one\ntwo\nthree\n");
    assert!(missing(&ada, "documents", "e.md") && missing(&ada, "documents", "moved.md"));
    let storage = place(&server, "ada", "storage");
    assert!(
        !storage.join("made").exists(),
        "directories that it made go, too"
    );
    let shared = json!({"zone": "group", "group": "team", "path": "plan.md"});
    let read = done(&ada, "shed_read", &shared);
    assert!(
        read["content"].as_str().expect("text").contains("ours"),
        "{read}"
    );

    // The undo is an answer that can be undone.
    let undo = data["undo"].as_str().expect("an id");
    done(&ada, "shed_undo", &json!({"answer": undo}));
    assert!(missing(&ada, "storage", "notes/a.md") && missing(&ada, "storage", "old/deep/x.md"));
    assert_eq!(
        content(&ada, "documents", "moved.md"),
        "ONE\ntwo\nthree\nfour\n"
    );
    assert_eq!(content(&ada, "documents", "e.md"), "ONE\ntwo\nthree\n");
    assert_eq!(content(&ada, "storage", "made/here/new.md"), "new\n");
    // And the answer once more.
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "storage", "notes/a.md"), "one\ntwo\nthree\n");
    assert_eq!(content(&ada, "documents", "d.md"), "one\ntwo\nthree\n");
}

#[test]
fn each_undo_takes_the_answer_before() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for (message, text) in [("1", "one\n"), ("2", "two\n"), ("3", "three\n")] {
        for zone in ["storage", "documents"] {
            file(&writes(&ada, message), zone, "a.md", text);
        }
    }
    for text in ["two\n", "one\n"] {
        done(&ada, "shed_undo", &json!({"answer": "last"}));
        assert_eq!(content(&ada, "storage", "a.md"), text);
        assert_eq!(content(&ada, "documents", "a.md"), text);
    }
    done(&ada, "shed_undo", &json!({}));
    assert!(missing(&ada, "storage", "a.md") && missing(&ada, "documents", "a.md"));
    let nothing = ada.call("shed_undo", &json!({}));
    nothing.refused(404, "FILE_NOT_FOUND");
    // Another conversation is not meant.
    file(
        &writes(&server.as_user("ada").chat("two"), "4"),
        "storage",
        "b.md",
        "x\n",
    );
    ada.call("shed_undo", &json!({}))
        .refused(404, "FILE_NOT_FOUND");
}

#[test]
fn what_was_changed_since_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let text = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
    for zone in ["storage", "documents"] {
        file(&writes(&ada, "before"), zone, "a.md", text);
        file(
            &writes(&ada, "answer"),
            zone,
            "a.md",
            &text.replace("one", "ONE"),
        );
        file(&writes(&ada, "answer"), zone, "b.md", "b\n");
        // The person goes on.
        let now = text.replace("one", "ONE").replace("nine", "NINE");
        file(&writes(&ada, "after"), zone, "a.md", &now);
    }
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    for zone in ["storage", "documents"] {
        assert_eq!(
            content(&ada, zone, "a.md"),
            text.replace("nine", "NINE"),
            "{zone}"
        );
        assert!(missing(&ada, zone, "b.md"));
    }
}

#[test]
fn nothing_is_done_where_lines_are_changed_again_unless_a_part_is_enough() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        file(&writes(&ada, "before"), zone, "a.md", "one\n");
        file(&writes(&ada, "answer"), zone, "a.md", "two\n");
        file(&writes(&ada, "answer"), zone, "b.md", "b\n");
        file(&writes(&ada, "after"), zone, "a.md", "three\n");
    }
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    let named = &refused.body["error"]["details"]["conflicts"];
    assert_eq!(named.as_array().map(Vec::len), Some(2), "{}", refused.text);
    assert_eq!(content(&ada, "storage", "b.md"), "b\n");

    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(data["kept"].as_array().map(Vec::len), Some(2), "{data}");
    for zone in ["storage", "documents"] {
        assert_eq!(content(&ada, zone, "a.md"), "three\n");
        assert!(missing(&ada, zone, "b.md"));
    }
}

#[test]
fn commands_and_archives_are_taken_back() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let before = writes(&ada, "before");
    for path in ["a/1.md", "a/2.md", "a/3.md"] {
        file(&before, "documents", path, path);
        file(&before, "storage", path, path);
    }
    let zip = json!({"zone": "storage", "src": "a", "dest": "a.zip"});
    done(&before, "shed_zip", &zip);
    let answer = writes(&ada, "answer");
    ran(&answer, "documents", "rm", &["-r", "a"]);
    ran(&answer, "documents", "touch", &["new.md"]);
    file(&answer, "storage", "a/1.md", "other");
    let over = json!({"zone": "storage", "path": "a.zip", "dest": "a", "overwrite": true});
    ada.call("shed_unzip", &over);
    done(
        &ada,
        "shed_undo",
        &json!({"answer": "answer", "partial": true}),
    );
    for path in ["a/1.md", "a/2.md", "a/3.md"] {
        assert_eq!(content(&ada, "documents", path), path);
    }
    assert!(missing(&ada, "documents", "new.md"));
}

#[test]
fn effects_that_no_argument_names_are_listed_and_taken_back() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let before = writes(&ada, "before");
    for path in ["d/a.md", "d/b.md", "e.md"] {
        file(&before, "storage", path, "old\n");
    }
    let zip = json!({"zone": "storage", "src": "d", "dest": "d.zip"});
    done(&before, "shed_zip", &zip);
    let files = || {
        let mut found = Vec::new();
        for path in [
            "d/a.md",
            "d/b.md",
            "d/z.md",
            "e.md",
            "e.md.gz",
            "out/d/a.md",
        ] {
            if !missing(&ada, "storage", path) {
                found.push(path);
            }
        }
        found
    };
    let start = files();
    let run = |answer: &str, cmd: &str, args: &[&str]| {
        let call = json!({"zone": "storage", "cmd": cmd, "args": args});
        writes(&ada, answer).call("shed_exec", &call)
    };
    let listed = |answer: &str| {
        let all = done(&ada, "shed_history", &json!({"path": "storage"}));
        let rows = all["changes"].as_array().expect("a list").clone();
        let row = rows.into_iter().find(|row| row["answer"] == answer);
        row.map_or(Value::Null, |row| row["files"].clone())
    };
    for (answer, cmd, args, changed) in [
        (
            "gzip",
            "gzip",
            &["e.md"][..],
            json!(["storage/e.md deleted", "storage/e.md.gz created"]),
        ),
        (
            "rename",
            "rename",
            &["s/a/z/", "d/a.md"],
            json!(["storage/d/z.md moved"]),
        ),
        (
            "unzip",
            "unzip",
            &["d.zip", "-d", "out"],
            json!(["storage/out created"]),
        ),
    ] {
        if !installed(&ada, cmd) {
            continue;
        }
        run(answer, cmd, args).data();
        assert_eq!(listed(answer), changed);
        assert_ne!(files(), start, "{answer}");
        done(&ada, "shed_undo", &json!({"answer": answer}));
        assert_eq!(files(), start, "{answer}");
    }
    // A program that moves what it finds: the content is there, and comes back.
    let moves = ["s/md/txt/", "d/a.md", "d/b.md"];
    run("several", "rename", &moves).data();
    assert_eq!(
        listed("several"),
        json!(["storage/d/a.txt moved", "storage/d/b.txt moved"])
    );
    done(&ada, "shed_undo", &json!({"answer": "several"}));
    assert_eq!(files(), start);
    // The former content of what an archive replaced is gone, and the answer says so.
    file(&before, "storage", "d/a.md", "new\n");
    if installed(&ada, "unzip") {
        let told = run("over", "unzip", &["-o", "d.zip", "d/a.md"]);
        assert!(
            told.text.contains("`d/a.md` could not be kept"),
            "{}",
            told.text
        );
        assert_eq!(listed("over"), json!(["storage/d/a.md changed"]));
        ada.call("shed_undo", &json!({"answer": "over"}))
            .refused(404, "FILE_NOT_FOUND");
    }
    let told = run("find", "find", &["d", "-name", "b.md", "-delete"]);
    assert!(
        told.text.contains("`d/b.md` could not be kept"),
        "{}",
        told.text
    );
    assert_eq!(listed("find"), json!(["storage/d/b.md deleted"]));
    let told = run("touch", "touch", &["d/a.md"]);
    assert!(!told.text.contains("could not be kept"), "{}", told.text);
}

/// An open shell is such a one, whatever it does.
#[test]
fn a_command_that_is_not_alone_says_what_no_change_lists() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let before = writes(&ada, "before");
    file(&before, "storage", "a.md", "old\n");
    let zip = json!({"zone": "storage", "src": "a.md", "dest": "a.zip"});
    done(&before, "shed_zip", &zip);
    enter_line(&server, "storage");
    let run = |cmd: &str, args: &[&str]| {
        let call = json!({"zone": "storage", "cmd": cmd, "args": args});
        ada.call("shed_exec", &call)
    };
    let note = "an undo leaves out what the arguments do not name";
    let named = run("cp", &["a.md", "b.md"]);
    assert!(!named.text.contains(note), "{}", named.text);
    if !installed(&ada, "unzip") {
        return;
    }
    let told = run("unzip", &["-o", "a.zip"]);
    assert!(told.text.contains(note), "{}", told.text);
}

#[test]
fn one_change_and_one_path_come_back_alone() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        file(&writes(&ada, "before"), zone, "a.md", "one\n");
        let answer = writes(&ada, "answer");
        file(&answer, zone, "a.md", "two\n");
        file(&answer, zone, "b.md", "b\n");
        let path = format!("{zone}/a.md");
        assert_eq!(
            undone(&ada, &json!({"path": path})),
            [format!("{zone}/a.md restored")]
        );
        assert_eq!(content(&ada, zone, "a.md"), "one\n");
        assert_eq!(content(&ada, zone, "b.md"), "b\n");
        let path = format!("{zone}/b.md");
        let listed = done(&ada, "shed_history", &json!({"path": path}));
        let number = &listed["changes"][0]["change"];
        assert_eq!(
            undone(&ada, &json!({"change": number})),
            [format!("{zone}/b.md removed")]
        );
    }
}

#[test]
fn of_an_older_change_one_path_comes_back() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        for name in ["a.md", "b.md", "c.md"] {
            file(&ada, zone, name, "one\n");
        }
        ran(&ada, zone, "rm", &["a.md", "b.md"]);
        let path = format!("{zone}/a.md");
        let listed = done(&ada, "shed_history", &json!({"path": path}));
        let older = json!({"path": path, "change": listed["changes"][0]["change"]});
        file(&ada, zone, "a.md", "later\n");
        done(&ada, "shed_delete", &json!({"zone": zone, "path": "a.md"}));
        assert_eq!(undone(&ada, &older), [format!("{zone}/a.md restored")]);
        assert_eq!(content(&ada, zone, "a.md"), "one\n", "{zone}");
        assert!(missing(&ada, zone, "b.md"), "{zone}");
        ada.call("shed_undo", &older).refused(409, "FILE_EXISTS");
        let other = json!({"path": format!("{zone}/c.md"), "change": older["change"]});
        ada.call("shed_undo", &other).refused(404, "FILE_NOT_FOUND");
    }
}

/// No call before it sets up libgit2.
#[test]
fn later_edits_stay_also_in_the_first_call_that_merges() {
    let server = Server::start();
    let ada = server.client();
    file(&ada, "storage", "a.md", "one\n\n\n\ntwo\n");
    file(&ada, "storage", "a.md", "ONE\n\n\n\ntwo\n");
    let listed = done(&ada, "shed_history", &json!({}));
    file(&ada, "storage", "a.md", "ONE\n\n\n\nTWO\n");
    let number = &listed["changes"][0]["change"];
    undone(&ada, &json!({"change": number}));
    assert_eq!(content(&ada, "storage", "a.md"), "one\n\n\n\nTWO\n");
}

#[test]
fn a_file_that_others_put_into_a_new_directory_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "answer"), "storage", "new/a.md", "a\n");
    file(&writes(&ada, "after"), "storage", "new/b.md", "b\n");
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert!(missing(&ada, "storage", "new/a.md"));
    assert_eq!(content(&ada, "storage", "new/b.md"), "b\n");
}

#[test]
fn uploads_come_back_in_their_chat() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    crate::ops::stage::upload(&ada, "in.csv", "a,b\n");
    done(
        &ada,
        "shed_delete",
        &json!({"zone": "uploads", "path": "in.csv"}),
    );
    done(&ada, "shed_undo", &json!({}));
    assert_eq!(content(&ada, "uploads", "in.csv"), "a,b\n");
    let moved = json!({"from": "uploads/in.csv", "to": "storage/in/in.csv", "move": true});
    done(&ada, "shed_copy", &moved);
    done(&ada, "shed_undo", &json!({}));
    assert_eq!(content(&ada, "uploads", "in.csv"), "a,b\n");
    assert!(missing(&ada, "storage", "in/in.csv"));
}

#[test]
fn an_addition_goes_and_what_others_added_behind_it_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let add = |message: &str, text: &str| {
        let append =
            json!({"zone": "storage", "path": "log.txt", "content": text, "position": "end"});
        done(&writes(&ada, message), "shed_patch_text", &append);
    };
    file(&writes(&ada, "before"), "storage", "log.txt", "one\n");
    add("answer", "two\n");
    add("after", "three\n");
    let bin = server.data().join("users/ada/bin");
    assert_eq!(std::fs::read_dir(bin).map_or(0, Iterator::count), 0);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "storage", "log.txt"), "one\nthree\n");
}

#[test]
fn a_move_onto_a_file_is_taken_back_whole() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let before = writes(&ada, "before");
    file(&before, "storage", "a.md", "a\n");
    file(&before, "storage", "b.md", "b\n");
    crate::ops::stage::upload(&ada, "up.md", "up\n");
    for (from, was) in [("storage/a.md", "a\n"), ("uploads/up.md", "up\n")] {
        let onto = json!({"from": from, "to": "storage/b.md", "move": true, "overwrite": true});
        done(&writes(&ada, from), "shed_copy", &onto);
        assert_eq!(content(&ada, "storage", "b.md"), was);
        done(&ada, "shed_undo", &json!({"answer": from}));
        let (zone, path) = from.split_once('/').expect("an address");
        assert_eq!(content(&ada, zone, path), was);
        assert_eq!(content(&ada, "storage", "b.md"), "b\n");
    }
}

#[test]
fn an_undo_of_several_steps_is_never_the_last_answer() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "first"), "storage", "first.md", "1\n");
    let packed = writes(&ada, "packed");
    for name in ["p/a", "p/b", "p/c"] {
        file(&packed, "storage", name, name);
    }
    let copied = writes(&ada, "copied");
    ran(&copied, "storage", "mkdir", &["q"]);
    ran(&copied, "storage", "cp", &["p/a", "p/b", "p/c", "q"]);
    done(&ada, "shed_undo", &json!({}));
    let again = done(&ada, "shed_undo", &json!({}));
    assert_eq!(again["answer"], "packed", "{again}");
    done(&ada, "shed_undo", &json!({}));
    assert!(missing(&ada, "storage", "first.md"));
}

#[test]
fn a_path_that_came_back_leaves_the_rest_of_its_change() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "documents", "d/a.md", "a\n");
    file(&writes(&ada, "before"), "documents", "d/b.md", "b\n");
    ran(&writes(&ada, "answer"), "documents", "rm", &["-r", "d"]);
    done(&ada, "shed_undo", &json!({"path": "documents/d/a.md"}));
    assert_eq!(content(&ada, "documents", "d/a.md"), "a\n");
    assert!(missing(&ada, "documents", "d/b.md"));
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "documents", "d/b.md"), "b\n");
    assert_eq!(content(&ada, "documents", "d/a.md"), "a\n");
}

#[test]
fn nobody_learns_of_the_changes_of_others() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "secret-answer"), "storage", "a.md", "a\n");
    done(&ada, "shed_undo", &json!({}));
    for number in 0..5 {
        let refused = server
            .as_user("bob")
            .call("shed_undo", &json!({"change": number}));
        refused.refused(404, "FILE_NOT_FOUND");
        assert!(!refused.text.contains("secret"), "{}", refused.text);
    }
}

#[test]
fn an_answer_of_which_nothing_is_left_is_passed_over() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "first"), "storage", "a.md", "a\n");
    file(&writes(&ada, "second"), "storage", "b.md", "b\n");
    std::fs::remove_file(place(&server, "ada", "storage").join("b.md")).expect("removed");
    let nothing = done(&ada, "shed_undo", &json!({}));
    assert_eq!(nothing["count"], 0, "{nothing}");
    done(&ada, "shed_undo", &json!({}));
    assert!(missing(&ada, "storage", "a.md"));
}

/// The names of files in a list of an answer, in order.
fn named(list: &Value) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    let mut names: Vec<String> = list
        .map(|file| file["path"].as_str().or(file.as_str()).expect("a path"))
        .map(|file| file.split(' ').next().unwrap_or_default())
        .map(|name| name.trim_matches('`').to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_locked_or_of_others_stays_and_the_rest_comes_back() {
    let server = small().app();
    let (ada, bob) = server.team();
    let ada = ada.chat("one");
    let shared = |path: &str, content: &str| json!({"zone": "group", "group": "team", "path": path, "content": content, "mode": "group"});
    let answer = writes(&ada, "answer");
    for path in ["open.md", "given.md", "free.md"] {
        for (client, content) in [(writes(&ada, "before"), "old\n"), (answer.clone(), "new\n")] {
            done(&client, "shed_create_file", &shared(path, content));
            file(&client, "documents", path, content);
        }
    }
    let open = json!({"zone": "group", "group": "team", "path": "open.md"});
    done(&bob, "shed_lockedit_open", &open);
    let own = json!({"zone": "documents", "path": "open.md"});
    done(&ada, "shed_lockedit_open", &own);
    for call in ["shed_group_chown", "shed_group_set_mode"] {
        let given =
            json!({"group": "team", "path": "given.md", "new_owner": "bob", "mode": "owner"});
        let client = if call == "shed_group_chown" {
            &ada
        } else {
            &bob
        };
        done(client, call, &given);
    }
    let read = |path: &str| {
        let read = json!({"zone": "group", "group": "team", "path": path});
        done(&ada, "shed_read", &read)["content"].clone()
    };

    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(423, "FILE_LOCKED");
    let stay = [
        "documents/open.md",
        "group/team/given.md",
        "group/team/open.md",
    ];
    let conflicts = &refused.body["error"]["details"]["conflicts"];
    assert_eq!(named(conflicts), stay, "{}", refused.text);
    assert!(
        refused.text.contains("is not yours to change"),
        "{}",
        refused.text
    );
    assert!(refused.text.contains("is locked"), "{}", refused.text);
    assert_eq!(content(&ada, "documents", "free.md"), "new\n");

    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(named(&data["kept"]), stay, "{data}");
    assert_eq!(
        named(&data["files"]),
        [
            "documents/free.md",
            "documents/given.md",
            "group/team/free.md"
        ]
    );
    assert_eq!(content(&ada, "documents", "free.md"), "old\n");
    assert_eq!(content(&ada, "documents", "open.md"), "new\n");
    assert!(read("free.md").to_string().contains("old"));
    assert!(read("open.md").to_string().contains("new"));
    assert!(read("given.md").to_string().contains("new"));

    // Files that were kept can be undone once they are free.
    done(&bob, "shed_lockedit_cancel", &open);
    done(&ada, "shed_lockedit_cancel", &own);
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(named(&data["kept"]), ["group/team/given.md"], "{data}");
    assert_eq!(content(&ada, "documents", "open.md"), "old\n");
    assert!(read("open.md").to_string().contains("old"));
}

#[test]
fn the_rest_of_one_change_comes_back_by_another_undo() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let (before, answer) = (writes(&ada, "before"), writes(&ada, "answer"));
    for path in ["a.md", "b.md", "c.md", "d.md"] {
        file(&before, "storage", path, "old\n");
    }
    ran(&answer, "storage", "mv", &["d.md", "e.md"]);
    ran(&answer, "storage", "rm", &["a.md", "b.md", "c.md"]);
    file(&writes(&ada, "since"), "storage", "b.md", "another\n");

    let part = json!({"answer": "answer", "partial": true});
    let told = done(
        &ada,
        "shed_undo",
        &json!({"answer": "answer", "dry_run": true}),
    );
    let first = done(&ada, "shed_undo", &part);
    assert_eq!(named(&first["kept"]), ["storage/b.md"], "{first}");
    assert_eq!(
        (&told["files"], &told["kept"], &told["count"]),
        (&first["files"], &first["kept"], &first["count"])
    );
    assert_eq!(content(&ada, "storage", "b.md"), "another\n");
    assert_eq!(content(&ada, "storage", "c.md"), "old\n");

    // Others go on with what came back, and b.md is free again.
    file(&writes(&ada, "since"), "storage", "c.md", "newer\n");
    done(
        &writes(&ada, "since"),
        "shed_rename",
        &json!({"zone": "storage", "old_path": "b.md", "new_path": "mine.md"}),
    );
    let second = done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(named(&second["files"]), ["storage/b.md"], "{second}");
    assert_eq!(content(&ada, "storage", "b.md"), "old\n");
    assert_eq!(content(&ada, "storage", "c.md"), "newer\n");
    assert_eq!(content(&ada, "storage", "d.md"), "old\n");
    ada.call("shed_undo", &json!({"answer": "answer"}))
        .refused(409, "FILE_EXISTS");

    // The second undo is undone, and done again.
    let third = done(&ada, "shed_undo", &json!({"answer": second["undo"]}));
    assert_eq!(named(&third["files"]), ["storage/b.md"], "{third}");
    assert!(missing(&ada, "storage", "b.md"));
    let again = done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(named(&again["files"]), ["storage/b.md"], "{again}");
    assert_eq!(content(&ada, "storage", "b.md"), "old\n");
}

#[test]
fn a_lock_on_the_new_name_refuses_the_whole_undo() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let (before, answer) = (writes(&ada, "before"), writes(&ada, "answer"));
    file(&before, "storage", "a.md", "a\n");
    file(&before, "storage", "b.md", "b\n");
    let rename = json!({"zone": "storage", "old_path": "a.md", "new_path": "new.md"});
    done(&answer, "shed_rename", &rename);
    file(&answer, "storage", "b.md", "B\n");
    let open = json!({"zone": "storage", "path": "new.md"});
    done(&ada, "shed_lockedit_open", &open);
    ada.call("shed_undo", &json!({"answer": "answer"}))
        .refused(423, "FILE_LOCKED");
    assert_eq!(content(&ada, "storage", "b.md"), "B\n");
    done(&ada, "shed_lockedit_cancel", &open);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "storage", "a.md"), "a\n");
}

#[test]
fn files_that_were_written_over_come_back_in_one_change() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let paths = ["a.md", "b.md", "d/c.md"];
    for (answer, text) in [("before", "old\n"), ("answer", "new\n")] {
        for path in paths {
            file(&writes(&ada, answer), "storage", path, text);
        }
    }
    let rows = |answer: &Value| {
        let all = done(&ada, "shed_history", &json!({"path": "storage"}));
        let rows = all["changes"].as_array().expect("a list").clone();
        rows.into_iter()
            .filter(|row| row["answer"] == *answer)
            .collect::<Vec<_>>()
    };
    let mut answer = json!("answer");
    for text in ["old\n", "new\n", "old\n"] {
        let undo = done(&ada, "shed_undo", &json!({"answer": answer}));
        assert_eq!(
            named(&undo["files"]),
            ["storage/a.md", "storage/b.md", "storage/d/c.md"],
            "{undo}"
        );
        assert!(rows(&answer).iter().all(|row| row["undone"] == true));
        answer = undo["undo"].clone();
        assert_eq!(rows(&answer).len(), 1);
        for path in paths {
            assert_eq!(content(&ada, "storage", path), text);
        }
    }
    // If one of them is in the way, the others come back one after the other.
    file(&writes(&ada, "since"), "storage", "b.md", "another\n");
    let part = json!({"answer": answer, "partial": true});
    let undo = done(&ada, "shed_undo", &part);
    assert_eq!(named(&undo["kept"]), ["storage/b.md"], "{undo}");
    assert_eq!(content(&ada, "storage", "a.md"), "new\n");
    assert_eq!(content(&ada, "storage", "b.md"), "another\n");
}

#[test]
fn a_file_that_an_answer_wrote_twice_is_named_once() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        file(&writes(&ada, "before"), zone, "a.md", "one\n");
        for text in ["two\n", "three\n"] {
            file(&writes(&ada, "answer"), zone, "a.md", text);
        }
    }
    let expected = ["documents/a.md", "storage/a.md"];
    for dry_run in [true, false] {
        let call = json!({"answer": "answer", "dry_run": dry_run});
        let told = done(&ada, "shed_undo", &call);
        assert_eq!(named(&told["files"]), expected, "{told}");
        assert_eq!(told["count"], 2, "{told}");
    }
}

#[test]
fn an_addition_that_was_written_over_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "storage", "log.txt", "one\n");
    let append =
        json!({"zone": "storage", "path": "log.txt", "content": "two\n", "position": "end"});
    done(&writes(&ada, "answer"), "shed_patch_text", &append);
    // As `>` of a shell does: the file is the same, and longer than before.
    let rewritten = "something else, and more of it\n";
    let log = place(&server, "ada", "storage").join("log.txt");
    std::fs::write(&log, rewritten).expect("written");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage", "log.txt"), rewritten);
    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(named(&data["kept"]), ["storage/log.txt"], "{data}");
    assert_eq!(content(&ada, "storage", "log.txt"), rewritten);
    // An addition to what was added stays, too.
    std::fs::write(&log, "one\ntwo\nthree\n").expect("written");
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "storage", "log.txt"), "one\nthree\n");
}

#[test]
fn files_of_a_group_come_back_to_their_owners() {
    let server = small().app();
    let (ada, bob) = server.team();
    let ada = ada.chat("one");
    for (client, path, mode) in [
        (&bob, "d/of-bob.md", "group"),
        (&ada, "d/of-ada.md", "owner"),
        (&bob, "moved.md", "group"),
        (&bob, "again.md", "group"),
        (&bob, "by-command.md", "group"),
    ] {
        let plan =
            json!({"zone": "group", "group": "team", "path": path, "content": path, "mode": mode});
        done(
            &client.clone().header("X-OpenWebUI-Message-Id", "before"),
            "shed_create_file",
            &plan,
        );
    }
    let owners = || {
        let mut info = done(&ada, "shed_group_info", &json!({"group": "team"}));
        info["files"].take()
    };
    let before = owners();
    let answer = writes(&ada, "answer");
    let group = |more: Value| {
        let mut call = json!({"zone": "group", "group": "team"});
        for (name, value) in more.as_object().expect("arguments") {
            call[name] = value.clone();
        }
        call
    };
    done(&answer, "shed_delete", &group(json!({"path": "d"})));
    let rename = group(json!({"old_path": "moved.md", "new_path": "elsewhere.md"}));
    done(&answer, "shed_rename", &rename);
    done(&answer, "shed_delete", &group(json!({"path": "again.md"})));
    let again = group(json!({"path": "again.md", "content": "other", "mode": "owner"}));
    done(&answer, "shed_create_file", &again);
    let run = group(json!({"cmd": "rm", "args": ["by-command.md"]}));
    done(&answer, "shed_exec", &run);

    let undo = done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(owners(), before);
    // And once more, with the undo taken back between.
    done(&ada, "shed_undo", &json!({"answer": undo["undo"]}));
    let data = done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert!(data["undo"].is_string(), "{data}");
    assert_eq!(owners(), before);
}

#[test]
fn a_file_comes_back_to_its_owner_from_below_a_file_of_another() {
    let server = small().app();
    let (ada, bob) = server.team();
    let ada = ada.chat("one");
    let shared = |path: &str| json!({"zone": "group", "group": "team", "path": path, "content": path, "mode": "group"});
    let owners = || {
        let info = done(&ada, "shed_group_info", &json!({"group": "team"}));
        let files = info["files"].as_array().expect("a list").clone();
        let pair = |file: &Value| format!("{} {}", file["path"], file["owner"]);
        files.iter().map(pair).collect::<Vec<_>>()
    };
    done(&ada, "shed_create_file", &shared("hers.md"));
    done(&bob, "shed_create_file", &shared("his.md"));
    let before = owners();
    let answer = writes(&ada, "answer");
    let gone = json!({"zone": "group", "group": "team", "path": "hers.md"});
    done(&answer, "shed_delete", &gone);
    let copy = json!({"from": "group/team/his.md", "to": "group/team/hers.md", "move": true});
    done(&answer, "shed_copy", &copy);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(owners(), before);
}

#[test]
fn both_versions_of_a_file_in_conflict_can_be_read() {
    let server = small().app();
    let (ada, bob) = server.team();
    let ada = ada.chat("one");
    let put = |message: &str, zone: &str, content: &[u8]| {
        let path = format!("/files/content?zone={zone}&path=a.docx&overwrite=true");
        let sent = writes(&ada, message).send("PUT", &path, content);
        assert!(matches!(sent.status, 200 | 201), "{}", sent.text);
    };
    for (message, content) in [
        ("before", "one\n"),
        ("answer", "two\n"),
        ("after", "three\n"),
    ] {
        let client = writes(&ada, message);
        for zone in ["storage", "documents"] {
            file(&client, zone, "a.md", content);
        }
        let plan = json!({"zone": "group", "group": "team", "path": "a.md", "content": content});
        done(&client, "shed_create_file", &plan);
    }
    for zone in ["storage", "documents"] {
        for (message, content) in [("before", OLD), ("answer", b"no document"), ("after", NEW)] {
            put(message, zone, content);
        }
        // Of one, nothing is there now.
        file(&writes(&ada, "before"), zone, "gone.md", "one\n");
        file(&writes(&ada, "answer"), zone, "gone.md", "two\n");
        let gone = json!({"zone": zone, "path": "gone.md"});
        done(&writes(&ada, "after"), "shed_delete", &gone);
    }
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    let conflicts = &refused.body["error"]["details"]["conflicts"];
    let all = [
        "documents/a.docx",
        "documents/a.md",
        "documents/gone.md",
        "group/team/a.md",
        "storage/a.docx",
        "storage/a.md",
        "storage/gone.md",
    ];
    assert_eq!(named(conflicts), all, "{}", refused.text);
    let hint = refused.body["error"]["hint"].as_str().expect("a hint");
    assert_eq!(hint.matches("shed_diff(").count(), 3, "{hint}");
    for conflict in conflicts.as_array().expect("a list") {
        let path = conflict["path"].as_str().expect("an address");
        let (zone, path) = path.split_once('/').expect("an address");
        let mut call = json!({"zone": zone, "path": path, "version": conflict["version"]});
        if zone == "group" {
            call["group"] = "team".into();
            call["path"] = "a.md".into();
        }
        let data = done(&ada, "shed_diff", &call);
        let diff = data["diff"].as_str().expect("a difference");
        match path {
            "gone.md" => assert!(diff.contains("-one"), "{call} {diff}"),
            "a.docx" => assert!(
                diff.contains("-Paid in 30 days") && diff.contains("+Paid in 14 days"),
                "{call} {diff}"
            ),
            _ => assert!(diff.contains("-one\n+three"), "{call} {diff}"),
        }
    }
    let part = json!({"answer": "answer", "partial": true, "dry_run": true});
    assert_eq!(named(&done(&ada, "shed_undo", &part)["kept"]), all);
    // The numbers of others, and of other files, are none.
    let storage = conflicts.as_array().expect("a list").iter();
    let storage = storage.filter(|conflict| conflict["path"] == "storage/a.md");
    let version = storage.map(|conflict| &conflict["version"]).next();
    let call = json!({"zone": "storage", "path": "a.md", "version": version});
    file(&bob, "storage", "a.md", "bob\n");
    let refused = bob.call("shed_diff", &call);
    refused.refused(400, "INVALID_PARAMETER");
}

/// Adds a line to the end of a file in `storage`.
fn add(client: &Client<'_>, message: &str, path: &str, text: &str) {
    let append = json!({"zone": "storage", "path": path, "content": text, "position": "end"});
    done(&writes(client, message), "shed_patch_text", &append);
}

#[test]
fn an_addition_of_others_to_a_new_file_is_not_lost_with_it() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "answer"), "storage", "log.txt", "one\n");
    add(&ada, "answer", "log.txt", "two\n");
    add(&ada, "after", "log.txt", "three\n");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage", "log.txt"), "one\ntwo\nthree\n");
    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(named(&data["kept"]), ["storage/log.txt"], "{data}");
    assert!(content(&ada, "storage", "log.txt").ends_with("three\n"));
}

#[test]
fn an_edit_since_stays_in_a_file_that_an_answer_wrote_twice() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let text = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
    let first = text.replace("one", "ONE");
    let second = first.replace("2\n", "TWO\n");
    file(&writes(&ada, "before"), "storage", "a.md", text);
    file(&writes(&ada, "answer"), "storage", "a.md", &first);
    file(&writes(&ada, "answer"), "storage", "a.md", &second);
    let now = second.replace("nine", "NINE");
    file(&writes(&ada, "after"), "storage", "a.md", &now);
    let data = done(&ada, "shed_undo", &json!({"answer": "answer"}));
    let former = text.replace("nine", "NINE");
    assert_eq!(content(&ada, "storage", "a.md"), former, "{data}");
    let again = ada.call("shed_undo", &json!({"answer": "answer"}));
    again.refused(409, "FILE_EXISTS");
    // The undo can be undone, and then the answer once more.
    done(&ada, "shed_undo", &json!({"answer": data["undo"]}));
    assert_eq!(content(&ada, "storage", "a.md"), now);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "storage", "a.md"), former);
}

#[test]
fn an_edit_between_two_of_an_answer_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let text = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
    let first = text.replace("one", "ONE");
    let other = first.replace("nine", "NINE");
    file(&writes(&ada, "before"), "storage", "a.md", text);
    file(&writes(&ada, "answer"), "storage", "a.md", &first);
    file(&writes(&ada, "other"), "storage", "a.md", &other);
    let second = other.replace('5', "FIVE");
    file(&writes(&ada, "answer"), "storage", "a.md", &second);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    let former = text.replace("nine", "NINE");
    assert_eq!(content(&ada, "storage", "a.md"), former);
}

#[test]
fn several_additions_go_from_between_those_of_others() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "storage", "log.txt", "0\n");
    for (message, text) in [
        ("answer", "1\n"),
        ("other", "2\n"),
        ("answer", "3\n"),
        ("answer", "4\n"),
        ("other", "5\n"),
    ] {
        add(&ada, message, "log.txt", text);
    }
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "storage", "log.txt"), "0\n2\n5\n");
}

#[test]
fn an_edit_stays_in_a_file_that_an_answer_wrote_and_others_added_to() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let text = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
    let first = text.replace('5', "FIVE");
    for (path, message) in [("a.md", "other"), ("b.md", "answer")] {
        file(&writes(&ada, "before"), "storage", path, text);
        file(&writes(&ada, "answer"), "storage", path, &first);
        add(&ada, message, path, "ten\n");
        let now = first.replace("one", "ONE") + "ten\n";
        file(&writes(&ada, "other"), "storage", path, &now);
    }
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    let former = text.replace("one", "ONE");
    assert_eq!(content(&ada, "storage", "a.md"), former.clone() + "ten\n");
    assert_eq!(content(&ada, "storage", "b.md"), former);
}

#[test]
fn an_undo_that_is_done_again_marks_its_changes_again() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        file(&writes(&ada, "before"), zone, "a.md", "one\n");
        file(&writes(&ada, "answer"), zone, "a.md", "two\n");
    }
    let undo = |answer: &Value| {
        let data = done(&ada, "shed_undo", &json!({"answer": answer}));
        data["undo"].clone()
    };
    let first = undo(&json!("answer"));
    let second = undo(&first);
    let third = undo(&second);
    for zone in ["storage", "documents"] {
        assert_eq!(content(&ada, zone, "a.md"), "one\n");
    }
    let again = ada.call("shed_undo", &json!({"answer": "answer"}));
    again.refused(409, "FILE_EXISTS");
    // And so on: what is taken back once more is there again.
    undo(&third);
    for zone in ["storage", "documents"] {
        assert_eq!(content(&ada, zone, "a.md"), "two\n");
    }
    undo(&json!("answer"));
    for zone in ["storage", "documents"] {
        assert_eq!(content(&ada, zone, "a.md"), "one\n");
    }
}

#[test]
fn the_rest_of_an_undo_passes_over_what_came_back_before() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let before = writes(&ada, "before");
    let answer = writes(&ada, "answer");
    file(&before, "documents", "a.md", "one\n");
    file(&before, "documents", "b.md", "b\n");
    file(&answer, "documents", "a.md", "two\n");
    file(&answer, "documents", "a.md", "three\n");
    file(&answer, "documents", "b.md", "B\n");
    let open = json!({"zone": "documents", "path": "b.md"});
    done(&ada, "shed_lockedit_open", &open);
    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(named(&data["kept"]), ["documents/b.md"], "{data}");
    assert_eq!(content(&ada, "documents", "a.md"), "one\n");
    done(&ada, "shed_lockedit_cancel", &open);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "documents", "a.md"), "one\n");
    assert_eq!(content(&ada, "documents", "b.md"), "b\n");
}

#[test]
fn a_file_that_stays_in_documents_stays_as_it_is() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let text = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
    let first = text.replace("one", "ONE");
    let now = first.replace("nine", "others");
    file(&writes(&ada, "before"), "documents", "a.md", text);
    file(&writes(&ada, "answer"), "documents", "a.md", &first);
    let second = first.replace("nine", "NINE");
    file(&writes(&ada, "answer"), "documents", "a.md", &second);
    file(&writes(&ada, "answer"), "documents", "b.md", "b\n");
    file(&writes(&ada, "after"), "documents", "a.md", &now);
    let part = json!({"answer": "answer", "partial": true});
    let data = done(&ada, "shed_undo", &part);
    assert_eq!(named(&data["kept"]), ["documents/a.md"], "{data}");
    assert_eq!(named(&data["files"]), ["documents/b.md"], "{data}");
    assert_eq!(content(&ada, "documents", "a.md"), now);
}

/// Enters a change of an instance that is under way in a zone of ada's.
fn enter_intent(
    server: &TestApp,
    zone: &str,
    (instance, operation): (&str, &str),
    change: Option<String>,
) {
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite"));
    let entered = registry.expect("a registry").execute(
        "INSERT INTO intents (home, zone, instance, operation, author_name, author_email, change)
         SELECT home, ?1, ?2, ?3, 'ada', '', ?4 FROM changes LIMIT 1",
        (zone, instance, operation, change),
    );
    assert_eq!(entered.expect("entered"), 1);
}

/// Enters a line of a shell of this server that is under way in a zone of ada's.
fn enter_line(server: &TestApp, zone: &str) {
    let instances = std::fs::read_dir(server.data().join(".instances"));
    let instance = instances.expect("instances").next().expect("one");
    let name = instance.expect("an instance").file_name();
    let line = (name.to_str().expect("a name"), "terminal");
    enter_intent(server, zone, line, None);
}

#[test]
fn an_edit_that_no_commit_has_yet_is_not_lost() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let text = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
    let first = text.replace("one", "ONE");
    file(&writes(&ada, "before"), "documents", "a.md", text);
    file(&writes(&ada, "answer"), "documents", "a.md", &first);
    // A line of a shell writes, and its end commits.
    enter_line(&server, "documents");
    let now = first.replace("nine", "NINE");
    std::fs::write(place(&server, "ada", "documents").join("a.md"), now).expect("written");
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(
        content(&ada, "documents", "a.md"),
        text.replace("nine", "NINE")
    );
}

#[test]
fn a_file_of_a_line_in_the_place_of_a_directory_is_not_lost() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "documents", "d/x.md", "x\n");
    let delete = json!({"zone": "documents", "path": "d"});
    done(&writes(&ada, "answer"), "shed_delete", &delete);
    enter_line(&server, "documents");
    let here = place(&server, "ada", "documents").join("d");
    std::fs::write(&here, "of the line\n").expect("written");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    let text = std::fs::read_to_string(here).expect("there");
    assert_eq!(text, "of the line\n");
}

#[test]
fn an_undo_leaves_to_a_line_that_runs_what_it_wrote() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "answer"), "documents", "a.md", "x\n");
    enter_line(&server, "documents");
    let theirs = place(&server, "ada", "documents").join("out.txt");
    std::fs::write(&theirs, "of the line\n").expect("written");
    let undone = done(&ada, "shed_undo", &json!({"answer": "answer"}));
    let again = json!({"answer": undone["undo"]});
    assert_eq!(
        done(&ada, "shed_undo", &again)["files"],
        json!(["documents/a.md restored"])
    );
    assert!(theirs.exists());
}

#[test]
fn an_undo_in_uploads_that_did_not_happen_marks_nothing() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    crate::ops::stage::upload(&ada, "in.csv", "a,b\n");
    let gone = json!({"zone": "uploads", "path": "in.csv"});
    done(&writes(&ada, "answer"), "shed_delete", &gone);
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite"));
    let written: String = registry
        .expect("a registry")
        .query_row(
            "SELECT json_object('tenant', home, 'zone', zone, 'changed_at', changed_at, 'actor', actor,
                 'author', author, 'chat', chat, 'answer', 'undo-1', 'operation', 'shed_undo', 'steps',
                 json_array(json_object('did', 'made', 'path', 'in.csv', 'existing', 0,
                     'from_bin', json_extract(steps, '$[0].kept'))) || '',
                 'before', NULL, 'commit', NULL, 'undoes', CAST(number AS TEXT))
             FROM changes WHERE answer = 'answer'",
            (),
            |row| row.get(0),
        )
        .expect("a change");
    // The server went down between the intent and the move out of the bin.
    enter_intent(&server, "uploads", ("", "shed_undo"), Some(written));
    // The next change of the zone repairs it.
    crate::ops::stage::upload(&ada, "other.csv", "c\n");
    let other = json!({"zone": "uploads", "path": "other.csv"});
    done(&writes(&ada, "other"), "shed_delete", &other);
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite"));
    let left: i64 = registry
        .expect("a registry")
        .query_row("SELECT count(*) FROM intents", (), |row| row.get(0))
        .expect("a number");
    assert_eq!(left, 0);
    assert!(missing(&ada, "uploads", "in.csv"));
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "uploads", "in.csv"), "a,b\n");
}

#[test]
fn a_file_stays_with_the_member_to_whom_it_was_given_since() {
    let server = small().app();
    let (ada, bob) = server.team();
    let ada = ada.chat("one");
    done(&bob, "shed_group_list", &json!({}));
    let plan = |content: &str, mode: &str| json!({"zone": "group", "group": "team", "path": "a.md", "content": content, "mode": mode});
    done(
        &writes(&ada, "before"),
        "shed_create_file",
        &plan("old\n", "group"),
    );
    done(
        &writes(&ada, "answer"),
        "shed_create_file",
        &plan("new\n", "owner"),
    );
    let given = json!({"group": "team", "path": "a.md", "new_owner": "bob", "mode": "group"});
    done(&ada, "shed_group_chown", &given);
    done(&bob, "shed_group_set_mode", &given);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    let read = json!({"zone": "group", "group": "team", "path": "a.md"});
    let read = done(&ada, "shed_read", &read);
    assert!(read.to_string().contains("old"), "{read}");
    let info = done(&ada, "shed_group_info", &json!({"group": "team"}));
    assert_eq!(info["files"][0]["owner"], "bob", "{info}");
}

/// One change of files in `storage`.
enum Did {
    Wrote(&'static str, &'static str),
    Removed(&'static str),
    Renamed(&'static str, &'static str),
    Added(&'static str),
}

#[test]
fn directories_come_back_with_what_an_answer_did_inside_them() {
    use Did::{Added, Removed, Renamed, Wrote};
    let server = small().app();
    let cases: &[&[Did]] = &[
        &[Wrote("d/f", "new\n"), Removed("d")],
        &[Removed("d"), Wrote("d/h", "x\n")],
        &[Removed("d"), Wrote("d/f", "x\n")],
        &[Removed("d"), Wrote("d", "a file\n")],
        &[Wrote("d/f", "new\n"), Renamed("d", "e")],
        &[Renamed("d", "e"), Wrote("e/f", "new\n"), Removed("e")],
        &[Wrote("n/x", "1\n"), Renamed("n", "m"), Wrote("m/x", "2\n")],
        &[Renamed("d/f", "d/k"), Removed("d")],
        &[Renamed("d/f", "k"), Wrote("k", "new\n"), Removed("d")],
        &[Added("d/f"), Removed("d/g"), Removed("d")],
        &[Added("d/f"), Renamed("d", "e"), Added("e/f")],
        &[Renamed("d", "t"), Renamed("o", "d"), Renamed("t", "o")],
        &[
            Removed("d/g"),
            Renamed("d/f", "d/g"),
            Wrote("d/f", "anew\n"),
        ],
        &[Removed("d/sub"), Renamed("d", "e"), Wrote("e/sub/x", "1\n")],
        &[
            Removed("d/sub"),
            Wrote("d/sub/x", "1\n"),
            Renamed("d/sub", "s"),
            Removed("d"),
        ],
    ];
    for (number, case) in cases.iter().enumerate() {
        let name = format!("user-{number}");
        let user = server.as_user(&name).chat("one");
        let before = writes(&user, "before");
        for path in ["d/f", "d/g", "d/sub/h", "o/z"] {
            file(&before, "storage", path, "old\n");
        }
        let storage = place(&server, &name, "storage");
        let old = tree(&storage);
        let answer = writes(&user, "answer");
        for did in *case {
            match did {
                Wrote(path, text) => file(&answer, "storage", path, text),
                Removed(path) => {
                    let removal = json!({"zone": "storage", "path": path});
                    done(&answer, "shed_delete", &removal);
                }
                Renamed(from, to) => {
                    let renaming = json!({"zone": "storage", "old_path": from, "new_path": to});
                    done(&answer, "shed_rename", &renaming);
                }
                Added(path) => add(&user, "answer", path, "more\n"),
            }
        }
        let new = tree(&storage);
        // The answer goes, comes back, and goes again.
        let mut undo = "answer".to_owned();
        for expected in [&old, &new, &old] {
            let data = done(&user, "shed_undo", &json!({"answer": undo}));
            assert_eq!(tree(&storage), *expected, "case {number}: {data}");
            undo = data["undo"].as_str().expect("an id").to_owned();
        }
    }
}

#[test]
fn an_addition_of_others_to_a_file_that_was_renamed_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "storage", "f.txt", "old\n");
    let answer = writes(&ada, "answer");
    file(&answer, "storage", "f.txt", "new\n");
    let renaming = json!({"zone": "storage", "old_path": "f.txt", "new_path": "g.txt"});
    done(&answer, "shed_rename", &renaming);
    add(&ada, "of-others", "g.txt", "theirs\n");
    file(&answer, "storage", "f.txt", "anew\n");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    done(
        &ada,
        "shed_undo",
        &json!({"answer": "answer", "partial": true}),
    );
    assert_eq!(content(&ada, "storage", "f.txt"), "new\ntheirs\n");
}

#[test]
fn an_undo_of_a_file_that_came_and_was_moved_on_is_undone() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    upload(&ada, "b.md", "b\n");
    let answer = writes(&ada, "answer");
    let copy = json!({"from": "uploads/b.md", "to": "storage/a.md", "move": true});
    done(&answer, "shed_copy", &copy);
    ran(&answer, "storage", "mkdir", &["x"]);
    ran(&answer, "storage", "mv", &["a.md", "x/a.md"]);
    let mut undo = json!({"answer": "answer"});
    for _ in 0..2 {
        let undone = done(&ada, "shed_undo", &undo);
        assert!(missing(&ada, "storage", "x/a.md"));
        assert_eq!(content(&ada, "uploads", "b.md"), "b\n");
        let again = done(&ada, "shed_undo", &json!({"answer": undone["undo"]}));
        assert_eq!(content(&ada, "storage", "x/a.md"), "b\n");
        undo = json!({"answer": again["undo"]});
    }
}
