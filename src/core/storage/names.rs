//! The names in one directory, without a look at what they are: for walks over everything, where
//! a call of the kernel for each file would cost more than the work.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, OFlags, RawDir, ResolveFlags};

use super::directory::Directory;
use super::handle::resolve;
use super::kind::kind_of;
use super::{DiskError, Found, Kind, Root};
use fileshed_types::zone::ZonePath;

/// Bytes of names that the kernel gives at once.
const BUFFER: usize = 16 * 1024;

/// An entry of a directory, as the directory itself says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its name.
    pub text: String,
    /// What it is.
    pub kind: Kind,
}

impl Root {
    /// Opens the directory at `path`, where no segment may be a link, and reads its names,
    /// unordered. Those that are not UTF-8 are left out: no path can say them.
    pub fn read_names(&self, path: &ZonePath) -> Result<(Directory, Vec<Name>), DiskError> {
        let opened = self.open_directory(path.display());
        let handle = opened.map_err(|error| DiskError::of("open", path, error))?;
        let names = names_of(&handle).map_err(|error| DiskError::of("list", path, error))?;
        Ok((Directory::of(handle, path.clone()), names))
    }

    /// Opens the regular file at `path` for reading, where no segment may be a link.
    pub fn open_as_named(&self, path: &ZonePath) -> Result<File, DiskError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = resolve(
            self.handle(),
            path.display(),
            flags,
            ResolveFlags::NO_SYMLINKS,
        );
        let handle = opened.map_err(|error| DiskError::of("open", path, error))?;
        let stat =
            rustix::fs::fstat(&handle).map_err(|error| DiskError::of("look at", path, error))?;
        match kind_of(&stat) {
            Kind::File => Ok(File::from(handle)),
            other => Err(DiskError::NotAFile {
                path: path.clone(),
                found: other.describe(),
            }),
        }
    }
}

impl Directory {
    /// Everything that the kernel says about the entry of that name, which is not followed.
    pub fn look_at(&self, name: &str) -> Result<Found, DiskError> {
        let path = self.path().join(name);
        rustix::fs::statat(self.handle(), name, AtFlags::SYMLINK_NOFOLLOW)
            .map(|stat| Found::new(path.clone(), stat))
            .map_err(|error| DiskError::of("look at", &path, error))
    }
}

/// Reads a directory that was opened for that and not read before.
pub(super) fn names_of(handle: &OwnedFd) -> rustix::io::Result<Vec<Name>> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut entries = RawDir::new(handle, &mut buffer);
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let Ok(text) = entry.file_name().to_str() else {
            continue;
        };
        if matches!(text, "." | "..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Symlink,
            FileType::Unknown => {
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                match rustix::fs::statat(handle, entry.file_name(), flags) {
                    Ok(stat) => kind_of(&stat),
                    // Gone since it was named.
                    Err(_) => continue,
                }
            }
            _ => Kind::Special,
        };
        names.push(Name {
            text: text.to_owned(),
            kind,
        });
    }
    Ok(names)
}
