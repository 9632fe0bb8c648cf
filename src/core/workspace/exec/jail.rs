//! The helper that restricts itself and then becomes the command, or works on a database.
//!
//! The server never forks: it starts its own binary anew with `jail` as its only argument, and
//! this helper is copied for each command (`starter`). The copy has one thread, and none of the
//! server's memory, descriptors or secrets; what it takes away from itself, the command never has:
//!
//! 1. a session of its own, limits, no capabilities, no way to gain any;
//! 2. namespaces, where the machine has them: other files and processes are not there (`view`);
//! 3. Landlock: only the files that the command may touch;
//! 4. seccomp: no sockets but those of its network, no tracing, no namespaces, and one last execveat of the program that
//!    was opened before. What a command's arguments, scripts or files ask to be started has no
//!    call left to start it with;
//! 5. where there are no namespaces, a supervisor that judges what the others do not know.

mod access;
mod init;
mod mount_namespace;
mod network;
mod probe;
mod signals;
mod supervisor;
mod syscalls;
mod zygote;

use std::ffi::CString;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::{Deserialize, Serialize};

use crate::table;

pub(super) use access::{Access, Enforcement, NOT_ENABLED, Network, version};
pub(super) use mount_namespace::{BindMount, MountNamespace};
use supervisor::Supervisor;
use syscalls::{Circumstances, Filter, Supervision};
use zygote::{Account, Side};
pub(super) use zygote::{HANDLES, IN_NAMESPACES, IN_NETWORK};

/// The argument that turns the server's binary into the helper.
pub const ARGUMENT: &str = "jail";

/// Exit status of a helper that could not become the command.
pub(super) const FAILED: u8 = 125;

/// What such a helper's standard error begins with.
pub(super) const COMPLAINT: &str = "fileshed jail: ";

/// What the helper does once it is confined.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Task {
    /// It becomes this program.
    Program(PathBuf),
    /// It stays, and works on a database.
    Table(Box<table::Work>),
}

/// What to do, and within which limits.
#[derive(Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one command, written out as JSON"
)]
pub(super) struct Order {
    pub(super) task: Task,
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    /// Standard input; nothing where there is none. Lies where no path of a zone leads.
    pub(super) input: Option<PathBuf>,
    pub(super) limits: Limits,
    /// The files that are there; all of the host's where there are no namespaces.
    pub(super) view: Option<MountNamespace>,
    pub(super) access: Access,
    /// Whether its supervisor is asked, where there is need of one.
    pub(super) supervised: bool,
    /// Whether the command starts programs of its own.
    pub(super) starts_others: bool,
    /// Whether it may change the zone.
    pub(super) changes: bool,
    /// Say how much is enforced instead of becoming the command.
    pub(super) probe: bool,
    /// Whether a kernel that cannot confine is good enough.
    pub(super) best_effort: bool,
}

/// How much the kernel enforces, as a helper found by trying.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Report {
    /// File rules: Landlock.
    pub(super) files: Enforcement,
    /// Version of Landlock's interface: 0 for none, [`NOT_ENABLED`] for one that is not in use.
    pub(super) version: i32,
    /// Call filters: seccomp.
    pub(super) calls: bool,
    /// Files, processes and a network of its own: namespaces.
    pub(super) namespaces: bool,
    /// A supervisor that is asked and sees what it is asked about.
    pub(super) supervised: bool,
}

/// Bounds of one process, enforced by the kernel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Address space in bytes.
    pub(super) memory: u64,
    /// Seconds of CPU; one second later the process is killed.
    pub(super) cpu_seconds: u64,
    /// Largest file in bytes.
    pub(super) file_size: u64,
    /// Open files.
    pub(super) open_files: u64,
    /// Processes and threads of the command together.
    pub(super) processes: u64,
}

/// Processes and threads of the account that the server runs under, commands included: where the
/// kernel counts no others.
const OF_ACCOUNT: u64 = 4096;

/// The life of the helper: starts commands until the server is gone. Comes back in the helper
/// itself and in each copy that could not become its command, with the status to exit with.
#[must_use]
pub fn serve() -> u8 {
    let complain = |reason: &dyn std::fmt::Display| {
        // Nobody is left to tell when standard error itself is gone.
        let _ = write!(std::io::stderr(), "{COMPLAINT}{reason}");
        FAILED
    };
    match zygote::serve() {
        Ok(Side::Starter) => 0,
        Err(error) => complain(&error),
        Ok(Side::Command {
            starter,
            answer,
            account,
        }) => match obey(&starter, &answer, account) {
            Ok(never) => match never {},
            Err(JailError::Answered(text)) => {
                let _ = std::io::stderr().write_all(text.as_bytes());
                0
            }
            Err(JailError::Probed(report)) => {
                let _ = serde_json::to_writer(std::io::stderr(), &report);
                0
            }
            Err(error) => complain(&error),
        },
    }
}

/// Reads the order from standard input and becomes the command.
fn obey(
    starter: &OwnedFd,
    answer: &OwnedFd,
    account: Account,
) -> Result<std::convert::Infallible, JailError> {
    // A server that is gone can neither stop a command nor take in what it changes.
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
        .map_err(std::io::Error::from)?;
    let mut gone = [PollFd::new(starter, PollFlags::IN)];
    if rustix::event::poll(&mut gone, Some(&Timespec::default())).map_err(std::io::Error::from)? > 0
    {
        return Err(JailError::Orphan);
    }
    let mut text = Vec::new();
    std::io::stdin().lock().read_to_end(&mut text)?;
    let mut order: Order = serde_json::from_slice(&text).map_err(std::io::Error::from)?;
    rustix::process::setsid().map_err(std::io::Error::from)?;
    rustix::process::umask(rustix::fs::Mode::from(0o022));
    signals::reset();
    let input = order.input.as_deref();
    let input = std::fs::File::open(input.unwrap_or(Path::new("/dev/null")))?;
    rustix::stdio::dup2_stdin(&input).map_err(std::io::Error::from)?;
    drop(input);
    // Before files and processes of the host are out of sight.
    let supervisor = Supervisor::new(&order.access, order.limits.processes);
    let namespaces = enter(&order, account)?;
    if let Network::Proxy { port } = order.access.network
        && namespaces
        && !order.probe
    {
        network::lead_to_proxy(port, answer).map_err(JailError::MountNamespace)?;
    }
    drop_capabilities()?;
    rustix::thread::set_no_new_privs(true).map_err(std::io::Error::from)?;
    let supervision = order.supervision(namespaces, account);
    // The supervisor is not confined: it is another process from here on.
    let channel = if supervision == Supervision::None {
        None
    } else {
        Some(supervisor.follow(namespaces.then_some(answer))?)
    };
    let prepared = match order.task {
        Task::Program(ref file) => Prepared::Program(Program::new(&order, file)?),
        Task::Table(work) => {
            let opened = table::Opened::new(*work)?;
            let (read, write) = opened.places();
            order.access.read.extend(read);
            order.access.write.extend(write);
            Prepared::Table(Box::new(opened))
        }
    };
    let own_processes = namespaces && !account.user.is_root();
    limit(&order.limits, own_processes, prepared.descriptor())?;
    let (enforcement, version) = access::confine(&order.access)?;
    if enforcement == Enforcement::None && !order.best_effort && !order.probe {
        return Err(JailError::NotEnforced);
    }
    let circumstances = Circumstances {
        network: order.access.network,
        starts_others: order.starts_others,
        changes: order.changes,
        version,
        separate: namespaces,
        supervision,
        program: prepared.descriptor().unwrap_or(-1),
    };
    let mut applied = restrict_calls(&circumstances, channel);
    if order.probe {
        let supervised = applied.is_ok() && probe::is_supervised(circumstances.program);
        if applied.is_err() {
            // There can be one listener only, and a container's runtime may have it.
            let alone = Circumstances {
                supervision: Supervision::None,
                ..circumstances
            };
            applied = restrict_calls(&alone, None);
        }
        return Err(JailError::Probed(Report {
            files: enforcement,
            version,
            calls: applied.is_ok(),
            namespaces,
            supervised,
        }));
    }
    // The proxy is the only way because of both.
    let through_proxy = matches!(order.access.network, Network::Proxy { .. });
    if !order.best_effort || through_proxy {
        applied?;
    }
    Err(match prepared {
        Prepared::Program(program) => {
            // A supervisor is the init already.
            if namespaces && supervision == Supervision::None {
                init::follow(answer)?;
            }
            program.execute().into()
        }
        Prepared::Table(work) => JailError::Answered(work.answer()),
    })
}

impl Order {
    /// In which namespaces it begins: the word of the helper.
    pub(super) fn namespaces(&self) -> u8 {
        match (&self.view, self.access.network) {
            (None, _) => 0,
            (Some(_), Network::Proxy { .. }) => IN_NETWORK,
            (Some(_), _) => IN_NAMESPACES,
        }
    }

    /// What the command is supervised in: what its namespaces do not bound. Work on a database
    /// runs no code of others, and changes nothing of this.
    fn supervision(&self, namespaces: bool, account: Account) -> Supervision {
        let is_program = matches!(self.task, Task::Program(_));
        if !self.supervised || !is_program {
            return Supervision::None;
        }
        if !namespaces {
            Supervision::Whole
        } else if account.user.is_root() {
            // The kernel's limit of processes does not hold for it.
            Supervision::Processes
        } else {
            Supervision::None
        }
    }
}

/// Applies the filter, with its listener sent to the supervisor where there is one.
fn restrict_calls(
    circumstances: &Circumstances,
    channel: Option<OwnedFd>,
) -> Result<(), JailError> {
    let filter = Filter::new(circumstances)?;
    match channel {
        Some(channel) => {
            let listener = filter.apply_supervised()?;
            supervisor::hand_over(&channel, listener.as_fd())?;
        }
        None => filter.apply()?,
    }
    Ok(())
}

/// Enters the view, where there is one. Only a probe may find that there are no namespaces.
fn enter(order: &Order, account: Account) -> Result<bool, JailError> {
    let Some(view) = &order.view else {
        return Ok(false);
    };
    // Whoever can have the others can have a network.
    let probed = || {
        if order.probe {
            network::raise_loopback()
        } else {
            Ok(())
        }
    };
    match view.enter(&order.access, account).and_then(|()| probed()) {
        Ok(()) => Ok(true),
        Err(_) if order.probe => Ok(false),
        Err(error) => Err(JailError::MountNamespace(error)),
    }
}

/// `own_processes`: the kernel counts those of the command alone. `program`: the descriptor of
/// what is executed, which no other file may ever get.
fn limit(limits: &Limits, own_processes: bool, program: Option<i32>) -> Result<(), std::io::Error> {
    let set = |resource, soft: u64, hard: u64| {
        rustix::process::setrlimit(
            resource,
            Rlimit {
                current: Some(soft),
                maximum: Some(hard),
            },
        )
    };
    let cpu = limits.cpu_seconds;
    set(Resource::As, limits.memory, limits.memory)?;
    set(Resource::Cpu, cpu, cpu.saturating_add(1))?;
    set(Resource::Fsize, limits.file_size, limits.file_size)?;
    let above = program.and_then(|program| u64::try_from(program).ok());
    let open_files = limits.open_files.min(above.unwrap_or(u64::MAX));
    set(Resource::Nofile, open_files, open_files)?;
    let processes = if own_processes {
        limits.processes
    } else {
        OF_ACCOUNT
    };
    set(Resource::Nproc, processes, processes)?;
    set(Resource::Core, 0, 0)?;
    Ok(())
}

/// Root inside a container has capabilities; its commands have none, now and after the exec,
/// which gives no more than was permitted before.
fn drop_capabilities() -> Result<(), std::io::Error> {
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(())
}

/// Everything that the task needs, opened and made before that is forbidden.
enum Prepared {
    Program(Program),
    Table(Box<table::Opened>),
}

impl Prepared {
    /// Of the program.
    fn descriptor(&self) -> Option<i32> {
        match self {
            Self::Program(program) => Some(program.descriptor),
            Self::Table(_) => None,
        }
    }
}

/// Everything that the exec needs.
struct Program {
    arguments: Vec<CString>,
    environment: Vec<CString>,
    /// The number that the filter lets through.
    descriptor: i32,
}

/// The highest number that the program's descriptor gets. A command can open no file under it:
/// its limit of open files is lower.
const HIGHEST_DESCRIPTOR: u64 = 900;

impl Program {
    fn new(order: &Order, program: &Path) -> Result<Self, JailError> {
        let text = |value: String| CString::new(value).map_err(|_| JailError::Nul);
        let arguments = std::iter::once(order.name.clone())
            .chain(order.arguments.iter().cloned())
            .map(text)
            .collect::<Result<_, _>>()?;
        let environment = order
            .environment
            .iter()
            .map(|(name, value)| text(format!("{name}={value}")))
            .collect::<Result<_, _>>()?;
        let file = std::fs::File::open(program)?;
        let descriptor = highest_descriptor()?;
        // SAFETY: duplicates an open descriptor to a number that nothing in this fresh process
        // uses; no memory is involved.
        #[expect(unsafe_code, reason = "the filter knows the program by this number")]
        let duplicate = unsafe { libc::dup3(file.as_raw_fd(), descriptor, libc::O_CLOEXEC) };
        if duplicate < 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        Ok(Self {
            arguments,
            environment,
            descriptor,
        })
    }

    /// Becomes the program. Comes back only in failure.
    fn execute(&self) -> std::io::Error {
        let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
            texts
                .iter()
                .map(|text| text.as_ptr())
                .chain([std::ptr::null()])
                .collect()
        };
        let (arguments, environment) = (pointers(&self.arguments), pointers(&self.environment));
        // SAFETY: both lists end with a null pointer and point into strings that live in `self`;
        // the path is empty and static, the descriptor is open.
        #[expect(unsafe_code, reason = "no safe crate has execveat")]
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                self.descriptor,
                c"".as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
                libc::AT_EMPTY_PATH,
            );
        }
        std::io::Error::last_os_error()
    }
}

/// The number for the program: the highest that this machine allows a process to have.
fn highest_descriptor() -> Result<i32, std::io::Error> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let highest = HIGHEST_DESCRIPTOR.min(most.saturating_sub(1));
    if limit.current.is_some_and(|current| current <= highest) {
        let raised = Rlimit {
            current: Some(highest + 1),
            ..limit
        };
        rustix::process::setrlimit(Resource::Nofile, raised)?;
    }
    i32::try_from(highest).map_err(std::io::Error::other)
}

/// The helper could not become the command.
#[derive(Debug, thiserror::Error)]
pub(super) enum JailError {
    /// A call failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The starter ended before its end could end this process.
    #[error("the server is gone")]
    Orphan,
    /// The namespaces could not be made.
    #[error("the namespaces could not be set: {0}")]
    MountNamespace(std::io::Error),
    /// An argument cannot be passed on.
    #[error("an argument holds a NUL character")]
    Nul,
    /// The file rules could not be made.
    #[error("the file rules could not be set: {0}")]
    Landlock(#[from] landlock::RulesetError),
    /// Nothing failed: the helper was only asked.
    #[error("probed")]
    Probed(Report),
    /// Nothing failed: the work is done.
    #[error("answered")]
    Answered(String),
    /// The file rules were made and are not in force.
    #[error("the kernel does not enforce file rules (Landlock)")]
    NotEnforced,
    /// The call filter could not be made.
    #[error("the call filter could not be set: {0}")]
    Filter(#[from] seccompiler::BackendError),
}
