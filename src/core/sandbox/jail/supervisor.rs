//! The supervisor of a command: the parent of its first process, asked by the kernel about the
//! calls that nothing else bounds (user notifications of seccomp, `seccomp_unotify(2)`).
//!
//! A filter sees numbers, never paths. If a command has no files of its own, the supervisor reads the
//! arguments of a call, judges them, and carries out an allowed call itself: on a handle that it has opened
//! in the directories of the command, so that the file cannot be exchanged in between. The supervisor is not
//! confined like a command, and has no other task.
//!
//! - `attributes`: modes, times and owners of files in the command's directories, and of no others;
//! - `mapping`: machine code is mapped from the system's files alone;
//! - `process_counter`: the number of processes and threads of a command;
//! - connections lead to the proxy and nowhere else.

mod attributes;
mod listener;
mod mapping;
mod process;
mod process_counter;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, set_dumpable_behavior,
};

use super::children::end_session;
use super::process::{close, exit, fork, number};
use super::signals;
use super::syscalls::{makes_namespaces, makes_processes};
use crate::descriptor::poll;
use crate::job::{Access, NetworkAccess};
use crate::message::{JobEvent, pair};
use attributes::WritableDirectories;
use fileshed_types::Timings;
use listener::{Listener, TrappedCall, Verdict};
use mapping::ExecutableMappings;
use process::ProcessMemory;
use process_counter::ProcessCounter;

pub(super) use process::names;

/// The proxy listens on this machine: it answers at once.
const PATIENCE: Duration = Timings::STANDARD.jail.proxy;

/// The name of the machine that a command is told.
pub(super) const MACHINE_NAME: &str = "fileshed";

/// State by which a supervisor judges.
pub(super) struct Supervisor {
    directories: WritableDirectories,
    mappings: ExecutableMappings,
    processes: ProcessCounter,
    network: NetworkAccess,
}

impl Supervisor {
    /// Opens what it judges by: while this process still sees the files of the host. Without `access`
    /// it is not asked about files.
    pub(super) fn new(access: Option<&Access>, network: NetworkAccess, processes: u64) -> Self {
        Self {
            directories: access.map(WritableDirectories::open).unwrap_or_default(),
            mappings: access.map(ExecutableMappings::find).unwrap_or_default(),
            processes: ProcessCounter::new(processes),
            network,
        }
    }

    /// Comes back in the command's process, with the socket for its listener. This process stays
    /// until the command has ended. `answer` is told where this is the init of a namespace.
    pub(super) fn follow(mut self, answer: Option<&OwnedFd>) -> io::Result<OwnedFd> {
        // Descendants of the command that lose their parent become children of this process.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let (ours, theirs) = pair()?;
        let Some(command) = fork(0)? else {
            drop((self, ours));
            // The supervisor reads what its calls are about.
            set_dumpable_behavior(DumpableBehavior::Dumpable)?;
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            return Ok(theirs);
        };
        drop(theirs);
        // Close the command's streams, because their readers wait until nobody has them open.
        close(0, 2);
        if answer.is_some() {
            signals::pass_on();
        } else {
            // A signal that arrived before the command existed was meant for it.
            if signals::is_asked_to_end() {
                rustix::process::kill_process(command, Signal::TERM)?;
            }
            signals::ignore();
        }
        self.processes.count_for(command);
        let status = self
            .attend(command, ours)
            .unwrap_or(i32::from(super::FAILED));
        if let Some(answer) = answer {
            signals::send_to_all_others(libc::SIGKILL);
            JobEvent::Ended(status).tell(answer);
            exit(0)
        }
        // End the processes that are left in the command's session, if it began one of its own.
        end_session(command);
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
            poll(&mut watched, None)?;
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

    fn judge(&mut self, listener: &Listener, call: &TrappedCall) -> Verdict {
        match call.number() {
            libc::SYS_mmap => self.mappings.judge_file(call),
            libc::SYS_mprotect | libc::SYS_pkey_mprotect => self.mappings.judge_range(call),
            libc::SYS_uname => process::tell_name(listener, call),
            libc::SYS_connect => match self.network {
                NetworkAccess::Proxy { port } => connect_to_proxy(listener, call, port).into(),
                NetworkAccess::None => Verdict::Refused(Errno::PERM),
            },
            libc::SYS_clone if makes_namespaces(call.word(0)) => Verdict::Refused(Errno::PERM),
            number if makes_processes(number) => self.processes.judge(),
            _ => self.directories.change(listener, call).into(),
        }
    }
}

/// Ends this process as the command has ended: whoever waits for it is told the same.
fn leave_as(status: i32) -> ! {
    if let Ok(signal) = i32::try_from(-i64::from(status))
        && signal > 0
    {
        signals::set_effect(signal, libc::SIG_DFL);
        // SAFETY: takes no pointers; nothing here handles signals.
        #[expect(unsafe_code, reason = "no safe crate raises any signal")]
        unsafe {
            libc::raise(signal);
        }
    }
    exit(status)
}

/// connect: the caller's socket becomes one that leads to the proxy. File rules know ports and no
/// addresses, so the port of the proxy on another machine would be as good.
fn connect_to_proxy(listener: &Listener, call: &TrappedCall, port: u16) -> Result<(), Errno> {
    if call.word(2) < 8 {
        return Err(Errno::INVAL);
    }
    let address: [u8; 8] = ProcessMemory::of(listener, call)?.bytes(call.argument(1))?;
    // struct sockaddr_in: family, port, address.
    let [port_high, port_low] = port.to_be_bytes();
    let family = (libc::AF_INET as u16).to_ne_bytes();
    let wanted = [family[0], family[1], port_high, port_low, 127, 0, 0, 1];
    if address != wanted {
        return Err(Errno::ACCESS);
    }
    let theirs = call.word(0);
    let flags = flags_of(call, theirs)?;
    let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let socket = TcpStream::connect_timeout(&proxy, PATIENCE).map_err(|_| Errno::CONNREFUSED)?;
    socket
        .set_nonblocking(flags & libc::O_NONBLOCK as u32 != 0)
        .map_err(|_| Errno::CONNREFUSED)?;
    let kept = flags & libc::O_CLOEXEC as u32;
    listener.replace(call, theirs, socket.as_fd(), kept)
}

/// Returns the flags with which a socket of the caller is open.
fn flags_of(call: &TrappedCall, descriptor: u32) -> Result<u32, Errno> {
    let thread = call.thread();
    let place = format!("/proc/{thread}/fd/{descriptor}");
    let target = rustix::fs::readlinkat(rustix::fs::CWD, place, Vec::new());
    if !target.is_ok_and(|target| target.to_bytes().starts_with(b"socket:")) {
        return Err(Errno::NOTSOCK);
    }
    let about = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}"))
        .map_err(|_| Errno::BADF)?;
    let flags = about.lines().find_map(|line| line.strip_prefix("flags:"));
    flags
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .ok_or(Errno::BADF)
}
