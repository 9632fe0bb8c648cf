//! Files that arrive in pieces, over several connections.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;

use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;

use super::entry::file_mode;
use super::handle::{create_at, if_there, open_at};
use super::{DiskError, Root};
use fileshed_types::zone::ZonePath;

/// A file in a directory of the server's own that grows until it is whole. Who has it open is the
/// only one, among all processes.
#[derive(Debug)]
pub struct ArrivingFile {
    file: File,
    size: u64,
}

/// What came of opening one.
#[derive(Debug)]
pub enum OpenedArrivingFile {
    /// It is not there.
    Missing,
    /// Somebody else writes it.
    Taken,
    /// It can be written.
    Open(ArrivingFile),
}

impl ArrivingFile {
    /// Makes the file `name`, with nothing in it.
    pub fn create(directory: &Root, name: &str) -> Result<(), DiskError> {
        let made = create_at(directory.handle(), name, file_mode(false));
        made.map(drop).map_err(DiskError::server)
    }

    /// Opens the file `name` for whoever comes first.
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
        // What another one wrote before the lock was free is in it.
        let size = file.metadata().map_err(DiskError::server)?.len();
        Ok(OpenedArrivingFile::Open(Self { file, size }))
    }

    /// Bytes that have arrived.
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
        rustix::fs::fdatasync(self.file.as_fd())
            .map_err(|error| DiskError::of("write", &ZonePath::root(), error))
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
