//! The processes of the zygote: looked after until they have ended.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, WaitOptions};

use super::fork::{number, tell};
use super::spare::SpareJail;
use super::{FAILED, session};

/// A child that runs.
pub(super) struct ForkedChild {
    pub(super) pid: Pid,
    /// Readable once it ended.
    pub(super) ended: OwnedFd,
    /// Closed by a server that wants it ended, with a byte from one that asks it to end; gets how it
    /// ended.
    pub(super) answer: OwnedFd,
    pub(super) stopped: bool,
    /// Whether it is the init of its own namespace of processes.
    pub(super) separate: bool,
    /// Whether its processes may be in other groups than its own.
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
    let patience = patience.map(|patience| Timespec {
        tv_sec: patience.as_secs() as i64,
        tv_nsec: i64::from(patience.subsec_nanos()),
    });
    match rustix::event::poll(&mut watched, patience.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
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

/// Ends processes that wait; they are collected with the others.
pub(super) fn end(spares: Vec<SpareJail>, children: &mut Vec<ForkedChild>) {
    for spare in spares {
        let child = ForkedChild {
            pid: spare.pid,
            ended: spare.ended,
            // Nobody listens there any more.
            answer: spare.socket,
            stopped: true,
            separate: true,
            makes_groups: false,
        };
        child.kill();
        children.push(child);
    }
}

impl ForkedChild {
    /// Whether the server, which has something to say of it, does not want it any more.
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
            session::signal(self.pid, Signal::TERM);
        }
    }

    /// Ends the whole group: a process makes one of its own first thing. It is not reaped yet, so
    /// the number cannot be another's.
    pub(super) fn kill(&self) {
        let sessions = if self.makes_groups && !self.separate {
            session::of(self.pid)
        } else {
            Vec::new()
        };
        let _none_left = rustix::process::kill_process_group(self.pid, Signal::KILL);
        let _ended = rustix::process::kill_process(self.pid, Signal::KILL);
        sessions.into_iter().for_each(session::end);
    }

    /// Ends what the process left behind and tells the server how it ended.
    fn finish(&self) {
        self.kill();
        let status = rustix::process::waitpid(Some(self.pid), WaitOptions::empty());
        let status = status
            .ok()
            .flatten()
            .map_or(i32::from(FAILED), |(_, status)| number(status));
        tell(&self.answer, status);
    }
}
