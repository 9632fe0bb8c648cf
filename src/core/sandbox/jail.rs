//! Measures with which a process confines itself before it does its job.
//!
//! The server starts its own binary anew with `jail` as its only argument, and this zygote is
//! copied for each job ([`zygote`]). The copy has one thread, and none of the server's memory,
//! descriptors or secrets. It confines itself by these measures before the job begins:
//!
//! 1. a session of its own, limits, no capabilities, no way to gain any;
//! 2. namespaces, where the machine has them: other files and processes are not there
//!    ([`mount_namespace`]);
//! 3. Landlock: only the files that the job may touch;
//! 4. seccomp: no sockets but those of its network, no tracing, no namespaces, and one last
//!    execveat of the program that was opened before. A command cannot start another program, whatever
//!    its arguments, scripts or files ask for;
//! 5. where there are no namespaces, a supervisor that judges the calls that the others do not know.

mod account;
mod children;
mod file_rules;
mod limits;
mod mount_namespace;
mod network;
mod probe;
mod process;
mod root;
mod signals;
mod spare;
mod supervisor;
mod syscalls;
mod zygote;

use std::convert::Infallible;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::Uid;

use super::descriptor::poll;
use super::job::{BuiltInJob, Job, JobSpec, NetworkAccess, PreparedJob};
use super::message::{self, tell_exhausted};
pub(crate) use file_rules::NOT_ENABLED;
use limits::{PROCESSES_OF_ACCOUNT, PROCESSES_OF_ACCOUNT_SUPERVISED, drop_capabilities, limit};
use mount_namespace::prepare_files;
pub(crate) use probe::ProbeReport;
use process::Executable;
use supervisor::Supervisor;
use syscalls::{Circumstances, Supervision, filter};
use zygote::JobStart;

/// The argument that turns the server's binary into the zygote.
pub const ARGUMENT: &str = "jail";

/// The number of the socket in the processes of a shell. Their limit of open files is lower, so none of
/// them closes it by accident or gets it for something else.
pub(crate) const SOCKET: i32 = 890;

/// Exit status of a process that could not do its job.
pub const FAILED: u8 = 125;

/// Text that such a process writes to standard error before its reason.
pub const COMPLAINT: &str = "fileshed jail: ";

/// A process could not do its job.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JailError {
    /// A call failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The namespaces could not be made.
    #[error("the namespaces could not be set: {0}")]
    MountNamespace(#[source] std::io::Error),
    /// The file rules could not be made.
    #[error("the file rules could not be set: {0}")]
    Landlock(#[from] landlock::RulesetError),
}

impl JailError {
    /// A failure that no call of the kernel tells.
    fn because(reason: &'static str) -> Self {
        Self::Io(io::Error::other(reason))
    }
}

impl From<Errno> for JailError {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// The life of the zygote: starts processes until the server is gone. Comes back in the zygote
/// itself and in each copy that did not become a program, with the status to exit with. `jobs`
/// is what such a copy can do instead.
#[must_use]
pub fn serve(jobs: &[BuiltInJob]) -> u8 {
    let complain = |reason: &dyn std::fmt::Display| {
        // Nobody is left to tell when standard error itself is gone.
        let _ = write!(std::io::stderr(), "{COMPLAINT}{reason}");
        FAILED
    };
    let (mut start, job) = match zygote::serve() {
        Ok(None) => return 0,
        Ok(Some(process)) => process,
        Err(error) => return complain(&error),
    };
    let job = job.map_err(JailError::from);
    match job.and_then(|job| carry_out(jobs, job, &mut start)) {
        Ok(text) => {
            let _ = std::io::stderr().write_all(text.as_bytes());
            0
        }
        Err(error) => {
            tell_exhausted(&start.answer, &error);
            complain(&error)
        }
    }
}

/// Confines this process and does the job. A process that becomes a program does
/// not come back. Returns the answer of a built-in job, or how far the process is confined if it was
/// only asked that.
fn carry_out(
    jobs: &[BuiltInJob],
    mut spec: JobSpec,
    start: &mut JobStart,
) -> Result<String, JailError> {
    let (account, mut kernel_account) = (start.account, start.kernel_account.take());
    let (zygote, answer, root) = (&start.zygote, &start.answer, start.root.take());
    // One that waited has begun.
    if !matches!(root, Some(Ok(_))) {
        begin(zygote)?;
    }
    let own_files = prepare_files(&spec, (account, &mut kernel_account), root)?;
    let user = kernel_account.as_ref().map_or(account.user, |own| own.user);
    let supervision = supervision(&spec, user);
    // Before files and processes of the host are out of sight. With namespaces nobody asks for files.
    let supervisor = (supervision != Supervision::None).then(|| {
        let judged = (spec.mounts.is_none() || spec.probe).then_some(&spec.access);
        Supervisor::new(judged, spec.access.network, spec.limits.processes)
    });
    let entered = own_files.map(|files| files.enter(&spec)).transpose()?;
    let namespaces = entered.unwrap_or(false);
    if namespaces {
        renew_input()?;
    }
    if let NetworkAccess::Proxy { port } = spec.access.network
        && namespaces
        && !spec.probe
    {
        network::lead_to_proxy(port, answer).map_err(JailError::MountNamespace)?;
    }
    if let Some(kernel_account) = kernel_account {
        kernel_account.take(account)?;
        end_with(zygote)?;
    }
    drop_capabilities()?;
    rustix::thread::set_no_new_privs(true)?;
    // The supervisor is not confined: it is another process from here on.
    let channel = supervisor
        .map(|supervisor| supervisor.follow(namespaces.then_some(answer)))
        .transpose()?;
    let has_init = namespaces && supervision == Supervision::None;
    if spec.controlling_terminal && !has_init {
        take_terminal()?;
    }
    let prepared = OpenedJob::new(&spec.job, jobs)?;
    let program = match &prepared {
        OpenedJob::Program(program) => program.descriptor,
        OpenedJob::BuiltIn(job) => {
            spec.access.read.extend(job.read.clone());
            spec.access.write.extend(job.write.clone());
            -1
        }
    };
    let version = file_rules::confine(&spec.access, namespaces)?;
    if version <= 0 && !spec.best_effort && !spec.probe {
        let reason = "the kernel does not enforce file rules (Landlock)";
        return Err(JailError::because(reason));
    }
    let circumstances = Circumstances {
        spec: &spec,
        version,
        separate: namespaces,
        supervision,
        program,
    };
    if spec.probe {
        return try_out(&circumstances, channel, user != account.user);
    }
    let applied = restrict_calls(&circumstances, channel);
    // The proxy is the only network because of both.
    let through_proxy = matches!(spec.access.network, NetworkAccess::Proxy { .. });
    if !spec.best_effort || through_proxy {
        applied?;
    }
    // In namespaces the kernel counts the processes of the job alone, and no limit holds for root.
    let processes = if namespaces && !user.is_root() {
        spec.limits.processes
    } else if supervision == Supervision::None {
        PROCESSES_OF_ACCOUNT
    } else {
        PROCESSES_OF_ACCOUNT_SUPERVISED
    };
    let limited = || limit(&spec.limits, processes, program);
    match prepared {
        OpenedJob::Program(program) => {
            let init = has_init.then_some(answer);
            match become_program(&program, limited, init, spec.controlling_terminal)? {}
        }
        OpenedJob::BuiltIn(job) => {
            limited()?;
            signals::let_through();
            Ok((job.work)())
        }
    }
}

/// Applies the filter and returns how far the process is confined.
fn try_out(
    circumstances: &Circumstances<'_>,
    channel: Option<OwnedFd>,
    own_account: bool,
) -> Result<String, JailError> {
    let applied = restrict_calls(circumstances, channel).is_ok();
    let supervised = applied && probe::is_supervised(circumstances.program);
    // There can be one listener only, and a container's runtime may have it.
    let alone = Circumstances {
        supervision: Supervision::None,
        ..*circumstances
    };
    let report = ProbeReport {
        version: circumstances.version,
        calls: applied || restrict_calls(&alone, None).is_ok(),
        namespaces: circumstances.separate,
        supervised,
        own_account,
    };
    Ok(serde_json::to_string(&report).map_err(io::Error::from)?)
}

/// Ends with the zygote, in a session of its own, and with nothing that the server's process had
/// changed for itself.
fn begin(zygote: &OwnedFd) -> Result<(), JailError> {
    end_with(zygote)?;
    rustix::process::setsid()?;
    rustix::process::umask(rustix::fs::Mode::from(0o022));
    signals::reset();
    Ok(())
}

/// Has the kernel end this process with the zygote.
fn end_with(zygote: &OwnedFd) -> Result<(), JailError> {
    // A server that is gone can neither stop a command nor take in what it changes.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let mut gone = [PollFd::new(zygote, PollFlags::IN)];
    if poll(&mut gone, Some(Duration::ZERO))? > 0 {
        return Err(JailError::because("the server is gone"));
    }
    Ok(())
}

/// Becomes the program, with its limits, in a second process where this one stays as its `init`, of which
/// the server is told. Comes back only in failure.
fn become_program(
    program: &Executable,
    limited: impl Fn() -> io::Result<()>,
    init: Option<&OwnedFd>,
    takes_terminal: bool,
) -> io::Result<Infallible> {
    // A supervisor is the init already, and the terminal taken.
    if let Some(answer) = init {
        process::lead(answer)?;
        if takes_terminal {
            take_terminal()?;
        }
    }
    signals::let_through();
    Err(program.execute(limited))
}

/// An empty input is the host's own device, and a descriptor is enough for its owner to change its
/// mode. The one of the mount namespace can only be read and written.
fn renew_input() -> std::io::Result<()> {
    let own = std::fs::File::open("/dev/null")?;
    let (own_is, input) = (
        rustix::fs::fstat(&own)?,
        rustix::fs::fstat(rustix::stdio::stdin())?,
    );
    if (own_is.st_mode, own_is.st_rdev) == (input.st_mode, input.st_rdev) {
        rustix::stdio::dup2_stdin(&own)?;
    }
    Ok(())
}

/// Begins the session of a terminal, which is standard input: its shell is the first in it.
fn take_terminal() -> std::io::Result<()> {
    let _is_first_already = rustix::process::setsid();
    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
    Ok(())
}

/// Returns the calls in which a job is supervised: those that its namespaces do not bound. A built-in
/// job runs no code of others, and needs no supervisor.
fn supervision(spec: &JobSpec, user: Uid) -> Supervision {
    let is_program = matches!(spec.job, Job::Program { .. });
    if !spec.supervised || !is_program {
        return Supervision::None;
    }
    if spec.mounts.is_none() {
        Supervision::Whole
    } else if user.is_root() {
        // The kernel's limit of processes does not hold for it.
        Supervision::Processes
    } else {
        Supervision::None
    }
}

/// Applies the filter, with its listener sent to the supervisor where there is one.
fn restrict_calls(
    circumstances: &Circumstances<'_>,
    channel: Option<OwnedFd>,
) -> Result<(), JailError> {
    let filter = filter(circumstances);
    if let Some(channel) = channel {
        let listener = filter.apply_supervised()?;
        message::send(&channel, &[0], &[listener.as_fd()])?;
    } else {
        filter.apply(0)?;
    }
    Ok(())
}

/// Everything that the job needs, opened and made before that is forbidden.
enum OpenedJob {
    Program(Executable),
    BuiltIn(PreparedJob),
}

impl OpenedJob {
    fn new(job: &Job, jobs: &[BuiltInJob]) -> Result<Self, JailError> {
        Ok(match job {
            Job::Program {
                file,
                name,
                arguments,
                environment,
            } => Self::Program(Executable::new(file, name, arguments, environment)?),
            Job::BuiltIn { name, spec } => {
                let job = jobs.iter().find(|job| job.name == name);
                let unknown = || io::Error::other(format!("there is no job `{name}`"));
                let job = job.ok_or_else(unknown)?;
                Self::BuiltIn((job.prepare)(spec)?)
            }
        })
    }
}
