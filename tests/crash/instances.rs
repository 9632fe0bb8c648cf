//! Several servers on one data directory and one database: they write in turns, end what others left,
//! and one that only slept ends nothing that others have taken over.

mod caller;
mod fleet;
mod history;
mod linearizability;
mod paused;
mod rounds;
mod specifications;
mod teeth;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;

use rustix::process::{Signal, kill_process};
use serde_json::json;

use fileshed_test_servers::{Postgres, Session};
use fileshed_test_support::on_disk::{Repository, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, Setup, wait_until};

use crate::kills::{StopAtEnd, setup};
use fleet::{Addresses, Fleet, GROUP, SERVERS, member};
use paused::Paused;

const USER: &str = "emmy";
const ZONES: [&str; 2] = ["storage", "documents"];

/// Lines that a writer adds.
const LINES: usize = 12;

/// Members who write to a group at the same time.
const MEMBERS: usize = 6;

/// Lines that were answered well, with their zones.
type Acknowledged = Mutex<Vec<(&'static str, String)>>;

fn on(database: &str) -> Setup {
    setup("relaxed").env("FILESHED_REGISTRY", database)
}

fn data(server: &Server, zone: &str) -> PathBuf {
    let zone = match zone {
        "storage" => "Storage",
        _ => "Documents",
    };
    server.data().join("users").join(USER).join(zone)
}

fn add(wire: &mut Wire, zone: &str, line: &str) -> Result<bool, std::io::Error> {
    let call = json!({
        "zone": zone, "path": "log.txt", "content": format!("{line}\n"), "position": "end",
    });
    Ok(wire.call("shed_patch_text", &call)?.0 == 200)
}

/// Returns the answer to a query on the registry.
fn ask(postgres: &Postgres, database: &str, sql: &str) -> String {
    let name = database.rsplit('/').next().unwrap();
    postgres.run(name, sql).trim().to_owned()
}

fn begin(server: &Server) {
    let mut wire = Wire::open(server, USER, "work");
    for zone in ZONES {
        let call = json!({"zone": zone, "path": "log.txt", "content": ""});
        wire.data("shed_create_file", &call);
    }
}

/// The lines of the log, none of which is there twice.
fn lines(place: &Path) -> BTreeSet<String> {
    let content = std::fs::read_to_string(place.join("data/log.txt")).unwrap();
    let lines: BTreeSet<String> = content.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), content.lines().count(), "{content}");
    lines
}

/// Asserts that every acknowledged line is there, and that the history is whole and matches the files.
fn everything_is_there(server: &Server, acknowledged: &Acknowledged) {
    let mut wire = Wire::open(server, USER, "work");
    for zone in ZONES {
        let command = json!({"zone": zone, "cmd": "touch", "args": ["last.txt"]});
        wire.data("shed_exec", &command);
        let there = lines(&data(server, zone));
        for (_, line) in acknowledged
            .lock()
            .unwrap()
            .iter()
            .filter(|(of, _)| *of == zone)
        {
            assert!(there.contains(line), "{zone}: {line} of {there:?}");
        }
    }
    // Git's index is made to describe HEAD when git is called.
    let status = json!({"zone": "documents", "cmd": "git", "args": ["status"]});
    wire.data("shed_exec", &status);
    Repository::of(&server.data().join("users").join(USER)).assert_sound();
}

/// Adds lines by one connection until there are so many, or no answer comes.
fn add_lines(
    address: &str,
    (writer, zone): (usize, &'static str),
    most: usize,
    (acknowledged, stopped): (&Acknowledged, &AtomicBool),
) {
    let Ok(mut wire) = Wire::connect(address, USER, "work") else {
        return;
    };
    for number in 0..most {
        let line = format!("{number} of {writer}");
        match add(&mut wire, zone, &line) {
            Ok(true) => acknowledged.lock().unwrap().push((zone, line)),
            Ok(false) => {}
            Err(_) => return,
        }
        if stopped.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// A writer in each zone, until they are stopped or the server ends.
fn write_in_each_zone<'scope>(
    scope: &'scope Scope<'scope, '_>,
    server: &Server,
    shared: (&'scope Acknowledged, &'scope AtomicBool),
) {
    for (writer, zone) in ZONES.into_iter().enumerate() {
        let address = server.address().to_owned();
        scope.spawn(move || add_lines(&address, (writer, zone), usize::MAX, shared));
    }
}

#[test]
fn servers_write_the_same_zone_in_turns() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let database = postgres.database();
    let first = on(&database).start();
    let servers = [&first.again(), &first.again(), &first];
    begin(&first);
    let (acknowledged, stopped) = (Mutex::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for writer in 0..servers.len() * 2 {
            let (server, zone) = (servers[writer % servers.len()], ZONES[writer % 2]);
            let shared = (&acknowledged, &stopped);
            scope.spawn(move || {
                add_lines(server.address(), (writer, zone), LINES, shared);
            });
        }
    });
    let count = acknowledged.lock().unwrap().len();
    assert_eq!(count, servers.len() * 2 * LINES, "all were answered well");
    everything_is_there(&first, &acknowledged);
    for server in servers {
        assert!(!server.log().contains("ERROR"), "{}", server.log());
    }
}

/// No caller is told that another server ended its change, and no line is lost, because only one server at
/// a time writes the group.
#[test]
fn members_write_a_group_by_several_servers_in_turns() {
    let addresses = Addresses::default();
    let Some(fleet) = Fleet::start(&addresses, MEMBERS) else {
        return;
    };
    let lines = |who: usize| (0..LINES).map(move |number| format!("{number} of {who}"));
    std::thread::scope(|scope| {
        for who in 0..MEMBERS {
            let address = addresses.of(who % SERVERS);
            scope.spawn(move || {
                let mut wire = Wire::connect(&address, &member(who), "work").unwrap();
                for line in lines(who) {
                    let content = format!("{line}\n");
                    let path = ["log.txt", "other.txt"][line.len() % 2];
                    let call =
                        json!({"zone": "group", "group": GROUP, "path": path, "content": content});
                    wire.data("shed_patch_text", &call);
                    // So that now and then nobody of a server wants what it has.
                    wire.data("shed_stats", &json!({}));
                }
            });
        }
    });
    let expected: BTreeSet<String> = (0..MEMBERS).flat_map(lines).collect();
    assert_eq!(fleet.lines_of_group(&["log.txt", "other.txt"]), expected);
    fleet.assert_at_rest();
    fleet.assert_sound();
}

/// A command is measured at its end, which counts what others wrote while it ran.
#[test]
fn space_is_counted_right_while_one_server_measures_what_another_writes() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let first = on(&postgres.database()).start();
    let second = first.again();
    begin(&first);
    for zone in ZONES {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut wire = Wire::open(&first, USER, "work");
                for number in 0..LINES {
                    let args = [["log.txt", "copy"], ["copy", "log.txt"]][number % 2];
                    let command = json!({"zone": zone, "cmd": "cp", "args": args});
                    wire.data("shed_exec", &command);
                }
            });
            scope.spawn(|| {
                let mut wire = Wire::open(&second, USER, "work");
                for number in 0..LINES * 2 {
                    let path = format!("{}.txt", number % 4);
                    let content = "x".repeat(number);
                    let file = json!({"zone": zone, "path": path, "content": content});
                    wire.data("shed_patch_text", &file);
                    if number % 3 == 0 {
                        wire.data("shed_delete", &json!({"zone": zone, "path": path}));
                    }
                }
            });
        });
        let stats = Wire::open(&second, USER, "work").data("shed_stats", &json!({}));
        let number = |name: &str| stats[zone][name].as_u64().unwrap();
        let there = tree(&data(&first, zone).join("data"));
        let counted = (number("size_bytes"), number("files"));
        assert_eq!(counted, totals(&there), "{zone}");
    }
}

/// Gives a directory one name after the other, each of which it has once that was answered.
fn move_about(address: &str, zone: &str, stopped: &AtomicBool) {
    let mut wire = Wire::connect(address, USER, "work").unwrap();
    for number in 0.. {
        let args = [number, number + 1].map(|name: u32| name.to_string());
        let command = json!({"zone": zone, "cmd": "mv", "args": args});
        let moved = wire.data("shed_exec", &command);
        assert_eq!(moved["returncode"], 0, "{zone}: {moved}");
        if stopped.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// A command that wants more than the quota is put back to the last commit, or leaves what it wrote;
/// neither takes away what another server answered meanwhile.
#[test]
fn a_command_beyond_the_quota_takes_nothing_from_other_servers() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let setup = on(&postgres.database()).env("FILESHED_QUOTA_PER_USER_MB", "8");
    let first = setup.start();
    let second = first.again();
    begin(&first);
    let acknowledged = Mutex::default();
    let mut wire = Wire::open(&first, USER, "work");
    for zone in ZONES {
        let exec = |cmd: &str, args: &[&str]| json!({"zone": zone, "cmd": cmd, "args": args});
        let large = json!({"zone": zone, "path": "large", "content": "0123456789".repeat(300_000)});
        wire.data("shed_create_file", &large);
        wire.data("shed_exec", &exec("mkdir", &["copies", "0"]));
        let stopped = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (second, shared) = (second.address(), (&acknowledged, &stopped));
            scope.spawn(move || add_lines(second, (0, zone), usize::MAX, shared));
            scope.spawn(|| move_about(second, zone, &stopped));
            let _stop = StopAtEnd(&stopped);
            for _ in 0..LINES {
                for copy in ["copies/0", "copies/1"] {
                    let (status, answer) = wire
                        .call("shed_exec", &exec("cp", &["-v", "large", copy]))
                        .unwrap();
                    let is_second = copy.ends_with('1');
                    assert_eq!(status == 507, is_second, "{zone}: {answer}");
                    if is_second {
                        let is_undone = answer["error"]["details"]["undone"] == true;
                        assert_eq!(is_undone, zone == "documents", "{answer}");
                    }
                }
                wire.data("shed_exec", &exec("rm", &["-f", "copies/0", "copies/1"]));
            }
        });
        wire.data("shed_delete", &json!({"zone": zone, "path": "large"}));
    }
    let count = acknowledged.lock().unwrap().len();
    assert!(count > 0, "lines were added meanwhile");
    everything_is_there(&first, &acknowledged);
}

#[test]
fn of_two_servers_a_command_waits_for_that_of_the_other() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let setup = on(&postgres.database()).env("FILESHED_QUOTA_PER_USER_MB", "12");
    let first = setup.start();
    let second = first.again();
    begin(&first);
    let mut wire = Wire::open(&first, USER, "work");
    let mut rng = Rng::new(7);
    let noise: String = (0..2_000_000)
        .map(|_| char::from(b' ' + rng.below(90) as u8))
        .collect();
    for (path, content) in [("noise", noise), ("large", "0123456789".repeat(600_000))] {
        let file = json!({"zone": "documents", "path": path, "content": content});
        wire.data("shed_create_file", &file);
    }
    let exec = |cmd: &str, args: &[&str]| json!({"zone": "documents", "cmd": cmd, "args": args});
    let place = data(&first, "documents").join("data");
    let packed = std::thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let mut wire = Wire::open(&second, USER, "work");
            wire.data("shed_exec", &exec("xz", &["-k", "noise"]))
        });
        wait_until("it writes", || place.join("noise.xz").exists());
        let (status, answer) = wire
            .call("shed_exec", &exec("cp", &["-v", "large", "copy"]))
            .unwrap();
        assert_eq!(status, 507, "{answer}");
        slow.join().unwrap()
    });
    assert_eq!(packed["returncode"], 0, "{packed}");
    let there = tree(&place);
    let names: Vec<_> = there.keys().filter(|name| *name != ".git").collect();
    assert_eq!(names, ["large", "log.txt", "noise", "noise.xz"]);
    everything_is_there(&first, &Mutex::default());
}

/// Writes to each zone through another server, until each zone has a change that is not final; then calls
/// `then` with the server and the pause.
fn with_changes_under_way(
    first: &Server,
    paused: &Paused<'_>,
    acknowledged: &Acknowledged,
    then: impl FnOnce(&mut Server, Session),
) {
    let mut other = paused.start(first);
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = StopAtEnd(&stopped);
        write_in_each_zone(scope, &other, (acknowledged, &stopped));
        wait_until("lines", || acknowledged.lock().unwrap().len() > 4);
        let pause = paused.pause();
        wait_until("changes are under way", || {
            paused.has_under_way(ZONES.len())
        });
        stopped.store(true, Ordering::Relaxed);
        then(&mut other, pause);
        drop(stop);
    });
}

#[test]
fn what_a_killed_server_left_is_ended_by_another_that_nobody_asks() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let database = postgres.database();
    let first = on(&database).start();
    begin(&first);
    let paused = Paused::prepare(postgres, &database);
    let acknowledged = Mutex::default();
    with_changes_under_way(&first, &paused, &acknowledged, |other, pause| {
        other.kill();
        // Until then the database may yet do what it was told.
        paused.wait_for_takeover();
        drop(pause);
    });
    wait_until("nothing is under way", || paused.has_under_way(0));
    // A repair is logged after its change is over.
    let repaired = || first.log().matches("repaired a zone").count();
    wait_until("each repair is logged", || repaired() >= ZONES.len());
    assert_eq!(repaired(), ZONES.len(), "{}", first.log());
    everything_is_there(&first, &acknowledged);
}

#[test]
fn a_server_that_slept_ends_nothing_that_others_took_over() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let database = postgres.database();
    let first = on(&database).start();
    begin(&first);
    let paused = Paused::prepare(postgres, &database);
    let acknowledged = Mutex::default();
    with_changes_under_way(&first, &paused, &acknowledged, |sleeper, pause| {
        kill_process(sleeper.process(), Signal::STOP).unwrap();
        paused.wait_for_takeover();
        let mut wire = Wire::open(&first, USER, "work");
        for zone in ZONES {
            let line = format!("of the first in {zone}");
            assert!(add(&mut wire, zone, &line).unwrap(), "{zone}");
            acknowledged.lock().unwrap().push((zone, line));
        }
        drop(pause);
        kill_process(sleeper.process(), Signal::CONT).unwrap();
        assert_eq!(sleeper.wait(), Some(1), "{}", sleeper.log());
        assert!(sleeper.logged("stood still for too long"));
    });
    everything_is_there(&first, &acknowledged);
}

#[test]
fn a_file_that_others_saw_stays_when_its_server_wakes() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let database = postgres.database();
    let first = on(&database).start();
    begin(&first);
    let paused = Paused::prepare(postgres, &database);
    let mut sleeper = paused.start(&first);
    let file = |zone| data(&first, zone).join("data/new.txt");
    let pause = paused.pause();
    std::thread::scope(|scope| {
        let callers = ZONES.map(|zone| {
            let mut wire = Wire::open(&sleeper, USER, "work");
            let call = json!({"zone": zone, "path": "new.txt", "content": "new\n"});
            scope.spawn(move || wire.call("shed_create_file", &call))
        });
        for zone in ZONES {
            wait_until("the file is there", || file(zone).exists());
        }
        kill_process(sleeper.process(), Signal::STOP).unwrap();
        paused.wait_for_takeover();
        for zone in ZONES {
            let mut other = Wire::open(&first, USER, "work");
            assert!(add(&mut other, zone, "of the first").unwrap(), "{zone}");
        }
        drop(pause);
        kill_process(sleeper.process(), Signal::CONT).unwrap();
        for caller in callers {
            let answer = caller.join().unwrap();
            assert!(answer.is_err() || answer.unwrap().0 != 200);
        }
    });
    assert_eq!(sleeper.wait(), Some(1), "{}", sleeper.log());
    for zone in ZONES {
        assert!(file(zone).exists(), "{zone}: it is gone");
        // The next caller measures the zone, whose size is unknown.
        let mut wire = Wire::open(&first, USER, "work");
        wire.data("shed_tree", &json!({"zone": zone}));
        let (bytes, files) = totals(&tree(&data(&first, zone).join("data")));
        let counted =
            format!("SELECT bytes || ' ' || files FROM fileshed.usage WHERE zone = '{zone}'");
        let counted = ask(postgres, &database, &counted);
        assert_eq!(counted, format!("{bytes} {files}"), "{zone}");
    }
    everything_is_there(&first, &Mutex::default());
}
