//! A shell in the sandbox: a line, or one that a person types into, with the caller's tree before it.
//!
//! It is confined as a command is, and starts programs of the whitelist alone; but nobody judges what
//! they are given, because what they may touch is all that there is. In `/storage` and `/documents`
//! it may change anything, beside all other changes. What it did is found when it is over or falls
//! quiet, measured and committed. One that takes more space than there is is ended; what it wrote stays.

mod environment;
mod error;
mod jail;
mod locked;
mod permits;
mod tree;
mod watch;

use std::rc::Rc;
use std::time::Duration;

use self::environment::expect_allowed;
use self::error::ShellError;
use self::jail::Jail;
use self::permits::Permits;
use self::tree::Tree;
pub use self::watch::ShellWatch;
use crate::command::CommandNetwork;
use crate::process::{ProcessError, Temporary, expect_confined};
use crate::view::{View, ViewPath};
use crate::{Error, Scope};
use fileshed_history::subject;
use fileshed_sandbox::{Ending, StandardStreams, StartedJob, start};

/// How the shell is called in failures.
const SHELL: &str = "sh";

/// The message of a commit with what was typed into a shell.
const TYPED: &str = "Work in a terminal";

/// A shell to start.
#[derive(Debug)]
pub struct ShellRequest<'a> {
    /// Where it begins.
    pub cwd: ViewPath,
    /// The line that it carries out; without one it reads lines.
    pub command: Option<&'a str>,
    /// Variables beyond its own.
    pub environment: Vec<(String, String)>,
    /// Its input, output and error.
    pub streams: StandardStreams,
    /// Whether its input is a terminal, which becomes its own.
    pub controlling_terminal: bool,
}

/// How a shell ended.
#[derive(Debug)]
pub struct ShellOutcome {
    /// Exit status, or the negative number of the signal that ended it.
    pub status: i32,
    /// Why it was stopped, if it was.
    pub refused: Option<Error>,
    /// What else its user has to know: what the proxy refused, names that are kept for the server.
    pub remarks: Vec<String>,
}

/// Starts a shell, has `attend` look after it on this thread, and enters what it changed. When
/// `attend` comes back, whatever still runs is ended.
pub fn run_shell(
    view: View<'_>,
    request: ShellRequest<'_>,
    attend: impl FnOnce(&StartedJob<'_>, &ShellWatch<'_>) -> Result<(), Error>,
) -> Result<ShellOutcome, Error> {
    let (store, caller) = (view.store, view.caller);
    expect_confined(store)?;
    expect_allowed(&request.environment)?;
    let is_interactive = request.command.is_none();
    let place =
        (!is_interactive).then(|| store.shell_slots().take(&store.namespace(caller), caller));
    let _place = place.transpose()?;
    let program = store.programs().shell(is_interactive);
    let program = program.ok_or(ShellError::NoShell)?;
    let tree = Tree::open(view, &request.cwd, is_interactive)?;
    let zone = tree.main();
    let private = store.private_directory(&zone.tenant)?;
    let temporary = Temporary::new(zone);
    let network = CommandNetwork::of_shell(store)?;
    let message = request.command.map_or_else(|| TYPED.to_owned(), subject);
    let writable = match caller.scope {
        Scope::Write => tree.writable(),
        Scope::Read => Vec::new(),
    };
    let jail = Jail {
        store,
        tree: &tree,
        private: &private,
        program,
        network: &network,
        writes: !writable.is_empty(),
    };
    let spec = jail.spec(&request);
    let permits = Rc::new(Permits::begin(writable, message)?);
    let watch = ShellWatch::new(zone, &temporary, &private, Rc::clone(&permits), &jail);
    let listen = |listener| network.listen(listener);
    let job = start(
        store.zygote(),
        &spec,
        tree.directory(),
        request.streams,
        listen,
    )?;
    let attended = attend(&job, &watch);
    job.kill();
    let ended = job.wait(Duration::MAX);
    let ran_out = job.ran_out_of_memory();
    drop(job);
    let ending = watch.ending();
    drop(watch);
    let ended_well = permits.finish();
    attended?;
    let (refused, mut remarks) = ended_well?;
    remarks.extend(network.remarks());
    let stopped = match ending {
        Some(Ending::OverTemporary) => Some(ProcessError::Temporary {
            command: SHELL.to_owned(),
            limit_mb: store.settings().exec_temporary_max_mb,
        }),
        _ if ran_out => Some(ProcessError::Memory {
            command: SHELL.to_owned(),
            limit_mb: store.settings().exec_memory_limit_mb,
        }),
        _ => None,
    };
    Ok(ShellOutcome {
        status: ended?.unwrap_or_default(),
        refused: refused.or(stopped.map(Error::from)),
        remarks,
    })
}
