//! Undo against a model: whatever the newest answer did, its undo leaves what was there before it, and the
//! undo of that what was there after it: files, and in a group their owners and modes. So does the undo of an
//! older answer, of what it changed, where no later one changed anything; else a part is taken back, and
//! nothing beside it changes. Whatever happens, the space that is counted is that on disk, and zones and bin
//! are within the quota. All of this holds, too, if the server is killed in the middle of calls; an undo that was
//! cut off goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::{Answer, Client, Server, Setup, TestApp, pause};
use serde_json::{Value, json};

use super::writes;
use crate::ops::stage::{done, small};

/// Sequences of one run, and answers of each.
const SEQUENCES: u64 = 12;
const ANSWERS: u64 = 14;

/// The members of the group, each with a conversation.
const CLIENTS: [(&str, &str); 3] = [("ada", "one"), ("ada", "two"), ("bob", "three")];

const QUOTA_MB: u64 = 50;

const OPERATION: &str = "shed_undo";

/// Out of so many calls, and out of so many undos, one is cut off by a kill.
const KILLED: [u64; 2] = [8, 2];

/// Longest time from a call to the kill, in microseconds.
const LONGEST: u64 = 20_000;

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
    /// Its id; several if it was cut off and goes on in others.
    ids: Vec<String>,
    /// The number of its client.
    whose: usize,
    before: Files,
    changed: BTreeSet<PathBuf>,
    /// `true` if it can be taken back as an older answer.
    is_answer: bool,
}

/// The server of a sequence.
enum Host {
    Here(TestApp),
    /// A process that is killed in the middle of calls.
    Mortal(Server),
}

impl Deref for Host {
    type Target = TestApp;

    fn deref(&self) -> &TestApp {
        match self {
            Self::Here(server) => server,
            Self::Mortal(server) => server,
        }
    }
}

/// A sequence of answers and undos.
struct Sequence {
    host: Host,
    rng: Rng,
    did: Vec<Did>,
    /// The number of older answers that were taken back whole, and in part.
    older: [u64; 2],
    /// Calls that are still to be cut off by a kill.
    kills: u64,
    log: Vec<String>,
}

impl Sequence {
    fn new(host: Host, seed: u64, kills: u64) -> Self {
        let sequence = Self {
            host,
            rng: Rng::new(seed),
            did: Vec::new(),
            older: [0; 2],
            kills,
            log: vec![format!("seed {seed}")],
        };
        for at in 0..CLIENTS.len() {
            for path in ["a.md", "b.md", "x/a.md", "x/y/c.md"] {
                let address = format!("/files/content?zone=uploads&path={path}");
                let put = sequence.client(at).send("PUT", &address, path.as_bytes());
                assert_eq!(put.status, 201);
            }
        }
        sequence
    }

    fn client(&self, at: usize) -> Client<'_> {
        let (user, chat) = CLIENTS[at];
        self.host.as_member(user, "t").chat(chat)
    }

    fn state(&self) -> Files {
        state(&self.host, &self.client(0))
    }

    /// Makes a call in an answer; `None` if the server was killed before it answered.
    fn call(
        &mut self,
        at: usize,
        (answer, operation, arguments): (&str, &str, &Value),
    ) -> Option<Answer> {
        let rate = KILLED[usize::from(operation == OPERATION)];
        let is_killed = self.kills > 0 && self.rng.below(rate) == 0;
        let moment = self.rng.below(LONGEST);
        let client = writes(&self.client(at), answer);
        let Host::Mortal(server) = &self.host else {
            return Some(client.call(operation, arguments));
        };
        if !is_killed {
            return Some(client.call(operation, arguments));
        }
        let told = std::thread::scope(|scope| {
            let call = scope.spawn(|| client.try_call(operation, arguments));
            pause(moment);
            server.send_kill();
            call.join().expect("a call")
        });
        self.host = Host::Mortal(server.again());
        self.kills -= u64::from(told.is_none());
        // The first call in a zone repairs it.
        for at in 0..CLIENTS.len() {
            for zone in ["uploads", "storage", "documents"] {
                self.client(at).call("shed_list", &json!({"zone": zone}));
            }
        }
        told
    }

    /// Gives an answer of several calls.
    fn answer(&mut self, number: u64) {
        let at = self.rng.below(3) as usize;
        let id = format!("answer-{number}");
        let usual = PLACES[self.rng.below(3) as usize];
        let before = self.state();
        let (mut last, mut all) = (before.clone(), BTreeSet::new());
        for step in 0..=self.rng.below(6) {
            let (operation, arguments) = call(&mut self.rng, number * 10 + step, usual);
            let told = self.call(at, (&id, operation, &arguments));
            let told = told.map_or("cut off".to_owned(), |told| told.status.to_string());
            self.log
                .push(format!("{id} {operation} {arguments}: {told}"));
            let now = self.state();
            all.extend(changed(&self.host, &last, &now));
            last = now;
        }
        self.did.push(Did {
            ids: vec![id],
            whose: at,
            before,
            changed: all,
            is_answer: true,
        });
    }

    /// Returns the ids of all undos, the first one first.
    fn undos(&self) -> Vec<String> {
        let registry = rusqlite::Connection::open(self.host.data().join("access_auth.sqlite"));
        let registry = registry.expect("a registry");
        let text = "SELECT answer FROM changes WHERE operation = 'shed_undo' GROUP BY answer
            ORDER BY min(number)";
        let mut statement = registry.prepare(text).expect("a statement");
        let rows = statement.query_map((), |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("ids")
    }

    /// Takes back what was done at this place, and notes that; returns the state before and after.
    fn undo(&mut self, at: usize, partial: bool) -> (Files, Files) {
        let (before, known) = (self.state(), self.undos());
        let (ids, whose) = (self.did[at].ids.clone(), self.did[at].whose);
        let mut is_nothing = false;
        for id in ids.iter().rev() {
            let call = json!({"answer": id, "partial": partial});
            let mut is_cut_off = false;
            let told = loop {
                let told = self.call(whose, (id, OPERATION, &call));
                let text = told.as_ref().map_or("cut off", |told| &*told.text);
                self.log.push(format!("undo {call}: {text}"));
                if let Some(told) = told {
                    break told;
                }
                is_cut_off = true;
            };
            is_nothing = told.status == 404;
            let is_done = is_cut_off && told.status == 409 && told.text.contains("already");
            assert!(
                is_nothing || is_done || told.status == 200,
                "{:#?}",
                self.log
            );
        }
        let (after, mut undos) = (self.state(), self.undos());
        undos.retain(|id| !known.contains(id));
        if is_nothing && undos.is_empty() {
            assert!(before == after, "{:#?}", self.log);
            return (before, after);
        }
        self.did[at].is_answer = false;
        if !undos.is_empty() {
            self.did.push(Did {
                ids: undos,
                whose,
                before: before.clone(),
                changed: changed(&self.host, &before, &after),
                is_answer: false,
            });
        }
        (before, after)
    }

    /// Takes the newest answer or undo back.
    fn undo_newest(&mut self) {
        let at = self.did.len() - 1;
        let expected = self.did[at].before.clone();
        let (_, after) = self.undo(at, false);
        assert!(
            after == expected,
            "{:?}: {:#?}",
            changed(&self.host, &expected, &after),
            self.log
        );
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
        let is_own = |path: &&PathBuf| own.contains(&top(&self.host, path));
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

    /// Gives answers and takes them back.
    fn run(&mut self) {
        for number in 0..ANSWERS {
            for (at, (user, _)) in CLIENTS.into_iter().enumerate() {
                expect_space(&self.host, &self.client(at), user);
            }
            let older = self.draw_older();
            match (self.rng.below(5), older) {
                (0, _) if !self.did.is_empty() => self.undo_newest(),
                (1 | 2, Some(at)) => self.undo_older(at),
                _ => self.answer(number),
            }
        }
    }
}

fn setup() -> Setup {
    small()
        .env("FILESHED_QUOTA_PER_USER_MB", &QUOTA_MB.to_string())
        .env("FILESHED_QUOTA_PER_GROUP_MB", &QUOTA_MB.to_string())
}

#[test]
fn an_undo_leaves_what_was_there_before_and_so_does_its_own() {
    let first = seed();
    let mut older = 0;
    for seed in first..first + SEQUENCES {
        let mut sequence = Sequence::new(Host::Here(setup().app()), seed, 0);
        sequence.run();
        older += sequence.older.iter().sum::<u64>();
    }
    assert!(older > 0);
}

#[test]
fn an_undo_leaves_what_was_there_before_whenever_the_server_is_killed() {
    let (mut seed, mut kills) = (seed(), rounds());
    while kills > 0 {
        let mut sequence = Sequence::new(Host::Mortal(setup().start()), seed, kills);
        sequence.run();
        kills = sequence.kills;
        seed += 1;
    }
}
