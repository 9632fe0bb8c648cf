//! One child process: started, fed, drained, timed and ended. The only place that starts any.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::ExecError;
use super::jail::{ARGUMENT, Order};
use crate::disk::Root;

/// How often it is asked whether a running command must stop.
const ATTENTION: Duration = Duration::from_millis(200);

/// How long output is still read after the command ended; what holds the pipe longer is not it.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Where a stream of the command goes.
#[derive(Debug)]
pub(super) enum Sink {
    /// Into the answer, up to this many bytes; the rest is read and dropped.
    Answer(usize),
    /// Into a file, unchanged.
    File(File),
    /// Where standard output goes.
    Output,
}

/// What a stream held.
#[derive(Debug, Default)]
pub(super) struct Stream {
    pub(super) bytes: Vec<u8>,
    pub(super) truncated: bool,
}

impl Stream {
    /// Appends lines of the server's own.
    pub(super) fn add_lines(&mut self, lines: &[String]) {
        for line in lines {
            if self.bytes.last().is_some_and(|byte| *byte != b'\n') {
                self.bytes.push(b'\n');
            }
            self.bytes.extend_from_slice(line.as_bytes());
            self.bytes.push(b'\n');
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
}

/// Runs a command in `directory` and waits for its end, or until `must_stop`, which is asked
/// several times a second, names another ending. Whatever it started in its session is
/// killed before this returns.
pub(super) fn run(
    helper: &Path,
    order: &Order,
    directory: &Root,
    (stdout, stderr): (Sink, Sink),
    timeout: Duration,
    mut must_stop: impl FnMut() -> Option<Ending>,
) -> Result<Outcome, ExecError> {
    let deadline = Instant::now() + timeout;
    let limits = (stdout.limit(), stderr.limit());
    let (child, pipe) = start(helper, directory, stdout, stderr)?;
    let mut running = Running::new(child, pipe, limits)?;
    running.give(order)?;
    let ending = running.attend(deadline, &mut must_stop)?;
    running.end(ending)
}

impl Sink {
    fn limit(&self) -> usize {
        match self {
            Self::Answer(limit) => *limit,
            Self::File(_) | Self::Output => 0,
        }
    }
}

fn start(
    helper: &Path,
    directory: &Root,
    stdout: Sink,
    stderr: Sink,
) -> Result<(Child, Option<File>), ExecError> {
    let fail = |error: std::io::Error| ExecError::Start(error);
    let mut merged = None;
    let stdio = |sink: Sink| match sink {
        Sink::Answer(_) | Sink::Output => Stdio::piped(),
        Sink::File(file) => Stdio::from(file),
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that starts processes"
    )]
    let mut command = std::process::Command::new(helper);
    match (stdout, stderr) {
        (Sink::File(file), Sink::Output) => {
            command.stderr(Stdio::from(file.try_clone().map_err(fail)?));
            command.stdout(Stdio::from(file));
        }
        (stdout, Sink::Output) => {
            drop(stdout);
            let (reader, writer) = std::io::pipe().map_err(fail)?;
            command.stdout(Stdio::from(writer.try_clone().map_err(fail)?));
            command.stderr(Stdio::from(writer));
            merged = Some(File::from(std::os::fd::OwnedFd::from(reader)));
        }
        (stdout, stderr) => {
            command.stdout(stdio(stdout)).stderr(stdio(stderr));
        }
    }
    let child = command
        .arg(ARGUMENT)
        .env_clear()
        .current_dir(format!("/proc/self/fd/{}", directory.handle().as_raw_fd()))
        .stdin(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    Ok((child, merged))
}

/// A pipe from the child, read up to a limit and drained beyond it.
#[derive(Debug)]
struct Pipe {
    file: Option<File>,
    stream: Stream,
    limit: usize,
}

impl Pipe {
    fn new(file: Option<File>, limit: usize) -> Result<Self, ExecError> {
        if let Some(file) = &file {
            rustix::io::ioctl_fionbio(file, true).map_err(|error| ExecError::Wait(error.into()))?;
        }
        Ok(Self {
            file,
            stream: Stream::default(),
            limit,
        })
    }

    /// Reads what is there; closes the pipe at its end.
    fn read(&mut self, buffer: &mut [u8]) {
        while let Some(file) = &mut self.file {
            match file.read(buffer) {
                Ok(0) => self.file = None,
                Ok(count) => {
                    let room = self.limit.saturating_sub(self.stream.bytes.len());
                    let taken = room.min(count);
                    self.stream.bytes.extend_from_slice(&buffer[..taken]);
                    self.stream.truncated |= taken < count;
                }
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => self.file = None,
            }
        }
    }
}

struct Running {
    child: Child,
    pid: Pid,
    /// Readable once the child ended.
    ended: rustix::fd::OwnedFd,
    stdout: Pipe,
    stderr: Pipe,
    buffer: Vec<u8>,
}

impl Drop for Running {
    /// Only reached alive when something failed in between: nothing outlives its call.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.kill();
            let _reaped = self.child.wait();
        }
    }
}

impl Running {
    fn new(
        mut child: Child,
        merged: Option<File>,
        (stdout_limit, stderr_limit): (usize, usize),
    ) -> Result<Self, ExecError> {
        let pid = Pid::from_child(&child);
        let as_file = |handle: std::os::fd::OwnedFd| File::from(handle);
        let stdout = merged.or_else(|| child.stdout.take().map(|pipe| as_file(pipe.into())));
        let stderr = child.stderr.take().map(|pipe| as_file(pipe.into()));
        let prepared = (|| {
            Ok((
                rustix::process::pidfd_open(pid, PidfdFlags::empty())
                    .map_err(|error| ExecError::Wait(error.into()))?,
                Pipe::new(stdout, stdout_limit)?,
                Pipe::new(stderr, stderr_limit)?,
            ))
        })();
        match prepared {
            Ok((ended, stdout, stderr)) => Ok(Self {
                child,
                pid,
                ended,
                stdout,
                stderr,
                buffer: vec![0; 64 * 1024],
            }),
            Err(error) => {
                let _gone = child.kill();
                let _reaped = child.wait();
                Err(error)
            }
        }
    }

    fn give(&mut self, order: &Order) -> Result<(), ExecError> {
        let written = self.child.stdin.take().map_or(Ok(()), |mut stdin| {
            let text = serde_json::to_vec(order)?;
            stdin.write_all(&text)
        });
        written.map_err(ExecError::Start)
    }

    /// Reads output until the command ends, its time is over or it must stop.
    fn attend(
        &mut self,
        deadline: Instant,
        must_stop: &mut impl FnMut() -> Option<Ending>,
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
                return Ok(Ending::Exited);
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
            handles.insert(0, self.ended.as_fd());
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

    /// Kills the whole session and collects what is left.
    fn end(mut self, ending: Ending) -> Result<Outcome, ExecError> {
        use std::os::unix::process::ExitStatusExt;

        self.kill();
        let status = self.child.wait().map_err(ExecError::Wait)?;
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
            status: status
                .code()
                .unwrap_or_else(|| -status.signal().unwrap_or_default()),
            stdout: std::mem::take(&mut self.stdout.stream),
            stderr: std::mem::take(&mut self.stderr.stream),
        })
    }

    /// The helper makes a session of its own first thing, so its group has its number. The child
    /// is not reaped yet: the number cannot be another's.
    fn kill(&mut self) {
        let _none_left = rustix::process::kill_process_group(self.pid, Signal::KILL);
        let _ended = rustix::process::kill_process(self.pid, Signal::KILL);
    }
}
