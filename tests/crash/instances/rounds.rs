//! Rounds of calls and faults, whose histories are linearizable, and after which nothing is lost, locked
//! or half done.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use super::caller::Caller;
use super::fleet::{Addresses, FAULTS, Fault, Fleet};
use super::history::Histories;
use crate::kills::{StopAtEnd, seed};
use fileshed_test_support::moment::looks_at_histories;
use fileshed_test_support::rng::Rng;
use fileshed_test_support::wait_until;

/// Rounds, unless `FILESHED_TEST_ROUNDS` says otherwise: one of the faults that everybody meets each.
const ROUNDS: usize = 6;

/// Who calls at the same time.
const CALLERS: usize = 5;

/// Answers before a fault, and after it.
const ANSWERS: u64 = 60;

#[test]
fn histories_of_three_servers_are_linearizable_whatever_happens() {
    let addresses = Addresses::default();
    let Some(mut fleet) = Fleet::start(&addresses, CALLERS) else {
        return;
    };
    let rounds = std::env::var("FILESHED_TEST_ROUNDS").ok();
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let mut rng = Rng::new(seed());
    let histories = Histories::default();
    let mut calls = 0;
    for round in 0..rounds {
        let fault = FAULTS[round % FAULTS.len()];
        let name = format!("round{round}");
        let begun = Instant::now();
        let mut callers: Vec<Caller<'_>> = (0..CALLERS)
            .map(|who| Caller::new(who, &name, (&addresses, &histories), rng.split()))
            .collect();
        callers[0].prepare();
        work(&mut callers, &mut fleet, fault, &mut rng);
        fleet.recover();
        wait_until("no lock is left that nobody has", || {
            callers.iter_mut().for_each(Caller::end_edits);
            fleet.ask("SELECT count(*) FROM locks") == "0"
        });
        callers[0].look();
        let more = histories.assert_linearizable(&format!(":{name}/"));
        calls += more;
        fleet.assert_at_rest();
        if looks_at_histories(round as u64, rounds as u64) {
            fleet.assert_sound();
        }
        println!(
            "round {round}: {fault:?}, {more} calls, {:.1?}",
            begun.elapsed()
        );
    }
    // What was there after its round is there.
    for round in 0..rounds {
        let name = format!("round{round}");
        Caller::new(0, &name, (&addresses, &histories), rng.split()).look();
    }
    histories.assert_linearizable("");
    println!("{rounds} rounds, {calls} calls");
}

/// Everybody calls while it happens, and afterwards.
fn work(callers: &mut [Caller<'_>], fleet: &mut Fleet<'_>, fault: Fault, rng: &mut Rng) {
    let (stopped, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let (stopped, answers) = (&stopped, &answers);
    let some_answers = || {
        let enough = answers.load(Ordering::Relaxed) + ANSWERS;
        wait_until("answers", || answers.load(Ordering::Relaxed) >= enough);
    };
    let stop = StopAtEnd(stopped);
    std::thread::scope(|scope| {
        let _stop = stop;
        for caller in callers {
            scope.spawn(move || {
                caller.work(stopped, || {
                    answers.fetch_add(1, Ordering::Relaxed);
                });
            });
        }
        some_answers();
        fleet.suffer(fault, rng);
        some_answers();
    });
}
