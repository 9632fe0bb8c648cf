//! The life of the zygote: each job gets a fork of it, as the server asks.
//!
//! Starting the server's binary takes longer than confining a process, and forking the server
//! would copy what it knows, secrets included. So the binary is started once more, empty, and
//! this small process is copied for each job. It ends with the server: the socket between
//! them tells.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use rustix::process::{Gid, Pid, PidfdFlags, Signal, Uid, WaitOptions, WaitStatus};

use super::FAILED;
use crate::job::{IN_NAMESPACES, IN_NETWORK};

/// The handles that come with an opcode, in this order: the job spec, standard output and error,
/// the working directory, and the socket for the answer.
pub(crate) const HANDLES: usize = 5;

/// A child that runs.
struct ForkedChild {
    pid: Pid,
    /// Readable once it ended.
    ended: OwnedFd,
    /// Closed by a server that wants it ended; gets how it ended.
    answer: OwnedFd,
    stopped: bool,
}

/// Under which account a process runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    pub(super) user: Uid,
    pub(super) group: Gid,
}

/// Which side of a fork this is.
pub(super) enum Side {
    /// The zygote, when the server is gone.
    Zygote,
    /// A new process, to do a job.
    Job {
        /// Readable when the zygote is gone.
        zygote: OwnedFd,
        /// Where the server waits for the end of the job.
        answer: OwnedFd,
        /// The account of the zygote, which new namespaces do not know yet.
        account: Account,
    },
}

/// Starts a process for every opcode from the server; comes back in each of them.
pub(super) fn serve() -> io::Result<Side> {
    // Whatever the process that started this one left open.
    close(3, u32::MAX);
    // What ends the server's group in a terminal leaves its children to it.
    let _own_already = rustix::process::setsid();
    let zygote = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    let account = Account {
        user: rustix::process::getuid(),
        group: rustix::process::getgid(),
    };
    let mut children: Vec<ForkedChild> = Vec::new();
    loop {
        if !attend(&mut children)? {
            continue;
        }
        let Some((opcode, handles)) = receive()? else {
            children.iter().for_each(ForkedChild::kill);
            return Ok(Side::Zygote);
        };
        // What cannot be started is told by the end of its answer.
        match start(opcode, handles) {
            Ok(Some(Forked::Here([spec, stdout, stderr, _, answer]))) => {
                rustix::stdio::dup2_stdin(&spec)?;
                rustix::stdio::dup2_stdout(&stdout)?;
                rustix::stdio::dup2_stderr(&stderr)?;
                return Ok(Side::Job {
                    zygote,
                    answer,
                    account,
                });
            }
            Ok(Some(Forked::There(child))) => children.push(child),
            Ok(None) | Err(_) => {}
        }
        rustix::process::chdir("/")?;
    }
}

/// A process that was started, on either side of the fork.
enum Forked {
    /// In the new process, with what came for it.
    Here([OwnedFd; HANDLES]),
    /// In the zygote.
    There(ForkedChild),
}

fn start(opcode: u8, handles: Vec<OwnedFd>) -> io::Result<Option<Forked>> {
    let Ok::<[OwnedFd; HANDLES], _>(handles) = handles.try_into() else {
        return Ok(None);
    };
    // Before the fork: in new namespaces a handle leads to the mounts of the old ones, the
    // working directory to the new.
    rustix::process::fchdir(&handles[3])?;
    let flags = match opcode {
        IN_NETWORK => NAMESPACES | libc::CLONE_NEWNET,
        IN_NAMESPACES => NAMESPACES,
        _ => 0,
    };
    // Without namespaces the new process finds out.
    let forked = fork(flags).or_else(|_| fork(0));
    let Some(pid) = forked? else {
        return Ok(Some(Forked::Here(handles)));
    };
    let [.., answer] = handles;
    match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(ended) => Ok(Some(Forked::There(ForkedChild {
            pid,
            ended,
            answer,
            stopped: false,
        }))),
        Err(error) => {
            rustix::process::kill_process(pid, Signal::KILL)?;
            rustix::process::waitpid(Some(pid), WaitOptions::empty())?;
            Err(error.into())
        }
    }
}

/// Closes descriptors that nothing in this process owns, or uses any more.
pub(super) fn close(first: u32, last: u32) {
    // SAFETY: takes no pointers; the caller answers for who owns the descriptors.
    #[expect(unsafe_code, reason = "no safe crate closes a range")]
    unsafe {
        libc::close_range(first, last, 0);
    }
}

/// Tells the server how a process ended, unless the server is gone.
pub(super) fn tell(answer: &OwnedFd, status: i32) {
    let _server_is_gone = rustix::net::send(answer, &status.to_ne_bytes(), SendFlags::NOSIGNAL);
}

/// Waits until something happens; takes care of what ended or must end. True when the server has
/// sent something.
fn attend(children: &mut Vec<ForkedChild>) -> io::Result<bool> {
    let mut watched = vec![PollFd::from_borrowed_fd(
        rustix::stdio::stdin(),
        PollFlags::IN,
    )];
    let read = |handle| PollFd::new(handle, PollFlags::IN);
    watched.extend(children.iter().map(|child| read(&child.ended)));
    // An answer that was closed stays so: it counts once.
    let waiting = children.iter().filter(|child| !child.stopped);
    watched.extend(waiting.map(|child| read(&child.answer)));
    match rustix::event::poll(&mut watched, None) {
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
        let wanted = child.stopped || answers.next() == Some(&false);
        if ended.next() == Some(&true) {
            child.finish();
            return false;
        }
        if !wanted {
            child.kill();
            child.stopped = true;
        }
        true
    });
    Ok(readable[0])
}

impl ForkedChild {
    /// Ends the whole group: a process makes one of its own first thing. It is not reaped yet, so
    /// the number cannot be another's.
    fn kill(&self) {
        let _none_left = rustix::process::kill_process_group(self.pid, Signal::KILL);
        let _ended = rustix::process::kill_process(self.pid, Signal::KILL);
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

/// Exit status, or the negative number of the signal that ended a process.
pub(super) fn number(status: WaitStatus) -> i32 {
    status
        .exit_status()
        .or_else(|| status.terminating_signal().map(|signal| -signal))
        .unwrap_or(i32::from(FAILED))
}

/// The server's next opcode and its handles; None at its end.
fn receive() -> io::Result<Option<(u8, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut opcode = [0; 1];
    let received = rustix::net::recvmsg(
        rustix::stdio::stdin(),
        &mut [io::IoSliceMut::new(&mut opcode)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => Some(handles),
        _ => None,
    });
    let handles = handles.flatten().collect();
    Ok(Some((opcode[0], handles)))
}

/// What a process has of its own: accounts, files, processes and the name of the machine.
const NAMESPACES: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWUTS;

/// A copy of this process, in new namespaces where flags of clone(2) ask for them: its number on
/// the one side, None on the other.
pub(super) fn fork(flags: i32) -> io::Result<Option<Pid>> {
    // SAFETY: without a stack and without shared memory this is fork(2). This process has one
    // thread, so the copy is whole: no lock is held by a thread that it does not have.
    #[expect(unsafe_code, reason = "no safe crate forks")]
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD, 0, 0, 0, 0) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        _ => Ok(Pid::from_raw(pid as i32)),
    }
}
