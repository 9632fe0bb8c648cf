//! A command from its line to its outcome, in a zone or on the working copy of a locked edit.

use super::invocation::{Invocation, Run, SQLITE};
use super::outcome::CommandOutcome;
use super::{
    CommandLine, ExecError, Ran, built_in, git, line, names, pipeline, targets, unsearched,
};
use crate::databases::{self, Statement};
use crate::misnamed::misnamed_note;
use crate::process::{StreamFile, sink};
use crate::runs::Runs;
use fileshed_changes::bin::keeps_removed;
use fileshed_changes::lockedit::LockedEdit;
use fileshed_changes::open_ended::{self, Finished, OpenEndedPermit, OpenEndedRequest};
use fileshed_history::subject;
use fileshed_rules::{CommandPlan, Growth};
use fileshed_sandbox::removals::COMMAND;
use fileshed_storage::{Kind, Staged};
use fileshed_types::{Error, Hint};
use fileshed_zones::zone::{Zone, ZonePath};

/// Runs a command in a zone. Its changes become a commit if the zone has history.
pub fn run(runs: &Runs, zone: &Zone<'_>, command_line: &CommandLine<'_>) -> Result<Ran, Error> {
    let plan = line::prepare(runs, zone, command_line)?;
    let stream_file = |parameter, path: Option<&str>| {
        path.map(|path| StreamFile::new(zone, "shed_exec", parameter, path))
            .transpose()
    };
    let mut stdout_file = stream_file("stdout_file", command_line.stdout_file)?;
    let mut stderr_file = stream_file("stderr_file", command_line.stderr_file)?;
    if let (Some(stdout), Some(stderr)) = (&stdout_file, &stderr_file)
        && stdout.path == stderr.path
    {
        let path = stdout.path.as_str().to_owned();
        return Err(ExecError::SameFile { path }.into());
    }
    let mut run = Run::new(runs, zone, command_line, &plan, &zone.data)?;
    let (limit, merge) = (run.read_limit(), command_line.merge_streams);
    let sinks = (
        sink(stdout_file.as_mut(), false, limit)?,
        sink(stderr_file.as_mut(), merge, limit)?,
    );
    let mut invocation = run.invocation(sinks);
    let hold = git::shares_repository(zone, &plan).then(|| fileshed_changes::hold(zone));
    let hold = hold.transpose()?;
    if plan.command == git::COMMAND {
        (invocation.environment, invocation.repository) =
            git::prepare(zone, &plan.args, &run.places)?;
    }
    let permit = if plan.changes {
        let request = OpenEndedRequest {
            operation: "shed_exec",
            command: plan.command,
            growth: plan.growth,
            message: describe(command_line),
        };
        let mut permit = open_ended::begin(zone, request, hold)?;
        match database(zone, &plan).filter(|_| plan.command == SQLITE) {
            Some(database) => permit.expect_database(database)?,
            None => permit.expect(targets::of(zone, &plan)),
        }
        run.holds_zone = zone.name.is_versioned();
        run.is_over = permit
            .must_stop()
            .map(|must_stop| Box::new(must_stop) as Box<_>);
        Some(permit)
    } else {
        drop(hold);
        None
    };
    let outcome = match &permit {
        Some(permit) => names::put_right_after(zone, &plan, permit, || {
            effect(&run, invocation, Some(permit))
        }),
        None => effect(&run, invocation, None),
    };
    let finished = permit.map(OpenEndedPermit::finish).transpose()?;
    let finished = finished.unwrap_or_default();
    let outcome = outcome?;
    let lost = lost_note(&finished);
    let expect_whole = || {
        let mut files = [&stdout_file, &stderr_file].into_iter().flatten();
        files.try_for_each(|file| file.expect_whole(zone, outcome.status))
    };
    let refused = finished.refused.or_else(|| expect_whole().err());
    let ran = run.finish(outcome, refused, |outcome| {
        // Keep an existing file instead of replacing it with an empty one.
        let stdout_file = stdout_file.filter(|_| !outcome.got_nothing());
        let install = |file: StreamFile| file.install(zone);
        let stdout_size = stdout_file.map(install).transpose()?;
        Ok([stdout_size, stderr_file.map(install).transpose()?])
    })?;
    let is_commit = matches!(command_line.arguments, [word, ..] if word == "commit");
    let mut nothing_is_left = ["nothing to commit", "nothing added to commit"].iter();
    let committed = git::shares_repository(zone, &plan)
        && is_commit
        && nothing_is_left.any(|text| ran.stdout.contains(text));
    let committed = committed.then(|| "every change was committed by itself".to_owned());
    Ok(Ran {
        lost,
        history: finished.history.or(committed),
        unsearched: unsearched::note(zone, &plan),
        misnamed: misnamed(zone, &plan, command_line.stdout_file),
        ..ran
    })
}

/// A note on files whose former content is gone.
fn lost_note(finished: &Finished) -> Option<String> {
    let Some((first, more)) = finished.lost.split_first() else {
        let note = if finished.is_unlisted {
            "more files changed than one change lists: this change cannot be undone"
        } else if finished.is_uncertain {
            "other commands ran here at the same time: an undo leaves out what the arguments do not name"
        } else {
            return None;
        };
        return Some(note.to_owned());
    };
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "the earlier content of `{first}`{more} could not be kept: this change cannot be undone"
    ))
}

/// A note on a file that a command wrote under the name of a format that it is not.
fn misnamed(zone: &Zone<'_>, plan: &CommandPlan, stdout_file: Option<&str>) -> Option<Hint> {
    let written = plan.paths.iter().filter(|path| path.writes && !path.glob);
    let mut names = written.map(|path| &*path.text).chain(stdout_file);
    names.find_map(|name| {
        let path = ZonePath::parse("args", name).ok()?;
        misnamed_note(&zone.data.followed(&path).ok()?)
    })
}

/// Runs a command that sees the working copy of a locked edit and nothing else. The copy holds no
/// more than the quota either.
pub fn run_on_copy(
    runs: &Runs,
    edit: &LockedEdit<'_>,
    command_line: &CommandLine<'_>,
) -> Result<Ran, Error> {
    let (zone, directory) = (edit.zone, &edit.directory);
    let plan = line::judge(runs, zone, command_line, Some(edit.path().as_str()))?;
    if plan.changes && plan.growth == Growth::Likely {
        zone.expect_space(0)?;
    }
    let mut run = Run::new(runs, zone, command_line, &plan, directory)?;
    let (limit, merge) = (run.read_limit(), command_line.merge_streams);
    let sinks = (sink(None, false, limit)?, sink(None, merge, limit)?);
    let may_grow = plan.changes && plan.growth != Growth::Never;
    let permit =
        may_grow.then(|| open_ended::begin_edit(zone, plan.command, directory, &edit.copy));
    let permit = permit.transpose()?;
    run.is_over = permit
        .as_ref()
        .map(|permit| Box::new(permit.must_stop()) as Box<_>);
    let outcome = run.start(run.invocation(sinks));
    let refused = match permit {
        Some(permit) => permit.finish()?,
        None => None,
    };
    run.finish(outcome?, refused, |_| Ok([None; 2]))
}

/// Carries out the plan of a run.
fn effect(
    run: &Run<'_>,
    invocation: Invocation<'_>,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<CommandOutcome, Error> {
    let (zone, plan) = (run.zone, run.plan);
    if let Some(path) = &plan.pdf {
        return pipeline::print(run, path, invocation, permit);
    }
    if let Some(archive) = &plan.archive {
        return pipeline::archive(run, archive, invocation, permit);
    }
    match (plan.command, permit) {
        ("which", _) => Ok(built_in::which(run.runs, plan).into_outcome(invocation.sinks)?),
        ("rename", _) => Ok(built_in::rename(zone, plan, permit)?.into_outcome(invocation.sinks)?),
        (COMMAND, _) if keeps_removed(zone) => rm(run, invocation),
        (SQLITE, _) => sqlite(run, invocation),
        ("wget", Some(permit)) if plan.network => download(run, invocation, permit),
        _ => run.start(invocation),
    }
}

/// Runs `rm` where there is a bin. Only what does not go there is left to the program.
fn rm(run: &Run<'_>, mut invocation: Invocation<'_>) -> Result<CommandOutcome, Error> {
    let (said, left) = built_in::rm(run.zone, run.plan)?;
    let Some(left) = left else {
        return Ok(said.into_outcome(invocation.sinks)?);
    };
    invocation.arguments = left;
    let mut outcome = run.start(invocation)?;
    for (stream, said) in [
        (&mut outcome.stdout, said.stdout),
        (&mut outcome.stderr, said.stderr),
    ] {
        let lines: Vec<String> = said.lines().map(str::to_owned).collect();
        stream.add_lines(&lines);
    }
    Ok(outcome)
}

/// The command line as a commit message.
fn describe(line: &CommandLine<'_>) -> String {
    let words = std::iter::once(line.command).chain(line.arguments.iter().map(String::as_str));
    subject(&words.collect::<Vec<_>>().join(" "))
}

/// Runs `sqlite3`, which plays the journal beside a database into it as every program of SQLite does: so it
/// meets the same rule as a statement of `shed_sqlite`. A change that a limit stopped in the middle is
/// rolled back.
fn sqlite(run: &Run<'_>, invocation: Invocation<'_>) -> Result<CommandOutcome, Error> {
    let zone = run.zone;
    let Some(database) = database(zone, run.plan) else {
        return run.start(invocation);
    };
    if !invocation.writes {
        databases::expect_alone(zone, &database)?;
        return run.start(invocation);
    }
    let statement = Statement::begin(zone, &database)?;
    let outcome = run.start(invocation);
    statement.end(run.runs)?;
    outcome
}

/// The database of a command line, as it is spelled on disk.
fn database(zone: &Zone<'_>, plan: &CommandPlan) -> Option<ZonePath> {
    let argument = plan.paths.first()?;
    let word = argument.position.and_then(|at| plan.args.get(at));
    let path = ZonePath::parse("args", word.map_or(&*argument.text, String::as_str)).ok()?;
    Some(match zone.data.followed(&path) {
        Ok(entry) => entry.path().clone(),
        Err(_) => path.as_spelled().unwrap_or(path),
    })
}

/// Runs `wget`, which opens the file that it will write before it asks for anything. A file that is
/// empty after a refusal of the proxy holds nothing that was fetched: it is removed, or gets back what
/// it held.
fn download(
    run: &Run<'_>,
    invocation: Invocation<'_>,
    permit: &OpenEndedPermit<'_>,
) -> Result<CommandOutcome, Error> {
    let (zone, data) = (run.zone, &run.zone.data);
    let mut files: Vec<(ZonePath, Option<Staged>)> = Vec::new();
    for argument in run.plan.paths.iter().filter(|path| path.writes) {
        let Ok(path) = ZonePath::parse("args", &argument.text) else {
            continue;
        };
        match data.entry(&path) {
            Ok(entry) if entry.kind() == Kind::File && entry.size() > 0 => {
                let staging = zone.store.staging(&zone.tenant)?;
                files.push((path, Some(staging.copy(entry.open()?)?)));
            }
            Err(error) if error.is_gone() => files.push((path, None)),
            _ => {}
        }
    }
    let outcome = run.start(invocation)?;
    if outcome.got_nothing() {
        for (path, content) in files {
            match (data.entry(&path), content) {
                (Ok(entry), _) if entry.kind() != Kind::File || entry.size() > 0 => {}
                (Ok(_), Some(content)) => permit.install(content, data.target(&path)?)?,
                (Ok(entry), None) => permit.remove(&entry)?,
                (Err(_), _) => {}
            }
        }
    }
    Ok(outcome)
}
