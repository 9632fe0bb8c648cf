//! An open history: the repository and the work tree that it is of.

use std::path::Path;
use std::sync::Once;

use git2::{Commit, ConfigLevel, Repository};
use jiff::Timestamp;

use super::stat_cache::StatCache;
use super::{Author, CommitId, Result, ZoneComparison, head, object, repository};
use fileshed_storage::Root;

/// The history of one zone.
pub struct History {
    pub(super) repository: Repository,
    pub(super) parent: Root,
    pub(super) data: Root,
}

impl std::fmt::Debug for History {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.git_dir();
        formatter
            .debug_struct("History")
            .field("git_dir", &place)
            .finish_non_exhaustive()
    }
}

impl History {
    /// Opens the history of the work tree `data`, which lies in `parent`. The first time it is
    /// made, or, where the work tree has a repository inside, taken over.
    pub fn open(parent: &Root, data: &Root) -> Result<Self> {
        ignore_the_host();
        Ok(Self {
            repository: repository::open(parent, data)?,
            parent: parent.try_clone()?,
            data: data.try_clone()?,
        })
    }

    /// Returns the directory of the repository, for the command `git`.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        self.repository.path()
    }

    /// The last commit, if there is one.
    pub fn head(&self) -> Result<Option<CommitId>> {
        let head = self.head_commit()?;
        Ok(head.map(|commit| CommitId::of(commit.id())))
    }

    /// Returns the last commit, if this author made it at this second or after it.
    pub fn head_by(&self, author: &Author, since: i64) -> Result<Option<CommitId>> {
        let Some(head) = self.head_commit()? else {
            return Ok(None);
        };
        let expected = author.signature(Timestamp::UNIX_EPOCH)?;
        let made = head.author();
        let is_theirs =
            (made.name().ok(), made.email().ok()) == (expected.name().ok(), expected.email().ok());
        let is_of_then = is_theirs && made.when().seconds() >= since;
        Ok(is_of_then.then(|| CommitId::of(head.id())))
    }

    /// Makes git's index describe HEAD, for git commands that follow. Almost free where it does.
    pub fn refresh_index(&self) -> Result<()> {
        let Some(commit) = self.head_commit()? else {
            return Ok(());
        };
        let cache = self.cache();
        if cache.is_current(commit.tree_id()) {
            return Ok(());
        }
        cache.write(commit.tree_id(), &self.compare()?.index_of_head())
    }

    pub(super) fn cache(&self) -> StatCache {
        StatCache::of(self.git_dir())
    }

    pub(super) fn head_commit(&self) -> Result<Option<Commit<'_>>> {
        let id = head::commit(&self.repository)?;
        id.map(|id| object::commit(&self.repository, id))
            .transpose()
    }

    pub(super) fn compare(&self) -> Result<ZoneComparison> {
        let head = self.head_commit()?;
        let tree = head
            .map(|commit| object::tree(&self.repository, commit.tree_id()))
            .transpose()?;
        ZoneComparison::new(&self.data, &self.repository, tree.as_ref(), &self.cache())
    }
}

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
                tracing::warn!(%error, "the git configuration of the host could not be disabled");
            }
        }
    });
}
