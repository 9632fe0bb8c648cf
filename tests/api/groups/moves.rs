//! Owner and mode follow a file that a command moves.

use serde_json::json;

use crate::groups::team::{app, assert_sound, call, done, file, files, owners, repository, run};
use fileshed_test_support::{Client, TestApp, skip};

fn record(owner: &str, mode: &str) -> (Option<String>, String) {
    (Some(owner.to_owned()), mode.to_owned())
}

/// Returns path, owner and mode of the only file with this content.
#[track_caller]
fn of(server: &TestApp, text: &str) -> (String, (Option<String>, String)) {
    let found: Vec<String> = files(server)
        .into_iter()
        .filter(|(_, content)| content == text.as_bytes())
        .map(|(path, _)| path)
        .collect();
    let [path] = found.as_slice() else {
        panic!("{text:?} is in {found:?}");
    };
    (path.clone(), owners(&server.as_user("ada"))[path].clone())
}

#[track_caller]
fn ok(client: &Client<'_>, cmd: &str, args: &[&str]) {
    let answer = run(client, cmd, args);
    assert_eq!(
        answer.data()["returncode"],
        0,
        "{cmd} {args:?}: {}",
        answer.text
    );
}

#[test]
fn a_protected_file_stays_protected_wherever_its_owner_moves_it() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let ways: &[(&str, &[&str], &str)] = &[
        ("mv", &["d/a.md", "b.md"], "b.md"),
        ("mv", &["d/a.md", "d/b.md"], "d/b.md"),
        ("mv", &["d", "e"], "e/a.md"),
        ("mv", &["-f", "d", "f/"], "f/d/a.md"),
        ("rename", &["s/a.md/b.md/", "d/a.md"], "d/b.md"),
        ("rename", &["s/^d$/e/", "d"], "e/a.md"),
        ("git", &["mv", "d/a.md", "b.md"], "b.md"),
        ("git", &["mv", "d", "e"], "e/a.md"),
        ("cp", &["-b", "f/x.md", "d/a.md"], "d/a.md~"),
        ("mv", &["-b", "f/x.md", "d/a.md"], "d/a.md~"),
        ("sed", &["-i.old", "s/hers/other/", "d/a.md"], "d/a.md.old"),
    ];
    for mode in ["owner", "owner_ro", "group"] {
        for (number, (cmd, args, to)) in ways.iter().enumerate() {
            let text = format!("hers {mode} {number}\n");
            file(&ada, "d/a.md", &text, "group");
            file(&ada, "d/rest.md", "rest\n", "group");
            file(&ada, "f/x.md", "x\n", "group");
            let set = json!({"path": "d/a.md", "mode": mode});
            done(&ada, "shed_group_set_mode", set);
            let before = (files(&server), owners(&ada));
            let what = format!("{cmd} {args:?} {mode}");
            // Another member may only where everybody may, and does not get it by that.
            let who = if mode == "group" { &bob } else { &ada };
            if mode != "group" {
                run(&bob, cmd, args).refused(403, "PERMISSION_DENIED");
                assert!((files(&server), owners(&ada)) == before, "{what}");
            }
            if mode == "owner_ro" {
                run(&ada, cmd, args).refused(403, "PERMISSION_DENIED");
                assert!((files(&server), owners(&ada)) == before, "{what}");
                let set = json!({"path": "d/a.md", "mode": "owner"});
                done(&ada, "shed_group_set_mode", set);
            } else {
                ok(who, cmd, args);
                assert_eq!(
                    of(&server, &text),
                    ((*to).to_owned(), record("ada", mode)),
                    "{what}"
                );
                if mode == "owner" {
                    let delete = json!({"path": to});
                    call(&bob, "shed_delete", delete).refused(403, "PERMISSION_DENIED");
                }
                // The name that is still there is hers as well.
                if let Some(left) = owners(&ada).get("d/a.md") {
                    assert_eq!(*left, record("ada", mode), "{what}");
                }
            }
            for path in ["d", "e", "f", "b.md"] {
                call(&ada, "shed_delete", json!({"path": path}));
            }
            assert_eq!(files(&server).len(), 0, "{what}");
        }
    }
    assert_sound(&server);
}

#[test]
fn two_files_that_exchange_their_names_exchange_their_records() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "a", "ada's\n", "owner");
    file(&ada, "b", "everybody's\n", "group");
    for step in [["a", "t"], ["b", "a"], ["t", "b"]] {
        ok(&ada, "mv", &step);
    }
    assert_eq!(
        of(&server, "ada's\n"),
        ("b".to_owned(), record("ada", "owner"))
    );
    assert_eq!(
        of(&server, "everybody's\n"),
        ("a".to_owned(), record("ada", "group"))
    );
    run(&bob, "mv", &["b", "mine"]).refused(403, "PERMISSION_DENIED");
    // In one command, where mv can.
    let answer = run(&ada, "mv", &["--exchange", "a", "b"]);
    if answer.status == 200 && answer.data()["returncode"] == 0 {
        assert_eq!(
            of(&server, "ada's\n"),
            ("a".to_owned(), record("ada", "owner"))
        );
        run(&bob, "mv", &["--exchange", "a", "b"]).refused(403, "PERMISSION_DENIED");
    } else {
        skip("mv has no --exchange");
    }
    assert_sound(&server);
}

#[test]
fn a_member_neither_sheds_nor_takes_a_record() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "t", "ada's t\n", "group");
    file(&bob, "mine", "bob's\n", "owner");
    file(&ada, "closed", "closed\n", "owner");
    ok(&bob, "mv", &["t", "t2"]);
    assert_eq!(
        of(&server, "ada's t\n"),
        ("t2".to_owned(), record("ada", "group"))
    );
    // Over a protected file, and with it.
    for args in [["mine", "closed"], ["closed", "mine"], ["closed", "free"]] {
        run(&bob, "mv", &["-f", args[0], args[1]]).refused(403, "PERMISSION_DENIED");
    }
    // An overwritten file keeps owner and mode: neither its name nor its record is taken.
    ok(&bob, "mv", &["-f", "mine", "t2"]);
    assert_eq!(
        of(&server, "bob's\n"),
        ("t2".to_owned(), record("ada", "group"))
    );
    assert_eq!(owners(&ada).len(), 2);
    // A copy is a new file.
    ok(&bob, "cp", &["t2", "copy"]);
    assert_eq!(owners(&ada)["copy"], record("bob", "group"));
    // A name that is free again is nobody's: the record went with the file.
    ok(&bob, "mv", &["t2", "t3"]);
    file(&bob, "t2", "new\n", "owner");
    assert_eq!(owners(&ada)["t2"], record("bob", "owner"));
    assert_eq!(owners(&ada)["t3"], record("ada", "group"));
    assert_sound(&server);
}

#[test]
fn what_git_takes_away_and_brings_back_elsewhere_keeps_its_owner() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "d/plan.md", "a long enough plan\n", "group");
    file(&ada, "d/closed.md", "a closed one\n", "group");
    // A branch of bob's, on which the files have another place.
    let base = repository(&server).text(&["rev-parse", "HEAD"]);
    ok(&bob, "mv", &["d", "e"]);
    let moved = repository(&server).text(&["rev-parse", "HEAD"]);
    assert_eq!(owners(&ada)["e/plan.md"], record("ada", "group"));
    ok(&bob, "git", &["checkout", "-q", &base]);
    assert_eq!(owners(&ada)["d/plan.md"], record("ada", "group"));
    let set = json!({"path": "d/closed.md", "mode": "owner"});
    done(&ada, "shed_group_set_mode", set);
    run(&bob, "git", &["checkout", "-q", &moved]).refused(403, "PERMISSION_DENIED");
    ok(&ada, "git", &["checkout", "-q", &moved]);
    assert_eq!(owners(&ada)["e/closed.md"], record("ada", "owner"));
    assert_eq!(owners(&ada)["e/plan.md"], record("ada", "group"));
    assert_sound(&server);
}

#[test]
fn many_files_move_at_once() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    for number in 0..30 {
        let mode = ["owner", "group"][number % 2];
        let (who, name) = if number % 3 == 0 {
            (&ada, "ada")
        } else {
            (&bob, "bob")
        };
        let mode = if name == "bob" { "group" } else { mode };
        file(who, &format!("all/{name}/{number}"), "the same\n", mode);
    }
    let before = owners(&ada);
    ok(&ada, "mv", &["all", "some"]);
    let after = owners(&ada);
    assert_eq!(before.len(), after.len());
    for (path, record) in before {
        assert_eq!(after[&path.replace("all/", "some/")], record, "{path}");
    }
    assert_sound(&server);
}
