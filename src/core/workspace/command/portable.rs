//! Names that some system of the people who share files cannot hold, where a command made them.
//!
//! No operation makes such a name, and what a command made is not lost: it gets the nearest name that
//! every system can hold, and the answer says so. What had such a name before keeps it, and so does
//! what git keeps for itself inside a repository.

use std::collections::HashSet;
use std::fmt;

use super::names_left::{NamesBefore, is_below, last};
use crate::free_names::endless_names;
use crate::guard::OpenEndedPermit;
use crate::zone::{ZonePath, fault_of_name, portable_name};
use fileshed_storage::FileIdentity;

/// How many of them an answer names.
const NAMED: usize = 10;

/// Something that a command made under a name that some system cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Renamed {
    /// Where the command made it.
    from: String,
    /// Where it is now; nothing where it could not be moved.
    to: Option<String>,
    /// What is wrong with the name.
    fault: &'static str,
}

impl fmt::Display for Renamed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.replace(char::is_control, "\u{fffd}");
        let fault = self.fault;
        match &self.to {
            Some(to) => write!(formatter, "`{from}` is now `{to}`: its name {fault}"),
            None => write!(
                formatter,
                "`{from}` must get another name: its name {fault}"
            ),
        }
    }
}

/// What is said of them.
pub(super) fn told(renamed: &[Renamed]) -> Option<String> {
    let shown: Vec<String> = renamed.iter().take(NAMED).map(Renamed::to_string).collect();
    let more = renamed.len().saturating_sub(NAMED);
    match (renamed.len(), more) {
        (0, _) => None,
        (_, 0) => Some(shown.join("; ")),
        _ => Some(format!(
            "{}; and {more} more names like these",
            shown.join("; ")
        )),
    }
}

impl NamesBefore<'_> {
    /// Gives other names to what of `found` has come under names that some system cannot hold.
    pub(super) fn rename_others(
        &self,
        permit: &OpenEndedPermit<'_>,
        found: Vec<(String, FileIdentity)>,
    ) -> Vec<Renamed> {
        let paths: HashSet<&str> = self.there.iter().map(|(path, _)| path.as_str()).collect();
        let files: HashSet<_> = self
            .there
            .iter()
            .map(|(path, id)| (last(path), *id))
            .collect();
        let mut renamed: Vec<Renamed> = Vec::new();
        for (path, identity) in found {
            let name = last(&path);
            let Some(fault) = fault_of_name(name) else {
                continue;
            };
            let was_there = paths.contains(path.as_str()) || files.contains(&(name, identity));
            if was_there || is_of_git(&path) {
                continue;
            }
            let now = current(&path, &renamed);
            let to = self.give_other_name(permit, &now);
            renamed.push(Renamed {
                from: path,
                to,
                fault,
            });
        }
        renamed
    }

    /// Where it is then; nothing where it cannot be moved.
    fn give_other_name(&self, permit: &OpenEndedPermit<'_>, path: &ZonePath) -> Option<String> {
        let data = self.zone.data();
        let entry = data.entry_as_named(path).ok()?;
        let above = path.parent().unwrap_or_else(ZonePath::root);
        let wanted = above.join(&portable_name(path.name()?));
        for free in endless_names(&wanted) {
            if let Ok(vacancy) = data.vacancy(&free) {
                match permit.rename(&entry, vacancy) {
                    Ok(()) => return Some(free.as_str().to_owned()),
                    Err(error) => {
                        tracing::warn!(%error, "a name that a command made stays");
                        return None;
                    }
                }
            }
        }
        None
    }
}

/// Where something is that lay at `path` before the directories above it got other names.
fn current(path: &str, renamed: &[Renamed]) -> ZonePath {
    let moved = renamed.iter().rev().find_map(|above| {
        let to = above.to.as_ref().filter(|_| is_below(path, &above.from))?;
        Some(format!("{to}{}", &path[above.from.len()..]))
    });
    ZonePath::found(moved.unwrap_or_else(|| path.to_owned()))
}

/// Whether it lies in a repository's own directory, where other names would damage it.
fn is_of_git(path: &str) -> bool {
    let mut names = path.split('/');
    names.next_back();
    names.any(|name| name.rsplit_once('.').is_some_and(|(_, end)| end == "git"))
}
