//! Names that no operation makes, where a command made them.
//!
//! Arguments with names that are kept for the server are refused before anything starts. But names
//! come out of archives, repositories and scripts, too: what a command left under one is taken away
//! again, and the answer names it. Where there is history, the names that git does not take are among
//! them, so that no file is there without being versioned. What some system cannot hold gets another
//! name ([`super::portable`]).

use crate::Error;
use crate::guard::OpenEndedPermit;
use crate::zone::{Zone, ZonePath, is_git_name, is_never_made, is_reserved};
use fileshed_storage::FileIdentity;

/// What has such names before a change of which nobody can say beforehand what it makes.
#[derive(Debug)]
pub(crate) struct NamesBefore<'a> {
    pub(super) zone: &'a Zone<'a>,
    pub(super) there: Vec<(String, FileIdentity)>,
}

impl<'a> NamesBefore<'a> {
    pub(crate) fn of(zone: &'a Zone<'a>) -> Result<Self, Error> {
        let there = find(zone)?;
        Ok(Self { zone, there })
    }

    /// Takes away what of `found` has come under kept names, also by a new path; gives the paths.
    pub(super) fn remove_kept(
        &self,
        permit: &OpenEndedPermit<'_>,
        found: &[(String, FileIdentity)],
    ) -> Result<Vec<String>, Error> {
        let versioned = self.zone.name().is_versioned();
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
            let was_there = self
                .there
                .iter()
                .any(|(path, there)| there == identity && is_kept(path));
            if !was_there {
                let entry = self.zone.data().entry(&ZonePath::found(path.clone()))?;
                permit.remove(&entry)?;
                removed.push(path.clone());
            }
            topmost.push(path);
        }
        Ok(removed)
    }
}

/// The name at the end of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a path leads to something inside the directory `above`.
pub(super) fn is_below(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

/// Everything in a zone under a name that no operation makes, parents before children.
pub(super) fn find(zone: &Zone<'_>) -> Result<Vec<(String, FileIdentity)>, Error> {
    let watched = zone.store.watched();
    let known = watched.noted_names(&zone.tenant.key, zone.name(), zone.data());
    let mut found = match known {
        Some(known) => known,
        None => survey(zone)?,
    };
    found.sort_unstable();
    Ok(found)
}

/// The same, found by a walk.
fn survey(zone: &Zone<'_>) -> Result<Vec<(String, FileIdentity)>, Error> {
    let mut found = Vec::new();
    zone.data().survey(&ZonePath::root(), |path, _, stat| {
        if let Ok(path) = std::str::from_utf8(path)
            && is_never_made(last(path))
        {
            found.push((path.to_owned(), FileIdentity::of(stat)));
        }
    })?;
    Ok(found)
}
