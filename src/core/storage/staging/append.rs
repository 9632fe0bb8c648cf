//! Additions to the end of a large file, in place.
//!
//! Writing a large file anew for a line at its end would take as long as the file is large. So its
//! length and the addition are written down first, and then the addition is made. The existing content
//! is not touched: a process that finds the note of a dead one cuts the file back to its length.
//!
//! An inode with several names is never written to: the other names are of somebody's copies.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{Place, Staging};
use crate::handle::open_at;
use crate::kind::kind_of;
use crate::{DiskError, Entry, Kind, Root};

/// A smaller file is written anew: that takes no longer, and readers see the old one or the new one.
const SMALLEST: u64 = 1024 * 1024;

/// More than this is added to a copy: the note holds it.
const LARGEST: usize = 64 * 1024;

/// A file whose end may be written to, and what is about to be added.
#[derive(Debug, Serialize, Deserialize)]
pub struct Appendable {
    /// Its path, below the directory that holds staging.
    file: String,
    inode: u64,
    length: u64,
    added: Vec<u8>,
    /// `None` in a process that finds the note of another.
    #[serde(skip)]
    open: Option<File>,
}

impl Staging {
    /// Returns the file, if `added` may be written to its end in place. `None` if it has to be copied:
    /// if it is small, has several names, may not be written to, or has a change that is still to be
    /// undone. The caller holds the write lock of the zone.
    pub fn appendable(
        &self,
        entry: &Entry,
        added: &[u8],
        living: impl FnOnce() -> Result<Vec<String>, DiskError>,
    ) -> Result<Option<Appendable>, DiskError> {
        if entry.size() < SMALLEST || added.len() > LARGEST || !self.journals(living)?.is_empty() {
            return Ok(None);
        }
        let Ok(file) = open(entry.place()) else {
            return Ok(None);
        };
        let stat = rustix::fs::fstat(&file)
            .map_err(|error| DiskError::of("look at", entry.path(), error))?;
        if kind_of(&stat) != Kind::File || stat.st_nlink != 1 {
            return Ok(None);
        }
        Ok(Some(Appendable {
            file: self.below_home(entry.place())?,
            inode: stat.st_ino,
            length: stat.st_size as u64,
            added: added.to_vec(),
            open: Some(file),
        }))
    }
}

impl Appendable {
    /// Writes to the end of the file. The addition is on disk when this returns.
    pub(super) fn append(&self) -> io::Result<()> {
        let mut file = self.open.as_ref().ok_or(io::ErrorKind::NotFound)?;
        file.write_all(&self.added)?;
        file.sync_data()
    }

    /// Cuts the file back to its length.
    pub(super) fn undo(&self, home: &Root) -> Result<(), DiskError> {
        if let Some(file) = &self.open {
            return self.cut(file).map_err(DiskError::server);
        }
        let file = match home.place(&self.file).and_then(|place| open(&place)) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(error) => return Err(DiskError::server(error)),
        };
        let stat = rustix::fs::fstat(&file).map_err(DiskError::server)?;
        // Another file has its name.
        if kind_of(&stat) != Kind::File || stat.st_ino != self.inode {
            return Ok(());
        }
        self.cut(&file).map_err(DiskError::server)
    }

    /// Cuts off the addition, as far as it was written. Additions of other programs stay.
    fn cut(&self, file: &File) -> io::Result<()> {
        let there = file.metadata()?.len().saturating_sub(self.length) as usize;
        let Some(expected) = self.added.get(..there).filter(|added| !added.is_empty()) else {
            return Ok(());
        };
        let mut found = vec![0; there];
        file.read_exact_at(&mut found, self.length)?;
        // After a power cut, written bytes may be zeroes.
        let is_own = |(found, expected): (&u8, &u8)| found == expected || *found == 0;
        if found.iter().zip(expected).all(is_own) {
            file.set_len(self.length)?;
            file.sync_data()?;
        }
        Ok(())
    }
}

/// Opens a file to write to its end.
fn open(place: &Place) -> Result<File, Errno> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NONBLOCK;
    open_at(&place.parent, &*place.name, flags).map(File::from)
}
