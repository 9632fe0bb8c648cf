//! Removing, moving and copying in the tree: each is one change, whatever it takes along.

use crate::cross_zone::CrossZoneTransfer;
use crate::prepared_contents::PreparedContents;
use crate::{check_owner, webdav};
use fileshed_storage::{Entry, Target, Totals};
use fileshed_types::{Error, ZonePath};
use fileshed_zones::view::{Resolved, ViewError};
use fileshed_zones::zone::Zone;

/// The parameters that failures of moves and copies name.
const PARAMETERS: (&str, &str) = ("source", "destination");

/// Removes a file, or a directory with everything below it; gives what it was. `operation` is the
/// name for history and logs.
pub fn remove(from: &Resolved<'_>, operation: &'static str) -> Result<Entry, Error> {
    from.explained(|| {
        let zone = &from.zone;
        let writer = crate::remover(zone, operation)?;
        let entry = zone.entry_itself(&from.path)?;
        writer.delete(&entry, None)?;
        Ok(entry)
    })
}

/// Moves it to another place of the tree. What is there goes if `overwrite` says so; whenever the
/// server dies, the place holds the old or the new, whole.
pub fn move_to(
    from: &Resolved<'_>,
    to: &Resolved<'_>,
    overwrite: bool,
    operation: &'static str,
) -> Result<(), Error> {
    if from.at.root() != to.at.root() {
        let moved = transfer(from, to, overwrite, operation).relocate();
        return moved
            .map(drop)
            .map_err(|error| explain_either(from, to, error));
    }
    let (zone, old, new) = (&from.zone, &from.path, &to.path);
    from.explained(|| {
        let writer = crate::writer(zone, operation)?;
        let entry = zone.entry_itself(old)?;
        let change = match target(from, to, &entry, overwrite)? {
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
    from: &Resolved<'_>,
    to: &Resolved<'_>,
    overwrite: bool,
    operation: &'static str,
) -> Result<(), Error> {
    let (zone, old, new) = (&from.zone, &from.path, &to.path);
    if from.at.root() != to.at.root() {
        let copied = transfer(from, to, overwrite, operation).duplicate();
        copied.map_err(|error| explain_either(from, to, error))?;
        webdav::copy_dead_properties(&to.zone, (zone, old), new);
        return Ok(());
    }
    from.explained(|| {
        let writer = crate::writer(zone, operation)?;
        let entry = zone.entry(old)?;
        let target = target(from, to, &entry, overwrite)?;
        check_owner(zone, [target.path()])?;
        let replaced = match target.entry() {
            Some(taken) => zone.totals(taken)?,
            None => Totals::default(),
        };
        let bytes = zone.totals(&entry)?.bytes;
        zone.expect_space(bytes.saturating_sub(replaced.bytes))?;
        let skip = |inside: &ZonePath| is_kept_back(zone, inside);
        let (staged, prepared) = PreparedContents::default()
            .copy(writer.staging(), &zone.data, &entry, skip)
            .map_err(|error| zone.explain_disk(error))?;
        writer
            .with_prepared(prepared)
            .install(staged, target)?
            .commit(None, &format!("Copy {old} to {new}"))?;
        webdav::copy_dead_properties(zone, (zone, old), new);
        Ok(())
    })
}

/// Where something of the same zone goes. Neither it nor what holds it can be replaced by it.
fn target(
    from: &Resolved<'_>,
    to: &Resolved<'_>,
    entry: &Entry,
    overwrite: bool,
) -> Result<Target, Error> {
    let target = from.zone.destination(PARAMETERS.1, &to.path)?;
    let Some(taken) = target.entry() else {
        return Ok(target);
    };
    let holds = std::iter::successors(Some(entry.path().clone()), ZonePath::parent)
        .any(|above| above == *taken.path());
    if holds || !overwrite {
        let path = to.at.as_str().to_owned();
        return Err(ViewError::Exists(path).into());
    }
    Ok(target)
}

/// The way to another zone.
fn transfer<'t>(
    from: &'t Resolved<'_>,
    to: &'t Resolved<'_>,
    overwrite: bool,
    operation: &'static str,
) -> CrossZoneTransfer<'t> {
    CrossZoneTransfer {
        from: &from.zone,
        to: &to.zone,
        source: from.path.as_str(),
        destination: to.path.as_str(),
        parameters: PARAMETERS,
        overwrite,
        message: None,
        operation,
    }
}

/// Says in a failure in which of two zones it was met.
fn explain_either(from: &Resolved<'_>, to: &Resolved<'_>, error: Error) -> Error {
    let is_there = |place: &Resolved<'_>| place.zone.is_met(&error);
    if is_there(to) && !is_there(from) {
        to.explain(error)
    } else {
        from.explain(error)
    }
}

/// Returns `true` if a zone with a history does not take what has this path.
fn is_kept_back(zone: &Zone<'_>, inside: &ZonePath) -> bool {
    zone.name.is_versioned() && inside.has_git_segment()
}
