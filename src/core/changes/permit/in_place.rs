//! A change that somebody else makes to files where they lie, as SQLite does to a database.
//!
//! It undoes itself by its own means, so there is nothing to put back. How much space it takes is
//! known when it is over.

use super::{Permit, show_change};
use crate::former::FormerFiles;
use fileshed_history::CommitId;
use fileshed_registry::OwnershipEffect;
use fileshed_storage::{DiskError, Kind, Stamp};
use fileshed_types::Error;
use fileshed_zones::zone::{Zone, ZonePath};

/// State and first bytes of each file, as far as it is there.
type States = Vec<Option<(Stamp, Vec<u8>)>>;

/// Files that may be changed. Dropped without [`InPlace::finish`], the zone is measured and
/// committed with the next call.
#[derive(Debug)]
#[must_use = "what changed must be entered"]
pub struct InPlace<'a> {
    permit: Permit<'a>,
    before: States,
    former: FormerFiles,
}

impl<'a> Permit<'a> {
    /// Lets the files that it was asked for be changed where they lie.
    pub fn in_place(self) -> Result<InPlace<'a>, Error> {
        let before = states(self.zone(), &self.request.paths)?;
        Ok(InPlace {
            before,
            former: FormerFiles::of_database(self.zone(), &self.change, &self.request.paths)?,
            permit: self,
        })
    }
}

fn states(zone: &Zone<'_>, paths: &[ZonePath]) -> Result<States, DiskError> {
    let state = |path| match zone.data.entry(path) {
        Ok(entry) if entry.kind() == Kind::File => entry.state_and_beginning().map(Some),
        Ok(_) | Err(DiskError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    paths.iter().map(state).collect()
}

impl InPlace<'_> {
    /// Records the changes: one commit of exactly the changed paths if the zone has history, then the
    /// registry. Returns `None` if nothing changed.
    pub fn finish(mut self, message: &str) -> Result<Option<CommitId>, Error> {
        let zone = self.permit.zone();
        let after = states(zone, &self.permit.request.paths)?;
        if after == self.before {
            if let Some(intent) = self.permit.intent.take() {
                zone.store.registry.commit(intent)?;
            }
            return Ok(None);
        }
        let paths = self.permit.request.paths.iter();
        let changed = paths
            .zip(self.before.iter().zip(&after))
            .filter(|(_, (before, after))| before != after)
            .map(|(path, _)| path.clone())
            .collect::<Vec<_>>();
        let commit = if zone.name.is_versioned() {
            let (author, change) = (&self.permit.author, &mut self.permit.change);
            zone.commit_paths(&changed, &[], message, author, change)?
        } else {
            None
        };
        // Of the files beside a database, most are there only while it changes.
        let there = self.permit.request.paths.iter().zip(&after);
        let there = there.filter(|(_, state)| state.is_some());
        let files = there.map(|(path, _)| path.as_str().to_owned()).collect();
        self.permit
            .record_intent(|| Ok(OwnershipEffect::Touch { files }))?;
        let (bytes, files) = totals(&after);
        let (bytes_before, files_before) = totals(&self.before);
        let (steps, lost) = std::mem::take(&mut self.former).enter(zone)?;
        for path in lost {
            zone.caller.bin_notes.not_kept(path.as_str());
        }
        if !steps.is_empty() {
            self.permit.change.set_steps(&steps);
        }
        if let Some(intent) = self.permit.intent.take() {
            let place = (zone.tenant.key.as_str(), zone.name.as_str());
            let registry = &zone.store.registry;
            let (bytes, files) = (bytes - bytes_before, files - files_before);
            let ended = intent.done(Some(&self.permit.change));
            if let Err(error) = registry.commit_grown(ended, place, bytes, files) {
                zone.store.leave_to_repair(&zone.tenant.key, intent);
                return Err(error.into());
            }
            show_change(zone, &self.permit.change);
        }
        zone.note_change(None);
        drop(self);
        zone.store.changed();
        Ok(commit)
    }
}

fn totals(states: &States) -> (i64, i64) {
    let there = states.iter().flatten();
    let sizes = there.clone().map(|(stamp, _)| stamp.size() as i64);
    (sizes.sum(), there.count() as i64)
}

impl Drop for InPlace<'_> {
    fn drop(&mut self) {
        let Some(intent) = self.permit.intent.take() else {
            return;
        };
        let zone = self.permit.zone();
        zone.store.leave_to_repair(&zone.tenant.key, intent);
    }
}
