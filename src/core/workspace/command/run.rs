//! A command from its line to its outcome.

use super::download::Emptied;
use super::invocation::Run;
use super::{CommandLine, ExecError, Ran, git, leftovers, line, pdf, rename, sqlite, tar, which};
use crate::Error;
use crate::changes::{Finished, OpenEndedPermit, OpenEndedRequest};
use crate::process::{sink, stream_file};
use crate::zone::Zone;
use fileshed_history::subject;

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
        _ if let Some(path) = &plan.pdf => pdf::run(&run, path, invocation, permit),
        _ if plan.command == which::COMMAND => {
            Ok(which::run(zone, &plan).into_outcome(invocation.sinks)?)
        }
        _ if plan.command == rename::COMMAND => {
            Ok(rename::run(zone, &plan, permit)?.into_outcome(invocation.sinks)?)
        }
        Some(archive) => tar::run(&run, archive, invocation, permit),
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
    let (mut outcome, finished) = if plan.changes {
        let request = OpenEndedRequest {
            operation: "shed_exec",
            command: plan.command,
            growth: plan.growth,
            message: describe(command_line),
        };
        let permit = zone.open_ended(request, hold)?;
        run.permitted();
        if let Some(must_stop) = permit.must_stop() {
            run.limit(must_stop);
        }
        let outcome = leftovers::without(zone, &plan, &permit, || effect(Some(&permit)));
        let finished = permit.finish()?;
        (outcome?, finished)
    } else {
        drop(hold);
        (effect(None)?, Finished::default())
    };
    let shown = run.shown(&mut outcome);
    let installed = || {
        if let Some(refused) = finished.refused {
            return Err(refused);
        }
        for file in [&stdout_file, &stderr_file].into_iter().flatten() {
            file.expect_whole(zone, outcome.status)?;
        }
        run.expect_ended(&outcome, &shown)?;
        // What is there stays, rather than becoming an empty file.
        let stdout_file = stdout_file.filter(|_| !outcome.got_nothing());
        let stdout_size = stdout_file.map(|file| file.install(zone)).transpose()?;
        let stderr_size = stderr_file.map(|file| file.install(zone)).transpose()?;
        Ok((stdout_size, stderr_size))
    };
    match installed() {
        Ok((stdout_size, stderr_size)) => Ok(Ran {
            stdout_size,
            stderr_size,
            history: finished.history,
            ..run.ran(&outcome, shown)
        }),
        Err(error) => Err(shown.told(error, outcome.status)),
    }
}

/// The command line as a commit message.
fn describe(line: &CommandLine<'_>) -> String {
    let words = std::iter::once(line.command).chain(line.arguments.iter().map(String::as_str));
    subject(&words.collect::<Vec<_>>().join(" "))
}
