//! Removing, moving and copying in the tree: each is one change, whatever it takes along.

use crate::cross_zone::{CrossZoneError, CrossZoneTransfer};
use crate::webdav;
use fileshed_storage::Entry;
use fileshed_types::Error;
use fileshed_zones::view::{Resolved, ViewError};

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
    let moved = transfer(from, to, overwrite, operation).relocate();
    moved
        .map(drop)
        .map_err(|error| explain_either(from, to, error))
}

/// Copies it to another place of the tree, with everything below it. What is there goes if
/// `overwrite` says so.
pub fn copy_to(
    from: &Resolved<'_>,
    to: &Resolved<'_>,
    overwrite: bool,
    operation: &'static str,
) -> Result<(), Error> {
    let copied = transfer(from, to, overwrite, operation).duplicate();
    copied.map_err(|error| explain_either(from, to, error))?;
    webdav::copy_dead_properties(&to.zone, (&from.zone, &from.path), &to.path);
    Ok(())
}

/// The way to another place.
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
        replaces_other_kinds: true,
        message: None,
        operation,
    }
}

/// Says in a failure in which of two zones it was met.
fn explain_either(from: &Resolved<'_>, to: &Resolved<'_>, error: Error) -> Error {
    if let Some(CrossZoneError::Exists { .. } | CrossZoneError::Itself { .. }) = error.cause() {
        return ViewError::Exists(to.at.to_string()).into();
    }
    let is_there = |place: &Resolved<'_>| place.zone.is_met(&error);
    if is_there(to) && !is_there(from) {
        to.explain(error)
    } else {
        from.explain(error)
    }
}
