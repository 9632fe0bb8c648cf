//! One process that outlives the call that started it, as everybody sees it.
//!
//! The thread that looks after it writes here what it does; callers read, wait, type and ask for its
//! end.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, MutexGuard};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use super::error::BackgroundError;
use super::log::{Output, OutputSpan, OutputStream, ProcessLog, ProcessStatus, file_name};
use super::screen::{Orders, Screen};
use fileshed_sandbox::TerminalWaker;
use fileshed_types::fair::Grant;
use fileshed_types::{Chat, Clock, Error, Mutex, UserId};

/// The character that Ctrl-D sends.
const END_OF_TRANSMISSION: u8 = 4;

/// Called whenever something happened.
pub type WakeCallback = Box<dyn Fn() + Send>;

/// A line of the shell, or an interactive shell.
#[derive(Debug)]
pub struct Process {
    /// The owner of the process, and the place where it was started.
    pub identity: Identity,
    streams: Streams,
    state: Mutex<ProcessState>,
    ended: Condvar,
    pub(super) clock: Clock,
}

/// The unchanging facts about a process.
#[derive(Debug)]
pub struct Identity {
    /// The id of a line; of a shell its name in lists, which opens nothing.
    pub(crate) id: String,
    /// Key of the tenant whose process it is.
    pub(crate) tenant: String,
    /// The user, if users are told apart.
    pub user: Option<UserId>,
    /// The line that the shell got; of an interactive shell its name.
    pub command: String,
    /// The directory in which it began, as a path of the tree.
    pub cwd: String,
    /// The moment of its start.
    pub started: Timestamp,
}

/// The two ways to reach a process.
#[derive(Debug)]
pub(crate) enum Streams {
    /// Pipes, whose output is in a log.
    Pipes {
        log: Mutex<ProcessLog>,
        /// Its standard input, until that is closed.
        input: Mutex<Option<OwnedFd>>,
    },
    /// A terminal, at which a client may sit.
    Terminal(Mutex<Screen>),
}

/// The changing facts about a process.
#[derive(Default)]
struct ProcessState {
    /// The conversation to which it belongs.
    chat: Chat,
    request: EndRequest,
    status: ProcessStatus,
    exit_code: Option<i32>,
    /// Unix seconds of its end.
    ended: Option<i64>,
    /// Its place among those that run.
    place: Option<Grant>,
    /// Wakes its thread, as long as it runs.
    waker: Option<Arc<TerminalWaker>>,
    /// Entries of its log.
    entries: u64,
    next_listener: u64,
    listeners: HashMap<u64, OutputListener>,
}

/// A wish for the end of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EndRequest {
    /// There is none.
    #[default]
    None,
    /// It is to end by itself.
    Terminate,
    /// It is to be ended.
    Kill,
}

/// A listener for output and the end.
struct OutputListener {
    /// Entries that it has seen.
    seen: u64,
    wake: WakeCallback,
}

/// A place among the listeners of a process. Dropped, it is gone.
#[derive(Debug)]
pub struct Listening {
    pub(super) process: Arc<Process>,
    pub(super) number: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.process.state().listeners.remove(&self.number);
    }
}

impl std::fmt::Debug for ProcessState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("ProcessState");
        shown.field("status", &self.status).finish_non_exhaustive()
    }
}

impl Process {
    /// A process that begins to run, in `place` among all.
    pub(crate) fn begin(
        identity: Identity,
        chat: Chat,
        streams: Streams,
        place: Grant,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let state = ProcessState {
            chat,
            place: Some(place),
            waker: Some(Arc::new(TerminalWaker::new()?)),
            ..ProcessState::default()
        };
        Ok(Self::of(identity, streams, state, clock))
    }

    /// A line that was cut off by the end of the server that started it, which was noticed at a Unix
    /// second.
    pub(crate) fn cut_off(
        identity: Identity,
        chat: Chat,
        log: ProcessLog,
        noticed: i64,
        clock: &Clock,
    ) -> Self {
        let (log, input) = (Mutex::new(log), Mutex::default());
        let state = ProcessState {
            chat,
            status: ProcessStatus::Killed,
            ended: Some(noticed),
            ..ProcessState::default()
        };
        Self::of(identity, Streams::Pipes { log, input }, state, clock)
    }

    fn of(identity: Identity, streams: Streams, state: ProcessState, clock: &Clock) -> Self {
        Self {
            identity,
            streams,
            state: Mutex::new(state),
            ended: Condvar::new(),
            clock: clock.clone(),
        }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.identity.id
    }

    /// Its name for administrators, by which they end it.
    pub fn public_id(&self) -> String {
        let kind = if self.is_shell() { "shell" } else { "process" };
        format!("{kind}-{}", self.id())
    }

    /// The place of its log, as a path of the tree.
    #[must_use]
    pub fn log_path(&self) -> String {
        format!("/logs/{}", file_name(self.id()))
    }

    /// Returns `true` for an interactive shell.
    pub fn is_shell(&self) -> bool {
        matches!(self.streams, Streams::Terminal(_))
    }

    /// Returns `true` for a line of a tenant.
    pub(super) fn is_line_of(&self, tenant: &str) -> bool {
        !self.is_shell() && self.identity.tenant == tenant
    }

    /// Returns `true` if it belongs to a conversation.
    pub(crate) fn is_of(&self, chat: &Chat) -> bool {
        self.state().chat == *chat
    }

    /// Gives it to another conversation.
    pub(super) fn move_to(&self, chat: &Chat) {
        self.state().chat = chat.clone();
    }

    /// Its status, and with what it ended: the exit status, or the negative number of a signal.
    #[must_use]
    pub fn status(&self) -> (ProcessStatus, Option<i32>) {
        let state = self.state();
        (state.status, state.exit_code)
    }

    /// Returns `true` while it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.state().status == ProcessStatus::Running
    }

    /// Returns the Unix second of its end.
    pub(crate) fn ended(&self) -> Option<i64> {
        self.state().ended
    }

    /// The terminal, if it has one.
    pub(crate) fn screen(&self) -> Option<MutexGuard<'_, Screen>> {
        match &self.streams {
            Streams::Pipes { .. } => None,
            Streams::Terminal(screen) => Some(screen.lock()),
        }
    }

    fn log(&self) -> Option<MutexGuard<'_, ProcessLog>> {
        match &self.streams {
            Streams::Pipes { log, .. } => Some(log.lock()),
            Streams::Terminal(_) => None,
        }
    }

    /// Bytes of its log.
    pub(crate) fn log_size(&self) -> u64 {
        self.log().map_or(0, |log| log.bytes)
    }

    /// Reads what a line wrote.
    pub fn output(&self, span: OutputSpan) -> Result<Output, Error> {
        match self.log() {
            Some(log) => log.read(span),
            None => Ok(Output::default()),
        }
    }

    /// Calls `wake` whenever it has written more than `seen` entries, or has ended. `None` if it has
    /// by now: then nobody is called.
    pub fn listen_beyond(self: &Arc<Self>, seen: u64, wake: WakeCallback) -> Option<Listening> {
        let mut state = self.state();
        let is_over = state.status != ProcessStatus::Running || state.entries > seen;
        (!is_over).then(|| self.add_listener(&mut state, OutputListener { seen, wake }))
    }

    /// Calls `wake` whenever something happens.
    pub(super) fn listen(self: &Arc<Self>, wake: WakeCallback) -> Listening {
        self.add_listener(&mut self.state(), OutputListener { seen: 0, wake })
    }

    fn add_listener(
        self: &Arc<Self>,
        state: &mut ProcessState,
        listener: OutputListener,
    ) -> Listening {
        state.next_listener += 1;
        let number = state.next_listener;
        state.listeners.insert(number, listener);
        Listening {
            process: Arc::clone(self),
            number,
        }
    }

    /// Tells the listeners that have not seen all of so many entries; after the end, all of them.
    pub(super) fn notify(&self, entries: u64) {
        let mut state = self.state();
        state.entries = state.entries.max(entries);
        let is_over = state.status != ProcessStatus::Running;
        let listeners = state.listeners.values();
        for listener in listeners.filter(|listener| is_over || listener.seen < entries) {
            (listener.wake)();
        }
    }

    /// Enters what a line wrote to a stream.
    pub(crate) fn wrote(&self, stream: OutputStream, text: String) {
        if let Some(mut log) = self.log() {
            log.write(stream, text, self.clock.seconds());
            let entries = log.entries;
            drop(log);
            self.notify(entries);
        }
    }

    /// Shows what the programs at a terminal wrote.
    pub(crate) fn show(&self, bytes: &[u8]) {
        if let Some(mut screen) = self.screen() {
            screen.show(bytes);
            drop(screen);
            self.notify(u64::MAX);
        }
    }

    /// Adds a line of the server's own to its output.
    pub(crate) fn remark(&self, line: &str) {
        match &self.streams {
            Streams::Pipes { .. } => self.wrote(OutputStream::Stderr, format!("{line}\n")),
            Streams::Terminal(_) => self.show(format!("\r\n{line}\r\n").as_bytes()),
        }
    }

    /// Adds remarks to its output, and why something was refused, if it was.
    pub(crate) fn tell(&self, remarks: &[String], refused: Option<&Error>) {
        for remark in remarks {
            self.remark(remark);
        }
        if let Some(refused) = refused {
            self.complain(refused);
        }
    }

    /// Says in its output why something was refused.
    pub(crate) fn complain(&self, error: &Error) {
        match &self.streams {
            Streams::Pipes { .. } => self.remark(error.message()),
            Streams::Terminal(_) => {
                self.remark(&format!("fileshed: {}; {}", error.message(), error.hint()));
            }
        }
    }

    /// Returns what the thread of a shell has to do next at its terminal.
    pub(crate) fn orders(&self) -> Orders {
        self.screen()
            .map(|mut screen| screen.orders())
            .unwrap_or_default()
    }

    /// Notes that so many bytes were typed.
    pub(crate) fn took(&self, count: usize) {
        if let Some(mut screen) = self.screen() {
            screen.typed.drain(..count);
            drop(screen);
            self.notify(u64::MAX);
        }
    }

    /// Writes to the standard input of a line. An end-of-transmission character closes it, as it does
    /// at a terminal. Waits so long for a process that does not read.
    pub fn send(&self, text: &[u8], patience: Duration) -> Result<(), BackgroundError> {
        let id = || self.id().to_owned();
        if !self.is_running() {
            return Err(BackgroundError::Ended { id: id() });
        }
        let closed = || BackgroundError::InputClosed { id: id() };
        let Streams::Pipes { input, .. } = &self.streams else {
            return Err(closed());
        };
        let mut input = input.lock();
        let handle = input.as_ref().ok_or_else(closed)?;
        let end = text.iter().position(|byte| *byte == END_OF_TRANSMISSION);
        let until = end.unwrap_or(text.len());
        let written = self.write_whole(handle, &text[..until], patience);
        if (end.is_some() && written.is_ok()) || !self.is_running() {
            *input = None;
        }
        written
    }

    fn write_whole(
        &self,
        handle: &OwnedFd,
        mut text: &[u8],
        patience: Duration,
    ) -> Result<(), BackgroundError> {
        let id = || self.id().to_owned();
        let deadline = self.clock.instant() + patience;
        while !text.is_empty() {
            match rustix::io::write(handle, text) {
                Ok(written) => text = &text[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let time = self.clock.until_look(deadline);
                    if time.is_zero() || !self.is_running() {
                        let left = text.len();
                        return Err(BackgroundError::InputFull { id: id(), left });
                    }
                    wait_for(&mut [PollFd::new(handle, PollFlags::OUT)], time);
                }
                Err(_) => return Err(BackgroundError::InputClosed { id: id() }),
            }
        }
        Ok(())
    }

    /// Asks it to end; with `force` ends it.
    pub fn stop(&self, force: bool) {
        let mut state = self.state();
        state.request = state.request.max(if force {
            EndRequest::Kill
        } else {
            EndRequest::Terminate
        });
        drop(state);
        self.wake();
    }

    /// Ends it for a reason that its user is told.
    pub fn end_for(&self, reason: &Error) {
        match &self.streams {
            Streams::Pipes { .. } => self.remark(&format!("ended: {}", reason.message())),
            Streams::Terminal(_) => self.complain(reason),
        }
        self.stop(true);
    }

    /// Returns the strongest wish for its end.
    pub(crate) fn request(&self) -> EndRequest {
        self.state().request
    }

    /// Wakes its thread.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &self.state().waker {
            waker.wake();
        }
    }

    /// Returns what wakes its thread, as long as it runs.
    pub(crate) fn waker(&self) -> Option<Arc<TerminalWaker>> {
        self.state().waker.clone()
    }

    /// Enters its end, which the server caused if it `stopped` it. From now on it has no input.
    pub(crate) fn end(&self, exit_code: Option<i32>, stopped: bool) {
        let place = self.state().place.take();
        drop(place);
        let status = if stopped || self.request() != EndRequest::None {
            ProcessStatus::Killed
        } else {
            ProcessStatus::Done
        };
        if let Some(mut log) = self.log() {
            log.end(status, exit_code, self.clock.seconds());
        }
        let mut state = self.state();
        state.status = status;
        state.exit_code = exit_code;
        state.ended = Some(self.clock.now().as_second());
        state.waker = None;
        drop(state);
        // A caller that types meanwhile closes it.
        if let Streams::Pipes { input, .. } = &self.streams
            && let Some(mut input) = input.try_lock()
        {
            *input = None;
        }
        self.ended.notify_all();
        self.notify(u64::MAX);
    }

    /// Waits for its end, at most until a deadline.
    pub(crate) fn wait_for_end(&self, deadline: Instant) {
        let is_running = |state: &mut ProcessState| state.status == ProcessStatus::Running;
        let state = self.state();
        drop(
            self.clock
                .wait_while(&self.ended, state, deadline, is_running),
        );
    }

    fn state(&self) -> MutexGuard<'_, ProcessState> {
        self.state.lock()
    }
}

/// Waits until one of these is ready, or `patience` is over.
pub(crate) fn wait_for(watched: &mut [PollFd<'_>], patience: Duration) {
    // Interrupted or refused, the callers look for themselves.
    let _ready = fileshed_sandbox::poll(watched, Some(patience));
}
