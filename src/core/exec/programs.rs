//! Where the whitelisted programs are on this machine: looked up once, at start.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::policy::commands;

/// Where programs are looked for, in this order.
pub(super) const DIRECTORIES: [&str; 6] = [
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/usr/local/sbin",
    "/usr/sbin",
    "/sbin",
];

/// One whitelisted command.
#[derive(Clone, Debug)]
pub struct Program {
    /// What runs; nothing when it is not installed.
    pub file: Option<PathBuf>,
}

/// All whitelisted commands.
#[derive(Debug)]
pub struct Programs {
    by_command: BTreeMap<&'static str, Program>,
}

impl Programs {
    /// Looks every command up.
    #[must_use]
    pub fn find() -> Self {
        let by_command = commands()
            .iter()
            .map(|rule| {
                let file = DIRECTORIES
                    .iter()
                    .map(|directory| Path::new(directory).join(rule.program))
                    .find(|file| is_executable(file));
                (rule.name, Program { file })
            })
            .collect();
        Self { by_command }
    }

    /// The program of a command.
    #[must_use]
    pub fn file(&self, command: &str) -> Option<&Path> {
        self.by_command.get(command)?.file.as_deref()
    }

    /// Whether the command is installed.
    #[must_use]
    pub fn has(&self, command: &str) -> bool {
        self.file(command).is_some()
    }
}

fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
