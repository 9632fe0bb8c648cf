//! A user is moved from one volume to another while others write there, and the move is killed at any
//! moment: what was acknowledged is there, the user lies in one place, and nothing is left over.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use serde_json::json;

use fileshed_test_servers::Postgres;
use fileshed_test_support::on_disk::Repository;
use fileshed_test_support::rng::Rng;
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Finished, Server, Setup, wait_until};

use crate::kills::{StopAtEnd, rounds, seed, setup};

const USER: &str = "emmy";
const ZONES: [&str; 2] = ["storage", "documents"];
const VOLUMES: [&str; 2] = ["volume-1", "volume-2"];

/// Where another file system is, on most machines.
const ELSEWHERE: &str = "/dev/shm";

/// Bytes of a file that makes a move last.
const LARGE: usize = 24 * 1024 * 1024;

/// Lines that were answered well, with their zones.
type Acknowledged = Mutex<Vec<(&'static str, String)>>;

/// A server with two volumes, on two file systems where there are.
struct Stage {
    second: tempfile::TempDir,
    setup: Setup,
}

impl Stage {
    fn new() -> Self {
        Self::of(setup("relaxed"))
    }

    fn of(setup: Setup) -> Self {
        let second = tempfile::tempdir_in(ELSEWHERE);
        let second = second.unwrap_or_else(|_| tempfile::tempdir().unwrap());
        let first = setup.path("data");
        let list = format!("{}, {}", first.display(), second.path().display());
        Self {
            setup: setup.env("FILESHED_STORAGE_BASE_PATH", &list),
            second,
        }
    }

    fn volumes(&self) -> [PathBuf; 2] {
        [self.setup.path("data"), self.second.path().to_owned()]
    }

    fn volume(&self) -> usize {
        let listed = self.setup.run(&["tenant", "show", "--user", USER]);
        let line = listed
            .stdout
            .lines()
            .find(|line| line.starts_with("volume"));
        let name = line.unwrap().split('\t').nth(1).unwrap();
        VOLUMES.iter().position(|volume| *volume == name).unwrap()
    }

    fn home(&self) -> PathBuf {
        self.volumes()[self.volume()].join("users").join(USER)
    }
}

fn arguments(to: &str) -> [&str; 6] {
    ["tenant", "move", "--user", USER, "--to", to]
}

fn begin(server: &Server) {
    let mut wire = Wire::open(server, USER, "work");
    for zone in ZONES {
        let call = json!({"zone": zone, "path": "log.txt", "content": ""});
        wire.data("shed_create_file", &call);
        for number in 0..40 {
            let path = format!("many/{number}.md");
            let call = json!({"zone": zone, "path": path, "content": path});
            wire.data("shed_create_file", &call);
        }
    }
}

/// Adds lines in both zones until it is told to stop: what is refused is tried again.
fn write<'s>(
    scope: &'s Scope<'s, '_>,
    (writer, server): (usize, &'s Server),
    acknowledged: &'s Acknowledged,
    stop: &'s AtomicBool,
) {
    for (number, zone) in ZONES.into_iter().cycle().take(4).enumerate() {
        scope.spawn(move || {
            let mut wire = Wire::open(server, USER, "work");
            let mut line = 0;
            while !stop.load(Ordering::Relaxed) {
                let text = format!("{writer}-{number}-{line}");
                let call = json!({
                    "zone": zone, "path": "log.txt", "content": format!("{text}\n"),
                    "position": "end",
                });
                let (status, answer) = wire.call("shed_patch_text", &call).unwrap();
                match status {
                    200 => {
                        acknowledged.lock().unwrap().push((zone, text));
                        line += 1;
                    }
                    // While it is moved.
                    429 => {}
                    status => panic!("{status}: {answer}\n{}", server.log()),
                }
            }
        });
    }
}

/// What was acknowledged is there once, the files are in one place, and the history is whole.
fn everything_is_there(stage: &Stage, server: &Server, acknowledged: &Acknowledged) {
    let mut wire = Wire::open(server, USER, "work");
    for zone in ZONES {
        // Takes everything into the index of the history.
        let command = json!({"zone": zone, "cmd": "touch", "args": ["last.txt"]});
        wire.data("shed_exec", &command);
        let directory = if zone == "storage" {
            "Storage"
        } else {
            "Documents"
        };
        let place = stage.home().join(directory).join("data/log.txt");
        let content = std::fs::read_to_string(place).unwrap();
        let lines: BTreeSet<&str> = content.lines().collect();
        assert_eq!(lines.len(), content.lines().count(), "twice");
        let acknowledged = acknowledged.lock().unwrap();
        for (_, line) in acknowledged.iter().filter(|(of, _)| *of == zone) {
            assert!(lines.contains(line.as_str()), "{zone}: {line} is lost");
        }
    }
    Repository::of(&stage.home()).assert_sound();
}

#[track_caller]
fn succeeds(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

/// Nothing of a move is left, and the user has one directory.
fn nothing_is_left(stage: &Stage) {
    let now = stage.volume();
    for (number, volume) in stage.volumes().iter().enumerate() {
        for name in [".moving", ".removed"] {
            let left = std::fs::read_dir(volume.join(name));
            let left: Vec<_> = left.into_iter().flatten().collect();
            assert!(left.is_empty(), "{name} of {}: {left:?}", VOLUMES[number]);
        }
        let place = volume.join("users").join(USER);
        assert_eq!(place.exists(), number == now, "{}", VOLUMES[number]);
    }
}

/// Moves the user there and back while all servers write.
fn moves_there_and_back(stage: &Stage, servers: usize) {
    let mut servers: Vec<Server> = (0..servers).map(|_| stage.setup.clone().start()).collect();
    begin(&servers[0]);
    let acknowledged = Acknowledged::default();
    let stop = AtomicBool::new(false);
    let count = || acknowledged.lock().unwrap().len();
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        for (number, server) in servers.iter().enumerate() {
            write(scope, (number, server), &acknowledged, &stop);
        }
        for _ in 0..4 {
            let before = count();
            wait_until("more lines", || count() > before + 20);
            let to = VOLUMES[1 - stage.volume()];
            succeeds(&stage.setup.run(&arguments(to)));
            assert_eq!(VOLUMES[stage.volume()], to);
        }
        let before = count();
        wait_until("more lines", || count() > before + 20);
    });
    everything_is_there(stage, &servers[0], &acknowledged);
    for server in &mut servers {
        server.terminate();
        server.wait();
    }
    // Nobody can be reading the old copies any more.
    succeeds(&stage.setup.run(&arguments(VOLUMES[1 - stage.volume()])));
    nothing_is_left(stage);
    everything_is_there(stage, &stage.setup.clone().start(), &acknowledged);
}

#[test]
fn a_user_is_moved_while_others_write() {
    moves_there_and_back(&Stage::new(), 1);
}

#[test]
fn a_move_waits_for_a_history_that_is_packed() {
    let stage = Stage::new();
    let server = stage.setup.clone().start();
    begin(&server);
    let place = stage.home().join("Documents/repo.git/fileshed/packing");
    std::fs::create_dir_all(&place).unwrap();
    let packer = std::fs::File::open(&place).unwrap();
    packer.lock().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut pack = std::fs::File::create(place.join("pack")).unwrap();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(2) {
                pack.write_all(b"more").unwrap();
            }
            std::fs::remove_file(place.join("pack")).unwrap();
            is_over.store(true, Ordering::Relaxed);
            drop(packer);
        });
        let to = VOLUMES[1 - stage.volume()];
        succeeds(&stage.setup.run(&arguments(to)));
        assert!(is_over.load(Ordering::Relaxed), "it did not wait");
        assert_eq!(VOLUMES[stage.volume()], to);
    });
}

#[test]
fn servers_on_one_database_find_who_was_moved() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let setup = setup("relaxed").env("FILESHED_REGISTRY", &postgres.database());
    moves_there_and_back(&Stage::of(setup), 2);
}

#[test]
fn a_move_that_is_killed_leaves_the_user_in_one_place() {
    let stage = Stage::new();
    let mut server = stage.setup.clone().start();
    begin(&server);
    let large = stage.home().join("Storage/data/large.bin");
    std::fs::write(large, vec![7; LARGE]).unwrap();
    let mut rng = Rng::new(seed());
    let acknowledged = Acknowledged::default();
    let stop = AtomicBool::new(false);
    let mut ended = 0;
    let begun = Instant::now();
    succeeds(&stage.setup.run(&arguments(VOLUMES[1 - stage.volume()])));
    let longest = begun.elapsed().as_millis() as u64 * 5 / 4;
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop);
        write(scope, (0, &server), &acknowledged, &stop);
        for _ in 0..rounds("relaxed") {
            let to = VOLUMES[1 - stage.volume()];
            let mut child = stage.setup.piped(&arguments(to));
            let moment = Instant::now() + Duration::from_millis(rng.below(longest));
            while Instant::now() < moment && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            let _ended_by_itself = child.kill();
            let finished = child.wait_with_output().unwrap();
            ended += u64::from(finished.status.success());
        }
    });
    println!("{ended} moves came to their end");
    everything_is_there(&stage, &server, &acknowledged);
    server.kill();
    server.wait();
    succeeds(&stage.setup.run(&arguments(VOLUMES[1 - stage.volume()])));
    nothing_is_left(&stage);
    let large = stage.home().join("Storage/data/large.bin");
    assert!(is_whole(&large));
    everything_is_there(&stage, &stage.setup.clone().start(), &acknowledged);
}

fn is_whole(large: &Path) -> bool {
    let content = std::fs::read(large).unwrap();
    content.len() == LARGE && content.iter().all(|byte| *byte == 7)
}
