//! A command from its line to its outcome.

use std::fs::File;
use std::time::{Duration, Instant};

use unicode_normalization::UnicodeNormalization;

use super::child::{self, Ending, Outcome, Sink};
use super::jail::{self, Access, Limits, Order};
use super::network::Way;
use super::output::Mask;
use super::{ExecError, environment, git, glob, tar, which};
use crate::disk::{DiskError, PrivateDirectory, Root, Staged, Target};
use crate::guard::queue::Turn;
use crate::guard::{Needs, SizeError, check_lock};
use crate::history::Author;
use crate::ledger::Plan as Entering;
use crate::policy::{self, PathArgument, Plan, Rules};
use crate::settings::{MEBIBYTE, SandboxPolicy};
use crate::zone::{Zone, ZonePath};
use crate::{Error, Settings};

/// Open files of one process of a command.
const OPEN_FILES: u64 = 256;

/// Processes and threads of the account that the server runs under, commands included: more than
/// any command needs, less than harms the machine.
const PROCESSES: u64 = 2048;

/// How often the space of a zone is measured while a command writes in it.
const MEASURE_EVERY: Duration = Duration::from_millis(400);

/// What a glob may expand to.
const GLOB_MATCHES: usize = 5000;

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
    /// Paths may begin with the zone's own name.
    pub allow_zone_in_path: bool,
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
}

/// A file of the zone that gets a stream, checked before the command runs.
pub(super) struct StreamFile {
    parameter: &'static str,
    path: ZonePath,
    pub(super) staged: Staged,
}

/// Runs a command in a zone. What it changed becomes a commit where the zone has history.
pub fn run(zone: &Zone<'_>, line: &CommandLine<'_>) -> Result<Ran, Error> {
    let plan = judge(zone, line, None).map_err(|error| zone.explain(error))?;
    let plan = expand(zone.data(), respell(zone.data(), plan));
    check_paths(zone, &plan)?;
    let mut stdout_file = stream_file(zone, "stdout_file", line.stdout_file)?;
    let mut stderr_file = stream_file(zone, "stderr_file", line.stderr_file)?;
    if let (Some(stdout), Some(stderr)) = (&stdout_file, &stderr_file)
        && stdout.path == stderr.path
    {
        return Err(ExecError::SameFile {
            path: stdout.path.as_str().to_owned(),
        }
        .into());
    }
    let run = Run::new(zone, line, &plan, zone.data())?;
    let sinks = (
        sink(stdout_file.as_mut(), false, run.read_limit())?,
        sink(stderr_file.as_mut(), line.merge_streams, run.read_limit())?,
    );
    let mut invocation = run.invocation(sinks);
    let mut turn = None;
    if git::shares_repository(zone, &plan) {
        turn = Some(zone.turn()?);
    }
    if plan.command == git::COMMAND {
        let surroundings = git::prepare(zone, &plan.args)?;
        invocation.environment = surroundings.environment;
        invocation.repository = surroundings.repository;
    }
    let effect = || match &plan.archive {
        _ if plan.command == which::COMMAND => Ok(which::run(zone, &plan)),
        Some(archive) => tar::run(&run, archive, invocation),
        None => run.start(invocation),
    };
    let outcome = if plan.changes {
        changing(zone, line, turn, effect)?
    } else {
        drop(turn);
        effect()?
    };
    let ran = run.finish(&outcome)?;
    for file in [&stdout_file, &stderr_file].into_iter().flatten() {
        file.expect_whole(zone, ran.status)?;
    }
    Ok(Ran {
        stdout_size: stdout_file.map(|file| file.install(zone)).transpose()?,
        stderr_size: stderr_file.map(|file| file.install(zone)).transpose()?,
        ..ran
    })
}

/// Runs a command on the working copy of the locked edit of `file`: `directory` holds nothing but
/// this copy.
pub(crate) fn run_on_copy(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    directory: &Root,
    file: &ZonePath,
) -> Result<Ran, Error> {
    let plan = judge(zone, line, Some(file.as_str())).map_err(|error| zone.explain(error))?;
    let run = Run::new(zone, line, &plan, directory)?;
    let limit = run.read_limit();
    let sinks = (
        sink(None, false, limit)?,
        sink(None, line.merge_streams, limit)?,
    );
    let outcome = run.start(Invocation {
        directory,
        ..run.invocation(sinks)
    })?;
    run.finish(&outcome)
}

fn judge(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    file_being_edited: Option<&str>,
) -> Result<Plan, Error> {
    let rules = Rules {
        zone: zone.name(),
        network: zone.shed.settings().network_mode,
        confined: zone.shed.confinement().enforced().is_ok(),
        allow_zone_in_path: line.allow_zone_in_path,
        stdout_file: line.stdout_file.is_some(),
        file_being_edited,
    };
    let plan = policy::plan(line.command, line.arguments, &rules)?;
    if plan.changes {
        zone.expect_write_scope()?;
    }
    Ok(plan)
}

/// Names that are not NFC stand for a file of either spelling, as in every operation: NFC where
/// that is there. What a command makes keeps the spelling that it was given.
fn respell(data: &Root, mut plan: Plan) -> Plan {
    for argument in plan.paths.iter().filter(|path| !path.glob) {
        let Some(word) = argument.position.and_then(|at| plan.args.get_mut(at)) else {
            continue;
        };
        let composed: String = word.nfc().collect();
        if composed != *word
            && ZonePath::parse("args", &composed).is_ok_and(|path| data.entry(&path).is_ok())
        {
            *word = composed;
        }
    }
    plan
}

/// Replaces arguments with `*` and `?` by the names that they stand for. What stands for nothing
/// stays as it is, as in a shell.
fn expand(data: &Root, mut plan: Plan) -> Plan {
    let mut globs: Vec<PathArgument> = plan.paths.clone();
    globs.retain(|path| path.glob && path.position.is_some());
    globs.sort_by_key(|path| std::cmp::Reverse(path.position));
    for glob in globs {
        let matches = glob::matches(data, &glob.text, GLOB_MATCHES);
        let (Some(position), false) = (glob.position, matches.is_empty()) else {
            continue;
        };
        let names = matches.iter().map(|name| match name.strip_prefix('-') {
            Some(_) => format!("./{name}"),
            None => name.clone(),
        });
        plan.args.splice(position..=position, names);
        if let Some(archive) = &mut plan.archive
            && archive.position > position
        {
            archive.position += matches.len() - 1;
        }
        plan.paths.retain(|path| path != &glob);
        plan.paths
            .extend(matches.into_iter().map(|text| PathArgument {
                text,
                glob: false,
                position: None,
                ..glob.clone()
            }));
    }
    plan
}

/// Refuses links that lead out, and files that a locked edit holds.
fn check_paths(zone: &Zone<'_>, plan: &Plan) -> Result<(), Error> {
    for argument in &plan.paths {
        let Ok(path) = ZonePath::parse("args", &argument.text) else {
            continue;
        };
        if let Err(error @ DiskError::Escape { .. }) = zone.data().followed(&path) {
            return Err(zone.explain_disk(error));
        }
        if argument.writes && !path.is_root() {
            check_lock(zone, &path)?;
        }
    }
    Ok(())
}

fn stream_file(
    zone: &Zone<'_>,
    parameter: &'static str,
    path: Option<&str>,
) -> Result<Option<StreamFile>, Error> {
    path.map(|path| StreamFile::new(zone, parameter, path))
        .transpose()
}

impl StreamFile {
    pub(super) fn new(zone: &Zone<'_>, parameter: &'static str, path: &str) -> Result<Self, Error> {
        zone.expect_writable()?;
        let path = zone.path_to_change(parameter, path)?;
        zone.target(parameter, &path)?;
        check_lock(zone, &path)?;
        Ok(Self {
            parameter,
            path,
            staged: zone.shed.staging(&zone.home)?.create()?,
        })
    }

    /// Fails where the stream was cut at the size that a file may have.
    fn expect_whole(&self, zone: &Zone<'_>, status: i32) -> Result<(), Error> {
        const SIGXFSZ: i32 = rustix::process::Signal::XFSZ.as_raw();
        let limit = zone.shed.settings().max_file_size_mb * MEBIBYTE;
        if status == -SIGXFSZ && self.staged.size()? >= limit {
            return Err(SizeError {
                path: self.path.clone(),
                size: limit + 1,
                limit,
            }
            .into());
        }
        Ok(())
    }

    /// Gives the file its name, as any other write.
    pub(super) fn install(self, zone: &Zone<'_>) -> Result<u64, Error> {
        let size = self.staged.size()?;
        let writer = zone.writer("shed_exec")?;
        let target: Target = zone.target(self.parameter, &self.path)?;
        let text = format!("Write {} (shed_exec)", self.path);
        writer
            .guard(Needs::write(&target, size))?
            .install(self.staged, target)?
            .commit(None, &text)?;
        Ok(size)
    }
}

fn sink(file: Option<&mut StreamFile>, merge: bool, limit: usize) -> Result<Sink, Error> {
    if merge {
        return Ok(Sink::Output);
    }
    match file {
        None => Ok(Sink::Answer(limit)),
        Some(file) => file_sink(&mut file.staged),
    }
}

/// A stream into a staged file.
pub(super) fn file_sink(staged: &mut Staged) -> Result<Sink, Error> {
    let file: Result<File, DiskError> = staged
        .file()
        .try_clone()
        .map_err(|error| DiskError::of("open", &ZonePath::root(), error));
    Ok(Sink::File(file?))
}

/// Runs something that may change anything in the zone, and takes what it changed into history
/// and into the ledger, also when it was stopped. With a `turn`, nobody else writes meanwhile.
fn changing(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    turn: Option<Turn<'_>>,
    effect: impl FnOnce() -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let author = zone.author();
    let entering = Entering {
        home: &zone.home.key,
        zone: zone.name().as_str(),
        instance: zone.shed.instance(),
        operation: "shed_exec",
        author_name: &author.name,
        author_email: &author.email,
        bytes: 0,
        files: 0,
        limit: zone.home.limit,
    };
    let intent = zone.shed.ledger().begin(&entering)?;
    let outcome = effect();
    let taken_in = match turn {
        Some(turn) => take_in(zone, line, &author, &turn),
        None => zone
            .turn()
            .and_then(|turn| take_in(zone, line, &author, &turn)),
    };
    zone.shed.flusher().changed();
    match taken_in {
        Ok(()) => zone.shed.ledger().settle(intent)?,
        Err(error) => {
            zone.shed.ledger().abandon(intent)?;
            return Err(error);
        }
    }
    let outcome = outcome?;
    zone.shed.expect_within_quota(&zone.home)?;
    Ok(outcome)
}

/// Commits what a command changed, where the zone has history, and enters its space.
fn take_in(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    author: &Author,
    _turn: &Turn<'_>,
) -> Result<(), Error> {
    if zone.name().is_versioned() {
        let now = zone.shed.clock().now();
        let captured = zone.history()?.capture(&describe(line), author, now)?;
        let ledger = zone.shed.ledger();
        ledger.measured(&zone.home.key, zone.name().as_str(), captured.totals)?;
    } else {
        zone.measure()?;
    }
    Ok(())
}

/// The command line as a commit message: one line, of a readable length.
fn describe(line: &CommandLine<'_>) -> String {
    const CHARACTERS: usize = 72;
    let line = std::iter::once(line.command)
        .chain(line.arguments.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ")
        .replace(char::is_control, " ");
    match line.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
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
    /// The repository beside the zone, for git.
    pub(super) repository: Option<std::path::PathBuf>,
}

/// Everything about one call but the zone's files.
pub(super) struct Run<'a> {
    settings: &'a Settings,
    pub(super) plan: &'a Plan,
    pub(super) zone: &'a Zone<'a>,
    private: PrivateDirectory,
    mask: Mask,
    timeout: u64,
    limit: usize,
}

impl<'a> Run<'a> {
    fn new(
        zone: &'a Zone<'a>,
        line: &CommandLine<'_>,
        plan: &'a Plan,
        directory: &Root,
    ) -> Result<Self, Error> {
        let settings = zone.shed.settings();
        let private = zone.shed.staging(&zone.home)?.private_directory()?;
        let place = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let mask = Mask::new(vec![
            (place(directory.location()), "/"),
            (place(zone.data().location()), "/"),
            (place(zone.base.location()), "/"),
            (place(private.location()), "/tmp"),
        ]);
        let most = settings.max_output_absolute;
        let limit = match line.max_output {
            None => settings.max_output_default,
            Some(0) => most,
            Some(bytes) => u64::try_from(bytes).unwrap_or(0),
        };
        let timeout = line
            .timeout
            .map_or(settings.exec_timeout_default, |seconds| {
                u64::try_from(seconds).unwrap_or(1)
            });
        Ok(Self {
            settings,
            plan,
            zone,
            private,
            mask,
            timeout: timeout.clamp(1, settings.exec_timeout_max.max(1)),
            limit: limit.min(most) as usize,
        })
    }

    /// Bytes to read of each stream: enough to recognise what must not show.
    fn read_limit(&self) -> usize {
        self.limit + self.mask.slack()
    }

    /// The command of the plan, in the zone.
    fn invocation(&self, sinks: (Sink, Sink)) -> Invocation<'_> {
        Invocation {
            command: self.plan.command,
            arguments: self.plan.args.clone(),
            directory: self.zone.data(),
            writes: self.plan.changes,
            input: None,
            sinks,
            environment: Vec::new(),
            repository: None,
        }
    }

    /// Runs a program to its end.
    pub(super) fn start(&self, invocation: Invocation<'_>) -> Result<Outcome, Error> {
        let shed = self.zone.shed;
        if let (SandboxPolicy::Required, Err(missing)) =
            (self.settings.exec_sandbox, shed.confinement().enforced())
        {
            return Err(ExecError::NotConfined { missing }.into());
        }
        let not_installed = || ExecError::NotInstalled {
            command: invocation.command.to_owned(),
        };
        let program = shed
            .programs()
            .get(invocation.command)
            .ok_or_else(not_installed)?;
        let _slot = shed.slots().take(
            &self.zone.home.key,
            self.settings.exec_max_per_user,
            self.settings.exec_max_total,
        )?;
        let mut environment = environment::common(&self.private);
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        environment.extend(self.plan.environment.iter().map(own));
        environment.extend(invocation.environment);
        let way = Way::new(shed, self.plan.network)?;
        environment.extend(way.environment());
        let mut access = Access {
            execute: program.executables.clone(),
            read: program.readable.clone(),
            write: vec![self.private.location().to_owned()],
            network: way.network(),
        };
        let room = std::iter::once(invocation.directory.location().to_owned())
            .chain(invocation.repository);
        if invocation.writes {
            access.write.extend(room);
        } else {
            access.read.extend(room);
        }
        let order = Order {
            server: std::process::id(),
            program: program.file.clone(),
            name: program
                .called
                .clone()
                .unwrap_or_else(|| invocation.command.to_owned()),
            arguments: [program.prefix.clone(), invocation.arguments].concat(),
            environment,
            input: invocation.input.map(|staged| staged.location().to_owned()),
            limits: Limits {
                memory: self.settings.exec_memory_limit_mb * MEBIBYTE,
                cpu_seconds: self.settings.exec_cpu_limit_seconds,
                file_size: self.settings.max_file_size_mb * MEBIBYTE,
                open_files: OPEN_FILES,
                processes: PROCESSES,
            },
            access,
            starts_others: program.starts_others,
            probe: false,
            best_effort: self.settings.exec_sandbox == SandboxPolicy::BestEffort,
        };
        let mut outcome = child::run(
            &self.settings.helper,
            &order,
            invocation.directory,
            invocation.sinks,
            Duration::from_secs(self.timeout),
            self.must_stop(invocation.writes),
        )?;
        outcome.stderr.add_lines(&way.remarks());
        Ok(outcome)
    }

    /// Watches for the caller going away and, for a command that writes, for the quota. A
    /// measurement of a large zone takes time, so there is at least three times as much between
    /// two of them.
    fn must_stop(&self, writes: bool) -> impl FnMut() -> Option<Ending> {
        let cancellation = &self.zone.caller().cancellation;
        let mut next = Instant::now() + MEASURE_EVERY;
        move || {
            if cancellation.is_cancelled() {
                return Some(Ending::Cancelled);
            }
            let begun = Instant::now();
            if !writes || begun < next {
                return None;
            }
            let over = self.zone.is_over_quota();
            next = Instant::now() + MEASURE_EVERY.max(3 * begun.elapsed());
            over.then_some(Ending::OverQuota)
        }
    }

    fn finish(&self, outcome: &Outcome) -> Result<Ran, Error> {
        let (stdout, stdout_cut) = self.mask.show(&outcome.stdout, self.limit);
        let (stderr, stderr_cut) = self.mask.show(&outcome.stderr, self.limit);
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
            Ending::Cancelled => return Err(ExecError::Cancelled { command }.into()),
            // What was measured afterwards has refused an excess already.
            Ending::Exited | Ending::OverQuota => {}
        }
        if outcome.status == i32::from(jail::FAILED)
            && let Some(reason) = stderr.strip_prefix(jail::COMPLAINT)
        {
            return Err(ExecError::Helper {
                command,
                reason: reason.trim().to_owned(),
            }
            .into());
        }
        Ok(Ran {
            stdout,
            stderr,
            status: outcome.status,
            truncated: stdout_cut || stderr_cut,
            stdout_size: None,
            stderr_size: None,
        })
    }
}
