//! One child process: started, drained, timed and ended.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::SandboxError;
use super::job::JobSpec;
use super::output::{Pipe, Sink, Stream};
use super::started::{StandardStreams, StartedJob, start_with_network};
use super::zygote::Zygote;

/// How a process ended, and what it wrote.
#[derive(Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ending: Ending,
    /// Exit status, or the negative number of the signal that ended it.
    pub status: i32,
    /// What it wrote to standard output.
    pub stdout: Stream,
    /// What it wrote to standard error.
    pub stderr: Stream,
}

/// Why a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
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
}

/// Does a job in `directory` and waits for its end, or until `must_stop`, which is asked
/// several times a second, names another ending. Whatever it started in its session is
/// killed before this returns.
pub fn run(
    zygote: &Zygote,
    spec: &JobSpec,
    directory: BorrowedFd<'_>,
    (stdout, stderr): (Sink, Sink),
    timeout: Duration,
    must_stop: impl FnMut(&StartedJob<'_>) -> Option<Ending>,
) -> Result<Outcome, SandboxError> {
    run_with_network(
        zygote,
        spec,
        directory,
        (stdout, stderr),
        timeout,
        must_stop,
        |_no_network| (),
    )
}

/// Does a job that may have a network of its own: `listen` gets the socket on which
/// the proxy is expected there.
pub fn run_with_network<'n>(
    zygote: &'n Zygote,
    spec: &JobSpec,
    directory: BorrowedFd<'_>,
    (stdout, stderr): (Sink, Sink),
    timeout: Duration,
    mut must_stop: impl FnMut(&StartedJob<'_>) -> Option<Ending>,
    listen: impl FnMut(OwnedFd) + 'n,
) -> Result<Outcome, SandboxError> {
    let deadline = zygote.clock().instant() + timeout;
    let input = spec.input.as_deref().unwrap_or(Path::new("/dev/null"));
    let input = File::open(input).map_err(SandboxError::start)?;
    let (stdout, stdout_pipe) = stdout.open()?;
    let (stderr, stderr_pipe) = match stderr {
        Sink::Output => (
            stdout.try_clone().map_err(SandboxError::start)?,
            Pipe::none(),
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
        job: start_with_network(zygote, spec, directory, streams, listen)?,
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
        must_stop: &mut impl FnMut(&StartedJob<'_>) -> Option<Ending>,
    ) -> Result<Ending, SandboxError> {
        loop {
            let left = self.zygote.clock().left(deadline);
            if left.is_zero() {
                return Ok(Ending::TimedOut);
            }
            if let Some(ending) = must_stop(&self.job) {
                return Ok(ending);
            }
            let attention = self.zygote.timings().attention;
            if self.wait_for_message(attention.min(left), true)?
                && self.job.wait(Duration::ZERO)?.is_some()
            {
                return Ok(Ending::Exited);
            }
        }
    }

    /// Waits for output or a message, and reads the output that is there. True where a message is.
    fn wait_for_message(
        &mut self,
        patience: Duration,
        watch_end: bool,
    ) -> Result<bool, SandboxError> {
        let mut handles: Vec<BorrowedFd<'_>> = [&self.stdout, &self.stderr]
            .into_iter()
            .filter_map(|pipe| pipe.file.as_ref().map(AsFd::as_fd))
            .collect();
        if watch_end {
            handles.insert(0, self.job.end());
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
            Err(error) => return Err(SandboxError::Wait(error.into())),
        }
        let ended = watch_end && watched.first().is_some_and(|end| !end.revents().is_empty());
        drop(watched);
        self.stdout.read(&mut self.buffer);
        self.stderr.read(&mut self.buffer);
        Ok(ended)
    }

    /// Ends what is left of the process and collects the end of its output.
    fn end(mut self, ending: Ending) -> Result<Outcome, SandboxError> {
        if ending != Ending::Exited {
            self.job.kill();
        }
        let status = self.job.wait(Duration::MAX)?;
        let ending = match ending {
            Ending::Exited if self.job.ran_out_of_memory() => Ending::OverMemory,
            ending => ending,
        };
        let clock = self.zygote.clock();
        let deadline = clock.instant() + self.zygote.timings().last_words;
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
