//! The end of a command, as its zone sees it.

use std::fmt;
use std::io::Write as _;

use fileshed_sandbox::{ExitReason, Outcome, OutputSink, SandboxError, Stream};

/// Renamed entries that an answer names.
const NAMED: usize = 10;

/// The end of a command.
#[derive(Debug)]
pub(super) struct CommandOutcome {
    pub(super) ending: ExitReason,
    /// Exit status, or the negative number of the signal that ended it.
    pub(super) status: i32,
    pub(super) stdout: Stream,
    pub(super) stderr: Stream,
    /// `true` if the proxy refused it something.
    pub(super) refused: bool,
    /// Entries that it had made under names that no operation makes.
    pub(super) put_right: PutRight,
}

impl CommandOutcome {
    /// The end of a process, to whose messages `remarks` of the proxy are added.
    pub(super) fn of(outcome: Outcome, remarks: &[String]) -> Self {
        let mut stderr = outcome.stderr;
        stderr.add_lines(remarks);
        Self {
            ending: outcome.ending,
            status: outcome.status,
            stdout: outcome.stdout,
            stderr,
            refused: !remarks.is_empty(),
            put_right: PutRight::default(),
        }
    }

    /// Returns `true` if it failed, and was refused what it asked the network for.
    pub(super) fn got_nothing(&self) -> bool {
        self.refused && self.status != 0
    }
}

/// The output of a command that the server itself carries out.
#[derive(Debug, Default)]
pub(super) struct BuiltinOutput {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) status: i32,
}

impl BuiltinOutput {
    /// Adds to standard output.
    pub(super) fn out(&mut self, pieces: &[&str]) {
        self.stdout.extend(pieces.iter().copied());
    }

    /// Writes it where the streams of the command go.
    pub(super) fn into_outcome(
        self,
        sinks: (OutputSink, OutputSink),
    ) -> Result<CommandOutcome, SandboxError> {
        let (stdout, stderr) = match sinks.1 {
            OutputSink::Output => (self.stdout + &self.stderr, String::new()),
            _ => (self.stdout, self.stderr),
        };
        let outcome = Outcome {
            ending: ExitReason::Exited,
            status: self.status,
            stdout: written(&stdout, sinks.0)?,
            stderr: written(&stderr, sinks.1)?,
        };
        Ok(CommandOutcome::of(outcome, &[]))
    }
}

fn written(text: &str, sink: OutputSink) -> Result<Stream, SandboxError> {
    let mut stream = Stream::default();
    match sink {
        OutputSink::File(mut file) => file
            .write_all(text.as_bytes())
            .map_err(SandboxError::Start)?,
        OutputSink::Answer(limit) => stream.take(text.as_bytes(), limit),
        OutputSink::Output => {}
    }
    Ok(stream)
}

/// Entries that were removed or renamed because no operation makes such names.
#[derive(Debug, Default)]
pub(crate) struct PutRight {
    /// Paths that were removed.
    pub(crate) removed: Vec<String>,
    /// Entries that have another name now.
    pub(crate) renamed: Vec<RenamedEntry>,
}

/// An entry that a command made under a name that some system cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenamedEntry {
    /// The path under which the command made it.
    pub(super) from: String,
    /// Its path now; `None` if it could not be moved.
    pub(super) to: Option<String>,
    /// The fault of the name.
    pub(super) fault: &'static str,
}

impl fmt::Display for RenamedEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.replace(char::is_control, "\u{fffd}");
        match &self.to {
            Some(to) => write!(formatter, "`{from}` is now `{to}`")?,
            None => write!(formatter, "`{from}` must get another name")?,
        }
        write!(formatter, ": its name {}", self.fault)
    }
}

/// Describes renamed entries for an answer.
pub(super) fn describe_renamed(renamed: &[RenamedEntry]) -> Option<String> {
    let shown: Vec<String> = renamed
        .iter()
        .take(NAMED)
        .map(RenamedEntry::to_string)
        .collect();
    let shown = shown.join("; ");
    match (renamed.len(), renamed.len().saturating_sub(NAMED)) {
        (0, _) => None,
        (_, 0) => Some(shown),
        (_, more) => Some(format!("{shown}; and {more} more names like these")),
    }
}
