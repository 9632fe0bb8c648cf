//! One child process: started, drained, timed and ended.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, Shutdown};

use super::ExecError;
use super::helper::{Handles, Helper};
use super::jail::Order;
use crate::disk::Root;

/// How often it is asked whether a running command must stop.
const ATTENTION: Duration = Duration::from_millis(100);

/// How long output is still read after the command ended; what holds the pipe longer is not it.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Where a stream of the command goes.
#[derive(Debug)]
pub(super) enum Sink {
    /// Into the answer: so many bytes of its beginning and of its end; the rest is read and dropped.
    Answer(usize),
    /// Into a file, unchanged.
    File(File),
    /// Where standard output goes.
    Output,
}

/// What a stream held.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Its beginning, up to a limit.
    pub(super) bytes: Vec<u8>,
    /// The end of what came after that.
    pub(super) tail: VecDeque<u8>,
    /// Bytes that came after the beginning.
    pub(super) beyond: u64,
}

impl Stream {
    /// Takes what was read: `limit` bytes as the beginning, of the rest the end.
    pub(super) fn take(&mut self, read: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.bytes.len());
        let (beginning, rest) = read.split_at(room.min(read.len()));
        self.bytes.extend_from_slice(beginning);
        self.beyond += rest.len() as u64;
        let kept = &rest[rest.len().saturating_sub(limit)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(limit);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(kept);
    }

    /// Bytes that it had.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64 + self.beyond
    }

    /// Appends lines of the server's own.
    pub(super) fn add_lines(&mut self, lines: &[String]) {
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

/// How a command ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) ending: Ending,
    /// Exit status, or the negative number of the signal that ended it.
    pub(super) status: i32,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    /// Whether its way to the network refused something.
    pub(super) refused: bool,
    /// Paths under names that are kept for the server, which it had made and which are gone.
    pub(super) removed: Vec<String>,
}

impl Outcome {
    /// Whether it failed, and was refused what it asked the network for.
    pub(super) fn got_nothing(&self) -> bool {
        self.refused && self.status != 0
    }
}

/// Why a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// By itself.
    Exited,
    /// It ran too long.
    TimedOut,
    /// Nobody waited for it any more.
    Cancelled,
    /// Its zone holds more than it may.
    OverQuota,
    /// It took more space outside its zone than it may.
    OverTemporary,
}

/// Runs a command in `directory` and waits for its end, or until `must_stop`, which is asked
/// several times a second, names another ending. Whatever it started in its session is
/// killed before this returns.
pub(super) fn run(
    helper: &Helper,
    order: &Order,
    directory: &Root,
    (stdout, stderr): (Sink, Sink),
    timeout: Duration,
    must_stop: impl FnMut() -> Option<Ending>,
) -> Result<Outcome, ExecError> {
    run_with_network(
        helper,
        order,
        directory,
        (stdout, stderr),
        timeout,
        must_stop,
        |_no_network| (),
    )
}

/// Runs a command that may have a network of its own: `listen` gets the socket on which the proxy
/// is expected there.
pub(super) fn run_with_network(
    helper: &Helper,
    order: &Order,
    directory: &Root,
    (stdout, stderr): (Sink, Sink),
    timeout: Duration,
    mut must_stop: impl FnMut() -> Option<Ending>,
    mut listen: impl FnMut(OwnedFd),
) -> Result<Outcome, ExecError> {
    let deadline = Instant::now() + timeout;
    let (stdout, stdout_pipe) = stdout.open()?;
    let (stderr, stderr_pipe) = match stderr {
        Sink::Output => (stdout.try_clone().map_err(ExecError::Start)?, Pipe::none()),
        other => other.open()?,
    };
    let end = helper.start(&Handles {
        order: written(order)?.as_fd(),
        stdout: stdout.as_fd(),
        stderr: stderr.as_fd(),
        directory: directory.handle().as_fd(),
        namespaces: order.namespaces(),
    })?;
    // Only the command holds them now: their end is its end.
    drop((stdout, stderr));
    let mut running = Running {
        end,
        stdout: stdout_pipe,
        stderr: stderr_pipe,
        buffer: vec![0; 64 * 1024],
        status: None,
    };
    let ending = running.attend(deadline, &mut must_stop, &mut listen)?;
    running.end(ending)
}

/// The order as a file without a name.
fn written(order: &Order) -> Result<File, ExecError> {
    let fail = |error: std::io::Error| ExecError::Start(error);
    let file = rustix::fs::memfd_create("order", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|error| fail(error.into()))?;
    let mut file = File::from(file);
    let text = serde_json::to_vec(order).map_err(|error| fail(error.into()))?;
    file.write_all(&text)
        .and_then(|()| file.rewind())
        .map_err(fail)?;
    Ok(file)
}

impl Sink {
    /// The command's end of the stream, and ours.
    fn open(self) -> Result<(OwnedFd, Pipe), ExecError> {
        let limit = match self {
            Self::File(file) => return Ok((file.into(), Pipe::none())),
            Self::Answer(limit) => limit,
            Self::Output => 0,
        };
        let (reader, writer) = std::io::pipe().map_err(ExecError::Start)?;
        rustix::io::ioctl_fionbio(&reader, true).map_err(|error| ExecError::Start(error.into()))?;
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
struct Pipe {
    file: Option<File>,
    stream: Stream,
    limit: usize,
}

impl Pipe {
    /// Stands for a stream that goes elsewhere.
    fn none() -> Self {
        Self {
            file: None,
            stream: Stream::default(),
            limit: 0,
        }
    }

    /// Reads what is there; closes the pipe at its end.
    fn read(&mut self, buffer: &mut [u8]) {
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

/// A command under way. Dropped, it is ended: nothing outlives its call.
struct Running {
    /// Readable once the command ended.
    end: OwnedFd,
    stdout: Pipe,
    stderr: Pipe,
    buffer: Vec<u8>,
    /// How it ended, once that was told.
    status: Option<i32>,
}

impl Running {
    /// Reads output until the command ends, its time is over or it must stop.
    fn attend(
        &mut self,
        deadline: Instant,
        must_stop: &mut impl FnMut() -> Option<Ending>,
        listen: &mut impl FnMut(OwnedFd),
    ) -> Result<Ending, ExecError> {
        loop {
            let now = Instant::now();
            if now >= deadline {
                return Ok(Ending::TimedOut);
            }
            if let Some(ending) = must_stop() {
                return Ok(ending);
            }
            if self.wait_for_news(ATTENTION.min(deadline - now), true)? {
                match self.hear()? {
                    News::Ended(status) => {
                        self.status = Some(status);
                        return Ok(Ending::Exited);
                    }
                    News::Listener(listener) => listen(listener),
                }
            }
        }
    }

    /// Waits for output or the end, and reads what is there. True when the command ended.
    fn wait_for_news(&mut self, patience: Duration, watch_end: bool) -> Result<bool, ExecError> {
        let mut handles: Vec<BorrowedFd<'_>> = [&self.stdout, &self.stderr]
            .into_iter()
            .filter_map(|pipe| pipe.file.as_ref().map(AsFd::as_fd))
            .collect();
        if watch_end {
            handles.insert(0, self.end.as_fd());
        }
        let mut watched: Vec<PollFd<'_>> = handles
            .iter()
            .map(|handle| PollFd::from_borrowed_fd(*handle, PollFlags::IN))
            .collect();
        let patience = Timespec {
            tv_sec: patience.as_secs() as i64,
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        match rustix::event::poll(&mut watched, Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(ExecError::Wait(error.into())),
        }
        let ended = watch_end && watched.first().is_some_and(|end| !end.revents().is_empty());
        drop(watched);
        self.stdout.read(&mut self.buffer);
        self.stderr.read(&mut self.buffer);
        Ok(ended)
    }

    /// Ends what is left of the command and collects its last words.
    fn end(mut self, ending: Ending) -> Result<Outcome, ExecError> {
        if ending != Ending::Exited {
            rustix::net::shutdown(&self.end, Shutdown::Write)
                .map_err(|error| ExecError::Wait(error.into()))?;
        }
        let status = self.status()?;
        let deadline = Instant::now() + LAST_WORDS;
        while self.stdout.file.is_some() || self.stderr.file.is_some() {
            let now = Instant::now();
            if now >= deadline {
                break;
            }
            self.wait_for_news(deadline - now, false)?;
        }
        Ok(Outcome {
            ending,
            status,
            stdout: std::mem::take(&mut self.stdout.stream),
            stderr: std::mem::take(&mut self.stderr.stream),
            refused: false,
            removed: Vec::new(),
        })
    }

    /// Waits for the end of the command.
    fn status(&self) -> Result<i32, ExecError> {
        loop {
            match self
                .status
                .map_or_else(|| self.hear(), |status| Ok(News::Ended(status)))?
            {
                News::Ended(status) => return Ok(status),
                News::Listener(_too_late) => {}
            }
        }
    }

    /// The next that the helper tells.
    fn hear(&self) -> Result<News, ExecError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut status = [0; 4];
        let (length, listener) = loop {
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let received = rustix::net::recvmsg(
                &self.end,
                &mut [IoSliceMut::new(&mut status)],
                &mut control,
                RecvFlags::CMSG_CLOEXEC,
            );
            match received {
                Ok(message) => {
                    let handles = control.drain().find_map(|message| match message {
                        RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
                        _ => None,
                    });
                    break (message.bytes, handles);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(ExecError::Wait(error.into())),
            }
        };
        match listener {
            Some(listener) => Ok(News::Listener(listener)),
            None if length == 4 => Ok(News::Ended(i32::from_ne_bytes(status))),
            None => Err(ExecError::Wait(std::io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// What the helper tells of a command.
enum News {
    /// It has a network of its own, in which this socket listens.
    Listener(OwnedFd),
    /// It ended with this status.
    Ended(i32),
}
