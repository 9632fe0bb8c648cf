//! Work of the server's own on what it does not trust: done by a helper that confines itself as
//! for a command and then stays.

use std::time::Duration;

use super::child::{self, Ending, Sink};
use super::error::ExecError;
use super::jail::{self, Access, Limits, Network, Order, Task};
use super::run::{OPEN_FILES, PROCESSES};
use super::stream::file_sink;
use super::watch::{Temporary, files, watch};
use crate::Error;
use crate::disk::{PrivateDirectory, Staged};
use crate::settings::{MEBIBYTE, SandboxPolicy};
use crate::table::Work;
use crate::zone::Zone;

/// What a helper may have while it works.
pub(crate) struct Means<'a> {
    /// Its own place, and nobody else's.
    pub(crate) private: &'a PrivateDirectory,
    /// Whether it changes what the work says.
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

/// How a helper ended.
pub(crate) enum Worked {
    /// With this answer.
    Answered(Vec<u8>),
    /// Its time was over.
    TooLong,
    /// The kernel ended it at one of its limits, or it failed.
    Died,
}

/// Has a helper work in a zone, which is its working directory, and waits for it.
pub(crate) fn work(zone: &Zone<'_>, work: Work, means: Means<'_>) -> Result<Worked, Error> {
    let store = zone.store;
    let settings = store.settings();
    if let (SandboxPolicy::Required, Err(missing)) =
        (settings.exec_sandbox, store.confinement().enforced())
    {
        return Err(ExecError::NotConfined { missing }.into());
    }
    let caller = zone.caller();
    let _slot = store.slots().take(&store.namespace(caller), caller)?;
    let order = Order {
        task: Task::Table(Box::new(work)),
        name: String::new(),
        arguments: Vec::new(),
        environment: Vec::new(),
        input: None,
        limits: Limits {
            memory: settings.exec_memory_limit_mb * MEBIBYTE,
            cpu_seconds: settings.exec_cpu_limit_seconds,
            file_size: means.file_size,
            open_files: OPEN_FILES,
            processes: PROCESSES,
        },
        // It runs no program, and reaches its files through /proc.
        view: None,
        access: Access {
            write: vec![means.private.location().to_owned()],
            network: Network::None,
            version: jail::version(settings.exec_landlock_abi),
            ..Access::default()
        },
        supervised: false,
        starts_others: false,
        changes: means.changes,
        probe: false,
        best_effort: settings.exec_sandbox == SandboxPolicy::BestEffort,
    };
    let rows = match means.output {
        Some(staged) => file_sink(staged)?,
        None => Sink::Answer(0),
    };
    let temporary = Temporary::new(zone);
    let mut look = watch(
        zone,
        &temporary,
        means.private,
        files([&rows, &Sink::Output]),
        || false,
    );
    let must_end = means.must_end;
    let outcome = child::run(
        store.helper(),
        &order,
        zone.data(),
        (rows, Sink::Answer(means.answer)),
        means.time,
        || if must_end { None } else { look() },
    )?;
    match outcome.ending {
        Ending::TimedOut => Ok(Worked::TooLong),
        Ending::Exited if outcome.status == 0 => Ok(Worked::Answered(outcome.stderr.bytes)),
        Ending::Exited | Ending::OverQuota => {
            let said = String::from_utf8_lossy(&outcome.stderr.bytes);
            tracing::warn!(status = outcome.status, %said, "a helper ended without an answer");
            Ok(Worked::Died)
        }
        Ending::OverTemporary => Err(ExecError::Temporary {
            command: "shed_sqlite".to_owned(),
            limit_mb: settings.exec_temporary_max_mb,
        }
        .into()),
        Ending::Cancelled => Err(ExecError::Cancelled {
            command: "shed_sqlite".to_owned(),
        }
        .into()),
    }
}
