//! One child process: started, drained, timed and ended.

use std::fs::File;
use std::io::{IoSliceMut, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, Shutdown};

use super::SandboxError;
use super::job::JobSpec;
use super::output::{Pipe, Sink, Stream};
use super::zygote::{Handles, Zygote};

/// How often it is asked whether a running process must stop.
const ATTENTION: Duration = Duration::from_millis(100);

/// How long output is still read after the process ended; what holds the pipe longer is another.
const LAST_WORDS: Duration = Duration::from_millis(500);

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
    must_stop: impl FnMut() -> Option<Ending>,
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
pub fn run_with_network(
    zygote: &Zygote,
    spec: &JobSpec,
    directory: BorrowedFd<'_>,
    (stdout, stderr): (Sink, Sink),
    timeout: Duration,
    mut must_stop: impl FnMut() -> Option<Ending>,
    mut listen: impl FnMut(OwnedFd),
) -> Result<Outcome, SandboxError> {
    let deadline = Instant::now() + timeout;
    let (stdout, stdout_pipe) = stdout.open()?;
    let (stderr, stderr_pipe) = match stderr {
        Sink::Output => (
            stdout.try_clone().map_err(SandboxError::Start)?,
            Pipe::none(),
        ),
        other => other.open()?,
    };
    let end = zygote.start(&Handles {
        spec: written(spec)?.as_fd(),
        stdout: stdout.as_fd(),
        stderr: stderr.as_fd(),
        directory,
        opcode: spec.opcode(),
    })?;
    // Only the process holds them now: their end is its end.
    drop((stdout, stderr));
    let mut process = RunningProcess {
        end,
        stdout: stdout_pipe,
        stderr: stderr_pipe,
        buffer: vec![0; 64 * 1024],
        status: None,
    };
    let ending = process.attend(deadline, &mut must_stop, &mut listen)?;
    process.end(ending)
}

/// The spec as a file without a name.
fn written(spec: &JobSpec) -> Result<File, SandboxError> {
    let fail = |error: std::io::Error| SandboxError::Start(error);
    let file = rustix::fs::memfd_create("job", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|error| fail(error.into()))?;
    let mut file = File::from(file);
    let text = serde_json::to_vec(spec).map_err(|error| fail(error.into()))?;
    file.write_all(&text)
        .and_then(|()| file.rewind())
        .map_err(fail)?;
    Ok(file)
}

/// A process that runs. Dropped, it is ended: nothing outlives its call.
struct RunningProcess {
    /// Readable once the process ended.
    end: OwnedFd,
    stdout: Pipe,
    stderr: Pipe,
    buffer: Vec<u8>,
    /// How it ended, once that was told.
    status: Option<i32>,
}

impl RunningProcess {
    /// Reads output until the process ends, its time is over or it must stop.
    fn attend(
        &mut self,
        deadline: Instant,
        must_stop: &mut impl FnMut() -> Option<Ending>,
        listen: &mut impl FnMut(OwnedFd),
    ) -> Result<Ending, SandboxError> {
        loop {
            let now = Instant::now();
            if now >= deadline {
                return Ok(Ending::TimedOut);
            }
            if let Some(ending) = must_stop() {
                return Ok(ending);
            }
            if self.wait_for_message(ATTENTION.min(deadline - now), true)? {
                match self.receive()? {
                    Message::Ended(status) => {
                        self.status = Some(status);
                        return Ok(Ending::Exited);
                    }
                    Message::Listener(listener) => listen(listener),
                }
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
            rustix::net::shutdown(&self.end, Shutdown::Write)
                .map_err(|error| SandboxError::Wait(error.into()))?;
        }
        let status = self.status()?;
        let deadline = Instant::now() + LAST_WORDS;
        while self.stdout.file.is_some() || self.stderr.file.is_some() {
            let now = Instant::now();
            if now >= deadline {
                break;
            }
            self.wait_for_message(deadline - now, false)?;
        }
        Ok(Outcome {
            ending,
            status,
            stdout: std::mem::take(&mut self.stdout.stream),
            stderr: std::mem::take(&mut self.stderr.stream),
        })
    }

    /// Waits for the end of the process.
    fn status(&self) -> Result<i32, SandboxError> {
        loop {
            match self
                .status
                .map_or_else(|| self.receive(), |status| Ok(Message::Ended(status)))?
            {
                Message::Ended(status) => return Ok(status),
                Message::Listener(_too_late) => {}
            }
        }
    }

    /// The next message of the zygote.
    fn receive(&self) -> Result<Message, SandboxError> {
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
                Err(error) => return Err(SandboxError::Wait(error.into())),
            }
        };
        match listener {
            Some(listener) => Ok(Message::Listener(listener)),
            None if length == 4 => Ok(Message::Ended(i32::from_ne_bytes(status))),
            None => Err(SandboxError::Wait(std::io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// What the zygote tells of a process.
enum Message {
    /// It has a network of its own, in which this socket listens.
    Listener(OwnedFd),
    /// It ended with this status.
    Ended(i32),
}
