//! Machine code that users bring, where every program may run: the kernel alone holds back what argument
//! rules and lists of programs held back before.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::foreign::{Compiled, accounts, bystander, play};
use super::helper;
use super::{Scene, loader};

/// Rights that only such a program has: links, and machine code from the zone.
const ITS_OWN: [&str; 3] = [
    "GOT symlink",
    "GOT executable mapping",
    "GOT mapping made executable",
];

fn any_program(version: i32) -> Value {
    json!({
        "access": {"any_program": true, "version": version},
        "starts_others": true,
        "makes_groups": true,
        "limits": {"memory": 64 << 20, "file_size": 1_u64 << 40},
    })
}

#[test]
fn machine_code_that_may_be_brought_reaches_nothing_else() {
    let Some(compiled) = Compiled::new("attack") else {
        return;
    };
    let mut faults = Vec::new();
    for account in accounts() {
        for separate in helper::ways() {
            for version in [7, 5, 1] {
                let got = play(
                    &compiled.program(),
                    separate,
                    account,
                    &any_program(version),
                );
                let more = got
                    .into_iter()
                    .filter(|fault| !ITS_OWN.contains(&fault.as_str()));
                faults.extend(more.map(|fault| {
                    format!("account {account:?}, separate {separate}, version {version}: {fault}")
                }));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_system_call_by_number_is_left_that_leads_out() {
    let Some(compiled) = Compiled::new("sweep") else {
        return;
    };
    for account in accounts() {
        for separate in helper::ways() {
            let scene = Scene::new();
            if let Some(account) = account {
                scene.give(account);
            }
            let mut other = bystander(account);
            let changes = any_program(7);
            let ended = scene.run_foreign(separate, account, &compiled.program(), &[], &changes);
            let what = format!("account {account:?}, separate {separate}: {}", ended.output);
            assert!(ended.output.starts_with("BEGUN"), "{what}");
            assert!(ended.output.contains("DONE"), "{what}");
            assert!(!ended.output.contains("GOT"), "{what}");
            assert!(other.try_wait().expect("asked").is_none(), "{what}");
            other.kill().expect("ended");
            other.wait().expect("reaped");
        }
    }
}

#[test]
fn memory_of_every_kind_is_bounded() {
    const LIMIT: u64 = 64;
    // Data, at twice the limit; the stack; memory that processes share by name.
    const MOST: u64 = 2 * LIMIT + 8 + LIMIT / 2;
    let Some(compiled) = Compiled::new("shared") else {
        return;
    };
    let closed = json!({
        "access": {"execute": [compiled.program(), loader()]},
        "limits": {"memory": LIMIT << 20, "file_size": 1_u64 << 40},
    });
    for account in accounts() {
        for separate in helper::ways() {
            for changes in [&any_program(7), &closed] {
                let scene = Scene::new();
                if let Some(account) = account {
                    scene.give(account);
                }
                let program = compiled.program();
                let ended = scene.run_foreign(separate, account, &program, &[], changes);
                let what = format!(
                    "account {account:?}, separate {separate}, {changes}: {}",
                    ended.output
                );
                let reserved = ended.output.split("DONE, reserved: ").nth(1);
                let reserved = reserved.and_then(|number| number.trim().parse::<u64>().ok());
                assert!(
                    reserved.is_some_and(|reserved| reserved <= 256 * LIMIT),
                    "{what}"
                );
                let ways = ended
                    .output
                    .lines()
                    .filter_map(|line| line.rsplit_once(' '));
                let ways = ways.filter(|(way, _)| !way.starts_with("DONE"));
                let taken: BTreeMap<&str, u64> = ways
                    .filter_map(|(way, taken)| Some((way, taken.parse().ok()?)))
                    .collect();
                assert!(taken.values().sum::<u64>() <= MOST, "{what}");
                for refused in ["shared", "validated", "growing", "memfd", "segment"] {
                    assert_eq!(taken[refused], 0, "{what}");
                }
                assert!(taken["stack"] <= 8, "{what}");
            }
        }
    }
}
