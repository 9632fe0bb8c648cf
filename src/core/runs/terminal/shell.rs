//! A shell in the sandbox, for one line or for an interactive terminal, with the caller's tree as its files.
//!
//! It is confined as a command is, and starts only programs of the whitelist. Their arguments are not
//! checked, because the sandbox shows them no files but those that they may touch. In `/storage` and
//! `/documents` the shell may change anything, at the same time as other writers. Its changes are found,
//! measured and committed when it ends or falls quiet. A shell that takes more space than there is is ended;
//! the files that it wrote stay.

mod environment;
mod histories;
mod permits;
mod tree;

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::Duration;

use self::environment::{ShellError, expect_allowed};
use self::permits::Permits;
use self::tree::ShellTree;
use crate::hidden_places::HiddenPlaces;
use crate::process::{ProcessError, UsageMeter, expect_confined};
use crate::runs::Runs;
use fileshed_changes::bin::{measure_again, remove_as_command};
use fileshed_history::subject;
use fileshed_sandbox::egress::EgressGrant;
use fileshed_sandbox::removals::{self, RemovalAnswer, RemovalRequests};
use fileshed_sandbox::{ExitReason, OutputSink, SandboxError, StandardStreams, StartedJob, start};
use fileshed_storage::PrivateDirectory;
use fileshed_types::{Error, Scope};
use fileshed_zones::view::{View, ViewPath};
use fileshed_zones::zone::Zone;

/// The name of the shell in failures.
const SHELL: &str = "sh";

/// The message of a commit with what was typed into a shell.
const TYPED: &str = "Work in a terminal";

/// A shell to start.
#[derive(Debug)]
pub struct ShellRequest {
    /// The directory in which it begins.
    pub cwd: ViewPath,
    /// The line that it carries out; without one it reads lines.
    pub command: Option<String>,
    /// Variables beyond its own.
    pub environment: Vec<(String, String)>,
    /// Its input, output and error; for one that reads lines a terminal, which becomes its own.
    pub streams: StandardStreams,
}

/// The end of a shell.
#[derive(Debug)]
pub struct ShellOutcome {
    /// Exit status, or the negative number of the signal that ended it.
    pub status: i32,
    /// Why it was stopped, if it was.
    pub refused: Option<Error>,
    /// Other news for its user: refusals of the proxy, names that are kept for the server.
    pub remarks: Vec<String>,
}

/// Result of entering what a shell changed: the refusal if something was put back, and remarks.
pub(super) type Entered = (Option<Error>, Vec<String>);

/// Starts a shell, has `attend` look after it on this thread, and enters what it changed. When
/// `attend` comes back, whatever still runs is ended.
pub fn run_shell(
    runs: &Runs,
    view: View<'_>,
    request: ShellRequest,
    attend: impl FnOnce(&StartedJob<'_>, &mut ShellWatch<'_>) -> Result<(), Error>,
) -> Result<ShellOutcome, Error> {
    let (store, caller) = (view.store, view.caller);
    expect_confined(runs)?;
    expect_allowed(&request.environment)?;
    let is_interactive = request.command.is_none();
    let slot = (!is_interactive).then(|| runs.shell_slots.take(&store.namespace(caller), caller));
    let _slot = slot.transpose()?;
    let program = runs.programs.shell.as_ref().ok_or(ShellError::NoShell)?;
    let mut tree = ShellTree::open(runs, view, &request.cwd, is_interactive)?;
    let private = store.private_directory(&tree.main().tenant)?;
    tree.show_histories(&private, request.command.as_deref());
    let writes = caller.scope == Scope::Write && !tree.writable().is_empty();
    tree.show_rm(runs, &private, writes)?;
    let zone = tree.main();
    // Nobody knows the programs of a shell: it has no network if its connections cannot be held.
    let wanted = runs.confinement().holds_connections().is_ok();
    let network = runs.grant_network(wanted, "curl")?;
    let message = request.command.as_deref();
    let message = message.map_or_else(|| TYPED.to_owned(), subject);
    let writable = if writes { tree.writable() } else { Vec::new() };
    let mut spec = tree.spec(runs, &request, program, &private, network.as_ref(), writes);
    let removals = tree.has_own_rm().then(RemovalRequests::pair);
    let removals = removals.transpose();
    let removals = removals
        .map_err(SandboxError::start)?
        .map(|(ours, theirs)| {
            spec.removals = Some(theirs);
            ours
        });
    let mut watch = ShellWatch {
        watch: UsageMeter::new(zone, &private, [&OutputSink::Output; 2], None),
        permits: Permits::begin(writable, message)?,
        ending: None,
        places: tree.places_on_disk(&private),
        histories: (&tree, &private),
    };
    let begun = store.clock.now().as_second();
    let job = start(
        &runs.zygote,
        &spec,
        tree.directory.as_fd(),
        request.streams,
        network.as_ref(),
    )?;
    let (attended, ended) = removed_by_server(zone, removals.as_ref(), || {
        let attended = attend(&job, &mut watch);
        job.kill();
        (attended, job.wait(Duration::MAX))
    });
    let ran_out = job.ran_out_of_memory();
    drop(job);
    if removals.is_some()
        && let Err(error) = measure_again(store, &zone.tenant, begun)
    {
        tracing::warn!(%error, "the space of the bin may be counted wrong");
    }
    let entered = watch.permits.enter(true);
    attended?;
    let (refused, mut remarks) = entered?;
    remarks.extend(network.iter().flat_map(EgressGrant::remarks));
    let (command, settings) = (SHELL.to_owned(), &store.settings);
    let stopped = match watch.ending {
        Some(ExitReason::OverTemporary) => Some(ProcessError::Temporary {
            command,
            limit_mb: settings.exec_temporary_max_mb,
        }),
        ending if ran_out || ending == Some(ExitReason::ProcessOverMemory) => {
            Some(ProcessError::Memory {
                command,
                limit_mb: settings.exec_memory_limit_mb,
            })
        }
        _ => None,
    };
    Ok(ShellOutcome {
        status: ended?.unwrap_or_default(),
        refused: refused.or(stopped.map(Error::from)),
        remarks,
    })
}

/// Moves what a shell removes into the bin while `work` is done.
fn removed_by_server<T>(
    zone: &Zone<'_>,
    removals: Option<&RemovalRequests>,
    work: impl FnOnce() -> T,
) -> T {
    let Some(removals) = removals else {
        return work();
    };
    let remove = |directory: &OwnedFd, name: &str| {
        let seen = [Path::new(removals::ZONE), zone.data.location()];
        let mut found = seen
            .iter()
            .map(|root| zone.data.entry_in(directory, root, name));
        let found = found.find_map(Result::transpose);
        let removed = found.map(|entry| remove_as_command(zone, &entry?));
        match removed {
            None => RemovalAnswer::Elsewhere,
            Some(Ok(true)) => RemovalAnswer::Kept,
            Some(Ok(false)) => RemovalAnswer::Gone,
            Some(Err(error)) => {
                tracing::debug!(%error, "files that a shell removes do not go into the bin");
                RemovalAnswer::Failed
            }
        }
    };
    std::thread::scope(|scope| {
        let closing = ClosingRemovals(removals);
        let thread = std::thread::Builder::new().name("removals".to_owned());
        let served = thread.spawn_scoped(scope, || removals.serve(remove));
        if let Err(error) = served {
            tracing::warn!(%error, "files that a shell removes do not go into the bin");
        }
        let done = work();
        drop(closing);
        done
    })
}

/// Ends the answers to a shell, also where its work panics.
struct ClosingRemovals<'a>(&'a RemovalRequests);

impl Drop for ClosingRemovals<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Looks after the space of one shell while it runs.
pub struct ShellWatch<'a> {
    permits: Permits<'a>,
    watch: UsageMeter<'a>,
    /// Why it has to end, once it has to.
    ending: Option<ExitReason>,
    /// Paths that the shell's output must not show; empty if the shell has the tree.
    pub(super) places: HiddenPlaces,
    histories: (&'a ShellTree<'a>, &'a PrivateDirectory),
}

impl ShellWatch<'_> {
    /// Returns `true` if the shell must be ended: it takes too much space, or nobody wants it any
    /// more. To be asked several times a second.
    pub fn must_stop(&mut self, job: &StartedJob<'_>) -> bool {
        if self.ending.is_none() {
            self.ending = self.watch.look(job, || self.permits.is_over());
        }
        self.ending.is_some()
    }

    /// Shows git what was committed meanwhile, by this shell or by others.
    pub fn renew_histories(&self) {
        let (tree, private) = self.histories;
        tree.histories.renew(&tree.zones, private);
    }

    /// Enters what was changed so far, when the shell has fallen quiet: in `/documents` it becomes a
    /// commit. Returns the refusal if it is more than fits, and other news for its user; fails with
    /// `BUSY`, and changes nothing, if another change has one of the zones. The shell goes on.
    pub fn commit_changes(&mut self) -> Result<(Option<Error>, Vec<String>), Error> {
        self.permits.hold_now()?;
        let entered = self.permits.enter(false);
        if let Err(error) = self.permits.ask() {
            // Without a permit nothing may change any more.
            self.ending = Some(ExitReason::Cancelled);
            return Err(error);
        }
        entered
    }
}
