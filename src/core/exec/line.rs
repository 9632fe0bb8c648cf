//! A command line before it runs: judged, its names found, its locks met.

use unicode_normalization::UnicodeNormalization;

use super::{CommandLine, glob};
use crate::Error;
use crate::disk::{DiskError, Root};
use crate::guard::check_lock;
use crate::policy::{self, PathArgument, Plan, Rules};
use crate::zone::{Zone, ZonePath};

/// What a glob may expand to.
const GLOB_MATCHES: usize = 5000;

/// What runs in a zone: the judged line with its names as they are on disk.
pub(super) fn prepare(zone: &Zone<'_>, line: &CommandLine<'_>) -> Result<Plan, Error> {
    let plan = judge(zone, line, None)?;
    let plan = expand(zone.data(), respell(zone.data(), plan));
    check_paths(zone, &plan)?;
    Ok(plan)
}

/// Judges a line; with `file_being_edited`, on the working copy of that file.
pub(super) fn judge(
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
    let plan = policy::plan(line.command, line.arguments, &rules)
        .map_err(|error| zone.explain(error.into()))?;
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
