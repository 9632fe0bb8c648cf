//! Jobs that could not be started or followed.

use std::error::Error;
use std::io;

use rustix::io::Errno;

use fileshed_types::diagnostics;
use fileshed_types::random::RandomError;

diagnostics! {
    /// A job that could not be started or followed.
    #[derive(Debug, thiserror::Error)]
    pub enum SandboxError {
        /// The process could not be started.
        #[error("the command could not be started")]
        Start(#[source] source: io::Error) => {
            code: InternalApiError,
            hint: "repeat the call",
        },
        /// The machine has no more of something that the kernel counts, for now.
        #[error("the command could not be started: the machine has no more processes, open files or other resources that the kernel counts")]
        Exhausted(#[source] source: io::Error) => {
            code: Busy,
            hint: "wait a moment and repeat the same call",
            details: { "scope": "server" },
            retry_after: 1,
        },
        /// The process could not be watched.
        #[error("the result of the command could not be read")]
        Wait(#[source] source: io::Error) => {
            code: InternalApiError,
            hint: "repeat the call",
        },
        /// A token could not be made.
        #[error(transparent)]
        Random(#[from] error: RandomError) => {
            same_as: error
        },
    }
}

/// Kernel errors that say that as much of something is in use as may be: processes and threads
/// (`EAGAIN`), descriptors of a process (`EMFILE`) and of the machine (`ENFILE`), descriptors in
/// flight (`ETOOMANYREFS`), namespaces, terminals and watches (`ENOSPC`).
const EXHAUSTED: [Errno; 5] = [
    Errno::AGAIN,
    Errno::MFILE,
    Errno::NFILE,
    Errno::TOOMANYREFS,
    Errno::NOSPC,
];

/// Returns the kernel's error behind a failure if it says that a counted resource is used up.
pub(crate) fn exhausted(error: &(dyn Error + 'static)) -> Option<Errno> {
    let io = error.downcast_ref::<io::Error>();
    let inner = io.and_then(io::Error::get_ref);
    io.and_then(Errno::from_io_error)
        .filter(|error| EXHAUSTED.contains(error))
        .or_else(|| match inner {
            Some(inner) => exhausted(inner),
            None => exhausted(error.source()?),
        })
}

impl SandboxError {
    /// A failure of the kernel while a job is started.
    #[must_use]
    pub fn start(source: impl Into<io::Error>) -> Self {
        let source = source.into();
        match exhausted(&source) {
            Some(_) => Self::Exhausted(source),
            None => Self::Start(source),
        }
    }

    /// A failure of the kernel while a job is followed.
    pub(crate) fn wait(source: impl Into<io::Error>) -> Self {
        Self::Wait(source.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_that_is_used_up_is_told_apart() {
        let behind = |error: Errno| io::Error::other(SandboxError::Wait(error.into()));
        for error in EXHAUSTED {
            assert_eq!(exhausted(&io::Error::from(error)), Some(error));
            assert_eq!(exhausted(&behind(error)), Some(error));
        }
        for error in [Errno::TOOBIG, Errno::NOENT, Errno::PERM] {
            assert_eq!(exhausted(&behind(error)), None);
        }
        assert_eq!(exhausted(&io::Error::other("text")), None);
    }
}
