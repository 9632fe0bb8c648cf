//! Isolation of repositories from the host's git configuration.

use std::sync::Once;

use git2::ConfigLevel;

static ONCE: Once = Once::new();

/// Keeps libgit2 from looking for configuration of the system and of the account: what it says
/// must not matter, and an account without a readable home must not fail.
pub(super) fn ignore_the_host() {
    ONCE.call_once(|| {
        // Objects are read from disk, so that a loss there is noticed and no memory is kept.
        git2::opts::enable_caching(false);
        // The objects that a commit names were written a moment before.
        git2::opts::strict_object_creation(false);
        for level in [
            ConfigLevel::ProgramData,
            ConfigLevel::System,
            ConfigLevel::XDG,
            ConfigLevel::Global,
        ] {
            // SAFETY: unsafe only because another thread may use libgit2 meanwhile. This runs once,
            // before the first repository is opened, and every caller waits for it.
            #[expect(unsafe_code, reason = "git2 has no safe call for it")]
            let outcome = unsafe { git2::opts::set_search_path(level, "") };
            if let Err(error) = outcome {
                tracing::warn!(%error, "the git configuration of the host is still read");
            }
        }
    });
}
