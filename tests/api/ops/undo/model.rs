//! Undo against a model: whatever the newest answer did, its undo leaves what was there before it, and the
//! undo of that what was there after it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fileshed_test_support::rng::Rng;
use fileshed_test_support::{Client, TestApp};
use serde_json::{Value, json};

use super::writes;
use crate::ops::stage::small;

/// Sequences of one run, and answers of each.
const SEQUENCES: u64 = 12;
const ANSWERS: u64 = 14;

/// Every file with its content.
type Files = BTreeMap<PathBuf, Vec<u8>>;

fn files(server: &TestApp) -> Files {
    fn below(directory: &Path, found: &mut Files) {
        for entry in std::fs::read_dir(directory).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.ends_with("data/.git") {
                continue;
            }
            if path.is_dir() {
                below(&path, found);
            } else {
                found.insert(path.clone(), std::fs::read(&path).expect("read"));
            }
        }
    }
    let mut found = Files::new();
    let home = server.data().join("users/ada");
    below(&home.join("Storage/data"), &mut found);
    below(&home.join("Documents/data"), &mut found);
    for group in std::fs::read_dir(server.data().join("groups"))
        .into_iter()
        .flatten()
    {
        below(&group.expect("a group").path().join("data"), &mut found);
    }
    found
}

const PLACES: [&str; 3] = ["storage", "documents", "group/team"];

fn path(rng: &mut Rng) -> String {
    const PATHS: [&str; 7] = [
        "a.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "z/a.md", "x",
    ];
    PATHS[rng.below(7) as usize].to_owned()
}

/// One call, in a random place. Many are refused.
fn call(rng: &mut Rng, number: u64) -> (&'static str, Value) {
    let place = PLACES[rng.below(3) as usize];
    let (one, other) = (path(rng), path(rng));
    let mut arguments = json!({"zone": place, "path": one});
    if let Some(group) = place.strip_prefix("group/") {
        arguments["zone"] = "group".into();
        arguments["group"] = group.into();
    }
    let with = |more: Value| {
        let mut arguments = arguments.clone();
        for (name, value) in more.as_object().expect("arguments") {
            arguments[name] = value.clone();
        }
        arguments
    };
    let text = format!("{number}\n{}\nthe end\n", rng.below(5));
    match rng.below(10) {
        0..=3 => ("shed_create_file", with(json!({"content": text}))),
        4 => (
            "shed_patch_text",
            with(json!({"content": text, "position": "end"})),
        ),
        5 => ("shed_delete", arguments),
        6 => {
            let mut rename = with(json!({"old_path": one, "new_path": other}));
            rename.as_object_mut().expect("arguments").remove("path");
            ("shed_rename", rename)
        }
        7 | 8 => {
            let to = PLACES[rng.below(3) as usize];
            let moves = rng.below(2) == 0;
            let copy = json!({"from": format!("{place}/{one}"), "to": format!("{to}/{other}"),
                "move": moves, "overwrite": rng.below(2) == 0});
            ("shed_copy", copy)
        }
        _ => {
            let (cmd, args) = match rng.below(3) {
                0 => ("rm", vec!["-rf".to_owned(), one]),
                1 => ("cp", vec![one, other]),
                _ => ("mv", vec![one, other]),
            };
            let mut run = with(json!({"cmd": cmd, "args": args}));
            run.as_object_mut().expect("arguments").remove("path");
            ("shed_exec", run)
        }
    }
}

#[test]
fn an_undo_leaves_what_was_there_before_and_so_does_its_own() {
    for seed in 0..SEQUENCES {
        let server = small()
            .env("FILESHED_QUOTA_PER_USER_MB", "50")
            .env("FILESHED_QUOTA_PER_GROUP_MB", "50")
            .app();
        let chats: Vec<Client<'_>> = ["one", "two"]
            .into_iter()
            .map(|chat| server.as_member("ada", "t").chat(chat))
            .collect();
        let mut rng = Rng::new(seed + 1);
        // The newest answer, with what was there before it.
        let mut newest: Option<(String, Files)> = None;
        let mut log = Vec::new();
        for number in 0..ANSWERS {
            let client = &chats[rng.below(2) as usize];
            let before = files(&server);
            if let Some((answer, expected)) = newest.take()
                && rng.below(2) == 0
            {
                let told = client.call("shed_undo", &json!({"answer": answer}));
                log.push(format!("undo {answer}: {}", told.text));
                if told.status == 404 {
                    assert_eq!(before, expected, "seed {seed}: {log:#?}");
                    continue;
                }
                assert_eq!(told.status, 200, "seed {seed}: {log:#?}");
                assert_eq!(files(&server), expected, "seed {seed}: {log:#?}");
                if let Some(undo) = told.data()["undo"].as_str() {
                    newest = Some((undo.to_owned(), before));
                }
                continue;
            }
            let answer = format!("answer-{number}");
            let writer = writes(client, &answer);
            for step in 0..=rng.below(5) {
                let (operation, arguments) = call(&mut rng, number * 10 + step);
                let told = writer.call(operation, &arguments);
                log.push(format!("{answer} {operation} {arguments}: {}", told.status));
            }
            newest = Some((answer, before));
        }
    }
}
