//! The way back from single commits: what they changed is taken out of the files of today.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use git2::{Commit, Delta, DiffDelta, ErrorCode, MergeFileInput, Oid, Repository, Tree};

use super::content::zone_path;
use super::layout::NAME;
use super::{ChangeKind, FileChange, History, HistoryError, Result, object};
use fileshed_storage::{Root, Staging};
use fileshed_types::zone::ZonePath;

/// Files whose contents are flushed to disk together; each is open meanwhile.
const FLUSHED_TOGETHER: usize = 128;

/// A commit to take back, and the state before it.
#[derive(Clone, Debug)]
pub struct CommitRange {
    /// The commit before; `None` for the parent.
    pub before: Option<String>,
    /// The last commit.
    pub commit: String,
}

/// The changes of files by which commits are taken back.
#[derive(Debug, Default)]
pub struct Reversal {
    /// Each path with the content and mode that it gets; `None` if it goes.
    changes: Vec<(ZonePath, Option<(Oid, i32)>)>,
    /// Files that others changed in the same lines since, each with the revision that has it as it was
    /// before: they stay as they are.
    pub conflicts: Vec<(ZonePath, String)>,
}

impl Reversal {
    /// Returns each path that changes, with `true` if a file is there then.
    pub fn paths(&self) -> impl Iterator<Item = (&ZonePath, bool)> {
        let changes = self.changes.iter();
        changes.map(|(path, content)| (path, content.is_some()))
    }

    /// Leaves files as they are at the paths for which `stays` returns `true`.
    pub fn leave_out(&mut self, stays: impl Fn(&ZonePath) -> bool) {
        self.changes.retain(|(path, _)| !stays(path));
    }
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

    /// Returns the commit before; `None` if the last commit is the first one of the history.
    fn before<'r>(&self, repository: &'r Repository) -> Result<Option<Commit<'r>>> {
        if let Some(before) = &self.before {
            return commit(repository, before).map(Some);
        }
        match self.after(repository)?.parent(0) {
            Ok(parent) => Ok(Some(parent)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(HistoryError::git("read")(error)),
        }
    }

    /// Returns the trees before and after.
    fn trees<'r>(&self, repository: &'r Repository) -> Result<(Tree<'r>, Tree<'r>)> {
        let after = self.after(repository)?;
        let before = match self.before(repository)? {
            Some(parent) => object::tree(repository, parent.tree_id())?,
            None => nothing(repository)?,
        };
        Ok((before, object::tree(repository, after.tree_id())?))
    }
}

fn commit<'r>(repository: &'r Repository, id: &str) -> Result<Commit<'r>> {
    let found = Oid::from_str(id).and_then(|id| repository.find_commit(id));
    found.map_err(HistoryError::git("read"))
}

/// The tree without a file.
fn nothing(repository: &Repository) -> Result<Tree<'_>> {
    let fail = HistoryError::git("read");
    let empty = repository.treebuilder(None).and_then(|none| none.write());
    object::tree(repository, empty.map_err(fail)?)
}

impl History {
    /// Finds what has to change so that these commits, the last one first, are taken back; where `only`
    /// is given, at that path and below it. What was changed since stays: texts are merged by lines.
    pub fn reversal(&self, commits: &[CommitRange], only: Option<&ZonePath>) -> Result<Reversal> {
        let (repository, fail) = (&self.repository, HistoryError::git("merge"));
        let now = match self.head_commit()? {
            Some(head) => object::tree(repository, head.tree_id())?,
            None => nothing(repository)?,
        };
        let mut ours = object::tree(repository, now.id())?;
        let mut conflicts = BTreeMap::new();
        let trees = commits.iter().map(|range| range.trees(repository));
        let trees = trees.collect::<Result<Vec<_>>>()?;
        for (range, (before, after)) in commits.iter().zip(&trees) {
            let mut merged = repository
                .merge_trees(after, &ours, before, None)
                .map_err(&fail)?;
            let found = merged
                .conflicts()
                .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
            for conflict in found.map_err(&fail)? {
                let sides = [&conflict.our, &conflict.their, &conflict.ancestor];
                let Some(path) = sides
                    .into_iter()
                    .flatten()
                    .next()
                    .map(|side| side.path.clone())
                else {
                    continue;
                };
                let text = String::from_utf8_lossy(&path).into_owned();
                let our = conflict.our.as_ref().map(|our| (our.id, our.mode as i32));
                let is_back = is_former(&trees, &text, our);
                merged
                    .conflict_remove(text.as_ref())
                    .and_then(|()| {
                        conflict.our.map_or(Ok(()), |mut our| {
                            our.flags &= !STAGE;
                            merged.add(&our)
                        })
                    })
                    .map_err(&fail)?;
                // A file that is as it was before all of them was taken back before.
                if !is_back {
                    conflicts.insert(text, range.revision_before());
                }
            }
            let tree = merged.write_tree_to(repository).map_err(&fail)?;
            ours = object::tree(repository, tree)?;
        }
        let is_meant = |path: &ZonePath| {
            only.is_none_or(|only| path == only || path.as_str().starts_with(&format!("{only}/")))
        };
        let diff = repository.diff_tree_to_tree(Some(&now), Some(&ours), None);
        let diff = diff.map_err(&fail)?;
        let conflicts = conflicts.into_iter();
        let mut conflicts: Vec<(ZonePath, String)> = conflicts
            .map(|(path, before)| (zone_path(&path), before))
            .collect();
        // A file stays as it is even if only one of the commits is in conflict with it.
        let stay: HashSet<ZonePath> = conflicts.iter().map(|(path, _)| path.clone()).collect();
        let changes = diff.deltas().filter_map(|delta| {
            let path = path_of(&delta).filter(|path| !stay.contains(path))?;
            let file = delta.new_file();
            let is_there = delta.status() != Delta::Deleted;
            let content = is_there.then(|| (file.id(), u32::from(file.mode()) as i32));
            is_meant(&path).then_some((path, content))
        });
        let changes = changes.collect();
        conflicts.retain(|(path, _)| is_meant(path));
        Ok(Reversal { changes, conflicts })
    }

    /// Changes the files on disk as a reversal says. The caller has the write lock, and commits.
    pub fn carry_out(&self, reversal: &Reversal, staging: &Staging) -> Result<()> {
        for (path, content) in &reversal.changes {
            if content.is_none() {
                self.take_away(path, staging)?;
                self.take_away_empty(path.parent(), None, staging)?;
            }
        }
        let back = reversal.changes.iter();
        let back = back.filter_map(|(path, content)| content.map(|content| (path, content)));
        let back: Vec<(&ZonePath, (Oid, i32))> = back.collect();
        for part in back.chunks(FLUSHED_TOGETHER) {
            let staged = part
                .iter()
                .map(|(_, (id, mode))| self.stage_content(*id, *mode, staging));
            let mut staged = staged.collect::<Result<Vec<_>>>()?;
            staging.flush(staged.iter_mut().flatten())?;
            for ((path, content), staged) in part.iter().zip(staged) {
                self.install_content(path, *content, staged, staging)?;
            }
        }
        Ok(())
    }
}

/// Returns `true` if a file has the content and mode that it had before the oldest of these ranges that touched
/// it; the last range comes first.
fn is_former(trees: &[(Tree<'_>, Tree<'_>)], path: &str, now: Option<(Oid, i32)>) -> bool {
    let entry = |tree: &Tree<'_>| {
        let entry = tree.get_path(Path::new(path)).ok()?;
        Some((entry.id(), entry.filemode()))
    };
    let mut touching = trees
        .iter()
        .rev()
        .map(|(before, after)| (entry(before), entry(after)));
    let oldest = touching.find(|(before, after)| before != after);
    oldest.is_some_and(|(before, _)| before == now)
}

/// The bits of an index entry that say which side of a conflict it is.
const STAGE: u16 = 0x3000;

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
                before: before.map(|commit| commit.id().to_string()),
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
        let diff = self.0.diff_tree_to_tree(Some(&before), Some(&after), None);
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

/// Merges two texts that both come from `base`, by lines; `None` if they changed the same ones, or if one
/// is no text.
#[must_use]
pub fn merge_texts(base: &[u8], one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    if [base, one, other].iter().any(|text| text.contains(&0)) {
        return None;
    }
    let input = |content| {
        let mut input = MergeFileInput::new();
        input.content(content);
        input
    };
    let merged = git2::merge_file(&input(base), &input(one), &input(other), None).ok()?;
    merged.is_automergeable().then(|| merged.content().to_vec())
}
