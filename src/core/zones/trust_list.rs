//! The marks of trust of what lasts in this process.

use fileshed_types::Mutex;
use fileshed_types::trust::{Trust, WeakTrust};

/// Fewest marks among which those that are over are looked for.
const TIDY_AT: usize = 64;

/// All marks, and a flag if a thread looks after them.
#[derive(Debug, Default)]
pub(crate) struct TrustList(Mutex<Marks>);

#[derive(Debug, Default)]
struct Marks {
    list: Vec<WeakTrust>,
    /// Length from which on expired marks are removed.
    tidy_at: usize,
    /// `true` while a thread checks the marks.
    watched: bool,
}

impl TrustList {
    /// Adds a mark. `watch` starts the checks, if they do not run.
    pub(crate) fn add<E>(
        &self,
        trust: &Trust,
        watch: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        let mut marks = self.0.lock();
        marks.list.extend(trust.downgrade());
        if marks.list.len() > marks.tidy_at {
            marks.list.retain(WeakTrust::is_shared);
            marks.tidy_at = TIDY_AT.max(2 * marks.list.len());
        }
        if !marks.watched {
            watch()?;
            marks.watched = true;
        }
        Ok(())
    }

    /// Returns the trusts that are still in use. If there are none, the checks may stop: the next mark
    /// starts them again.
    pub(crate) fn live(&self) -> Vec<Trust> {
        let mut marks = self.0.lock();
        marks.list.retain(WeakTrust::is_shared);
        let live: Vec<Trust> = marks.list.iter().filter_map(WeakTrust::upgrade).collect();
        marks.watched = !live.is_empty();
        live
    }
}
