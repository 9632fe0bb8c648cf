//! Landlock: the kernel's rules for files and ports.

use std::os::fd::AsFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use serde::{Deserialize, Serialize};

use super::JailError;
use super::own_places::ZEROS;
use crate::access::{Access, NEWEST, NetworkAccess};
use crate::job::{CountedMemory, Limits};

/// How much of Landlock the kernel has enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Enforcement {
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

/// A terminal, with its size and its modes.
fn terminal() -> BitFlags<AccessFs> {
    AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev
}

/// What a mount namespace has of its own for programs of all kinds; without one it is the host's, and
/// not for them.
const OWN: [&str; 4] = ["/proc", "/dev/full", "/dev/random", "/etc/passwd"];

/// Takes every other file, port, signal and abstract socket away from this process, for good.
///
/// Says how far the kernel went, and which version of Landlock is in force: 0 for none.
///
/// `separate` says whether the process has a mount namespace.
pub(super) fn confine(
    access: &Access,
    limits: &Limits,
    separate: bool,
) -> Result<(Enforcement, i32), JailError> {
    let newest = ABI::from(access.version.min(NEWEST));
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?;
    if newest >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(newest))?;
    }
    if newest >= ABI::V4 {
        let ports = match access.network {
            NetworkAccess::None | NetworkAccess::Proxy { .. } => AccessNet::from_all(newest),
            NetworkAccess::Open => AccessNet::BindTcp.into(),
        };
        ruleset = ruleset.handle_access(ports)?;
    }
    let mut ruleset = ruleset.create()?;
    let (changing, running) = if access.any_program {
        let making = AccessFs::Execute | AccessFs::MakeSym;
        (writing() | making, reading() | AccessFs::Execute)
    } else {
        (writing(), reading())
    };
    if let NetworkAccess::Proxy { port } = access.network
        && newest >= ABI::V4
    {
        ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    // What is not on this machine needs no rule.
    let mut allow = |path: &Path, rights| -> Result<(), JailError> {
        if let Ok(handle) = PathFd::new(path) {
            let rights = rights_on(&handle, rights, newest);
            (&mut ruleset).add_rule(PathBeneath::new(handle, rights))?;
        }
        Ok(())
    };
    // The device of the host, mapped shared, is memory that nothing bounds.
    let has_zeros = separate || limits.counted == CountedMemory::AddressSpace;
    for path in access.only_read() {
        if has_zeros || path != Path::new(ZEROS) {
            allow(path, reading())?;
        }
    }
    allow(
        Path::new("/dev/null"),
        AccessFs::ReadFile | AccessFs::WriteFile,
    )?;
    for path in &access.list {
        allow(path, AccessFs::ReadDir.into())?;
    }
    for path in &access.execute {
        allow(path, AccessFs::ReadFile | AccessFs::Execute)?;
    }
    for path in access.programs() {
        allow(path, running)?;
    }
    for path in &access.write {
        allow(path, changing)?;
    }
    // A process finds its own there.
    allow(Path::new("/dev/tty"), terminal())?;
    if access.any_program && separate {
        allow(Path::new("/dev/shm"), changing)?;
        for path in OWN {
            allow(Path::new(path), reading())?;
        }
    }
    let status = ruleset.restrict_self()?;
    let enforcement = match status.ruleset {
        RulesetStatus::FullyEnforced => Enforcement::Full,
        RulesetStatus::PartiallyEnforced => Enforcement::Partial,
        RulesetStatus::NotEnforced => Enforcement::None,
    };
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi.min(newest) as i32,
        LandlockStatus::NotEnabled => NOT_ENABLED,
        LandlockStatus::NotImplemented => 0,
    };
    // An older version that was asked for is not the newest.
    let enforcement = match enforcement {
        Enforcement::Full if version < NEWEST => Enforcement::Partial,
        other => other,
    };
    Ok((enforcement, version))
}

/// Stands for a kernel that has Landlock and does not use it.
pub(crate) const NOT_ENABLED: i32 = -1;

/// The rights of a rule for what a handle leads to, as far as they are known.
fn rights_on(handle: &PathFd, rights: BitFlags<AccessFs>, newest: ABI) -> BitFlags<AccessFs> {
    let of_files = AccessFs::from_file(newest);
    if of_files.contains(rights) {
        return rights;
    }
    let is_directory = rustix::fs::fstat(handle.as_fd())
        .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir());
    if is_directory {
        rights & AccessFs::from_all(newest)
    } else {
        rights & of_files
    }
}
