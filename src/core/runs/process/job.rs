//! A built-in job in a zone: done by a confined process, as a command is, on what the server does
//! not trust.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::stream::file_sink;
use super::{UsageMeter, base_spec, expect_confined, expect_not_stopped};
use crate::runs::Runs;
use fileshed_sandbox::{
    Access, BuiltInJob, ExitReason, Job, JobSpec, Limits, OutputSink, PreparedJob, SandboxError,
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

/// Name of the file that a job reads, in its private directory.
const COPY: &str = "copy";

/// A job that reads a copy of a file.
#[derive(Serialize, Deserialize)]
struct CopyJob<P> {
    /// The directory of the copy.
    directory: PathBuf,
    parameters: P,
}

/// Has a built-in job read a copy of `content`, for so long, and answer with at most so many bytes. `command`
/// is its name in error messages; [`prepare_copy_job`] is its other side.
pub(crate) fn run_copy_job<A: DeserializeOwned>(
    runs: &Runs,
    zone: &Zone<'_>,
    (job, command): (&BuiltInJob, &'static str),
    content: &mut impl Read,
    parameters: impl Serialize,
    (time, answer): (Duration, usize),
) -> Result<JobEnd<A>, Error> {
    let private = zone.store.private_directory(&zone.tenant)?;
    private.receive(COPY, content)?;
    let work = CopyJob {
        directory: private.location().to_owned(),
        parameters,
    };
    let bounds = JobBounds {
        command,
        private: &private,
        changes: false,
        must_end: false,
        output: None,
        answer,
        time,
        file_size: 0,
    };
    run_job(runs, zone, job, &work, bounds)
}

/// Opens the copy of a file before the process is confined, in which `work` makes an answer of it.
pub(crate) fn prepare_copy_job<P: DeserializeOwned + 'static, A: Serialize + 'static>(
    spec: &str,
    work: fn(P, File) -> A,
) -> io::Result<PreparedJob> {
    let job: CopyJob<P> = serde_json::from_str(spec)?;
    let gone = |error: DiskError| io::Error::other(error.to_string());
    let directory = Root::open_ambient(&job.directory).map_err(gone)?;
    let path = ZonePath::found(COPY.to_owned());
    let copy = directory.read(&path).map_err(gone)?;
    Ok(PreparedJob {
        read: None,
        write: None,
        work: Box::new(move || {
            serde_json::to_string(&work(job.parameters, copy)).unwrap_or_default()
        }),
    })
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
