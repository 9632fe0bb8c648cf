//! The account of a process.

use std::fs::File;
use std::io::{self, Write};

use rustix::process::{DumpableBehavior, Gid, Uid};

/// Whether other processes of the account may read this one. A command is not of the zygote, of its
/// init and of its supervisor: they may be in its namespaces, and under the same file rules.
pub(super) fn set_dumpable(is_dumpable: bool) -> io::Result<()> {
    let behavior = if is_dumpable {
        DumpableBehavior::Dumpable
    } else {
        DumpableBehavior::NotDumpable
    };
    Ok(rustix::process::set_dumpable_behavior(behavior)?)
}

/// Under which account a process runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    pub(super) user: Uid,
    pub(super) group: Gid,
}

impl Account {
    /// The one of this process.
    pub(super) fn own() -> Self {
        Self {
            user: rustix::process::getuid(),
            group: rustix::process::getgid(),
        }
    }

    /// Makes this account the only one of a new namespace.
    pub(super) fn map(self) -> io::Result<()> {
        // Whoever cannot be read cannot write these either.
        set_dumpable(true)?;
        let mapped = self.write_maps();
        set_dumpable(false)?;
        mapped
    }

    fn write_maps(self) -> io::Result<()> {
        let map = |id: u32| format!("{id} {id} 1");
        // A group map without rights needs that groups cannot be changed (user_namespaces(7)).
        for (file, text) in [
            ("/proc/self/setgroups", "deny".to_owned()),
            ("/proc/self/uid_map", map(self.user.as_raw())),
            ("/proc/self/gid_map", map(self.group.as_raw())),
        ] {
            let mut file = File::options().write(true).open(file)?;
            file.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}
