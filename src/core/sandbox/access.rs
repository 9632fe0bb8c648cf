//! Which files and ports a process may touch.

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

/// What every command reads of the system: libraries and their data, nothing about people,
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
    "/etc/terminfo",
    "/etc/xml",
    "/dev/urandom",
    "/dev/zero",
];

/// What a command with network reads besides.
const CERTIFICATES: [&str; 1] = ["/etc/ssl"];

/// What it reads to find names by itself.
const NAMES: [&str; 5] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
];

/// How far a process reaches over the network.
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
    /// Anywhere, as a client.
    Open,
}

/// The files and the network of one process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Access {
    /// May be executed, and read.
    pub execute: Vec<PathBuf>,
    /// May be read.
    pub read: Vec<PathBuf>,
    /// May be read and changed: files and directories made, replaced, removed.
    pub write: Vec<PathBuf>,
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
            network: NetworkAccess::None,
            version: NEWEST,
        }
    }
}

impl Access {
    /// Files and directories of the system that the command needs.
    pub(crate) fn system(&self) -> impl Iterator<Item = &Path> {
        let (certificates, names): (&[_], &[_]) = match self.network {
            NetworkAccess::None => (&[], &[]),
            NetworkAccess::Proxy { .. } => (&CERTIFICATES, &[]),
            NetworkAccess::Open => (&CERTIFICATES, &NAMES),
        };
        let own = self.execute.iter().chain(&self.read);
        let common = SYSTEM.iter().chain(certificates).chain(names);
        own.map(PathBuf::as_path).chain(common.map(Path::new))
    }
}
