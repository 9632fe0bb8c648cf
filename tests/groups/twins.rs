//! One name in two spellings of Unicode: a record protects it in both.

use serde_json::json;

use crate::support::{Client, Server};
use crate::team::{assert_sound, call, done, file, files, owners, run, start};

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

fn owner(server: &Server, path: &str) -> (Option<String>, String) {
    owners(&server.as_user("ada"))[path].clone()
}

fn is(owner: &str, mode: &str) -> (Option<String>, String) {
    (Some(owner.to_owned()), mode.to_owned())
}

#[test]
fn no_command_takes_a_protected_name_in_another_spelling() {
    let server = start();
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

#[test]
fn who_may_change_a_file_does_not_take_it_by_its_other_spelling() {
    let server = start();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "\u{e9}.md", "hers\n", "group");
    archive(&bob, "e\u{301}.md");
    run(&bob, "tar", &["-xf", "in.tar"]).data();
    assert_eq!(owner(&server, "\u{e9}.md"), is("ada", "group"));
}

#[test]
fn a_record_whose_file_is_gone_holds_nobody_off() {
    let server = start();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    for name in ["\u{e9}.md", "a.md"] {
        file(&ada, name, "hers\n", "owner");
        let place = crate::team::home(&server).join("data").join(name);
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
    let server = start();
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
