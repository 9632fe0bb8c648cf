//! Files of the server's own that grow at their end: logs, which are read while they grow, and files
//! that arrive in pieces, over several connections.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::entry::file_mode;
use super::handle::{create_at, if_there, open_at};
use super::{DiskError, Root};
use fileshed_types::zone::ZonePath;

/// An open file that only grows. Its content survives the process that appended it.
#[derive(Debug)]
pub struct LogFile {
    file: File,
    size: u64,
}

impl LogFile {
    /// Creates the file `name` in a directory of the server's own; `None` if the name is taken.
    pub fn create(directory: &Root, name: &str) -> Result<Option<Self>, DiskError> {
        match create_at(directory.handle(), name, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(Self { file, size: 0 })),
            Err(Errno::EXIST) => Ok(None),
            Err(error) => Err(DiskError::server(error)),
        }
    }

    /// Opens the file `name`; `None` if it does not exist.
    pub fn open(directory: &Root, name: &str) -> Result<Option<Self>, DiskError> {
        let opened = open_at(directory.handle(), name, OFlags::RDWR);
        let Some(file) = if_there(opened).map_err(DiskError::server)? else {
            return Ok(None);
        };
        let file = File::from(file);
        let size = file.metadata().map_err(DiskError::server)?.len();
        Ok(Some(Self { file, size }))
    }

    /// Returns the number of bytes that were appended.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends all of `text`. If the disk takes only a part, the part is removed again.
    pub fn append(&mut self, text: &[u8]) -> Result<(), DiskError> {
        if let Err(error) = self.file.write_all_at(text, self.size) {
            let _as_it_was = self.file.set_len(self.size);
            return Err(DiskError::server(error));
        }
        self.size += text.len() as u64;
        Ok(())
    }

    /// Reads `length` bytes from `position` on, or as many as there are.
    pub fn read(&self, position: u64, length: u64) -> Result<Vec<u8>, DiskError> {
        let length = length.min(self.size.saturating_sub(position));
        let mut bytes = vec![0; length as usize];
        let read = self.file.read_exact_at(&mut bytes, position);
        read.map_err(DiskError::server)?;
        Ok(bytes)
    }

    /// Forgets what lies between `from` and `to`, in one step: who reads finds the file as it was,
    /// or with `instead` in that place.
    pub fn cut(
        &mut self,
        directory: &Root,
        name: &str,
        (from, to): (u64, u64),
        instead: &[u8],
    ) -> Result<(), DiskError> {
        let fresh = format!("{name}.new");
        directory.remove_file(&fresh)?;
        let Some(mut shorter) = Self::create(directory, &fresh)? else {
            return Err(DiskError::server(Errno::EXIST));
        };
        let copied = shorter
            .append_from(self, 0, from)
            .and_then(|()| shorter.append(instead))
            .and_then(|()| shorter.append_from(self, to, self.size));
        let handle = directory.handle();
        let moved = copied.and_then(|()| {
            rustix::fs::renameat(handle, &*fresh, handle, name).map_err(DiskError::server)
        });
        if let Err(error) = moved {
            let _gone = directory.remove_file(&fresh);
            return Err(error);
        }
        *self = shorter;
        Ok(())
    }

    fn append_from(&mut self, other: &Self, from: u64, to: u64) -> Result<(), DiskError> {
        const PIECE: u64 = 256 * 1024;
        let mut position = from;
        while position < to {
            let piece = other.read(position, PIECE.min(to - position))?;
            self.append(&piece)?;
            position += piece.len() as u64;
        }
        Ok(())
    }
}

/// A file in a directory of the server's own that grows until it is whole. Only one process at a time
/// can have it open.
#[derive(Debug)]
pub struct ArrivingFile {
    file: File,
    size: u64,
}

/// The result of opening an arriving file.
#[derive(Debug)]
pub enum OpenedArrivingFile {
    /// The file does not exist.
    Missing,
    /// Another writer has it open.
    Taken,
    /// The file can be written.
    Open(ArrivingFile),
}

impl ArrivingFile {
    /// Creates the empty file `name`.
    pub fn create(directory: &Root, name: &str) -> Result<(), DiskError> {
        let made = create_at(directory.handle(), name, file_mode(false));
        made.map(drop).map_err(DiskError::server)
    }

    /// Opens the file `name`, unless another writer has it open.
    pub fn open(directory: &Root, name: &str) -> Result<OpenedArrivingFile, DiskError> {
        let opened = open_at(directory.handle(), name, OFlags::RDWR | OFlags::APPEND);
        let Some(file) = if_there(opened).map_err(DiskError::server)? else {
            return Ok(OpenedArrivingFile::Missing);
        };
        let file = File::from(file);
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(OpenedArrivingFile::Taken),
            Err(error) => return Err(DiskError::server(error)),
        }
        // The size is read under the lock, so it includes the bytes of the writer before.
        let size = file.metadata().map_err(DiskError::server)?.len();
        Ok(OpenedArrivingFile::Open(Self { file, size }))
    }

    /// Returns the number of bytes that have arrived.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds the next bytes.
    pub fn append(&mut self, piece: &[u8]) -> Result<(), DiskError> {
        self.file
            .write_all(piece)
            .map_err(|error| DiskError::of("write", &ZonePath::root(), error))?;
        self.size += piece.len() as u64;
        Ok(())
    }

    /// Brings what has arrived to the disk.
    pub fn flush(&self) -> Result<(), DiskError> {
        let flushed = self.file.sync_data();
        flushed.map_err(|error| DiskError::of("write", &ZonePath::root(), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(directory: &Root) -> ArrivingFile {
        match ArrivingFile::open(directory, "a").expect("opened") {
            OpenedArrivingFile::Open(file) => file,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pieces_follow_each_other_and_one_writes_at_a_time() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = Root::open_ambient(place.path()).expect("a root");
        let missing = ArrivingFile::open(&directory, "a").expect("asked");
        assert!(matches!(missing, OpenedArrivingFile::Missing));
        ArrivingFile::create(&directory, "a").expect("made");
        let mut first = opened(&directory);
        first.append(b"one").expect("written");
        let taken = ArrivingFile::open(&directory, "a").expect("asked");
        assert!(matches!(taken, OpenedArrivingFile::Taken));
        first.flush().expect("flushed");
        drop(first);
        let mut second = opened(&directory);
        assert_eq!(second.size(), 3);
        second.append(b"two").expect("written");
        let size = || {
            directory
                .stamp("a")
                .expect("read")
                .map(|stamp| stamp.size())
        };
        assert_eq!(size(), Some(6));
        let content = std::fs::read(place.path().join("a")).expect("read");
        assert_eq!(content, b"onetwo");
        directory.remove_file("a").expect("removed");
        assert_eq!(size(), None);
    }
}
