//! The thread of a line or a shell: it runs the process, stands between it and its user, and enters its
//! end.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::line_output::attend_line;
use super::shell::{ShellRequest, run_shell};
use super::shell_terminal::attend_shell;
use crate::processes::{Process, ShellSessionError};
use crate::runs::Runs;
use fileshed_sandbox::{PseudoTerminal, SandboxError};
use fileshed_types::{Caller, Error};
use fileshed_zones::view::View;

/// The server's ends of the streams of a process.
pub(super) enum ServerEnds {
    /// Standard output and standard error.
    Pipes([OwnedFd; 2]),
    Terminal(PseudoTerminal),
}

/// Starts the thread of a process, and waits until the process runs, at most `patience` long. `at_end`
/// is called when the process has ended; not if it never began.
pub(super) fn start_thread(
    runs: &Arc<Runs>,
    caller: Caller,
    process: &Arc<Process>,
    request: ShellRequest,
    ends: ServerEnds,
    patience: Option<Duration>,
    at_end: impl FnOnce(&Runs, &Arc<Process>) + Send + 'static,
) -> Result<(), Error> {
    let ending = Arc::downgrade(process);
    caller.cancellation.trust().on_end(move |reason| {
        if let Some(process) = ending.upgrade() {
            process.end_for(&reason.into());
        }
    });
    let (sender, started) = sync_channel(1);
    let (own, runs_of_thread) = (Arc::clone(process), Arc::clone(runs));
    let run = move || {
        let (process, runs) = (own, runs_of_thread);
        let mut began = false;
        let ran = run(&runs, &caller, &process, (request, ends), || {
            began = true;
            let _somebody_waits = sender.send(Ok(()));
        });
        match ran {
            Err(error) if !began => {
                process.end(None, true);
                let _somebody_waits = sender.send(Err(error));
                return;
            }
            Err(error) => {
                tracing::warn!(id = process.id(), %error, "a process failed");
                process.complain(&error);
                process.end(None, true);
            }
            Ok((status, stopped)) => process.end(Some(status), stopped),
        }
        at_end(&runs, &process);
    };
    let thread = std::thread::Builder::new().name(format!("process {}", process.id()));
    thread.spawn(run).map_err(SandboxError::start)?;
    let started = match patience {
        Some(patience) => runs.store.clock.receive(&started, patience).ok(),
        None => started.recv().ok(),
    };
    started.unwrap_or_else(|| {
        process.stop(true);
        Err(ShellSessionError::NotStarted.into())
    })
}

/// Runs a process to its end; returns its exit status, and whether the server ended it. `begun` is
/// called when it runs.
fn run(
    runs: &Arc<Runs>,
    caller: &Caller,
    process: &Arc<Process>,
    (request, ends): (ShellRequest, ServerEnds),
    begun: impl FnOnce(),
) -> Result<(i32, bool), Error> {
    let mut stopped = false;
    let view = View::of(&runs.store, caller);
    let outcome = run_shell(runs, view, request, |job, watch| {
        begun();
        match ends {
            ServerEnds::Pipes(outputs) => {
                attend_line(&runs.store, process, job, watch, outputs).map(|ended| stopped = ended)
            }
            ServerEnds::Terminal(terminal) => {
                attend_shell(&runs.store, process, job, watch, &terminal)
            }
        }
    })?;
    process.tell(&outcome.remarks, outcome.refused.as_ref());
    Ok((outcome.status, stopped))
}
