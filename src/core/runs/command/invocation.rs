//! Programs of one call, each started in the sandbox, with what they share.

use super::command_line::{output_limit, seconds};
use super::outcome::{CommandOutcome, describe_renamed};
use super::output::show;
use super::places::Places;
use super::{CommandLine, ExecError, Limit, Ran, content};
use crate::hidden_places::HiddenPlaces;
use crate::process::{
    self, OF_INTERPRETERS, UsageMeter, Variables, base_spec, expect_confined, expect_enforced,
    expect_not_stopped, variables,
};
use crate::runs::Runs;
use fileshed_rules::CommandPlan;
use fileshed_sandbox::egress::EgressGrant;
use fileshed_sandbox::{Access, ExitReason, Job, JobSpec, OutputSink, Stream};
use fileshed_storage::{DiskError, PrivateDirectory, Root, Staged};
use fileshed_types::{Error, timings};
use fileshed_zones::zone::{Zone, ZonePath};

/// The command that runs SQL statements on a database.
pub(super) const SQLITE: &str = "sqlite3";

/// Bytes that a helper may say.
const COMPLAINTS: usize = 4096;

/// One program to start: the command itself, or one that helps it.
pub(super) struct Invocation<'a> {
    /// Name of a whitelisted command.
    pub(super) command: &'a str,
    pub(super) arguments: Vec<String>,
    /// `true` if it may change its directory.
    pub(super) writes: bool,
    /// Standard input.
    pub(super) input: Option<&'a Staged>,
    pub(super) sinks: (OutputSink, OutputSink),
    /// Beyond the common one and the plan's.
    pub(super) environment: Variables,
    /// The repository beside the zone, for git: where it lies on disk.
    pub(super) repository: Option<std::path::PathBuf>,
}

impl<'a> Invocation<'a> {
    /// A program that helps the command: it reads its input and changes nothing.
    pub(super) fn helper(
        command: &'a str,
        arguments: &[&str],
        input: &'a Staged,
        output: OutputSink,
    ) -> Self {
        Self {
            command,
            arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
            writes: false,
            input: Some(input),
            sinks: (output, OutputSink::Answer(COMPLAINTS)),
            environment: variables(OF_INTERPRETERS),
            repository: None,
        }
    }
}

/// Everything about one call but the zone's files.
pub(super) struct Run<'a> {
    pub(super) runs: &'a Runs,
    pub(super) plan: &'a CommandPlan,
    pub(super) zone: &'a Zone<'a>,
    line: &'a CommandLine<'a>,
    /// The directory in which it runs, and which it may touch.
    directory: &'a Root,
    private: PrivateDirectory,
    pub(super) places: Places,
    hidden: HiddenPlaces,
    /// Seconds.
    timeout: u64,
    /// Bytes of each stream in the answer.
    limit: usize,
    /// Tells whether its zone holds too much by now, so that the command must stop.
    pub(super) is_over: Option<Box<dyn Fn() -> bool + 'a>>,
    /// `true` if it has the write lock of its zone.
    pub(super) holds_zone: bool,
}

impl<'a> Run<'a> {
    /// A call that runs its programs in `directory`.
    pub(super) fn new(
        runs: &'a Runs,
        zone: &'a Zone<'a>,
        line: &'a CommandLine<'a>,
        plan: &'a CommandPlan,
        directory: &'a Root,
    ) -> Result<Self, Error> {
        let settings = &zone.store.settings;
        let private = zone.store.private_directory(&zone.tenant)?;
        let places = Places::new(runs, directory, &private);
        let hidden = [
            (directory.location(), "/"),
            (zone.data.location(), "/"),
            (zone.base.location(), "/"),
            (private.location(), "/tmp"),
        ];
        let own = places.hidden().map(|hidden| (hidden, "/"));
        let hidden = hidden.into_iter().chain(own);
        let hidden = hidden.map(|(place, name)| (place.to_string_lossy().into(), name.to_owned()));
        let hidden = HiddenPlaces::new(hidden.collect());
        let limit = output_limit(settings, zone.caller.client, line.max_output);
        Ok(Self {
            runs,
            plan,
            zone,
            line,
            directory,
            private,
            places,
            hidden,
            timeout: seconds(settings, line.timeout),
            limit: limit as usize,
            is_over: None,
            holds_zone: false,
        })
    }

    /// Bytes to read of each stream: enough to recognise what must not show.
    pub(super) fn read_limit(&self) -> usize {
        self.limit + self.hidden.slack()
    }

    /// The command of the plan.
    pub(super) fn invocation(&self, sinks: (OutputSink, OutputSink)) -> Invocation<'a> {
        let only_reads = self.zone.store.settings.sqlite_readonly && self.plan.command == SQLITE;
        Invocation {
            command: self.plan.command,
            arguments: self.plan.args.clone(),
            writes: self.plan.changes && !only_reads,
            input: None,
            sinks,
            environment: Vec::new(),
            repository: None,
        }
    }

    /// Runs a program to its end.
    pub(super) fn start(&self, invocation: Invocation<'_>) -> Result<CommandOutcome, Error> {
        let (runs, store, caller) = (self.runs, self.zone.store, self.zone.caller);
        let (command, writes) = (invocation.command, invocation.writes);
        expect_confined(runs)?;
        let program = runs.programs.get(command);
        let program = program.ok_or_else(|| ExecError::NotInstalled {
            command: command.to_owned(),
        })?;
        if program.is_substitute {
            expect_enforced(runs)?;
        }
        let owner = store.namespace(caller);
        let _slot = runs.slots.take(&owner, caller)?;
        let mut environment = self.places.environment(command, &self.private)?;
        if program.is_chosen {
            environment.extend(variables(OF_INTERPRETERS));
        }
        environment.extend(variables(self.plan.environment.iter().copied()));
        environment.extend(invocation.environment);
        let network = runs.grant_network(self.plan.network, command)?;
        environment.extend(network.iter().flat_map(EgressGrant::environment));
        let own_options = program.own_options.iter().map(|&own| own.to_owned());
        let job = Job::Program {
            file: program.file.clone(),
            name: program.called.clone().unwrap_or_else(|| command.to_owned()),
            arguments: [
                program.prefix.clone(),
                own_options.collect(),
                invocation.arguments,
            ]
            .concat(),
            environment,
        };
        let base = base_spec(runs, job);
        let mut access = Access {
            execute: program.executables.clone(),
            read: program.readable.clone(),
            network: process::access(network.as_ref()),
            any_program: program.is_chosen && store.settings.has_any_program(),
            ..base.access
        };
        let repository = invocation.repository.as_deref();
        let mounts = self.places.admit(&mut access, repository, writes);
        let spec = JobSpec {
            owner,
            input: invocation.input.map(Staged::location),
            makes_groups: program.is_chosen,
            mounts,
            access,
            starts_others: program.starts_others,
            changes: writes,
            ..base
        };
        let held = self
            .holds_zone
            .then(|| (self.zone.tenant.key.clone(), self.zone.name));
        let entered = Some(runs.enter_command(caller, command, held));
        let sinks = invocation.sinks;
        let mut watch = UsageMeter::new(self.zone, &self.private, [&sinks.0, &sinks.1], entered);
        let is_over = || writes && self.is_over.as_ref().is_some_and(|is_over| is_over());
        let outcome = fileshed_sandbox::run(
            &runs.zygote,
            &spec,
            self.directory.handle(),
            sinks,
            timings::seconds(self.timeout),
            |job| watch.look(job, is_over),
            network.as_ref(),
        )?;
        let remarks: Vec<String> = network.iter().flat_map(EgressGrant::remarks).collect();
        Ok(CommandOutcome::of(outcome, &remarks))
    }

    /// Returns what a command did. Fails, with what it said, if it is `refused`, if it did not end as it
    /// should, or if `install` fails, which gives their names to the files of its streams and returns
    /// their sizes.
    pub(super) fn finish(
        &self,
        mut outcome: CommandOutcome,
        refused: Option<Error>,
        install: impl FnOnce(&CommandOutcome) -> Result<[Option<u64>; 2], Error>,
    ) -> Result<Ran, Error> {
        let shown = |stream: &mut Stream| show(&self.hidden, std::mem::take(stream), self.limit);
        let (stdout, stderr) = (shown(&mut outcome.stdout), shown(&mut outcome.stderr));
        let truncated = stdout.missing.is_some() || stderr.missing.is_some();
        let (status, renamed) = (outcome.status, describe_renamed(&outcome.put_right.renamed));
        let check = || {
            let ended = self.expect_ended(&outcome, &stderr.text);
            ended.map_err(|error| match &renamed {
                Some(renamed) => error.with_detail("renamed", renamed.as_str()),
                None => error,
            })
        };
        let ended = refused.map_or_else(check, Err);
        let [stdout_size, stderr_size] = match ended.and_then(|()| install(&outcome)) {
            Ok(sizes) => sizes,
            Err(error) => {
                return Err(error
                    .with_detail("stdout", stdout.text)
                    .with_detail("stderr", stderr.text)
                    .with_detail("returncode", status)
                    .with_detail("truncated", truncated));
            }
        };
        let failed = status != 0;
        let note = |missing| content::note(self.runs, self.zone, self.line, self.plan, missing);
        let limit = || Limit::of_words(&stderr.text, &self.zone.store.settings);
        Ok(Ran {
            status,
            truncated,
            left_out: stdout.missing.as_ref().map(note),
            limit: failed.then(limit).flatten(),
            stdout: stdout.text,
            stderr: stderr.text,
            missing: failed.then(|| self.missing()).flatten(),
            changes: self.plan.changes,
            stdout_size,
            stderr_size,
            renamed,
            ..Ran::default()
        })
    }

    /// Fails if a command was ended, or did what is refused.
    fn expect_ended(&self, outcome: &CommandOutcome, stderr: &str) -> Result<(), Error> {
        let (command, settings) = (self.plan.command.to_owned(), &self.zone.store.settings);
        expect_not_stopped(self.zone, &command, outcome.ending)?;
        let (seconds, status) = (self.timeout, outcome.status);
        if outcome.ending == ExitReason::TimedOut {
            return Err(ExecError::TimedOut {
                command,
                seconds,
                most: settings.exec_timeout_max,
            }
            .into());
        }
        let mebibytes = settings.exec_memory_limit_mb;
        let of_memory = match outcome.ending {
            ExitReason::OverMemory => Some(Limit::MemoryOfTree { mebibytes }),
            ExitReason::ProcessOverMemory => Some(Limit::Memory { mebibytes }),
            _ => None,
        };
        if of_memory.is_none()
            && status == i32::from(fileshed_sandbox::FAILED)
            && let Some(reason) = stderr.strip_prefix(fileshed_sandbox::COMPLAINT)
        {
            let reason = reason.trim().to_owned();
            return Err(ExecError::Helper { command, reason }.into());
        }
        if let Some(limit) = of_memory.or_else(|| Limit::of_signal(status, settings)) {
            return Err(ExecError::Struck {
                command,
                limit,
                status,
            }
            .into());
        }
        if !outcome.put_right.removed.is_empty() {
            return Err(ExecError::KeptNames {
                command,
                removed: outcome.put_right.removed.clone(),
                status,
            }
            .into());
        }
        Ok(())
    }

    /// Returns the first file that the command was to read and that is not there.
    fn missing(&self) -> Option<ZonePath> {
        let paths = self.plan.paths.iter();
        let read = paths.filter(|path| !path.writes && !path.glob);
        let mut read = read.filter_map(|path| ZonePath::parse("args", &path.text).ok());
        read.find(|path| {
            let found = self.zone.data.followed(path);
            matches!(found, Err(DiskError::NotFound { .. }))
        })
    }
}
