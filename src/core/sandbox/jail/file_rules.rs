//! Landlock: the kernel's rules for files and ports.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus,
    NetPort, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope,
};
use rustix::fs::OFlags;

use super::mount_namespace::ZEROS;
use crate::descriptor::open;
use crate::job::{Access, NEWEST, NetworkAccess};

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

/// Files that a mount namespace has of its own for programs of all kinds; without one it is the
/// host's, and not for them.
const OWN: [&str; 4] = ["/proc", "/dev/full", "/dev/random", "/etc/passwd"];

/// Takes every other file, port, signal and abstract socket away from this process, for good.
/// `separate` says whether it has a mount namespace.
///
/// Returns the version of Landlock that is in force: 0 or [`NOT_ENABLED`] for none.
pub(super) fn confine(access: &Access, separate: bool) -> Result<i32, RulesetError> {
    let newest = ABI::from(access.version.min(NEWEST));
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?;
    if newest >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(newest))?;
    }
    if newest >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(newest))?;
    }
    let mut rules = ruleset.create()?;
    if let NetworkAccess::Proxy { port } = access.network
        && newest >= ABI::V4
    {
        rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    for (path, rights) in of_system(access).chain(of_job(access, separate)) {
        // A path that is not on this machine needs no rule.
        if let Ok(file) = open(path, OFlags::PATH) {
            let rights = rights & AccessFs::from_all(newest);
            rules = rules.add_rule(PathBeneath::new(file, rights))?;
        }
    }
    let status = rules.restrict_self()?;
    let offered = match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => effective_abi.min(newest) as i32,
        LandlockStatus::NotEnabled => NOT_ENABLED,
        LandlockStatus::NotImplemented => 0,
    };
    // Without rules nothing is enforced, whatever is offered.
    Ok(match status.ruleset {
        RulesetStatus::NotEnforced => offered.min(0),
        _ => offered,
    })
}

/// Returns the files of a job's own, with its rights there.
fn of_job(access: &Access, separate: bool) -> impl Iterator<Item = (&Path, BitFlags<AccessFs>)> {
    let changing = if access.any_program {
        writing() | AccessFs::Execute | AccessFs::MakeSym
    } else {
        writing()
    };
    let read = access.read.iter().map(|path| (path.as_path(), reading()));
    let list = access.list.iter().filter(|path| path.is_dir());
    let list = list.map(|path| (path.as_path(), AccessFs::ReadDir.into()));
    let write = access.write.iter();
    let write = write.map(move |path| (path.as_path(), changing));
    // The device of the host, mapped shared, is memory that nothing bounds.
    let zeros = separate.then_some((Path::new(ZEROS), reading()));
    // A process finds its own there.
    let terminal = (Path::new("/dev/tty"), terminal());
    let own = OWN.map(|path| (Path::new(path), reading()));
    let own = own.into_iter().chain([(Path::new("/dev/shm"), changing)]);
    let own = own.filter(move |_| access.any_program && separate);
    let more = zeros.into_iter().chain([terminal]).chain(own);
    read.chain(list).chain(write).chain(more)
}

/// Returns the files of the system that a job may read and execute, with its rights there.
fn of_system(access: &Access) -> impl Iterator<Item = (&Path, BitFlags<AccessFs>)> {
    let running = if access.any_program {
        reading() | AccessFs::Execute
    } else {
        reading()
    };
    let read = access.common().map(|path| (path, reading()));
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let execute = access.execute.iter().map(PathBuf::as_path);
    let executable = AccessFs::ReadFile | AccessFs::Execute;
    read.chain([(Path::new("/dev/null"), device)])
        .chain(execute.map(move |path| (path, executable)))
        .chain(access.programs().map(move |path| (path, running)))
}

/// Stands for a kernel that has Landlock and does not use it.
pub(crate) const NOT_ENABLED: i32 = -1;
