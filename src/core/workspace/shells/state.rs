//! What the thread of a shell and its client share: what was typed and not taken yet, what was
//! written, and who may see it.

use std::collections::VecDeque;
use std::fmt;

use jiff::Timestamp;

use super::scrollback::Scrollback;
use crate::Chat;
use fileshed_sandbox::TerminalSize;

/// Bytes that were typed and that the shell has not taken; who types more waits.
const TYPED: usize = 64 * 1024;

/// Bytes that a client has not taken; a shell that writes more waits.
const AHEAD: u64 = 64 * 1024;

/// What wakes the client of a shell.
pub type ShellWake = Box<dyn Fn() + Send>;

/// Everything about a shell that changes.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one shell"
)]
pub(super) struct ShellState {
    /// The conversation to which it belongs.
    pub(super) chat: Chat,
    pub(super) credential: ShellCredential,
    pub(super) client: Option<ShellClient>,
    /// Since when nobody is connected.
    pub(super) alone_since: Timestamp,
    pub(super) scrollback: Scrollback,
    pub(super) typed: VecDeque<u8>,
    /// A size that its terminal does not have yet.
    pub(super) size: Option<TerminalSize>,
    /// Whether programs are to draw anew what they show.
    pub(super) redraw: bool,
    /// Whether nothing but the shell itself has the terminal, and nothing happened there since that was
    /// looked at.
    pub(super) at_prompt: bool,
    pub(super) stopping: bool,
    pub(super) ended: bool,
}

/// The id of a shell, with which somebody without another credential connects once.
pub(super) struct ShellCredential {
    pub(super) id: String,
    pub(super) expires: Timestamp,
    pub(super) used: bool,
    /// Whether it was given for a shell that was there before.
    pub(super) resumes: bool,
}

impl ShellCredential {
    /// Whether somebody may still come with it.
    pub(super) fn is_good(&self, now: Timestamp) -> bool {
        !self.used && now < self.expires
    }
}

/// Who is connected.
pub(super) struct ShellClient {
    /// Tells this connection from earlier ones.
    pub(super) number: u64,
    pub(super) wake: ShellWake,
    /// What it is shown first.
    pub(super) replay: VecDeque<u8>,
    /// Up to where it has taken what was written.
    pub(super) taken: u64,
}

impl ShellState {
    pub(super) fn new(chat: Chat, credential: ShellCredential, now: Timestamp) -> Self {
        Self {
            chat,
            credential,
            client: None,
            alone_since: now,
            scrollback: Scrollback::default(),
            typed: VecDeque::new(),
            size: None,
            redraw: false,
            at_prompt: false,
            stopping: false,
            ended: false,
        }
    }

    /// Whether there is a place for what the shell writes.
    pub(super) fn has_room(&self) -> bool {
        let client = self.client.as_ref();
        client.is_none_or(|client| self.scrollback.written() - client.taken < AHEAD)
    }

    /// Whether so many bytes can be typed at once.
    pub(super) fn has_room_for(&self, bytes: usize) -> bool {
        self.typed.len() + bytes <= TYPED
    }

    /// Takes what was typed, as far as there is room; how much that was.
    pub(super) fn type_in(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(TYPED.saturating_sub(self.typed.len()));
        self.typed.extend(&bytes[..count]);
        self.at_prompt = false;
        count
    }

    /// Tells the client that something has changed.
    pub(super) fn wake(&self) {
        if let Some(client) = &self.client {
            (client.wake)();
        }
    }
}

impl fmt::Debug for ShellState {
    /// What was typed and written is nobody's business.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ShellState").finish_non_exhaustive()
    }
}
