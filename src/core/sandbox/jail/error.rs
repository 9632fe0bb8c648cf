//! Why a process could not do its job.

/// A process could not do its job.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JailError {
    /// A call failed.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The zygote ended before its end could end this process.
    #[error("the server is gone")]
    Orphan,
    /// The namespaces could not be made.
    #[error("the namespaces could not be set: {0}")]
    MountNamespace(#[source] std::io::Error),
    /// An argument cannot be passed on.
    #[error("an argument holds a NUL character")]
    Nul,
    /// The file rules could not be made.
    #[error("the file rules could not be set: {0}")]
    Landlock(#[from] landlock::RulesetError),
    /// The binary has no job of this name.
    #[error("there is no job `{0}`")]
    UnknownJob(String),
    /// The file rules were made and are not in force.
    #[error("the kernel does not enforce file rules (Landlock)")]
    NotEnforced,
}
