//! Tests of fair limits: which user gets a place, and which one waits.

use std::sync::mpsc::{Receiver, channel};

use super::*;

/// Requests places; a later grant comes over the channel.
fn ask(
    semaphore: &FairSemaphore,
    user: &str,
    amount: u64,
) -> (Option<Grant>, Option<Waiting>, Receiver<Grant>) {
    let (sender, receiver) = channel();
    let wake = Box::new(move |grant| drop(sender.send(grant)));
    match semaphore.request(user, amount, wake) {
        Ok(grant) => (Some(grant), None, receiver),
        Err(waiting) => (None, Some(waiting), receiver),
    }
}

fn take(semaphore: &FairSemaphore, user: &str) -> Result<Grant, Full> {
    semaphore.take(user, Duration::ZERO, &Cancellation::default())
}

#[test]
fn the_next_place_goes_to_the_next_user() {
    let semaphore = FairSemaphore::new(Shares::fixed(9, 1), &Clock::SYSTEM);
    let first = take(&semaphore, "a").expect("free");
    let asked = [
        ask(&semaphore, "a", 1),
        ask(&semaphore, "a", 1),
        ask(&semaphore, "b", 1),
    ];
    let whose = |grant: Grant| grant.user.clone();
    drop(first);
    let mut order = Vec::new();
    for _ in 0..3 {
        let granted = asked
            .iter()
            .find_map(|(.., receiver)| receiver.try_recv().ok());
        order.extend(granted.map(whose));
    }
    assert_eq!(order, ["a", "b", "a"]);
    assert!(take(&semaphore, "c").is_ok());
}

#[test]
fn one_user_cannot_take_all() {
    let fixed = FairSemaphore::new(Shares::fixed(1, 2), &Clock::SYSTEM);
    let first = take(&fixed, "a").expect("free");
    assert_eq!(take(&fixed, "a").map(drop), Err(Full::User));
    let _second = take(&fixed, "b").expect("free");
    assert_eq!(take(&fixed, "c").map(drop), Err(Full::All));
    drop(first);
    assert!(take(&fixed, "a").is_ok());

    let dynamic = FairSemaphore::new(Shares::dynamic(12), &Clock::SYSTEM);
    let held = |user: &str| {
        let mut held = Vec::new();
        while let Ok(grant) = take(&dynamic, user) {
            held.push(grant);
        }
        held
    };
    let (a, b, c) = (held("a"), held("b"), held("c"));
    assert_eq!((a.len(), b.len(), c.len()), (6, 3, 2));
    assert_eq!(dynamic.full("a"), Full::User);
    assert_eq!(held("d").len(), 1, "somebody new finds a place");
    // The only place is anybody's.
    let single = FairSemaphore::new(Shares::dynamic(1), &Clock::SYSTEM);
    let taken = take(&single, "a").expect("free");
    assert_eq!(take(&single, "b").map(drop), Err(Full::All));
    drop(taken);
}

#[test]
fn who_goes_away_is_passed_over() {
    let semaphore = FairSemaphore::new(Shares::fixed(9, 1), &Clock::SYSTEM);
    let first = take(&semaphore, "a").expect("free");
    let (_, waiting, gone) = ask(&semaphore, "b", 1);
    let (_, _stays, stays) = ask(&semaphore, "c", 1);
    drop(waiting);
    // This one has left without a word.
    let (_, _silent, silent) = ask(&semaphore, "d", 1);
    drop(silent);
    drop(first);
    assert!(gone.try_recv().is_err());
    drop(stays.try_recv().expect("its turn"));
    assert!(take(&semaphore, "a").is_ok());
    let cancellation = Cancellation::default();
    cancellation.cancel();
    let _taken = take(&semaphore, "a").expect("free");
    let waited = semaphore.take("b", crate::timings::hours(1), &cancellation);
    assert_eq!(waited.map(drop), Err(Full::All));
}

#[test]
fn who_waits_for_another_call_holds_no_place() {
    let shares = Shares {
        aside_per_user: 2,
        aside_total: 1,
        ..Shares::fixed(9, 1)
    };
    let semaphore = FairSemaphore::new(shares, &Clock::SYSTEM);
    let place = CallSlot::new(take(&semaphore, "a").expect("free"));
    let inside = place.while_waiting(|| {
        let other = CallSlot::new(take(&semaphore, "a").expect("free meanwhile"));
        other.while_waiting(|| {
            // Two calls wait: a third one is not let in, others are.
            assert_eq!(take(&semaphore, "a").map(drop), Err(Full::User));
            take(&semaphore, "b").is_ok()
        })
    });
    assert_eq!(inside, Some(Some(true)));
    assert_eq!(take(&semaphore, "b").map(drop), Err(Full::All));
    drop(place);
    assert!(semaphore.state.lock().lanes.is_empty());
    assert!(take(&semaphore, "b").is_ok());
}

#[test]
fn too_many_who_wait_are_told() {
    let shares = Shares {
        aside_total: 1,
        ..Shares::fixed(99, 99)
    };
    let semaphore = FairSemaphore::new(shares, &Clock::SYSTEM);
    let mut grants: Vec<Grant> = (0..6)
        .map(|_| take(&semaphore, "a").expect("free"))
        .collect();
    let aside: Vec<bool> = grants.iter_mut().map(Grant::set_aside).collect();
    assert_eq!(aside, [true, true, true, true, false, false]);
    drop(grants);
    let state = semaphore.state.lock();
    assert_eq!((state.held, state.aside), (0, 0));
}

#[test]
fn not_even_the_first_of_each_wait_where_there_is_no_thread_for_them() {
    let shares = Shares {
        aside_total: 1,
        aside_most: 3,
        ..Shares::fixed(99, 99)
    };
    let semaphore = FairSemaphore::new(shares, &Clock::SYSTEM);
    let mut grants: Vec<Grant> = ["a", "b", "c", "d"]
        .map(|user| take(&semaphore, user).expect("free"))
        .into();
    let aside: Vec<bool> = grants.iter_mut().map(Grant::set_aside).collect();
    assert_eq!(aside, [true, true, true, false]);
    grants[0].take_up();
    assert!(grants[3].set_aside());
}

#[test]
fn amounts_are_counted_and_given_back() {
    let semaphore = FairSemaphore::new(Shares::dynamic(100), &Clock::SYSTEM);
    let mut grant = ask(&semaphore, "a", 30).0.expect("fits");
    let (none, _waiting, later) = ask(&semaphore, "a", 50);
    assert!(none.is_none(), "80 would be more than the 70 that are free");
    grant.resize(20);
    grant.join(later.try_recv().expect("fits now"));
    assert_eq!(grant.amount(), 70);
    // Resizing also takes more places than there are.
    grant.resize(150);
    assert!(ask(&semaphore, "b", 1).0.is_none());
    drop(grant);
    assert!(ask(&semaphore, "b", 100).0.is_some());
    // A request for more places than there are gets all of them.
    assert_eq!(ask(&semaphore, "b", 900).0.expect("fits").amount(), 100);
}
