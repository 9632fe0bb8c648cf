//! Undo against a model: whatever the newest answer did, its undo leaves what was there before it, and the
//! undo of that what was there after it: files, and in a group their owners and modes. So does the undo of an
//! older answer, of what it changed, where no later one changed anything; else a part is taken back, and
//! nothing beside it changes. Whatever happens, the space that is counted is that on disk, and zones and bin
//! are within the quota.

use std::collections::{BTreeMap, BTreeSet};
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

/// Every file with its content; beside each of the group its owner and mode.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The end of the name of an owner and mode.
const OWNER: &str = ":owner";

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
fn state(server: &TestApp, client: &Client<'_>) -> Files {
    let mut found = Files::new();
    for user in ["ada", "bob"] {
        let home = server.data().join("users").join(user);
        for place in ["Storage/data", "Documents/data", "Uploads"] {
            below(&home.join(place), &mut found);
        }
    }
    let group = server.data().join("groups/t/data");
    below(&group, &mut found);
    let listed = json!({"group": "team", "limit": 1000});
    let info = done(client, "shed_group_info", &listed);
    for file in info["files"].as_array().expect("a list") {
        let path = file["path"].as_str().expect("a path");
        let owner = file.to_string().into_bytes();
        found.insert(group.join(format!("{path}{OWNER}")), owner);
    }
    found
}

/// Returns the names in the roots of zones below which two states differ.
fn changed(server: &TestApp, before: &Files, after: &Files) -> BTreeSet<PathBuf> {
    let paths = before.keys().chain(after.keys());
    let paths = paths.filter(|path| before.get(*path) != after.get(*path));
    paths.map(|path| top(server, path)).collect()
}

/// Returns the name in the root of its zone at which a file lies, or above it.
fn top(server: &TestApp, path: &Path) -> PathBuf {
    let path = path.strip_prefix(server.data()).expect("a file of a zone");
    let depth = if path.starts_with("groups") { 4 } else { 5 };
    let top: PathBuf = path.components().take(depth).collect();
    let top = top.to_str().expect("a name");
    top.trim_end_matches(OWNER).into()
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
    match rng.below(12) {
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
        9 => {
            let sql = format!("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES ({number})");
            let sql = sql
                .split("; ")
                .nth(rng.below(2) as usize)
                .expect("one")
                .to_owned();
            ("shed_sqlite", with(json!({"path": "x/a.db", "query": sql})))
        }
        10 if rng.below(2) == 0 => {
            let to = PLACES[rng.below(3) as usize];
            let copy = json!({"from": format!("uploads/{one}"), "to": format!("{to}/{other}"),
                "move": true, "overwrite": rng.below(2) == 0});
            ("shed_copy", copy)
        }
        10 => ("shed_delete", json!({"zone": "uploads", "path": one})),
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

/// An answer, or an undo.
struct Did {
    id: String,
    /// The number of its client.
    whose: usize,
    before: Files,
    changed: BTreeSet<PathBuf>,
    /// `true` if it can be taken back as an older answer.
    is_answer: bool,
}

/// A sequence of answers and undos.
struct Sequence<'s> {
    server: &'s TestApp,
    clients: Vec<Client<'s>>,
    rng: Rng,
    did: Vec<Did>,
    /// The number of older answers that were taken back whole, and in part.
    older: [u64; 2],
    log: Vec<String>,
}

impl Sequence<'_> {
    fn state(&self) -> Files {
        state(self.server, &self.clients[0])
    }

    /// Gives an answer of several calls.
    fn answer(&mut self, number: u64) {
        let at = self.rng.below(3) as usize;
        let id = format!("answer-{number}");
        let writer = writes(&self.clients[at], &id);
        let usual = PLACES[self.rng.below(3) as usize];
        let before = self.state();
        let (mut last, mut all) = (before.clone(), BTreeSet::new());
        for step in 0..=self.rng.below(6) {
            let (operation, arguments) = call(&mut self.rng, number * 10 + step, usual);
            let told = writer.call(operation, &arguments);
            let line = format!("{id} {operation} {arguments}: {}", told.status);
            self.log.push(line);
            let now = self.state();
            all.extend(changed(self.server, &last, &now));
            last = now;
        }
        self.did.push(Did {
            id,
            whose: at,
            before,
            changed: all,
            is_answer: true,
        });
    }

    /// Takes back what was done at this place, and notes that; returns the state before and after.
    fn undo(&mut self, at: usize, partial: bool) -> (Files, Files) {
        let before = self.state();
        let (id, whose) = (self.did[at].id.clone(), self.did[at].whose);
        let call = json!({"answer": id, "partial": partial});
        let told = self.clients[whose].call("shed_undo", &call);
        self.log.push(format!("undo {call}: {}", told.text));
        let after = self.state();
        let is_nothing = told.status == 404;
        assert!(is_nothing || told.status == 200, "{:#?}", self.log);
        if is_nothing {
            assert_eq!(before, after, "{:#?}", self.log);
            return (before, after);
        }
        self.did[at].is_answer = false;
        if let Some(undo) = told.data()["undo"].as_str() {
            let did = Did {
                id: undo.to_owned(),
                whose,
                before: before.clone(),
                changed: changed(self.server, &before, &after),
                is_answer: false,
            };
            self.did.push(did);
        }
        (before, after)
    }

    /// Takes the newest answer or undo back.
    fn undo_newest(&mut self) {
        let at = self.did.len() - 1;
        let expected = self.did[at].before.clone();
        let (_, after) = self.undo(at, false);
        assert!(after == expected, "{:#?}", self.log);
    }

    /// Draws an answer after which something was done.
    fn draw_older(&mut self) -> Option<usize> {
        let all = 0..self.did.len().saturating_sub(1);
        let all: Vec<usize> = all.filter(|at| self.did[*at].is_answer).collect();
        let at = self.rng.below(all.len().max(1) as u64) as usize;
        all.get(at).copied()
    }

    /// Takes an older answer back.
    fn undo_older(&mut self, at: usize) {
        let Did {
            before: old,
            changed: own,
            ..
        } = &self.did[at];
        let (old, own) = (old.clone(), own.clone());
        let mut later = self.did[at + 1..].iter();
        let is_alone = later.all(|did| did.changed.is_disjoint(&own));
        let (before, after) = self.undo(at, !is_alone);
        self.older[usize::from(!is_alone)] += u64::from(before != after);
        let is_own = |path: &&PathBuf| own.contains(&top(self.server, path));
        let part = |files: &Files, is: bool| -> Files {
            let files = files.iter().filter(|(path, _)| is_own(path) == is);
            files
                .map(|(path, content)| (path.clone(), content.clone()))
                .collect()
        };
        assert!(
            part(&before, false) == part(&after, false),
            "{:#?}",
            self.log
        );
        if is_alone {
            assert!(part(&old, true) == part(&after, true), "{:#?}", self.log);
        }
    }
}

#[test]
fn an_undo_leaves_what_was_there_before_and_so_does_its_own() {
    let first = seed();
    let mut older = [0; 2];
    for seed in first..first + SEQUENCES {
        let server = small()
            .env("FILESHED_QUOTA_PER_USER_MB", &QUOTA_MB.to_string())
            .env("FILESHED_QUOTA_PER_GROUP_MB", &QUOTA_MB.to_string())
            .app();
        let clients = CLIENTS.into_iter();
        let clients = clients.map(|(user, chat)| server.as_member(user, "t").chat(chat));
        let mut sequence = Sequence {
            server: &server,
            clients: clients.collect(),
            rng: Rng::new(seed),
            did: Vec::new(),
            older: [0; 2],
            log: vec![format!("seed {seed}")],
        };
        for client in &sequence.clients {
            for path in ["a.md", "b.md", "x/a.md", "x/y/c.md"] {
                let address = format!("/files/content?zone=uploads&path={path}");
                assert_eq!(client.send("PUT", &address, path.as_bytes()).status, 201);
            }
        }
        for number in 0..ANSWERS {
            for (client, (user, _)) in sequence.clients.iter().zip(CLIENTS) {
                expect_space(&server, client, user);
            }
            let older = sequence.draw_older();
            match (sequence.rng.below(5), older) {
                (0, _) if !sequence.did.is_empty() => sequence.undo_newest(),
                (1 | 2, Some(at)) => sequence.undo_older(at),
                _ => sequence.answer(number),
            }
        }
        for (all, count) in older.iter_mut().zip(sequence.older) {
            *all += count;
        }
    }
    assert!(older.iter().sum::<u64>() > 0);
}
