//! A client that is connected to a shell.

use std::collections::VecDeque;

use super::Processes;
use super::error::ShellSessionError;
use super::process::{Listening, Process, WakeCallback};
use super::screen::{ConnectedClient, Screen, TYPED};
use fileshed_sandbox::TerminalSize;
use fileshed_types::UserId;

/// A client that is connected to a shell. Dropped, it has left, and the shell stays.
#[derive(Debug)]
pub struct ShellConnection(Listening);

/// News for the client of a shell.
#[derive(Debug, PartialEq, Eq)]
pub enum ShellOutput {
    /// Bytes of the terminal.
    Bytes(Vec<u8>),
    /// No bytes yet: the client will be woken.
    Nothing,
    /// The shell is over, and everything was taken.
    Ended,
}

impl Processes {
    /// Connects a client to a shell of a user, `once` and soon if the id is its only credential.
    /// `wake` is called whenever there is something to take, or room to type.
    pub fn connect(
        &self,
        user: Option<&UserId>,
        id: &str,
        once: bool,
        wake: WakeCallback,
    ) -> Result<ShellConnection, ShellSessionError> {
        let shell = self.shell(user, id)?;
        let mut screen = shell.screen().ok_or(ShellSessionError::Unknown)?;
        let credential = &screen.credential;
        let is_good = credential.is_good(shell.clock.now());
        // Another may have got a new id for it meanwhile. A client that has no right to it is not told
        // either whether somebody is there.
        if credential.id != id || (once && !is_good) {
            return Err(ShellSessionError::Unknown);
        }
        if screen.client.is_some() {
            return Err(ShellSessionError::Connected);
        }
        let listening = shell.listen(wake);
        screen.credential.used = true;
        let replay = VecDeque::from(screen.scrollback.replay());
        screen.redraw = !replay.is_empty();
        screen.client = Some(ConnectedClient {
            number: listening.number,
            replay,
            taken: screen.scrollback.written,
        });
        drop(screen);
        shell.notify(u64::MAX);
        shell.wake();
        Ok(ShellConnection(listening))
    }
}

impl ShellConnection {
    /// Takes the next bytes of output, at most so many, which makes room for more.
    #[must_use]
    pub fn take(&self, most: usize) -> ShellOutput {
        let shell = &self.0.process;
        // A shell that has ended has written all of its output.
        let ended = !shell.is_running();
        let Some(mut guard) = shell.screen() else {
            return ShellOutput::Ended;
        };
        let Screen {
            client, scrollback, ..
        } = &mut *guard;
        let client = client.as_mut();
        let Some(client) = client.filter(|client| client.number == self.0.number) else {
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
            return if ended {
                ShellOutput::Ended
            } else {
                ShellOutput::Nothing
            };
        }
        client.taken += bytes.len() as u64;
        drop(guard);
        shell.wake();
        ShellOutput::Bytes(bytes)
    }

    /// Types bytes; returns how many there was room for. The client is woken when there is more.
    #[must_use]
    pub fn type_in(&self, bytes: &[u8]) -> usize {
        let shell = &self.0.process;
        let count = shell.screen().map_or(0, |mut screen| screen.type_in(bytes));
        shell.wake();
        count
    }

    /// Gives the terminal another size.
    pub fn resize(&self, rows: u16, columns: u16) {
        if rows == 0 || columns == 0 {
            return;
        }
        if let Some(mut screen) = self.0.process.screen() {
            screen.size = Some(TerminalSize { rows, columns });
        }
        self.0.process.wake();
    }
}

impl Drop for ShellConnection {
    fn drop(&mut self) {
        let shell = &self.0.process;
        if let Some(mut screen) = shell.screen() {
            let client = screen.client.as_ref();
            if client.is_some_and(|client| client.number == self.0.number) {
                screen.client = None;
                screen.alone_since = shell.clock.now();
            }
        }
        shell.wake();
    }
}

impl Process {
    /// Returns `true` if this is the id with which a client connects to this shell.
    pub(super) fn has_credential(&self, id: &str) -> bool {
        self.screen()
            .is_some_and(|screen| screen.credential.id == id)
    }

    /// Returns the end of what a shell shows, as text.
    pub(crate) fn shown(&self, most: usize) -> String {
        let screen = self.screen();
        screen
            .map(|screen| screen.scrollback.text(most))
            .unwrap_or_default()
    }

    /// Types into a shell: all of it, or nothing.
    pub(crate) fn type_all(&self, text: &str) -> Result<(), ShellSessionError> {
        if let Some(mut screen) = self.screen() {
            if screen.typed.len() + text.len() > TYPED {
                return Err(ShellSessionError::Full);
            }
            screen.type_in(text.as_bytes());
        }
        self.wake();
        Ok(())
    }

    /// Ends a shell by one of its ids. An id that was given for a shell that was there before and that
    /// nobody used is only given back: a client that leaves while a page loads means the page.
    pub(crate) fn close(&self, id: &str) {
        if let Some(mut screen) = self.screen() {
            let credential = &mut screen.credential;
            if credential.id == id && credential.resumes && !credential.used {
                credential.used = true;
                return;
            }
        }
        self.stop(true);
    }
}
