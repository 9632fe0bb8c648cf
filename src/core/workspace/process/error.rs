//! Processes that are not started, or do not run to their end.

use serde_json::{Map, Value};

use crate::{Code, Diagnostic, Hint};

/// A process of a zone that did not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    /// It needed more space for itself than commands get.
    #[error("`{command}` was stopped: it took more than {limit_mb} MB of temporary space")]
    Temporary {
        /// The command.
        command: String,
        /// The limit in MiB.
        limit_mb: u64,
    },
    /// Nobody waits for the answer.
    #[error("the caller went away, `{command}` was stopped")]
    Cancelled {
        /// The command.
        command: String,
    },
    /// The kernel cannot confine commands, and none run without.
    #[error("commands are off: the kernel of this server cannot confine them ({missing})")]
    NotConfined {
        /// What the kernel lacks.
        missing: &'static str,
    },
}

impl Diagnostic for ProcessError {
    fn code(&self) -> Code {
        match self {
            Self::Temporary { .. } => Code::QuotaExceeded,
            Self::Cancelled { .. } => Code::ExecError,
            Self::NotConfined { .. } => Code::SandboxUnavailable,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::Temporary { .. } => {
                "give it less at once: split the input into parts; an administrator can raise exec.temporary_max_mb".into()
            }
            Self::Cancelled { .. } => "repeat the call".into(),
            Self::NotConfined { .. } => {
                "files work: shed_create_file, shed_patch_text, shed_tree; an administrator runs fileshed doctor".into()
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        match self {
            Self::Temporary { command, limit_mb } => {
                details.insert("command".to_owned(), command.as_str().into());
                details.insert("exec.temporary_max_mb".to_owned(), (*limit_mb).into());
            }
            Self::Cancelled { command } => {
                details.insert("command".to_owned(), command.as_str().into());
            }
            Self::NotConfined { missing } => {
                details.insert("missing".to_owned(), (*missing).into());
            }
        }
        details
    }
}
