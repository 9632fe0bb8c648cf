//! The life of the zygote: each job gets a fork of it, as the server asks.
//!
//! Starting the server's binary takes longer than confining a process, and forking the server
//! would copy what it knows, secrets included. So the binary is started once more, empty, and
//! this small process is copied for each job. It ends with the server: the socket between
//! them tells.

use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus};

use super::account::Account;
use super::file_rules::FileRules;
use super::kept_rules::KeptRules;
use super::{FAILED, JailError, session, signals};
use crate::job::{IN_NAMESPACES, IN_NETWORK, JobSpec, MAKES_GROUPS};
use crate::program_pages::release_program_pages;

/// The handles that come with an opcode, in this order: the job spec, standard input, output and
/// error, the working directory, and the socket for the answer. After them comes the way into a
/// control group, where the process has one.
pub(crate) const HANDLES: usize = 6;

/// A child that runs.
struct ForkedChild {
    pid: Pid,
    /// Readable once it ended.
    ended: OwnedFd,
    /// Closed by a server that wants it ended, with a byte from one that asks it to end; gets how it
    /// ended.
    answer: OwnedFd,
    stopped: bool,
    /// Whether it is the init of its own namespace of processes.
    separate: bool,
    /// Whether its processes may be in other groups than its own.
    makes_groups: bool,
}

/// A job as the zygote has read it.
pub(super) struct ZygoteJob {
    pub(super) spec: JobSpec,
    /// Those of its file rules that are kept for its owner.
    pub(super) rules: Option<FileRules>,
}

impl ZygoteJob {
    fn read(spec: OwnedFd, kept: &mut KeptRules) -> Result<Self, JailError> {
        let mut text = Vec::new();
        std::fs::File::from(spec).read_to_end(&mut text)?;
        let spec: JobSpec = serde_json::from_slice(&text).map_err(io::Error::from)?;
        let rules = kept.of(&spec)?;
        Ok(Self { spec, rules })
    }
}

/// Which side of a fork this is.
pub(super) enum Side {
    /// The zygote, when the server is gone.
    Zygote,
    /// A new process, to do a job.
    Job {
        /// What it is to do.
        job: Box<Result<ZygoteJob, JailError>>,
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
    // A process that is asked to end before it can hear of it is asked as soon as it can.
    signals::hold_back();
    // What ends the server's group in a terminal leaves its children to it.
    let _own_already = rustix::process::setsid();
    let zygote = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    let account = Account::own();
    release_program_pages();
    let mut children: Vec<ForkedChild> = Vec::new();
    let mut kept = KeptRules::default();
    loop {
        if !attend(&mut children)? {
            continue;
        }
        let Some((opcode, handles)) = receive()? else {
            children.iter().for_each(ForkedChild::kill);
            return Ok(Side::Zygote);
        };
        // What cannot be started is told by the end of its answer.
        match start(opcode, handles, &mut kept) {
            Ok(Some(Forked::Here(job, [input, output, error, _, answer], group))) => {
                kept.close();
                rustix::stdio::dup2_stdin(&input)?;
                rustix::stdio::dup2_stdout(&output)?;
                rustix::stdio::dup2_stderr(&error)?;
                // Before it takes any memory of its own; `0` is whoever writes it.
                if let Some(group) = group {
                    rustix::io::write(&group, b"0")?;
                }
                return Ok(Side::Job {
                    job,
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
    /// In the new process, with what came for it, and the way into its control group.
    Here(
        Box<Result<ZygoteJob, JailError>>,
        [OwnedFd; HANDLES - 1],
        Option<OwnedFd>,
    ),
    /// In the zygote.
    There(ForkedChild),
}

fn start(
    opcode: u8,
    mut handles: Vec<OwnedFd>,
    kept: &mut KeptRules,
) -> io::Result<Option<Forked>> {
    let group = (handles.len() > HANDLES).then(|| handles.pop()).flatten();
    let Ok::<[OwnedFd; HANDLES], _>(handles) = handles.try_into() else {
        return Ok(None);
    };
    // Before the fork, as all that can be: what is written after it is copied first.
    let [spec, handles @ ..] = handles;
    let job = Box::new(ZygoteJob::read(spec, kept));
    // In new namespaces a handle leads to the mounts of the old ones, the
    // working directory to the new.
    rustix::process::fchdir(&handles[3])?;
    let has = |part| opcode & part != 0;
    let flags = match (has(IN_NAMESPACES), has(IN_NETWORK)) {
        (true, true) => NAMESPACES | libc::CLONE_NEWNET,
        (true, false) => NAMESPACES,
        (false, _) => 0,
    };
    // Without namespaces the new process finds out.
    let (forked, separate) = match fork(flags) {
        Ok(forked) => (forked, flags != 0),
        Err(_) => (fork(0)?, false),
    };
    let Some(pid) = forked else {
        return Ok(Some(Forked::Here(job, handles, group)));
    };
    let [.., answer] = handles;
    match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(ended) => Ok(Some(Forked::There(ForkedChild {
            pid,
            ended,
            answer,
            stopped: false,
            separate,
            makes_groups: has(MAKES_GROUPS),
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
    // A socket that was closed stays so: it counts once.
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
    fn kill(&self) {
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

/// Exit status, or the negative number of the signal that ended a process.
pub(super) fn number(status: WaitStatus) -> i32 {
    status
        .exit_status()
        .or_else(|| status.terminating_signal().map(|signal| -signal))
        .unwrap_or(i32::from(FAILED))
}

/// The server's next opcode and its handles; None at its end.
fn receive() -> io::Result<Option<(u8, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES + 1))];
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
