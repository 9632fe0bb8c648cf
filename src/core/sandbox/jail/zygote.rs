//! The life of the zygote: each job gets a fork of it, as the server asks.
//!
//! Starting the server's binary takes longer than confining a process, and forking the server
//! would copy what it knows, secrets included. So the binary is started once more, empty, and
//! this small process is copied for each job. It ends with the server: the socket between
//! them tells.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, set_dumpable_behavior,
};

use super::account::{AccountMaps, KernelAccount, ProcessAccount};
use super::children::{ForkedChild, attend};
use super::file_rules::FileRules;
use super::mount_namespace::system_root;
use super::process::{close, fork};
use super::root::MountRoot;
use super::spare::{self, SpareJail, SpareJails, Surroundings, end};
use super::{begin, children, signals};
use crate::job::{JobSpec, NetworkAccess};
use crate::memory::release_program_pages;
use crate::message::{
    IncomingMessage, JailKind, JobHandles, StartRequest, WrittenJob, pair, tell_exhausted,
};

/// A job as its process has read it, with those of its file rules that are kept for its owner.
pub(super) type ReadJob = (JobSpec, Option<FileRules>);

/// Reads a job. A jail that waited enters the working directory as it is there. No handle stays open.
fn read(mut written: File, rules: Option<OwnedFd>, waited: Option<OwnedFd>) -> io::Result<ReadJob> {
    let mut text = Vec::new();
    written.rewind()?;
    written.read_to_end(&mut text)?;
    let WrittenJob::<JobSpec> { place, spec } = serde_json::from_slice(&text)?;
    if let Some(directory) = waited
        && !place.as_os_str().is_empty()
    {
        spare::enter(&place, directory.as_fd())?;
    }
    let rules = rules.map(|rules| FileRules::received(rules, &spec.access));
    Ok((spec, rules))
}

/// A new process that is to do a job.
pub(super) struct JobStart {
    /// Readable when the zygote is gone.
    pub(super) zygote: OwnedFd,
    /// Socket on which the server waits for the end of the job.
    pub(super) answer: OwnedFd,
    /// The account of the zygote, which new namespaces do not know yet.
    pub(super) account: ProcessAccount,
    /// The one that it takes for the kernel.
    pub(super) kernel_account: Option<KernelAccount>,
    /// The root of its namespaces if it waited for the job with it; the kernel's error if it
    /// should have namespaces and got none.
    pub(super) root: Option<io::Result<MountRoot>>,
}

/// A new process with its job, or the reason for which that could not be read.
type NewProcess = (JobStart, io::Result<ReadJob>);

/// Starts a process for every request of the server. Comes back in each of them, and with `None` in
/// the zygote when the server is gone.
pub(super) fn serve() -> io::Result<Option<NewProcess>> {
    // Whatever the process that started this one left open.
    close(3, u32::MAX);
    // A command is not to read the zygote, its init and its supervisor, which begin so, too: they may be
    // in its namespaces, and under the same file rules.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // A process that is asked to end before it can hear of it is asked as soon as it can.
    signals::hold_back();
    // What ends the server's group in a terminal leaves its children to it.
    let _own_already = rustix::process::setsid();
    let zygote = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    let account = ProcessAccount::own();
    release_program_pages();
    let mut children: Vec<ForkedChild> = Vec::new();
    let mut spares = SpareJails::default();
    let mut maps = AccountMaps::default();
    loop {
        if !attend(&mut children, spares.patience())? {
            end(spares.take_outdated(), &mut children);
            if let Some(kind) = spares.take_wanted()
                // Without namespaces there is none, and the next job finds out.
                && let Ok(Some(socket)) = prepare(&kind, &mut spares)
            {
                drop((children, spares, maps));
                return wait_for_job(&socket, &kind, zygote, account);
            }
            continue;
        }
        let (request, mut handles) = match IncomingMessage::receive()? {
            Some(IncomingMessage::Start(request, handles)) => (request, handles),
            Some(IncomingMessage::EndMostWatches) => {
                children::end_most_watches(&mut children);
                continue;
            }
            Some(IncomingMessage::Cut) => continue,
            None => {
                children.iter().for_each(ForkedChild::kill);
                return Ok(None);
            }
        };
        // Without a map the job has the account of the server.
        handles.map = request
            .account
            .and_then(|number| maps.of(number, account).ok());
        // What cannot be started is told by the end of its answer.
        let started = start(&request, handles, &mut spares, &mut children);
        if let Ok(Some((handles, refused))) = started {
            drop((children, spares, maps));
            return become_job(&request, handles, zygote, account, refused.map(Err));
        }
        rustix::process::chdir("/")?;
    }
}

/// In the new process: enters its control group, takes its streams, and reads its job.
fn become_job(
    request: &StartRequest,
    handles: JobHandles<OwnedFd>,
    zygote: OwnedFd,
    account: ProcessAccount,
    root: Option<io::Result<MountRoot>>,
) -> io::Result<Option<NewProcess>> {
    rustix::stdio::dup2_stdin(&handles.input)?;
    rustix::stdio::dup2_stdout(&handles.output)?;
    rustix::stdio::dup2_stderr(&handles.error)?;
    // Before it takes any memory of its own; `0` is whoever writes it.
    if let Some(group) = handles.group {
        rustix::io::write(&group, b"0")?;
    }
    let waited = matches!(root, Some(Ok(_))).then_some(handles.directory);
    let job = read(handles.spec.into(), handles.rules, waited);
    let kernel_account = request.account.zip(handles.map);
    let kernel_account = kernel_account.map(|(number, map)| KernelAccount::new(number, map));
    let start = JobStart {
        zygote,
        answer: handles.answer,
        account,
        kernel_account: kernel_account.transpose()?,
        root,
    };
    Ok(Some((start, job)))
}

/// Starts a process, or gives the job to one that waits. Comes back with the handles in a new process,
/// and with the kernel's error if it is not in the namespaces that it should have.
fn start(
    request: &StartRequest,
    mut handles: JobHandles<OwnedFd>,
    spares: &mut SpareJails,
    children: &mut Vec<ForkedChild>,
) -> io::Result<Option<(JobHandles<OwnedFd>, Option<io::Error>)>> {
    let takes_account = handles.map.is_some();
    if let Some(kind) = request.kind.clone() {
        let (spare, outdated) = spares.take(JailKind {
            takes_account,
            ..kind
        });
        end(outdated, children);
        if let Some(mut spare) = spare {
            if request.clone().send(&spare.child.answer, &handles).is_ok() {
                spare.child.answer = handles.answer;
                spare.child.begin(request, children);
                return Ok(None);
            }
            // It has ended; the job has not begun.
            end(vec![spare], children);
        }
    }
    // In new namespaces a handle leads to the mounts of the old ones, the
    // working directory to the new.
    rustix::process::fchdir(&handles.directory)?;
    let flags = if request.in_namespaces {
        namespaces(request.in_network, takes_account)
    } else {
        0
    };
    let (forked, refused) = match fork(flags) {
        Err(error) if flags != 0 => {
            handles.map = None;
            (fork(0), Some(error))
        }
        forked => (forked, None),
    };
    let separate = flags != 0 && refused.is_none();
    let begun = match forked {
        Ok(None) => return Ok(Some((handles, refused))),
        Ok(Some(pid)) => handle_of(pid).map(|ended| (pid, ended)),
        Err(error) => Err(error),
    };
    match begun {
        Ok((pid, ended)) => {
            let child = ForkedChild::new(pid, ended, handles.answer, separate);
            child.begin(request, children);
        }
        Err(error) => tell_exhausted(&handles.answer, &error),
    }
    Ok(None)
}

/// Opens a handle on a new process, which is ended if there is none to be had.
fn handle_of(pid: Pid) -> io::Result<OwnedFd> {
    let opened = rustix::process::pidfd_open(pid, PidfdFlags::empty());
    if opened.is_err() {
        rustix::process::kill_process(pid, Signal::KILL)?;
        rustix::process::waitpid(Some(pid), WaitOptions::empty())?;
    }
    Ok(opened?)
}

/// Starts a process that waits for a job. Comes back with its socket in that process.
fn prepare(kind: &JailKind, spares: &mut SpareJails) -> io::Result<Option<OwnedFd>> {
    let surroundings = Surroundings::now()?;
    let (ours, theirs) = pair()?;
    let in_network = matches!(kind.network, NetworkAccess::Proxy { .. });
    let Some(pid) = fork(namespaces(in_network, kind.takes_account))? else {
        drop((ours, surroundings));
        return Ok(Some(theirs));
    };
    spares.add(SpareJail {
        kind: kind.clone(),
        child: ForkedChild::new(pid, handle_of(pid)?, ours, true),
        surroundings,
    });
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
    account: ProcessAccount,
) -> io::Result<Option<NewProcess>> {
    // In the place of the zygote's own.
    rustix::stdio::dup2_stdin(socket)?;
    rustix::thread::set_name(WAITING)?;
    begin(&zygote).map_err(io::Error::other)?;
    let root = system_root(kind, account)?;
    let Some(IncomingMessage::Start(request, handles)) = IncomingMessage::receive()? else {
        return Ok(None);
    };
    rustix::thread::set_name(WORKING)?;
    become_job(&request, handles, zygote, account, Some(Ok(root)))
}

/// The namespaces that a process has of its own: files, processes, the name of the machine, and a
/// network where it is asked for. Accounts, too, unless it makes that namespace when it takes the
/// account of its job.
fn namespaces(in_network: bool, takes_account: bool) -> i32 {
    let mut all = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWUTS;
    if !takes_account {
        all |= libc::CLONE_NEWUSER;
    }
    if in_network {
        all |= libc::CLONE_NEWNET;
    }
    all
}
