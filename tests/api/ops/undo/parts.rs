//! Undo in zones with history: parts of changes that were taken back before.

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{enter_intent, missing, named, undone, writes};
use crate::ops::stage::{content, done, file, place, ran, small};
use fileshed_test_support::{Client, TestApp};

const TEXT: &str = "a\n2\n3\n4\n5\n6\n7\n8\nz\n";

/// Writes `x.md` twice in an answer, with an edit of another line between, and `y.md`.
fn write_twice(ada: &Client<'_>) {
    let (answer, between) = (writes(ada, "answer"), writes(ada, "between"));
    file(&writes(ada, "before"), "documents", "x.md", TEXT);
    file(&writes(ada, "before"), "documents", "y.md", "old\n");
    let mut text = TEXT.replace('a', "b");
    file(&answer, "documents", "x.md", &text);
    text = text.replace('z', "Z");
    file(&between, "documents", "x.md", &text);
    file(&answer, "documents", "x.md", &text.replace('b', "c"));
    file(&answer, "documents", "y.md", "new\n");
}

/// Returns `true` for each change of an answer, the first one first, if the list says that it was undone.
fn marks(ada: &Client<'_>, answer: &str) -> Vec<bool> {
    let listed = done(ada, "shed_history", &json!({"path": "documents"}));
    let rows = listed["changes"].as_array().expect("a list").iter().rev();
    let rows = rows.filter(|row| row["answer"] == answer);
    rows.map(|row| row["undone"] == true).collect()
}

#[test]
fn an_undo_goes_on_with_the_rest_after_it_merged_a_file() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    write_twice(&ada);
    let open = json!({"zone": "documents", "path": "y.md"});
    done(&ada, "shed_lockedit_open", &open);
    let undo = json!({"answer": "answer"});
    let part = json!({"answer": "answer", "partial": true});
    let first = done(&ada, "shed_undo", &part);
    assert_eq!(named(&first["kept"]), ["documents/y.md"], "{first}");
    let merged = TEXT.replace('z', "Z");
    assert_eq!(content(&ada, "documents", "x.md"), merged);
    assert_eq!(marks(&ada, "answer"), [true, true, false]);
    done(&ada, "shed_lockedit_cancel", &open);
    let second = done(&ada, "shed_undo", &undo);
    assert_eq!(named(&second["files"]), ["documents/y.md"], "{second}");
    assert_eq!(content(&ada, "documents", "x.md"), merged);
    assert_eq!(content(&ada, "documents", "y.md"), "old\n");
    assert_eq!(marks(&ada, "answer"), [true, true, true]);

    // Both undos are undone, and the answer is undone again.
    for id in [&second["undo"], &first["undo"]] {
        done(&ada, "shed_undo", &json!({"answer": id}));
    }
    assert_eq!(marks(&ada, "answer"), [false, false, false]);
    assert_eq!(content(&ada, "documents", "x.md"), merged.replace('a', "c"));
    done(&ada, "shed_undo", &undo);
    assert_eq!(content(&ada, "documents", "x.md"), merged);
    assert_eq!(content(&ada, "documents", "y.md"), "old\n");
}

#[test]
fn a_path_comes_back_by_one_change_after_the_other() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for text in ["1\n", "2\n", "3\n"] {
        file(&ada, "documents", "x.md", text);
    }
    file(&ada, "documents", "y.md", "3\n");
    let both = ["-i", "s/3/4/", "x.md", "y.md"];
    ran(&writes(&ada, "both"), "documents", "sed", &both);
    for text in ["3\n", "2\n", "1\n"] {
        undone(&ada, &json!({"path": "documents/x.md"}));
        assert_eq!(content(&ada, "documents", "x.md"), text);
    }
    // The rest of the change of both leaves alone what came back.
    file(&ada, "documents", "x.md", "newer\n");
    let files = undone(&ada, &json!({"answer": "both"}));
    assert_eq!(files, ["documents/y.md restored"]);
    assert_eq!(content(&ada, "documents", "x.md"), "newer\n");
    assert_eq!(content(&ada, "documents", "y.md"), "3\n");
}

#[test]
fn a_part_that_stands_again_is_taken_back_again() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for name in ["w.md", "x.md", "y.md"] {
        file(&ada, "documents", name, "old\n");
    }
    let answer = writes(&ada, "answer");
    let all = ["-i", "s/old/new/", "w.md", "x.md", "y.md"];
    ran(&answer, "documents", "sed", &all);
    let (w, y) = (
        json!({"zone": "documents", "path": "w.md"}),
        json!({"zone": "documents", "path": "y.md"}),
    );
    let part = |answer: &Value| {
        let undo = json!({"answer": answer, "partial": true});
        done(&ada, "shed_undo", &undo)["undo"].take()
    };
    done(&ada, "shed_lockedit_open", &y);
    let first = part(&json!("answer"));
    done(&ada, "shed_lockedit_open", &w);
    part(&first);
    for (name, text) in [("w.md", "old\n"), ("x.md", "new\n"), ("y.md", "new\n")] {
        assert_eq!(content(&ada, "documents", name), text, "{name}");
    }
    for open in [w, y] {
        done(&ada, "shed_lockedit_cancel", &open);
    }
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    for name in ["w.md", "x.md", "y.md"] {
        assert_eq!(content(&ada, "documents", name), "old\n", "{name}");
    }
}

#[test]
fn a_renamed_file_that_stays_is_no_part_that_came_back() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "a.md", "text\n");
    let answer = writes(&ada, "answer");
    for (from, to) in [("a.md", "b.md"), ("b.md", "c.md"), ("c.md", "d.md")] {
        let rename = json!({"zone": "documents", "old_path": from, "new_path": to});
        done(&answer, "shed_rename", &rename);
    }
    file(&answer, "documents", "new.md", "new\n");
    let open = json!({"zone": "documents", "path": "d.md"});
    done(&ada, "shed_lockedit_open", &open);
    let part = json!({"answer": "answer", "partial": true});
    done(&ada, "shed_undo", &part);
    assert!(missing(&ada, "documents", "new.md"));
    assert_eq!(marks(&ada, "answer"), [false, false, false, true]);
    done(&ada, "shed_lockedit_cancel", &open);
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "documents", "a.md"), "text\n");
    assert_eq!(marks(&ada, "answer"), [true; 4]);
}

/// Enters an undo of an answer, of a server that was killed.
fn enter_undo(server: &TestApp) {
    let registry = Connection::open(server.data().join("access_auth.sqlite"));
    let written: String = registry
        .expect("a registry")
        .query_row(
            "SELECT json_object('tenant', home, 'zone', zone, 'changed_at', changed_at, 'actor', actor,
                 'author', author, 'chat', chat, 'answer', 'undo-1', 'operation', 'shed_undo',
                 'steps', '', 'before', NULL, 'commit', NULL,
                 'undoes', group_concat(number, ',' ORDER BY number DESC))
             FROM changes WHERE answer = 'answer'",
            (),
            |row| row.get(0),
        )
        .expect("a change");
    enter_intent(server, "documents", ("", "shed_undo"), Some(written));
}

#[test]
fn the_files_that_an_undo_took_back_before_it_was_killed_count() {
    for is_whole in [false, true] {
        let server = small().app();
        let ada = server.as_user("ada").chat("one");
        write_twice(&ada);
        enter_undo(&server);
        let (here, merged) = (place(&server, "ada", "documents"), TEXT.replace('z', "Z"));
        std::fs::write(here.join("x.md"), &merged).expect("written");
        if is_whole {
            std::fs::write(here.join("y.md"), "old\n").expect("written");
        }
        // The next change of the zone repairs it.
        file(&writes(&ada, "other"), "documents", "other.md", "other\n");
        assert_eq!(marks(&ada, "answer"), [true, true, is_whole]);
        let undo = json!({"answer": "answer"});
        if is_whole {
            ada.call("shed_undo", &undo).refused(409, "FILE_EXISTS");
        } else {
            let rest = done(&ada, "shed_undo", &undo);
            assert_eq!(named(&rest["files"]), ["documents/y.md"], "{rest}");
            done(&ada, "shed_undo", &json!({"answer": rest["undo"]}));
        }
        done(&ada, "shed_undo", &json!({"answer": "undo-1"}));
        assert_eq!(content(&ada, "documents", "x.md"), merged.replace('a', "c"));
        assert_eq!(content(&ada, "documents", "y.md"), "new\n");
    }
}

/// Files get their former names back one after the other; then the new ones go.
#[test]
fn a_file_that_has_both_names_after_a_kill_loses_the_new_one() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let names = ["back.md", "both.md", "edited.md", "left.md"];
    for name in names {
        file(&ada, "documents", &format!("d/{name}"), name);
    }
    let rename = json!({"zone": "documents", "old_path": "d", "new_path": "e"});
    done(&writes(&ada, "answer"), "shed_rename", &rename);
    file(&writes(&ada, "after"), "documents", "e/edited.md", "since");
    enter_undo(&server);
    let here = place(&server, "ada", "documents");
    std::fs::create_dir_all(here.join("d")).expect("made");
    for name in &names[..3] {
        std::fs::copy(here.join("e").join(name), here.join("d").join(name)).expect("copied");
    }
    std::fs::remove_file(here.join("e/back.md")).expect("removed");
    // The next change of the zone repairs it.
    file(&writes(&ada, "other"), "documents", "other.md", "other\n");
    assert_eq!(marks(&ada, "answer"), [false]);
    let expect = |there: &str, gone: &str| {
        for name in names {
            let text = if name == "edited.md" { "since" } else { name };
            assert_eq!(content(&ada, "documents", &format!("{there}/{name}")), text);
            assert!(missing(&ada, "documents", &format!("{gone}/{name}")));
        }
    };
    let rest = done(&ada, "shed_undo", &json!({"answer": "answer"}));
    expect("d", "e");
    assert_eq!(marks(&ada, "answer"), [true]);
    for id in [&rest["undo"], &json!("undo-1")] {
        done(&ada, "shed_undo", &json!({"answer": id}));
    }
    expect("e", "d");
    assert_eq!(marks(&ada, "answer"), [false]);
}
