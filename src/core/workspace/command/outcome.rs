//! How a command ended, as its zone sees it.

use super::output::Shown;
use super::portable::Renamed;
use crate::Error;
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

/// What a command said, as an answer shows it.
#[derive(Debug)]
pub(super) struct ShownStreams {
    pub(super) stdout: Shown,
    pub(super) stderr: Shown,
}

impl ShownStreams {
    /// A failure after the command ran, with what it said.
    pub(super) fn told(self, error: Error, status: i32) -> Error {
        let truncated = self.stdout.missing.is_some() || self.stderr.missing.is_some();
        error
            .with_detail("stdout", self.stdout.text)
            .with_detail("stderr", self.stderr.text)
            .with_detail("returncode", status)
            .with_detail("truncated", truncated)
    }
}

impl CommandOutcome {
    /// Whether it failed, and was refused what it asked the network for.
    pub(super) fn got_nothing(&self) -> bool {
        self.refused && self.status != 0
    }
}
