//! A job that was started: asked for its end, ended, and never left alone.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{IoSliceMut, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, Shutdown};

use super::SandboxError;
use super::cgroup::{LentCgroup, TreeLimits};
use super::jail::{EXHAUSTED, STARTED};
use super::job::{Job, JobSpec, WrittenJob};
use super::kernel_accounts::LentAccount;
use super::place::place_of;
use super::unlinked;
use super::zygote::{Handles, Zygote};
use fileshed_types::Clock;

/// What becomes standard input, output and error of a job. Only the job holds them afterwards.
#[derive(Debug)]
pub struct StandardStreams {
    /// Standard input.
    pub input: OwnedFd,
    /// Standard output.
    pub output: OwnedFd,
    /// Standard error.
    pub error: OwnedFd,
}

/// A job that was started. Dropped, it is ended with everything that it started.
pub struct StartedJob<'n> {
    socket: Arc<OwnedFd>,
    /// How it ended, once that was told.
    status: Cell<Option<i32>>,
    /// Its first process, once that was told.
    first: Cell<Option<i32>>,
    /// Given back when nothing runs in it any more.
    group: Option<LentCgroup>,
    /// The kernel account of its owner.
    account: Option<LentAccount>,
    listen: RefCell<Box<dyn FnMut(OwnedFd) + 'n>>,
    clock: Clock,
    /// Longest wait for what was ended to be gone.
    last_wait: Duration,
}

/// Ends a job from elsewhere: from another thread, or when nobody knows any more whether it runs.
#[derive(Clone, Debug)]
pub struct JobHandle(Arc<OwnedFd>);

/// Starts a job in `directory`. It has no network of its own, whatever its access says of a proxy.
pub fn start(
    zygote: &Zygote,
    spec: &JobSpec,
    directory: BorrowedFd<'_>,
    streams: StandardStreams,
) -> Result<StartedJob<'static>, SandboxError> {
    start_with_network(zygote, spec, directory, streams, |_no_network| ())
}

/// Starts a job that may have a network of its own: `listen` gets the socket on which the proxy is
/// expected there, while the job is waited for.
pub fn start_with_network<'n>(
    zygote: &Zygote,
    spec: &JobSpec,
    directory: BorrowedFd<'_>,
    streams: StandardStreams,
    listen: impl FnMut(OwnedFd) + 'n,
) -> Result<StartedJob<'n>, SandboxError> {
    let group = group_of(zygote, spec)?;
    let entrance = group.as_ref().map(LentCgroup::entrance).transpose();
    let entrance = entrance.map_err(SandboxError::start)?;
    let mut request = spec.start_request();
    let place = match spec.needs_place().then(|| place_of(directory)) {
        None => PathBuf::new(),
        Some(Ok(place)) => place,
        // Only a process that begins in the directory finds it.
        Some(Err(_)) => {
            request.kind = None;
            PathBuf::new()
        }
    };
    let account = zygote.account_for(spec);
    request.account = account.as_ref().map(|account| account.number);
    let rules = zygote.rules_for(spec)?;
    let written = written(&WrittenJob { place, spec })?;
    let handles = Handles {
        spec: written.as_fd(),
        input: streams.input.as_fd(),
        output: streams.output.as_fd(),
        error: streams.error.as_fd(),
        directory,
        group: entrance.as_ref().map(AsFd::as_fd),
        rules: rules.as_ref().map(AsFd::as_fd),
    };
    let socket = zygote.start(request, &handles)?;
    // Only the job holds them from here on: their end is its end.
    drop(streams);
    Ok(StartedJob {
        socket: Arc::new(socket),
        status: Cell::new(None),
        first: Cell::new(None),
        group,
        account,
        listen: RefCell::new(Box::new(listen)),
        clock: zygote.clock().clone(),
        last_wait: zygote.timings().end,
    })
}

/// The control group of a program. A built-in job starts nothing, and its own limits hold it.
fn group_of(zygote: &Zygote, spec: &JobSpec) -> Result<Option<LentCgroup>, SandboxError> {
    if !matches!(spec.job, Job::Program { .. }) || spec.probe {
        return Ok(None);
    }
    zygote.lend(TreeLimits {
        memory: spec.limits.memory,
        processes: spec.limits.processes,
    })
}

/// The spec as a file without a name.
fn written(job: &WrittenJob<&JobSpec>) -> Result<File, SandboxError> {
    let fail = |error: std::io::Error| SandboxError::start(error);
    let file = rustix::fs::memfd_create("job", rustix::fs::MemfdFlags::CLOEXEC)
        .map_err(|error| fail(error.into()))?;
    let mut file = File::from(file);
    let text = serde_json::to_vec(job).map_err(|error| fail(error.into()))?;
    file.write_all(&text)
        .and_then(|()| file.rewind())
        .map_err(fail)?;
    Ok(file)
}

impl StartedJob<'_> {
    /// Readable when [`StartedJob::wait`] has something to do, most often the end.
    #[must_use]
    pub fn end(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Waits for the end, at most so long. Gives the exit status, or the negative number of the
    /// signal that ended the job.
    pub fn wait(&self, patience: Duration) -> Result<Option<i32>, SandboxError> {
        let deadline = self.clock.instant().checked_add(patience);
        loop {
            if let Some(status) = self.status.get() {
                return Ok(Some(status));
            }
            let look = deadline.map(|deadline| self.clock.until_look(deadline));
            if !is_readable(self.end(), look)? {
                if deadline.is_some_and(|deadline| self.clock.is_past(deadline)) {
                    return Ok(None);
                }
                continue;
            }
            match self.receive()? {
                Some(Message::Ended(status)) => self.status.set(Some(status)),
                Some(Message::Started(first)) => self.first.set(Some(first)),
                Some(Message::Listener(listener)) => (self.listen.borrow_mut())(listener),
                Some(Message::Exhausted(error)) => return Err(SandboxError::Exhausted(error)),
                None => {}
            }
        }
    }

    /// Returns how many bytes on a device are in files without a name that its processes hold open.
    #[must_use]
    pub fn unlinked_bytes(&self, device: u64) -> u64 {
        let first = self.first.get();
        first.map_or(0, |first| unlinked::bytes(first, device))
    }

    /// Whether the kernel ended it, because it took more memory than it may with everything that it
    /// started. To be asked after its end.
    #[must_use]
    pub fn ran_out_of_memory(&self) -> bool {
        self.group.as_ref().is_some_and(LentCgroup::was_ended)
    }

    /// Asks the job and everything that it started to end, as `kill` does.
    pub fn terminate(&self) {
        terminate(&self.socket);
    }

    /// Ends the job and everything that it started. Its end is told as any other.
    pub fn kill(&self) {
        kill(&self.socket);
    }

    /// The same from elsewhere.
    #[must_use]
    pub fn handle(&self) -> JobHandle {
        JobHandle(Arc::clone(&self.socket))
    }

    /// The next message of the zygote, unless there is none yet.
    fn receive(&self) -> Result<Option<Message>, SandboxError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut text = [0; 5];
        let received = rustix::net::recvmsg(
            &*self.socket,
            &mut [IoSliceMut::new(&mut text)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        );
        let message = match received {
            Ok(message) => message,
            // The zygote has not read all that it was sent; what it told is still there.
            Err(Errno::INTR | Errno::CONNRESET) => return Ok(None),
            Err(error) => return Err(SandboxError::Wait(error.into())),
        };
        let listener = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
            _ => None,
        });
        match (listener, text.get(..message.bytes)) {
            (Some(listener), _) => Ok(Some(Message::Listener(listener))),
            (None, Some(&[STARTED, a, b, c, d])) => {
                Ok(Some(Message::Started(i32::from_ne_bytes([a, b, c, d]))))
            }
            (None, Some(&[EXHAUSTED, error])) => {
                let error = std::io::Error::from_raw_os_error(error.into());
                Ok(Some(Message::Exhausted(error)))
            }
            (None, Some(&[a, b, c, d])) => {
                Ok(Some(Message::Ended(i32::from_ne_bytes([a, b, c, d]))))
            }
            (None, _) => Err(SandboxError::Wait(std::io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

impl JobHandle {
    /// Asks the job and everything that it started to end. Nothing happens where it has ended.
    pub fn terminate(&self) {
        terminate(&self.0);
    }

    /// Ends the job and everything that it started. Nothing happens where it has ended.
    pub fn kill(&self) {
        kill(&self.0);
    }
}

impl Drop for StartedJob<'_> {
    fn drop(&mut self) {
        if self.status.get().is_none() {
            self.kill();
            let waited = self.wait(self.last_wait);
            if !matches!(waited, Ok(Some(_)))
                && let Some(account) = self.account.take()
            {
                account.keep();
            }
        }
    }
}

impl std::fmt::Debug for StartedJob<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StartedJob")
            .field("status", &self.status.get())
            .finish_non_exhaustive()
    }
}

/// What the zygote tells of a process.
enum Message {
    /// It has a network of its own, in which this socket listens.
    Listener(OwnedFd),
    /// Its first process is this.
    Started(i32),
    /// It could not be started, because a counted resource is used up.
    Exhausted(std::io::Error),
    /// It ended with this status.
    Ended(i32),
}

fn terminate(socket: &OwnedFd) {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    let _has_ended = rustix::net::send(socket, &[1], flags);
}

fn kill(socket: &OwnedFd) {
    let _has_ended = rustix::net::shutdown(socket, Shutdown::Write);
}

fn is_readable(handle: BorrowedFd<'_>, patience: Option<Duration>) -> Result<bool, SandboxError> {
    let patience = patience.map(|patience| Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(patience.subsec_nanos()),
    });
    let mut watched = [PollFd::from_borrowed_fd(handle, PollFlags::IN)];
    match rustix::event::poll(&mut watched, patience.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(SandboxError::Wait(error.into())),
    }
}
