//! Removing, moving and copying in the tree: each is one change, whatever it takes along.

use super::{Resolved, ViewError};
use crate::changes::check_owner;
use crate::changes::prepared_contents::PreparedContents;
use crate::cross_zone::CrossZoneTransfer;
use crate::{Error, Zone, ZonePath};
use fileshed_storage::{Entry, Target, Totals};

/// The parameters that failures of moves and copies name.
const PARAMETERS: (&str, &str) = ("source", "destination");

impl Resolved<'_> {
    /// Removes a file, or a directory with everything below it; gives what it was. `operation` is the
    /// name for history and logs.
    pub fn remove(&self, operation: &'static str) -> Result<Entry, Error> {
        self.explained(|| {
            let zone = &self.zone;
            let writer = zone.remover(operation)?;
            let entry = zone.entry_itself(&self.path)?;
            writer.delete(&entry, None)?;
            Ok(entry)
        })
    }

    /// Moves it to another place of the tree. What is there goes if `overwrite` says so; whenever the
    /// server dies, the place holds the old or the new, whole.
    pub fn move_to(
        &self,
        to: &Resolved<'_>,
        overwrite: bool,
        operation: &'static str,
    ) -> Result<(), Error> {
        if self.at.root() != to.at.root() {
            let moved = self.transfer(to, overwrite, operation).relocate();
            return moved
                .map(drop)
                .map_err(|error| self.explain_either(to, error));
        }
        let (zone, old, new) = (&self.zone, &self.path, &to.path);
        self.explained(|| {
            let writer = zone.writer(operation)?;
            let entry = zone.entry_itself(old)?;
            let change = match self.target(to, &entry, overwrite)? {
                Target::Vacancy(vacancy) => writer.rename(&entry, vacancy)?,
                Target::Entry(taken) => writer.supplant(&entry, &taken)?,
            };
            change.commit(None, &format!("Rename {old} to {new}"))?;
            Ok(())
        })
    }

    /// Copies it to another place of the tree, with everything below it. What is there goes if
    /// `overwrite` says so.
    pub fn copy_to(
        &self,
        to: &Resolved<'_>,
        overwrite: bool,
        operation: &'static str,
    ) -> Result<(), Error> {
        let (zone, old, new) = (&self.zone, &self.path, &to.path);
        if self.at.root() != to.at.root() {
            let copied = self.transfer(to, overwrite, operation).duplicate();
            copied.map_err(|error| self.explain_either(to, error))?;
            to.zone.copy_dead_properties((zone, old), new);
            return Ok(());
        }
        self.explained(|| {
            let writer = zone.writer(operation)?;
            let entry = zone.entry(old)?;
            let target = self.target(to, &entry, overwrite)?;
            check_owner(zone, [target.path()])?;
            let replaced = match target.entry() {
                Some(taken) => zone.totals(taken)?,
                None => Totals::default(),
            };
            let bytes = zone.totals(&entry)?.bytes;
            zone.expect_space(bytes.saturating_sub(replaced.bytes))?;
            let skip = |inside: &ZonePath| is_kept_back(zone, inside);
            let (staged, prepared) = PreparedContents::default()
                .copy(writer.staging(), zone.data(), &entry, skip)
                .map_err(|error| zone.explain_disk(error))?;
            writer
                .with_prepared(prepared)
                .install(staged, target)?
                .commit(None, &format!("Copy {old} to {new}"))?;
            zone.copy_dead_properties((zone, old), new);
            Ok(())
        })
    }

    /// Where something of the same zone goes. Neither it nor what holds it can be replaced by it.
    fn target(&self, to: &Resolved<'_>, entry: &Entry, overwrite: bool) -> Result<Target, Error> {
        let target = self.zone.destination(PARAMETERS.1, &to.path)?;
        let Some(taken) = target.entry() else {
            return Ok(target);
        };
        let holds = std::iter::successors(Some(entry.path().clone()), ZonePath::parent)
            .any(|above| above == *taken.path());
        if holds || !overwrite {
            let path = to.at.as_str().to_owned();
            return Err(ViewError::Exists { path }.into());
        }
        Ok(target)
    }

    /// The way to another zone.
    fn transfer<'t>(
        &'t self,
        to: &'t Resolved<'_>,
        overwrite: bool,
        operation: &'static str,
    ) -> CrossZoneTransfer<'t> {
        CrossZoneTransfer {
            from: &self.zone,
            to: &to.zone,
            source: self.path.as_str(),
            destination: to.path.as_str(),
            parameters: PARAMETERS,
            overwrite,
            message: None,
            operation,
        }
    }

    /// Says in a failure in which of two zones it was met.
    fn explain_either(&self, to: &Resolved<'_>, error: Error) -> Error {
        let is_there = |place: &Resolved<'_>| place.zone.is_met(&error);
        if is_there(to) && !is_there(self) {
            to.explain(error)
        } else {
            self.explain(error)
        }
    }
}

/// Returns `true` if a zone with a history does not take what has this path.
fn is_kept_back(zone: &Zone<'_>, inside: &ZonePath) -> bool {
    zone.name().is_versioned() && inside.has_git_segment()
}
