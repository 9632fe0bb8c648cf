//! What such a change did is taken into history and into the registry, or undone.

use std::collections::BTreeSet;

use super::{OpenEndedPermit, UNDONE};
use crate::guard::finished::{Finished, said_of};
use crate::guard::space::{Space, SpaceError};
use crate::watched::Known;
use crate::zone::{Zone, ZonePath};
use crate::{Error, ZoneName};
use fileshed_history::{Found, HeldLine, History, Position, Prepared};
use fileshed_registry::{Intent, PathTable};
use fileshed_storage::{Kind, Snapshot, Totals};

impl OpenEndedPermit<'_> {
    /// Commits what was changed, where the zone has history, and enters its space; or undoes it and
    /// says why. Nobody else writes meanwhile.
    pub(super) fn take_in(&self, space: &Space<'_>, intent: Intent) -> Result<Finished, Error> {
        let zone = self.zone;
        let (tenant, name) = (&zone.tenant.key, zone.name().as_str());
        let registry = zone.store.registry();
        // Only history lets one server take back what others write.
        let is_shared = zone.name().is_versioned() && zone.store.shares_data();
        let is_disturbed = is_shared && registry.is_undone(intent)?;
        let seen = match space.growing {
            Some(growing) => growing.look(&zone.data)?,
            None => None,
        };
        let watched = zone.store.running().watched();
        let known = if self.request.command == "git" {
            // It can change what history has without touching a file.
            watched.unsettle(tenant, name);
            None
        } else {
            watched.unsettled(tenant, name, &zone.data)
        };
        let changed = known.as_ref().and_then(|known| known.unsettled.clone());
        let entered = match known {
            Some(known) => self.take_in_known(space, &known, seen.as_ref()),
            None => Ok(None),
        };
        let entered = entered.and_then(|totals| match totals {
            Some(totals) => Ok((totals, Finished::default())),
            None => self.take_in_all(space, seen.as_ref()),
        });
        let (totals, mut finished) = entered.inspect_err(|_| watched.unsettle(tenant, name))?;
        forget_gone(zone, changed.as_ref())?;
        registry.commit_measured(intent, (tenant, name), totals)?;
        match space.growing {
            Some(growing) if finished.refused.is_none() => growing.settle(seen),
            Some(_) => {}
            None => {
                let beside = space.beside()?;
                let most = zone.tenant.limit.saturating_sub(beside.bytes);
                let running = zone.store.running();
                running.keep_all((tenant, name), &zone.data, most)?;
            }
        }
        let command = self.request.command;
        finished.refused = finished
            .refused
            .or_else(|| is_disturbed.then(|| SpaceError::WithAnother { command }.into()));
        Ok(finished)
    }

    /// The same at the cost of what was changed, where that is known. Gives the space of the zone;
    /// nothing where it must be looked at as a whole.
    fn take_in_known(
        &self,
        space: &Space<'_>,
        known: &Known,
        seen: Option<&Snapshot>,
    ) -> Result<Option<Totals>, Error> {
        let zone = self.zone;
        let mut totals = known.snapshot.totals();
        if zone.name() == ZoneName::Uploads {
            return Ok(None);
        }
        if zone.name().is_versioned() {
            // The pointer to the repository is no file of the user's.
            match known.snapshot.file_size(b".git") {
                Some(size) => {
                    totals.bytes -= size;
                    totals.files -= 1;
                }
                None => return Ok(None),
            }
        }
        if space.excess(larger(totals, seen), true).is_some() {
            return Ok(None);
        }
        if !zone.name().is_versioned() {
            return Ok(Some(totals));
        }
        let Some(unsettled) = &known.unsettled else {
            return Ok(None);
        };
        let paths = unsettled.iter().map(|path| {
            let path = std::str::from_utf8(path).ok()?;
            (path != ".git").then(|| ZonePath::found(path.to_owned()))
        });
        let Some(paths) = paths.collect::<Option<Vec<ZonePath>>>() else {
            return Ok(None);
        };
        if !paths.is_empty() {
            let (message, now) = (&self.request.message, zone.store.clock().now());
            let (nothing, author) = (Prepared::default(), &self.author);
            zone.history(|history| history.commit_paths(&paths, &nothing, message, author, now))?;
        }
        Ok(Some(totals))
    }

    /// The same for the whole zone. Gives its space, and how the change ended.
    fn take_in_all(
        &self,
        space: &Space<'_>,
        seen: Option<&Snapshot>,
    ) -> Result<(Totals, Finished), Error> {
        let (zone, author, start) = (self.zone, &self.author, self.start.as_ref());
        let refused = |refused| Finished {
            refused: Some(refused),
            history: None,
        };
        if zone.name().is_versioned() {
            let now = zone.store.clock().now();
            return zone.history_with(|repository| {
                let line = match start {
                    Some(start) => repository.hold_line(start)?,
                    None => HeldLine::default(),
                };
                let found = repository.find()?;
                let totals = larger(found.totals(), seen);
                if let Some((growing, error)) = space.excess(totals, true) {
                    if zone.store.shares_data() {
                        let place = (zone.tenant.key.as_str(), zone.name().as_str());
                        let registry = zone.store.registry();
                        registry.undo_others(zone.store.instance(), place)?;
                    }
                    growing.undo(|kept| put_back(zone, repository, found, start, kept))?;
                    let found = repository.find()?;
                    let captured = repository.capture_found(found, UNDONE, author, now)?;
                    return Ok((captured.totals, refused(error)));
                }
                let message = line.message.as_deref().unwrap_or(&self.request.message);
                let captured = repository.capture_found(found, message, author, now)?;
                let finished = Finished {
                    refused: None,
                    history: said_of(&line, captured.commit.is_some()),
                };
                Ok::<_, Error>((captured.totals, finished))
            });
        }
        let is_alone = zone.store.is_alone();
        let totals = zone.measure()?;
        match space.excess(larger(totals, seen), is_alone) {
            Some((growing, error)) => {
                if is_alone {
                    growing.undo(|kept| zone.data.take_back(kept, |_, _, _| false))?;
                }
                Ok((zone.measure()?, refused(error)))
            }
            None => Ok((totals, Finished::default())),
        }
    }
}

/// What a command took away is known no more: a file that comes to its path is another one. `changed`
/// are the paths at which something may have changed, where that is known.
fn forget_gone(zone: &Zone<'_>, changed: Option<&BTreeSet<Box<[u8]>>>) -> Result<(), Error> {
    let (tenant, name) = (&zone.tenant.key, zone.name().as_str());
    let registry = zone.store.registry();
    if zone.name() != ZoneName::Storage
        || !registry.has_rows(PathTable::FileMetadata, tenant, name)?
    {
        return Ok(());
    }
    let paths: Vec<String> = match changed {
        Some(changed) => {
            let texts = changed.iter().map(|path| String::from_utf8(path.to_vec()));
            texts.filter_map(Result::ok).collect()
        }
        None => registry.file_metadata_paths(tenant, name)?,
    };
    let is_gone = |path: &&str| {
        let found = zone
            .data
            .entry_as_named(&ZonePath::found((*path).to_owned()));
        found.is_err_and(|error| error.is_gone())
    };
    let gone: Vec<&str> = paths.iter().map(String::as_str).filter(is_gone).collect();
    if gone.is_empty() {
        return Ok(());
    }
    Ok(registry.lose_file_metadata(tenant, name, &gone)?)
}

/// Puts documents back to what their history has and what else was there before. What came by a
/// command that is not over goes, also where another one has taken it into history.
fn put_back(
    zone: &Zone<'_>,
    repository: &History,
    mut found: Found,
    start: Option<&Position>,
    kept: &Snapshot,
) -> Result<(), Error> {
    if let Some(start) = start {
        repository.return_to(start)?;
        found = repository.find()?;
    }
    // Another process may have taken in what is not known here.
    let is_alone = zone.store.is_alone();
    let may_be_others = |path: &[u8], kind| {
        !is_alone && (kind == Kind::Directory || fileshed_history::holds(path, kind))
    };
    let in_history = |path: &[u8], kind, known| {
        may_be_others(path, kind) || known && fileshed_history::holds(path, kind)
    };
    let gone = zone.data.take_back(kept, in_history)?;
    found.leave(kept, &gone);
    let staging = zone.store.staging(&zone.tenant)?;
    repository.restore(found, Some(kept), &staging)?;
    zone.data
        .take_back(kept, |path, kind, _| may_be_others(path, kind))?;
    Ok(())
}

/// What was there at the worse of two moments.
fn larger(totals: Totals, seen: Option<&Snapshot>) -> Totals {
    match seen.map(Snapshot::totals) {
        Some(seen) if seen.bytes > totals.bytes => seen,
        _ => totals,
    }
}
