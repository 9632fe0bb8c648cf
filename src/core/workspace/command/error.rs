//! Commands that did not run to their end.

use serde_json::{Map, Value};

use super::glob::{BYTES_MAX, NAMES_MAX};
use super::limit::Limit;
use crate::{Call, Code, Diagnostic, Hint, Repeat};

/// Paths that a failure names.
const NAMED: usize = 20;

/// The first few of many paths.
fn named(paths: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = paths
        .iter()
        .take(SHOWN)
        .map(|path| format!("`{path}`"))
        .collect();
    let more = paths.len().saturating_sub(SHOWN);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A command that could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// Whitelisted, but not on this machine.
    #[error("`{command}` is allowed but not installed on this server")]
    NotInstalled {
        /// The command.
        command: String,
    },
    /// The helper ran, but did not become the command.
    #[error("`{command}` could not be started: {reason}")]
    Helper {
        /// The command.
        command: String,
        /// What the helper said.
        reason: String,
    },
    /// It ran too long.
    #[error("`{command}` ran longer than {seconds} s and was stopped")]
    TimedOut {
        /// The command.
        command: String,
        /// Its time.
        seconds: u64,
        /// What it had written.
        stdout: String,
        /// What it had complained about.
        stderr: String,
        /// The most that a call may ask for.
        most: u64,
    },
    /// The kernel ended it at one of its limits.
    #[error("`{command}` was ended: {limit}")]
    Struck {
        /// The command.
        command: String,
        /// The limit.
        limit: Limit,
        /// The negative number of the signal.
        status: i32,
        /// What it had written.
        stdout: String,
        /// What it had complained about.
        stderr: String,
    },
    /// It made files under names that are kept for the server.
    #[error(
        "`{command}` left names that are kept for the server, which were removed: {}",
        named(removed)
    )]
    KeptNames {
        /// The command.
        command: String,
        /// Their paths.
        removed: Vec<String>,
        /// Its exit status.
        status: i32,
        /// What it had written.
        stdout: String,
        /// What it had complained about.
        stderr: String,
    },
    /// A repository that git is not started with.
    #[error("git does not run: `{file}` {reason}{}", key.as_ref().map(|key| format!(": `{key}`")).unwrap_or_default())]
    Repository {
        /// The file to blame.
        file: String,
        /// Its setting, where one is to blame.
        key: Option<String>,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A substitution that cannot be applied to the names.
    #[error("`rename` cannot apply `{expression}`: {reason}")]
    Substitution {
        /// The substitution.
        expression: String,
        /// Why not.
        reason: String,
    },
    /// Wildcards stand for more than one call may be given.
    #[error("the wildcards in `args` stand for more than {NAMES_MAX} names or {BYTES_MAX} bytes")]
    TooManyNames,
    /// Both streams were sent to one file.
    #[error("parameters `stdout_file` and `stderr_file` name the same file: `{path}`")]
    SameFile {
        /// The file.
        path: String,
    },
    /// The kernel cannot hold commands to the proxy, and none reach the network without it.
    #[error("network_mode is `safe`, and the kernel of this server cannot keep it ({missing})")]
    NoSafeNetwork {
        /// What the kernel lacks.
        missing: &'static str,
    },
}

impl Diagnostic for ExecError {
    fn code(&self) -> Code {
        match self {
            Self::NotInstalled { command } if command == "git" => Code::GitNotAvailable,
            Self::NotInstalled { .. } => Code::CommandNotFound,
            Self::Helper { .. } | Self::Substitution { .. } => Code::ExecError,
            Self::Repository { .. } => Code::CommandForbidden,
            Self::KeptNames { .. } => Code::ProtectedPath,
            Self::NoSafeNetwork { .. } => Code::SandboxUnavailable,
            Self::TimedOut { .. } => Code::Timeout,
            Self::Struck { limit, .. } => match limit {
                Limit::FileSize { .. } => Code::FileTooLarge,
                Limit::CpuTime { .. } => Code::Timeout,
                Limit::Memory { .. } | Limit::OpenFiles | Limit::Processes => Code::ExecError,
            },
            Self::SameFile { .. } | Self::TooManyNames => Code::InvalidParameter,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::NotInstalled { .. } => {
                let list = Call::new("shed_allowed_commands");
                Hint::of(list)
                    .say(" lists what is installed")
                    .instead("use another command in `cmd`")
            }
            Self::Helper { .. } => "use fewer or shorter arguments, or split the call".into(),
            Self::TimedOut { seconds, most, .. } if seconds < most => {
                Hint::repeat(Repeat::with("timeout", *most)).say(" to give it more time, or give it less work")
            }
            Self::TimedOut { .. } => "give it less work: fewer files, a smaller range".into(),
            Self::Struck { limit: Limit::FileSize { mebibytes }, .. } => {
                format!("write files of at most {mebibytes} MiB, for instance with split").into()
            }
            Self::Struck { .. } => {
                "give it less work: fewer files, a smaller range; a longer timeout changes nothing".into()
            }
            Self::KeptNames { .. } => {
                "what else the command did is there; use other names for these, or take a repository to storage: .lfsig, .fs_pepper and, where there is history, every spelling of .git are kept".into()
            }
            Self::Repository {
                file,
                key: Some(key),
                ..
            } => format!(
                "take `{key}` out of `{file}`, for instance with shed_patch_text, or clone the repository again; other commands work"
            ).into(),
            Self::Repository { file, .. } => {
                format!("remove `{file}`, or clone the repository again; other commands work").into()
            }
            Self::Substitution { .. } => {
                "use a simpler pattern, or fewer files a call".into()
            }
            Self::TooManyNames => {
                "name the directory instead (ls d, grep -r word d, find d -name \"*.md\"), or make several calls".into()
            }
            Self::SameFile { .. } => {
                Hint::repeat(Repeat::with("redirect_stderr_to_stdout", true).and_without("stderr_file"))
                    .say(" to have both in one file")
            }
            Self::NoSafeNetwork { .. } => {
                "commands without network work; ask the user to upload the file; an administrator runs fileshed doctor".into()
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        match self {
            Self::NotInstalled { command } | Self::Helper { command, .. } => {
                details.insert("command".to_owned(), command.as_str().into());
            }
            Self::TimedOut {
                command,
                seconds,
                stdout,
                stderr,
                ..
            } => {
                details.insert("command".to_owned(), command.as_str().into());
                details.insert("timeout".to_owned(), (*seconds).into());
                details.insert("stdout".to_owned(), stdout.as_str().into());
                details.insert("stderr".to_owned(), stderr.as_str().into());
            }
            Self::Struck {
                command,
                limit,
                status,
                stdout,
                stderr,
            } => {
                let (setting, value) = limit.setting();
                details.insert("command".to_owned(), command.as_str().into());
                details.insert(setting.to_owned(), value.into());
                details.insert("returncode".to_owned(), (*status).into());
                details.insert("stdout".to_owned(), stdout.as_str().into());
                details.insert("stderr".to_owned(), stderr.as_str().into());
            }
            Self::KeptNames {
                command,
                removed,
                status,
                stdout,
                stderr,
            } => {
                details.insert("command".to_owned(), command.as_str().into());
                details.insert(
                    "removed".to_owned(),
                    removed.iter().take(NAMED).cloned().collect(),
                );
                details.insert("removed_total".to_owned(), removed.len().into());
                details.insert("returncode".to_owned(), (*status).into());
                details.insert("stdout".to_owned(), stdout.as_str().into());
                details.insert("stderr".to_owned(), stderr.as_str().into());
            }
            Self::Repository { file, key, .. } => {
                details.insert("path".to_owned(), file.as_str().into());
                if let Some(key) = key {
                    details.insert("setting".to_owned(), key.as_str().into());
                }
            }
            Self::Substitution { expression, .. } => {
                details.insert("expression".to_owned(), expression.as_str().into());
            }
            Self::SameFile { path } => {
                details.insert("path".to_owned(), path.as_str().into());
            }
            Self::NoSafeNetwork { missing } => {
                details.insert("missing".to_owned(), (*missing).into());
            }
            Self::TooManyNames => {
                details.insert("parameter".to_owned(), "args".into());
                details.insert("limit".to_owned(), NAMES_MAX.into());
                details.insert("limit_bytes".to_owned(), BYTES_MAX.into());
            }
        }
        details
    }
}
