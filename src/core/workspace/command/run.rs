//! A command from its line to its outcome.

use std::cell::OnceCell;
use std::time::Duration;

use super::download::Emptied;
use super::network::CommandNetwork;
use super::outcome::CommandOutcome;
use super::output::Mask;
use super::places::Places;
use super::{
    ExecError, Limit, content, environment, git, kept, line, pdf, rename, sqlite, tar, which,
};
use crate::disk::{DiskError, PrivateDirectory, Root, Staged};
use crate::guard::{OpenEndedPermit, OpenEndedRequest};
use crate::history::subject;
use crate::policy::CommandPlan;
use crate::process::{
    OPEN_FILES, PROCESSES, ProcessError, Temporary, expect_confined, files, sink, stream_file,
    watch,
};
use crate::sandbox::{self, Access, Ending, Job, JobSpec, Limits, Sink, landlock_version};
use crate::settings::{MEBIBYTE, SandboxPolicy};
use crate::zone::{Zone, ZonePath};
use crate::{Client, Error, Hint, Settings};

/// Seconds that a call may take.
pub(super) fn seconds(settings: &Settings, asked: Option<i64>) -> u64 {
    let seconds = asked.map_or(settings.exec_timeout_default, |seconds| {
        u64::try_from(seconds).unwrap_or(1)
    });
    seconds.clamp(1, settings.exec_timeout_max.max(1))
}

/// Bytes of each stream in an answer.
fn output_limit(settings: &Settings, client: Client, asked: Option<i64>) -> u64 {
    let most = settings.max_output_absolute;
    let limit = match asked {
        None => settings.output_of(client),
        Some(0) => most,
        Some(bytes) => u64::try_from(bytes).unwrap_or(0),
    };
    limit.min(most)
}

/// Most bytes of an answer with so much output: two streams, each twice as long as JSON at most.
#[must_use]
pub fn answer_max(settings: &Settings, asked: Option<i64>) -> u64 {
    let gateway = Client {
        gateway: true,
        ..Client::default()
    };
    let limits = [Client::default(), gateway].map(|client| output_limit(settings, client, asked));
    limits[0].max(limits[1]).saturating_mul(4)
}

/// One call of a command.
#[derive(Debug, Default)]
pub struct CommandLine<'a> {
    /// Name of the command.
    pub command: &'a str,
    /// Its arguments, without a shell in between.
    pub arguments: &'a [String],
    /// Seconds; clamped to what the server allows.
    pub timeout: Option<i64>,
    /// Bytes of each stream in the answer; 0 is the most that the server gives.
    pub max_output: Option<i64>,
    /// File of the zone that gets standard output.
    pub stdout_file: Option<&'a str>,
    /// File of the zone that gets standard error.
    pub stderr_file: Option<&'a str>,
    /// Standard error goes where standard output goes.
    pub merge_streams: bool,
}

/// A command that ran.
#[derive(Debug)]
pub struct Ran {
    /// Standard output, as far as it fits.
    pub stdout: String,
    /// Standard error, as far as it fits.
    pub stderr: String,
    /// Exit status, or the negative number of the signal that ended it.
    pub status: i32,
    /// Whether output is missing.
    pub truncated: bool,
    /// Bytes in the file of standard output.
    pub stdout_size: Option<u64>,
    /// Bytes in the file of standard error.
    pub stderr_size: Option<u64>,
    /// What is missing of standard output, and what shows it.
    pub left_out: Option<Hint>,
    /// The limit of which it speaks where it failed.
    pub limit: Option<Limit>,
    /// A file that it was to read and that is not there, where it failed.
    pub missing: Option<ZonePath>,
    /// Whether it may have changed something.
    pub changes: bool,
}

impl Ran {
    /// What is said of its end: `done` where it succeeded.
    #[must_use]
    pub fn message(&self, command: &str, done: &str) -> String {
        match self.status {
            0 => format!("{command} {done}"),
            status => format!("{command} ended with status {status}"),
        }
    }

    /// What its caller must know besides.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let limit = self.limit?;
        Some(format!("stderr names a limit: {limit}"))
    }
}

/// Runs a command in a zone. What it changed becomes a commit where the zone has history.
pub fn run(zone: &Zone<'_>, command_line: &CommandLine<'_>) -> Result<Ran, Error> {
    let plan = line::prepare(zone, command_line)?;
    let mut stdout_file = stream_file(zone, "stdout_file", command_line.stdout_file)?;
    let mut stderr_file = stream_file(zone, "stderr_file", command_line.stderr_file)?;
    if let (Some(stdout), Some(stderr)) = (&stdout_file, &stderr_file)
        && stdout.path == stderr.path
    {
        return Err(ExecError::SameFile {
            path: stdout.path.as_str().to_owned(),
        }
        .into());
    }
    let run = Run::new(zone, command_line, &plan, zone.data())?;
    let sinks = (
        sink(stdout_file.as_mut(), false, run.read_limit())?,
        sink(
            stderr_file.as_mut(),
            command_line.merge_streams,
            run.read_limit(),
        )?,
    );
    let mut invocation = run.invocation(sinks);
    let hold = git::shares_repository(zone, &plan).then(|| zone.hold());
    let hold = hold.transpose()?;
    if plan.command == git::COMMAND {
        let surroundings = git::prepare(zone, &plan.args, &run.places)?;
        invocation.environment = surroundings.environment;
        invocation.repository = surroundings.repository;
    }
    let effect = |permit: Option<&OpenEndedPermit<'_>>| match &plan.archive {
        _ if let Some(path) = &plan.pdf => pdf::run(&run, path, invocation),
        _ if plan.command == which::COMMAND => {
            Ok(which::run(zone, &plan).into_outcome(invocation.sinks)?)
        }
        _ if plan.command == rename::COMMAND => {
            Ok(rename::run(zone, &plan, permit)?.into_outcome(invocation.sinks)?)
        }
        Some(archive) => tar::run(&run, archive, invocation),
        _ if plan.command == sqlite::COMMAND => {
            let writes = invocation.writes;
            sqlite::run(zone, &plan, writes, || run.start(invocation))
        }
        None => {
            let emptied = Emptied::before(zone, &plan)?;
            let outcome = run.start(invocation)?;
            match permit {
                Some(permit) => emptied.after(zone, outcome, permit),
                None => Ok(outcome),
            }
        }
    };
    let (outcome, refused) = if plan.changes {
        let request = OpenEndedRequest {
            operation: "shed_exec",
            command: plan.command,
            growth: plan.growth,
            message: describe(command_line),
        };
        let permit = zone.open_ended(request, hold)?;
        if let Some(must_stop) = permit.must_stop() {
            run.limit(must_stop);
        }
        let outcome = kept::without(zone, &plan, &permit, || effect(Some(&permit)));
        let stopped = matches!(&outcome, Ok(outcome) if outcome.ending == Ending::OverQuota);
        let refused = permit.finish(stopped)?;
        (outcome?, refused)
    } else {
        drop(hold);
        (effect(None)?, None)
    };
    let ended = || {
        if let Some(refused) = refused {
            return Err(refused);
        }
        for file in [&stdout_file, &stderr_file].into_iter().flatten() {
            file.expect_whole(zone, outcome.status)?;
        }
        let ran = run.finish(&outcome)?;
        // What is there stays, rather than becoming an empty file.
        let stdout_file = stdout_file.filter(|_| !outcome.got_nothing());
        Ok(Ran {
            stdout_size: stdout_file.map(|file| file.install(zone)).transpose()?,
            stderr_size: stderr_file.map(|file| file.install(zone)).transpose()?,
            ..ran
        })
    };
    ended().map_err(|error| run.told(error, &outcome))
}

/// The command line as a commit message.
fn describe(line: &CommandLine<'_>) -> String {
    let words = std::iter::once(line.command).chain(line.arguments.iter().map(String::as_str));
    subject(&words.collect::<Vec<_>>().join(" "))
}

/// One program to start: the command itself, or one that helps it.
pub(super) struct Invocation<'a> {
    /// Name of a whitelisted command.
    pub(super) command: &'a str,
    pub(super) arguments: Vec<String>,
    /// Where it runs, and what it may touch.
    pub(super) directory: &'a Root,
    /// Whether it may change what is there.
    pub(super) writes: bool,
    /// Standard input.
    pub(super) input: Option<&'a Staged>,
    pub(super) sinks: (Sink, Sink),
    /// Beyond the common one and the plan's.
    pub(super) environment: Vec<(String, String)>,
    /// The repository beside the zone, for git: where it lies on disk.
    pub(super) repository: Option<std::path::PathBuf>,
}

/// Everything about one call but the zone's files.
pub(super) struct Run<'a> {
    settings: &'a Settings,
    pub(super) plan: &'a CommandPlan,
    pub(super) zone: &'a Zone<'a>,
    private: PrivateDirectory,
    places: Places,
    mask: Mask,
    timeout: u64,
    line: &'a CommandLine<'a>,
    limit: usize,
    temporary: Temporary<'a>,
    /// Whether it must stop for what its zone holds by now.
    is_over: OnceCell<Box<dyn Fn() -> bool + 'a>>,
}

impl<'a> Run<'a> {
    /// The first file that the command was to read and that is not there.
    fn missing(&self) -> Option<ZonePath> {
        let paths = self.plan.paths.iter();
        let read = paths.filter(|path| !path.writes && !path.glob);
        let mut read = read.filter_map(|path| ZonePath::parse("args", &path.text).ok());
        read.find(|path| {
            let found = self.zone.data().followed(path);
            matches!(found, Err(DiskError::NotFound { .. }))
        })
    }

    pub(super) fn new(
        zone: &'a Zone<'a>,
        line: &'a CommandLine<'a>,
        plan: &'a CommandPlan,
        directory: &Root,
    ) -> Result<Self, Error> {
        let settings = zone.store.settings();
        let private = zone.store.staging(&zone.tenant)?.private_directory()?;
        let place = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let places = Places::new(zone.store, directory, &private);
        let mut hidden = vec![
            (place(directory.location()), "/"),
            (place(zone.data().location()), "/"),
            (place(zone.base.location()), "/"),
            (place(private.location()), "/tmp"),
        ];
        hidden.extend(places.hidden().map(|hidden| (place(hidden), "/")));
        let mask = Mask::new(hidden);
        let limit = output_limit(settings, zone.caller().client, line.max_output);
        Ok(Self {
            settings,
            plan,
            zone,
            private,
            places,
            mask,
            timeout: seconds(settings, line.timeout),
            line,
            limit: limit as usize,
            temporary: Temporary::new(zone),
            is_over: OnceCell::new(),
        })
    }

    /// Has the command stop when its zone holds too much.
    pub(super) fn limit(&self, is_over: impl Fn() -> bool + 'a) {
        let _first_counts = self.is_over.set(Box::new(is_over));
    }

    /// A failure after the command ran, with what it said.
    pub(super) fn told(&self, error: Error, outcome: &CommandOutcome) -> Error {
        let stdout = self.mask.show(&outcome.stdout, self.limit);
        let stderr = self.mask.show(&outcome.stderr, self.limit);
        let truncated = stdout.missing.is_some() || stderr.missing.is_some();
        error
            .with_detail("stdout", stdout.text)
            .with_detail("stderr", stderr.text)
            .with_detail("returncode", outcome.status)
            .with_detail("truncated", truncated)
    }

    /// Bytes to read of each stream: enough to recognise what must not show.
    pub(super) fn read_limit(&self) -> usize {
        self.limit + self.mask.slack()
    }

    /// The command of the plan, in the zone.
    pub(super) fn invocation(&self, sinks: (Sink, Sink)) -> Invocation<'_> {
        Invocation {
            command: self.plan.command,
            arguments: self.plan.args.clone(),
            directory: self.zone.data(),
            writes: self.plan.changes && !self.only_reads(),
            input: None,
            sinks,
            environment: Vec::new(),
            repository: None,
        }
    }

    /// Whether the command is held to reading by an administrator.
    fn only_reads(&self) -> bool {
        self.settings.sqlite_readonly && self.plan.command == sqlite::COMMAND
    }

    /// Runs a program to its end.
    pub(super) fn start(&self, invocation: Invocation<'_>) -> Result<CommandOutcome, Error> {
        let store = self.zone.store;
        expect_confined(store)?;
        let not_installed = || ExecError::NotInstalled {
            command: invocation.command.to_owned(),
        };
        let program = store
            .programs()
            .get(invocation.command)
            .ok_or_else(not_installed)?;
        let caller = self.zone.caller();
        let _slot = store.slots().take(&store.namespace(caller), caller)?;
        let mut environment = environment::of(invocation.command, &self.private, &self.places)?;
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        environment.extend(self.plan.environment.iter().map(own));
        environment.extend(invocation.environment);
        let network = CommandNetwork::new(store, self.plan.network, invocation.command)?;
        environment.extend(network.environment());
        let mut access = Access {
            execute: program.executables.clone(),
            read: program.readable.clone(),
            write: Vec::new(),
            network: network.access(),
            version: landlock_version(self.settings.exec_landlock_abi),
        };
        let repository = invocation.repository.as_deref();
        let mounts = self
            .places
            .admit(&mut access, repository, invocation.writes);
        let job = Job::Program {
            file: program.file.clone(),
            name: program
                .called
                .clone()
                .unwrap_or_else(|| invocation.command.to_owned()),
            arguments: [program.prefix.clone(), invocation.arguments].concat(),
            environment,
        };
        let spec = JobSpec {
            job,
            input: invocation.input.map(|staged| staged.location().to_owned()),
            limits: Limits {
                memory: self.settings.exec_memory_limit_mb * MEBIBYTE,
                cpu_seconds: self.settings.exec_cpu_limit_seconds,
                // The kernel ends who only asks, at the limit, whether there is more to copy.
                file_size: self.settings.largest_file().saturating_add(1),
                open_files: OPEN_FILES,
                processes: PROCESSES,
            },
            mounts,
            access,
            supervised: store.confinement().is_supervised(),
            starts_others: program.starts_others,
            changes: invocation.writes,
            probe: false,
            best_effort: self.settings.exec_sandbox == SandboxPolicy::BestEffort,
        };
        let writes = invocation.writes;
        let streams = files([&invocation.sinks.0, &invocation.sinks.1]);
        let outcome = sandbox::run_with_network(
            store.zygote(),
            &spec,
            invocation.directory.handle(),
            invocation.sinks,
            Duration::from_secs(self.timeout),
            watch(self.zone, &self.temporary, &self.private, streams, || {
                writes && self.is_over.get().is_some_and(|is_over| is_over())
            }),
            |listener| network.listen(listener),
        )?;
        let remarks = network.remarks();
        let mut outcome = CommandOutcome::from(outcome);
        outcome.refused = !remarks.is_empty();
        outcome.stderr.add_lines(&remarks);
        Ok(outcome)
    }

    pub(super) fn finish(&self, outcome: &CommandOutcome) -> Result<Ran, Error> {
        let shown = self.mask.show(&outcome.stdout, self.limit);
        let (stdout, missing) = (shown.text, shown.missing);
        let shown = self.mask.show(&outcome.stderr, self.limit);
        let (stderr, stderr_cut) = (shown.text, shown.missing.is_some());
        let command = self.plan.command.to_owned();
        match outcome.ending {
            Ending::TimedOut => {
                return Err(ExecError::TimedOut {
                    command,
                    seconds: self.timeout,
                    stdout,
                    stderr,
                    most: self.settings.exec_timeout_max,
                }
                .into());
            }
            Ending::Cancelled => return Err(ProcessError::Cancelled { command }.into()),
            Ending::OverTemporary => {
                let limit_mb = self.settings.exec_temporary_max_mb;
                return Err(ProcessError::Temporary { command, limit_mb }.into());
            }
            // What was measured afterwards has refused an excess already.
            Ending::Exited | Ending::OverQuota => {}
        }
        if outcome.status == i32::from(sandbox::FAILED)
            && let Some(reason) = stderr.strip_prefix(sandbox::COMPLAINT)
        {
            return Err(ExecError::Helper {
                command,
                reason: reason.trim().to_owned(),
            }
            .into());
        }
        if let Some(limit) = Limit::of_signal(outcome.status, self.settings) {
            return Err(ExecError::Struck {
                command,
                limit,
                status: outcome.status,
                stdout,
                stderr,
            }
            .into());
        }
        if !outcome.removed.is_empty() {
            return Err(ExecError::KeptNames {
                command,
                removed: outcome.removed.clone(),
                status: outcome.status,
                stdout,
                stderr,
            }
            .into());
        }
        let limit = match outcome.status {
            0 => None,
            _ => Limit::of_words(&stderr, self.settings),
        };
        Ok(Ran {
            stdout,
            stderr,
            status: outcome.status,
            truncated: missing.is_some() || stderr_cut,
            left_out: missing
                .map(|missing| content::note(self.zone, self.line, self.plan, &missing)),
            limit,
            missing: match outcome.status {
                0 => None,
                _ => self.missing(),
            },
            changes: self.plan.changes,
            stdout_size: None,
            stderr_size: None,
        })
    }
}
