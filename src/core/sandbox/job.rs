//! What a confined process is to do, and within which limits.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::access::{Access, NetworkAccess};

/// What a process does once it is confined.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// It becomes a program.
    Program {
        /// The file that is executed.
        file: PathBuf,
        /// What it is called: its first argument.
        name: String,
        /// The arguments after that.
        arguments: Vec<String>,
        /// Its environment, and nothing besides.
        environment: Vec<(String, String)>,
    },
    /// It stays, and does one of the jobs that [`super::serve`] was given.
    BuiltIn {
        /// Which one.
        name: String,
        /// What to do, as that job reads it.
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
    /// What it must still be able to open to read it.
    fn read(&self) -> Option<PathBuf>;

    /// What it must still be able to open to change it, with everything below.
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
    /// What to do.
    pub job: Job,
    /// Whose job it is, where several jobs of one owner may share what the kernel was told of them:
    /// one may then touch what the other has, where it sees it.
    #[serde(default)]
    pub owner: String,
    /// Standard input; nothing where there is none. Lies where no path of a zone leads. Counts for
    /// [`super::run`], which has no stream of its caller for it.
    #[serde(skip)]
    pub input: Option<PathBuf>,
    /// Whether standard input is a terminal that becomes the one of its session, which the program
    /// itself begins.
    #[serde(default)]
    pub controlling_terminal: bool,
    /// Whether it may put its processes into groups, as shells do with what they start.
    #[serde(default)]
    pub makes_groups: bool,
    /// Limits of each of its processes.
    pub limits: Limits,
    /// The files that are there; all of the host's where there are no namespaces.
    pub mounts: Option<MountNamespace>,
    /// The files and the network that it may use.
    pub access: Access,
    /// Whether its supervisor is asked, where there is need of one.
    pub supervised: bool,
    /// Whether it starts programs of its own.
    pub starts_others: bool,
    /// Whether it may change the zone.
    pub changes: bool,
    /// Say how much is enforced instead of doing the job.
    pub probe: bool,
    /// Whether a kernel that cannot confine is good enough.
    pub best_effort: bool,
}

/// What the server asks of the zygote.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ZygoteRequest {
    /// Start a job.
    Start(StartRequest),
    /// End the job with most watches of epoll, because the account has none left.
    EndMostWatches,
}

/// All that the zygote is told of a job: how its process begins, and how it is ended. Nothing of it is
/// anybody's, because what the zygote knows is in the memory of every copy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one job, written out as JSON"
)]
pub(crate) struct StartRequest {
    /// In namespaces of files and processes, where the machine can do that.
    pub(crate) in_namespaces: bool,
    /// With such namespaces, in a network of its own.
    pub(crate) in_network: bool,
    /// Not all of its processes stay in its group.
    pub(crate) makes_groups: bool,
    /// A way into a control group comes with it.
    pub(crate) has_group: bool,
    /// File rules come with it.
    pub(crate) has_rules: bool,
    /// The map of its kernel account comes with it, to a process that waited.
    #[serde(default)]
    pub(crate) has_map: bool,
    /// The kernel account of its owner, where owners have accounts of their own.
    #[serde(default)]
    pub(crate) account: Option<u32>,
    /// The jail that it needs, where one may be made before the job is there.
    pub(crate) kind: Option<JailKind>,
}

/// What jobs have in common that the same spare jail can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JailKind {
    /// Whether every program of the machine may be executed.
    pub(crate) any_program: bool,
    /// The network of the jail.
    pub(crate) network: NetworkAccess,
    /// Which memory is bounded.
    pub(crate) counted: CountedMemory,
    /// `true` if it takes the kernel account of its job.
    #[serde(default)]
    pub(crate) takes_account: bool,
}

impl JailKind {
    /// What the system shows of itself; nothing that one job names.
    pub(crate) fn access(&self) -> Access {
        Access {
            any_program: self.any_program,
            network: self.network,
            ..Access::default()
        }
    }
}

impl JobSpec {
    /// What the zygote is told of it, without what comes along.
    pub(super) fn start_request(&self) -> StartRequest {
        let in_namespaces = self.mounts.is_some();
        let is_proxied = matches!(self.access.network, NetworkAccess::Proxy { .. });
        let is_program = matches!(self.job, Job::Program { .. });
        StartRequest {
            in_namespaces,
            in_network: in_namespaces && is_proxied,
            makes_groups: self.makes_groups,
            has_group: false,
            has_rules: false,
            has_map: false,
            account: None,
            kind: (in_namespaces && is_program && !self.probe).then_some(JailKind {
                any_program: self.access.any_program,
                network: self.access.network,
                counted: self.limits.counted,
                takes_account: false,
            }),
        }
    }

    /// Whether it is about its working directory by a path relative to it.
    pub(super) fn needs_place(&self) -> bool {
        let mut bind_mounts = self.mounts.iter().flat_map(|all| &all.bind_mounts);
        bind_mounts.any(|mount| mount.source.is_relative())
    }
}

/// A job spec as it is written for the process that reads it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WrittenJob<S> {
    /// The path of its working directory for a process that has other mounts than the one that opened
    /// it; empty if that process needs none.
    pub(crate) place: PathBuf,
    /// The job.
    pub(crate) spec: S,
}

/// What a command sees instead of the host's files.
#[derive(Debug, Serialize, Deserialize)]
pub struct MountNamespace {
    /// What it works with.
    pub bind_mounts: Vec<BindMount>,
    /// Where it begins.
    pub directory: PathBuf,
}

impl MountNamespace {
    /// Where it has other directories than the host.
    pub(super) fn targets(&self) -> Vec<&Path> {
        let targets = self.bind_mounts.iter().map(|mount| mount.target.as_path());
        targets.collect()
    }
}

/// A directory of the host in the mount namespace.
#[derive(Debug, Serialize, Deserialize)]
pub struct BindMount {
    /// Where it is; relative to the working directory of the process.
    pub source: PathBuf,
    /// Where the command finds it.
    pub target: PathBuf,
    /// Whether it can be changed.
    pub writable: bool,
}

/// Which memory of a process is bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedMemory {
    /// All of its address space, whether used or only reserved.
    #[default]
    AddressSpace,
    /// What it can write and nobody else sees. Memory that processes share and that is no file is
    /// not to be had then, since nothing would bound it.
    Data,
}

/// Bounds of one process, enforced by the kernel.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Memory in bytes.
    pub memory: u64,
    /// What of it counts.
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
