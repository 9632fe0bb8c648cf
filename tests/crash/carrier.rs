//! One caller who carries files and directories from zone to zone while the server is killed: each
//! is in one zone, whole.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use fileshed_test_support::Server;
use fileshed_test_support::moment::{Moment, looks_at_histories};
use fileshed_test_support::on_disk::{Repository, Tree, assert_same, staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wire::Wire;

const USER: &str = "marie";

/// Answers that a round has at most before the kill is waited for.
const ANSWERS: u64 = 50;

/// The zones, and where they are.
const ZONES: [(&str, &str); 3] = [
    ("uploads", "Uploads/work"),
    ("storage", "Storage/data"),
    ("documents", "Documents/data"),
];

const UPLOADS: usize = 0;
const STORAGE: usize = 1;
const DOCUMENTS: usize = 2;

/// Expected files of each zone.
type State = [Tree; 3];

/// A caller that moves files between zones, and the files that it expects.
struct Carrier {
    rng: Rng,
    state: State,
    /// Expected files if the current call succeeds.
    pending: Option<State>,
    counter: u64,
    acknowledged: u64,
    interrupted: u64,
}

impl Carrier {
    fn work(&mut self, address: &str, moment: &Moment) {
        let Ok(mut wire) = Wire::connect(address, USER, "work") else {
            return;
        };
        loop {
            let before = self.acknowledged;
            if !self.step(&mut wire) {
                return;
            }
            if self.acknowledged > before {
                moment.answered();
            }
        }
    }

    /// A file is named `f…` and a directory `d…`, so that a replacement is of the same kind.
    fn name(&mut self) -> String {
        let kind = ["f", "d"][self.rng.below(2) as usize];
        format!("{kind}{}", self.rng.below(3))
    }

    fn content(&mut self) -> String {
        self.counter += 1;
        format!("{} ", self.counter).repeat(self.rng.below(2000) as usize + 1)
    }

    /// The files below a name.
    fn files(&mut self, name: &str) -> Tree {
        let paths = match &name[..1] {
            "f" => vec![name.to_owned()],
            _ => vec![format!("{name}/a"), format!("{name}/b/c")],
        };
        let files = paths
            .into_iter()
            .map(|path| (path, self.content().into_bytes()));
        files.collect()
    }

    /// One call; false when the server is gone.
    fn step(&mut self, wire: &mut Wire) -> bool {
        let source = self.name();
        let (operation, from, to) = match self.rng.below(6) {
            0 => return self.create(wire, &source),
            1 => ("shed_move_uploads_to_storage", UPLOADS, STORAGE),
            2 => ("shed_move_uploads_to_documents", UPLOADS, DOCUMENTS),
            3 => ("shed_copy_storage_to_documents", STORAGE, DOCUMENTS),
            _ => ("shed_move_documents_to_storage", DOCUMENTS, STORAGE),
        };
        let moving = below(&self.state[from], &source);
        if moving.is_empty() {
            return true;
        }
        let destination = format!("{}{}", &source[..1], self.rng.below(3));
        let call = json!({"src": source, "dest": destination, "overwrite": true});
        let mut after = self.state.clone();
        let replaced = below(&after[to], &destination);
        after[to].retain(|path, _| !replaced.contains_key(path));
        if operation.starts_with("shed_move") {
            after[from].retain(|path, _| !moving.contains_key(path));
        }
        for (path, content) in moving {
            after[to].insert(path.replacen(&source, &destination, 1), content);
        }
        self.ask(wire, operation, &call, after)
    }

    fn create(&mut self, wire: &mut Wire, name: &str) -> bool {
        let zone = [STORAGE, DOCUMENTS][self.rng.below(2) as usize];
        for (path, content) in self.files(name) {
            let mut after = self.state.clone();
            let text = String::from_utf8(content.clone()).unwrap();
            let call = json!({"zone": ZONES[zone].0, "path": path, "content": text});
            after[zone].insert(path, content);
            if !self.ask(wire, "shed_create_file", &call, after) {
                return false;
            }
        }
        true
    }

    fn ask(&mut self, wire: &mut Wire, operation: &str, call: &Value, after: State) -> bool {
        self.pending = Some(after);
        let Ok((status, answer)) = wire.call(operation, call) else {
            return false;
        };
        assert_eq!(status, 200, "{operation} {call:.200}: {answer}");
        self.state = self.pending.take().unwrap();
        self.acknowledged += 1;
        true
    }

    /// Compares the disk with what may be there, and goes on from what is.
    #[track_caller]
    fn settle(&mut self, home: &Path) {
        let found = ZONES.map(|(_, place)| tree(&home.join(place)));
        if let Some(after) = self.pending.take() {
            self.interrupted += 1;
            if found == after {
                self.state = after;
            }
        }
        for (zone, (name, _)) in ZONES.into_iter().enumerate() {
            assert_same(&found[zone], &self.state[zone], name);
        }
    }

    /// A person brings what is missing while nobody looks.
    fn bring(&mut self, server: &Server, home: &Path) {
        for name in ["f0", "f1", "d0", "d1"] {
            if below(&self.state[UPLOADS], name).is_empty() {
                for (path, content) in self.files(name) {
                    let at = home.join(ZONES[UPLOADS].1).join(&path);
                    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
                    std::fs::write(at, &content).unwrap();
                    self.state[UPLOADS].insert(path, content);
                }
            }
        }
        Connection::open(server.data().join("access_auth.sqlite"))
            .unwrap()
            .execute("DELETE FROM usage WHERE zone = 'uploads'", [])
            .unwrap();
    }
}

/// The file of that name, or the files below the directory.
fn below(tree: &Tree, name: &str) -> Tree {
    let inside = format!("{name}/");
    let of_name = |path: &str| path == name || path.starts_with(&inside);
    let found = tree.iter().filter(|(path, _)| of_name(path));
    found
        .map(|(path, content)| (path.clone(), content.clone()))
        .collect()
}

#[test]
fn what_is_carried_is_in_one_zone_whenever_the_server_is_killed() {
    carry_and_kill("relaxed");
}

#[test]
fn what_is_carried_is_in_one_zone_on_a_strict_server_too() {
    carry_and_kill("strict");
}

fn carry_and_kill(durability: &str) {
    let mut rng = Rng::new(seed());
    let mut server = crate::kills::setup(durability).start();
    let home = server.data().join("users").join(USER);
    let mut carrier = Carrier {
        rng: rng.split(),
        state: State::default(),
        pending: None,
        counter: 0,
        acknowledged: 0,
        interrupted: 0,
    };
    let rounds = rounds();
    let (mut undone, mut enough) = (0, 0);
    for round in 0..rounds {
        let moment = Moment::draw(&mut rng, ANSWERS);
        enough += moment.enough();
        let address = server.address().to_owned();
        std::thread::scope(|scope| {
            let (carrier, moment) = (&mut carrier, &moment);
            scope.spawn(move || carrier.work(&address, moment));
            moment.wait();
            server.kill();
        });
        // The first access repairs, before anybody looks.
        server = server.again();
        let mut wire = Wire::open(&server, USER, "work");
        let stats = wire.data("shed_stats", &json!({}));
        carrier.settle(&home);
        undone += server.log().matches("undid a change").count();
        for (zone, (name, _)) in ZONES.into_iter().enumerate() {
            let counted = |what: &str| stats[name][what].as_u64().unwrap();
            let registry = (counted("size_bytes"), counted("files"));
            assert_eq!(
                registry,
                totals(&carrier.state[zone]),
                "round {round}: {name}"
            );
        }
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        if home.join("Documents/repo.git/refs/heads/main").exists() {
            let call = json!({"zone": "documents", "cmd": "git", "args": ["status"]});
            wire.data("shed_exec", &call);
            let repository = Repository::of(&home);
            if looks_at_histories(round, rounds) {
                repository.assert_sound();
            }
            let committed = repository.tree("HEAD");
            assert_same(&committed, &carrier.state[DOCUMENTS], "history");
        }
        if round % 4 == 0 {
            drop(wire);
            server.kill();
            carrier.bring(&server, &home);
            server = server.again();
        }
    }
    let (calls, cut) = (carrier.acknowledged, carrier.interrupted);
    println!(
        "{durability}: {rounds} kills, {calls} acknowledged calls, {cut} interrupted, \
         {undone} undone"
    );
    assert!(calls >= enough, "every round had its answers");
    assert!(cut > 0 || rounds < 10, "calls were interrupted");
}
