//! Files of the server's own that grow at their end and are read meanwhile.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::handle::{create_at, if_there, open_at};
use super::{DiskError, Root};

/// An open file that only grows. What was appended survives the process that did it.
#[derive(Debug)]
pub struct LogFile {
    file: File,
    size: u64,
}

impl LogFile {
    /// Makes the file `name` in a directory of the server's own; nothing where the name is taken.
    pub fn create(directory: &Root, name: &str) -> Result<Option<Self>, DiskError> {
        match create_at(directory.handle(), name, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(Self { file, size: 0 })),
            Err(Errno::EXIST) => Ok(None),
            Err(error) => Err(DiskError::server(error)),
        }
    }

    /// Opens the file `name`; nothing where it is not there.
    pub fn open(directory: &Root, name: &str) -> Result<Option<Self>, DiskError> {
        let opened = open_at(directory.handle(), name, OFlags::RDWR);
        let Some(file) = if_there(opened).map_err(DiskError::server)? else {
            return Ok(None);
        };
        let file = File::from(file);
        let size = file.metadata().map_err(DiskError::server)?.len();
        Ok(Some(Self { file, size }))
    }

    /// Bytes that were appended.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends `text` whole. Where the disk takes only a part, that goes again.
    pub fn append(&mut self, text: &[u8]) -> Result<(), DiskError> {
        if let Err(error) = self.file.write_all_at(text, self.size) {
            let _as_it_was = self.file.set_len(self.size);
            return Err(DiskError::server(error));
        }
        self.size += text.len() as u64;
        Ok(())
    }

    /// Reads `length` bytes from `position` on, or what there is.
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
