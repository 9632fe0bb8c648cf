//! The terminal of a shell between its thread and its client: input that is not taken yet, output, and
//! the client that may see it.

use std::collections::VecDeque;
use std::fmt;

use jiff::Timestamp;

use super::scrollback::Scrollback;
use fileshed_sandbox::TerminalSize;

/// Bytes that were typed and that the shell has not taken; a client that types more waits.
pub(super) const TYPED: usize = 64 * 1024;

/// Bytes that a client has not taken; a shell that writes more waits.
const AHEAD: u64 = 64 * 1024;

/// Bytes that a thread types at once.
const AT_ONCE: usize = 4096;

/// The terminal of one shell.
pub(crate) struct Screen {
    pub(super) credential: ShellCredential,
    pub(super) client: Option<ConnectedClient>,
    /// Since when nobody is connected.
    pub(super) alone_since: Timestamp,
    pub(super) scrollback: Scrollback,
    pub(super) typed: VecDeque<u8>,
    /// A size that its terminal does not have yet.
    pub(super) size: Option<TerminalSize>,
    /// `true` if programs are to draw anew what they show.
    pub(super) redraw: bool,
    /// `true` if nothing but the shell itself has the terminal, and nothing happened there since that
    /// was looked at.
    pub(crate) at_prompt: bool,
}

/// The id of a shell, with which somebody without another credential connects once.
pub(super) struct ShellCredential {
    pub(super) id: String,
    pub(super) expires: Timestamp,
    pub(super) used: bool,
    /// `true` if it was given for a shell that was there before.
    pub(super) resumes: bool,
}

/// The client that is connected.
pub(super) struct ConnectedClient {
    /// Tells this connection from earlier ones.
    pub(super) number: u64,
    /// Earlier output that it is shown first.
    pub(super) replay: VecDeque<u8>,
    /// The position in the output up to which it has taken it.
    pub(super) taken: u64,
}

/// The next steps of the thread of a shell at its terminal.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// Bytes to type.
    pub(crate) typed: Vec<u8>,
    /// `true` if there is room for what it writes.
    pub(crate) has_room: bool,
    /// The size that its terminal gets.
    pub(crate) size: Option<TerminalSize>,
    /// `true` if programs are to draw anew what they show.
    pub(crate) redraw: bool,
    /// Since when nobody is connected; `None` if somebody is.
    pub(crate) alone_since: Option<Timestamp>,
}

impl ShellCredential {
    /// Returns `true` if somebody may still come with it.
    pub(super) fn is_good(&self, now: Timestamp) -> bool {
        !self.used && now < self.expires
    }
}

impl Screen {
    pub(super) fn new(credential: ShellCredential, now: Timestamp) -> Self {
        Self {
            credential,
            client: None,
            alone_since: now,
            scrollback: Scrollback::default(),
            typed: VecDeque::new(),
            size: None,
            redraw: false,
            at_prompt: false,
        }
    }

    /// Returns `true` if nobody is connected or may still come with its id.
    pub(super) fn is_free(&self, now: Timestamp) -> bool {
        self.client.is_none() && !self.credential.is_good(now)
    }

    /// Shows what programs wrote.
    pub(super) fn show(&mut self, bytes: &[u8]) {
        self.scrollback.push(bytes);
        self.at_prompt = false;
    }

    /// Returns what its thread has to do next.
    pub(super) fn orders(&mut self) -> Orders {
        let client = self.client.as_ref();
        let ahead = client.map_or(0, |client| self.scrollback.written - client.taken);
        Orders {
            typed: self.typed.iter().take(AT_ONCE).copied().collect(),
            has_room: ahead < AHEAD,
            size: self.size.take(),
            redraw: std::mem::take(&mut self.redraw),
            alone_since: self.client.is_none().then_some(self.alone_since),
        }
    }

    /// Takes what was typed, as far as there is room; returns how much that was.
    pub(super) fn type_in(&mut self, bytes: &[u8]) -> usize {
        let count = bytes.len().min(TYPED.saturating_sub(self.typed.len()));
        self.typed.extend(&bytes[..count]);
        self.at_prompt = false;
        count
    }
}

impl fmt::Debug for Screen {
    /// Hides what was typed and written.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Screen").finish_non_exhaustive()
    }
}
