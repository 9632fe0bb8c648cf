//! One background process, as everybody sees it: what it is, how it stands, what it wrote.
//!
//! The thread that looks after it writes here; callers read, wait, send input and ask for its end.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use super::error::BackgroundError;
use super::log::{Output, OutputSpan, OutputStream, ProcessLog, ProcessStatus, file_name};
use crate::{Clock, Error, UserId};
use fileshed_storage::DiskError;
use fileshed_types::fair::Grant;

/// What is called once when something happened.
pub type Wake = Box<dyn FnOnce() + Send>;

/// A process that outlives the call that started it.
#[derive(Debug)]
pub struct BackgroundProcess {
    id: String,
    user: Option<UserId>,
    chat: String,
    command: String,
    cwd: String,
    started: i64,
    log: Mutex<ProcessLog>,
    state: Mutex<ProcessState>,
    waiters: Mutex<Waiters>,
    /// Nothing of one that ended.
    control: Mutex<Option<Arc<Control>>>,
    /// Counted while it runs.
    place: Mutex<Option<Grant>>,
}

/// How it stands.
#[derive(Clone, Copy, Debug)]
struct ProcessState {
    status: ProcessStatus,
    exit_code: Option<i32>,
    /// Unix seconds of its end.
    ended: Option<i64>,
}

/// What is asked of the thread that looks after a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Request {
    /// Nothing.
    None,
    /// To ask it to end.
    Terminate,
    /// To end it.
    Kill,
}

/// The ways to a process that runs.
#[derive(Debug)]
pub(crate) struct Control {
    /// Its standard input; nothing once that was closed.
    input: Mutex<Option<OwnedFd>>,
    patience: InputPatience,
    request: AtomicU8,
    /// Readable once something is asked.
    wake: OwnedFd,
}

/// How long input waits for a process that does not read.
#[derive(Clone, Debug)]
pub(crate) struct InputPatience {
    /// By which clock.
    pub(crate) clock: Clock,
    pub(crate) time: Duration,
}

/// Who waits for output or the end.
#[derive(Debug, Default)]
struct Waiters {
    next: u64,
    waiting: HashMap<u64, Waiter>,
}

struct Waiter {
    /// It has seen so many entries.
    seen: u64,
    wake: Wake,
}

impl std::fmt::Debug for Waiter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Waiter({})", self.seen)
    }
}

/// Somebody who waits. Dropped, nobody does.
#[derive(Debug)]
pub struct Waiting {
    process: Arc<BackgroundProcess>,
    number: u64,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.process.waiters().waiting.remove(&self.number);
    }
}

/// What a process is called by.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) id: String,
    pub(crate) user: Option<UserId>,
    pub(crate) chat: String,
    pub(crate) command: String,
    pub(crate) cwd: String,
    /// Unix seconds of its start.
    pub(crate) started: i64,
}

impl BackgroundProcess {
    /// One that begins to run; `input` leads to its standard input.
    pub(crate) fn new(
        identity: Identity,
        log: ProcessLog,
        input: OwnedFd,
        patience: InputPatience,
    ) -> Result<Self, Error> {
        let fail = |error: Errno| DiskError::server(error);
        rustix::io::ioctl_fionbio(&input, true).map_err(fail)?;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = rustix::event::eventfd(0, flags).map_err(fail)?;
        let control = Control {
            input: Mutex::new(Some(input)),
            patience,
            request: AtomicU8::new(Request::None as u8),
            wake,
        };
        let state = ProcessState {
            status: ProcessStatus::Running,
            exit_code: None,
            ended: None,
        };
        Ok(Self::of(identity, log, state, Some(Arc::new(control))))
    }

    /// One that was cut off by the end of the server that started it.
    pub(crate) fn cut_off(identity: Identity, log: ProcessLog, at: i64) -> Self {
        let state = ProcessState {
            status: ProcessStatus::Killed,
            exit_code: None,
            ended: Some(at),
        };
        Self::of(identity, log, state, None)
    }

    fn of(
        identity: Identity,
        log: ProcessLog,
        state: ProcessState,
        control: Option<Arc<Control>>,
    ) -> Self {
        Self {
            id: identity.id,
            user: identity.user,
            chat: identity.chat,
            command: identity.command,
            cwd: identity.cwd,
            started: identity.started,
            log: Mutex::new(log),
            state: Mutex::new(state),
            waiters: Mutex::default(),
            control: Mutex::new(control),
            place: Mutex::default(),
        }
    }

    /// The same, counted among those that run.
    pub(crate) fn with_place(self, place: Grant) -> Self {
        *lock(&self.place) = Some(place);
        self
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// For whom it runs, where users are told apart.
    pub(crate) fn user(&self) -> Option<&UserId> {
        self.user.as_ref()
    }

    /// The conversation in which it was started.
    pub(crate) fn chat(&self) -> &str {
        &self.chat
    }

    /// The line that the shell got.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Where it began, as a path of the tree.
    #[must_use]
    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Where its log is, as a path of the tree.
    #[must_use]
    pub fn log_path(&self) -> String {
        format!("/logs/{}", file_name(&self.id))
    }

    /// How it stands, and with what it ended: the exit status, or the negative number of a signal.
    #[must_use]
    pub fn status(&self) -> (ProcessStatus, Option<i32>) {
        let state = self.state();
        (state.status, state.exit_code)
    }

    /// Whether it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state().status == ProcessStatus::Running
    }

    /// Unix seconds of its start.
    pub(crate) fn started(&self) -> i64 {
        self.started
    }

    /// Unix seconds of its end.
    pub(crate) fn ended(&self) -> Option<i64> {
        self.state().ended
    }

    /// Bytes of its log.
    pub(crate) fn log_size(&self) -> u64 {
        self.log().size()
    }

    /// What it wrote.
    pub fn output(&self, span: OutputSpan) -> Result<Output, Error> {
        self.log().read(span)
    }

    /// Calls `wake` once it has written more than `seen` entries, or has ended. Nothing where that is
    /// so by now: then nobody is called.
    pub fn wake_after(self: &Arc<Self>, seen: u64, wake: Wake) -> Option<Waiting> {
        let mut waiters = self.waiters();
        if !self.is_running() || self.log().entries() > seen {
            return None;
        }
        let number = waiters.next;
        waiters.next += 1;
        waiters.waiting.insert(number, Waiter { seen, wake });
        Some(Waiting {
            process: Arc::clone(self),
            number,
        })
    }

    /// Enters what it wrote, or what the server says of it.
    pub(crate) fn wrote(&self, stream: OutputStream, data: String, ts: f64) {
        let entries = {
            let mut log = self.log();
            log.write(stream, data, ts);
            log.entries()
        };
        self.notify(|waiter| waiter.seen < entries);
    }

    /// Enters its end. From now on it has no input.
    pub(crate) fn end(&self, exit_code: Option<i32>, stopped: bool, (ts, now): (f64, i64)) {
        *lock(&self.place) = None;
        let control = lock(&self.control).take();
        let was_asked = control.is_some_and(|control| control.request() != Request::None);
        let status = if stopped || was_asked {
            ProcessStatus::Killed
        } else {
            ProcessStatus::Done
        };
        self.log().end(status, exit_code, ts);
        *self.state() = ProcessState {
            status,
            exit_code,
            ended: Some(now),
        };
        self.notify(|_| true);
    }

    fn notify(&self, is_meant: impl Fn(&Waiter) -> bool) {
        let mut waiters = self.waiters();
        let meant: Vec<u64> = waiters
            .waiting
            .iter()
            .filter(|(_, waiter)| is_meant(waiter))
            .map(|(number, _)| *number)
            .collect();
        let meant = meant
            .iter()
            .filter_map(|number| waiters.waiting.remove(number));
        let meant: Vec<Waiter> = meant.collect();
        drop(waiters);
        for waiter in meant {
            (waiter.wake)();
        }
    }

    /// Writes to its standard input. An end-of-transmission character closes it, as it does at a
    /// terminal.
    pub fn send(&self, text: &[u8]) -> Result<(), BackgroundError> {
        let closed = || BackgroundError::InputClosed {
            id: self.id.clone(),
        };
        if !self.is_running() {
            return Err(BackgroundError::Ended {
                id: self.id.clone(),
            });
        }
        let control = self.control().ok_or_else(closed)?;
        let mut input = lock(&control.input);
        let handle = input.as_ref().ok_or_else(closed)?;
        let until = text.iter().position(|byte| *byte == END_OF_TRANSMISSION);
        self.write_whole(
            (handle, &control.patience),
            text.get(..until.unwrap_or(text.len())).unwrap_or_default(),
        )?;
        if until.is_some() {
            *input = None;
        }
        Ok(())
    }

    fn write_whole(
        &self,
        (handle, patience): (&OwnedFd, &InputPatience),
        mut text: &[u8],
    ) -> Result<(), BackgroundError> {
        let clock = &patience.clock;
        let deadline = clock.instant() + patience.time;
        while !text.is_empty() {
            match rustix::io::write(handle, text) {
                Ok(written) => text = text.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let left = clock.until_look(deadline);
                    if left.is_zero() || !self.is_running() {
                        return Err(BackgroundError::InputFull {
                            id: self.id.clone(),
                            left: text.len(),
                        });
                    }
                    wait_for(&mut [PollFd::new(handle, PollFlags::OUT)], left);
                }
                Err(_) => {
                    return Err(BackgroundError::InputClosed {
                        id: self.id.clone(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Asks it to end; with `force` ends it.
    pub fn stop(&self, force: bool) {
        let Some(control) = self.control() else {
            return;
        };
        let request = if force {
            Request::Kill
        } else {
            Request::Terminate
        };
        control.request.fetch_max(request as u8, Ordering::SeqCst);
        let _full_is_readable = rustix::io::write(&control.wake, &1_u64.to_ne_bytes());
    }

    /// The ways to it; nothing once it has ended.
    pub(crate) fn control(&self) -> Option<Arc<Control>> {
        lock(&self.control).clone()
    }

    fn log(&self) -> MutexGuard<'_, ProcessLog> {
        lock(&self.log)
    }

    fn state(&self) -> MutexGuard<'_, ProcessState> {
        lock(&self.state)
    }

    fn waiters(&self) -> MutexGuard<'_, Waiters> {
        lock(&self.waiters)
    }
}

impl Control {
    /// What was asked.
    pub(crate) fn request(&self) -> Request {
        match self.request.load(Ordering::SeqCst) {
            0 => Request::None,
            1 => Request::Terminate,
            _ => Request::Kill,
        }
    }

    /// Becomes readable when something is asked.
    pub(crate) fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// What was asked so far is known.
    pub(crate) fn heard(&self) {
        let mut count = [0; 8];
        let _nothing_new = rustix::io::read(&self.wake, &mut count);
    }
}

/// What Ctrl-D sends.
const END_OF_TRANSMISSION: u8 = 4;

/// Waits until one of these is ready, or `patience` is over.
pub(crate) fn wait_for(watched: &mut [PollFd<'_>], patience: Duration) {
    let patience = Timespec {
        tv_sec: patience.as_secs() as i64,
        tv_nsec: i64::from(patience.subsec_nanos()),
    };
    // Interrupted or refused, the callers look for themselves.
    let _ready = rustix::event::poll(watched, Some(&patience));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
