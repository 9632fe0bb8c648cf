//! What the server does itself under the name of a command: no program starts.

use std::io::Write;

use super::outcome::CommandOutcome;
use fileshed_sandbox::{Ending, SandboxError, Sink, Stream};

/// What a built-in command says.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) status: i32,
}

impl Said {
    /// Adds to standard output.
    pub(super) fn out(&mut self, pieces: &[&str]) {
        self.stdout.extend(pieces.iter().copied());
    }

    /// Writes it where the streams of the command go.
    pub(super) fn into_outcome(self, sinks: (Sink, Sink)) -> Result<CommandOutcome, SandboxError> {
        let (stdout, stderr) = match sinks.1 {
            Sink::Output => (self.stdout + &self.stderr, String::new()),
            _ => (self.stdout, self.stderr),
        };
        Ok(CommandOutcome {
            refused: false,
            removed: Vec::new(),
            renamed: Vec::new(),
            ending: Ending::Exited,
            status: self.status,
            stdout: written(stdout, sinks.0)?,
            stderr: written(stderr, sinks.1)?,
        })
    }
}

fn written(text: String, sink: Sink) -> Result<Stream, SandboxError> {
    let bytes = text.into_bytes();
    match sink {
        Sink::File(mut file) => {
            file.write_all(&bytes).map_err(SandboxError::Start)?;
            Ok(Stream::default())
        }
        Sink::Answer(limit) => {
            let mut stream = Stream::default();
            stream.take(&bytes, limit);
            Ok(stream)
        }
        Sink::Output => Ok(Stream::default()),
    }
}
