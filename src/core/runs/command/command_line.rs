//! One call of a command: what is asked for, and what came of it.

use super::Limit;
use fileshed_types::{Client, Hint, Settings};
use fileshed_zones::zone::ZonePath;

/// Seconds that a call may take.
pub(super) fn seconds(settings: &Settings, asked: Option<i64>) -> u64 {
    let seconds = asked.map_or(settings.exec_timeout_default, |seconds| {
        u64::try_from(seconds).unwrap_or(1)
    });
    seconds.clamp(1, settings.exec_timeout_max.max(1))
}

/// Bytes of each stream in an answer.
pub(super) fn output_limit(settings: &Settings, client: Client, asked: Option<i64>) -> u64 {
    let most = settings.max_output_absolute;
    let limit = match asked {
        None => settings.output_of(client),
        Some(0) => most,
        Some(bytes) => u64::try_from(bytes).unwrap_or(0),
    };
    limit.min(most)
}

/// Most bytes of an answer with so much output: two streams, each twice as long as JSON at most.
#[must_use]
pub fn answer_max(settings: &Settings, asked: Option<i64>) -> u64 {
    let gateway = Client {
        gateway: true,
        ..Client::default()
    };
    let limits = [Client::default(), gateway].map(|client| output_limit(settings, client, asked));
    limits[0].max(limits[1]).saturating_mul(4)
}

/// One call of a command.
#[derive(Debug, Default)]
pub struct CommandLine<'a> {
    /// Name of the command.
    pub command: &'a str,
    /// Its arguments, without a shell in between.
    pub arguments: &'a [String],
    /// Seconds; clamped to what the server allows.
    pub timeout: Option<i64>,
    /// Bytes of each stream in the answer; 0 is the most that the server gives.
    pub max_output: Option<i64>,
    /// File of the zone that gets standard output.
    pub stdout_file: Option<&'a str>,
    /// File of the zone that gets standard error.
    pub stderr_file: Option<&'a str>,
    /// Standard error goes where standard output goes.
    pub merge_streams: bool,
}

/// A command that ran.
#[derive(Debug, Default)]
pub struct Ran {
    /// Standard output, as far as it fits.
    pub stdout: String,
    /// Standard error, as far as it fits.
    pub stderr: String,
    /// Exit status, or the negative number of the signal that ended it.
    pub status: i32,
    /// `true` if output is missing.
    pub truncated: bool,
    /// Bytes in the file of standard output.
    pub stdout_size: Option<u64>,
    /// Bytes in the file of standard error.
    pub stderr_size: Option<u64>,
    /// Note about the missing part of standard output, with a call that shows it.
    pub left_out: Option<Hint>,
    /// The limit of which it speaks where it failed.
    pub limit: Option<Limit>,
    /// A file that it was to read and that is not there, where it failed.
    pub missing: Option<ZonePath>,
    /// `true` if it may have changed something.
    pub changes: bool,
    /// Files that it made under names that some system cannot hold, with their new names.
    pub renamed: Option<String>,
    /// Note about the zone's history; `None` if git's own output is accurate.
    pub history: Option<String>,
    /// The sentence about files whose former content is gone.
    pub lost: Option<String>,
    /// Documents that a search passed by, and what reads them.
    pub unsearched: Option<Hint>,
    /// A file that it wrote under the name of a format that it is not.
    pub misnamed: Option<Hint>,
}

impl Ran {
    /// Returns the message about its end: `done` if it succeeded, otherwise its status.
    #[must_use]
    pub fn message(&self, command: &str, done: &str) -> String {
        match self.status {
            0 => format!("{command} {done}"),
            status => format!("{command} ended with status {status}"),
        }
    }

    /// Returns an additional note for the caller: the limit that standard error names.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let limit = self.limit?;
        Some(format!("stderr names a limit: {limit}"))
    }
}
