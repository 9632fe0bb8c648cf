//! One name in two spellings of Unicode: a record protects it in both.

use serde_json::{Value, json};

use crate::groups::team::{app, assert_sound, call, done, file, files, owners, run};
use fileshed_test_support::{Answer, Client, TestApp};

/// A name as records have it, and the same otherwise spelled.
const TWINS: &[(&str, &str)] = &[
    ("r\u{e9}sum\u{e9}.md", "re\u{301}sume\u{301}.md"),
    ("r\u{e9}sum\u{e9}.md", "r\u{e9}sume\u{301}.md"),
    ("d\u{e9}/a.md", "de\u{301}/a.md"),
    ("d/\u{e9}/a.md", "d/e\u{301}/a.md"),
    // Kelvin's sign is the letter, also where everything else is ASCII.
    ("K.md", "\u{212a}.md"),
];

/// Puts an archive into the group in which bob has a file of this name.
fn archive(bob: &Client<'_>, name: &str) {
    let mine = json!({"zone": "storage", "path": "mine.md", "content": "mine\n"});
    bob.call("shed_create_file", &mine).data();
    let run = |cmd: &str, args: &[&str]| {
        let call = json!({"zone": "storage", "cmd": cmd, "args": args});
        let answer = bob.call("shed_exec", &call);
        assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
    };
    run("rm", &["-rf", "in"]);
    let path = format!("in/{name}");
    let (above, _) = path.rsplit_once('/').unwrap();
    run("mkdir", &["-p", above]);
    run("cp", &["mine.md", &path]);
    run("tar", &["-C", "in", "-cf", "in.tar", "."]);
    let copy = json!({"src_zone": "storage", "src_path": "in.tar", "dest_path": "in.tar", "overwrite": true});
    done(bob, "shed_copy_to_group", copy);
}

fn owner(server: &TestApp, path: &str) -> (Option<String>, String) {
    owners(&server.as_user("ada"))[path].clone()
}

fn is(owner: &str, mode: &str) -> (Option<String>, String) {
    (Some(owner.to_owned()), mode.to_owned())
}

#[test]
fn no_command_takes_a_protected_name_in_another_spelling() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    for (path, twin) in TWINS {
        for (one, other) in [(path, twin), (twin, path)] {
            // The name that is protected is made in this very spelling.
            archive(&ada, one);
            run(&ada, "tar", &["-xf", "in.tar"]).data();
            let set = json!({"path": one, "mode": "owner"});
            done(&ada, "shed_group_set_mode", set);
            archive(&bob, other);
            let before = files(&server);
            for (cmd, args) in [
                ("tar", ["-xf", "in.tar"]),
                ("cp", ["in.tar", other]),
                ("mv", ["in.tar", other]),
            ] {
                let answer = run(&bob, cmd, &args);
                if answer.status == 200 {
                    // There may be no directory of this spelling.
                    assert_eq!(answer.data()["returncode"], 1, "{cmd} {one} {other}");
                } else {
                    answer.refused(403, "PERMISSION_DENIED");
                }
                assert!(files(&server) == before, "{cmd} {one} {other}");
                assert_eq!(owner(&server, path), is("ada", "owner"), "{cmd} {other}");
            }
            done(&ada, "shed_delete", json!({"path": one}));
        }
    }
    assert_sound(&server);
}

/// Ways to write, move or remove what has this name.
fn by_operation(bob: &Client<'_>, name: &str) -> Vec<(&'static str, Answer)> {
    let here = json!({"path": name});
    let with = |more: Value| {
        let mut arguments = here.clone();
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        arguments
    };
    let query = json!({"path": "db", "query": "SELECT 1 AS one", "output_csv": name});
    let copy = json!({"src_zone": "storage", "src_path": "mine.md", "dest_path": name});
    let over =
        json!({"src_zone": "storage", "src_path": "mine.md", "dest_path": name, "overwrite": true});
    let unzip = json!({"src": "in.zip", "src_zone": "storage", "dest": "."});
    let calls = [
        ("shed_create_file", with(json!({"content": "his"}))),
        ("shed_patch_text", with(json!({"content": "his"}))),
        (
            "shed_patch_bytes",
            with(json!({"content": "00", "overwrite": true})),
        ),
        ("shed_lockedit_open", here.clone()),
        ("shed_delete", here.clone()),
        (
            "shed_rename",
            json!({"old_path": name, "new_path": "stolen"}),
        ),
        (
            "shed_rename",
            json!({"old_path": "in.tar", "new_path": name}),
        ),
        (
            "shed_exec",
            json!({"cmd": "echo", "args": ["his"], "stdout_file": name}),
        ),
        ("shed_sqlite", query),
        ("shed_copy_to_group", copy),
        ("shed_copy_to_group", over),
        ("shed_unzip", unzip),
    ];
    let mut answers: Vec<(&str, Answer)> = calls
        .into_iter()
        .map(|(operation, arguments)| (operation, call(bob, operation, arguments)))
        .collect();
    let place = "zone=group&group=Team&path=";
    let encoded = name
        .bytes()
        .fold(String::new(), |text, byte| format!("{text}%{byte:02X}"));
    let put = bob.send("PUT", &format!("/files/content?{place}{encoded}"), b"his");
    answers.push(("PUT", put));
    let part = |name: &str| {
        format!(
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\nhis\r\n"
        )
    };
    let form = format!("{}{}--x--\r\n", part(name), part("beside"));
    let sender = bob
        .clone()
        .header("content-type", "multipart/form-data; boundary=x");
    let address = format!("/files/upload?{place}.&overwrite=true");
    answers.push(("form", sender.send("POST", &address, form.as_bytes())));
    answers
}

#[test]
fn no_operation_takes_a_protected_name_in_another_spelling() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let table = json!({"path": "db", "query": "CREATE TABLE t (a)"});
    done(&bob, "shed_sqlite", table);
    for (path, twin) in TWINS {
        for (one, other) in [(path, twin), (twin, path)] {
            archive(&ada, one);
            run(&ada, "tar", &["-xf", "in.tar"]).data();
            let set = json!({"path": one, "mode": "owner"});
            done(&ada, "shed_group_set_mode", set);
            // A protected file is found by its other spelling too.
            let set = json!({"path": other, "mode": "owner"});
            done(&ada, "shed_group_set_mode", set);
            archive(&bob, other);
            let top = other.split('/').next().unwrap();
            let top = format!("in/{top}");
            let zip = json!({"zone": "storage", "src": top, "dest": "in.zip"});
            let remove = json!({"zone": "storage", "path": "in.zip"});
            bob.call("shed_delete", &remove);
            bob.call("shed_zip", &zip).data();
            let before = (files(&server), owners(&ada));
            for (operation, answer) in by_operation(&bob, other) {
                let what = format!("{operation} {one} {other}: {}", answer.text);
                assert!([403, 409].contains(&answer.status), "{what}");
            }
            assert!(before == (files(&server), owners(&ada)), "{one} {other}");
            assert_eq!(owner(&server, path), is("ada", "owner"), "{one}");
            // Its owner writes the file that is there.
            let write = json!({"path": other, "content": "hers\n"});
            done(&ada, "shed_create_file", write);
            assert_eq!(files(&server).len(), before.0.len(), "{one} {other}");
            done(&ada, "shed_delete", json!({"path": other}));
        }
    }
    assert_sound(&server);
}

#[test]
fn directories_of_one_name_do_not_give_each_other_s_records_away() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    archive(&ada, "e\u{301}/hers.md");
    run(&ada, "tar", &["-xf", "in.tar"]).data();
    let set = json!({"path": "\u{e9}/hers.md", "mode": "owner"});
    done(&ada, "shed_group_set_mode", set);
    // An operation works in the directory that is there.
    file(&bob, "\u{e9}/first.md", "his\n", "group");
    assert!(files(&server).contains_key("e\u{301}/first.md"));
    // A command can make a second one.
    archive(&bob, "\u{e9}/his.md");
    run(&bob, "tar", &["-xf", "in.tar"]).data();
    assert!(files(&server).contains_key("\u{e9}/his.md"));
    let before = files(&server);
    for (operation, arguments) in [
        ("shed_delete", json!({"path": "\u{e9}"})),
        ("shed_delete", json!({"path": "e\u{301}"})),
        (
            "shed_rename",
            json!({"old_path": "\u{e9}", "new_path": "f"}),
        ),
    ] {
        call(&bob, operation, arguments).refused(403, "PERMISSION_DENIED");
        assert!(files(&server) == before);
    }
    run(&bob, "mv", &["\u{e9}/his.md", "his.md"]).data();
    assert_eq!(owner(&server, "\u{e9}/hers.md"), is("ada", "owner"));
    assert_eq!(owner(&server, "his.md"), is("bob", "group"));
    assert_sound(&server);
}

#[test]
fn who_may_change_a_file_does_not_take_it_by_its_other_spelling() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "\u{e9}.md", "hers\n", "group");
    archive(&bob, "e\u{301}.md");
    run(&bob, "tar", &["-xf", "in.tar"]).data();
    assert_eq!(owner(&server, "\u{e9}.md"), is("ada", "group"));
}

#[test]
fn a_record_whose_file_is_gone_holds_nobody_off() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    for name in ["\u{e9}.md", "a.md"] {
        file(&ada, name, "hers\n", "owner");
        let place = crate::groups::team::home(&server).join("data").join(name);
        std::fs::remove_file(place).unwrap();
    }
    archive(&bob, "e\u{301}.md");
    run(&bob, "tar", &["-xf", "in.tar"]).data();
    run(&bob, "cp", &["in.tar", "a.md"]).data();
    assert_eq!(owner(&server, "\u{e9}.md"), is("bob", "group"));
    assert_eq!(owner(&server, "a.md"), is("bob", "group"));
}

#[test]
fn names_that_differ_in_case_are_two_files() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "R\u{e9}sum\u{e9}.md", "hers\n", "owner");
    file(&bob, "r\u{e9}sum\u{e9}.md", "his\n", "owner");
    archive(&bob, "R\u{c9}SUM\u{c9}.md");
    run(&bob, "tar", &["-xf", "in.tar"]).data();
    assert_eq!(owner(&server, "R\u{e9}sum\u{e9}.md"), is("ada", "owner"));
    assert_eq!(owner(&server, "r\u{e9}sum\u{e9}.md"), is("bob", "owner"));
    assert_eq!(owner(&server, "R\u{c9}SUM\u{c9}.md"), is("bob", "group"));
    call(&bob, "shed_delete", json!({"path": "R\u{e9}sum\u{e9}.md"}))
        .refused(403, "PERMISSION_DENIED");
}
