//! Undo in zones with history: names, directories, contents that are lost, and what the answer says.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use fileshed_test_support::{Client, TestApp, skip, wait_until};
use serde_json::{Value, json};

use super::{missing, undone, writes};
use crate::ops::stage::{content, done, file, output, place, ran, small};

fn rename(from: &str, to: &str) -> Value {
    json!({"zone": "documents", "old_path": from, "new_path": to})
}

fn repository(server: &TestApp, user: &str) -> PathBuf {
    server
        .data()
        .join("users")
        .join(user)
        .join("Documents/repo.git")
}

/// Asserts that the history of a user is the one that it was from the beginning.
#[track_caller]
fn expect_history(server: &TestApp, user: &str) {
    let home = server.data().join("users").join(user).join("Documents");
    let names = std::fs::read_dir(home).expect("a directory");
    let names: Vec<String> = names
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a text")
        })
        .filter(|name| name.starts_with("repo.git"))
        .collect();
    assert_eq!(names, ["repo.git"]);
}

/// The file of a loose object.
fn object(repository: &Path, id: &str) -> PathBuf {
    let (directory, name) = id.trim().split_at(2);
    repository.join("objects").join(directory).join(name)
}

#[test]
fn a_renamed_file_gets_its_name_back_by_either_path() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "a.md", "text\n");
    for path in ["documents/b.md", "documents/a.md"] {
        done(&ada, "shed_rename", &rename("a.md", "b.md"));
        let files = undone(&ada, &json!({"path": path}));
        assert_eq!(
            files,
            ["documents/a.md restored", "documents/b.md removed"],
            "{path}"
        );
        assert_eq!(content(&ada, "documents", "a.md"), "text\n");
        assert!(missing(&ada, "documents", "b.md"));
    }
}

#[test]
fn an_edit_since_goes_with_the_file_to_its_former_name() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "a.md", "one\ntwo\n");
    done(
        &writes(&ada, "answer"),
        "shed_rename",
        &rename("a.md", "b.md"),
    );
    file(&writes(&ada, "after"), "documents", "b.md", "one\nTWO\n");
    let files = undone(&ada, &json!({"answer": "answer"}));
    let merged = "documents/a.md restored, with what was changed since";
    assert_eq!(files, [merged, "documents/b.md removed"]);
    assert_eq!(content(&ada, "documents", "a.md"), "one\nTWO\n");
}

#[test]
fn an_edit_is_taken_out_of_a_file_that_has_another_name_since() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "a.md", "one\n");
    file(&writes(&ada, "answer"), "documents", "a.md", "two\n");
    done(
        &writes(&ada, "after"),
        "shed_rename",
        &rename("a.md", "kept/b.md"),
    );
    let files = undone(&ada, &json!({"answer": "answer"}));
    assert_eq!(files, ["documents/kept/b.md restored"]);
    assert_eq!(content(&ada, "documents", "kept/b.md"), "one\n");
    assert!(missing(&ada, "documents", "a.md"));
}

#[test]
fn two_edits_are_taken_out_of_a_file_that_has_another_name_since() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "a.md", "one\n");
    for text in ["two\n", "three\n"] {
        file(&writes(&ada, "answer"), "documents", "a.md", text);
        file(&writes(&ada, "other"), "documents", "other.md", text);
    }
    let after = writes(&ada, "after");
    done(&after, "shed_rename", &rename("a.md", "b.md"));
    undone(&ada, &json!({"answer": "answer"}));
    assert_eq!(content(&ada, "documents", "b.md"), "one\n");
    assert!(missing(&ada, "documents", "a.md"));
}

/// Whatever is alike, no edit of a person gets into another file.
#[test]
fn a_file_that_looks_like_one_that_went_is_not_taken_for_it() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let month = |name: &str| format!("# {name}\n{}", "a line of the template\n".repeat(20));
    file(&ada, "documents", "jan.md", &month("January"));
    let answer = writes(&ada, "answer");
    file(&answer, "documents", "feb.md", &month("February"));
    done(
        &answer,
        "shed_delete",
        &json!({"zone": "documents", "path": "jan.md"}),
    );
    let now = month("February") + "paid\n";
    file(&writes(&ada, "after"), "documents", "feb.md", &now);
    let undo = json!({"answer": "answer"});
    let refused = ada.call("shed_undo", &undo);
    refused.refused(409, "FILE_EXISTS");
    assert!(
        refused.text.contains("documents/feb.md"),
        "{}",
        refused.text
    );
    let files = undone(&ada, &json!({"answer": "answer", "partial": true}));
    assert_eq!(files, ["documents/jan.md restored"]);
    assert_eq!(content(&ada, "documents", "jan.md"), month("January"));
    assert_eq!(content(&ada, "documents", "feb.md"), now);
}

#[test]
fn a_file_in_the_place_of_a_former_directory_stays() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "data/x.md", "x\n");
    file(&ada, "documents", "d/a.md", "a\n");
    let answer = writes(&ada, "answer");
    done(&answer, "shed_rename", &rename("data", "data-2025"));
    done(&answer, "shed_rename", &rename("d/a.md", "b.md"));
    let after = writes(&ada, "after");
    if !missing(&ada, "documents", "d") {
        ran(&after, "documents", "rmdir", &["--", "d"]);
    }
    file(&after, "documents", "data", "mine\n");
    ran(&after, "documents", "rmdir", &["d"]);
    file(&after, "documents", "d", "mine too\n");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    let taken = "`documents/data/x.md` has something else at its path";
    assert!(refused.text.contains(taken), "{}", refused.text);
    let data = done(
        &ada,
        "shed_undo",
        &json!({"answer": "answer", "partial": true}),
    );
    assert_eq!(data["kept"].as_array().map(Vec::len), Some(2), "{data}");
    for (path, text) in [
        ("data", "mine\n"),
        ("d", "mine too\n"),
        ("data-2025/x.md", "x\n"),
        ("b.md", "a\n"),
    ] {
        assert_eq!(content(&ada, "documents", path), text, "{path}");
    }
}

#[test]
fn a_directory_that_was_there_before_stays_and_a_new_one_goes() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "other.md", "x");
    let documents = server.data().join("users/ada/Documents/data");
    let notes = documents.join("notes");
    std::fs::create_dir(&notes).expect("made");
    if std::fs::metadata(&notes).expect("there").created().is_err() {
        return skip("a file system that knows when directories were made");
    }
    let second = |path: &Path| std::fs::metadata(path).expect("there").mtime();
    let later = server.data().join("later");
    wait_until("changes are of the next second", || {
        std::fs::write(&later, "").expect("written");
        second(&later) > second(&notes)
    });
    let answer = writes(&ada, "answer");
    for path in ["notes/a.md", "new/deep/a.md"] {
        file(&answer, "documents", path, "x");
    }
    done(&ada, "shed_undo", &json!({"answer": "answer"}));
    assert!(notes.exists());
    assert!(!documents.join("new").exists());
}

#[test]
fn the_last_change_below_a_directory_is_taken_back_by_its_path() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        file(&ada, zone, "d/x.md", "x\n");
        file(&ada, zone, "d/y.md", "y\n");
        done(&ada, "shed_delete", &json!({"zone": zone, "path": "d"}));
        done(&ada, "shed_undo", &json!({"path": format!("{zone}/d")}));
        for name in ["x", "y"] {
            let path = format!("d/{name}.md");
            assert_eq!(content(&ada, zone, &path), format!("{name}\n"));
        }
    }
}

#[test]
fn a_path_means_one_file_however_it_is_spelled() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for zone in ["storage", "documents"] {
        file(&ada, zone, "Z\u{fc}rich.md", "one\n");
        file(&ada, zone, "Z\u{fc}rich.md", "two\n");
        let decomposed = format!("{zone}/Zu\u{308}rich.md");
        let list = done(&ada, "shed_history", &json!({"path": decomposed}));
        assert_eq!(list["changes"].as_array().map(Vec::len), Some(2), "{list}");
        done(&ada, "shed_undo", &json!({"path": decomposed}));
        assert_eq!(content(&ada, zone, "Z\u{fc}rich.md"), "one\n");
    }
}

/// One lost content is no reason to give a history up.
#[test]
fn a_former_content_that_the_disk_lost_is_named_and_nothing_is_done() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "lost.md", "lost\n");
    file(&ada, "documents", "kept.md", "kept\n");
    let answer = writes(&ada, "answer");
    for path in ["lost.md", "kept.md"] {
        file(&answer, "documents", path, &format!("now in {path}\n"));
    }
    file(&answer, "documents", "new.md", "new\n");
    let id = output(&ada, "documents", "git", &["rev-parse", "HEAD~3:lost.md"]);
    std::fs::remove_file(object(&repository(&server, "ada"), &id)).expect("removed");
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(404, "FILE_NOT_FOUND");
    let named = "`documents/lost.md` was not kept";
    assert!(refused.text.contains(named), "{}", refused.text);
    assert_eq!(content(&ada, "documents", "kept.md"), "now in kept.md\n");
    assert_eq!(content(&ada, "documents", "new.md"), "new\n");
    let status = output(&ada, "documents", "git", &["status", "--porcelain"]);
    assert_eq!(status, "");
    let data = done(
        &ada,
        "shed_undo",
        &json!({"answer": "answer", "partial": true}),
    );
    assert_eq!(data["kept"], json!(["documents/lost.md was not kept"]));
    assert_eq!(content(&ada, "documents", "kept.md"), "kept\n");
    assert_eq!(content(&ada, "documents", "lost.md"), "now in lost.md\n");
    assert!(missing(&ada, "documents", "new.md"));
    expect_history(&server, "ada");
}

#[test]
fn a_renamed_file_stays_if_the_disk_lost_its_content() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    file(&ada, "documents", "a.md", "text\n");
    file(&writes(&ada, "answer"), "documents", "c.md", "c\n");
    done(
        &writes(&ada, "answer"),
        "shed_rename",
        &rename("a.md", "b.md"),
    );
    let id = output(&ada, "documents", "git", &["rev-parse", "HEAD:b.md"]);
    std::fs::remove_file(object(&repository(&server, "ada"), &id)).expect("removed");
    let mut undo = json!({"answer": "answer"});
    ada.call("shed_undo", &undo).refused(404, "FILE_NOT_FOUND");
    undo["partial"] = true.into();
    let data = done(&ada, "shed_undo", &undo);
    assert_eq!(data["kept"], json!(["documents/a.md was not kept"]));
    assert_eq!(content(&ada, "documents", "b.md"), "text\n");
    assert!(missing(&ada, "documents", "c.md"));
}

/// Renames `from` to `b.md` and that to `c.md` in an answer; `between` makes a commit of its own.
fn rename_twice(ada: &Client<'_>, from: &str, between: impl FnOnce(&Client<'_>)) {
    file(ada, "documents", from, "text\n");
    let answer = writes(ada, "answer");
    done(&answer, "shed_rename", &rename(from, "b.md"));
    between(&writes(ada, "between"));
    done(&answer, "shed_rename", &rename("b.md", "c.md"));
}

#[test]
fn a_file_that_was_renamed_twice_stays_under_its_last_name_alone() {
    type Step<'s> = &'s dyn Fn(&Client<'_>);
    let other: Step<'_> = &|between| file(between, "documents", "other.md", "other\n");
    let ways: [(&str, &str, Step<'_>, Step<'_>); 3] = [
        (
            "its first place is taken",
            "d/a.md",
            &|between| {
                let d = place(between.server(), "ada", "documents").join("d");
                if d.exists() {
                    std::fs::remove_dir(&d).expect("removed");
                }
                file(between, "documents", "d", "mine\n");
            },
            &|_| (),
        ),
        ("it is edited", "a.md", other, &|after| {
            let open = json!({"zone": "documents", "path": "c.md"});
            done(after, "shed_lockedit_open", &open);
        }),
        ("its content is lost", "a.md", other, &|after| {
            let id = output(after, "documents", "git", &["rev-parse", "HEAD:c.md"]);
            let lost = object(&repository(after.server(), "ada"), &id);
            std::fs::remove_file(lost).expect("removed");
        }),
    ];
    for (way, from, between, after) in ways {
        let server = small().app();
        let ada = server.as_user("ada").chat("one");
        rename_twice(&ada, from, between);
        file(&writes(&ada, "answer"), "documents", "new.md", "new\n");
        after(&ada);
        for partial in [false, true] {
            let undo = json!({"answer": "answer", "partial": partial});
            let told = ada.call("shed_undo", &undo);
            assert_eq!(told.status == 200, partial, "{way}: {}", told.text);
            let here = place(&server, "ada", "documents");
            let text = std::fs::read_to_string(here.join("c.md")).ok();
            assert_eq!(text.as_deref(), Some("text\n"), "{way}: {}", told.text);
            for name in [from, "b.md"] {
                assert!(!here.join(name).exists(), "{way}: {name}: {}", told.text);
            }
            assert_eq!(here.join("new.md").exists(), !partial, "{way}");
        }
    }
}

#[test]
fn an_edit_goes_through_all_names_of_a_file_to_the_first_one() {
    type Step<'s> = &'s dyn Fn(&Client<'_>);
    let nothing: Step<'_> = &|_| ();
    let edit_b: Step<'_> = &|client| file(client, "documents", "b.md", "edited\n");
    let gone = json!({"zone": "documents", "path": "b.md"});
    let ways: [(&str, Step<'_>, Step<'_>, Step<'_>); 4] = [
        (
            "edited before it was renamed again",
            edit_b,
            &|answer| {
                done(answer, "shed_rename", &rename("b.md", "c.md"));
            },
            nothing,
        ),
        (
            "edited after it was renamed again",
            &|between| file(between, "documents", "other.md", "other\n"),
            &|answer| {
                done(answer, "shed_rename", &rename("b.md", "c.md"));
            },
            &|after| file(after, "documents", "c.md", "edited\n"),
        ),
        (
            "edited before it was renamed and written again",
            edit_b,
            &|answer| {
                done(answer, "shed_rename", &rename("b.md", "c.md"));
                file(answer, "documents", "c.md", "of the answer\n");
            },
            nothing,
        ),
        (
            "edited before it was deleted",
            edit_b,
            &|answer| {
                done(answer, "shed_delete", &gone);
            },
            nothing,
        ),
    ];
    for (way, between, again, after) in ways {
        let server = small().app();
        let ada = server.as_user("ada").chat("one");
        let answer = writes(&ada, "answer");
        file(&ada, "documents", "a.md", "text\n");
        done(&answer, "shed_rename", &rename("a.md", "b.md"));
        between(&writes(&ada, "between"));
        again(&answer);
        after(&writes(&ada, "after"));
        let here = place(&server, "ada", "documents");
        let files = || {
            let text = |name: &str| std::fs::read_to_string(here.join(name)).ok();
            ["a.md", "b.md", "c.md"].map(text)
        };
        let before = files();
        let told = ada.call("shed_undo", &json!({"answer": "answer"}));
        assert_eq!(told.status, 200, "{way}: {}", told.text);
        assert_eq!(files(), [Some("edited\n".to_owned()), None, None], "{way}");
        done(&ada, "shed_undo", &json!({"answer": told.data()["undo"]}));
        assert_eq!(files(), before, "{way}");
    }
}

#[test]
fn another_file_that_was_renamed_from_the_same_name_does_not_get_the_first_one() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    rename_twice(&ada, "a.md", |between| {
        done(between, "shed_rename", &rename("b.md", "z.md"));
        file(between, "documents", "b.md", "another\n");
    });
    let mut undo = json!({"answer": "answer"});
    let refused = ada.call("shed_undo", &undo);
    refused.refused(409, "FILE_EXISTS");
    let taken = "`documents/b.md` has something else at its path";
    assert!(refused.text.contains(taken), "{}", refused.text);
    undo["partial"] = true.into();
    done(&ada, "shed_undo", &undo);
    assert_eq!(content(&ada, "documents", "c.md"), "another\n");
    assert_eq!(content(&ada, "documents", "z.md"), "text\n");
    assert!(missing(&ada, "documents", "a.md") && missing(&ada, "documents", "b.md"));
}

#[test]
fn a_change_whose_commit_the_disk_lost_is_told_as_not_kept() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let log = ["rev-parse", "HEAD"];
    for (number, path) in ["a.md", "b.md", "c.md"].into_iter().enumerate() {
        let answer = writes(&ada, &format!("answer-{number}"));
        ran(&answer, "documents", "cp", &["/dev/null", path]);
        file(&answer, "documents", path, "x\n");
    }
    let lost = output(&ada, "documents", "git", &["rev-parse", "HEAD~2"]);
    let head = output(&ada, "documents", "git", &log);
    std::fs::remove_file(object(&repository(&server, "ada"), &lost)).expect("removed");
    for undo in [
        json!({"answer": "answer-1", "dry_run": true}),
        json!({"answer": "answer-1", "partial": true}),
    ] {
        let data = done(&ada, "shed_undo", &undo);
        let kept = data["kept"].as_array().expect("a list");
        assert!(
            kept.iter().any(|kept| kept == "documents was not kept"),
            "{data}"
        );
    }
    let stands = output(&ada, "documents", "git", &log) == head;
    assert!(stands, "nothing was taken back");
    expect_history(&server, "ada");
}

#[test]
fn the_way_on_from_a_path_without_a_change_works_in_a_group() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let refused = ada.call("shed_undo", &json!({"path": "group/team/none.md"}));
    refused.refused(404, "FILE_NOT_FOUND");
    let hint = refused.body["error"]["hint"].as_str().expect("a text");
    assert!(hint.contains("group/team"), "{hint}");
    done(&ada, "shed_history", &json!({"path": "group/team"}));
}

#[test]
fn a_part_of_which_nothing_can_be_done_says_so() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    for (message, text) in [
        ("before", "one\n"),
        ("answer", "two\n"),
        ("after", "three\n"),
    ] {
        file(&writes(&ada, message), "documents", "a.md", text);
    }
    let undo = json!({"answer": "answer", "partial": true});
    let answer = ada.call("shed_undo", &undo);
    assert_eq!(
        answer.body["message"], "No file could be put back",
        "{}",
        answer.text
    );
    assert_eq!(content(&ada, "documents", "a.md"), "three\n");
}

#[test]
fn empty_files_are_not_taken_for_one_another() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let answer = writes(&ada, "answer");
    ran(&ada, "documents", "touch", &["old.md"]);
    done(
        &answer,
        "shed_delete",
        &json!({"zone": "documents", "path": "old.md"}),
    );
    ran(&answer, "documents", "touch", &["new.md"]);
    file(&writes(&ada, "after"), "documents", "new.md", "mine\n");
    ada.call("shed_undo", &json!({"answer": "answer"}))
        .refused(409, "FILE_EXISTS");
    // The name of one alone comes back.
    ran(&answer, "documents", "touch", &["a.md"]);
    done(&answer, "shed_rename", &rename("a.md", "b.md"));
    undone(&ada, &json!({"path": "documents/b.md"}));
    assert_eq!(content(&ada, "documents", "a.md"), "");
    assert!(missing(&ada, "documents", "b.md"));
}

/// Renames `a.md` to `b.md` in an answer; then another file gets that name.
fn rename_and_replace(ada: &Client<'_>, replace: impl FnOnce(&Client<'_>)) {
    file(ada, "documents", "a.md", "text\n");
    let answer = writes(ada, "answer");
    done(&answer, "shed_rename", &rename("a.md", "b.md"));
    file(&answer, "documents", "new.md", "new\n");
    replace(&writes(ada, "after"));
}

#[test]
fn a_file_of_others_at_the_new_name_of_a_renamed_one_stays() {
    type Replace<'r> = &'r dyn Fn(&Client<'_>);
    let gone = json!({"zone": "documents", "path": "b.md"});
    let ways: [(&str, Replace<'_>); 4] = [
        ("moved on", &|after| {
            done(after, "shed_rename", &rename("b.md", "c.md"));
            file(after, "documents", "b.md", "another\n");
        }),
        ("deleted", &|after| {
            done(after, "shed_delete", &gone);
            file(after, "documents", "b.md", "another\n");
        }),
        ("moved on in one command", &|after| {
            let line = "mv b.md c.md; echo another > b.md";
            let line = json!({"command": line, "cwd": "/documents"}).to_string();
            let answer = after.send("POST", "/terminal/execute?wait=60", line.as_bytes());
            assert_eq!(answer.body["exit_code"], 0, "{}", answer.text);
        }),
        ("moved over", &|after| {
            file(after, "documents", "other.md", "another\n");
            ran(after, "documents", "mv", &["other.md", "b.md"]);
        }),
    ];
    for (way, replace) in ways {
        let server = small().app();
        let ada = server.as_user("ada").chat("one");
        rename_and_replace(&ada, replace);
        let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
        refused.refused(409, "FILE_EXISTS");
        let taken = "`documents/b.md` has something else at its path";
        assert!(refused.text.contains(taken), "{way}: {}", refused.text);
        let files = undone(&ada, &json!({"answer": "answer", "partial": true}));
        assert_eq!(files, ["documents/new.md removed"], "{way}");
        assert_eq!(content(&ada, "documents", "b.md"), "another\n", "{way}");
        assert!(missing(&ada, "documents", "a.md"), "{way}");
    }
}

#[test]
fn a_renamed_file_that_went_and_came_back_gets_its_former_name() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let gone = json!({"zone": "documents", "path": "b.md"});
    rename_and_replace(&ada, |after| {
        done(after, "shed_rename", &rename("b.md", "c.md"));
        file(after, "documents", "c.md", "edited\n");
        done(after, "shed_rename", &rename("c.md", "b.md"));
        done(after, "shed_delete", &gone);
        done(after, "shed_undo", &json!({"path": "documents/b.md"}));
    });
    let undo = json!({"answer": "answer"});
    let first = done(&ada, "shed_undo", &undo);
    assert_eq!(content(&ada, "documents", "a.md"), "edited\n");
    // The undo is undone, and done again.
    file(
        &writes(&ada, "after"),
        "documents",
        "a.md",
        "edited again\n",
    );
    done(&ada, "shed_undo", &json!({"answer": first["undo"]}));
    assert_eq!(content(&ada, "documents", "b.md"), "edited again\n");
    done(&ada, "shed_undo", &undo);
    assert_eq!(content(&ada, "documents", "a.md"), "edited again\n");
}

#[test]
fn a_file_of_another_member_at_the_new_name_stays_theirs() {
    let server = small().app();
    let (ada, bob) = server.team();
    let ada = ada.chat("one");
    let file = |path: &str, mode: &str| json!({"zone": "group", "group": "team", "path": path, "content": mode, "mode": mode});
    let rename = |from: &str, to: &str| json!({"zone": "group", "group": "team", "old_path": from, "new_path": to});
    done(&ada, "shed_create_file", &file("a.md", "owner"));
    done(
        &writes(&ada, "answer"),
        "shed_rename",
        &rename("a.md", "b.md"),
    );
    done(
        &writes(&ada, "after"),
        "shed_rename",
        &rename("b.md", "c.md"),
    );
    done(&bob, "shed_create_file", &file("b.md", "group"));
    let owners = || done(&ada, "shed_group_info", &json!({"group": "team"}))["files"].take();
    let before = owners();
    let refused = ada.call("shed_undo", &json!({"answer": "answer"}));
    refused.refused(409, "FILE_EXISTS");
    assert_eq!(owners(), before);
}
