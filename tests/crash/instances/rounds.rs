//! Rounds of calls and faults, whose histories are linearizable, and after which nothing is lost, locked
//! or half done.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::caller::Caller;
use super::fleet::{Addresses, FAULTS, Fault, Fleet, SERVERS};
use super::history::Histories;
use crate::kills::StopAtEnd;
use fileshed_test_support::moment::looks_at_histories;
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds_unless_said, seed};
use fileshed_test_support::wait_until;

/// Number of callers at the same time.
const CALLERS: usize = 5;

/// Answers before a fault, and after it.
const ANSWERS: u64 = 30;

#[test]
fn histories_of_three_servers_are_linearizable_whatever_happens() {
    let addresses = Addresses::default();
    let Some(mut fleet) = Fleet::start(&addresses, CALLERS) else {
        return;
    };
    let rounds = rounds_unless_said(FAULTS.len() as u64) as usize;
    let mut rng = Rng::new(seed());
    let histories = Histories::default();
    let mut calls = 0;
    for round in 0..rounds {
        let fault = FAULTS[round % FAULTS.len()];
        let name = format!("round{round}");
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
        (0..SERVERS).for_each(|server| callers[0].look(server));
        let more = histories.assert_linearizable(&format!(":{name}/"));
        calls += more;
        fleet.assert_at_rest();
        if looks_at_histories(round as u64, rounds as u64) {
            fleet.assert_sound();
        }
        println!("round {round}: {fault:?}, {more} calls");
    }
    // The objects of every round are still as they were at its end.
    for round in 0..rounds {
        let name = format!("round{round}");
        Caller::new(0, &name, (&addresses, &histories), rng.split()).look(round % SERVERS);
    }
    histories.assert_linearizable("");
    println!("{rounds} rounds, {calls} calls");
}

/// Everybody calls while it happens, and afterwards.
fn work(callers: &mut [Caller<'_>], fleet: &mut Fleet<'_>, fault: Fault, rng: &mut Rng) {
    let (calls, answers) = (&AtomicU64::new(0), &AtomicU64::new(0));
    let more = |what: &str, counter: &AtomicU64, number: u64| {
        let enough = counter.load(Ordering::Relaxed) + number;
        wait_until(what, || counter.load(Ordering::Relaxed) >= enough);
    };
    let stopped = &AtomicBool::new(false);
    let stop = StopAtEnd(stopped);
    std::thread::scope(|scope| {
        let _stop = stop;
        for caller in callers {
            scope.spawn(move || {
                caller.work(stopped, |was_answered| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    answers.fetch_add(u64::from(was_answered), Ordering::Relaxed);
                });
            });
        }
        more("answers before it", answers, ANSWERS);
        fleet.suffer(fault, rng, &|number| more("calls meanwhile", calls, number));
        more("answers after it", answers, ANSWERS);
    });
}
