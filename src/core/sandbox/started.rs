//! A job that was started: asked for its end, ended, and never left alone.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown};

use super::SandboxError;
use super::cgroup::LentCgroup;
use super::descriptor::poll;
use super::egress::EgressGrant;
use super::job::JobSpec;
use super::kernel_accounts::LentAccount;
use super::message::{JobEvent, JobHandles, ReceivedMessage, StartRequest, pair};
use super::processes::{self, ProcessUsage};
use super::zygote::Zygote;
use fileshed_types::Clock;

/// Standard input, output and error of a job. Only the job holds them afterwards.
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
    /// Its status, once that was told.
    status: Cell<Option<i32>>,
    /// Its first process, once that was told.
    first: Cell<Option<i32>>,
    /// Given back when nothing runs in it any more.
    group: Option<LentCgroup>,
    /// The kernel account of its owner.
    account: Option<LentAccount>,
    /// Serves in the network of the job.
    network: Option<&'n EgressGrant>,
    clock: Clock,
    /// Longest wait for what was ended to be gone.
    last_wait: Duration,
}

/// Ends a job from elsewhere: from another thread, or when nobody knows any more whether it runs.
#[derive(Clone, Debug)]
pub struct JobHandle(Arc<OwnedFd>);

/// Starts a job in `directory`. It may have a network of its own, in which `network` serves while the job is
/// waited for.
pub fn start<'n>(
    zygote: &Zygote,
    spec: &JobSpec,
    directory: BorrowedFd<'_>,
    streams: StandardStreams,
    network: Option<&'n EgressGrant>,
) -> Result<StartedJob<'n>, SandboxError> {
    let group = zygote.group_for(spec)?;
    let entrance = group.as_ref().map(LentCgroup::entrance).transpose();
    let entrance = entrance.map_err(SandboxError::start)?;
    let account = zygote.account_for(spec);
    let number = account.as_ref().map(|account| account.number);
    let request = StartRequest::new(spec, entrance.is_some(), number);
    let written = written(spec).map_err(SandboxError::start)?;
    let (socket, answer) = pair().map_err(SandboxError::start)?;
    let handles = JobHandles {
        answer: answer.as_fd(),
        spec: written.as_fd(),
        input: streams.input.as_fd(),
        output: streams.output.as_fd(),
        error: streams.error.as_fd(),
        directory,
        group: entrance.as_ref().map(AsFd::as_fd),
        removals: spec.removals.as_ref().map(AsFd::as_fd),
        map: None,
    };
    zygote.start(request, &handles)?;
    // Only the job holds them from here on: their end is its end.
    drop(streams);
    Ok(StartedJob {
        socket: Arc::new(socket),
        status: Cell::new(None),
        first: Cell::new(None),
        group,
        account,
        network,
        clock: zygote.clock.clone(),
        last_wait: zygote.timings.end,
    })
}

/// Writes the spec to a file without a name.
fn written(job: &JobSpec) -> std::io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("job", MemfdFlags::CLOEXEC)?);
    file.write_all(&serde_json::to_vec(job)?)?;
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
            let mut end = [PollFd::new(&*self.socket, PollFlags::IN)];
            if poll(&mut end, look).map_err(SandboxError::wait)? == 0 {
                if deadline.is_some_and(|deadline| self.clock.is_past(deadline)) {
                    return Ok(None);
                }
                continue;
            }
            match self.receive()? {
                Some((JobEvent::Ended(status), _)) => self.status.set(Some(status)),
                Some((JobEvent::Started(first), _)) => self.first.set(Some(first)),
                Some((JobEvent::Listening, Some(listener))) => {
                    if let Some(network) = self.network {
                        network.listen(listener.into());
                    }
                }
                // The descriptor was lost: this process has as many as it may.
                Some((JobEvent::Listening, None)) => {
                    return Err(SandboxError::wait(ErrorKind::UnexpectedEof));
                }
                Some((JobEvent::Exhausted(error), _)) => {
                    let error = std::io::Error::from_raw_os_error(error);
                    return Err(SandboxError::Exhausted(error));
                }
                None => {}
            }
        }
    }

    /// Returns what its processes take beside files that have a name, as for files on `device`.
    #[must_use]
    pub fn usage(&self, device: Option<u64>, bin: &Path) -> ProcessUsage {
        let usage = |first| processes::usage(first, device, bin);
        self.first.get().map(usage).unwrap_or_default()
    }

    /// Returns `true` if the kernel ended it, because it took more memory than it may with
    /// everything that it started. To be asked after its end.
    #[must_use]
    pub fn ran_out_of_memory(&self) -> bool {
        self.group.as_ref().is_some_and(LentCgroup::was_ended)
    }

    /// Asks the job and everything that it started to end, as `kill` does.
    pub fn terminate(&self) {
        self.handle().terminate();
    }

    /// Ends the job and everything that it started. Its end is told as any other.
    pub fn kill(&self) {
        self.handle().kill();
    }

    /// The same from elsewhere.
    #[must_use]
    pub fn handle(&self) -> JobHandle {
        JobHandle(Arc::clone(&self.socket))
    }

    /// Receives the next message of the zygote and what comes along, unless there is none yet.
    fn receive(&self) -> Result<Option<(JobEvent, Option<OwnedFd>)>, SandboxError> {
        let mut received = match ReceivedMessage::from(&*self.socket) {
            Ok(received) => received,
            // The zygote has not read all that it was sent; what it told is still there.
            Err(Errno::INTR | Errno::CONNRESET) => return Ok(None),
            Err(error) => return Err(SandboxError::wait(error)),
        };
        // A zygote that has ended sends nothing.
        let ended = |_| SandboxError::wait(ErrorKind::UnexpectedEof);
        let event = serde_json::from_slice(&received.text).map_err(ended)?;
        Ok(Some((event, received.handles.pop())))
    }
}

impl JobHandle {
    /// Asks the job and everything that it started to end. Does nothing if it has ended.
    pub fn terminate(&self) {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        let _has_ended = rustix::net::send(&self.0, &[1], flags);
    }

    /// Ends the job and everything that it started. Does nothing if it has ended.
    pub fn kill(&self) {
        let _has_ended = rustix::net::shutdown(&self.0, Shutdown::Write);
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
                // Nobody knows when the job ends: its owner keeps the account for good.
                std::mem::forget(account);
            }
        }
    }
}
