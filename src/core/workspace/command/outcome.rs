//! How a command ended, as its zone sees it.

use super::portable::Renamed;
use fileshed_sandbox::{Ending, Stream};

/// How a command ended.
#[derive(Debug)]
pub(super) struct CommandOutcome {
    pub(super) ending: Ending,
    /// Exit status, or the negative number of the signal that ended it.
    pub(super) status: i32,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    /// Whether the proxy refused it something.
    pub(super) refused: bool,
    /// Paths under names that are kept for the server, which it had made and which are gone.
    pub(super) removed: Vec<String>,
    /// What it had made under names that some system cannot hold, and what it is called now.
    pub(super) renamed: Vec<Renamed>,
}

impl From<fileshed_sandbox::Outcome> for CommandOutcome {
    fn from(outcome: fileshed_sandbox::Outcome) -> Self {
        Self {
            ending: outcome.ending,
            status: outcome.status,
            stdout: outcome.stdout,
            stderr: outcome.stderr,
            refused: false,
            removed: Vec::new(),
            renamed: Vec::new(),
        }
    }
}

impl CommandOutcome {
    /// Whether it failed, and was refused what it asked the network for.
    pub(super) fn got_nothing(&self) -> bool {
        self.refused && self.status != 0
    }
}
