//! Undo in `storage` and `uploads`, where each step is taken back by itself.

use serde_json::json;

use super::{add, done, enter_intent, missing, named, writes};
use crate::ops::stage::{content, file, ran, small, upload};

#[test]
fn each_undo_takes_the_answer_before_however_a_file_was_written() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "made"), "storage", "d/log.txt", "a\n");
    add(&ada, "added", "d/log.txt", "b\n");
    ran(
        &writes(&ada, "edited"),
        "storage",
        "sed",
        &["-i", "s/a/A/", "d/log.txt"],
    );
    add(&ada, "added again", "d/log.txt", "c\n");
    for text in ["A\nb\n", "a\nb\n", "a\n"] {
        done(&ada, "shed_undo", &json!({}));
        assert_eq!(content(&ada, "storage", "d/log.txt"), text);
    }
    done(&ada, "shed_undo", &json!({}));
    assert!(missing(&ada, "storage", "d/log.txt"));
}

#[test]
fn a_new_directory_goes_after_an_undo_inside_it() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    ran(&writes(&ada, "before"), "storage", "mkdir", &["from"]);
    file(&writes(&ada, "before"), "storage", "from/x", "a\n");
    let copy = json!({"from": "storage/from", "to": "storage/d"});
    done(&writes(&ada, "copied"), "shed_copy", &copy);
    add(&ada, "added", "d/x", "b\n");
    done(&ada, "shed_undo", &json!({}));
    done(&ada, "shed_undo", &json!({}));
    assert!(missing(&ada, "storage", "d/x"));
    assert_eq!(content(&ada, "storage", "from/x"), "a\n");
}

#[test]
fn answers_that_wrote_other_lines_are_taken_back_in_any_order() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let first = text.replace('1', "one");
    let both = first.replace('9', "nine");
    file(&writes(&ada, "before"), "storage", "a.md", text);
    file(&writes(&ada, "first"), "storage", "a.md", &first);
    file(&writes(&ada, "second"), "storage", "a.md", &both);
    done(&ada, "shed_undo", &json!({"answer": "first"}));
    assert_eq!(content(&ada, "storage", "a.md"), text.replace('9', "nine"));
    done(&ada, "shed_undo", &json!({"answer": "second"}));
    assert_eq!(content(&ada, "storage", "a.md"), text);
}

#[test]
fn additions_are_taken_back_in_any_order() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "storage", "log.txt", "a\n");
    add(&ada, "first", "log.txt", "b\n");
    add(&ada, "second", "log.txt", "c\n");
    done(&ada, "shed_undo", &json!({"answer": "first"}));
    assert_eq!(content(&ada, "storage", "log.txt"), "a\nc\n");
    done(&ada, "shed_undo", &json!({"answer": "second"}));
    assert_eq!(content(&ada, "storage", "log.txt"), "a\n");
}

#[test]
fn an_edit_behind_an_addition_stays_even_if_it_ends_alike() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "storage", "a.css", "a {\n");
    add(&ada, "answer", "a.css", "}\n");
    let mine = "a {\n}\n\nb {\n}\n";
    file(&writes(&ada, "mine"), "storage", "a.css", mine);
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage", "a.css"), mine);
}

#[test]
fn an_edit_that_no_change_lists_is_not_lost_with_an_undo() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "first"), "storage", "x", "one\n");
    // A command beside others may write without a change of the list.
    let place = server.data().join("users/ada/Storage/data/x");
    std::fs::write(place, "one\nmine\n").expect("written");
    ran(
        &writes(&ada, "second"),
        "storage",
        "sed",
        &["-i", "s/one/two/", "x"],
    );
    done(&ada, "shed_undo", &json!({}));
    assert_eq!(content(&ada, "storage", "x"), "one\nmine\n");
    let refused = ada.call("shed_undo", &json!({"answer": "first"}));
    refused.refused(409, "FILE_EXISTS");
}

#[test]
fn edits_that_no_change_lists_stay_whatever_their_size() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let place = server.data().join("users/ada/Storage/data");
    let write = |path: &str, text: &str| {
        std::fs::write(place.join(path), text).expect("written");
    };
    let expect_kept = |answer: &str, path: &str, text: &str| {
        let refused = ada.call("shed_undo", &json!({"answer": answer}));
        refused.refused(409, "FILE_EXISTS");
        assert_eq!(content(&ada, "storage", path), text);
    };
    // Above an addition.
    file(&writes(&ada, "a"), "storage", "a", "one\n");
    add(&ada, "a", "a", "two\n");
    write("a", "mine\none\ntwo\n");
    expect_kept("a", "a", "mine\none\ntwo\n");
    // Of the same size, before an addition by another file.
    file(&writes(&ada, "b"), "storage", "b", "[ ] one\n");
    add(&ada, "b", "b", "[ ] two\n");
    write("b.new", "[x] one\n[ ] two\n");
    std::fs::rename(place.join("b.new"), place.join("b")).expect("renamed");
    expect_kept("b", "b", "[x] one\n[ ] two\n");
    // Of the same size, before an answer that was taken back.
    file(&writes(&ada, "c"), "storage", "c", "one\n");
    write("c", "ONE\n");
    let edit = ["-i", "s/ONE/two/", "c"];
    ran(&writes(&ada, "c2"), "storage", "sed", &edit);
    done(&ada, "shed_undo", &json!({"answer": "c2"}));
    expect_kept("c", "c", "ONE\n");
}

#[test]
fn a_file_that_came_goes_back_with_the_edits_since() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    upload(&ada, "in.csv", "a\n");
    let moved = json!({"from": "uploads/in.csv", "to": "storage/in.csv", "move": true});
    done(&writes(&ada, "answer"), "shed_copy", &moved);
    file(&writes(&ada, "mine"), "storage", "in.csv", "b\n");
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "uploads", "in.csv"), "b\n");
}

#[test]
fn answers_of_two_conversations_are_taken_back_one_after_the_other() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let other = server.as_user("ada").chat("two");
    file(&writes(&ada, "before"), "storage", "x", "0\n");
    file(&writes(&ada, "before"), "storage", "y", "1\n");
    file(&writes(&ada, "first"), "storage", "x", "x\n");
    file(&writes(&other, "second"), "storage", "y", "2\n");
    ran(
        &writes(&ada, "first"),
        "storage",
        "sed",
        &["-i", "s/2/3/", "y"],
    );
    done(&ada, "shed_undo", &json!({}));
    assert_eq!(content(&ada, "storage", "y"), "2\n");
    done(&other, "shed_undo", &json!({}));
    assert_eq!(content(&ada, "storage", "y"), "1\n");
    assert_eq!(content(&ada, "storage", "x"), "0\n");
}

#[test]
fn a_part_that_was_taken_back_is_no_edit_of_an_older_answer() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "storage", "a", "0\n");
    file(&writes(&ada, "before"), "storage", "b", "0\n");
    file(&writes(&ada, "first"), "storage", "a", "1\n");
    let edit = ["-i", "s/$/!/", "a", "b"];
    ran(&writes(&ada, "second"), "storage", "sed", &edit);
    done(&ada, "shed_undo", &json!({"path": "storage/a"}));
    assert_eq!(content(&ada, "storage", "a"), "1\n");
    done(&ada, "shed_undo", &json!({"answer": "first"}));
    assert_eq!(content(&ada, "storage", "a"), "0\n");
    assert_eq!(content(&ada, "storage", "b"), "0!\n");
}

#[test]
fn two_files_that_came_from_one_place_are_not_taken_back_in_half() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for to in ["p.csv", "q.csv"] {
        upload(&ada, "in.csv", to);
        let moved = json!({"from": "uploads/in.csv", "to": format!("storage/{to}"), "move": true});
        done(&writes(&ada, "answer"), "shed_copy", &moved);
    }
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage", "q.csv"), "q.csv");
    let part = json!({"answer": "answer", "partial": true});
    let told = done(&ada, "shed_undo", &part);
    assert_eq!(named(&told["kept"]), ["storage/p.csv"], "{told}");
    assert_eq!(content(&ada, "uploads", "in.csv"), "q.csv");
}

#[test]
fn an_edit_above_an_addition_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "answer"), "storage", "log.txt", "a\n");
    add(&ada, "answer", "log.txt", "b\n");
    file(&writes(&ada, "mine"), "storage", "log.txt", "mine\nb\n");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    let part = json!({"answer": "answer", "partial": true});
    let told = done(&ada, "shed_undo", &part);
    assert_eq!(named(&told["kept"]), ["storage/log.txt"], "{told}");
    assert!(content(&ada, "storage", "log.txt").starts_with("mine\n"));
}

#[test]
fn a_file_that_has_the_name_of_one_that_came_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    upload(&ada, "in.csv", "a,b\n");
    let moved = json!({"from": "uploads/in.csv", "to": "storage/in.csv", "move": true});
    done(&writes(&ada, "answer"), "shed_copy", &moved);
    let rename = json!({"zone": "storage", "old_path": "in.csv", "new_path": "data.csv"});
    done(&writes(&ada, "renamed"), "shed_rename", &rename);
    file(&writes(&ada, "mine"), "storage", "in.csv", "mine\n");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage", "in.csv"), "mine\n");
    assert_eq!(content(&ada, "storage", "data.csv"), "a,b\n");
}

#[test]
fn a_move_of_which_the_bin_keeps_nothing_is_named() {
    let server = small().env("FILESHED_BIN_DAYS", "0").app();
    let ada = server.as_user("ada").chat("one");
    file(&writes(&ada, "before"), "storage", "big", "big\n");
    let moved = json!({"from": "storage/big", "to": "documents/big", "move": true});
    done(&writes(&ada, "answer"), "shed_copy", &moved);
    let undo = json!({"answer": "answer"});
    let refused = ada.call("shed_undo", &undo);
    refused.refused(404, "FILE_NOT_FOUND");
    assert!(refused.text.contains("storage/big"), "{}", refused.text);
    assert_eq!(content(&ada, "documents", "big"), "big\n");
    let told = done(
        &ada,
        "shed_undo",
        &json!({"answer": "answer", "partial": true}),
    );
    assert_eq!(named(&told["kept"]), ["storage/big"], "{told}");
}

#[test]
fn an_undo_that_went_down_after_a_file_was_sent_back_is_done() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    upload(&ada, "in.csv", "a,b\n");
    let moved = json!({"from": "uploads/in.csv", "to": "storage/in.csv", "move": true});
    done(&writes(&ada, "answer"), "shed_copy", &moved);
    let undo = json!({"answer": "answer"});
    done(&ada, "shed_undo", &undo);
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite"));
    let registry = registry.expect("a registry");
    let written: String = registry
        .query_row(
            "SELECT json_object('tenant', home, 'zone', zone, 'changed_at', changed_at, 'actor', actor,
                 'author', author, 'chat', chat, 'answer', answer, 'operation', operation, 'steps', steps,
                 'before', NULL, 'commit', NULL, 'undoes', undoes)
             FROM changes WHERE undoes IS NOT NULL",
            (),
            |row| row.get(0),
        )
        .expect("a change");
    // The server went down before the end of the intent.
    registry
        .execute_batch(
            "DELETE FROM changes WHERE undoes IS NOT NULL; UPDATE changes SET undone_by = NULL;",
        )
        .expect("taken out");
    enter_intent(&server, "uploads", ("", "shed_undo"), Some(written));
    // The next change of the zone repairs it.
    let gone = json!({"zone": "uploads", "path": "in.csv"});
    done(&writes(&ada, "other"), "shed_delete", &gone);
    ada.call("shed_undo", &undo).refused(409, "FILE_EXISTS");
}

#[test]
fn what_moved_between_zones_comes_back_among_the_changes_of_each() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    upload(&ada, "x/a.md", "a\n");
    upload(&ada, "x/b.md", "b\n");
    let answer = writes(&ada, "answer");
    let moved = json!({"from": "uploads/x/a.md", "to": "storage/a.md", "move": true});
    done(&answer, "shed_copy", &moved);
    done(
        &answer,
        "shed_delete",
        &json!({"zone": "uploads", "path": "x"}),
    );
    add(&ada, "answer", "a.md", "more\n");
    let mut undo = json!({"answer": "answer"});
    for _ in 0..2 {
        let undone = done(&ada, "shed_undo", &undo);
        assert_eq!(content(&ada, "uploads", "x/a.md"), "a\n");
        assert_eq!(content(&ada, "uploads", "x/b.md"), "b\n");
        let again = done(&ada, "shed_undo", &json!({"answer": undone["undo"]}));
        assert_eq!(content(&ada, "storage", "a.md"), "a\nmore\n");
        assert!(missing(&ada, "uploads", "x/b.md"));
        undo = json!({"answer": again["undo"]});
    }
}

#[test]
fn a_directory_that_came_comes_back_with_what_was_written_into_it() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    upload(&ada, "x/a.md", "a\n");
    let answer = writes(&ada, "answer");
    let moved = json!({"from": "uploads/x", "to": "storage/z", "move": true});
    done(&answer, "shed_copy", &moved);
    file(&answer, "storage", "b.md", "b\n");
    file(&answer, "storage", "z/a.md", "new\n");
    let mut undo = json!({"answer": "answer"});
    for _ in 0..2 {
        let undone = done(&ada, "shed_undo", &undo);
        assert_eq!(content(&ada, "uploads", "x/a.md"), "a\n");
        assert!(missing(&ada, "storage", "z/a.md"));
        let again = done(&ada, "shed_undo", &json!({"answer": undone["undo"]}));
        assert_eq!(content(&ada, "storage", "z/a.md"), "new\n");
        undo = json!({"answer": again["undo"]});
    }
}
