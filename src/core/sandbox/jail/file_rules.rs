//! Landlock: the kernel's rules for files and ports.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};
use rustix::fs::{FileType, OFlags};

use super::JailError;
use super::mount_namespace::ZEROS;
use super::process::checked;
use crate::descriptor::open;
use crate::job::{Access, CountedMemory, Limits, NEWEST, NetworkAccess};

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

/// Rules that are made, and not yet in force.
pub(crate) struct FileRules {
    /// The ruleset by its descriptor, which may have come from another process: holders of a copy
    /// add rules to the same set. The crate makes rulesets, but takes none that was made elsewhere. `None`
    /// if the kernel has no such rules.
    ruleset: Option<OwnedFd>,
    /// The version that the kernel offers, as far as it is asked for: 0 for none.
    version: i32,
}

impl FileRules {
    /// The rules for files of the system and for ports. `shown` are places that the job has of its
    /// own: they wait for [`FileRules::confine`].
    pub(crate) fn of_system(access: &Access, shown: &[&Path]) -> Result<Self, JailError> {
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
        let mut ruleset = ruleset.create()?;
        if let NetworkAccess::Proxy { port } = access.network
            && newest >= ABI::V4
        {
            ruleset = ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
        }
        let rules = Self::of(ruleset.into(), access);
        for (path, rights) in of_system(access) {
            rules.allow(path, rights)?;
        }
        for path in access.read.iter().filter(|path| !is_own(path, shown)) {
            rules.allow(path, reading())?;
        }
        Ok(rules)
    }

    /// Rules for the system that another process has made for the same access.
    pub(super) fn received(ruleset: OwnedFd, access: &Access) -> Self {
        Self::of(Some(ruleset), access)
    }

    fn of(ruleset: Option<OwnedFd>, access: &Access) -> Self {
        let version = match offered_version() {
            Ok(version) => version.min(access.version.min(NEWEST)),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => NOT_ENABLED,
            Err(_) => 0,
        };
        // Without rules nothing is enforced, whatever is offered.
        let version = if ruleset.is_some() {
            version
        } else {
            version.min(0)
        };
        Self { ruleset, version }
    }

    /// The rules as another process receives them; `None` where the kernel has none.
    pub(crate) fn into_descriptor(self) -> Option<OwnedFd> {
        self.ruleset
    }

    /// Takes every other file, port, signal and abstract socket away from this process, for good.
    /// `separate` says whether it has a mount namespace.
    ///
    /// Returns the version of Landlock that is in force: 0 or [`NOT_ENABLED`] for none.
    pub(super) fn confine(
        self,
        access: &Access,
        limits: &Limits,
        separate: bool,
        shown: &[&Path],
    ) -> io::Result<i32> {
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

    /// Adds a rule, unless the path is not on this machine.
    fn allow(&self, path: &Path, rights: BitFlags<AccessFs>) -> io::Result<()> {
        let Some(ruleset) = &self.ruleset else {
            return Ok(());
        };
        let Ok(handle) = open(path, OFlags::PATH) else {
            return Ok(());
        };
        let rights = rights_on(&handle, rights, ABI::from(self.version));
        if rights.is_empty() {
            return Ok(());
        }
        let rule = PathBeneathAttribute {
            allowed_access: rights.bits(),
            parent_fd: handle.as_raw_fd(),
        };
        // SAFETY: the rule is the structure of this call, and lives through it.
        #[expect(unsafe_code, reason = "the crate adds to its own rulesets alone")]
        let result = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                ruleset.as_raw_fd(),
                PATH_BENEATH,
                std::ptr::from_ref(&rule),
                0_u32,
            )
        };
        checked(result).map(drop)
    }

    /// Puts the rules in force for this process, which can gain no privilege any more.
    fn enforce(self) -> io::Result<i32> {
        if let Some(ruleset) = &self.ruleset {
            let ruleset = ruleset.as_raw_fd();
            // SAFETY: takes no pointers.
            #[expect(unsafe_code, reason = "the crate enforces its own rulesets alone")]
            checked(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0_u32) })?;
        }
        Ok(self.version)
    }
}

/// `struct landlock_path_beneath_attr`
#[repr(C, packed)]
struct PathBeneathAttribute {
    allowed_access: u64,
    parent_fd: i32,
}

/// `LANDLOCK_RULE_PATH_BENEATH`
const PATH_BENEATH: libc::c_int = 1;

/// `LANDLOCK_CREATE_RULESET_VERSION`
const ASKS_FOR_VERSION: u32 = 1;

/// The version that the kernel offers; `ENOSYS` where it has none, `EOPNOTSUPP` where it is not in
/// use.
fn offered_version() -> io::Result<i32> {
    // SAFETY: the kernel asks for these arguments, and reads nothing.
    #[expect(unsafe_code, reason = "the crate tells it with rules in force")]
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            ASKS_FOR_VERSION,
        )
    };
    checked(result)
}

/// Returns `true` if a place of the host is hidden by one that the job has of its own.
fn is_own(path: &Path, shown: &[&Path]) -> bool {
    shown.iter().any(|place| path.starts_with(place))
}

/// Returns the files of the system that a job may read and execute, with its rights there.
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
fn rights_on(handle: &OwnedFd, rights: BitFlags<AccessFs>, known: ABI) -> BitFlags<AccessFs> {
    let of_files = AccessFs::from_file(known);
    if of_files.contains(rights) {
        return rights;
    }
    let is_directory =
        rustix::fs::fstat(handle).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir());
    if is_directory {
        rights & AccessFs::from_all(known)
    } else {
        rights & of_files
    }
}
