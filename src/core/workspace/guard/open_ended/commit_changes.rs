//! Commit of what such a change did, or the way back to the last commit.

use std::collections::BTreeSet;

use super::OpenEndedPermit;
use crate::guard::finished::{Finished, said_of};
use crate::guard::group_transaction::OUTSIDE;
use crate::watched::Unsettled;
use crate::zone::{Zone, ZonePath};
use crate::{Error, ZoneName};
use fileshed_history::{Author, HeldLine};
use fileshed_registry::{Intent, PathTable};
use fileshed_storage::Totals;

impl Zone<'_> {
    /// Commits what came by other ways, so that the last commit is what was there before a command.
    /// Returns `false` if lines of shells may be writing: what they did so far is left to them.
    pub(super) fn settle(&self) -> Result<bool, Error> {
        if self.has_lines()? {
            return Ok(false);
        }
        let (tenant, name) = (&self.tenant.key, self.name());
        let (watched, author) = (self.store.watched(), Author::server());
        let unsettled = watched.unsettled(tenant, name, &self.data);
        let paths = unsettled.and_then(|unsettled| unsettled.paths);
        let settled = if let Some(paths) = paths.as_ref().and_then(zone_paths) {
            self.commit_found(&paths, OUTSIDE, &author)
        } else {
            let now = self.store.clock().now();
            let captured = self.history(|history| history.capture(OUTSIDE, &author, now));
            captured.map(drop)
        };
        settled.inspect_err(|_| watched.unsettle(tenant, name))?;
        Ok(true)
    }

    /// Commits what is on disk at `paths`.
    fn commit_found(
        &self,
        paths: &[ZonePath],
        message: &str,
        author: &Author,
    ) -> Result<(), Error> {
        let now = self.store.clock().now();
        if !paths.is_empty() {
            self.history(|history| history.commit_paths(paths, &[], message, author, now))?;
        }
        Ok(())
    }
}

/// The same as paths of a zone; `None` if one is none, or is the pointer to the repository.
fn zone_paths(paths: &BTreeSet<Box<[u8]>>) -> Option<Vec<ZonePath>> {
    let paths = paths.iter().map(|path| {
        let path = std::str::from_utf8(path).ok()?;
        (path != ".git").then(|| ZonePath::found(path.to_owned()))
    });
    paths.collect()
}

impl OpenEndedPermit<'_> {
    /// Commits what was changed, if the zone has history, and enters its space; or puts it back and
    /// says why. Nobody else has the write lock.
    pub(super) fn commit_changes(&self, intent: Intent) -> Result<Finished, Error> {
        let zone = self.zone;
        let (tenant, name) = (&zone.tenant.key, zone.name());
        let watched = zone.store.watched();
        let known = if self.request.command == "git" {
            // It can change what history has without touching a file.
            watched.unsettle(tenant, name);
            None
        } else {
            watched.unsettled(tenant, name, &zone.data)
        };
        let entered = match &known {
            Some(known) => self.commit_known(known),
            None => Ok(None),
        };
        let entered = entered.and_then(|totals| match totals {
            Some(totals) => Ok((totals, Finished::default())),
            None => self.commit_all(),
        });
        let (totals, finished) = entered.inspect_err(|_| watched.unsettle(tenant, name))?;
        forget_gone(zone, known.and_then(|known| known.paths).as_ref())?;
        let registry = zone.store.registry();
        registry.commit_measured(intent, (tenant, name.as_str()), totals)?;
        Ok(finished)
    }

    /// The same at the cost of what was changed. Returns the space of the zone; `None` if the whole
    /// zone must be looked at.
    fn commit_known(&self, known: &Unsettled) -> Result<Option<Totals>, Error> {
        let (zone, extent) = (self.zone, known.extent);
        if zone.name() == ZoneName::Uploads || self.excess(extent.totals)?.is_some() {
            return Ok(None);
        }
        if zone.name().is_versioned() {
            let Some(paths) = known.paths.as_ref().and_then(zone_paths) else {
                return Ok(None);
            };
            zone.commit_found(&paths, &self.request.message, &self.author)?;
        }
        Ok(Some(extent.totals))
    }

    /// The same for the whole zone. Returns its space, and how the change ended.
    fn commit_all(&self) -> Result<(Totals, Finished), Error> {
        let zone = self.zone;
        if !zone.name().is_versioned() {
            let totals = zone.measure()?;
            let refused = self.excess(totals)?.map(Error::from);
            let history = None;
            return Ok((totals, Finished { refused, history }));
        }
        let now = zone.store.clock().now();
        zone.history_with(|history| {
            let line = match &self.start {
                Some(start) => history.hold_line(start)?,
                None => HeldLine::default(),
            };
            let mut found = history.find()?;
            let excess = self.excess(found.totals())?;
            if excess.is_some()
                && let Some(directories) = self.directories_if_alone()?
            {
                if let Some(start) = &self.start {
                    history.return_to(start)?;
                    found = history.find()?;
                }
                let staging = zone.store.staging(&zone.tenant)?;
                let totals = history.restore(found, Some(directories), &staging)?;
                let refused = excess.map(|excess| excess.undone().into());
                let history = None;
                return Ok((totals, Finished { refused, history }));
            }
            let message = line.message.as_deref().unwrap_or(&self.request.message);
            let captured = history.capture_found(found, message, &self.author, now)?;
            let finished = Finished {
                refused: excess.map(Error::from),
                history: said_of(&line, captured.commit.is_some()),
            };
            Ok::<_, Error>((captured.totals, finished))
        })
    }
}

/// Forgets what is known of files that a command removed: a file that comes to its path is another one.
/// `changed` are the paths at which something may have changed, if they are known.
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
