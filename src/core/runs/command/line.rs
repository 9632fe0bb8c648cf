//! A command line before it runs: judged, its names found, its locks met.

use unicode_normalization::UnicodeNormalization;

use super::command_line::seconds;
use super::glob::Expansion;
use super::{CommandLine, ExecError};
use crate::process::ProcessError;
use crate::runs::Runs;
use fileshed_changes::check_lock;
use fileshed_rules::{CommandContext, CommandPlan, PathArgument};
use fileshed_storage::{DiskError, Root};
use fileshed_types::{Error, Repeat, Scope, ZoneName, timings};
use fileshed_zones::zone::{Zone, ZonePath, has_one_spelling};

/// Returns the plan of a command line after its check, with its names as they are on disk.
pub(super) fn prepare(
    runs: &Runs,
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
) -> Result<CommandPlan, Error> {
    let plan = judge(runs, zone, line, None)?;
    let plan = expand(zone, line, respell(&zone.data, plan))?;
    check_paths(zone, &plan)?;
    Ok(plan)
}

/// Judges a line; with `file_being_edited`, on the working copy of that file.
pub(super) fn judge(
    runs: &Runs,
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    file_being_edited: Option<&str>,
) -> Result<CommandPlan, Error> {
    if file_being_edited.is_none()
        && let Some(name) = runs.programs.chosen_as(line.command)
    {
        let changes = zone.name.is_writable() && zone.caller.scope == Scope::Write;
        return Ok(CommandPlan::unjudged(name, line.arguments, changes));
    }
    let named_alike = ZonePath::root().join(zone.name.as_str());
    let has_named_alike = zone.data.entry(&named_alike).is_ok();
    let plan = plan(runs, zone, line, |context| CommandContext {
        allow_zone_in_path: context.allow_zone_in_path || has_named_alike,
        file_being_edited,
        ..context
    })?;
    if plan.changes {
        zone.expect_write_scope()?;
    }
    Ok(plan)
}

/// Judges a line that names no file of its zone, so that it may run in one that is only read.
pub(super) fn judge_apart(
    runs: &Runs,
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
) -> Result<CommandPlan, Error> {
    plan(runs, zone, line, |context| CommandContext {
        zone: ZoneName::Storage,
        ..context
    })
}

fn plan<'a>(
    runs: &Runs,
    zone: &'a Zone<'_>,
    line: &CommandLine<'_>,
    adapt: impl FnOnce(CommandContext<'a>) -> CommandContext<'a>,
) -> Result<CommandPlan, Error> {
    let context = adapt(CommandContext {
        zone: zone.name,
        group: zone.group().map(|group| {
            if group.name.contains('/') {
                group.id.as_str()
            } else {
                group.name.as_str()
            }
        }),
        network: zone.store.settings.network_mode,
        confined: runs.confinement().enforced().is_ok(),
        allow_zone_in_path: zone.caller.names_zones,
        stdout_file: line.stdout_file.is_some(),
        file_being_edited: None,
    });
    let plan = fileshed_rules::plan(line.command, line.arguments, &context);
    plan.map_err(|error| {
        let error = zone.explain(error.into());
        match namesake(runs, line.command) {
            Some(name) => error.with_hint(Repeat::with("cmd", name)),
            None if INSTALLERS.contains(&line.command)
                && runs.programs.chosen_as(PYTHON).is_some() =>
            {
                error.with_hint(
                    "nothing can be installed here: python3 has only its installed modules",
                )
            }
            None => error,
        }
    })
}

/// An interpreter that an administrator may have added.
const PYTHON: &str = "python3";

/// Commands that install packages of an interpreter.
const INSTALLERS: [&str; 6] = ["pip", "pip3", "conda", "pipx", "uv", "poetry"];

/// The name under which a program may run that is asked for by another one.
fn namesake(runs: &Runs, command: &str) -> Option<&'static str> {
    let name = match command {
        "python" | "python2" | "py" => PYTHON,
        "pip" => "pip3",
        "nodejs" => "node",
        _ => return None,
    };
    runs.programs.chosen_as(name)
}

/// Replaces names of files by their spelling on disk: a name that does not exist as written is looked up in
/// NFC, and then in any other normal form. Names of new files keep the spelling that was given.
fn respell(data: &Root, mut plan: CommandPlan) -> CommandPlan {
    for argument in plan.paths.iter().filter(|path| !path.glob) {
        let Some(word) = argument.position.and_then(|at| plan.args.get_mut(at)) else {
            continue;
        };
        let composed: String = word.nfc().collect();
        if has_one_spelling(&composed) {
            continue;
        }
        let Ok(path) = ZonePath::parse("args", &composed) else {
            continue;
        };
        if data.entry_as_named(&path).is_ok() {
            *word = composed;
        } else if let Ok(there) = data.entry(&path)
            && there.path().key() == composed
        {
            there.path().as_str().clone_into(word);
        }
    }
    plan
}

/// Replaces arguments with `*` and `?` by the names that match. A pattern without a match stays as it is, as
/// in a shell.
fn expand(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    mut plan: CommandPlan,
) -> Result<CommandPlan, Error> {
    let seconds = seconds(&zone.store.settings, line.timeout);
    let clock = &zone.store.clock;
    let deadline = clock.instant() + timings::seconds(seconds);
    let cancellation = &zone.caller.cancellation;
    let command = plan.command;
    let check = || {
        if cancellation.is_cancelled() {
            let command = command.to_owned();
            return Err(ProcessError::Cancelled { command }.into());
        }
        if clock.is_past(deadline) {
            let error = Error::from(ExecError::TimedOut {
                command: command.to_owned(),
                seconds,
                most: zone.store.settings.exec_timeout_max,
            });
            return Err(error.with_detail("stdout", "").with_detail("stderr", ""));
        }
        Ok(())
    };
    let mut expansion = Expansion::new(&zone.data, check);
    let mut globs: Vec<PathArgument> = plan.paths.clone();
    globs.retain(|path| path.glob && path.position.is_some());
    globs.sort_by_key(|path| std::cmp::Reverse(path.position));
    for glob in globs {
        let matches = expansion.matches(&glob.text)?;
        let (Some(position), false) = (glob.position, matches.is_empty()) else {
            continue;
        };
        let names = matches.iter().map(|name| {
            // Options, lists of arguments and commands, to one program or another.
            let means_more = name.starts_with(['-', '\u{2212}', '@', '+']);
            if means_more {
                format!("./{name}")
            } else {
                name.clone()
            }
        });
        plan.args.splice(position..=position, names);
        if let Some(archive) = &mut plan.archive
            && archive.position > position
        {
            archive.position += matches.len() - 1;
        }
        if plan.destination.as_ref() == Some(&glob.text) {
            plan.destination = matches.last().cloned();
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
    Ok(plan)
}

/// Refuses paths that name another zone, links that lead out, and files that a locked edit holds.
fn check_paths(zone: &Zone<'_>, plan: &CommandPlan) -> Result<(), Error> {
    for argument in &plan.paths {
        let Ok(path) = ZonePath::parse("args", &argument.text) else {
            continue;
        };
        zone.refuse_zone_in_front("args", &path)
            .map_err(|error| zone.explain(error.into()))?;
        if let Err(error @ DiskError::Escape { .. }) = zone.data.followed(&path) {
            return Err(zone.explain_disk(error));
        }
        if argument.writes && !path.is_root() {
            check_lock(zone, &path)?;
        }
    }
    Ok(())
}
