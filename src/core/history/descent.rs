//! Names of files from commit to commit: by path and content alone, no similarity is guessed.

use std::collections::{HashMap, HashSet};

use git2::{Oid, Repository};

use super::commit_range::FileDelta;
use super::content::FileBlob;
use super::{CommitRange, object};

/// The id of a file without content, which many files have.
const EMPTY: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

/// Returns the files that only got another name: the former one, by the present one.
pub(super) fn renamed(files: &[FileDelta], is_one: bool) -> HashMap<&str, &str> {
    let is_one = is_one && files.len() == 2;
    let tells = |(id, _): &FileBlob| is_one || id.to_string() != EMPTY;
    let gone = files.iter().filter(|file| file.after.is_none());
    let gone = gone.filter_map(|file| Some((file.before.filter(tells)?, &*file.path)));
    let came = files.iter().filter(|file| file.before.is_none());
    let came = came.filter_map(|file| Some((file.after.filter(tells)?, &*file.path)));
    let (gone, came) = (unique(gone), unique(came).into_iter());
    let both = came.filter_map(|(content, now)| Some((now, *gone.get(&content)?)));
    both.collect()
}

/// Returns the contents that are at one path alone.
pub(super) fn unique<'p>(
    files: impl Iterator<Item = (FileBlob, &'p str)>,
) -> HashMap<FileBlob, &'p str> {
    let mut paths: HashMap<FileBlob, Option<&str>> = HashMap::new();
    for (content, path) in files {
        let found = paths.entry(content).and_modify(|found| *found = None);
        found.or_insert(Some(path));
    }
    let paths = paths.into_iter();
    let found = paths.filter_map(|(content, path)| Some((content, path?)));
    found.collect()
}

/// Returns those of these paths at which the files are now that commits left there, whatever names they had
/// meanwhile; `None` if a commit since, up to `tip`, cannot be read.
pub(super) fn still_there<'p>(
    repository: &Repository,
    tip: Option<Oid>,
    range: &CommitRange,
    paths: impl Iterator<Item = &'p &'p str>,
) -> Option<HashSet<&'p str>> {
    let (mut since, mut next) = (Vec::new(), tip);
    while let Some(id) = next.filter(|id| id.to_string() != range.commit) {
        next = object::commit(repository, id).ok()?.parent_id(0).ok();
        since.push(id.to_string());
    }
    let mut followed = FollowedFiles {
        names: paths.map(|path| ((*path).to_owned(), *path)).collect(),
        gone: HashMap::new(),
    };
    for commit in since.into_iter().rev() {
        let one = CommitRange {
            before: None,
            commit,
            taken_back: HashSet::new(),
        };
        followed.pass(&one.files(repository).ok()?.0);
    }
    let there = followed.names.into_iter();
    let there = there.filter(|(name, path)| name == path);
    Some(there.map(|(_, path)| path).collect())
}

/// Files that are followed from commit to commit, each known by its first path.
struct FollowedFiles<'p> {
    /// Those that are there, by their names.
    names: HashMap<String, &'p str>,
    /// Those that went, by the name and content of each: one that comes back with both is the same.
    gone: HashMap<(String, FileBlob), &'p str>,
}

impl FollowedFiles<'_> {
    /// Follows them through one commit, which changed these files.
    fn pass(&mut self, files: &[FileDelta]) {
        let renamed = renamed(files, true).into_iter();
        let renamed: HashMap<&str, &str> = renamed.map(|(to, from)| (from, to)).collect();
        let new = files.iter().filter(|file| file.before.is_none());
        let new = unique(new.filter_map(|file| Some((file.after?, &*file.path))));
        let removed = files.iter().filter(|file| file.after.is_none());
        let removed: HashSet<FileBlob> = removed.filter_map(|file| file.before).collect();
        let mut came = Vec::new();
        for file in files {
            let path = &*file.path;
            let (name, is_edited) = match (file.before, file.after) {
                (None, None) => continue,
                (None, Some(content)) => {
                    let back = self.gone.remove(&(path.to_owned(), content));
                    came.extend(back.map(|first| (path.to_owned(), first)));
                    continue;
                }
                (Some(_), None) => (renamed.get(path), false),
                // Another file may have got its name.
                (Some(before), Some(after)) => (new.get(&before), !removed.contains(&after)),
            };
            if name.is_none() && is_edited {
                continue;
            }
            if let Some(first) = self.names.remove(path) {
                match (name, file.before) {
                    (Some(name), _) => came.push(((*name).to_owned(), first)),
                    (None, Some(content)) => {
                        self.gone.insert((path.to_owned(), content), first);
                    }
                    (None, None) => {}
                }
            }
        }
        self.names.extend(came);
    }
}
