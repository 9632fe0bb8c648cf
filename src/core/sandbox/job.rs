//! Jobs of confined processes, and their limits.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::access::Access;

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
    pub prepare: fn(spec: &str) -> std::io::Result<Box<dyn PreparedJob>>,
}

/// A built-in job whose files are open.
pub trait PreparedJob {
    /// Returns the path that it must still be able to open to read it.
    fn read(&self) -> Option<PathBuf>;

    /// Returns the path that it must still be able to open to change it, with everything below.
    fn write(&self) -> Option<PathBuf>;

    /// Works in the confined process, and returns what is written to its standard error.
    fn run(self: Box<Self>) -> String;
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
    /// Owner, if several jobs of one owner may share their rules in the kernel: one may then touch the
    /// files of the other, if it sees them.
    #[serde(default)]
    pub owner: String,
    /// Standard input; nothing where there is none. Lies where no path of a zone leads. Counts for
    /// [`super::run`], which has no stream of its caller for it.
    #[serde(skip)]
    pub input: Option<PathBuf>,
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

impl JobSpec {
    /// Returns `true` if it names its working directory by a relative path.
    pub(super) fn needs_place(&self) -> bool {
        let mut bind_mounts = self.mounts.iter().flat_map(|all| &all.bind_mounts);
        bind_mounts.any(|mount| mount.source.is_relative())
    }
}

/// Files that a command sees instead of the host's.
#[derive(Debug, Serialize, Deserialize)]
pub struct MountNamespace {
    /// Directories of the command.
    pub bind_mounts: Vec<BindMount>,
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

/// Memory of a process that is bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedMemory {
    /// All of its address space, whether used or only reserved.
    #[default]
    AddressSpace,
    /// Memory that it can write and nobody else sees. Memory that processes share and that is no
    /// file is not to be had then, since nothing would bound it.
    Data,
}

/// Bounds of one process, enforced by the kernel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Memory in bytes.
    pub memory: u64,
    /// Memory that counts.
    #[serde(default)]
    pub counted: CountedMemory,
    /// Seconds of CPU; one second later the process is killed.
    pub cpu_seconds: u64,
    /// Largest file in bytes.
    pub file_size: u64,
    /// Open files.
    pub open_files: u64,
    /// Processes and threads of the job together.
    pub processes: u64,
}
