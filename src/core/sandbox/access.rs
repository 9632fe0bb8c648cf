//! Files and ports that a process may touch.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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
const SYSTEM: [&str; 19] = [
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
    "/dev/zero",
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
    /// Files and directories of the system that the command needs, and what it reads besides.
    pub(crate) fn system(&self) -> impl Iterator<Item = &Path> {
        self.code().chain(self.read.iter().map(PathBuf::as_path))
    }

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
