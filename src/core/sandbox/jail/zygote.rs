//! The life of the zygote: each job gets a fork of it, as the server asks.
//!
//! Starting the server's binary takes longer than confining a process, and forking the server
//! would copy what it knows, secrets included. So the binary is started once more, empty, and
//! this small process is copied for each job. It ends with the server: the socket between
//! them tells.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;

use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, set_dumpable_behavior,
};

use super::account::{AccountMaps, KernelAccount, ProcessAccount};
use super::children::{ForkedChild, attend};
use super::process::{close, fork};
use super::{children, signals};
use crate::job::JobSpec;
use crate::memory::release_program_pages;
use crate::message::{
    JobEvent, JobHandles, StartRequest, ZygoteRequest, next_request, tell_exhausted,
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
    /// The kernel's error if it should have namespaces and got none.
    pub(super) refused: Option<io::Error>,
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
    // What ends the server's group in a terminal leaves its children to it.
    let _own_already = rustix::process::setsid();
    let zygote = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    let account = ProcessAccount::own();
    release_program_pages();
    let mut children: Vec<ForkedChild> = Vec::new();
    let mut maps = AccountMaps::default();
    loop {
        if !attend(&mut children)? {
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
        let Some(handles) = JobHandles::new(handles, request.has_group) else {
            continue;
        };
        // Without a map the job has the account of the server.
        let map_of = |number| Some((number, maps.of(number, account).ok()?));
        let own = request.account.and_then(map_of);
        // What cannot be started is told by the end of its answer.
        if let Ok(Some((handles, refused))) = start(&request, handles, own.is_some(), &mut children)
        {
            drop((children, maps));
            let own = own.filter(|_| refused.is_none());
            return become_job(handles, (account, own), zygote, refused).map(Some);
        }
        rustix::process::chdir("/")?;
    }
}

/// In the new process: enters its control group, takes its streams, and reads its job.
fn become_job(
    handles: JobHandles<OwnedFd>,
    (account, own): (ProcessAccount, Option<(u32, OwnedFd)>),
    zygote: OwnedFd,
    refused: Option<io::Error>,
) -> io::Result<NewProcess> {
    rustix::stdio::dup2_stdin(&handles.input)?;
    rustix::stdio::dup2_stdout(&handles.output)?;
    rustix::stdio::dup2_stderr(&handles.error)?;
    // Before it takes any memory of its own; `0` is whoever writes it.
    if let Some(group) = handles.group {
        rustix::io::write(&group, b"0")?;
    }
    let kernel_account = own.map(|(number, map)| KernelAccount::new(number, map));
    let start = JobStart {
        zygote,
        answer: handles.answer,
        account,
        kernel_account: kernel_account.transpose()?,
        refused,
    };
    Ok((start, read(handles.spec.into())))
}

/// Reads a job.
fn read(mut written: File) -> io::Result<JobSpec> {
    let mut text = Vec::new();
    written.rewind()?;
    written.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// Starts a process. Comes back with the handles in it, and with the kernel's error if it is not in the
/// namespaces that it should have.
fn start(
    request: &StartRequest,
    handles: JobHandles<OwnedFd>,
    takes_account: bool,
    children: &mut Vec<ForkedChild>,
) -> io::Result<Option<(JobHandles<OwnedFd>, Option<io::Error>)>> {
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
            JobEvent::Started(pid.as_raw_pid()).tell(&handles.answer);
            children.push(ForkedChild {
                pid,
                ended,
                answer: handles.answer,
                stopped: false,
                separate,
                makes_groups: request.makes_groups,
            });
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
