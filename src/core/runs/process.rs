//! Processes of a zone: started in the sandbox, watched while they run, with their streams.
//!
//! Both kinds of work that the server does not trust itself with go through here: commands of users,
//! and built-in jobs on files of users.

mod error;
mod job;
mod stream;
mod watch;

use crate::runs::Runs;
use fileshed_rules::commands;
use fileshed_sandbox::{Access, CountedMemory, Job, JobSpec, Limits, landlock_version};
use fileshed_types::settings::{MEBIBYTE, SandboxPolicy};
use fileshed_types::{Caller, Error, ZoneName};
use fileshed_zones::running_commands::RunningCommand;

pub(crate) use error::{ProcessError, expect_not_stopped};
pub(crate) use job::{JobBounds, JobEnd, run_job};
pub(crate) use stream::{StreamFile, file_sink, sink};
pub(crate) use watch::Watch;

/// A job with the limits of every command that may touch nothing yet.
pub(crate) fn base_spec(runs: &Runs, job: Job, counted: CountedMemory) -> JobSpec {
    let settings = runs.store.settings();
    JobSpec {
        job,
        owner: String::new(),
        input: None,
        controlling_terminal: false,
        makes_groups: false,
        limits: Limits {
            memory: settings.exec_memory_limit_mb * MEBIBYTE,
            counted,
            cpu_seconds: settings.exec_cpu_limit_seconds,
            // The kernel ends a process that only asks, at the limit, whether there is more to copy.
            file_size: settings.largest_file().saturating_add(1),
            open_files: OPEN_FILES,
            processes: PROCESSES,
        },
        mounts: None,
        access: Access {
            version: landlock_version(settings.exec_landlock_abi),
            ..Access::default()
        },
        supervised: runs.confinement().is_supervised(),
        starts_others: false,
        changes: false,
        probe: false,
        best_effort: settings.exec_sandbox == SandboxPolicy::BestEffort,
    }
}

/// Open files of one process of a command.
pub(crate) const OPEN_FILES: u64 = 256;

/// Processes and threads of one command together: more than any needs, less than harms others.
pub(crate) const PROCESSES: u64 = 256;

/// Has libraries for numbers start one thread: by default it is one a processor of the machine, and
/// each takes memory before it is needed.
pub(crate) const FEW_THREADS: [(&str, &str); 3] = [
    ("OPENBLAS_NUM_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
];

/// Fails where the kernel cannot confine processes.
pub(crate) fn expect_enforced(runs: &Runs) -> Result<(), Error> {
    let enforced = runs.confinement().enforced();
    enforced.map_err(|missing| ProcessError::NotConfined { missing }.into())
}

/// Fails where the kernel cannot confine processes and none run without.
pub(crate) fn expect_confined(runs: &Runs) -> Result<(), Error> {
    match runs.store.settings().exec_sandbox {
        SandboxPolicy::Required => expect_enforced(runs),
        SandboxPolicy::BestEffort => Ok(()),
    }
}

/// What a program is called that a user brought: its name is a file's.
const OWN_PROGRAM: &str = "own program";

impl Runs {
    /// Enters a command of a caller among those that run, with the zone whose write lock it has.
    pub(crate) fn enter_command(
        &self,
        caller: &Caller,
        name: &str,
        holds: Option<(String, ZoneName)>,
    ) -> RunningCommand<'_> {
        let is_known = self.programs().has(name) || commands().iter().any(|rule| rule.name == name);
        let program = if is_known { name } else { OWN_PROGRAM };
        let now = self.store.clock().now().as_second();
        self.store
            .running_commands
            .enter(caller.user.as_ref(), program, now, holds)
    }
}
