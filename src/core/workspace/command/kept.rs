//! Names that are kept for the server, where a command made them.
//!
//! Arguments with such names are refused before anything starts. But names come out of archives,
//! repositories and scripts, too: what a command left under one is taken away again, and the answer
//! names it. Where there is history, the names that git does not take are among them, so that no
//! file is there without being versioned.

use std::collections::HashSet;

use super::outcome::CommandOutcome;
use crate::Error;
use crate::guard::OpenEndedPermit;
use crate::zone::{Zone, ZonePath, is_git_name, is_reserved};
use fileshed_rules::CommandPlan;

/// Commands that make no name but those of their arguments.
const HARMLESS: [&str; 11] = [
    "chmod", "mkdir", "rename", "rm", "rmdir", "shred", "sort", "tee", "touch", "truncate", "uniq",
];

/// The device and the inode of a file.
type FileIdentity = (u64, u64);

/// Runs a command, and takes away what it left under kept names. What has such a name already came
/// another way, from an administrator or a former server, and stays, also where it is moved.
pub(super) fn without<'a>(
    zone: &'a Zone<'a>,
    plan: &CommandPlan,
    permit: &OpenEndedPermit<'_>,
    effect: impl FnOnce() -> Result<CommandOutcome, Error>,
) -> Result<CommandOutcome, Error> {
    if HARMLESS.contains(&plan.command) {
        return effect();
    }
    let before = KeptNames::before(zone)?;
    let outcome = effect();
    let removed = before.remove(permit)?;
    outcome.map(|outcome| CommandOutcome { removed, ..outcome })
}

/// What has kept names before a change of which nobody can say beforehand what it makes.
#[derive(Debug)]
pub(crate) struct KeptNames<'a> {
    zone: &'a Zone<'a>,
    there: HashSet<FileIdentity>,
}

impl<'a> KeptNames<'a> {
    pub(crate) fn before(zone: &'a Zone<'a>) -> Result<Self, Error> {
        let there = if zone.name().is_versioned() {
            let found = find(zone)?.into_iter();
            found.map(|(_, identity)| identity).collect()
        } else {
            HashSet::new()
        };
        Ok(Self { zone, there })
    }

    /// Takes away what has come by now; gives the paths.
    pub(crate) fn remove(&self, permit: &OpenEndedPermit<'_>) -> Result<Vec<String>, Error> {
        let mut removed = Vec::new();
        for (path, identity) in find(self.zone)? {
            if !self.there.contains(&identity) {
                let entry = self.zone.data().entry(&path)?;
                permit.remove(&entry)?;
                removed.push(path.as_str().to_owned());
            }
        }
        Ok(removed)
    }
}

/// The entries whose paths are kept, found by a walk.
fn survey(
    zone: &Zone<'_>,
    is_kept: impl Fn(&str) -> bool,
) -> Result<Vec<(String, FileIdentity)>, Error> {
    let mut found = Vec::new();
    zone.data().survey(&ZonePath::root(), |path, _, stat| {
        if let Ok(path) = std::str::from_utf8(path)
            && is_kept(path)
        {
            found.push((path.to_owned(), (stat.st_dev, stat.st_ino)));
        }
    })?;
    Ok(found)
}

/// The topmost entries with kept names.
fn find(zone: &Zone<'_>) -> Result<Vec<(ZonePath, FileIdentity)>, Error> {
    let versioned = zone.name().is_versioned();
    let is_kept = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        // The server's own file beside the files of a zone with history.
        let is_own = versioned && path == ".git";
        is_reserved(name) || (versioned && !is_own && is_git_name(name))
    };
    let watched = zone.store.running().watched();
    let known = watched.kept_names(&zone.tenant.key, zone.name().as_str(), zone.data());
    let mut found = match known {
        Some(mut known) => {
            known.retain(|(path, _)| is_kept(path));
            known
        }
        None => survey(zone, is_kept)?,
    };
    found.sort_unstable();
    let mut topmost: Vec<(ZonePath, FileIdentity)> = Vec::new();
    for (path, identity) in found {
        let is_below = topmost.iter().any(|(above, _)| {
            let rest = path.strip_prefix(above.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        });
        if !is_below {
            topmost.push((ZonePath::found(path), identity));
        }
    }
    Ok(topmost)
}
