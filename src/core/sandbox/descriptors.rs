//! How many descriptors this process may have.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is counted on where there is no limit.
const UNLIMITED: u64 = 1 << 20;

/// The hard limit: what the soft one can be raised to.
#[must_use]
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(UNLIMITED)
}

/// Raises the soft limit, usually 1024 for the sake of programs that use `select`, to the hard one,
/// and says what it is now. Commands have a limit of their own.
pub fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "the limit of open files could not be raised");
        }
    }
    getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED)
}
