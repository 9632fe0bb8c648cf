//! Changes of a command in a group, with the owner of each name before and after.
//!
//! A record is kept by the name of its file, whatever its spelling: `é` as one character or as
//! two is one name. So a second spelling of a name that was there is a change of the file that
//! has the name, and of what lies below it.

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::owner::{GroupOwners, Owner};
use fileshed_history::{ChangeKind, FileChange, MovedFile, ZoneComparison};
use fileshed_registry::{OwnershipEffect, Record};
use fileshed_types::Error;
use fileshed_zones::zone::ZonePath;

/// The changes of a command, and who made them.
pub(crate) struct Claims<'a> {
    owners: GroupOwners<'a>,
    user: &'a str,
    found: &'a ZoneComparison,
    changes: Vec<FileChange>,
    /// Names that the last commit has.
    before: OnceCell<HashSet<String>>,
    /// Names that are on disk.
    after: OnceCell<HashSet<String>>,
}

impl<'a> Claims<'a> {
    pub(crate) fn of(owners: GroupOwners<'a>, user: &'a str, found: &'a ZoneComparison) -> Self {
        Self {
            owners,
            user,
            changes: found.changes(),
            found,
            before: OnceCell::new(),
            after: OnceCell::new(),
        }
    }

    /// Returns `true` if a file had this name before, in any spelling.
    fn was_there(&self, name: &str) -> bool {
        let names = || self.found.committed().map(|path| path.key()).collect();
        self.before.get_or_init(names).contains(name)
    }

    /// Returns `true` if a file has this name now, in any spelling.
    fn is_there(&self, name: &str) -> bool {
        let names = || self.found.on_disk().map(|path| path.key()).collect();
        self.after.get_or_init(names).contains(name)
    }

    /// The records of what the user may not change and what is changed.
    pub(crate) fn denied(&self) -> Result<Vec<Record>, Error> {
        let GroupOwners {
            registry, group, ..
        } = self.owners;
        let mut denied: Vec<Record> = Vec::new();
        let mut above: HashSet<String> = HashSet::new();
        for change in &self.changes {
            let at = ZonePath::found(change.path.key());
            let mut concerned = match self.owners.of_database(&at)? {
                Owner::Of(record) => vec![record],
                Owner::Everybody => Vec::new(),
                Owner::Itself if change.kind == ChangeKind::Added => {
                    self.of_the_same_name(&at, &mut above)?
                }
                Owner::Itself => registry.record(group, at.as_str())?.into_iter().collect(),
            };
            concerned.retain(|record| !record.lets(self.user));
            denied.append(&mut concerned);
            if change.kind == ChangeKind::Added {
                let beside = self.owners.kept_beside(&at, self.user)?;
                denied.extend(beside);
            }
        }
        Ok(denied)
    }

    /// The records of files that had the name of a new one, that lay below it, or that have the
    /// name of a directory above it. `above` are directories that were looked at already.
    fn of_the_same_name(
        &self,
        at: &ZonePath,
        above: &mut HashSet<String>,
    ) -> Result<Vec<Record>, Error> {
        let (registry, group) = (self.owners.registry, self.owners.group);
        let mut records = registry.records_around(group, at.as_str())?;
        for directory in std::iter::successors(at.parent(), ZonePath::parent) {
            if !above.insert(directory.as_str().to_owned()) {
                break;
            }
            records.extend(registry.record(group, directory.as_str())?);
        }
        // The record of a file that is gone protects nothing.
        records.retain(|record| self.was_there(&record.path));
        Ok(records)
    }

    /// Returns the effect on ownership: a moved file takes its record along, an overwritten one keeps
    /// its own, one that comes back has that of `former`, and a new one belongs to the user.
    pub(crate) fn effect(&self, relocated: &[MovedFile], former: Vec<Record>) -> OwnershipEffect {
        let (mut added, mut written, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        let mut respelled: HashSet<String> = HashSet::new();
        for change in &self.changes {
            let name = change.path.key();
            match change.kind {
                ChangeKind::Added if self.was_there(&name) => {
                    respelled.insert(name.clone());
                    written.push(name);
                }
                ChangeKind::Added => added.push(name),
                ChangeKind::Modified | ChangeKind::ModeChanged => written.push(name),
                ChangeKind::Deleted if self.is_there(&name) => {}
                ChangeKind::Deleted => removed.push(name),
            }
        }
        let mut moved: Vec<(String, String)> = relocated
            .iter()
            .map(|moved| (moved.from.key(), moved.to.key()))
            .collect();
        moved.retain(|(from, to)| from != to && !respelled.contains(to));
        let carried: HashSet<&str> = moved.iter().map(|(_, to)| to.as_str()).collect();
        for list in [&mut added, &mut written] {
            list.retain(|name| !carried.contains(name.as_str()));
        }
        OwnershipEffect::Found {
            added,
            written,
            removed,
            moved,
            former,
        }
    }
}
