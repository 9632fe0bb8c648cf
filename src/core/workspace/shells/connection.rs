//! A client that is connected to a shell.

use std::collections::VecDeque;
use std::sync::Arc;

use super::shell::Shell;
use super::state::ShellState;
use crate::Clock;
use fileshed_sandbox::TerminalSize;

/// A client that is connected to a shell. Dropped, it has left, and the shell stays.
#[derive(Debug)]
pub struct ShellConnection {
    pub(super) shell: Arc<Shell>,
    pub(super) number: u64,
    pub(super) clock: Clock,
}

/// What there is for the client of a shell.
#[derive(Debug, PartialEq, Eq)]
pub enum ShellOutput {
    /// Bytes of the terminal.
    Bytes(Vec<u8>),
    /// Nothing yet: it will be woken.
    Nothing,
    /// The shell is over, and everything was taken.
    Ended,
}

impl ShellConnection {
    /// The next of what was written, at most so many bytes. What is taken makes room for more.
    #[must_use]
    pub fn take(&self, most: usize) -> ShellOutput {
        let mut guard = self.shell.state();
        let ShellState {
            client,
            scrollback,
            ended,
            ..
        } = &mut *guard;
        let Some(client) = client
            .as_mut()
            .filter(|client| client.number == self.number)
        else {
            return ShellOutput::Ended;
        };
        if !client.replay.is_empty() {
            let count = client.replay.len().min(most);
            let bytes = client.replay.drain(..count).collect();
            if client.replay.is_empty() {
                client.replay = VecDeque::new();
            }
            return ShellOutput::Bytes(bytes);
        }
        let bytes = scrollback.since(client.taken, most);
        if bytes.is_empty() {
            return if *ended {
                ShellOutput::Ended
            } else {
                ShellOutput::Nothing
            };
        }
        client.taken += bytes.len() as u64;
        drop(guard);
        self.shell.waker().wake();
        ShellOutput::Bytes(bytes)
    }

    /// Types bytes; how many there was room for. The client is woken when there is more.
    #[must_use]
    pub fn type_in(&self, bytes: &[u8]) -> usize {
        let count = self.shell.state().type_in(bytes);
        self.shell.waker().wake();
        count
    }

    /// Gives the terminal another size.
    pub fn resize(&self, rows: u16, columns: u16) {
        if rows == 0 || columns == 0 {
            return;
        }
        self.shell.state().size = Some(TerminalSize { rows, columns });
        self.shell.waker().wake();
    }
}

impl Drop for ShellConnection {
    fn drop(&mut self) {
        let mut state = self.shell.state();
        let number = self.number;
        if state
            .client
            .as_ref()
            .is_some_and(|client| client.number == number)
        {
            state.client = None;
            state.alone_since = self.clock.now();
        }
        drop(state);
        self.shell.waker().wake();
    }
}
