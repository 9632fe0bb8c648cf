//! The way back from single commits: what they changed is taken out of the files of today.
//!
//! Files are compared by their paths and contents; no similarity is guessed. A file that was renamed without
//! another change is known under its new name, because its content is at one new path alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use git2::{Delta, DiffFile, DiffOptions, MergeFileInput, ObjectType, Oid, Repository, Tree};

use super::content::zone_path;
use super::damage::Remedy;
use super::{CommitRange, History, HistoryError, PreparedContent, Result, object};
use fileshed_storage::Staging;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::zone::ZonePath;

/// Files whose contents are flushed to disk together; each is open meanwhile.
const FLUSHED_TOGETHER: usize = 512;

/// The largest file that is merged by lines, in bytes.
pub const LARGEST_MERGED: u64 = 8 * MEBIBYTE;

/// Bytes of all files that an undo merges in one zone.
pub const MOST_MERGED: usize = 64 * MEBIBYTE as usize;

/// Content and mode of a file.
type Content = (Oid, i32);

/// The effect of a reversal on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reversed {
    /// No file is there any more.
    Removed,
    /// The file is as it was before.
    Restored,
    /// The file has what it had before, and what was changed since.
    Merged,
}

/// A path that a reversal leaves as it is.
#[derive(Clone, Debug)]
pub struct ReversalConflict {
    /// The path.
    pub path: ZonePath,
    /// The revision that has it as it was before; `None` if something else is in its place.
    pub before: Option<String>,
}

/// The changes of files by which commits are taken back.
#[derive(Debug, Default)]
pub struct Reversal {
    changes: Vec<PathChange>,
    /// Files that were changed in the same lines since, or whose place is taken: they stay as they are.
    pub conflicts: Vec<ReversalConflict>,
    /// `true` if the commits changed other files than those that are meant.
    pub is_part: bool,
}

#[derive(Debug)]
struct PathChange {
    path: ZonePath,
    now: Option<Content>,
    then: Option<Content>,
    is_merged: bool,
    /// The other name of a file that gets its former name back.
    other: Option<ZonePath>,
}

impl Reversal {
    /// Returns each path that changes, with what becomes of it.
    pub fn paths(&self) -> impl Iterator<Item = (&ZonePath, Reversed)> {
        self.changes.iter().map(|change| {
            let reversed = match change.then {
                None => Reversed::Removed,
                Some(_) if change.is_merged => Reversed::Merged,
                Some(_) => Reversed::Restored,
            };
            (&change.path, reversed)
        })
    }

    /// Leaves files as they are at the paths for which `stays` returns `true`, and those that would get their
    /// names back from there or to there.
    pub fn leave_out(&mut self, stays: impl Fn(&ZonePath) -> bool) {
        self.changes.retain(|change| {
            let other = change.other.as_ref();
            !stays(&change.path) && !other.is_some_and(&stays)
        });
    }

    /// Returns the way back from this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let changes = self.changes.iter().map(|change| PathChange {
            path: change.path.clone(),
            now: change.then,
            then: change.now,
            is_merged: false,
            other: None,
        });
        Self {
            changes: changes.collect(),
            ..Self::default()
        }
    }
}

/// The files that a reversal wrote.
#[derive(Debug, Default)]
pub struct ReversedFiles {
    /// Their contents.
    pub contents: Vec<PreparedContent>,
    /// Files whose former content the repository has lost: they stay as they are.
    pub lost: Vec<ZonePath>,
}

impl History {
    /// Finds what has to change so that these commits, the last one first, are taken back; where `only`
    /// is given, at that path and below it. What was changed since stays: texts are merged by lines.
    pub fn reversal(&self, commits: &[CommitRange], only: Option<&ZonePath>) -> Result<Reversal> {
        let repository = &self.repository;
        let now = self.head_commit()?;
        let now = now.map(|head| object::tree(repository, head.tree_id()));
        let mut plan = ReversalPlan::of(repository, now.transpose()?);
        let ranges = commits
            .iter()
            .map(|range| RangeFiles::of(repository, range));
        let ranges = ranges.collect::<Result<Vec<_>>>()?;
        for range in &ranges {
            // The oldest one comes last.
            let before = range
                .files
                .iter()
                .map(|file| (file.path.clone(), file.before));
            plan.former.extend(before);
        }
        for range in ranges {
            plan.take_back(range, only)?;
        }
        plan.settle()
    }

    /// Changes the files on disk as a reversal says. The caller has the write lock, and commits.
    pub fn carry_out(&self, reversal: &Reversal, staging: &Staging) -> Result<ReversedFiles> {
        let mut done = ReversedFiles::default();
        let replaced = staging.private_directory()?;
        for change in reversal
            .changes
            .iter()
            .filter(|change| change.then.is_none())
        {
            self.take_away(&change.path, staging)?;
            self.take_away_empty(change.path.parent(), None, staging)?;
        }
        let back = reversal.changes.iter();
        let back = back.filter_map(|change| Some((&change.path, change.then?)));
        let back: Vec<(&ZonePath, Content)> = back.collect();
        for part in back.chunks(FLUSHED_TOGETHER) {
            let mut staged = Vec::with_capacity(part.len());
            for (path, content) in part {
                match self.stage_content(*content, staging, &replaced) {
                    Err(error) if error.remedy() == Remedy::Another => {
                        tracing::error!(%path, %error, "the former content of a file is lost");
                        done.lost.push((*path).clone());
                    }
                    file => staged.push((*path, *content, file?)),
                }
            }
            staging.flush(staged.iter_mut().filter_map(|(.., file)| file.as_mut()))?;
            for (path, content, file) in staged {
                let stamp = self.install_content(path, content, file, staging)?;
                let content = |stamp| PreparedContent::of_repository(stamp, content.0);
                done.contents.extend(stamp.map(content));
            }
        }
        replaced.remove(staging)?;
        Ok(done)
    }
}

/// The files that commits of one range changed.
struct RangeFiles<'r> {
    /// Name of the commit before.
    revision: String,
    /// The files after them.
    after: Tree<'r>,
    files: Vec<RangeFile>,
}

struct RangeFile {
    path: String,
    before: Option<Content>,
    after: Option<Content>,
}

impl<'r> RangeFiles<'r> {
    fn of(repository: &'r Repository, range: &CommitRange) -> Result<Self> {
        let (before, after) = range.trees(repository)?;
        let mut options = DiffOptions::new();
        // A link in place of a file is one change.
        options.include_typechange(true);
        let diff = repository.diff_tree_to_tree(before.as_ref(), Some(&after), Some(&mut options));
        let diff = diff.map_err(HistoryError::git("read"))?;
        let files = diff.deltas().filter_map(|delta| {
            let (old, new) = (delta.old_file(), delta.new_file());
            let path = match delta.status() {
                Delta::Deleted => old.path(),
                _ => new.path(),
            };
            Some(RangeFile {
                path: path?.to_str()?.to_owned(),
                before: content_of(&old),
                after: content_of(&new),
            })
        });
        Ok(Self {
            revision: range.revision_before(),
            files: files.collect(),
            after,
        })
    }

    /// Returns the files that only got another name: the former one, by the present one.
    fn renamed(&self) -> HashMap<String, String> {
        let gone = self.files.iter().filter(|file| file.after.is_none());
        let came = self.files.iter().filter(|file| file.before.is_none());
        let gone = unique(gone.filter_map(|file| Some((file.before?, &*file.path))));
        let came = unique(came.filter_map(|file| Some((file.after?, &*file.path))));
        let both = came.into_iter();
        let both = both.filter_map(|(content, now)| Some((now, *gone.get(&content)?)));
        both.map(|(now, former)| (now.to_owned(), former.to_owned()))
            .collect()
    }
}

/// Returns the contents that are at one path alone.
fn unique<'p>(files: impl Iterator<Item = (Content, &'p str)>) -> HashMap<Content, &'p str> {
    let mut paths: HashMap<Content, Option<&str>> = HashMap::new();
    for (content, path) in files {
        let found = paths.entry(content);
        found
            .and_modify(|found| *found = None)
            .or_insert(Some(path));
    }
    let paths = paths.into_iter();
    paths
        .filter_map(|(content, path)| Some((content, path?)))
        .collect()
}

fn content_of(file: &DiffFile<'_>) -> Option<Content> {
    let mode = u32::from(file.mode()) as i32;
    (!file.id().is_zero()).then(|| (file.id(), mode))
}

/// A reversal that is being found.
struct ReversalPlan<'r> {
    repository: &'r Repository,
    now: TreeFiles<'r>,
    /// Contents at the paths of the commits, before the oldest one that touched them.
    former: HashMap<String, Option<Content>>,
    /// What will be at a path, and `true` if it is merged.
    left: BTreeMap<String, (Option<Content>, bool)>,
    /// The other name of a file that gets its former name back, by each of both.
    others: HashMap<String, String>,
    conflicts: BTreeMap<String, Option<String>>,
    /// Paths that were taken back before.
    settled: BTreeSet<String>,
    /// Bytes of the files that are merged.
    merging: usize,
    is_part: bool,
}

impl<'r> ReversalPlan<'r> {
    fn of(repository: &'r Repository, now: Option<Tree<'r>>) -> Self {
        Self {
            repository,
            now: TreeFiles::of(repository, now),
            former: HashMap::new(),
            left: BTreeMap::new(),
            others: HashMap::new(),
            conflicts: BTreeMap::new(),
            settled: BTreeSet::new(),
            merging: 0,
            is_part: false,
        }
    }

    /// Returns what will be at a path.
    fn at(&mut self, path: &str) -> Result<Option<Content>> {
        match self.left.get(path) {
            Some((content, _)) => Ok(*content),
            None => self.now.file(path),
        }
    }

    fn leave(&mut self, path: &str, content: Option<Content>, is_merged: bool) {
        self.left.insert(path.to_owned(), (content, is_merged));
    }

    fn take_back(&mut self, range: RangeFiles<'r>, only: Option<&ZonePath>) -> Result<()> {
        let renamed = range.renamed();
        let mut moved_since = None;
        for file in range.files.iter().filter(|file| file.after.is_some()) {
            let former = renamed.get(&file.path);
            if !is_meant(&file.path, only) && !former.is_some_and(|path| is_meant(path, only)) {
                self.is_part = true;
                continue;
            }
            if let Some(former) = former {
                self.rename_back(&range.revision, file, former)?;
                continue;
            }
            let there = self.at(&file.path)?;
            if self.is_settled(&file.path, there, file.after) || there == file.before {
                continue;
            }
            if let Some(merged) = self.merge(file, there)? {
                self.leave(&file.path, Some(merged), true);
                continue;
            }
            let mut path = file.path.clone();
            if there.is_none() && file.before.is_some() {
                if moved_since.is_none() {
                    moved_since = Some(self.moved_since(&range.after)?);
                }
                let moved = moved_since.as_ref().zip(file.after);
                if let Some(now) = moved.and_then(|(moved, content)| moved.get(&content)) {
                    path.clone_from(now);
                }
            }
            if self.at(&path)? == file.after {
                self.leave(&path, file.before, false);
            } else {
                let before = Some(range.revision.clone());
                self.conflicts.insert(file.path.clone(), before);
            }
        }
        let came_back = renamed.into_values().collect::<BTreeSet<String>>();
        for file in range.files.iter().filter(|file| file.after.is_none()) {
            if came_back.contains(&file.path) {
                continue;
            }
            if !is_meant(&file.path, only) {
                self.is_part = true;
                continue;
            }
            let there = self.at(&file.path)?;
            if self.is_settled(&file.path, there, None) || there == file.before {
                continue;
            }
            if there.is_none() {
                self.leave(&file.path, file.before, false);
            } else {
                self.conflicts.insert(file.path.clone(), None);
            }
        }
        Ok(())
    }

    /// Gives a file its former name back, whatever it has now.
    fn rename_back(&mut self, revision: &str, file: &RangeFile, former: &str) -> Result<()> {
        let (there, place) = (self.at(&file.path)?, self.at(former)?);
        if there.is_none() && place == file.after {
            return Ok(());
        }
        if there.is_none() || place.is_some() {
            let before = there.is_none().then(|| revision.to_owned());
            self.conflicts.insert(file.path.clone(), before);
            return Ok(());
        }
        let is_merged = there != file.after;
        self.leave(former, there, is_merged);
        self.leave(&file.path, None, false);
        self.others.insert(former.to_owned(), file.path.clone());
        self.others.insert(file.path.clone(), former.to_owned());
        Ok(())
    }

    /// Returns `true` if a file is at a path as it was before all commits: they were taken back there before.
    fn is_settled(&mut self, path: &str, there: Option<Content>, after: Option<Content>) -> bool {
        if self.settled.contains(path) {
            return true;
        }
        let is_first = !self.left.contains_key(path);
        let is_former = self.former.get(path).is_some_and(|former| *former == there);
        let is_settled = is_first && is_former && there != after;
        if is_settled {
            self.settled.insert(path.to_owned());
        }
        is_settled
    }

    /// Returns what a file gets that was changed since; `None` if it was not, or in the same lines.
    fn merge(&mut self, file: &RangeFile, there: Option<Content>) -> Result<Option<Content>> {
        let (Some(before), Some(after), Some(there)) = (file.before, file.after, there) else {
            return Ok(None);
        };
        let is_plain = [before, after, there]
            .iter()
            .all(|(_, mode)| mode >> 12 == FILE);
        if there == after || !is_plain {
            return Ok(None);
        }
        let mode = if there.1 == after.1 {
            before.1
        } else {
            there.1
        };
        if there.0 == after.0 {
            return Ok(Some((before.0, mode)));
        }
        if [there.0, after.0].contains(&before.0) {
            return Ok(Some((there.0, mode)));
        }
        let texts = [after.0, there.0, before.0].map(|id| self.text(id));
        let [Some(base), Some(ours), Some(theirs)] = texts else {
            return Ok(None);
        };
        let Some(merged) = merge_texts(&base, &ours, &theirs) else {
            return Ok(None);
        };
        self.merging += merged.len();
        if self.merging > MOST_MERGED {
            return Ok(None);
        }
        let id = object::write(self.repository, ObjectType::Blob, &merged)?;
        Ok(Some((id, mode)))
    }

    /// Returns the content of a file that is not too large to be merged.
    fn text(&self, id: Oid) -> Option<Vec<u8>> {
        let database = self.repository.odb().ok()?;
        let (size, _) = database.read_header(id).ok()?;
        if size as u64 > LARGEST_MERGED {
            return None;
        }
        Some(object::blob(self.repository, id).ok()?.content().to_vec())
    }

    /// Returns the paths to which files were renamed since, by their contents.
    fn moved_since(&self, after: &Tree<'_>) -> Result<HashMap<Content, String>> {
        let now = self.now.directories.get("").and_then(Option::as_ref);
        let diff = self.repository.diff_tree_to_tree(Some(after), now, None);
        let diff = diff.map_err(HistoryError::git("read"))?;
        let came = diff.deltas().filter(|delta| delta.status() == Delta::Added);
        let mut came: Vec<(Content, String)> = came
            .filter_map(|delta| {
                let file = delta.new_file();
                let path = file.path()?.to_str()?.to_owned();
                Some((content_of(&file)?, path))
            })
            .collect();
        came.retain(|(_, path)| !self.left.contains_key(path));
        let moved = unique(came.iter().map(|(content, path)| (*content, &**path)));
        let moved = moved.into_iter();
        Ok(moved
            .map(|(content, path)| (content, path.to_owned()))
            .collect())
    }

    /// Leaves out what stays, and what has no place then.
    fn settle(mut self) -> Result<Reversal> {
        loop {
            let stays: Vec<String> = self.conflicts.keys().cloned().collect();
            for path in stays {
                self.left.remove(&path);
                if let Some(other) = self.others.get(&path) {
                    self.left.remove(other);
                }
            }
            let back = self
                .left
                .iter()
                .filter(|(_, (content, _))| content.is_some());
            let back: Vec<String> = back.map(|(path, _)| path.clone()).collect();
            let count = self.conflicts.len();
            for path in back {
                if self.is_place_taken(&path)? {
                    self.conflicts.insert(path, None);
                }
            }
            if self.conflicts.len() == count {
                break;
            }
        }
        let mut changes = Vec::new();
        for (path, (then, is_merged)) in std::mem::take(&mut self.left) {
            let now = self.now.file(&path)?;
            let other = self.others.get(&path).map(|other| zone_path(other));
            let path = zone_path(&path);
            if now != then {
                changes.push(PathChange {
                    path,
                    now,
                    then,
                    is_merged,
                    other,
                });
            }
        }
        let conflicts = self.conflicts.into_iter().map(|(path, before)| {
            let path = zone_path(&path);
            ReversalConflict { path, before }
        });
        Ok(Reversal {
            changes,
            conflicts: conflicts.collect(),
            is_part: self.is_part,
        })
    }

    /// Returns `true` if a file that comes to a path would lie below a file, or a file below it.
    fn is_place_taken(&mut self, path: &str) -> Result<bool> {
        let ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        for end in ends {
            if self.at(&path[..end])?.is_some() {
                return Ok(true);
            }
        }
        let mut comes = self.left.range(format!("{path}/")..format!("{path}0"));
        if comes.any(|(_, (content, _))| content.is_some()) {
            return Ok(true);
        }
        let left = &self.left;
        self.now
            .has_file_below(path, |file| !left.contains_key(file))
    }
}

/// Kind of a file in the mode that git keeps.
const FILE: i32 = 0o10;

fn is_meant(path: &str, only: Option<&ZonePath>) -> bool {
    only.is_none_or(|only| zone_path(path).is_at_or_below(only))
}

/// The files of a tree, of which each directory is read once.
struct TreeFiles<'r> {
    repository: &'r Repository,
    directories: HashMap<String, Option<Tree<'r>>>,
}

impl<'r> TreeFiles<'r> {
    fn of(repository: &'r Repository, root: Option<Tree<'r>>) -> Self {
        Self {
            repository,
            directories: HashMap::from([(String::new(), root)]),
        }
    }

    /// Returns the directory at a path.
    fn directory(&mut self, path: &str) -> Result<Option<&Tree<'r>>> {
        if !self.directories.contains_key(path) {
            let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
            let above = self.directory(above)?;
            let entry = above.and_then(|above| above.get_name(name));
            let entry = entry.filter(|entry| entry.kind() == Some(ObjectType::Tree));
            let id = entry.map(|entry| entry.id());
            let tree = id.map(|id| object::tree(self.repository, id)).transpose()?;
            self.directories.insert(path.to_owned(), tree);
        }
        Ok(self.directories.get(path).and_then(Option::as_ref))
    }

    /// Returns the content of the file at a path.
    fn file(&mut self, path: &str) -> Result<Option<Content>> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let above = self.directory(above)?;
        let entry = above.and_then(|above| above.get_name(name));
        let entry = entry.filter(|entry| entry.kind() != Some(ObjectType::Tree));
        Ok(entry.map(|entry| (entry.id(), entry.filemode())))
    }

    /// Returns `true` if there is a file below a directory for which `counts` returns `true`.
    fn has_file_below(&mut self, path: &str, counts: impl Fn(&str) -> bool) -> Result<bool> {
        let mut pending = vec![path.to_owned()];
        while let Some(directory) = pending.pop() {
            let Some(tree) = self.directory(&directory)? else {
                continue;
            };
            for entry in tree {
                let name = String::from_utf8_lossy(entry.name_bytes());
                let inside = format!("{directory}/{name}");
                if entry.kind() == Some(ObjectType::Tree) {
                    pending.push(inside);
                } else if counts(&inside) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
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
