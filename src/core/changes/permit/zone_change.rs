//! A change that happened, and the order in which it becomes final.

use super::Permit;
use fileshed_history::CommitId;
use fileshed_storage::{Appended, DiskError, Displaced, Installed, Journal, Removed, Renamed};
use fileshed_types::Error;

/// The effect on disk, which is kept or undone.
#[derive(Debug)]
pub(crate) enum DiskEffect {
    Installed(Installed),
    Appended(Appended),
    Removed(Removed),
    Renamed(Renamed),
    Several(Journal),
}

impl DiskEffect {
    /// Returns `true` if a journal has it until it is final: an instance that takes over undoes it.
    fn has_journal(&self) -> bool {
        matches!(self, Self::Appended(_) | Self::Several(_))
    }

    /// Others took over, and what they found is what there is. What moved within the zone, or came into it,
    /// stays where they saw it, and so does what is in the bin; what is in staging goes back, if they were
    /// not there before and removed it.
    fn leave_to_others(self) {
        match self {
            Self::Renamed(renamed) => renamed.keep(),
            Self::Installed(installed) if !installed.has_staged() => installed.keep(),
            _ => {}
        }
    }

    /// Makes the effect final; gives what of it can be removed later.
    fn keep(self) -> Result<Option<Displaced>, DiskError> {
        match self {
            Self::Installed(installed) => return Ok(installed.keep_displaced()),
            Self::Appended(appended) => appended.keep()?,
            Self::Removed(removed) => removed.keep()?,
            Self::Renamed(renamed) => renamed.keep(),
            Self::Several(journal) => journal.keep()?,
        }
        Ok(None)
    }
}

/// A change that happened on disk and is not final. Dropped, it undoes itself.
#[derive(Debug)]
#[must_use = "a change that is not committed is undone"]
pub struct ZoneChange<'a> {
    // Dropped in this order: first the files, then the space, the write locks last.
    pub(super) effect: DiskEffect,
    /// For the zone that something left.
    pub(crate) source: Option<Permit<'a>>,
    pub(super) permit: Permit<'a>,
}

impl ZoneChange<'_> {
    /// Makes the change final: one commit where a zone has history, then the registry.
    /// `message` is the caller's commit message; empty means `default`.
    pub fn commit(self, message: Option<&str>, default: &str) -> Result<Option<CommitId>, Error> {
        let Self {
            mut permit,
            mut source,
            effect,
        } = self;
        let entered = permit.enter_history(message, default).and_then(|commit| {
            let Some(source) = &mut source else {
                return Ok(commit);
            };
            Ok(source.enter_history(message, default)?.or(commit))
        });
        let commit = match entered {
            Err(error) if permit.expect_alive().is_err() => {
                effect.leave_to_others();
                return Err(error);
            }
            entered => entered?,
        };
        permit.note_not_kept();
        if permit.zone().store.registry.holds_leases() && !effect.has_journal() {
            // Before the change is final: it is not where others took over.
            for permit in source.iter_mut().chain([&mut permit]) {
                if let Err(error) = permit.settle() {
                    effect.leave_to_others();
                    permit.forget_usage();
                    return Err(error);
                }
            }
        }
        let displaced = effect.keep().unwrap_or_else(|error| {
            // The change stands; what it replaced is swept away with the next repair.
            tracing::warn!(%error, "removed files of a change are still staged");
            None
        });
        for permit in source.iter().chain([&permit]) {
            permit.move_metadata();
        }
        permit.note_move();
        for permit in source.iter_mut().chain([&mut permit]) {
            permit.give_back_lock();
        }
        let mut settled = Ok(());
        for permit in source.iter_mut().chain([&mut permit]) {
            settled = settled.and(permit.settle());
        }
        let ended = permit.end_edit();
        let zone = permit.zone();
        zone.store.reserve.keep();
        // While the answer waits for the disk, others change the zone and share the flush.
        drop((permit, source));
        // The replaced files go when nobody waits for it.
        drop(displaced);
        zone.store.changed();
        settled.and(ended)?;
        Ok(commit)
    }
}
