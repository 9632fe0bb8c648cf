//! Repositories that stay open from one commit to the next.
//!
//! To open one takes more system calls than a commit does. A kept one is used again as long as
//! nothing has changed of what opening looks at and puts right; where it fails nevertheless, it is
//! opened anew. Objects and branches are read from disk each time, by libgit2 too: a cache of
//! objects would hide that they are lost.

use fileshed_types::Mutex;
use git2::Repository;
use jiff::Timestamp;

use super::damage::Remedy;
use super::layout::NAME;
use super::{History, Result};
use fileshed_storage::{Root, Stamp};

/// Repositories that are kept at most; each takes some descriptors.
const MOST: usize = 16;

/// Names that opening looks at, below the directory that has the repository. A lock that somebody
/// leaves shows in the directory that it is in.
const LOOKED_AT: [&str; 5] = [
    NAME,
    "repo.git/config",
    "repo.git/HEAD",
    "repo.git/objects/pack",
    "repo.git/refs/heads",
];

/// State of a repository: another one, or a change of it, has another.
type RepositoryState = [Option<Stamp>; LOOKED_AT.len() + 1];

/// Repositories that are open and that nobody works on, the latest last.
#[derive(Default)]
pub struct KeptRepositories {
    kept: Mutex<Vec<(RepositoryState, Repository)>>,
}

impl std::fmt::Debug for KeptRepositories {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("KeptRepositories")
            .field(&self.kept.lock().len())
            .finish()
    }
}

impl KeptRepositories {
    /// The same as [`History::work`], in a repository that is still open, if there is one.
    pub fn work<T>(
        &self,
        parent: &Root,
        data: &Root,
        now: Timestamp,
        mut work: impl FnMut(&History) -> Result<T>,
    ) -> Result<T> {
        if let Some(repository) = self.take(parent, data) {
            let history = History::of(repository, parent, data)?;
            let done = work(&history);
            let is_to_repeat = matches!(&done, Err(error) if error.remedy() != Remedy::None);
            if !is_to_repeat {
                self.keep(history);
                return done;
            }
        }
        let (done, history) = History::work_opened(parent, data, now, work)?;
        self.keep(history);
        Ok(done)
    }

    fn take(&self, parent: &Root, data: &Root) -> Option<Repository> {
        let (seal, path) = (seal(parent, data)?, parent.location().join(NAME));
        let mut kept = self.kept.lock();
        let is_it = |(known, repository): &(RepositoryState, Repository)| {
            *known == seal && repository.path() == path
        };
        let place = kept.iter().position(is_it)?;
        Some(kept.remove(place).1)
    }

    fn keep(&self, history: History) {
        let Some(seal) = seal(&history.parent, &history.data) else {
            return;
        };
        let mut kept = self.kept.lock();
        kept.retain(|(_, other)| other.path() != history.repository.path());
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push((seal, history.repository));
    }
}

/// Returns the state of the repository in `parent`, as far as it is known.
fn seal(parent: &Root, data: &Root) -> Option<RepositoryState> {
    let mut seal = [None; LOOKED_AT.len() + 1];
    for (stamp, name) in seal.iter_mut().zip(LOOKED_AT) {
        *stamp = parent.stamp(name).ok()?;
    }
    seal[LOOKED_AT.len()] = data.stamp(".git").ok()?;
    Some(seal)
}
