//! Reading an archive from any place in it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes that are kept of the file.
const BYTES: usize = 64 * 1024;

/// A reader of an open file with a place of its own, so that several can read it at once. What
/// lies around its place is kept: headers and small contents follow one another.
#[derive(Debug)]
pub(super) struct Window {
    file: Arc<File>,
    length: u64,
    place: u64,
    /// Offset of the first buffered byte.
    begin: u64,
    kept: Vec<u8>,
}

impl Window {
    pub(super) fn new(file: Arc<File>, length: u64) -> Self {
        Self {
            file,
            length,
            place: 0,
            begin: 0,
            kept: Vec::new(),
        }
    }

    /// Another one on the same file.
    pub(super) fn another(&self) -> Self {
        Self::new(Arc::clone(&self.file), self.length)
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    fn kept_here(&self) -> &[u8] {
        let skip = self.place.checked_sub(self.begin);
        let skip = skip.and_then(|skip| usize::try_from(skip).ok());
        skip.and_then(|skip| self.kept.get(skip..))
            .unwrap_or_default()
    }
}

impl Read for Window {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.kept_here().is_empty() {
            if bytes.len() >= BYTES {
                let read = self.file.read_at(bytes, self.place)?;
                self.place += read as u64;
                return Ok(read);
            }
            self.kept.resize(BYTES, 0);
            let read = self.file.read_at(&mut self.kept, self.place);
            self.kept.truncate(*read.as_ref().unwrap_or(&0));
            read?;
            self.begin = self.place;
        }
        let here = self.kept_here();
        let count = here.len().min(bytes.len());
        bytes[..count].copy_from_slice(&here[..count]);
        self.place += count as u64;
        Ok(count)
    }
}

impl Seek for Window {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.place.checked_add_signed(offset),
        };
        self.place = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.place)
    }
}
