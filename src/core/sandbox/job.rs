//! Jobs of confined processes: their limits, and the files and ports that they may touch.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Task of a process once it is confined.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// It becomes a program.
    Program {
        /// The file that is executed.
        file: PathBuf,
        /// Its name: its first argument.
        name: String,
        /// The arguments after that.
        arguments: Vec<String>,
        /// Its environment, and nothing besides.
        environment: Vec<(String, String)>,
    },
    /// It stays, and does one of the jobs that [`super::serve`] was given.
    BuiltIn {
        /// Name of the job.
        name: String,
        /// Its parameters, as that job reads them.
        spec: String,
    },
}

/// A job that the server's own binary can do in a confined process.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInJob {
    /// Its name.
    pub name: &'static str,
    /// Reads what to do, and opens what that needs before the kernel takes everything else away.
    pub prepare: fn(spec: &str) -> std::io::Result<PreparedJob>,
}

/// A built-in job whose files are open.
pub struct PreparedJob {
    /// The path that it must still be able to open to read it.
    pub read: Option<PathBuf>,
    /// The path that it must still be able to open to change it, with everything below.
    pub write: Option<PathBuf>,
    /// Works in the confined process, and returns what is written to its standard error.
    pub work: Box<dyn FnOnce() -> String>,
}

/// A job with everything that holds it.
#[derive(Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one job, written out as JSON"
)]
pub struct JobSpec {
    /// The task.
    pub job: Job,
    /// Owner: the kernel counts what its jobs take together, apart from those of others.
    #[serde(default)]
    pub owner: String,
    /// File for standard input; `None` if there is none. No path of a zone leads to it. Only [`super::run`]
    /// uses it, because it has no stream of its caller.
    #[serde(skip)]
    pub input: Option<PathBuf>,
    /// The socket by which the program asks the server to remove a file ([`super::removals`]).
    #[serde(skip)]
    pub removals: Option<OwnedFd>,
    /// `true` if standard input is a terminal that becomes the one of its session, which the program
    /// itself begins.
    #[serde(default)]
    pub controlling_terminal: bool,
    /// `true` if it may put its processes into groups, as shells do with what they start.
    #[serde(default)]
    pub makes_groups: bool,
    /// Limits of each of its processes.
    pub limits: Limits,
    /// The files that are there; all of the host's where there are no namespaces.
    pub mounts: Option<MountNamespace>,
    /// The files and the network that it may use.
    pub access: Access,
    /// `true` if its supervisor is asked, where there is need of one.
    pub supervised: bool,
    /// `true` if it starts programs of its own.
    pub starts_others: bool,
    /// `true` if it may change the zone.
    pub changes: bool,
    /// `true` to tell how much is enforced instead of doing the job.
    pub probe: bool,
    /// `true` if a kernel that cannot confine is good enough.
    pub best_effort: bool,
}

/// Files that a command sees instead of the host's.
#[derive(Debug, Serialize, Deserialize)]
pub struct MountNamespace {
    /// Directories of the command.
    pub bind_mounts: Vec<BindMount>,
    /// Programs of the host in other places there.
    #[serde(default)]
    pub programs: Vec<BindMount>,
    /// Working directory.
    pub directory: PathBuf,
}

impl MountNamespace {
    /// Returns the places at which it has other directories than the host.
    pub(super) fn targets(&self) -> Vec<&Path> {
        let targets = self.bind_mounts.iter().map(|mount| mount.target.as_path());
        targets.collect()
    }
}

/// A directory of the host in the mount namespace.
#[derive(Debug, Serialize, Deserialize)]
pub struct BindMount {
    /// Path on the host, relative to the working directory of the process.
    pub source: PathBuf,
    /// Path for the command.
    pub target: PathBuf,
    /// `true` if it can be changed.
    pub writable: bool,
}

impl BindMount {
    /// Shows what is at one path at another.
    pub fn new(source: impl Into<PathBuf>, target: impl Into<PathBuf>, writable: bool) -> Self {
        Self {
            source: source.into(),
            target: target.into(),
            writable,
        }
    }
}

/// Bytes of the stack of a process, and of each of its threads unless the program says otherwise. That of
/// a thread counts as memory.
pub const STACK_BYTES: u64 = 8 << 20;

/// Bounds of one process, enforced by the kernel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of memory. The kernel bounds twice as much that a process can write and no other sees, since
    /// programs use less than they ask for; shared memory that is no file is refused, since nothing
    /// would bound it.
    pub memory: u64,
    /// Seconds of CPU; one second later the process is killed.
    pub cpu_seconds: u64,
    /// Largest file in bytes.
    pub file_size: u64,
    /// Open files.
    pub open_files: u64,
    /// Processes and threads of the job together.
    pub processes: u64,
}

/// The newest version of Landlock's interface whose rights are asked for; older kernels give what
/// they have.
pub(crate) const NEWEST: i32 = landlock::ABI::V7 as i32;

fn newest() -> i32 {
    NEWEST
}

/// The version that a setting stands for.
#[must_use]
pub fn landlock_version(setting: u64) -> i32 {
    i32::try_from(setting).unwrap_or(NEWEST).clamp(1, NEWEST)
}

/// Files of the system that every command reads: libraries and their data, nothing about people,
/// networks or this machine.
const SYSTEM: [&str; 18] = [
    "/usr/lib",
    "/usr/lib64",
    "/lib",
    "/lib64",
    "/usr/local/lib",
    "/usr/share",
    "/etc/ld.so.cache",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/ImageMagick-6",
    "/etc/ImageMagick-7",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/perl",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/xml",
    "/dev/urandom",
];

/// Directories of programs.
const PROGRAMS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt"];

/// Files that a command with network reads besides.
const CERTIFICATES: [&str; 1] = ["/etc/ssl"];

/// Files that programs of all kinds read besides, and take a refusal for a failure: which distribution
/// this is, and whose certificates it trusts. Both are public.
const PUBLIC: [&str; 4] = [
    "/etc/debian_version",
    "/etc/lsb-release",
    "/etc/os-release",
    "/etc/ssl/certs",
];

/// Reach of a process over the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    /// Nowhere.
    #[default]
    None,
    /// To the server's proxy, on this port, and nowhere else. With namespaces it listens in a
    /// network of the command's own, in which nothing else is.
    Proxy {
        /// The port.
        port: u16,
    },
}

/// The files and the network of one process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// May be executed, and read.
    pub execute: Vec<PathBuf>,
    /// May be read.
    pub read: Vec<PathBuf>,
    /// May be read and changed: files and directories made, replaced, removed.
    pub write: Vec<PathBuf>,
    /// Directories whose names may be read, with those below; made where they are missing in a mount
    /// namespace.
    #[serde(default)]
    pub list: Vec<PathBuf>,
    /// Every program of the machine may be executed, and what lies in a directory that may be changed:
    /// programs, libraries and links to them. The kernel alone bounds what runs then.
    #[serde(default)]
    pub any_program: bool,
    /// May be connected to.
    pub network: NetworkAccess,
    /// Newest version of Landlock's interface whose rights are asked for.
    #[serde(default = "newest")]
    pub version: i32,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            execute: Vec::new(),
            read: Vec::new(),
            write: Vec::new(),
            list: Vec::new(),
            any_program: false,
            network: NetworkAccess::None,
            version: NEWEST,
        }
    }
}

impl Access {
    /// Returns the directories of all programs, if any of them may be executed.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Path> {
        let places: &[_] = if self.any_program { &PROGRAMS } else { &[] };
        places.iter().map(Path::new)
    }

    /// Returns the paths of programs and libraries of the system.
    pub(crate) fn code(&self) -> impl Iterator<Item = &Path> {
        let own = self.execute.iter().map(PathBuf::as_path);
        own.chain(self.common()).chain(self.programs())
    }

    /// Returns what every command reads of the system, as far as the network and the programs go.
    pub(crate) fn common(&self) -> impl Iterator<Item = &Path> {
        let certificates: &[_] = match self.network {
            NetworkAccess::None => &[],
            NetworkAccess::Proxy { .. } => &CERTIFICATES,
        };
        let public: &[_] = if self.any_program { &PUBLIC } else { &[] };
        SYSTEM
            .iter()
            .chain(certificates)
            .chain(public)
            .map(Path::new)
    }
}
