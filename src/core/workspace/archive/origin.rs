//! Which archive is meant, so that what is said about it leads back to it.

use zip::result::ZipError;

use super::error::{ArchiveError, Bomb, EntryFault};
use crate::Error;
use crate::zone::{ZoneName, ZonePath};
use fileshed_storage::DiskError;

/// Where an archive lies.
#[derive(Clone, Debug)]
pub(super) struct ArchiveOrigin {
    pub(super) zone: ZoneName,
    pub(super) path: ZonePath,
}

impl ArchiveOrigin {
    /// It is no archive.
    pub(super) fn foreign(&self) -> Error {
        let archive = self.path.clone();
        self.explain(ArchiveError::Foreign { archive })
    }

    /// It cannot be read.
    pub(super) fn damaged(&self, reason: String) -> Error {
        let archive = self.path.clone();
        self.explain(ArchiveError::Damaged { archive, reason })
    }

    /// It has too much of something.
    pub(super) fn bomb(&self, bomb: Bomb) -> Error {
        let archive = self.path.clone();
        self.explain(ArchiveError::Bomb { archive, bomb })
    }

    /// The entry of that name has a fault.
    pub(super) fn entry(&self, name: &str, fault: EntryFault) -> Error {
        self.explain(ArchiveError::entry(&self.path, name, fault))
    }

    /// Its bytes could not be read.
    pub(super) fn unread(&self, error: std::io::Error) -> Error {
        Error::from(DiskError::of("read", &self.path, error)).in_zone(self.zone.as_str())
    }

    /// What the reader of archives says about it.
    pub(super) fn failure(&self, error: ZipError) -> Error {
        match error {
            ZipError::Io(error) if error.raw_os_error().is_some() => self.unread(error),
            error => self.damaged(reason(&error)),
        }
    }

    fn explain(&self, error: ArchiveError) -> Error {
        Error::from(error).in_zone(self.zone.as_str())
    }
}

/// What the reader of archives says about one entry.
pub(super) fn damage(error: &ZipError) -> EntryFault {
    EntryFault::Damaged {
        reason: reason(error),
    }
}

fn reason(error: &ZipError) -> String {
    match error {
        ZipError::InvalidArchive(what) => what.clone().into_owned(),
        ZipError::UnsupportedArchive(what) => (*what).to_owned(),
        ZipError::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            "it ends too early".to_owned()
        }
        other => other.to_string(),
    }
}
