//! Undo against a model: whatever the newest answer did, its undo leaves what was there before it, and the
//! undo of that what was there after it: files, and in a group their owners and modes. Whatever happens,
//! the space that is counted is that on disk, and zones and bin are within the quota.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::seed;
use fileshed_test_support::{Client, TestApp};
use serde_json::{Value, json};

use super::writes;
use crate::ops::stage::{done, small};

/// Sequences of one run, and answers of each.
const SEQUENCES: u64 = 12;
const ANSWERS: u64 = 14;

/// The members of the group, each with a conversation.
const CLIENTS: [(&str, &str); 3] = [("ada", "one"), ("ada", "two"), ("bob", "three")];

const QUOTA_MB: u64 = 50;

/// Every file with its content.
type Files = BTreeMap<PathBuf, Vec<u8>>;

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

/// Asserts that the space of a member is counted as it is, and within the quota.
fn expect_space(server: &TestApp, client: &Client<'_>, user: &str) {
    let stats = done(client, "shed_stats", &json!({}));
    let home = server.data().join("users").join(user);
    let mut all = 0;
    for (zone, directory) in [
        ("storage", "Storage/data"),
        ("documents", "Documents/data"),
        ("bin", "bin"),
    ] {
        let mut found = Files::new();
        below(&home.join(directory), &mut found);
        let size: usize = found.values().map(Vec::len).sum();
        assert_eq!(stats[zone]["size_bytes"], size, "{user} {zone}: {stats}");
        all += size as u64;
    }
    assert!(all <= QUOTA_MB << 20, "{user}: {stats}");
}

/// Every file of the members and the group, and the owners and modes of the group's.
fn state(server: &TestApp, client: &Client<'_>) -> (Files, Value) {
    let mut info = done(
        client,
        "shed_group_info",
        &json!({"group": "team", "limit": 1000}),
    );
    (files(server), info["files"].take())
}

fn files(server: &TestApp) -> Files {
    let mut found = Files::new();
    for user in ["ada", "bob"] {
        let home = server.data().join("users").join(user);
        below(&home.join("Storage/data"), &mut found);
        below(&home.join("Documents/data"), &mut found);
    }
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
    const PATHS: [&str; 9] = [
        "a.md", "b.md", "x/a.md", "x/b.md", "x/y/c.md", "z/a.md", "x", "x/y", "z",
    ];
    PATHS[rng.below(9) as usize].to_owned()
}

/// One call, more often than not in the place of the answer. Many are refused.
fn call(rng: &mut Rng, number: u64, usual: &'static str) -> (&'static str, Value) {
    let place = match rng.below(3) {
        0 => PLACES[rng.below(3) as usize],
        _ => usual,
    };
    let (one, other) = (path(rng), path(rng));
    let mut arguments = json!({"zone": place, "path": one});
    let group = place.strip_prefix("group/");
    if let Some(group) = group {
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
        0..=3 => {
            let mut create = with(json!({"content": text}));
            if group.is_some() && rng.below(2) == 0 {
                let mode = ["group", "owner"][rng.below(2) as usize];
                create["mode"] = mode.into();
            }
            ("shed_create_file", create)
        }
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
    let first = seed();
    for seed in first..first + SEQUENCES {
        let server = small()
            .env("FILESHED_QUOTA_PER_USER_MB", &QUOTA_MB.to_string())
            .env("FILESHED_QUOTA_PER_GROUP_MB", &QUOTA_MB.to_string())
            .app();
        let clients: Vec<Client<'_>> = CLIENTS
            .into_iter()
            .map(|(user, chat)| server.as_member(user, "t").chat(chat))
            .collect();
        let mut rng = Rng::new(seed);
        // The newest answer, whose it is, and what was there before it.
        let mut newest: Option<(String, usize, (Files, Value))> = None;
        let mut log = Vec::new();
        for number in 0..ANSWERS {
            let at = rng.below(3) as usize;
            let before = state(&server, &clients[at]);
            for (client, (user, _)) in clients.iter().zip(CLIENTS) {
                expect_space(&server, client, user);
            }
            if let Some((answer, whose, expected)) = newest.take()
                && rng.below(2) == 0
            {
                let told = clients[whose].call("shed_undo", &json!({"answer": answer}));
                log.push(format!("undo {answer}: {}", told.text));
                if told.status == 404 {
                    assert_eq!(before, expected, "seed {seed}: {log:#?}");
                    continue;
                }
                assert_eq!(told.status, 200, "seed {seed}: {log:#?}");
                assert_eq!(
                    state(&server, &clients[at]),
                    expected,
                    "seed {seed}: {log:#?}"
                );
                if let Some(undo) = told.data()["undo"].as_str() {
                    newest = Some((undo.to_owned(), whose, before));
                }
                continue;
            }
            let answer = format!("answer-{number}");
            let writer = writes(&clients[at], &answer);
            let usual = PLACES[rng.below(3) as usize];
            for step in 0..=rng.below(6) {
                let (operation, arguments) = call(&mut rng, number * 10 + step, usual);
                let told = writer.call(operation, &arguments);
                log.push(format!("{answer} {operation} {arguments}: {}", told.status));
            }
            newest = Some((answer, at, before));
        }
    }
}
