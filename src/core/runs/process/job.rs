//! A built-in job in a zone: done by a confined process, as a command is, on what the server does
//! not trust.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::stream::file_sink;
use super::{UsageMeter, base_spec, expect_confined, expect_not_stopped};
use crate::runs::Runs;
use fileshed_sandbox::{
    Access, BuiltInJob, ExitReason, Job, JobSpec, Limits, OutputSink, SandboxError,
};
use fileshed_storage::{DiskError, PrivateDirectory, Root, Staged};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// Limits and properties of a built-in job.
pub(crate) struct JobBounds<'a> {
    /// Its name in error messages.
    pub(crate) command: &'static str,
    /// A directory that only this job has.
    pub(crate) private: &'a PrivateDirectory,
    /// `true` if it changes files of the zone.
    pub(crate) changes: bool,
    /// `true` if it continues after the caller stopped waiting for the response.
    pub(crate) must_end: bool,
    /// Gets its standard output.
    pub(crate) output: Option<&'a mut Staged>,
    /// Bytes of its answer.
    pub(crate) answer: usize,
    pub(crate) time: Duration,
    /// Bytes of the largest file that it may make.
    pub(crate) file_size: u64,
}

/// The end of a built-in job.
pub(crate) enum JobEnd<A> {
    /// It has this answer.
    Answered(A),
    /// Its time was over.
    TooLong,
    /// The kernel ended it at one of its limits, or it failed.
    Died,
}

/// Opens a file of the private directory that a job is given, before the job is confined.
pub(crate) fn open_private(directory: &Path, name: &str) -> io::Result<File> {
    let gone = |error: DiskError| io::Error::other(error.to_string());
    let directory = Root::open_ambient(directory).map_err(gone)?;
    let path = ZonePath::found(name.to_owned());
    directory.read(&path).map_err(gone)
}

/// Does some work of a job in a zone, which is its working directory, and waits for the answer.
pub(crate) fn run_job<A: DeserializeOwned>(
    runs: &Runs,
    zone: &Zone<'_>,
    job: &BuiltInJob,
    work: &impl Serialize,
    bounds: JobBounds<'_>,
) -> Result<JobEnd<A>, Error> {
    let job = Job::BuiltIn {
        name: job.name.to_owned(),
        spec: serde_json::to_string(work).map_err(SandboxError::start)?,
    };
    expect_confined(runs)?;
    let caller = zone.caller;
    let _slot = runs.slots.take(&zone.store.namespace(caller), caller)?;
    // It runs no program, and reaches its files through /proc.
    let base = base_spec(runs, job);
    let spec = JobSpec {
        limits: Limits {
            file_size: bounds.file_size,
            ..base.limits
        },
        access: Access {
            write: vec![bounds.private.location().to_owned()],
            ..base.access
        },
        supervised: false,
        changes: bounds.changes,
        ..base
    };
    let rows = match bounds.output {
        Some(staged) => file_sink(staged)?,
        None => OutputSink::Answer(0),
    };
    let entered = (!bounds.must_end).then(|| runs.enter_command(caller, bounds.command, None));
    let mut watch = UsageMeter::new(zone, bounds.private, [&rows, &OutputSink::Output], entered);
    let outcome = fileshed_sandbox::run(
        &runs.zygote,
        &spec,
        zone.data.handle(),
        (rows, OutputSink::Answer(bounds.answer)),
        bounds.time,
        |job| {
            (!bounds.must_end)
                .then(|| watch.look(job, || false))
                .flatten()
        },
        None,
    )?;
    expect_not_stopped(zone, bounds.command, outcome.ending)?;
    let said = outcome.stderr.bytes;
    match (outcome.ending, outcome.status) {
        (ExitReason::TimedOut, _) => Ok(JobEnd::TooLong),
        (ExitReason::Exited, 0) => {
            let answer = serde_json::from_slice(said.trim_ascii());
            Ok(answer.map_or(JobEnd::Died, JobEnd::Answered))
        }
        (_, status) => {
            let said = String::from_utf8_lossy(&said);
            tracing::warn!(status, %said, "a built-in job ended without an answer");
            Ok(JobEnd::Died)
        }
    }
}
