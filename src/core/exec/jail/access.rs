//! Landlock: which files and ports a command may touch.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetStatus, Scope,
};
use serde::{Deserialize, Serialize};

use super::JailError;

/// The newest version whose rights are asked for; older kernels give what they have.
const NEWEST: ABI = ABI::V7;

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

/// How far a command reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::exec) enum Network {
    /// Nowhere.
    #[default]
    None,
    /// To the server's proxy, on this port, and nowhere else.
    Proxy {
        /// The port.
        port: u16,
    },
    /// Anywhere, as a client.
    Open,
}

/// The files of one command.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::exec) struct Access {
    /// May be executed, and read.
    pub(in crate::exec) execute: Vec<PathBuf>,
    /// May be read.
    pub(in crate::exec) read: Vec<PathBuf>,
    /// May be read and changed: files and directories made, replaced, removed.
    pub(in crate::exec) write: Vec<PathBuf>,
    /// May be connected to.
    pub(in crate::exec) network: Network,
}

impl Access {
    /// Files and directories of the system that the command needs.
    pub(super) fn system(&self) -> impl Iterator<Item = &Path> {
        let (certificates, names): (&[_], &[_]) = match self.network {
            Network::None => (&[], &[]),
            Network::Proxy { .. } => (&CERTIFICATES, &[]),
            Network::Open => (&CERTIFICATES, &NAMES),
        };
        let own = self.execute.iter().chain(&self.read);
        let common = SYSTEM.iter().chain(certificates).chain(names);
        own.map(PathBuf::as_path).chain(common.map(Path::new))
    }
}

/// How much of Landlock the kernel has enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::exec) enum Enforcement {
    /// Everything that was asked for.
    Full,
    /// What an older kernel knows.
    Partial,
    /// Nothing.
    None,
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::ReadDir
}

/// Everything that ordinary files need. No right to make links, pipes, sockets or devices, and
/// none to execute: what a command leaves behind is data.
fn writing() -> BitFlags<AccessFs> {
    reading()
        | AccessFs::WriteFile
        | AccessFs::RemoveDir
        | AccessFs::RemoveFile
        | AccessFs::MakeDir
        | AccessFs::MakeReg
        | AccessFs::Refer
        | AccessFs::Truncate
}

/// Takes every other file, port, signal and abstract socket away from this process, for good.
///
/// Says how far the kernel went, and which version of Landlock it has: 0 for none.
pub(super) fn confine(access: &Access) -> Result<(Enforcement, i32), JailError> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    let ports = AccessNet::from_all(NEWEST);
    let mut ruleset = match access.network {
        Network::None => ruleset.handle_access(ports)?.create()?,
        Network::Open => ruleset.handle_access(AccessNet::BindTcp)?.create()?,
        // Without these rules the proxy could be gone around: a kernel that lacks them is refused.
        Network::Proxy { port } => ruleset
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(ports)?
            .set_compatibility(CompatLevel::BestEffort)
            .create()?
            .set_compatibility(CompatLevel::HardRequirement)
            .add_rule(NetPort::new(port, AccessNet::ConnectTcp))?
            .set_compatibility(CompatLevel::BestEffort),
    };
    for path in access.system() {
        ruleset = allow(ruleset, path, reading())?;
    }
    ruleset = allow(
        ruleset,
        "/dev/null",
        AccessFs::ReadFile | AccessFs::WriteFile,
    )?;
    for path in &access.execute {
        ruleset = allow(ruleset, path, AccessFs::ReadFile | AccessFs::Execute)?;
    }
    for path in &access.write {
        ruleset = allow(ruleset, path, writing())?;
    }
    let status = ruleset.restrict_self()?;
    let enforcement = match status.ruleset {
        RulesetStatus::FullyEnforced => Enforcement::Full,
        RulesetStatus::PartiallyEnforced => Enforcement::Partial,
        RulesetStatus::NotEnforced => Enforcement::None,
    };
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi as i32,
        LandlockStatus::NotEnabled => NOT_ENABLED,
        LandlockStatus::NotImplemented => 0,
    };
    Ok((enforcement, version))
}

/// Stands for a kernel that has Landlock and does not use it.
pub(in crate::exec) const NOT_ENABLED: i32 = -1;

/// Whether the kernel knows rules about ports (Landlock ABI 4, Linux 6.7).
pub(super) fn knows_ports() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessNet::from_all(NEWEST))
        .and_then(Ruleset::create)
        .is_ok()
}

/// Adds a rule; what is not on this machine needs none.
fn allow(
    ruleset: RulesetCreated,
    path: impl AsRef<Path>,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, JailError> {
    let Ok(handle) = PathFd::new(path) else {
        return Ok(ruleset);
    };
    let is_directory = rustix::fs::fstat(handle.as_fd())
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir());
    let rights = if is_directory {
        rights
    } else {
        rights & AccessFs::from_file(NEWEST)
    };
    Ok(ruleset.add_rule(PathBeneath::new(handle, rights))?)
}
