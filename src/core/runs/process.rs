//! Processes of a zone: started in the sandbox, watched while they run, with their streams.
//!
//! Both kinds of work that the server does not trust itself with go through here: commands of users,
//! and built-in jobs on files of users.

mod job;
mod stream;

use std::fs::File;
use std::sync::Arc;
use std::time::Instant;

use crate::runs::Runs;
use fileshed_registry::BIN;
use fileshed_rules::commands;
use fileshed_sandbox::egress::EgressGrant;
use fileshed_sandbox::{
    Access, ExitReason, Job, JobSpec, Limits, NetworkAccess, OutputSink, StartedJob,
    landlock_version,
};
use fileshed_storage::PrivateDirectory;
use fileshed_types::settings::{MEBIBYTE, SandboxPolicy};
use fileshed_types::{Caller, Error, ZoneName, diagnostics};
use fileshed_zones::running_commands::RunningCommand;
use fileshed_zones::space_in_use::SpaceEntry;
use fileshed_zones::zone::Zone;

pub(crate) use job::{JobBounds, JobEnd, prepare_copy_job, run_copy_job, run_job};
pub(crate) use stream::{StreamFile, file_sink, sink};

/// A job with the limits of every command that may touch nothing yet.
pub(crate) fn base_spec(runs: &Runs, job: Job) -> JobSpec {
    let settings = &runs.store.settings;
    JobSpec {
        job,
        owner: String::new(),
        input: None,
        removals: None,
        controlling_terminal: false,
        makes_groups: false,
        limits: Limits {
            memory: settings.exec_memory_limit_mb * MEBIBYTE,
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

/// The connections that the kernel lets through to a command with this grant of the network.
pub(crate) fn access(network: Option<&EgressGrant>) -> NetworkAccess {
    network.map_or(NetworkAccess::None, |grant| NetworkAccess::Proxy {
        port: grant.port(),
    })
}

/// Open files of one process of a command.
pub(crate) const OPEN_FILES: u64 = 256;

/// Processes and threads of one command together: more than any needs, less than harms others.
pub(crate) const PROCESSES: u64 = 256;

/// Environment variables.
pub(crate) type Variables = Vec<(String, String)>;

/// Variables that every program has. git prints paths as they are, and gives no advice on the first branch.
pub(crate) const EVERYWHERE: [(&str, &str); 8] = [
    ("LANG", "C.UTF-8"),
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
    ("GIT_CONFIG_COUNT", "2"),
    ("GIT_CONFIG_KEY_0", "core.quotePath"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "init.defaultBranch"),
    ("GIT_CONFIG_VALUE_1", "main"),
];

pub(crate) fn variables<'v>(pairs: impl IntoIterator<Item = (&'v str, &'v str)>) -> Variables {
    let pairs = pairs.into_iter();
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Variables of programs that run other people's code. Libraries for numbers start one thread: by default
/// it is one a processor of the machine, and each takes memory before it is needed. Python leaves no
/// compiled files beside the files of a person.
pub(crate) const OF_INTERPRETERS: [(&str, &str); 4] = [
    ("PYTHONDONTWRITEBYTECODE", "1"),
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
    match runs.store.settings.exec_sandbox {
        SandboxPolicy::Required => expect_enforced(runs),
        SandboxPolicy::BestEffort => Ok(()),
    }
}

/// Name, in the list of running commands, of a program that a user brought: its own name is one of a file.
const OWN_PROGRAM: &str = "own program";

impl Runs {
    /// Enters a command of a caller among those that run, with the zone whose write lock it has.
    pub(crate) fn enter_command(
        &self,
        caller: &Caller,
        name: &str,
        holds: Option<(String, ZoneName)>,
    ) -> Arc<RunningCommand> {
        let is_known = self.programs.has(name) || commands().iter().any(|rule| rule.name == name);
        let program = if is_known { name } else { OWN_PROGRAM };
        let now = self.store.clock.now().as_second();
        self.store
            .running_commands
            .enter(caller.user.as_ref(), program, now, holds)
    }
}

/// Measures what a command takes outside its zone: its private directory, files that its streams go
/// to, and files without a name that it holds open.
pub(crate) struct UsageMeter<'a> {
    zone: &'a Zone<'a>,
    private: &'a PrivateDirectory,
    streams: Vec<File>,
    /// Its place among those that run, by which an administrator ends it.
    entered: Option<Arc<RunningCommand>>,
    entry: SpaceEntry<'a>,
    /// The device of the data directory.
    device: Option<u64>,
    /// When it measures again.
    next: Instant,
}

impl<'a> UsageMeter<'a> {
    /// A watch of a command in `zone`, whose streams go to these sinks.
    pub(crate) fn new(
        zone: &'a Zone<'a>,
        private: &'a PrivateDirectory,
        sinks: [&OutputSink; 2],
        entered: Option<Arc<RunningCommand>>,
    ) -> Self {
        let store = zone.store;
        let file = |sink: &OutputSink| match sink {
            OutputSink::File(file) => file.try_clone().ok(),
            OutputSink::Answer(_) | OutputSink::Output => None,
        };
        Self {
            zone,
            private,
            streams: sinks.into_iter().filter_map(file).collect(),
            entered,
            entry: store.space_in_use.enter(&zone.tenant.key, None),
            device: zone.data.device().ok(),
            next: store.clock.instant() + store.settings.timings.commands.measure,
        }
    }

    /// Returns why the command must end, if it must. To be asked several times a second: a measurement
    /// of a large zone takes time, so there is at least three times as much between two of them.
    pub(crate) fn look(
        &mut self,
        job: &StartedJob<'_>,
        is_over_quota: impl FnOnce() -> bool,
    ) -> Option<ExitReason> {
        let is_ended = self
            .entered
            .as_ref()
            .is_some_and(|entered| entered.is_ended());
        if is_ended || self.zone.caller.cancellation.is_cancelled() {
            return Some(ExitReason::Cancelled);
        }
        let (clock, settings) = (&self.zone.store.clock, &self.zone.store.settings);
        let begun = clock.instant();
        if begun < self.next {
            return None;
        }
        let bin = self.zone.tenant.root.location().join(BIN);
        let usage = job.usage(self.device, &bin);
        let ending = if usage.memory > settings.exec_memory_limit_mb * MEBIBYTE {
            Some(ExitReason::ProcessOverMemory)
        } else if self.is_over(usage.unlinked, settings.temporary_space()) {
            Some(ExitReason::OverTemporary)
        } else {
            is_over_quota().then_some(ExitReason::OverQuota)
        };
        let now = clock.instant();
        let pause = 3 * now.saturating_duration_since(begun);
        self.next = now + settings.timings.commands.measure.max(pause);
        ending
    }

    /// Returns `true` if this and the other commands of the same tenant take more together than they
    /// may.
    fn is_over(&self, unlinked: u64, most: u64) -> bool {
        // A file that vanishes during the measurement is no failure: the next one comes soon.
        let private = self.private.measure().unwrap_or(0);
        let sizes = self.streams.iter().filter_map(|file| file.metadata().ok());
        let streams: u64 = sizes.map(|metadata| metadata.len()).sum();
        let bytes = private + streams + unlinked;
        self.entry.measured(bytes);
        // A command that takes less than its share is not the one to stop.
        bytes > 0 && self.entry.outside() > most
    }
}

diagnostics! {
    /// A process of a zone that did not do its work.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum ProcessError {
        /// It needed more space for itself than commands get.
        #[error("`{command}` was stopped: it used more than {limit_mb} MB of temporary space")]
        Temporary {
            /// The command.
            command: String,
            /// The limit in MiB.
            limit_mb: u64 = 100,
        } => {
            code: QuotaExceeded,
            hint: "split the input into smaller parts; an administrator can raise \
                exec.temporary_max_mb",
            details: { "command": command, "exec.temporary_max_mb": limit_mb },
        },
        /// It took more memory than commands get.
        #[error(
            "`{command}` was stopped: it used more than {limit_mb} MiB of memory \
             (exec_memory_limit_mb); give it less input, or start fewer processes"
        )]
        Memory {
            /// The command.
            command: String,
            /// The limit in MiB.
            limit_mb: u64 = 512,
        } => {
            code: ExecError,
            hint: "give it less input at once, or start fewer processes; an administrator can \
                raise exec_memory_limit_mb",
            details: { "command": command, "exec_memory_limit_mb": limit_mb },
        },
        /// Nobody waits for the answer.
        #[error("the call was cancelled, so `{command}` was stopped")]
        Cancelled {
            /// The command.
            command: String,
        } => {
            code: ExecError,
            hint: "repeat the call",
            details: { "command": command },
        },
        /// Somebody who looks after the server ended it.
        #[error("an administrator of this server ended `{command}`")]
        EndedByAdministrator {
            /// The command.
            command: String,
        } => {
            code: ExecError,
            hint: "tell the user that an administrator ended the command; repeat it only if the user \
                wants that",
            details: { "command": command },
        },
        /// The kernel cannot confine commands, and none run without.
        #[error("commands are off: the kernel of this server cannot confine them ({missing})")]
        NotConfined {
            /// The missing feature of the kernel.
            missing: &'static str = "Landlock",
        } => {
            code: SandboxUnavailable,
            hint: "files work: shed_create_file, shed_patch_text, shed_tree; an administrator runs fileshed \
                doctor",
            details: { "missing": missing },
        },
    }
}

/// Fails if the server ended a command in `zone`, because of its caller, an administrator or its
/// temporary space.
pub(crate) fn expect_not_stopped(
    zone: &Zone<'_>,
    command: &str,
    ending: ExitReason,
) -> Result<(), Error> {
    let (cancellation, command) = (&zone.caller.cancellation, command.to_owned());
    let error = match ending {
        ExitReason::Cancelled if cancellation.is_cancelled() => {
            cancellation.trust().expect()?;
            ProcessError::Cancelled { command }
        }
        ExitReason::Cancelled => ProcessError::EndedByAdministrator { command },
        ExitReason::OverTemporary => ProcessError::Temporary {
            command,
            limit_mb: zone.store.settings.exec_temporary_max_mb,
        },
        ExitReason::Exited
        | ExitReason::TimedOut
        | ExitReason::OverQuota
        | ExitReason::OverMemory
        | ExitReason::ProcessOverMemory => return Ok(()),
    };
    Err(error.into())
}
