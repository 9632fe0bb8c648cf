//! The processes of a session: what a job cannot leave, whatever groups it makes.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::process::{Pid, PidfdFlags, Signal};

use crate::tree::{PARENT, SESSION, STATE, all, field};

/// Rounds after which nothing more is looked for: who starts processes while they are ended runs out
/// of them.
const ROUNDS: usize = 200;

/// The sessions of a job: the one that its first process began, and the one that a terminal has.
/// Whoever loses its parent there is a child of the first process, so one is found while anybody is
/// left in it.
pub(super) fn of(first: Pid) -> Vec<Pid> {
    let parent = first.as_raw_pid().to_string();
    let session_of_child = |stat: &str| {
        let session = field(stat, SESSION).filter(|_| field(stat, PARENT) == Some(&parent))?;
        Pid::from_raw(session.parse().ok()?)
    };
    let mut sessions: Vec<Pid> = all()
        .filter_map(|(_, place)| session_of_child(&std::fs::read_to_string(place).ok()?))
        .chain([first])
        .collect();
    sessions.sort_unstable_by_key(|session| session.as_raw_pid());
    sessions.dedup();
    sessions
}

/// Sends a signal to every process of a job, also to those that it starts meanwhile: a process that
/// has got it may have been about to make one that has not.
pub(super) fn signal(first: Pid, signal: Signal) {
    // It may not have begun its session yet.
    let _has_ended = rustix::process::kill_process(first, signal);
    let mut told = vec![first];
    for _ in 0..ROUNDS {
        let mut members: Vec<_> = of(first).into_iter().flat_map(members).collect();
        members.retain(|(number, _)| !told.contains(number));
        if members.is_empty() {
            return;
        }
        for (number, process) in members {
            let _has_ended = rustix::process::pidfd_send_signal(process, signal);
            told.push(number);
        }
    }
}

/// Ends every process of a session, also what they start meanwhile.
pub(super) fn end(session: Pid) {
    for _ in 0..ROUNDS {
        let members = members(session);
        if members.is_empty() {
            return;
        }
        for (_, process) in members {
            let _has_ended = rustix::process::pidfd_send_signal(process, Signal::KILL);
        }
    }
}

/// The processes of a session that have not ended. What is held is the process, whose number may be
/// another's by now.
fn members(session: Pid) -> Vec<(Pid, OwnedFd)> {
    let session = session.as_raw_pid().to_string();
    let is_member = |stat: &str| {
        let is_there = !matches!(field(stat, STATE), Some("Z" | "X"));
        is_there && field(stat, SESSION) == Some(session.as_str())
    };
    let member = |(number, place): (Pid, PathBuf)| {
        let is_one = || is_member(&std::fs::read_to_string(&place).unwrap_or_default());
        if !is_one() {
            return None;
        }
        let process = rustix::process::pidfd_open(number, PidfdFlags::empty()).ok()?;
        is_one().then_some((number, process))
    };
    all().filter_map(member).collect()
}
