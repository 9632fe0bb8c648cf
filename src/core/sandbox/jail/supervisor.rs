//! The supervisor of a command: the parent of its first process, asked by the kernel about the
//! calls that nothing else bounds (user notifications of seccomp, `seccomp_unotify(2)`).
//!
//! A filter sees numbers, never paths. Where a command has no files of its own, the supervisor
//! reads what a call is about, judges it, and carries out what is allowed itself: on a handle
//! that it has opened in the directories of the command, so that nothing can be exchanged behind its back.
//! It is not confined like a command, and does nothing but what stands here.
//!
//! - `attributes`: modes, times and owners of files in the command's directories, and of no others;
//! - `mapping`: machine code is mapped from the system's files alone;
//! - `census`: how many processes and threads a command has;
//! - `connection`: every connection is one to the proxy.

mod attributes;
mod census;
mod connection;
mod listener;
mod mapping;
mod process;

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::account::set_dumpable;
use super::fork::{close, fork, number, tell};
use super::session;
use super::signals;
use super::syscalls::makes_namespaces;
use crate::access::{Access, NetworkAccess};
use attributes::WritableDirectories;
use census::Census;
use listener::{Call, Listener, Verdict};
use mapping::Sources;

pub(super) use connection::hand_over;
pub(super) use process::names;

/// The name of the machine that a command is told.
pub(super) const MACHINE_NAME: &str = "fileshed";

/// What a supervisor judges by.
pub(super) struct Supervisor {
    directories: WritableDirectories,
    sources: Sources,
    census: Census,
    network: NetworkAccess,
}

impl Supervisor {
    /// Opens what it judges by: while this process still sees the files of the host. Without `access`
    /// it is not asked about files.
    pub(super) fn new(access: Option<&Access>, network: NetworkAccess, processes: u64) -> Self {
        Self {
            directories: access.map_or_else(WritableDirectories::default, |access| {
                WritableDirectories::open(&access.write)
            }),
            sources: access.map_or_else(Sources::default, Sources::find),
            census: Census::new(processes),
            network,
        }
    }

    /// Comes back in the command's process, with the socket for its listener. This process stays
    /// until the command has ended. `answer` is told where this is the init of a namespace.
    pub(super) fn follow(mut self, answer: Option<&OwnedFd>) -> io::Result<OwnedFd> {
        // Who loses its parent stays the command's.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let (ours, theirs) = rustix::net::socketpair(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::SEQPACKET,
            rustix::net::SocketFlags::CLOEXEC,
            None,
        )?;
        let Some(command) = fork(0)? else {
            drop((self, ours));
            // The supervisor reads what its calls are about.
            set_dumpable(true)?;
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            return Ok(theirs);
        };
        drop(theirs);
        // The command's streams: whoever reads them waits for their end.
        close(0, 2);
        if answer.is_some() {
            signals::pass_on();
        } else {
            // What came before there was a command was meant for it.
            if signals::is_asked_to_end() {
                rustix::process::kill_process(command, Signal::TERM)?;
            }
            signals::ignore();
        }
        self.census.count_for(command);
        let status = self
            .attend(command, ours)
            .unwrap_or(i32::from(super::FAILED));
        if let Some(answer) = answer {
            super::init::kill_others();
            tell(answer, status);
            exit(0)
        }
        // Where it began a session of its own, whoever is left in it.
        session::end(command);
        leave_as(status)
    }

    /// Answers calls until the command ends; how it ended.
    fn attend(&mut self, command: Pid, channel: OwnedFd) -> io::Result<i32> {
        let ended = rustix::process::pidfd_open(command, PidfdFlags::empty())?;
        let mut listener = Listener::receive(&channel)?;
        drop(channel);
        loop {
            let mut watched = vec![PollFd::new(&ended, PollFlags::IN)];
            if let Some(listener) = &listener {
                watched.push(PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
            }
            match rustix::event::poll(&mut watched, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let readable: Vec<PollFlags> = watched.iter().map(PollFd::revents).collect();
            drop(watched);
            while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
                if pid == command {
                    return Ok(number(status));
                }
            }
            let asked = readable.get(1).copied().unwrap_or(PollFlags::empty());
            if asked.contains(PollFlags::IN) {
                if let Some(listener) = &listener {
                    listener.answer(|call| self.judge(listener, call))?;
                }
            } else if !asked.is_empty() {
                listener = None;
            }
        }
    }

    fn judge(&mut self, listener: &Listener, call: &Call) -> Verdict {
        match call.number() {
            libc::SYS_mmap => self.sources.judge_file(call),
            libc::SYS_mprotect | libc::SYS_pkey_mprotect => self.sources.judge_range(call),
            libc::SYS_uname => process::tell_name(listener, call),
            libc::SYS_connect => match self.network {
                NetworkAccess::Proxy { port } => connection::to_proxy(listener, call, port),
                NetworkAccess::None => Verdict::Refused(Errno::PERM),
            },
            libc::SYS_clone => {
                if makes_namespaces(call.word(0)) {
                    return Verdict::Refused(Errno::PERM);
                }
                self.census.judge()
            }
            number if is_fork(number) => self.census.judge(),
            _ => self.directories.judge(listener, call),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn is_fork(number: i64) -> bool {
    matches!(number, libc::SYS_fork | libc::SYS_vfork)
}
#[cfg(not(target_arch = "x86_64"))]
fn is_fork(_: i64) -> bool {
    false
}

/// Ends this process as the command has ended: whoever waits for it is told the same.
fn leave_as(status: i32) -> ! {
    if let Ok(signal) = i32::try_from(-i64::from(status))
        && signal > 0
    {
        // SAFETY: takes no pointers; nothing here handles signals.
        #[expect(unsafe_code, reason = "no safe crate sets the default for a signal")]
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    exit(status)
}

fn exit(status: i32) -> ! {
    #[expect(clippy::exit, reason = "what began as a copy of the zygote ends here")]
    std::process::exit(status)
}
