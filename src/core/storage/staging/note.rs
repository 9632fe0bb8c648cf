//! Notes in staging of what is about to be done, which the next process undoes where this one dies.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{Place, Staging, report};
use crate::handle::clone_handle;
use crate::{DiskError, Root};

/// What the names of journals end with.
const ENDING: &str = ".journal";

/// Writes down what is about to be done; on disk when it is done. Gives the name.
pub(super) fn write_note(staging: &Staging, text: &[u8]) -> Result<String, DiskError> {
    let name = format!("{}{ENDING}", staging.fresh_name());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR;
    let file =
        rustix::fs::openat(&staging.directory, &*name, flags, mode).map_err(DiskError::server)?;
    let mut file = File::from(file);
    let written = file.write_all(text).and_then(|()| file.sync_all());
    if let Err(error) = written {
        report(&forget(staging, &name));
        return Err(DiskError::server(error));
    }
    Ok(name)
}

pub(super) fn forget(staging: &Staging, journal: &str) -> Result<(), DiskError> {
    match rustix::fs::unlinkat(&staging.directory, journal, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(DiskError::server(error)),
    }
}

/// Whether a name in staging is that of a journal.
pub(super) fn is_journal(name: &str) -> bool {
    name.ends_with(ENDING)
}

/// The name, below the directory that holds staging, where the steps of a journal may put something
/// aside.
pub(super) fn aside_of(staging: &Staging, journal: &str) -> Result<String, DiskError> {
    let name = format!("{journal}.aside");
    below_home(staging, &staging.place(name)?)
}

/// The directory that holds staging and the zones.
pub(super) fn home_of(staging: &Staging) -> Result<Root, DiskError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let home = rustix::fs::openat(&staging.directory, "..", flags, Mode::empty())
        .map_err(DiskError::server)?;
    let location = staging.location.parent().unwrap_or(&staging.location);
    Ok(Root::of(home, location.to_owned()))
}

/// Where a place is, below the directory that holds staging.
pub(super) fn below_home(staging: &Staging, place: &Place) -> Result<String, DiskError> {
    let name_of = |handle: &OwnedFd| {
        std::fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd()))
            .map_err(DiskError::server)
    };
    let staging_is = name_of(&staging.directory)?;
    let above = name_of(&place.parent)?;
    let home = staging_is.parent().unwrap_or(Path::new("/"));
    let below = above.strip_prefix(home).ok().and_then(Path::to_str);
    below
        .map(|above| format!("{above}/{}", place.name))
        .ok_or_else(|| DiskError::Escape {
            path: place.path.clone(),
        })
}

/// The open directory that holds a place, and the name in it. No link is followed.
pub(super) fn parent_of<'p>(home: &Root, place: &'p str) -> Result<(OwnedFd, &'p str), Errno> {
    let (above, name) = place.rsplit_once('/').unwrap_or((".", place));
    Ok((home.open_directory(above)?, name))
}

impl Staging {
    pub(super) fn try_clone(&self) -> Result<Self, DiskError> {
        Ok(Self {
            directory: clone_handle(&self.directory)?,
            location: self.location.clone(),
            owner: self.owner.clone(),
            removals: self.removals.clone(),
        })
    }
}
