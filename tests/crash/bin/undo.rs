//! Undo; the server is killed meanwhile.

use serde_json::{Value, json};

use super::{USER, counted, cut_off};
use crate::kills::setup;
use fileshed_test_support::on_disk::{staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wire::Wire;

const FILES: usize = 6;

/// The zones by their addresses, each with the directory of its files below that of the data.
const ZONES: [(&str, &str); 3] = [
    ("documents", "users/marie/Documents/data"),
    ("group/team", "groups/team/data"),
    ("storage", "users/marie/Storage/data"),
];

fn write(wire: &mut Wire, content: &str) {
    for (address, _) in ZONES {
        let (zone, group) = address.split_once('/').unwrap_or((address, ""));
        for number in 0..FILES {
            let path = format!("d/{number}");
            let mut call =
                json!({"zone": zone, "path": path, "content": content, "overwrite": true});
            if !group.is_empty() {
                call["group"] = group.into();
            }
            wire.data("shed_create_file", &call);
        }
    }
}

/// The owner and mode of each file of the group.
fn owners(wire: &mut Wire) -> Value {
    wire.data("shed_group_info", &json!({"group": "team"}))["files"].take()
}

#[test]
fn an_undo_goes_on_where_it_was_cut_off_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let mut server = setup("relaxed").start();
    let data = server.data().clone();
    let home = data.join("users").join(USER);
    let team = ["--id", "team", "--name", "team", "--members", USER];
    let made = server.run(&[["group", "create"].as_slice(), &team].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    let mut wire = Wire::open(&server, USER, "work").answering("first");
    write(&mut wire, "old\n");
    let first_owners = owners(&mut wire);
    let (mut whole, mut half) = (0, 0);
    let rounds = rounds();
    for round in 0..rounds {
        let answer = format!("answer-{round}");
        let new = format!("new in {round}\n");
        write(
            &mut Wire::open(&server, USER, "work").answering(&answer),
            &new,
        );
        let undo = json!({"answer": answer});
        let is_answered = cut_off(&mut server, &mut rng, round, ("shed_undo", &undo));
        server = server.again();
        let mut wire = Wire::open(&server, USER, "work");
        let stats = wire.data("shed_stats", &json!({}));
        let mut back = 0;
        for (zone, directory) in ZONES {
            let listed = wire.data("shed_history", &json!({"path": zone, "limit": 200}));
            let rows = listed["changes"].as_array().unwrap().iter();
            let rows: Vec<&Value> = rows.filter(|row| row["answer"] == answer).collect();
            assert_eq!(rows.len(), FILES, "round {round}: {listed}");
            let content = |row: &Value| {
                let file = row["files"][0].as_str().unwrap();
                let name = file.split(' ').next().unwrap().strip_prefix(zone).unwrap();
                std::fs::read_to_string(data.join(directory).join(&name[1..])).unwrap()
            };
            let is_back: Vec<bool> = rows.iter().map(|row| content(row) == "old\n").collect();
            for (row, is_back) in rows.iter().zip(is_back) {
                let text = content(row);
                assert!(text == new || text == "old\n", "round {round}: {text:?}");
                assert_eq!(
                    row["undone"] == true,
                    is_back,
                    "round {round} {zone}: {row}"
                );
                back += usize::from(is_back);
            }
        }
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        let found = tree(&home.join("Storage/data"));
        assert_eq!(counted(&stats, "storage"), totals(&found), "round {round}");
        assert!(
            !is_answered || back == ZONES.len() * FILES,
            "round {round}: what was answered holds"
        );
        let (code, said) = wire.call("shed_undo", &undo).unwrap();
        if back == ZONES.len() * FILES {
            assert_eq!(code, 409, "round {round}: {said}");
            whole += 1;
        } else {
            assert_eq!(code, 200, "round {round}: {said}");
            half += u64::from(back > 0);
        }
        for (_, directory) in ZONES {
            for number in 0..FILES {
                let path = data.join(directory).join(format!("d/{number}"));
                let text = std::fs::read_to_string(path).unwrap();
                assert_eq!(text, "old\n", "round {round}: {directory} {number}");
            }
        }
        assert_eq!(owners(&mut wire), first_owners, "round {round}");
    }
    assert!(whole > 0, "undos had an effect");
    println!("{rounds} kills, {whole} undos were whole, {half} were cut off half way");
}

/// Files of a renamed directory: more than are written at one moment.
const RENAMED: usize = 60;

#[test]
fn a_directory_gets_its_former_name_back_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let mut server = setup("relaxed").start();
    let data = server.data().clone();
    let team = ["--id", "team", "--name", "team", "--members", USER];
    let made = server.run(&[["group", "create"].as_slice(), &team].concat());
    assert_eq!(made.code, Some(0), "{made:?}");
    let mut wire = Wire::open(&server, USER, "work").answering("first");
    for (zone, group) in [("documents", ""), ("group", "team")] {
        let text = "x\n";
        for number in 0..RENAMED {
            let path = format!("d/{number}");
            let content = format!("{number} {text}");
            let call = json!({"zone": zone, "group": group, "path": path, "content": content});
            wire.data("shed_create_file", &call);
        }
    }
    let first_owners = owners(&mut wire);
    let places = ZONES[..2].iter().map(|(_, place)| data.join(place));
    let files = || places.clone().map(|place| tree(&place)).collect::<Vec<_>>();
    let first = files();
    let (mut whole, mut half) = (0, 0);
    let rounds = rounds();
    for round in 0..rounds {
        let answer = format!("answer-{round}");
        let mut wire = Wire::open(&server, USER, "work").answering(&answer);
        for (zone, group) in [("documents", ""), ("group", "team")] {
            let call = json!({"zone": zone, "group": group, "old_path": "d", "new_path": answer});
            wire.data("shed_rename", &call);
        }
        let renamed = files();
        let undo = json!({"answer": answer});
        cut_off(&mut server, &mut rng, round, ("shed_undo", &undo));
        server = server.again();
        let mut wire = Wire::open(&server, USER, "work");
        for (zone, _) in ZONES {
            wire.data("shed_history", &json!({"path": zone}));
        }
        let now = files();
        let (code, said) = wire.call("shed_undo", &undo).unwrap();
        assert_eq!(
            code,
            if now == first { 409 } else { 200 },
            "round {round}: {said}"
        );
        assert_eq!(files(), first, "round {round}: {said}");
        assert_eq!(owners(&mut wire), first_owners, "round {round}");
        whole += u64::from(now == first);
        half += u64::from(now != first && now != renamed);
    }
    assert!(whole > 0, "undos had an effect");
    println!("{rounds} kills, {whole} undos were whole, {half} were cut off half way");
}
