//! Landlock: the kernel's rules for files and ports.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    NetPort, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetStatus, Scope,
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

/// Rules that are made, and not yet in force.
pub(super) struct FileRules {
    ruleset: RulesetCreated,
    newest: ABI,
}

impl FileRules {
    /// The rules for files of the system and for ports. `shown` are places that the job has of its
    /// own: they wait for [`FileRules::confine`].
    pub(super) fn of_system(access: &Access, shown: &[&Path]) -> Result<Self, JailError> {
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
        if let NetworkAccess::Proxy { port } = access.network
            && newest >= ABI::V4
        {
            ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
        }
        let mut rules = Self { ruleset, newest };
        for (path, rights) in of_system(access) {
            rules.allow(path, rights)?;
        }
        for path in access.read.iter().filter(|path| !is_own(path, shown)) {
            rules.allow(path, reading())?;
        }
        Ok(rules)
    }

    /// Takes every other file, port, signal and abstract socket away from this process, for good.
    /// `separate` says whether it has a mount namespace.
    ///
    /// Says how far the kernel went, and which version of Landlock is in force: 0 for none.
    pub(super) fn confine(
        mut self,
        access: &Access,
        limits: &Limits,
        separate: bool,
        shown: &[&Path],
    ) -> Result<(Enforcement, i32), JailError> {
        for path in access.read.iter().filter(|path| is_own(path, shown)) {
            self.allow(path, reading())?;
        }
        // The device of the host, mapped shared, is memory that nothing bounds.
        if separate || limits.counted == CountedMemory::AddressSpace {
            self.allow(Path::new(ZEROS), reading())?;
        }
        let changing = if access.any_program {
            writing() | AccessFs::Execute | AccessFs::MakeSym
        } else {
            writing()
        };
        for path in &access.list {
            self.allow(path, AccessFs::ReadDir.into())?;
        }
        for path in &access.write {
            self.allow(path, changing)?;
        }
        // A process finds its own there.
        self.allow(Path::new("/dev/tty"), terminal())?;
        if access.any_program && separate {
            self.allow(Path::new("/dev/shm"), changing)?;
            for path in OWN {
                self.allow(Path::new(path), reading())?;
            }
        }
        self.enforce()
    }

    /// The same rules: what is added to the one is added to the other.
    pub(super) fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self {
            ruleset: self.ruleset.try_clone()?,
            newest: self.newest,
        })
    }

    /// What is not on this machine needs no rule.
    fn allow(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), JailError> {
        if let Ok(handle) = PathFd::new(path) {
            let rights = rights_on(&handle, rights, self.newest);
            (&mut self.ruleset).add_rule(PathBeneath::new(handle, rights))?;
        }
        Ok(())
    }

    fn enforce(self) -> Result<(Enforcement, i32), JailError> {
        let newest = self.newest;
        let status = self.ruleset.restrict_self()?;
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
}

/// Whether a place of the host is hidden by one that the job has of its own.
fn is_own(path: &Path, shown: &[&Path]) -> bool {
    shown.iter().any(|place| path.starts_with(place))
}

/// What a job may read and execute of the system, with its rights there.
fn of_system(access: &Access) -> impl Iterator<Item = (&Path, BitFlags<AccessFs>)> {
    let running = if access.any_program {
        reading() | AccessFs::Execute
    } else {
        reading()
    };
    let read = access.common().filter(|path| *path != Path::new(ZEROS));
    let read = read.map(|path| (path, reading()));
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let execute = access.execute.iter().map(PathBuf::as_path);
    let executable = AccessFs::ReadFile | AccessFs::Execute;
    read.chain([(Path::new("/dev/null"), device)])
        .chain(execute.map(move |path| (path, executable)))
        .chain(access.programs().map(move |path| (path, running)))
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
