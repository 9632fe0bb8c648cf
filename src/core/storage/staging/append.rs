//! Additions to the end of a large file, where it lies.
//!
//! To write a large file anew for a line at its end would take as long as the file is large. So its
//! length and what is added are written down first, and then it is added. Nothing of what was there
//! is touched: whoever finds the note of a process that is gone cuts the file back to its length.
//!
//! An inode with several names is never written to: the other names are of somebody's copies.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::note::{below_home, forget, parent_of, write_note};
use super::{Staging, report};
use crate::kind::kind_of;
use crate::{DiskError, Entry, Kind, Root};
use fileshed_types::zone::ZonePath;

/// A smaller file is written anew: that takes no longer, and readers see the old one or the new one.
const SMALLEST: u64 = 1024 * 1024;

/// More than this is added to a copy: the note holds it.
const LARGEST: usize = 64 * 1024;

const OPENED: OFlags = OFlags::RDWR
    .union(OFlags::APPEND)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// A file whose end may be written to.
#[derive(Debug)]
pub struct Appendable {
    file: File,
    addition: Addition,
}

/// What is about to be added, and where. A place is below the directory that holds staging.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Addition {
    file: String,
    inode: u64,
    length: u64,
    added: Vec<u8>,
}

/// Something that was added and is not final. Dropped without [`Appended::keep`], the file is as
/// long as before.
#[derive(Debug)]
pub struct Appended {
    appendable: Appendable,
    staging: Staging,
    name: String,
    kept: bool,
}

impl Staging {
    /// A file to whose end `added` may be written where it lies; nothing where it has to be copied:
    /// a small one, one with several names or that may not be written to, and where something is
    /// still to be undone. The caller has the write lock of the zone.
    pub fn appendable(
        &self,
        entry: &Entry,
        added: &[u8],
        living: impl FnOnce() -> Result<Vec<String>, DiskError>,
    ) -> Result<Option<Appendable>, DiskError> {
        if entry.size() < SMALLEST || added.len() > LARGEST || !self.journals(living)?.is_empty() {
            return Ok(None);
        }
        let place = entry.place();
        let Ok(file) = rustix::fs::openat(&place.parent, &*place.name, OPENED, Mode::empty())
        else {
            return Ok(None);
        };
        let stat = rustix::fs::fstat(&file)
            .map_err(|error| DiskError::of("look at", entry.path(), error))?;
        if kind_of(&stat) != Kind::File || stat.st_nlink != 1 {
            return Ok(None);
        }
        Ok(Some(Appendable {
            file: File::from(file),
            addition: Addition {
                file: below_home(self, place)?,
                inode: stat.st_ino,
                length: stat.st_size as u64,
                added: added.to_vec(),
            },
        }))
    }

    /// Writes to the end of a file. What was added is on disk before it counts.
    pub fn append(&self, appendable: Appendable, path: &ZonePath) -> Result<Appended, DiskError> {
        let text = serde_json::to_vec(&appendable.addition).map_err(DiskError::server)?;
        let mut appended = Appended {
            name: write_note(self, &text)?,
            staging: self.try_clone()?,
            appendable,
            kept: false,
        };
        let Appendable { file, addition } = &mut appended.appendable;
        file.write_all(&addition.added)
            .and_then(|()| file.sync_data())
            .map_err(|error| DiskError::of("write", path, error))?;
        Ok(appended)
    }
}

impl Appended {
    /// Makes the addition final.
    pub fn keep(mut self) -> Result<(), DiskError> {
        self.kept = true;
        forget(&self.staging, &self.name)
    }
}

impl Drop for Appended {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // What cannot be undone now is undone when this process is gone.
        let Appendable { file, addition } = &self.appendable;
        report(
            &addition
                .cut(file)
                .and_then(|()| forget(&self.staging, &self.name)),
        );
    }
}

impl Addition {
    /// The one that a note says, if it says one.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// Cuts the file of a process that is gone back to its length.
    pub(super) fn undo(&self, home: &Root) -> Result<(), DiskError> {
        let opened = parent_of(home, &self.file)
            .and_then(|(parent, name)| rustix::fs::openat(&parent, name, OPENED, Mode::empty()));
        let file = match opened {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(error) => return Err(DiskError::server(error)),
        };
        let stat = rustix::fs::fstat(&file).map_err(DiskError::server)?;
        // Another file has its name.
        if kind_of(&stat) != Kind::File || stat.st_ino != self.inode {
            return Ok(());
        }
        self.cut(&File::from(file))
    }

    /// Takes away what was added, as far as it was. What somebody else added stays.
    fn cut(&self, file: &File) -> Result<(), DiskError> {
        let size = file.metadata().map_err(DiskError::server)?.len();
        let there = size.saturating_sub(self.length) as usize;
        let Some(expected) = self.added.get(..there).filter(|added| !added.is_empty()) else {
            return Ok(());
        };
        let mut found = vec![0; there];
        file.read_exact_at(&mut found, self.length)
            .map_err(DiskError::server)?;
        // After a power cut, what has been written may be zeroes.
        let is_own = |(found, expected): (&u8, &u8)| found == expected || *found == 0;
        if found.iter().zip(expected).all(is_own) {
            file.set_len(self.length)
                .and_then(|()| file.sync_data())
                .map_err(DiskError::server)?;
        }
        Ok(())
    }
}
