//! Commits that belong to one change, and what they changed.

use git2::{Commit, Delta, DiffDelta, Oid, Repository, Tree};

use super::content::zone_path;
use super::layout::NAME;
use super::{ChangeKind, FileChange, HistoryError, Result, object};
use fileshed_storage::Root;
use fileshed_types::zone::ZonePath;

/// A commit to take back, and the state before it.
#[derive(Clone, Debug)]
pub struct CommitRange {
    /// The commit before; `None` for the parent.
    pub before: Option<String>,
    /// The last commit.
    pub commit: String,
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
        commit(repository, &self.commit)
    }

    /// Returns the commit before; `None` if the last commit is the first one of the history. Fails if one of
    /// both is not there.
    fn before(&self, repository: &Repository) -> Result<Option<Oid>> {
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
    pub(super) fn trees<'r>(
        &self,
        repository: &'r Repository,
    ) -> Result<(Option<Tree<'r>>, Tree<'r>)> {
        let tree_of = |commit: &Commit<'_>| object::tree(repository, commit.tree_id());
        let before = self.before(repository)?;
        let before = before.map(|before| object::commit(repository, before));
        let before = before.transpose()?.as_ref().map(tree_of).transpose()?;
        Ok((before, tree_of(&self.after(repository)?)?))
    }
}

fn commit<'r>(repository: &'r Repository, id: &str) -> Result<Commit<'r>> {
    let found = Oid::from_str(id).and_then(|id| repository.find_commit(id));
    found.map_err(HistoryError::git("read"))
}

fn path_of(delta: &DiffDelta<'_>) -> Option<ZonePath> {
    let file = match delta.status() {
        Delta::Deleted => delta.old_file(),
        _ => delta.new_file(),
    };
    let path = file.path()?.to_str()?;
    Some(zone_path(path))
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
                range.before.is_some() && later.before.as_ref() == Some(&range.commit)
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
        let (before, after) = range.trees(&self.0)?;
        let diff = self
            .0
            .diff_tree_to_tree(before.as_ref(), Some(&after), None);
        let diff = diff.map_err(HistoryError::git("read"))?;
        let deltas = diff.deltas();
        let count = deltas.len();
        let changes = deltas.filter_map(|delta| {
            let kind = match delta.status() {
                Delta::Added => ChangeKind::Added,
                Delta::Deleted => ChangeKind::Deleted,
                _ => ChangeKind::Modified,
            };
            Some(FileChange {
                path: path_of(&delta)?,
                kind,
            })
        });
        Ok((changes.take(most).collect(), count))
    }
}
