//! One child process: started, drained, timed and ended.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, retry_on_intr};

use super::SandboxError;
use super::descriptor::poll;
use super::egress::EgressGrant;
use super::job::JobSpec;
use super::started::{StandardStreams, StartedJob, start};
use super::zygote::Zygote;

/// End of a process, and its output.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ending: ExitReason,
    /// Exit status, or the negative number of the signal that ended it.
    pub status: i32,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
}

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitReason {
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
    /// With everything that it started it took more memory than it may.
    OverMemory,
    /// One of its processes took more memory than it may.
    ProcessOverMemory,
}

/// Does a job in `directory` and waits for its end, or until `must_stop`, which is asked
/// several times a second, names another ending. All processes of its session are
/// killed before this returns. The job may have a network of its own, in which `network` serves.
pub fn run<'n>(
    zygote: &'n Zygote,
    spec: &JobSpec,
    directory: BorrowedFd<'_>,
    (stdout, stderr): (OutputSink, OutputSink),
    timeout: Duration,
    mut must_stop: impl FnMut(&StartedJob<'_>) -> Option<ExitReason>,
    network: Option<&'n EgressGrant>,
) -> Result<Outcome, SandboxError> {
    let deadline = zygote.clock.instant() + timeout;
    let input = spec.input.as_deref().unwrap_or(Path::new("/dev/null"));
    let input = File::open(input).map_err(SandboxError::start)?;
    let (stdout, stdout_pipe) = stdout.open()?;
    let (stderr, stderr_pipe) = match stderr {
        OutputSink::Output => (
            stdout.try_clone().map_err(SandboxError::start)?,
            Pipe::default(),
        ),
        other => other.open()?,
    };
    let streams = StandardStreams {
        input: input.into(),
        output: stdout,
        error: stderr,
    };
    let mut process = RunningProcess {
        zygote,
        job: start(zygote, spec, directory, streams, network)?,
        stdout: stdout_pipe,
        stderr: stderr_pipe,
        buffer: vec![0; 64 * 1024],
    };
    let ending = process.attend(deadline, &mut must_stop)?;
    process.end(ending)
}

/// A process that runs. Dropped, it is ended: nothing outlives its call.
struct RunningProcess<'n> {
    zygote: &'n Zygote,
    job: StartedJob<'n>,
    stdout: Pipe,
    stderr: Pipe,
    buffer: Vec<u8>,
}

impl RunningProcess<'_> {
    /// Reads output until the process ends, its time is over or it must stop.
    fn attend(
        &mut self,
        deadline: Instant,
        must_stop: &mut impl FnMut(&StartedJob<'_>) -> Option<ExitReason>,
    ) -> Result<ExitReason, SandboxError> {
        loop {
            let left = self.zygote.clock.left(deadline);
            if left.is_zero() {
                return Ok(ExitReason::TimedOut);
            }
            if let Some(ending) = must_stop(&self.job) {
                return Ok(ending);
            }
            let attention = self.zygote.timings.attention;
            if self.wait_for_message(attention.min(left), true)?
                && self.job.wait(Duration::ZERO)?.is_some()
            {
                return Ok(ExitReason::Exited);
            }
        }
    }

    /// Waits for output or a message, and reads the output that is there. True where a message is.
    fn wait_for_message(
        &mut self,
        patience: Duration,
        watch_end: bool,
    ) -> Result<bool, SandboxError> {
        let pipes = [&self.stdout, &self.stderr];
        let files = pipes.into_iter().filter_map(|pipe| pipe.file.as_ref());
        let mut watched: Vec<PollFd<'_>> =
            files.map(|file| PollFd::new(file, PollFlags::IN)).collect();
        if watch_end {
            watched.push(PollFd::from_borrowed_fd(self.job.end(), PollFlags::IN));
        }
        poll(&mut watched, Some(patience)).map_err(SandboxError::wait)?;
        let ended = watch_end && watched.last().is_some_and(|end| !end.revents().is_empty());
        drop(watched);
        self.stdout.read(&mut self.buffer);
        self.stderr.read(&mut self.buffer);
        Ok(ended)
    }

    /// Ends what is left of the process and collects the end of its output.
    fn end(mut self, ending: ExitReason) -> Result<Outcome, SandboxError> {
        if ending != ExitReason::Exited {
            self.job.kill();
        }
        let status = self.job.wait(Duration::MAX)?;
        let ending = match ending {
            ExitReason::Exited if self.job.ran_out_of_memory() => ExitReason::OverMemory,
            ending => ending,
        };
        let clock = &self.zygote.clock;
        let deadline = clock.instant() + self.zygote.timings.last_words;
        while self.stdout.file.is_some() || self.stderr.file.is_some() {
            if clock.is_past(deadline) {
                break;
            }
            self.wait_for_message(clock.until_look(deadline), false)?;
        }
        Ok(Outcome {
            ending,
            status: status.unwrap_or_default(),
            stdout: std::mem::take(&mut self.stdout.stream),
            stderr: std::mem::take(&mut self.stderr.stream),
        })
    }
}

/// Bytes that a process can write before somebody reads them.
const PIPE_BYTES: usize = 256 * 1024;

/// Destination of a stream of a process.
#[derive(Debug)]
pub enum OutputSink {
    /// Into the answer: so many bytes of its beginning and of its end; the rest is read and dropped.
    Answer(usize),
    /// Into a file, unchanged.
    File(File),
    /// The destination of standard output.
    Output,
}

/// Output of a process on one stream.
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

    /// Returns how many bytes there were.
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

impl OutputSink {
    /// The process's end of the stream, and the server's.
    fn open(self) -> Result<(OwnedFd, Pipe), SandboxError> {
        let limit = match self {
            Self::File(file) => return Ok((file.into(), Pipe::default())),
            Self::Answer(limit) => limit,
            Self::Output => 0,
        };
        let (reader, writer) = std::io::pipe().map_err(SandboxError::start)?;
        rustix::io::ioctl_fionbio(&reader, true).map_err(SandboxError::start)?;
        // A large pipe lets a program that writes much wait less often. The kernel may refuse it.
        let _smaller = rustix::pipe::fcntl_setpipe_size(&reader, PIPE_BYTES);
        let pipe = Pipe {
            file: Some(reader.into()),
            stream: Stream::default(),
            limit,
        };
        Ok((writer.into(), pipe))
    }
}

/// A pipe from the child, read up to a limit and drained beyond it. By default it is that of a stream that
/// goes elsewhere.
#[derive(Debug, Default)]
struct Pipe {
    file: Option<OwnedFd>,
    stream: Stream,
    limit: usize,
}

impl Pipe {
    /// Reads what is there; closes the pipe at its end.
    fn read(&mut self, buffer: &mut [u8]) {
        while let Some(file) = &self.file {
            match retry_on_intr(|| rustix::io::read(file, &mut *buffer)) {
                Ok(count) if count > 0 => self.stream.take(&buffer[..count], self.limit),
                Err(Errno::AGAIN) => return,
                Ok(_) | Err(_) => self.file = None,
            }
        }
    }
}
