//! The life of the zygote: each job gets a fork of it, as the server asks.
//!
//! Starting the server's binary takes longer than confining a process, and forking the server
//! would copy what it knows, secrets included. So the binary is started once more, empty, and
//! this small process is copied for each job. It ends with the server: the socket between
//! them tells.

use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions};

use super::account::Account;
use super::children::{ForkedChild, attend, end};
use super::file_rules::FileRules;
use super::fork::{close, fork};
use super::kept_rules::KeptRules;
use super::message::{HANDLES, receive};
use super::mount_namespace::SystemRoot;
use super::spare::{self, JailKind, SpareJail, SpareJails, Surroundings};
use super::{JailError, begin, signals};
use crate::job::{IN_NAMESPACES, IN_NETWORK, JobSpec, MAKES_GROUPS};
use crate::program_pages::release_program_pages;

/// A job as the zygote has read it.
pub(super) struct ZygoteJob {
    pub(super) spec: JobSpec,
    /// Those of its file rules that are kept for its owner.
    pub(super) rules: Option<FileRules>,
}

impl ZygoteJob {
    fn read(spec: &mut File, kept: &mut KeptRules) -> Result<Self, JailError> {
        let spec = read(spec)?;
        let rules = kept.of(&spec)?;
        Ok(Self { spec, rules })
    }
}

fn read(spec: &mut File) -> Result<JobSpec, JailError> {
    let mut text = Vec::new();
    spec.rewind()?;
    spec.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).map_err(io::Error::from)?)
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
        /// The root of its namespaces, where it waited for the job with it.
        root: Option<SystemRoot>,
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
    let mut spares = SpareJails::default();
    loop {
        if !attend(&mut children, spares.patience())? {
            end(spares.take_outdated(), &mut children);
            if let Some(kind) = spares.take_wanted()
                // Without namespaces there is none, and the next job finds out.
                && let Ok(Some(socket)) = prepare(&kind, &mut spares)
            {
                kept.close();
                drop((children, spares));
                return wait_for_job(&socket, &kind, zygote, account);
            }
            continue;
        }
        let Some((opcode, handles)) = receive().map(|received| {
            received.and_then(|(message, handles)| Some((*message.first()?, handles)))
        })?
        else {
            children.iter().for_each(ForkedChild::kill);
            return Ok(Side::Zygote);
        };
        // What cannot be started is told by the end of its answer.
        let started = start(opcode, handles, &mut kept, &mut spares, &mut children);
        if let Ok(Some((job, handles, group))) = started {
            kept.close();
            drop((children, spares));
            return become_job(job, handles, group, zygote, account, None);
        }
        rustix::process::chdir("/")?;
    }
}

/// What came for a new process: its job, the handles behind it, and the way into its control group.
type Received = (
    Box<Result<ZygoteJob, JailError>>,
    [OwnedFd; HANDLES - 1],
    Option<OwnedFd>,
);

/// In the new process: takes its streams, and enters its control group.
fn become_job(
    job: Box<Result<ZygoteJob, JailError>>,
    [input, output, error, _, answer]: [OwnedFd; HANDLES - 1],
    group: Option<OwnedFd>,
    zygote: OwnedFd,
    account: Account,
    root: Option<SystemRoot>,
) -> io::Result<Side> {
    rustix::stdio::dup2_stdin(&input)?;
    rustix::stdio::dup2_stdout(&output)?;
    rustix::stdio::dup2_stderr(&error)?;
    // Before it takes any memory of its own; `0` is whoever writes it.
    if let Some(group) = group {
        rustix::io::write(&group, b"0")?;
    }
    Ok(Side::Job {
        job,
        zygote,
        answer,
        account,
        root,
    })
}

/// Starts a process, or gives the job to one that waits. Comes back with the job in a new process.
fn start(
    opcode: u8,
    mut handles: Vec<OwnedFd>,
    kept: &mut KeptRules,
    spares: &mut SpareJails,
    children: &mut Vec<ForkedChild>,
) -> io::Result<Option<Received>> {
    let group = (handles.len() > HANDLES).then(|| handles.pop()).flatten();
    let Ok::<[OwnedFd; HANDLES], _>(handles) = handles.try_into() else {
        return Ok(None);
    };
    let [spec, handles @ ..] = handles;
    let mut spec = File::from(spec);
    // Before the fork, as all that can be: what is written after it is copied first.
    let job = Box::new(ZygoteJob::read(&mut spec, kept));
    let has = |part| opcode & part != 0;
    let flags = match (has(IN_NAMESPACES), has(IN_NETWORK)) {
        (true, true) => NAMESPACES | libc::CLONE_NEWNET,
        (true, false) => NAMESPACES,
        (false, _) => 0,
    };
    if let Ok(job) = &*job
        && let Some(kind) = JailKind::of(&job.spec, flags)
    {
        let (spare, outdated) = spares.take(kind);
        end(outdated, children);
        if let Some(spare) = spare {
            match hand_over(&spare, job, &spec, &handles, group.as_ref()) {
                Ok(()) => {
                    let [.., answer] = handles;
                    children.push(ForkedChild {
                        pid: spare.pid,
                        ended: spare.ended,
                        answer,
                        stopped: false,
                        separate: true,
                        makes_groups: has(MAKES_GROUPS),
                    });
                    return Ok(None);
                }
                // It has ended, or could not find the directory; the job has not begun.
                Err(_) => end(vec![spare], children),
            }
        }
    }
    drop(spec);
    // In new namespaces a handle leads to the mounts of the old ones, the
    // working directory to the new.
    rustix::process::fchdir(&handles[3])?;
    // Without namespaces the new process finds out.
    let (forked, separate) = match fork(flags) {
        Ok(forked) => (forked, flags != 0),
        Err(_) => (fork(0)?, false),
    };
    let Some(pid) = forked else {
        return Ok(Some((job, handles, group)));
    };
    let [.., answer] = handles;
    children.push(ForkedChild {
        pid,
        ended: handle_of(pid)?,
        answer,
        stopped: false,
        separate,
        makes_groups: has(MAKES_GROUPS),
    });
    Ok(None)
}

/// A handle on a new process, which is ended where there is none to be had.
fn handle_of(pid: Pid) -> io::Result<OwnedFd> {
    match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(ended) => Ok(ended),
        Err(error) => {
            rustix::process::kill_process(pid, Signal::KILL)?;
            rustix::process::waitpid(Some(pid), WaitOptions::empty())?;
            Err(error.into())
        }
    }
}

/// Gives a job to a process that waits.
fn hand_over(
    spare: &SpareJail,
    job: &ZygoteJob,
    spec: &File,
    handles: &[OwnedFd; HANDLES - 1],
    group: Option<&OwnedFd>,
) -> io::Result<()> {
    let [input, output, error, directory, answer] = handles.each_ref().map(AsFd::as_fd);
    let mut bind_mounts = job.spec.mounts.iter().flat_map(|all| &all.bind_mounts);
    let place = if bind_mounts.any(|mount| mount.source.is_relative()) {
        spare::place_of(directory)?
    } else {
        PathBuf::new()
    };
    let rules = job.rules.as_ref().and_then(FileRules::descriptor);
    spare.send(
        &place,
        [spec.as_fd(), input, output, error, directory, answer],
        group.map(AsFd::as_fd),
        rules,
    )
}

/// Starts a process that waits for a job. Comes back with its socket in that process.
fn prepare(kind: &JailKind, spares: &mut SpareJails) -> io::Result<Option<OwnedFd>> {
    let surroundings = Surroundings::now()?;
    let (ours, theirs) = rustix::net::socketpair(
        rustix::net::AddressFamily::UNIX,
        rustix::net::SocketType::SEQPACKET,
        rustix::net::SocketFlags::CLOEXEC,
        None,
    )?;
    let Some(pid) = fork(kind.namespaces)? else {
        drop((ours, surroundings));
        return Ok(Some(theirs));
    };
    let descriptors = [handle_of(pid)?, ours];
    spares.add(SpareJail::new(kind.clone(), pid, descriptors, surroundings));
    Ok(None)
}

/// The name of a process that waits, for whoever looks at the processes of the machine.
const WAITING: &CStr = c"fileshed-spare";

/// Its name when it has a job.
const WORKING: &CStr = c"fileshed";

/// In a process that has no job yet: makes what every job of its kind needs, and waits for one.
fn wait_for_job(
    socket: &OwnedFd,
    kind: &JailKind,
    zygote: OwnedFd,
    account: Account,
) -> io::Result<Side> {
    // In the place of the zygote's own.
    rustix::stdio::dup2_stdin(socket)?;
    rustix::thread::set_name(WAITING)?;
    begin(&zygote).map_err(io::Error::other)?;
    let root = SystemRoot::new(&kind.access, kind.counted, account)?;
    let Some((message, mut handles)) = receive()? else {
        return Ok(Side::Zygote);
    };
    rustix::thread::set_name(WORKING)?;
    let (has, place) = message.split_first().ok_or(io::ErrorKind::InvalidData)?;
    let mut pop = |part| (has & part != 0).then(|| handles.pop()).flatten();
    let (rules, group) = (pop(spare::HAS_RULES), pop(spare::HAS_GROUP));
    let Ok::<[OwnedFd; HANDLES], _>([spec, handles @ ..]) = handles.try_into() else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let place = Path::new(OsStr::from_bytes(place));
    let job = read(&mut File::from(spec)).and_then(|spec| {
        if !place.as_os_str().is_empty() {
            spare::enter(place, handles[3].as_fd())?;
        }
        let rules = rules.map(|rules| FileRules::received(rules, &spec.access));
        Ok(ZygoteJob { spec, rules })
    });
    become_job(Box::new(job), handles, group, zygote, account, Some(root))
}

/// What a process has of its own: accounts, files, processes and the name of the machine.
const NAMESPACES: i32 =
    libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWUTS;
