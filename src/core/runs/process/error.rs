//! Processes that are not started, or do not run to their end.

use fileshed_sandbox::Ending;
use fileshed_types::{Error, diagnostics};
use fileshed_zones::zone::Zone;

diagnostics! {
    /// A process of a zone that did not do its work.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum ProcessError {
        /// It needed more space for itself than commands get.
        #[error("`{command}` was stopped: it took more than {limit_mb} MB of temporary space")]
        Temporary {
            /// The command.
            command: String,
            /// The limit in MiB.
            limit_mb: u64 = 100,
        } => {
            code: QuotaExceeded,
            hint: "give it less at once: split the input into parts; an administrator can raise \
                exec.temporary_max_mb",
            details: { "command": command, "exec.temporary_max_mb": limit_mb },
        },
        /// It took more memory than commands get.
        #[error(
            "`{command}` was stopped: with all that it started it took more than {limit_mb} MiB of \
             memory (exec_memory_limit_mb); give it less at once, or fewer processes"
        )]
        Memory {
            /// The command.
            command: String,
            /// The limit in MiB.
            limit_mb: u64 = 512,
        } => {
            code: ExecError,
            hint: "read or make less at once, or start fewer processes; an administrator can raise \
                exec_memory_limit_mb",
            details: { "command": command, "exec_memory_limit_mb": limit_mb },
        },
        /// Nobody waits for the answer.
        #[error("the caller went away, `{command}` was stopped")]
        Cancelled {
            /// The command.
            command: String,
        } => {
            code: ExecError,
            hint: "repeat the call",
            details: { "command": command },
        },
        /// Somebody who looks after the server ended it.
        #[error("an administrator of this server ended `{command}`")]
        EndedByAdministrator {
            /// The command.
            command: String,
        } => {
            code: ExecError,
            hint: "tell the user that an administrator ended the command; repeat it only if the user \
                wants that",
            details: { "command": command },
        },
        /// The kernel cannot confine commands, and none run without.
        #[error("commands are off: the kernel of this server cannot confine them ({missing})")]
        NotConfined {
            /// What the kernel lacks.
            missing: &'static str = "Landlock",
        } => {
            code: SandboxUnavailable,
            hint: "files work: shed_create_file, shed_patch_text, shed_tree; an administrator runs fileshed \
                doctor",
            details: { "missing": missing },
        },
    }
}

/// Fails if the server ended a command in `zone`, because of its caller, an administrator or its
/// temporary space.
pub(crate) fn expect_not_stopped(
    zone: &Zone<'_>,
    command: &str,
    ending: Ending,
) -> Result<(), Error> {
    let (cancellation, command) = (&zone.caller().cancellation, command.to_owned());
    let error = match ending {
        Ending::Cancelled if cancellation.is_cancelled() => {
            cancellation.trust().expect()?;
            ProcessError::Cancelled { command }
        }
        Ending::Cancelled => ProcessError::EndedByAdministrator { command },
        Ending::OverTemporary => ProcessError::Temporary {
            command,
            limit_mb: zone.store.settings().exec_temporary_max_mb,
        },
        Ending::Exited | Ending::TimedOut | Ending::OverQuota | Ending::OverMemory => return Ok(()),
    };
    Err(error.into())
}
