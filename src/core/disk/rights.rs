//! Permission bits of files that several people change.
//!
//! All files belong to the server's account, whoever wrote them; a member of a group who takes
//! rights away from a file takes them away from everybody.

use rustix::fs::{AtFlags, Mode, OFlags};
use std::os::fd::AsRawFd;

use super::staging::make_directories;
use super::{DiskError, Entry, Kind, Root, Vacancy};
use crate::zone::ZonePath;

/// What the server needs of a file, and of a directory.
const FILE: u32 = 0o600;
const DIRECTORY: u32 = 0o700;

/// Set-user-id and its like.
const SPECIAL: u32 = 0o7000;

impl Root {
    /// Gives the server back what it needs of every file and directory.
    pub(crate) fn grant_owner(&self) -> Result<(), DiskError> {
        let mut lacking = Vec::new();
        self.survey(&ZonePath::root(), |path, kind, stat| {
            let needed = match kind {
                Kind::File => FILE,
                Kind::Directory => DIRECTORY,
                Kind::Symlink | Kind::Special => return,
            };
            let lacks = stat.st_mode & needed != needed || stat.st_mode & SPECIAL != 0;
            if let (true, Ok(path)) = (lacks, std::str::from_utf8(path)) {
                let mode = (stat.st_mode & 0o777) | needed | 0o044;
                lacking.push((path.to_owned(), mode));
            }
        })?;
        for (path, mode) in lacking {
            match self.entry(&ZonePath::found(path)) {
                Ok(entry) => entry.set_mode(mode)?,
                Err(error) if error.is_gone() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Vacancy {
    /// Makes a symbolic link here that says `target`.
    pub(crate) fn make_link(self, target: &[u8]) -> Result<(), DiskError> {
        let (place, _made) = make_directories(self)?;
        rustix::fs::symlinkat(target, &place.parent, &*place.name)
            .map_err(|error| DiskError::of("create", &place.path, error))
    }
}

impl Entry {
    /// Sets the permission bits. A link that took its place meanwhile is not followed.
    pub(crate) fn set_mode(&self, mode: u32) -> Result<(), DiskError> {
        let fail = |error| DiskError::of("change", self.path(), error);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let place = self.place();
        let handle =
            rustix::fs::openat(&place.parent, &*place.name, flags, Mode::empty()).map_err(fail)?;
        let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
        rustix::fs::chmodat(
            rustix::fs::CWD,
            name,
            Mode::from_raw_mode(mode),
            AtFlags::empty(),
        )
        .map_err(fail)
    }
}
