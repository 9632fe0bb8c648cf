//! Names that no operation makes, if a command or a shell made them.
//!
//! Arguments with names that are kept for the server are refused before anything starts. But names
//! come out of archives, repositories and scripts, too: entries under a kept name are removed, and
//! the answer says so. In a zone with history, the names that git does not take are among them, so
//! that no file is there without being versioned. A name that some system cannot hold is not lost: it
//! becomes the nearest one that every system can hold. Names that were there before stay, and so do
//! those that git keeps for itself inside a repository.

use std::collections::HashSet;

use super::outcome::{CommandOutcome, PutRight, RenamedEntry};
use fileshed_changes::open_ended::OpenEndedPermit;
use fileshed_rules::CommandPlan;
use fileshed_storage::FileIdentity;
use fileshed_types::Error;
use fileshed_types::zone::is_below;
use fileshed_zones::free_names::endless_names;
use fileshed_zones::zone::{
    Zone, ZonePath, fault_of_name, is_git_name, is_never_made, is_reserved, portable_name,
};

/// Commands that make no name, or only names that are judged before.
const HARMLESS: [&str; 5] = ["chmod", "rename", "rm", "rmdir", "shred"];

/// Commands that make no name but those of their arguments.
const LITERAL: [&str; 6] = ["mkdir", "sort", "tee", "touch", "truncate", "uniq"];

/// A path, and what has it.
type NamedFile = (String, FileIdentity);

/// The names that no operation makes, before a change that may make any.
#[derive(Debug)]
pub(crate) struct NamesBefore<'a> {
    pub(crate) zone: &'a Zone<'a>,
    there: Vec<NamedFile>,
}

/// Runs a command, and removes or renames what it left under names that no operation makes.
pub(super) fn put_right_after<'a>(
    zone: &'a Zone<'a>,
    plan: &CommandPlan,
    permit: &OpenEndedPermit<'_>,
    effect: impl FnOnce() -> Result<CommandOutcome, Error>,
) -> Result<CommandOutcome, Error> {
    let command = plan.command;
    let makes_names = !HARMLESS.contains(&command)
        && (!LITERAL.contains(&command) || plan.args.iter().any(|text| may_name(text)));
    if !makes_names {
        return effect();
    }
    let before = NamesBefore::of(zone)?;
    let outcome = effect();
    let put_right = before.put_right(permit, true)?;
    outcome.map(|outcome| CommandOutcome {
        put_right,
        ..outcome
    })
}

/// Returns `true` if an argument may hold a path of which some system cannot hold a name: as a whole,
/// behind the letter of an option, or behind `=`.
fn may_name(argument: &str) -> bool {
    let behind = argument.strip_prefix('-').and_then(|option| {
        let mut letters = option.chars();
        letters.next().map(|_| letters.as_str())
    });
    let value = argument.split_once('=').map(|(_, value)| value);
    let values = [Some(argument), behind, value];
    let mut names = values
        .into_iter()
        .flatten()
        .flat_map(|text| text.split('/'));
    names.any(|name| !matches!(name, "." | "..") && fault_of_name(name).is_some())
}

impl<'a> NamesBefore<'a> {
    /// Finds them.
    pub(crate) fn of(zone: &'a Zone<'a>) -> Result<Self, Error> {
        let there = find(zone)?;
        Ok(Self { zone, there })
    }

    /// Removes what has come under kept names by now, and, if the command is over, renames what some
    /// system cannot hold.
    pub(crate) fn put_right(
        &self,
        permit: &OpenEndedPermit<'_>,
        is_over: bool,
    ) -> Result<PutRight, Error> {
        let mut found = find(self.zone)?;
        let removed = self.remove_kept(permit, &found)?;
        let mut renamed = Vec::new();
        if is_over {
            let is_gone = |path: &str, gone: &str| path == gone || is_below(path, gone);
            found.retain(|(path, _)| !removed.iter().any(|gone| is_gone(path, gone)));
            renamed = self.rename_others(permit, found);
        }
        Ok(PutRight { removed, renamed })
    }

    /// Removes what of `found` has come under kept names, also by a new path; returns the paths.
    fn remove_kept(
        &self,
        permit: &OpenEndedPermit<'_>,
        found: &[NamedFile],
    ) -> Result<Vec<String>, Error> {
        let versioned = self.zone.name.is_versioned();
        let is_kept = |path: &str| {
            let name = last(path);
            // The server's own file beside the files of a zone with history.
            let is_own = versioned && path == ".git";
            is_reserved(name) || (versioned && !is_own && is_git_name(name))
        };
        let mut removed: Vec<String> = Vec::new();
        let mut topmost: Vec<&str> = Vec::new();
        for (path, identity) in found.iter().filter(|(path, _)| is_kept(path)) {
            if topmost.iter().any(|above| is_below(path, above)) {
                continue;
            }
            let mut there = self.there.iter();
            if !there.any(|(path, there)| there == identity && is_kept(path)) {
                let entry = self.zone.data.entry(&ZonePath::found(path.clone()))?;
                permit.remove(&entry)?;
                removed.push(path.clone());
            }
            topmost.push(path);
        }
        Ok(removed)
    }

    /// Gives other names to what of `found` has come under names that some system cannot hold.
    fn rename_others(
        &self,
        permit: &OpenEndedPermit<'_>,
        found: Vec<NamedFile>,
    ) -> Vec<RenamedEntry> {
        let there = || self.there.iter();
        let paths: HashSet<&str> = there().map(|(path, _)| path.as_str()).collect();
        let files: HashSet<_> = there().map(|(path, id)| (last(path), *id)).collect();
        let mut renamed: Vec<RenamedEntry> = Vec::new();
        for (path, identity) in found {
            let name = last(&path);
            let was_there = paths.contains(path.as_str()) || files.contains(&(name, identity));
            if !was_there
                && !is_of_git(&path)
                && let Some(fault) = fault_of_name(name)
            {
                let to = self.give_other_name(permit, &current(&path, &renamed));
                renamed.push(RenamedEntry {
                    from: path,
                    to,
                    fault,
                });
            }
        }
        renamed
    }

    /// Renames an entry; returns its new path, or `None` if it cannot be moved.
    fn give_other_name(&self, permit: &OpenEndedPermit<'_>, path: &ZonePath) -> Option<String> {
        let data = &self.zone.data;
        let entry = data.entry_as_named(path).ok()?;
        let above = path.parent().unwrap_or_else(ZonePath::root);
        let wanted = above.join(&portable_name(path.name()?));
        let mut names = endless_names(&wanted);
        let (free, vacancy) =
            names.find_map(|free| Some((free.clone(), data.vacancy(&free).ok()?)))?;
        let renamed = permit.rename(&entry, vacancy).inspect_err(|error| {
            tracing::warn!(%error, "a reserved name that a command created could not be removed");
        });
        renamed.ok().map(|()| free.as_str().to_owned())
    }
}

/// The path of an entry that lay at `path` before the directories above it got other names.
fn current(path: &str, renamed: &[RenamedEntry]) -> ZonePath {
    let moved = renamed.iter().rev().find_map(|above| {
        let to = above.to.as_ref().filter(|_| is_below(path, &above.from))?;
        Some(format!("{to}{}", &path[above.from.len()..]))
    });
    ZonePath::found(moved.unwrap_or_else(|| path.to_owned()))
}

/// Returns `true` inside a repository's own directory, where other names would damage it.
fn is_of_git(path: &str) -> bool {
    let mut names = path.split('/');
    names.next_back();
    names.any(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "git"))
}

/// The name at the end of a path.
fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Finds everything in a zone under a name that no operation makes, parents before children: by a
/// walk, unless the zone is watched.
fn find(zone: &Zone<'_>) -> Result<Vec<NamedFile>, Error> {
    let known = zone.store.watched.noted_names(&zone.roots());
    let is_known = known.is_some();
    let mut found = known.unwrap_or_default();
    if !is_known {
        zone.data.survey(&ZonePath::root(), |path, _, stat| {
            if let Ok(path) = std::str::from_utf8(path)
                && is_never_made(last(path))
            {
                found.push((path.to_owned(), FileIdentity::of(stat)));
            }
        })?;
    }
    found.sort_unstable();
    Ok(found)
}
