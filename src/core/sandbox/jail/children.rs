//! The processes of the zygote: looked after until they have ended.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::FAILED;
use super::process::number;
use crate::descriptor::poll;
use crate::message::{JobEvent, StartRequest};
use crate::processes::{PARENT, SESSION, STATE, all, field, processes_of};

/// Rounds after which the search ends: a job that starts processes while they are ended runs out of
/// them.
const ROUNDS: usize = 200;

/// A job that can have fewer watches of epoll is not the reason why the account has none left.
const LEAST_WATCHES: usize = 1024;

/// A child that runs.
pub(super) struct ForkedChild {
    pub(super) pid: Pid,
    /// Readable once it ended.
    pub(super) ended: OwnedFd,
    /// Closed by a server that wants it ended, with a byte from one that asks it to end; gets how it
    /// ended.
    pub(super) answer: OwnedFd,
    pub(super) stopped: bool,
    /// `true` if it is the init of its own namespace of processes.
    pub(super) separate: bool,
    /// `true` if its processes may be in other groups than its own.
    pub(super) makes_groups: bool,
}

/// Waits until something happens, or so long; takes care of what ended or must end. True when the
/// server has sent something.
pub(super) fn attend(
    children: &mut Vec<ForkedChild>,
    patience: Option<Duration>,
) -> io::Result<bool> {
    let mut watched = vec![PollFd::from_borrowed_fd(
        rustix::stdio::stdin(),
        PollFlags::IN,
    )];
    let read = |handle| PollFd::new(handle, PollFlags::IN);
    watched.extend(children.iter().map(|child| read(&child.ended)));
    // A socket that was closed stays so: it counts once.
    let waiting = children.iter().filter(|child| !child.stopped);
    watched.extend(waiting.map(|child| read(&child.answer)));
    poll(&mut watched, patience)?;
    let readable: Vec<bool> = watched
        .iter()
        .map(|one| !one.revents().is_empty())
        .collect();
    drop(watched);
    let (ended, answers) = readable[1..].split_at(children.len());
    let (mut ended, mut answers) = (ended.iter(), answers.iter());
    children.retain_mut(|child| {
        let was_asked = !child.stopped && answers.next() == Some(&true);
        if ended.next() == Some(&true) {
            child.finish();
            return false;
        }
        if was_asked && child.is_to_end() {
            child.kill();
            child.stopped = true;
        } else if was_asked {
            child.terminate();
        }
        true
    });
    Ok(readable[0])
}

impl ForkedChild {
    pub(super) fn new(pid: Pid, ended: OwnedFd, answer: OwnedFd, separate: bool) -> Self {
        Self {
            pid,
            ended,
            answer,
            stopped: false,
            separate,
            makes_groups: false,
        }
    }

    /// Begins a job, of which the server is told.
    pub(super) fn begin(mut self, request: &StartRequest, children: &mut Vec<Self>) {
        JobEvent::Started(self.pid.as_raw_pid()).tell(&self.answer);
        self.makes_groups = request.makes_groups;
        children.push(self);
    }

    /// Ends one that has no job and that nobody listens to any more; it is collected with the others.
    pub(super) fn end(mut self, children: &mut Vec<Self>) {
        self.kill();
        self.stopped = true;
        children.push(self);
    }

    /// Returns `true` if the server, which has something to say of it, does not want it any more.
    fn is_to_end(&self) -> bool {
        let mut request = [0; 1];
        let received = rustix::net::recv(&self.answer, &mut request, RecvFlags::DONTWAIT);
        !matches!(received, Ok((1, _)) | Err(Errno::AGAIN | Errno::INTR))
    }

    /// Asks everything that it started to end. An init passes the signal on to all others, a
    /// supervisor is not moved by it.
    fn terminate(&self) {
        if self.separate {
            let _ended = rustix::process::kill_process(self.pid, Signal::TERM);
        } else {
            signal_session(self.pid, Signal::TERM);
        }
    }

    /// Ends the whole group: a process makes one of its own first thing. It is not reaped yet, so
    /// the number cannot be another's.
    pub(super) fn kill(&self) {
        let sessions = if self.makes_groups && !self.separate {
            sessions_of(self.pid)
        } else {
            Vec::new()
        };
        let _none_left = rustix::process::kill_process_group(self.pid, Signal::KILL);
        let _ended = rustix::process::kill_process(self.pid, Signal::KILL);
        sessions.into_iter().for_each(end_session);
    }

    /// Ends what the process left behind and tells the server how it ended.
    fn finish(&self) {
        self.kill();
        let status = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
        let status = status
            .ok()
            .flatten()
            .map_or(i32::from(FAILED), |(_, status)| number(status));
        JobEvent::Ended(status).tell(&self.answer);
    }
}

/// The sessions of a job: the one that its first process began, and the one that a terminal has.
/// A process that loses its parent there becomes a child of the first process, so a session is found as
/// long as it has a process.
fn sessions_of(first: Pid) -> Vec<Pid> {
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
fn signal_session(first: Pid, signal: Signal) {
    // It may not have begun its session yet.
    let _has_ended = rustix::process::kill_process(first, signal);
    let mut told = vec![first];
    for _ in 0..ROUNDS {
        let mut members: Vec<_> = sessions_of(first).into_iter().flat_map(members).collect();
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
pub(super) fn end_session(session: Pid) {
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

/// The processes of a session that have not ended. Each is held by a descriptor, because its
/// number may be that of another process by now.
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

/// Ends the job whose processes can have most watches of epoll, if one has many. The kernel counts
/// them for the account (`fs.epoll.max_user_watches`): a job that uses all of them keeps the server from
/// accepting connections.
pub(super) fn end_most_watches(children: &mut [ForkedChild]) {
    let first: Vec<i32> = children
        .iter()
        .map(|child| child.pid.as_raw_pid())
        .collect();
    let mut watches = vec![0; children.len()];
    for (job, process) in processes_of(&first) {
        watches[job] += most_watches(process);
    }
    let most = (0..watches.len()).max_by_key(|job| watches[*job]);
    if let Some(most) = most.filter(|most| watches[*most] >= LEAST_WATCHES) {
        children[most].kill();
        children[most].stopped = true;
    }
}

/// Returns the most watches that a process can have: each of its epolls may watch all its files.
fn most_watches(process: i32) -> usize {
    let mut descriptors = 0;
    let mut epolls = 0;
    let place = format!("/proc/{process}/fd");
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        descriptors += 1;
        let target = std::fs::read_link(entry.path());
        epolls += usize::from(target.is_ok_and(|to| to == Path::new("anon_inode:[eventpoll]")));
    }
    epolls * descriptors
}
