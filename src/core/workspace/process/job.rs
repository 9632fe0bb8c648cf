//! A built-in job in a zone: done by a confined process, as a command is, on what the server does
//! not trust.

use std::time::Duration;

use super::stream::file_sink;
use super::watch::{Temporary, files, watch};
use super::{OPEN_FILES, PROCESSES, ProcessError, expect_confined};
use crate::Error;
use crate::running_commands::RunningCommand;
use crate::zone::Zone;
use fileshed_sandbox::{
    Access, CountedMemory, Ending, Job, JobSpec, Limits, NetworkAccess, Sink, landlock_version,
};
use fileshed_storage::{PrivateDirectory, Staged};
use fileshed_types::settings::{MEBIBYTE, SandboxPolicy};

/// What a built-in job may have.
pub(crate) struct JobBounds<'a> {
    /// What it is called where it fails.
    pub(crate) command: &'static str,
    /// A directory that only this job has.
    pub(crate) private: &'a PrivateDirectory,
    /// Whether it changes files of the zone.
    pub(crate) changes: bool,
    /// Whether it goes on when nobody waits for the answer any more.
    pub(crate) must_end: bool,
    /// Gets its standard output.
    pub(crate) output: Option<&'a mut Staged>,
    /// Bytes of its answer.
    pub(crate) answer: usize,
    pub(crate) time: Duration,
    /// Bytes of the largest file that it may make.
    pub(crate) file_size: u64,
}

/// How a built-in job ended.
pub(crate) enum JobEnd {
    /// With this answer.
    Answered(Vec<u8>),
    /// Its time was over.
    TooLong,
    /// The kernel ended it at one of its limits, or it failed.
    Died,
}

/// Does a job in a zone, which is its working directory, and waits for it.
pub(crate) fn run_job(zone: &Zone<'_>, job: Job, bounds: JobBounds<'_>) -> Result<JobEnd, Error> {
    let store = zone.store;
    let settings = store.settings();
    expect_confined(store)?;
    let caller = zone.caller();
    let _slot = store.slots().take(&store.namespace(caller), caller)?;
    let spec = JobSpec {
        job,
        owner: String::new(),
        input: None,
        controlling_terminal: false,
        makes_groups: false,
        limits: Limits {
            memory: settings.exec_memory_limit_mb * MEBIBYTE,
            counted: CountedMemory::AddressSpace,
            cpu_seconds: settings.exec_cpu_limit_seconds,
            file_size: bounds.file_size,
            open_files: OPEN_FILES,
            processes: PROCESSES,
        },
        // It runs no program, and reaches its files through /proc.
        mounts: None,
        access: Access {
            write: vec![bounds.private.location().to_owned()],
            network: NetworkAccess::None,
            version: landlock_version(settings.exec_landlock_abi),
            ..Access::default()
        },
        supervised: false,
        starts_others: false,
        changes: bounds.changes,
        probe: false,
        best_effort: settings.exec_sandbox == SandboxPolicy::BestEffort,
    };
    let rows = match bounds.output {
        Some(staged) => file_sink(staged)?,
        None => Sink::Answer(0),
    };
    let temporary = Temporary::new(zone);
    let mut look = watch(
        zone,
        &temporary,
        bounds.private,
        files([&rows, &Sink::Output]),
        || false,
    );
    let must_end = bounds.must_end;
    let entered = (!must_end).then(|| store.enter_command(caller, bounds.command, None));
    let is_ended = || entered.as_ref().is_some_and(RunningCommand::is_ended);
    let outcome = fileshed_sandbox::run(
        store.zygote(),
        &spec,
        zone.data().handle(),
        (rows, Sink::Answer(bounds.answer)),
        bounds.time,
        |job| {
            if must_end {
                None
            } else if is_ended() {
                Some(Ending::Cancelled)
            } else {
                look(job)
            }
        },
        |_no_network| (),
    )?;
    match outcome.ending {
        Ending::TimedOut => Ok(JobEnd::TooLong),
        Ending::Exited if outcome.status == 0 => Ok(JobEnd::Answered(outcome.stderr.bytes)),
        Ending::Exited | Ending::OverQuota | Ending::OverMemory => {
            let said = String::from_utf8_lossy(&outcome.stderr.bytes);
            tracing::warn!(status = outcome.status, %said, "a built-in job ended without an answer");
            Ok(JobEnd::Died)
        }
        Ending::OverTemporary => Err(ProcessError::Temporary {
            command: bounds.command.to_owned(),
            limit_mb: settings.exec_temporary_max_mb,
        }
        .into()),
        Ending::Cancelled if is_ended() => Err(ProcessError::EndedByAdministrator {
            command: bounds.command.to_owned(),
        }
        .into()),
        Ending::Cancelled => Err(ProcessError::Cancelled {
            command: bounds.command.to_owned(),
        }
        .into()),
    }
}
