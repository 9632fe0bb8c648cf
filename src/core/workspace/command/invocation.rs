//! Programs of one call, each started in the sandbox, with what they share.

use std::cell::{Cell, OnceCell};

use super::command_line::{output_limit, seconds};
use super::network::CommandNetwork;
use super::outcome::{CommandOutcome, ShownStreams};
use super::output::Mask;
use super::places::Places;
use super::{CommandLine, ExecError, Limit, Ran, content, environment, portable, sqlite};
use crate::process::{
    FEW_THREADS, OPEN_FILES, PROCESSES, ProcessError, Temporary, expect_confined, expect_enforced,
    files, watch,
};
use crate::zone::{Zone, ZonePath};
use crate::{Error, Settings, ZoneName, timings};
use fileshed_rules::CommandPlan;
use fileshed_sandbox::{Access, Ending, Job, JobSpec, Limits, Sink, Stream, landlock_version};
use fileshed_storage::{DiskError, PrivateDirectory, Root, Staged};
use fileshed_types::settings::{MEBIBYTE, SandboxPolicy};

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
    pub(super) places: Places,
    mask: Mask,
    timeout: u64,
    line: &'a CommandLine<'a>,
    limit: usize,
    temporary: Temporary<'a>,
    /// Whether it must stop for what its zone holds by now.
    is_over: OnceCell<Box<dyn Fn() -> bool + 'a>>,
    /// It has a permit to change the zone.
    has_permit: Cell<bool>,
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
        let private = zone.store.private_directory(&zone.tenant)?;
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
            has_permit: Cell::new(false),
        })
    }

    /// The command has a permit, with the write lock of a zone with history.
    pub(super) fn permitted(&self) {
        self.has_permit.set(true);
    }

    /// The zone whose write lock the command has.
    fn held_zone(&self) -> Option<(String, ZoneName)> {
        let zone = (self.zone.tenant.key.clone(), self.zone.name());
        (self.has_permit.get() && zone.1.is_versioned()).then_some(zone)
    }

    /// Has the command stop when its zone holds too much.
    pub(super) fn limit(&self, is_over: impl Fn() -> bool + 'a) {
        let _first_counts = self.is_over.set(Box::new(is_over));
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
        if program.is_substitute {
            expect_enforced(store)?;
        }
        let caller = self.zone.caller();
        let owner = store.namespace(caller);
        let _slot = store.slots().take(&owner, caller)?;
        let mut environment = environment::of(invocation.command, &self.private, &self.places)?;
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        if program.is_chosen {
            environment.extend(FEW_THREADS.iter().map(own));
        }
        environment.extend(self.plan.environment.iter().map(own));
        environment.extend(invocation.environment);
        let network = CommandNetwork::new(store, self.plan.network, invocation.command)?;
        environment.extend(network.environment());
        let mut access = Access {
            execute: program.executables.clone(),
            read: program.readable.clone(),
            network: network.access(),
            version: landlock_version(self.settings.exec_landlock_abi),
            any_program: program.is_chosen && self.settings.has_any_program(),
            ..Access::default()
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
            arguments: [
                program.prefix.clone(),
                program
                    .own_options
                    .iter()
                    .map(|&own| own.to_owned())
                    .collect(),
                invocation.arguments,
            ]
            .concat(),
            environment,
        };
        let spec = JobSpec {
            job,
            owner,
            input: invocation.input.map(Staged::location),
            controlling_terminal: false,
            makes_groups: program.is_chosen,
            limits: Limits {
                memory: self.settings.exec_memory_limit_mb * MEBIBYTE,
                counted: program.counted(),
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
        let entered = store.enter_command(caller, invocation.command, self.held_zone());
        let writes = invocation.writes;
        let streams = files([&invocation.sinks.0, &invocation.sinks.1]);
        let outcome = fileshed_sandbox::run(
            store.zygote(),
            &spec,
            invocation.directory.handle(),
            invocation.sinks,
            timings::seconds(self.timeout),
            entered.or_ended(watch(
                self.zone,
                &self.temporary,
                &self.private,
                streams,
                || writes && self.is_over.get().is_some_and(|is_over| is_over()),
            )),
            |listener| network.listen(listener),
        )?;
        let remarks = network.remarks();
        let mut outcome = CommandOutcome::from(outcome);
        outcome.refused = !remarks.is_empty();
        outcome.stderr.add_lines(&remarks);
        Ok(outcome)
    }

    /// What a command said, which its outcome then has no more.
    pub(super) fn shown(&self, outcome: &mut CommandOutcome) -> ShownStreams {
        let show = |stream: &mut Stream| self.mask.show(std::mem::take(stream), self.limit);
        ShownStreams {
            stdout: show(&mut outcome.stdout),
            stderr: show(&mut outcome.stderr),
        }
    }

    /// A command that ended as it should.
    pub(super) fn finish(&self, mut outcome: CommandOutcome) -> Result<Ran, Error> {
        let shown = self.shown(&mut outcome);
        self.expect_ended(&outcome, &shown)?;
        Ok(self.ran(&outcome, shown))
    }

    /// Fails where a command was ended, or did what is refused. What has another name now is said in
    /// the failure too.
    pub(super) fn expect_ended(
        &self,
        outcome: &CommandOutcome,
        shown: &ShownStreams,
    ) -> Result<(), Error> {
        self.expect_end(outcome, shown)
            .map_err(|error| match portable::told(&outcome.renamed) {
                Some(renamed) => error.with_detail("renamed", renamed),
                None => error,
            })
    }

    fn expect_end(&self, outcome: &CommandOutcome, shown: &ShownStreams) -> Result<(), Error> {
        let command = self.plan.command.to_owned();
        let (stdout, stderr) = (|| shown.stdout.text.clone(), || shown.stderr.text.clone());
        match outcome.ending {
            Ending::TimedOut => {
                return Err(ExecError::TimedOut {
                    command,
                    seconds: self.timeout,
                    stdout: stdout(),
                    stderr: stderr(),
                    most: self.settings.exec_timeout_max,
                }
                .into());
            }
            Ending::Cancelled if self.zone.caller().cancellation.is_cancelled() => {
                self.zone.caller().cancellation.trust().expect()?;
                return Err(ProcessError::Cancelled { command }.into());
            }
            Ending::Cancelled => return Err(ProcessError::EndedByAdministrator { command }.into()),
            Ending::OverTemporary => {
                let limit_mb = self.settings.exec_temporary_max_mb;
                return Err(ProcessError::Temporary { command, limit_mb }.into());
            }
            Ending::OverMemory => {
                return Err(ExecError::Struck {
                    command,
                    limit: Limit::MemoryOfTree {
                        mebibytes: self.settings.exec_memory_limit_mb,
                    },
                    status: outcome.status,
                    stdout: stdout(),
                    stderr: stderr(),
                }
                .into());
            }
            // What was measured afterwards has refused an excess already.
            Ending::Exited | Ending::OverQuota => {}
        }
        if outcome.status == i32::from(fileshed_sandbox::FAILED)
            && let Some(reason) = shown.stderr.text.strip_prefix(fileshed_sandbox::COMPLAINT)
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
                stdout: stdout(),
                stderr: stderr(),
            }
            .into());
        }
        if !outcome.removed.is_empty() {
            return Err(ExecError::KeptNames {
                command,
                removed: outcome.removed.clone(),
                status: outcome.status,
                stdout: stdout(),
                stderr: stderr(),
            }
            .into());
        }
        Ok(())
    }

    /// What a command that ended did and said.
    pub(super) fn ran(&self, outcome: &CommandOutcome, shown: ShownStreams) -> Ran {
        let ShownStreams { stdout, stderr } = shown;
        let limit = match outcome.status {
            0 => None,
            _ => Limit::of_words(&stderr.text, self.settings),
        };
        let left_out = stdout.missing.as_ref();
        Ran {
            status: outcome.status,
            truncated: left_out.is_some() || stderr.missing.is_some(),
            left_out: left_out
                .map(|missing| content::note(self.zone, self.line, self.plan, missing)),
            stdout: stdout.text,
            stderr: stderr.text,
            limit,
            missing: match outcome.status {
                0 => None,
                _ => self.missing(),
            },
            changes: self.plan.changes,
            stdout_size: None,
            stderr_size: None,
            renamed: portable::told(&outcome.renamed),
            history: None,
        }
    }
}
