//! Interactive shells of a caller: opened, listed, read and typed into.

use std::sync::Arc;

use super::shell::ShellRequest;
use super::thread::{ServerEnds, start_thread};
use crate::processes::ShellEntry;
use crate::runs::Runs;
use fileshed_sandbox::{PseudoTerminal, SandboxError, StandardStreams, TerminalSize};
use fileshed_types::fair::CallSlot;
use fileshed_types::{Caller, Channel, Error};
use fileshed_zones::view::ViewPath;

/// Most bytes that a model is given of what the user's shell shows.
const SHOWN: usize = 16_000;

impl Runs {
    /// Returns the shell that the caller has left in this conversation, or a new one; with a new id.
    pub fn open_shell(self: &Arc<Self>, caller: &Caller) -> Result<ShellEntry, Error> {
        let processes = &self.processes;
        if let Some(entry) = processes.resume(caller)? {
            return Ok(entry);
        }
        let tenant = self.store.namespace(caller);
        let (shell, entry) = processes.add_shell(caller, &tenant)?;
        let started = open_terminal().and_then(|(terminal, streams)| {
            let request = ShellRequest {
                cwd: ViewPath::home(),
                command: None,
                environment: Vec::new(),
                streams,
            };
            let ends = ServerEnds::Terminal(terminal);
            // The caller as it is after this call: nobody hangs up, and no credential is kept.
            let caller = Caller {
                credential: None,
                message: None,
                session: None,
                cancellation: caller.cancellation.detached(),
                place: CallSlot::default(),
                channel: Some(Channel::Shell),
                ..caller.clone()
            };
            let patience = Some(self.store.settings.timings.shells.start);
            start_thread(
                self,
                caller,
                &shell,
                request,
                ends,
                patience,
                |runs, shell| {
                    runs.processes.remove(shell);
                },
            )
        });
        if started.is_err() {
            processes.remove(&shell);
        }
        started.map(|()| entry)
    }

    /// Returns a shell of the caller.
    pub fn shell(&self, caller: &Caller, id: &str) -> Result<ShellEntry, Error> {
        let shell = self.processes.shell(caller.user.as_ref(), id)?;
        Ok(ShellEntry::listed(&shell))
    }

    /// Ends a shell of the caller.
    pub fn close_shell(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        let shell = self.processes.shell(caller.user.as_ref(), id)?;
        shell.close(id);
        Ok(())
    }

    /// Returns the end of what the shell shows at which the user sits, as text.
    pub fn read_user_shell(&self, caller: &Caller) -> Result<String, Error> {
        Ok(self.processes.connected(caller)?.shown(SHOWN))
    }

    /// Types into the shell at which the user sits.
    pub fn write_user_shell(&self, caller: &Caller, text: &str) -> Result<(), Error> {
        let shell = self.processes.connected(caller)?;
        Ok(shell.type_all(text)?)
    }
}

/// Opens a terminal, whose other end is all streams of a shell.
fn open_terminal() -> Result<(PseudoTerminal, StandardStreams), Error> {
    let (terminal, end) = PseudoTerminal::open(TerminalSize::default())?;
    let streams = StandardStreams {
        input: end.try_clone().map_err(SandboxError::start)?,
        output: end.try_clone().map_err(SandboxError::start)?,
        error: end,
    };
    Ok((terminal, streams))
}
