//! Commands that did not run to their end.

use super::limit::Limit;
use fileshed_rules::package_of;
use fileshed_types::diagnostics::Facts;
use fileshed_types::{Code, Hint, NextCall, Repeat, diagnostics};

/// Names that all arguments of a call may stand for together.
pub(super) const NAMES_MAX: usize = 5000;

/// Bytes of these names: the most that the kernel takes as arguments of a program, less some for others.
pub(super) const BYTES_MAX: usize = 1 << 20;

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

diagnostics! {
    /// A command that could not be carried out.
    #[derive(Debug, thiserror::Error)]
    pub enum ExecError {
        /// Whitelisted, but not on this machine.
        #[error(
            "`{command}` is allowed but not installed on this server; the Debian package `{}` has it",
            package_of(command)
        )]
        NotInstalled {
            /// The command.
            command: String => ["git".to_owned(), "jq".to_owned()],
        } => {
            code: if command == "git" { Code::GitNotAvailable } else { Code::CommandNotFound },
            hint: Hint::from(NextCall::new("shed_allowed_commands"))
                .say(" lists what is installed")
                .instead("use another command in `cmd`"),
            details: { "command": command, "package": package_of(command) },
        },
        /// The helper ran, but did not become the command.
        #[error("`{command}` could not be started: {reason}")]
        Helper {
            /// The command.
            command: String,
            /// The failure that the helper reported.
            reason: String = "the arguments are too long".to_owned(),
        } => {
            code: ExecError,
            hint: "use fewer or shorter arguments, or split the call",
            details: { "command": command },
        },
        /// It ran too long.
        #[error("`{command}` ran longer than {seconds} s and was stopped")]
        TimedOut {
            /// The command.
            command: String,
            /// Its time.
            seconds: u64 => [30, 300],
            /// The most that a call may ask for.
            most: u64 = 300,
        } => {
            code: Timeout,
            hint: if seconds < most {
                Hint::from(Repeat::with("timeout", *most))
                    .say(" to give it more time, or give it less work")
            } else {
                "give it less work: fewer files, a smaller range".into()
            },
            details: { "command": command, "timeout": seconds },
        },
        /// The kernel ended it at one of its limits.
        #[error("`{command}` was ended: {limit}")]
        Struck {
            /// The command.
            command: String,
            /// The limit.
            limit: Limit => [
                Limit::FileSize { mebibytes: 300 },
                Limit::CpuTime { seconds: 60 },
                Limit::Memory { mebibytes: 512 },
                Limit::Threads { mebibytes: 512 },
                Limit::MemoryOfTree { mebibytes: 512 },
                Limit::OpenFiles,
                Limit::Processes,
            ],
            /// The negative number of the signal.
            status: i32,
        } => {
            code: limit.code(),
            hint: limit.hint(),
            details: {
                "command": command, (limit.setting().0): limit.setting().1, "returncode": status
            },
        },
        /// It made files under names that are kept for the server.
        #[error(
            "`{command}` created names that are reserved for the server; they were removed: {}",
            named(removed)
        )]
        KeptNames {
            /// The command.
            command: String,
            /// Their paths.
            removed: Vec<String> = vec!["notes/.lfsig".to_owned()],
            /// Its exit status.
            status: i32,
        } => {
            code: ProtectedPath,
            hint: "the other changes of the command stay; use other names, or move a repository to \
                   storage: .lfsig, .fs_pepper and, in zones with a history, every spelling of \
                   .git are reserved",
            details: {
                "command": command, "removed": &removed[..removed.len().min(NAMED)],
                "removed_total": removed.len(), "returncode": status
            },
        },
        /// A repository that git is not started with.
        #[error("git does not run: `{file}` {reason}{}", key.as_ref().map(|key| format!(": `{key}`")).unwrap_or_default())]
        Repository {
            /// The file to blame.
            file: String = ".git/config".to_owned(),
            /// Its setting, where one is to blame.
            key: Option<String> => [Some("core.pager".to_owned()), None],
            /// The fault of the file.
            reason: &'static str => ["has a setting that starts a program", "is a symbolic link"],
        } => {
            code: CommandForbidden,
            hint: match key {
                Some(key) => format!(
                    "remove `{key}` from `{file}`, for instance with shed_patch_text, or clone the \
                     repository again; other commands work"
                ),
                None => format!("remove `{file}`, or clone the repository again; other commands work"),
            },
            details: blamed(file, key.as_deref()),
        },
        /// A substitution that cannot be applied to the names.
        #[error("`rename` cannot apply `{expression}`: {reason}")]
        Substitution {
            /// The substitution.
            expression: String = "s/a/b/".to_owned(),
            /// The reason.
            reason: String,
        } => {
            code: ExecError,
            hint: "use a simpler pattern, or fewer files for each call",
            details: { "expression": expression },
        },
        /// Wildcards stand for more than one call may be given.
        #[error("the wildcards in `args` match more than {NAMES_MAX} names or {BYTES_MAX} bytes")]
        TooManyNames => {
            code: InvalidParameter,
            hint: "name the directory instead (ls d, grep -r word d, find d -name \"*.md\"), or make several \
                calls",
            details: { "parameter": "args", "limit": NAMES_MAX, "limit_bytes": BYTES_MAX },
        },
        /// Both streams were sent to one file.
        #[error("parameters `stdout_file` and `stderr_file` name the same file: `{path}`")]
        SameFile {
            /// The file.
            path: String,
        } => {
            code: InvalidParameter,
            hint: Hint::from(
                Repeat::with("redirect_stderr_to_stdout", true).and_without("stderr_file"),
            )
            .say(" to have both in one file"),
            details: { "path": path },
        },
        /// The kernel cannot hold commands to the proxy, and none reach the network without it.
        #[error("the kernel of this server cannot restrict commands to its proxy ({missing})")]
        NoNetwork {
            /// The missing feature of the kernel.
            missing: &'static str = "user namespaces",
        } => {
            code: SandboxUnavailable,
            hint: "commands without network work; ask the user to upload the file; an administrator runs \
                fileshed doctor",
            details: { "missing": missing },
        },
    }
}

/// The file of a repository that is to blame, and its setting.
fn blamed(file: &str, key: Option<&str>) -> Facts {
    let mut facts = Facts::new();
    facts.insert("path".to_owned(), file.into());
    if let Some(key) = key {
        facts.insert("setting".to_owned(), key.into());
    }
    facts
}

impl Limit {
    fn code(self) -> Code {
        match self {
            Self::FileSize { .. } => Code::FileTooLarge,
            Self::CpuTime { .. } => Code::Timeout,
            Self::Memory { .. }
            | Self::Threads { .. }
            | Self::MemoryOfTree { .. }
            | Self::OpenFiles
            | Self::Processes => Code::ExecError,
        }
    }

    fn hint(self) -> Hint {
        if let Self::FileSize { mebibytes } = self {
            return format!("write files of at most {mebibytes} MiB, for instance with split")
                .into();
        }
        "give it less work: fewer files, a smaller range; a longer timeout does not help".into()
    }
}
