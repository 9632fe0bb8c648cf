//! Names and places in the notes of what is about to be done, which the next process undoes where this
//! one dies. A place is below the directory that holds staging and the zones.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Place, Staging};
use crate::handle::{open_at, path_of};
use crate::{DiskError, Root};
use fileshed_types::zone::ZonePath;

/// What the names of journals end with.
pub(super) const ENDING: &str = ".journal";

/// Returns `true` if a name in staging is that of a journal.
pub(super) fn is_journal(name: &str) -> bool {
    name.ends_with(ENDING)
}

/// Opens the directory that holds staging and the zones.
pub(super) fn home_of(staging: &Staging) -> Result<Root, DiskError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let home = open_at(&staging.directory, "..", flags).map_err(DiskError::server)?;
    let location = staging.location.parent().unwrap_or(&staging.location);
    Ok(Root::of(home, location.to_owned()))
}

/// Returns the path of a place, below the directory that holds staging.
pub(super) fn below_home(staging: &Staging, place: &Place) -> Result<String, DiskError> {
    let staging_is = path_of(&staging.directory).map_err(DiskError::server)?;
    let above = path_of(&place.parent).map_err(DiskError::server)?;
    let home = staging_is.parent().unwrap_or(Path::new("/"));
    let below = above.strip_prefix(home).ok().and_then(Path::to_str);
    below
        .map(|above| format!("{above}/{}", place.name))
        .ok_or_else(|| DiskError::Escape {
            path: place.path.clone(),
        })
}

/// Opens the directory of such a path, where no link is followed.
pub(super) fn opened(home: &Root, path: &str) -> Result<Place, Errno> {
    let (above, name) = path.rsplit_once('/').unwrap_or((".", path));
    let parent: OwnedFd = home.open_directory(above)?;
    Ok(Place::new(parent, name.to_owned(), ZonePath::root()))
}
