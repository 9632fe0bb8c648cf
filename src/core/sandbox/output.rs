//! What a process writes: taken in up to a limit, drained beyond it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use super::SandboxError;

/// Bytes that a process can write before somebody reads them.
const PIPE_BYTES: usize = 256 * 1024;

/// Where a stream of a process goes.
#[derive(Debug)]
pub enum Sink {
    /// Into the answer: so many bytes of its beginning and of its end; the rest is read and dropped.
    Answer(usize),
    /// Into a file, unchanged.
    File(File),
    /// Where standard output goes.
    Output,
}

/// What a process wrote to a stream.
#[derive(Debug, Default)]
pub struct Stream {
    /// Its beginning, up to a limit.
    pub bytes: Vec<u8>,
    /// The end of what came after that.
    pub tail: VecDeque<u8>,
    /// Bytes that came after the beginning.
    pub beyond: u64,
}

impl Stream {
    /// Takes what was read: `limit` bytes as the beginning, of the rest the end.
    pub fn take(&mut self, read: &[u8], limit: usize) {
        let free = limit.saturating_sub(self.bytes.len());
        let (beginning, rest) = read.split_at(free.min(read.len()));
        self.bytes.extend_from_slice(beginning);
        self.beyond += rest.len() as u64;
        let kept = &rest[rest.len().saturating_sub(limit)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(limit);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(kept);
    }

    /// How many bytes there were.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.bytes.len() as u64 + self.beyond
    }

    /// Appends lines of the server's own.
    pub fn add_lines(&mut self, lines: &[String]) {
        let mut text = Vec::new();
        let last = self.tail.back().or(self.bytes.last());
        if !lines.is_empty() && last.is_some_and(|byte| *byte != b'\n') {
            text.push(b'\n');
        }
        for line in lines {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        if self.beyond == 0 {
            self.bytes.extend(text);
        } else {
            self.beyond += text.len() as u64;
            self.tail.extend(text);
        }
    }
}

impl Sink {
    /// The process's end of the stream, and the server's.
    pub(super) fn open(self) -> Result<(OwnedFd, Pipe), SandboxError> {
        let limit = match self {
            Self::File(file) => return Ok((file.into(), Pipe::none())),
            Self::Answer(limit) => limit,
            Self::Output => 0,
        };
        let (reader, writer) = std::io::pipe().map_err(SandboxError::start)?;
        rustix::io::ioctl_fionbio(&reader, true)
            .map_err(|error| SandboxError::start(error.into()))?;
        // Whoever writes much then waits less often. The kernel may have no space for it.
        let _smaller = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
        let pipe = Pipe {
            file: Some(File::from(OwnedFd::from(reader))),
            stream: Stream::default(),
            limit,
        };
        Ok((writer.into(), pipe))
    }
}

/// A pipe from the child, read up to a limit and drained beyond it.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) file: Option<File>,
    pub(super) stream: Stream,
    limit: usize,
}

impl Pipe {
    /// The pipe of a stream that goes elsewhere.
    pub(super) fn none() -> Self {
        Self {
            file: None,
            stream: Stream::default(),
            limit: 0,
        }
    }

    /// Reads what is there; closes the pipe at its end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) {
        while let Some(file) = &mut self.file {
            match file.read(buffer) {
                Ok(0) => self.file = None,
                Ok(count) => {
                    self.stream.take(&buffer[..count], self.limit);
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => self.file = None,
            }
        }
    }
}
