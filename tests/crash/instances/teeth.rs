//! The checker refuses what it has to refuse, and nothing else.

use super::linearizability::{Event, Specification, check};
use super::specifications::{EditCall, FileCall, Mode, NameCall, Outcome, OwnedCall};

use Outcome::{Done, Refused};

/// A history of calls with their beginnings and answers; 0 is no answer.
#[track_caller]
fn judge<C: Specification + Clone + std::fmt::Debug>(calls: &[(u64, u64, C)]) -> bool {
    let events: Vec<Event<C>> = calls
        .iter()
        .map(|(begun, answered, call)| Event {
            call: call.clone(),
            begun: *begun,
            answered: (*answered > 0).then_some(*answered),
        })
        .collect();
    check(&events).is_ok()
}

fn write(text: &str) -> FileCall {
    FileCall::Write(text.to_owned())
}

fn read(text: &str) -> FileCall {
    FileCall::Read(Some(text.to_owned()))
}

fn replace(from: &str, to: &str) -> FileCall {
    FileCall::Replace(from.to_owned(), to.to_owned(), true)
}

fn open(who: usize, copy: Option<&str>) -> EditCall {
    EditCall::Open(who, copy.map(str::to_owned))
}

fn overwrite(who: usize, text: &str) -> EditCall {
    EditCall::Overwrite(who, text.to_owned(), Done)
}

#[test]
fn calls_at_the_same_time_may_come_in_any_order() {
    let both = [(1, 9, write("a")), (2, 8, write("b"))];
    for last in ["a", "b"] {
        assert!(judge(&[both.as_slice(), &[(10, 11, read(last))]].concat()));
    }
    // A read during both writes sees either text, and later reads agree with the order that it saw.
    let seen = |texts: [&str; 3]| {
        let reads = (3..)
            .zip(texts)
            .map(|(at, text)| (at * 10, at * 10 + 1, read(text)));
        let writes = [(1, 100, write("a")), (2, 99, write("b"))];
        judge(&writes.into_iter().chain(reads).collect::<Vec<_>>())
    };
    assert!(seen(["a", "b", "b"]));
    assert!(!seen(["a", "b", "a"]));
}

#[test]
fn a_lost_update_is_seen() {
    let two = |second_from| {
        judge(&[
            (1, 2, write("0")),
            (3, 9, replace("0", "1")),
            (4, 8, replace(second_from, "2")),
        ])
    };
    assert!(two("1"));
    assert!(!two("0"), "both replaced the same text");
    let appended = |seen: &str| {
        judge(&[
            (1, 5, FileCall::Append("a".to_owned())),
            (2, 4, FileCall::Append("b".to_owned())),
            (6, 7, read(seen)),
        ])
    };
    assert!(appended("a\nb\n") && appended("b\na\n"));
    assert!(!appended("a\n") && !appended("a\nb\na\n"));
}

#[test]
fn a_stale_read_is_seen() {
    let calls = |text: &str, begun| {
        judge(&[
            (1, 2, write("old")),
            (3, 6, write("new")),
            (begun, begun + 1, read(text)),
        ])
    };
    assert!(calls("old", 4), "the write is not answered yet");
    assert!(!calls("old", 7));
    assert!(!calls("ol", 4), "half a text");
}

#[test]
fn a_double_lock_is_seen() {
    let calls = |second: Option<&str>| {
        judge(&[
            (1, 2, open(0, Some(""))),
            (3, 4, open(1, second)),
            (5, 6, overwrite(0, "a")),
            (7, 8, EditCall::Save(0, Done)),
            (9, 10, open(1, Some("a"))),
        ])
    };
    assert!(calls(None));
    assert!(!calls(Some("")), "two have the lock");
    // A save without the lock; a lock that holds after the end.
    assert!(!judge(&[(1, 2, EditCall::Save(0, Done))]));
    assert!(judge(&[(1, 2, EditCall::Save(0, Refused))]));
    assert!(!judge(&[
        (1, 2, open(0, Some(""))),
        (3, 4, EditCall::Cancel(0, Done)),
        (5, 6, open(1, None)),
    ]));
}

#[test]
fn what_was_not_answered_may_have_happened_or_not() {
    let begin = [(1, 2, write("old")), (3, 0, write("new"))];
    let then = |texts: &[&str]| {
        let reads = (4..)
            .zip(texts)
            .map(|(at, text)| (at * 10, at * 10 + 1, read(text)));
        judge(&begin.iter().cloned().chain(reads).collect::<Vec<_>>())
    };
    assert!(then(&["old", "old"]), "never");
    assert!(then(&["new", "new"]), "at once");
    assert!(then(&["old", "old", "new"]), "later");
    assert!(!then(&["new", "old"]), "and was taken back");
    // It happens once, and not before it was asked for.
    let log = |seen: &str| {
        judge(&[
            (1, 0, FileCall::Append("a".to_owned())),
            (2, 3, FileCall::Append("b".to_owned())),
            (4, 5, read(seen)),
        ])
    };
    assert!(log("b\n") && log("a\nb\n") && log("b\na\n"));
    assert!(!log("a\n") && !log("a\nb\na\n"));
    assert!(!judge(&[(1, 2, read("a")), (3, 0, write("a"))]));
}

#[test]
fn one_of_several_renames_wins() {
    let rename = |to, outcome| NameCall::Rename(0, to, outcome);
    let both = |second| judge(&[(1, 5, rename(1, Done)), (2, 6, rename(2, second))]);
    assert!(both(Refused));
    assert!(!both(Done));
    assert!(!judge(&[
        (1, 5, rename(1, Refused)),
        (2, 6, rename(2, Refused))
    ]));
    assert!(!judge(&[
        (1, 2, rename(1, Done)),
        (3, 4, NameCall::Look(0, true)),
    ]));
}

#[test]
fn a_file_has_the_owner_who_made_it() {
    let write = |who, outcome| OwnedCall::Write(who, Mode::Owner, outcome);
    let both = |second| judge(&[(1, 5, write(0, Done)), (2, 6, write(1, second))]);
    assert!(both(Refused) && !both(Done));
    let then = |call| judge(&[(1, 2, write(0, Done)), (3, 4, call)]);
    assert!(then(OwnedCall::Look(Some((0, Mode::Owner)))));
    assert!(!then(OwnedCall::Look(Some((1, Mode::Owner)))));
    assert!(!then(OwnedCall::Look(None)));
    assert!(!then(OwnedCall::SetMode(1, Mode::Group, Done)));
    assert!(!then(OwnedCall::Remove(1, Done)));
    assert!(then(OwnedCall::Remove(1, Refused)));
    assert!(!then(OwnedCall::FindNothing));
}

/// Two thousand calls of several callers, some without an answer: their orders are not tried one by one.
#[test]
fn long_histories_are_judged() {
    const CALLERS: u64 = 6;
    let mut calls = Vec::new();
    for number in 0..1000 {
        let begun = number * 10 + 1;
        let is_lost = number % 101 == 0;
        let answered = if is_lost { 0 } else { begun + 10 * CALLERS };
        calls.push((begun, answered, write(&number.to_string())));
        calls.push((begun + 1, begun + 3, read(&number.to_string())));
    }
    assert!(judge(&calls));
    calls.push((40_000, 40_001, read("17")));
    assert!(!judge(&calls));
}
