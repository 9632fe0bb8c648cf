//! The life of the zygote: each job gets a fork of it, as the server asks.
//!
//! Starting the server's binary takes longer than confining a process, and forking the server
//! would copy what it knows, secrets included. So the binary is started once more, empty, and
//! this small process is copied for each job. It ends with the server: the socket between
//! them tells.

use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::OwnedFd;

use rustix::process::{DumpableBehavior, PidfdFlags, set_dumpable_behavior};

use super::account::{AccountMaps, KernelAccount, ProcessAccount};
use super::children::{ForkedChild, attend};
use super::mount_namespace::system_root;
use super::process::{close, fork, handle_of, leave_open, namespaces};
use super::root::MountRoot;
use super::spare::{self, SpareJails};
use super::{begin, children, signals};
use crate::job::JobSpec;
use crate::memory::release_program_pages;
use crate::message::{
    JailKind, JobHandles, StartRequest, ZygoteRequest, next_request, tell_exhausted,
};

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
    /// The root of its namespaces if it waited for the job with it; the kernel's error if it should
    /// have namespaces and got none.
    pub(super) root: Option<io::Result<MountRoot>>,
}

/// A new process with its job, or the reason for which that could not be read.
type NewProcess = (JobStart, io::Result<JobSpec>);

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
    // A signal to the server's process group in a terminal must not reach its children: the server ends them.
    let _own_already = rustix::process::setsid();
    let zygote = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    let account = ProcessAccount::own();
    release_program_pages();
    let mut children: Vec<ForkedChild> = Vec::new();
    let mut spares = SpareJails::default();
    let mut maps = AccountMaps::default();
    loop {
        if !attend(&mut children, spares.patience())? {
            spares.end_outdated(&mut children);
            // Without namespaces there is none, and the next job finds out.
            if let Ok(Some(spare)) = spares.prepare_wanted() {
                drop((children, spares, maps));
                return wait_for_job(&spare, zygote, account);
            }
            continue;
        }
        let Some((request, handles)) = next_request()? else {
            children.iter().for_each(ForkedChild::kill);
            return Ok(None);
        };
        let ZygoteRequest::Start(request) = request else {
            children::end_most_watches(&mut children);
            continue;
        };
        let Some(mut handles) = JobHandles::new(handles, &request) else {
            continue;
        };
        // Without a map the job has the account of the server.
        let map_of = |number| maps.of(number, account).ok();
        handles.map = request.account.and_then(map_of);
        // The server learns of a failed start when the job's socket closes without an answer.
        let started = start(&request, handles, &mut spares, &mut children);
        if let Ok(Some((handles, refused))) = started {
            drop((children, spares, maps));
            let root = refused.map(Err);
            return become_job(&request, handles, (zygote, account), root).map(Some);
        }
        rustix::process::chdir("/")?;
    }
}

/// In the new process: enters its control group, takes its streams, and reads its job.
fn become_job(
    request: &StartRequest,
    handles: JobHandles<OwnedFd>,
    (zygote, account): (OwnedFd, ProcessAccount),
    root: Option<io::Result<MountRoot>>,
) -> io::Result<NewProcess> {
    rustix::stdio::dup2_stdin(&handles.input)?;
    rustix::stdio::dup2_stdout(&handles.output)?;
    rustix::stdio::dup2_stderr(&handles.error)?;
    // Before it takes any memory of its own; `0` is whoever writes it.
    if let Some(group) = handles.group {
        rustix::io::write(&group, b"0")?;
    }
    if let Some(removals) = handles.removals {
        leave_open(&removals)?;
    }
    let own = request.account.zip(handles.map);
    let own = own.filter(|_| !matches!(root, Some(Err(_))));
    let kernel_account = own.map(|(number, map)| KernelAccount::new(number, map));
    let entered = match root {
        Some(Ok(_)) => spare::enter(&handles.directory),
        _ => Ok(()),
    };
    let start = JobStart {
        zygote,
        answer: handles.answer,
        account,
        kernel_account: kernel_account.transpose()?,
        root,
    };
    Ok((start, entered.and_then(|()| read(handles.spec.into()))))
}

/// Reads a job.
fn read(mut written: File) -> io::Result<JobSpec> {
    written.rewind()?;
    Ok(serde_json::from_str(&io::read_to_string(written)?)?)
}

/// Starts a process, or gives the job to one that waits. Comes back with the handles in a new process,
/// and with the kernel's error if it is not in the namespaces that it should have.
fn start(
    request: &StartRequest,
    handles: JobHandles<OwnedFd>,
    spares: &mut SpareJails,
    children: &mut Vec<ForkedChild>,
) -> io::Result<Option<(JobHandles<OwnedFd>, Option<io::Error>)>> {
    let takes_account = handles.map.is_some();
    // A directory that was moved meanwhile is reached by its handle alone, in a new process.
    let is_reached = || spare::is_at_its_path(&handles.directory);
    if let Some(kind) = request.kind.clone().filter(|_| is_reached()) {
        let kind = JailKind {
            takes_account,
            ..kind
        };
        if let Some(mut spare) = spares.take(kind, children) {
            if handles.send(&spare.answer, request.clone()).is_ok() {
                spare.answer = handles.answer;
                spare.begin(request, children);
                return Ok(None);
            }
            // It has ended; the job has not begun.
            spare.end(children);
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
        Err(error) if flags != 0 => (fork(0), Some(error)),
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

/// In a process that has no job yet: makes what every job of its kind needs, and waits for one.
fn wait_for_job(
    (kind, socket): &(JailKind, OwnedFd),
    zygote: OwnedFd,
    account: ProcessAccount,
) -> io::Result<Option<NewProcess>> {
    // In the place of the zygote's own.
    rustix::stdio::dup2_stdin(socket)?;
    rustix::thread::set_name(c"fileshed-spare")?;
    begin(&zygote).map_err(io::Error::other)?;
    let root = system_root(kind, account)?;
    let Some((request, handles)) = next_request()? else {
        return Ok(None);
    };
    let job = match request {
        ZygoteRequest::Start(request) => {
            JobHandles::new(handles, &request).map(|handles| (request, handles))
        }
        ZygoteRequest::EndMostWatches => None,
    };
    // Without the account of its job it would have the one of the zygote, with all rights.
    let job = job.filter(|(_, handles)| handles.map.is_some() == kind.takes_account);
    let (request, handles) = job.ok_or(io::ErrorKind::InvalidData)?;
    rustix::thread::set_name(c"fileshed")?;
    become_job(&request, handles, (zygote, account), Some(Ok(root))).map(Some)
}
