//! An open history: the repository and the work tree that it is of.

use std::path::Path;

use git2::{Commit, ErrorCode, Repository};

use super::compare::TreeComparison;
use super::stat_cache::StatCache;
use super::{CommitId, HistoryError, isolation, object, repository};
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
    pub fn open(parent: &Root, data: &Root) -> Result<Self, HistoryError> {
        isolation::ignore_the_host();
        Self::of(repository::open(parent, data)?, parent, data)
    }

    /// The history in a repository that is open.
    pub(super) fn of(
        repository: Repository,
        parent: &Root,
        data: &Root,
    ) -> Result<Self, HistoryError> {
        Ok(Self {
            repository,
            parent: parent.try_clone()?,
            data: data.try_clone()?,
        })
    }

    /// Where the repository is, for the command `git`.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        self.repository.path()
    }

    /// The last commit, if there is one.
    pub fn head(&self) -> Result<Option<CommitId>, HistoryError> {
        let head = self.head_commit()?;
        Ok(head.map(|commit| CommitId::of(commit.id())))
    }

    /// Makes git's index describe HEAD, for git commands that follow. Almost free where it does.
    pub fn refresh_index(&self) -> Result<(), HistoryError> {
        let Some(commit) = self.head_commit()? else {
            return Ok(());
        };
        let cache = self.cache();
        if cache.is_current(commit.tree_id()) {
            return Ok(());
        }
        let lines = self.compare()?.lines_of_head();
        cache.write(commit.tree_id(), &lines)
    }

    pub(super) fn cache(&self) -> StatCache {
        StatCache::of(self.git_dir())
    }

    pub(super) fn head_commit(&self) -> Result<Option<Commit<'_>>, HistoryError> {
        match self.repository.refname_to_id("HEAD") {
            Ok(id) => object::commit(&self.repository, id).map(Some),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(HistoryError::git("read")(error)),
        }
    }

    pub(super) fn compare(&self) -> Result<TreeComparison, HistoryError> {
        let head = self.head_commit()?;
        let tree = head
            .map(|commit| object::tree(&self.repository, commit.tree_id()))
            .transpose()?;
        TreeComparison::new(&self.data, &self.repository, tree.as_ref(), &self.cache())
    }
}
