//! Commits that belong to one change, and what they changed.

use std::collections::HashSet;

use git2::{Commit, DiffFile, DiffOptions, Oid, Repository, Tree};

use super::content::{FileBlob, zone_path};
use super::layout::NAME;
use super::{ChangeKind, FileChange, HistoryError, Result, object};
use fileshed_storage::Root;

/// A commit to take back, and the state before it.
#[derive(Clone, Debug)]
pub struct CommitRange {
    /// The commit before; `None` for the parent.
    pub before: Option<String>,
    /// The last commit.
    pub commit: String,
    /// The positions, among the files that they changed, of those that were taken back before.
    pub taken_back: HashSet<usize>,
}

impl CommitRange {
    /// Returns the name of the commit before.
    #[must_use]
    pub fn revision_before(&self) -> String {
        let parent = || format!("{}~1", self.commit);
        self.before.clone().unwrap_or_else(parent)
    }

    /// Returns the last commit.
    fn after<'r>(&self, repository: &'r Repository) -> Result<Commit<'r>> {
        let id = Oid::from_str(&self.commit).map_err(HistoryError::git("read"))?;
        object::commit(repository, id)
    }

    /// Returns the commit before; `None` if the last commit is the first one of the history. Fails if one of
    /// both is not there.
    pub(super) fn before(&self, repository: &Repository) -> Result<Option<Oid>> {
        let fail = HistoryError::git("read");
        let after = self.after(repository)?;
        let before = match &self.before {
            Some(before) => Some(Oid::from_str(before).map_err(&fail)?),
            None => after.parent_id(0).ok(),
        };
        let database = repository.odb().map_err(fail)?;
        match before.filter(|before| !database.exists(*before)) {
            Some(lost) => Err(HistoryError::Damaged(lost.to_string())),
            None => Ok(before),
        }
    }

    /// Returns the trees before and after; `None` for the one before the first commit.
    fn trees<'r>(&self, repository: &'r Repository) -> Result<(Option<Tree<'r>>, Tree<'r>)> {
        let tree_of = |commit: &Commit<'_>| object::tree(repository, commit.tree_id());
        let before = self.before(repository)?;
        let before = before.map(|before| object::commit(repository, before));
        let before = before.transpose()?.as_ref().map(tree_of).transpose()?;
        Ok((before, tree_of(&self.after(repository)?)?))
    }

    /// Returns `true` if it is one commit.
    pub(super) fn is_one(&self, repository: &Repository) -> bool {
        let after = self.after(repository).ok();
        let parent = after.and_then(|after| after.parent_id(0).ok());
        self.before.is_none() || self.before == parent.map(|parent| parent.to_string())
    }

    /// Returns the files that the commits changed, and all files after them.
    pub(super) fn files<'r>(
        &self,
        repository: &'r Repository,
    ) -> Result<(Vec<FileDelta>, Tree<'r>)> {
        let (before, after) = self.trees(repository)?;
        Ok((
            changed_files(repository, before.as_ref(), Some(&after))?,
            after,
        ))
    }

    /// Returns those of the files that were not taken back before, with their positions.
    pub(super) fn left<'f>(
        &self,
        files: &'f [FileDelta],
    ) -> impl Iterator<Item = (usize, &'f FileDelta)> {
        let files = files.iter().enumerate();
        files.filter(|(at, _)| !self.taken_back.contains(at))
    }
}

/// A file that differs between two trees.
pub(super) struct FileDelta {
    pub(super) path: String,
    pub(super) before: Option<FileBlob>,
    pub(super) after: Option<FileBlob>,
}

/// Returns the files that differ. No similarity is guessed, and a link in place of a file is one change.
pub(super) fn changed_files(
    repository: &Repository,
    before: Option<&Tree<'_>>,
    after: Option<&Tree<'_>>,
) -> Result<Vec<FileDelta>> {
    let mut options = DiffOptions::new();
    options.include_typechange(true);
    let diff = repository.diff_tree_to_tree(before, after, Some(&mut options));
    let diff = diff.map_err(HistoryError::git("read"))?;
    let content_of = |file: &DiffFile<'_>| {
        let mode = u32::from(file.mode()) as i32;
        (!file.id().is_zero()).then(|| (file.id(), mode))
    };
    let files = diff.deltas().filter_map(|delta| {
        let (old, new) = (delta.old_file(), delta.new_file());
        Some(FileDelta {
            path: new.path().or(old.path())?.to_str()?.to_owned(),
            before: content_of(&old),
            after: content_of(&new),
        })
    });
    Ok(files.collect())
}

/// A repository that is opened to look at commits. Changes nothing in it.
pub struct CommitReader(Repository);

impl std::fmt::Debug for CommitReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = self.0.path();
        formatter.debug_tuple("CommitReader").field(&place).finish()
    }
}

impl CommitReader {
    /// Opens the repository that lies in `parent`.
    pub fn open(parent: &Root) -> Result<Self> {
        let repository = Repository::open_bare(parent.location().join(NAME));
        repository.map(Self).map_err(HistoryError::git("read"))
    }

    /// Joins ranges of which one follows the other, the last one first. Returns them, and those of which a
    /// commit is not there.
    #[must_use]
    pub fn joined(&self, ranges: Vec<CommitRange>) -> (Vec<CommitRange>, Vec<CommitRange>) {
        let (mut joined, mut lost) = (Vec::<CommitRange>::new(), Vec::new());
        for range in ranges {
            let Ok(before) = range.before(&self.0) else {
                lost.push(range);
                continue;
            };
            let range = CommitRange {
                before: before.map(|commit| commit.to_string()),
                ..range
            };
            // A range without a commit before it begins at the parent of its last commit.
            let follows = |later: &&mut CommitRange| {
                let are_whole = range.taken_back.is_empty() && later.taken_back.is_empty();
                let is_before = later.before.as_ref() == Some(&range.commit);
                are_whole && range.before.is_some() && is_before
            };
            match joined.last_mut().filter(follows) {
                Some(later) => later.before = range.before,
                None => joined.push(range),
            }
        }
        (joined, lost)
    }

    /// Returns the files that commits changed, at most so many, and how many there are.
    pub fn changed_by(&self, range: &CommitRange, most: usize) -> Result<(Vec<FileChange>, usize)> {
        let (files, _) = range.files(&self.0)?;
        let count = files.len();
        let changes = files.into_iter().take(most).map(|file| FileChange {
            path: zone_path(&file.path),
            kind: match (file.before, file.after) {
                (None, _) => ChangeKind::Added,
                (_, None) => ChangeKind::Deleted,
                _ => ChangeKind::Modified,
            },
        });
        Ok((changes.collect(), count))
    }
}
