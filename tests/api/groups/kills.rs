//! Kills at random moments, while members write, rename, delete and run commands.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::groups::team::{MEMBERS, assert_clean, files, home, make, owners, repository, setup};
use fileshed_test_support::moment::{Moment, looks_at_histories};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, variables};

/// Answers that a round has at most before the kill is waited for.
const ANSWERS: u64 = 60;

/// A file that its owner protects: no other user's call may change it, whenever the server dies.
const PROTECTED: &str = "protected.md";

/// A file that each user protects, and moves.
const KEPT: &str = "kept";

/// State that a user knows when the server dies.
#[derive(Default)]
struct Work {
    acknowledged: u64,
    /// The files that are as the user wrote them.
    known: BTreeMap<String, String>,
    /// All that the user wrote, whatever became of it.
    written: Vec<String>,
}

/// Works until the connection ends.
fn work(address: &str, user: &str, mut rng: Rng, round: u64, moment: &Moment) -> Work {
    let mut work = Work::default();
    let Ok(mut wire) = Wire::connect(address, user, "work") else {
        return work;
    };
    let (moved, copy) = (format!("{user}/moved"), format!("{user}/copy"));
    for number in 0.. {
        let path = format!("{user}/{}", rng.below(4));
        let mut call = json!({"zone": "group", "group": "Team"});
        let operation = match rng.below(7) {
            0 | 1 => {
                call["path"] = path.as_str().into();
                call["content"] = format!("{user} {round} {number}\n").into();
                call["mode"] = "owner".into();
                "shed_create_file"
            }
            2 => {
                call["path"] = path.as_str().into();
                "shed_delete"
            }
            3 => {
                call["old_path"] = path.as_str().into();
                call["new_path"] = moved.as_str().into();
                "shed_rename"
            }
            4 => {
                let (cmd, args) = overwrite(rng.below(5), &path, &moved, &copy);
                call["cmd"] = cmd.into();
                call["args"] = args;
                "shed_exec"
            }
            5 => {
                // Takes its protection along, from wherever it is.
                let names = [KEPT, "kept-2", "in/kept"].map(|name| format!("{user}/{name}"));
                let [from, to] = [rng.below(3), rng.below(3)].map(|at| &names[at as usize]);
                call["cmd"] = "mv".into();
                call["args"] = json!(["-nT", from, to]);
                "shed_exec"
            }
            _ => {
                // Changes something that it may change, and something that it may not.
                call["cmd"] = "sed".into();
                call["args"] = json!(["-i", "s/$/!/", "open.md", PROTECTED]);
                "shed_exec"
            }
        };
        for path in [&path, &moved, &copy] {
            work.known.remove(path);
        }
        let content = call["content"].as_str().map(str::to_owned);
        let Ok((status, answer)) = wire.call(operation, &call) else {
            break;
        };
        work.acknowledged += 1;
        moment.answered();
        let refused: &[u64] = &[403, 404, 409];
        assert!(
            status == 200 || refused.contains(&u64::from(status)),
            "{answer}"
        );
        if call["args"][3] == PROTECTED {
            assert_eq!(answer["error"]["code"], "PERMISSION_DENIED", "{answer}");
        }
        if let (200, Some(content)) = (status, content) {
            work.written.push(content.clone());
            work.known.insert(path, content);
        }
    }
    work
}

/// A command that writes over what is there.
fn overwrite(choice: u64, path: &str, moved: &str, copy: &str) -> (&'static str, Value) {
    match choice {
        0 => ("cp", json!([path, copy])),
        1 => ("cp", json!([moved, path])),
        2 => ("mv", json!(["-f", copy, path])),
        3 => ("sort", json!(["-o", path, moved])),
        _ => ("truncate", json!(["-s", "3", path])),
    }
}

#[test]
fn registry_and_files_agree_whenever_the_server_dies() {
    kill_and_compare("relaxed");
}

#[test]
fn registry_and_files_agree_whenever_a_strict_server_dies() {
    kill_and_compare("strict");
}

fn kept_by(user: &str) -> String {
    format!("kept by {user}, wherever it is\n")
}

/// Makes the files that users protect and move, and the directories that they move them to.
fn keep(server: &Server, shared: impl Fn(&str, &str) -> Value) {
    for user in MEMBERS {
        let mut wire = Wire::open(server, user, "work");
        let mut kept = shared(&format!("{user}/{KEPT}"), "owner");
        kept["content"] = kept_by(user).into();
        wire.data("shed_create_file", &kept);
        // The directory that it moves to.
        let beside = shared(&format!("{user}/in/beside"), "group");
        wire.data("shed_create_file", &beside);
    }
}

fn kill_and_compare(durability: &str) {
    let rounds = variables::rounds();
    let mut rng = Rng::new(variables::seed());
    let mut server: Server = setup().env("FILESHED_DURABILITY", durability).start();
    make(&server, "team", "Team", &["ada", "bob", "cyd", "owner"]);
    let shared = |path: &str, mode: &str| json!({"zone": "group", "group": "Team", "path": path, "content": "text\n", "mode": mode});
    let mut owner = Wire::open(&server, "owner", "work");
    owner.data("shed_create_file", &shared(PROTECTED, "owner"));
    owner.data("shed_create_file", &shared("open.md", "group"));
    keep(&server, shared);
    let (mut calls, mut enough, mut repairs, mut put_back) = (0, 0, 0, 0);
    let mut last = String::new();
    for round in 0..rounds {
        let address = server.address().to_owned();
        let moment = Moment::draw(&mut rng, ANSWERS);
        enough += moment.enough();
        let seeds = MEMBERS.map(|_| rng.split());
        let done = std::thread::scope(|scope| {
            let workers: Vec<_> = MEMBERS
                .iter()
                .zip(seeds)
                .map(|(user, rng)| {
                    let (address, moment) = (&address, &moment);
                    scope.spawn(move || work(address, user, rng, round, moment))
                })
                .collect();
            moment.wait();
            server.kill();
            let joined = workers.into_iter().map(|worker| worker.join().unwrap());
            joined.collect::<Vec<_>>()
        });
        server = server.again();
        let ada = server.as_user("ada");
        let records = owners(&ada);
        let found = files(&server);
        assert_eq!(found[PROTECTED], b"text\n", "round {round}");
        // A command that died before it came to the protected file did what it may.
        assert!(found["open.md"].starts_with(b"text"), "round {round}");
        assert!(records.keys().eq(found.keys()), "round {round}");
        for (path, (who, _)) in &records {
            let who = who.as_deref().unwrap_or_default();
            let fits = match path.split_once('/') {
                Some((user, _)) => who == user,
                None if [PROTECTED, "open.md"].contains(&path.as_str()) => who == "owner",
                // A leftover of a command that died, beside the file.
                None => MEMBERS.contains(&who),
            };
            assert!(fits, "round {round}: {path} is of {who}");
        }
        for user in MEMBERS {
            let text = kept_by(user);
            let mut places = found.iter().filter(|(_, bytes)| **bytes == text.as_bytes());
            let place = places.next().map(|(path, _)| path.as_str());
            let place = place.unwrap_or_else(|| panic!("round {round}: {user} lost a file"));
            assert_eq!(places.next(), None, "round {round}");
            assert_eq!(
                records[place],
                (Some(user.to_owned()), "owner".to_owned()),
                "round {round}: {place}"
            );
        }
        let repository = repository(&server);
        let made = repository.text(&["log", "-p", "--text", "--format=", &format!("{last}HEAD")]);
        last = format!("{}..", repository.text(&["rev-parse", "HEAD"]));
        for work in done {
            calls += work.acknowledged;
            // Whatever became of it since.
            for content in work.written {
                let line = format!("+{}", content.trim_end());
                let there = made.lines().any(|made| made == line);
                assert!(there, "round {round}: {line} is not in the history");
            }
            for (path, content) in work.known {
                let found = found
                    .get(&path)
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                assert_eq!(found, Some(content), "round {round}: {path}");
            }
        }
        assert_clean(&server);
        if looks_at_histories(round, rounds) {
            repository.assert_sound();
        }
        let left = fileshed_test_support::on_disk::staged(&home(&server));
        assert_eq!(left, Vec::<String>::new(), "round {round}");
        // No record without a file.
        let cleaned: Value =
            Wire::open(&server, "ada", "other").data("shed_maintenance", &json!({}));
        assert_eq!(cleaned["orphan_ownerships"], json!([]), "round {round}");
        repairs += server.log().matches("repaired a zone").count();
        put_back += server
            .log()
            .matches("undid the changes of a command")
            .count();
    }
    println!(
        "{durability}: {rounds} kills, {calls} calls, {repairs} repairs, {put_back} commands put back"
    );
    assert!(calls >= enough, "every round had its answers");
}
