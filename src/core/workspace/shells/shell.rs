//! One interactive shell as everybody else sees it; its thread holds the terminal.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;

use super::state::{ShellCredential, ShellState};
use crate::{Chat, Clock, Error, UserId};
use fileshed_sandbox::{TerminalSize, TerminalWaker};

/// One shell of one user.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(super) user: Option<UserId>,
    /// The user as limits know it.
    pub(super) owner: String,
    pub(super) created: Timestamp,
    /// The name for lists, which opens nothing.
    pub(super) name: String,
    waker: TerminalWaker,
    state: Mutex<ShellState>,
    ended: Condvar,
}

/// What the thread of a shell has to do next.
#[derive(Debug)]
pub(crate) struct Orders {
    /// End it.
    pub(crate) stop: bool,
    /// What to type.
    pub(crate) typed: Vec<u8>,
    /// Whether there is room for what it writes.
    pub(crate) has_room: bool,
    /// The size that its terminal gets.
    pub(crate) size: Option<TerminalSize>,
    /// Whether programs are to draw anew what they show.
    pub(crate) redraw: bool,
    /// Since when nobody is connected, if nobody is.
    pub(crate) alone_since: Option<Timestamp>,
}

impl Shell {
    pub(super) fn new(
        user: Option<UserId>,
        owner: String,
        chat: Chat,
        (name, credential): (String, ShellCredential),
        waker: TerminalWaker,
        now: Timestamp,
    ) -> Self {
        Self {
            user,
            owner,
            created: now,
            name,
            waker,
            state: Mutex::new(ShellState::new(chat, credential, now)),
            ended: Condvar::new(),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, ShellState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes its thread.
    pub(crate) fn waker(&self) -> &TerminalWaker {
        &self.waker
    }

    /// What its thread has to do next.
    pub(crate) fn orders(&self) -> Orders {
        const AT_ONCE: usize = 4096;
        let mut state = self.state();
        let count = state.typed.len().min(AT_ONCE);
        Orders {
            stop: state.stopping,
            typed: state.typed.range(..count).copied().collect(),
            has_room: state.has_room(),
            size: state.size.take(),
            redraw: std::mem::take(&mut state.redraw),
            alone_since: state.client.is_none().then_some(state.alone_since),
        }
    }

    /// So many bytes were typed.
    pub(crate) fn took(&self, count: usize) {
        let mut state = self.state();
        state.typed.drain(..count);
        state.wake();
    }

    /// Its programs have written this.
    pub(crate) fn wrote(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.scrollback.push(bytes);
        state.at_prompt = false;
        state.wake();
    }

    /// Adds a line of the server's own.
    pub(crate) fn remark(&self, line: &str) {
        self.wrote(format!("\r\n{line}\r\n").as_bytes());
    }

    /// Says why something was refused.
    pub(crate) fn complain(&self, error: &Error) {
        self.remark(&format!("fileshed: {}; {}", error.message(), error.hint()));
    }

    /// Whether nothing but the shell itself has the terminal.
    pub(crate) fn set_at_prompt(&self, at_prompt: bool) {
        self.state().at_prompt = at_prompt;
    }

    /// It is over.
    pub(crate) fn set_ended(&self) {
        let mut state = self.state();
        state.ended = true;
        state.wake();
        self.ended.notify_all();
    }

    /// Asks for its end.
    pub(crate) fn stop(&self) {
        self.state().stopping = true;
        self.waker.wake();
    }

    /// Waits for its end, at most until a moment.
    pub(crate) fn wait_for_end(&self, clock: &Clock, deadline: Instant) {
        let state = self.state();
        drop(clock.wait_while(&self.ended, state, deadline, |state| !state.ended));
    }
}
