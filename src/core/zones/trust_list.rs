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
    /// From so many on, those that are over are taken out.
    tidy_at: usize,
    /// `true` while a thread looks.
    watched: bool,
}

impl TrustList {
    /// Adds a mark. `watch` begins to look where nobody does.
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

    /// Those that last. Where none does, whoever looks may stop: the next one that is added has somebody
    /// look again.
    pub(crate) fn live(&self) -> Vec<Trust> {
        let mut marks = self.0.lock();
        marks.list.retain(WeakTrust::is_shared);
        let live: Vec<Trust> = marks.list.iter().filter_map(WeakTrust::upgrade).collect();
        marks.watched = !live.is_empty();
        live
    }
}
