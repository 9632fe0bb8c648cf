//! The way back from single commits: what they changed is taken out of the files of today.
//!
//! Files are compared by their paths and contents; no similarity is guessed. A file that was renamed without
//! another change is known under its new name, because its content is at one new path alone.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use git2::{Commit, MergeFileInput, ObjectType, Oid, Repository, Tree};

use super::commit_range::{FileDelta, changed_files};
use super::content::{FileBlob, zone_path};
use super::damage::Remedy;
use super::descent::{renamed, still_there, unique};
use super::handle::ignore_the_host;
use super::tree::TreeFiles;
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

/// A path that a reversal leaves as it is, with the revision that has it as it was before; `None` if something else
/// is in its place.
pub type ReversalConflict = (ZonePath, Option<String>);

/// The changes of files by which commits are taken back.
#[derive(Debug, Default)]
pub struct Reversal {
    changes: Vec<PathChange>,
    /// Files that were changed in the same lines since, or whose place is taken: they stay as they are.
    pub conflicts: Vec<ReversalConflict>,
    /// Other files that stay as they are: those that are not meant, and those that were left out.
    stays: HashSet<ZonePath>,
    /// Pairs of names of one file.
    names: Vec<(String, String)>,
}

/// The files of commits that a reversal takes back.
#[derive(Debug)]
pub struct ReversedFiles {
    /// Their positions among the files that the commits changed.
    pub positions: Vec<usize>,
    /// `true` if no other file of the commits is left to take back.
    pub is_all: bool,
}

#[derive(Debug)]
struct PathChange {
    path: ZonePath,
    now: Option<FileBlob>,
    then: Option<FileBlob>,
    is_merged: bool,
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

    /// Returns `true` if no file stays as it is.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.conflicts.is_empty() && self.stays.is_empty()
    }

    /// Leaves files as they are at the paths for which `stays` returns `true`, and at their other names.
    pub fn leave_out(&mut self, stays: impl Fn(&ZonePath) -> bool) {
        let paths = self.changes.iter().map(|change| &change.path);
        let paths = paths.filter(|path| stays(path)).map(ZonePath::as_str);
        let paths = with_other_names(paths.collect(), &self.names);
        self.stays.extend(paths.into_iter().map(zone_path));
        self.changes
            .retain(|change| !self.stays.contains(&change.path));
    }

    /// Returns the way back from this one.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let changes = self.changes.iter().map(|change| PathChange {
            path: change.path.clone(),
            now: change.then,
            then: change.now,
            is_merged: false,
        });
        Self {
            changes: changes.collect(),
            ..Self::default()
        }
    }
}

impl History {
    /// Finds what has to change so that these commits, the last one first, are taken back; where `only`
    /// is given, at that path and below it. What was changed since stays: texts are merged by lines.
    pub fn reversal(&self, commits: &[CommitRange], only: Option<&ZonePath>) -> Result<Reversal> {
        self.reversal_at(self.head_commit()?, commits, only)
    }

    /// Finds the part that `commit` has of a reversal of these commits.
    pub fn reversal_in(&self, commit: &str, commits: &[CommitRange]) -> Result<Reversal> {
        let repository = &self.repository;
        let id = Oid::from_str(commit).map_err(HistoryError::git("read"))?;
        let commit = object::commit(repository, id)?;
        let before = commit.parent_id(0).ok();
        let before = before.map(|before| object::commit(repository, before));
        let mut reversal = self.reversal_at(before.transpose()?, commits, None)?;
        let tree = object::tree(repository, commit.tree_id())?;
        let mut files = TreeFiles::of(repository, Some(tree));
        let mut missing = HashSet::new();
        for change in &reversal.changes {
            if files.file(change.path.as_str())? != change.then {
                missing.insert(change.path.clone());
            }
        }
        reversal.leave_out(|path| missing.contains(path));
        Ok(reversal)
    }

    /// Finds a reversal for the files of the commit `tip`.
    fn reversal_at(
        &self,
        tip: Option<Commit<'_>>,
        commits: &[CommitRange],
        only: Option<&ZonePath>,
    ) -> Result<Reversal> {
        let repository = &self.repository;
        let mut plan = ReversalPlan::of(repository, tip)?;
        let ranges = commits.iter().map(|range| range.files(repository));
        let ranges = ranges.collect::<Result<Vec<_>>>()?;
        let left = commits.iter().zip(&ranges);
        let left = left.flat_map(|(range, (files, _))| range.left(files));
        plan.pass_over(left.map(|(_, file)| file))?;
        for (range, (files, after)) in commits.iter().zip(&ranges) {
            plan.take_back(range, files, after, only)?;
        }
        plan.settle()
    }

    /// Returns the files of each of these commits that a reversal of all of them takes back, or finds as they were.
    pub fn reversed_files(
        &self,
        reversal: &Reversal,
        commits: &[&CommitRange],
    ) -> Result<Vec<ReversedFiles>> {
        let repository = &self.repository;
        let ranges = commits.iter().map(|range| Ok(range.files(repository)?.0));
        let ranges = ranges.collect::<Result<Vec<_>>>()?;
        let mut names = reversal.names.clone();
        for (range, files) in commits.iter().zip(&ranges) {
            let renamed = renamed(files, range.is_one(repository)).into_iter();
            names.extend(renamed.map(|(now, former)| (former.to_owned(), now.to_owned())));
        }
        let conflicts = reversal.conflicts.iter().map(|(path, _)| path);
        let stays = conflicts.chain(&reversal.stays).map(ZonePath::as_str);
        let stays = with_other_names(stays.collect(), &names);
        let reversed = commits.iter().zip(&ranges).map(|(range, files)| {
            let left = range.left(files);
            let (stay, back): (Vec<_>, Vec<_>) =
                left.partition(|(_, file)| stays.contains(&*file.path));
            ReversedFiles {
                positions: back.into_iter().map(|(at, _)| at).collect(),
                is_all: stay.is_empty(),
            }
        });
        Ok(reversed.collect())
    }

    /// Changes the files on disk as a reversal says. Returns their contents, and the files whose former content the
    /// repository has lost: they stay as they are. Empty directories go, but for those that are older than a
    /// `second`. The caller has the write lock, and commits.
    pub fn carry_out(
        &self,
        reversal: &Reversal,
        second: i64,
        staging: &Staging,
    ) -> Result<(Vec<PreparedContent>, Vec<ZonePath>)> {
        let (mut contents, mut lost) = (Vec::new(), self.lost_renames(reversal));
        let replaced = staging.private_directory()?;
        let is_older = |directory: &ZonePath| {
            let there = self.there(directory).ok().flatten();
            let born = there.and_then(|there| there.born());
            born.is_some_and(|(born, _)| born < second)
        };
        let stays = lost.iter().map(ZonePath::as_str).collect();
        let stays = with_other_names(stays, &reversal.names);
        let changes = reversal.changes.iter();
        let changes = changes.filter(|change| !stays.contains(change.path.as_str()));
        let (back, gone): (Vec<_>, Vec<_>) = changes.partition(|change| change.then.is_some());
        // A file that gets its former name back loses the other one last, so that a crash leaves it one of both.
        let places: BTreeSet<&str> = back.iter().map(|change| change.path.as_str()).collect();
        let gone = gone.into_iter();
        let (in_the_way, gone): (Vec<_>, Vec<_>) =
            gone.partition(|change| is_in_the_way(&change.path, &places));
        let take_away = |change: &PathChange| {
            self.take_away(&change.path, staging)?;
            self.take_away_empty(change.path.parent(), is_older, staging)
        };
        in_the_way.into_iter().try_for_each(take_away)?;
        for part in back.chunks(FLUSHED_TOGETHER) {
            let mut staged = Vec::with_capacity(part.len());
            for change in part {
                let (path, Some(content)) = (&change.path, change.then) else {
                    continue;
                };
                match self.stage_content(content, staging, &replaced) {
                    Err(error) if error.remedy() == Remedy::Another => {
                        tracing::error!(%path, %error, "the former content of a file is lost");
                        lost.push(path.clone());
                    }
                    file => staged.push((path, content, file?)),
                }
            }
            staging.flush(staged.iter_mut().filter_map(|(.., file)| file.as_mut()))?;
            for (path, content, file) in staged {
                let stamp = self.install_content(path, content, file, staging)?;
                let content = |stamp| PreparedContent::of_repository(stamp, content.0);
                contents.extend(stamp.map(content));
            }
        }
        gone.into_iter().try_for_each(take_away)?;
        replaced.remove(staging)?;
        Ok((contents, lost))
    }

    /// Returns the files with several names whose content the repository has lost: each would be at none of them.
    fn lost_renames(&self, reversal: &Reversal) -> Vec<ZonePath> {
        let is_lost = |(id, _)| object::copy_content(&self.repository, id, |_| Ok(())).is_err();
        let names = reversal.names.iter().flat_map(|(one, other)| [one, other]);
        let names: HashSet<&str> = names.map(String::as_str).collect();
        let renamed = reversal.changes.iter();
        let renamed = renamed.filter(|change| names.contains(change.path.as_str()));
        let lost = renamed.filter(|change| change.then.is_some_and(is_lost));
        lost.map(|change| change.path.clone()).collect()
    }
}

/// Returns `true` if nothing can be at one of these places as long as a file is at a path: above it, or below it.
fn is_in_the_way(path: &ZonePath, places: &BTreeSet<&str>) -> bool {
    let mut above = std::iter::successors(path.parent(), ZonePath::parent);
    let below = format!("{path}/");
    let mut next = places.range(&*below..);
    above.any(|above| places.contains(above.as_str()))
        || next.next().is_some_and(|place| place.starts_with(&below))
}

/// Returns the paths of files that stay, with their other names: a file stays under all of them.
fn with_other_names<'p>(
    mut stays: HashSet<&'p str>,
    names: &'p [(String, String)],
) -> HashSet<&'p str> {
    let mut others: HashMap<&str, Vec<&str>> = HashMap::new();
    for (one, other) in names {
        others.entry(one).or_default().push(other);
        others.entry(other).or_default().push(one);
    }
    let mut pending: Vec<&str> = stays.iter().copied().collect();
    while let Some(path) = pending.pop() {
        let names = others.get(path).into_iter().flatten();
        pending.extend(names.filter(|name| stays.insert(name)));
    }
    stays
}

/// A reversal that is being found.
struct ReversalPlan<'r> {
    repository: &'r Repository,
    /// The last commit.
    tip: Option<Oid>,
    /// Its files.
    now: TreeFiles<'r>,
    /// Paths that were taken back before.
    settled: HashSet<String>,
    /// The content that will be at a path, and `true` if it is merged.
    left: BTreeMap<String, (Option<FileBlob>, bool)>,
    /// The commit that has the file which comes back to a path; the last one has others.
    as_of: HashMap<String, Option<Oid>>,
    conflicts: BTreeMap<String, Option<String>>,
    /// Files that are not meant.
    stays: HashSet<ZonePath>,
    /// Pairs of names of one file: all stay as they are, or none.
    names: Vec<(String, String)>,
    /// Bytes of the files that are merged.
    merging: usize,
}

impl<'r> ReversalPlan<'r> {
    fn of(repository: &'r Repository, tip: Option<Commit<'_>>) -> Result<Self> {
        let now = tip
            .as_ref()
            .map(|tip| object::tree(repository, tip.tree_id()));
        Ok(Self {
            repository,
            tip: tip.map(|tip| tip.id()),
            now: TreeFiles::of(repository, now.transpose()?),
            settled: HashSet::new(),
            left: BTreeMap::new(),
            as_of: HashMap::new(),
            conflicts: BTreeMap::new(),
            stays: HashSet::new(),
            names: Vec::new(),
            merging: 0,
        })
    }

    /// Returns what will be at a path.
    fn at(&mut self, path: &str) -> Result<Option<FileBlob>> {
        match self.left.get(path) {
            Some((content, _)) => Ok(*content),
            None => self.now.file(path),
        }
    }

    fn leave(&mut self, path: &str, content: Option<FileBlob>, is_merged: bool) {
        self.left.insert(path.to_owned(), (content, is_merged));
    }

    /// Passes over files that are as they were before all commits, of which the last one comes first.
    fn pass_over<'f>(&mut self, files: impl Iterator<Item = &'f FileDelta>) -> Result<()> {
        let mut ends: HashMap<&str, (Option<FileBlob>, Option<FileBlob>)> = HashMap::new();
        for file in files {
            let (_, before) = ends.entry(&file.path).or_insert((file.after, file.before));
            *before = file.before;
        }
        for (path, (after, before)) in ends {
            let now = self.now.file(path)?;
            if now == before && now != after {
                self.settled.insert(path.to_owned());
            }
        }
        Ok(())
    }

    /// Takes commits back, which changed these files; `after` them all files were those.
    fn take_back(
        &mut self,
        range: &CommitRange,
        files: &[FileDelta],
        after: &Tree<'_>,
        only: Option<&ZonePath>,
    ) -> Result<()> {
        let (revision, is_one) = (range.revision_before(), range.is_one(self.repository));
        let before = range.before(self.repository)?;
        let renamed = renamed(files, is_one);
        let former: HashSet<&str> = renamed.values().copied().collect();
        let is_meant = |path: &str| only.is_none_or(|only| zone_path(path).is_at_or_below(only));
        let (mut moved, mut descended) = (None, HashMap::new());
        let left = range.left(files).map(|(_, file)| file);
        for file in left.filter(|file| !former.contains(&*file.path)) {
            let path = &*file.path;
            let name_before = renamed.get(path).copied();
            if !is_meant(path) && !name_before.is_some_and(is_meant) {
                self.stays.insert(zone_path(path));
                continue;
            }
            if let Some(name_before) = name_before {
                let there = self.at(path)?;
                let is_another = there.is_some() && there != file.after && {
                    let as_of = self.as_of.get(path).copied().unwrap_or(self.tip);
                    let find = || still_there(self.repository, as_of, range, renamed.keys());
                    let there = descended.entry(as_of).or_insert_with(find);
                    there.as_ref().is_none_or(|paths| !paths.contains(path))
                };
                if self.rename_back(&revision, file, name_before, is_another)? {
                    self.as_of.insert(name_before.to_owned(), before);
                }
                continue;
            }
            let there = self.at(path)?;
            if there == file.before || self.settled.contains(path) {
                continue;
            }
            if there == file.after {
                self.as_of.insert(path.to_owned(), before);
                self.leave(path, file.before, false);
                continue;
            }
            if let Some(merged) = self.merge(file, there)? {
                self.leave(path, Some(merged), true);
                continue;
            }
            let mut name_now = None;
            if there.is_none() && file.before.is_some() {
                if moved.is_none() {
                    moved = Some(self.moved_since(after)?);
                }
                name_now = moved.as_ref().and_then(|moved| moved.get(&file.after?));
            }
            if let Some(name) = name_now {
                self.leave(name, file.before, false);
                self.names.push((path.to_owned(), name.clone()));
            } else {
                let before = file.after.map(|_| revision.clone());
                self.conflicts.insert(path.to_owned(), before);
            }
        }
        Ok(())
    }

    /// Gives a file its former name back, whatever it has now, unless another one has its name. Returns `true` if
    /// it gets it.
    fn rename_back(
        &mut self,
        revision: &str,
        file: &FileDelta,
        former: &str,
        is_another: bool,
    ) -> Result<bool> {
        let (there, place) = (self.at(&file.path)?, self.at(former)?);
        if there.is_none() && place == file.after {
            return Ok(false);
        }
        // An undo that was cut off may have left the file under both names.
        let is_taken = place.is_some() && place != there;
        if there.is_none() || is_taken || is_another {
            let before = there.is_none().then(|| revision.to_owned());
            self.conflicts.insert(file.path.clone(), before);
            return Ok(false);
        }
        let is_merged = there != file.after;
        self.leave(former, there, is_merged);
        self.leave(&file.path, None, false);
        self.names.push((former.to_owned(), file.path.clone()));
        Ok(true)
    }

    /// Returns what a file gets that was changed since; `None` if it was not, or in the same lines.
    fn merge(&mut self, file: &FileDelta, there: Option<FileBlob>) -> Result<Option<FileBlob>> {
        let (Some(before), Some(after), Some(there)) = (file.before, file.after, there) else {
            return Ok(None);
        };
        let is_plain = [before, after, there]
            .iter()
            .all(|(_, mode)| mode >> 12 == FILE);
        if !is_plain {
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

    /// Returns the paths to which files were renamed since, by the contents that will be there.
    fn moved_since(&mut self, after: &Tree<'_>) -> Result<HashMap<FileBlob, String>> {
        let files = changed_files(self.repository, Some(after), self.now.root())?;
        let mut moved = Vec::new();
        for file in files.iter().filter(|file| file.before.is_none()) {
            let content = self.at(&file.path)?;
            moved.extend(content.map(|content| (content, &*file.path)));
        }
        let moved = unique(moved.into_iter()).into_iter();
        Ok(moved
            .map(|(content, path)| (content, path.to_owned()))
            .collect())
    }

    /// Leaves out what stays, and what has no place then.
    fn settle(mut self) -> Result<Reversal> {
        loop {
            let stays = self.conflicts.keys().map(String::as_str).collect();
            let stays = with_other_names(stays, &self.names);
            self.left.retain(|path, _| !stays.contains(&**path));
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
            let path = zone_path(&path);
            if now != then {
                changes.push(PathChange {
                    path,
                    now,
                    then,
                    is_merged,
                });
            }
        }
        let conflicts = self.conflicts.into_iter();
        Ok(Reversal {
            changes,
            conflicts: conflicts
                .map(|(path, before)| (zone_path(&path), before))
                .collect(),
            stays: self.stays,
            names: self.names,
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

/// Merges two texts that both come from `base`, by lines; `None` if they changed the same ones, or if one
/// is no text.
#[must_use]
pub fn merge_texts(base: &[u8], one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    if [base, one, other].iter().any(|text| text.contains(&0)) {
        return None;
    }
    // Of all functions of libgit2 this one alone does not set it up.
    ignore_the_host();
    let input = |content| {
        let mut input = MergeFileInput::new();
        input.content(content);
        input
    };
    let merged = git2::merge_file(&input(base), &input(one), &input(other), None).ok()?;
    merged.is_automergeable().then(|| merged.content().to_vec())
}
