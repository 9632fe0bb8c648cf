//! Commit of what such a change did, or the way back to the last commit.

use std::collections::BTreeSet;

use super::{OUTSIDE, OpenEndedPermit};
use crate::judge::{EndedCommand, Finished, JudgedCommand, start_of};
use fileshed_history::{Author, PreparedContent};
use fileshed_registry::{Intent, OwnershipChange, OwnershipEffect, PathTable};
use fileshed_storage::{ChangedPaths, Kind, Totals};
use fileshed_types::{Error, ZoneName};
use fileshed_zones::watched::Unsettled;
use fileshed_zones::zone::{Zone, ZonePath};

/// Commits what came by other ways, so that the last commit is what was there before a command.
/// Returns `false` if lines of shells may be writing: what they did so far is left to them.
pub(super) fn settle(zone: &Zone<'_>) -> Result<bool, Error> {
    if super::has_lines(zone)? {
        return Ok(false);
    }
    let (watched, author) = (&zone.store.watched, Author::server());
    let unsettled = watched.unsettled(&zone.roots());
    let paths = unsettled.and_then(|unsettled| unsettled.paths);
    let settled = if let Some(paths) = paths.as_ref().and_then(zone_paths) {
        commit_found(zone, (&paths, &[]), OUTSIDE, &author).map(drop)
    } else {
        let now = zone.store.clock.now();
        let captured = zone.history(|history| history.capture(OUTSIDE, &author, now));
        captured.map(drop)
    };
    settled.inspect_err(|_| watched.unsettle(&zone.roots()))?;
    Ok(true)
}

/// Commits what lines of shells wrote to `paths`, during a change. Returns `true` if there was something.
pub(crate) fn commit_outside(zone: &Zone<'_>, paths: &[ZonePath]) -> Result<bool, Error> {
    // Without lines, and in a group, it was committed when the change began.
    if zone.group().is_some() || !super::has_lines(zone)? {
        return Ok(false);
    }
    let mut found: BTreeSet<ZonePath> = paths.iter().cloned().collect();
    for path in paths {
        for above in std::iter::successors(path.parent(), ZonePath::parent) {
            // A file where a directory was is a change, too.
            let entry = zone.data.existing_entry(&above)?;
            if entry.is_some_and(|entry| entry.kind() != Kind::Directory) {
                found.insert(above);
            }
        }
    }
    let found: Vec<ZonePath> = found.into_iter().collect();
    let commit = commit_found(zone, (&found, &[]), OUTSIDE, &Author::server())?;
    Ok(commit.is_some())
}

/// Commits what is on disk at `paths`. Files with the `contents` are not read.
fn commit_found(
    zone: &Zone<'_>,
    (paths, contents): (&[ZonePath], &[PreparedContent]),
    message: &str,
    author: &Author,
) -> Result<Option<String>, Error> {
    let now = zone.store.clock.now();
    if paths.is_empty() {
        return Ok(None);
    }
    let commit =
        zone.history(|history| history.commit_paths(paths, contents, message, author, now))?;
    Ok(commit.map(|commit| commit.to_string()))
}

/// The same as paths of a zone; `None` if one is none, or is the pointer to the repository.
fn zone_paths(paths: &ChangedPaths) -> Option<Vec<ZonePath>> {
    let paths = paths.keys().map(|path| {
        let path = std::str::from_utf8(path).ok()?;
        (path != ".git").then(|| ZonePath::found(path.to_owned()))
    });
    paths.collect()
}

impl OpenEndedPermit<'_> {
    /// Commits what was changed, if the zone has history, and enters its space; or puts it back and
    /// says why. Nobody else has the write lock. `found` is what changed in it, if that was asked for before.
    pub(super) fn commit_changes(
        &mut self,
        intent: Intent,
        found: Option<Unsettled>,
    ) -> Result<Finished, Error> {
        let zone = self.zone;
        let (tenant, name) = (&zone.tenant.key, zone.name);
        let watched = &zone.store.watched;
        let known = if zone.group.is_some() {
            // Its owners are known only from a look at all of it.
            None
        } else if self.request.command == "git" {
            // It can change what history has without touching a file.
            watched.unsettle(&zone.roots());
            None
        } else {
            found.or_else(|| watched.unsettled(&zone.roots()))
        };
        let entered = match &known {
            Some(known) => self.commit_known(known),
            None => Ok(None),
        };
        let entered = entered.and_then(|outcome| outcome.map_or_else(|| self.commit_all(), Ok));
        let outcome = entered.inspect_err(|_| watched.unsettle(&zone.roots()))?;
        forget_gone(zone, known.and_then(|known| known.paths).as_ref())?;
        let registry = &zone.store.registry;
        if let (Some(_), Some(begun)) = (&zone.group, &self.begun) {
            let nothing = OwnershipEffect::Touch { files: Vec::new() };
            let done = OwnershipChange {
                effect: outcome.effect.unwrap_or(nothing),
                ..begun.clone()
            };
            registry.record_intent(intent, &done)?;
        }
        let start = self.begun.as_ref();
        let start = start.and_then(|begun| start_of(&begun.effect));
        self.change.before = start.and_then(|start| start.commit);
        self.change.commit = outcome.commit;
        let ended = intent.done(Some(&self.change));
        registry.commit_measured(ended, (tenant, name.as_str()), outcome.totals)?;
        Ok(outcome.finished)
    }

    /// The same at the cost of what was changed. Returns `None` if the whole zone must be looked at.
    fn commit_known(&self, known: &Unsettled) -> Result<Option<JudgedCommand>, Error> {
        let (zone, extent) = (self.zone, known.extent);
        if zone.name == ZoneName::Uploads || self.excess(extent.totals)?.is_some() {
            return Ok(None);
        }
        let mut commit = None;
        if zone.name.is_versioned() {
            let changed = known.paths.as_ref().and_then(zone_paths);
            let Some(paths) = self.paths.clone().or(changed) else {
                return Ok(None);
            };
            if self.paths.is_some() && super::has_lines(zone)? {
                // Their changes are theirs to commit.
                zone.store.watched.unsettle(&zone.roots());
            }
            let found = (&*paths, &*self.contents);
            commit = commit_found(zone, found, &self.request.message, &self.author)?;
        }
        Ok(Some(JudgedCommand {
            commit,
            ..unjudged(extent.totals, None)
        }))
    }

    /// The same for the whole zone.
    fn commit_all(&self) -> Result<JudgedCommand, Error> {
        let zone = self.zone;
        if !zone.name.is_versioned() {
            let totals = zone.store.measure(&zone.tenant, zone.name)?;
            return Ok(unjudged(totals, self.excess(totals)?.map(Error::from)));
        }
        let group = zone.group();
        let ended = EndedCommand {
            store: zone.store,
            history: zone.roots(),
            staging: zone.store.staging(&zone.tenant)?,
            group: group.map(|group| (group.id.as_str(), group.name.as_str())),
            begun: self.begun.as_ref(),
            message: &self.request.message,
            author: &self.author,
        };
        ended.judge(zone.store.clock.now(), Some(self))
    }
}

/// The outcome of a command that leaves so much and that nothing puts back.
fn unjudged(totals: Totals, refused: Option<Error>) -> JudgedCommand {
    let history = None;
    JudgedCommand {
        totals,
        commit: None,
        effect: None,
        finished: Finished {
            refused,
            history,
            ..Finished::default()
        },
    }
}

/// Forgets what is known of files that a command removed: a file that comes to its path is another one.
/// `changed` are the paths at which something may have changed, if they are known.
fn forget_gone(zone: &Zone<'_>, changed: Option<&ChangedPaths>) -> Result<(), Error> {
    let (tenant, name) = (&zone.tenant.key, zone.name.as_str());
    let registry = &zone.store.registry;
    if zone.name != ZoneName::Storage
        || !registry.has_rows(PathTable::FileMetadata, tenant, name)?
    {
        return Ok(());
    }
    let paths: Vec<String> = match changed {
        Some(changed) => {
            let texts = changed.keys().map(|path| String::from_utf8(path.to_vec()));
            texts.filter_map(Result::ok).collect()
        }
        None => registry.file_metadata_paths(tenant, name)?,
    };
    let is_gone = |path: &&str| {
        let found = zone
            .data
            .existing_entry(&ZonePath::found((*path).to_owned()));
        matches!(found, Ok(None))
    };
    let gone: Vec<&str> = paths.iter().map(String::as_str).filter(is_gone).collect();
    if gone.is_empty() {
        return Ok(());
    }
    Ok(registry.lose_file_metadata(tenant, name, &gone)?)
}
