//! Interactive shells of people: opened and ended by calls, used over a socket.

mod client;
pub(super) mod close;
pub(super) mod list;
pub(super) mod open;
pub(super) mod read;
pub(super) mod socket;
pub(super) mod write;

use fileshed_core::shells::ShellEntry;
use serde::Serialize;

/// A shell as clients see it.
#[derive(Serialize)]
pub(super) struct ShellAnswer {
    /// What a client connects with; in a list a name, which opens nothing.
    id: String,
    /// When it began.
    created_at: String,
}

impl From<ShellEntry> for ShellAnswer {
    fn from(entry: ShellEntry) -> Self {
        Self {
            id: entry.id,
            created_at: entry.created.to_string(),
        }
    }
}
