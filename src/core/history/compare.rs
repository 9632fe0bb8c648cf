//! Comparison of the files on disk with the commit at HEAD.

use std::collections::HashMap;

use git2::{IndexEntry, Oid, Repository, Tree};
use rustix::fs::Stat;

use super::content::{identify, is_versioned, mode_of, zone_path};
use super::stat_cache::{StatCache, index_entry, is_untouched};
use super::tree::files;
use super::{HistoryError, Result};
use fileshed_storage::{DiskError, Kind, Root, Totals};
use fileshed_types::zone::{PATH_MAX_BYTES, ZonePath};

/// A path of HEAD with its content.
type Committed = (Vec<u8>, (Oid, i32));

/// A path on disk with what the kernel says about it.
type OnDisk = (String, Kind, Stat);

/// The difference of a file on disk from the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// New.
    Added,
    /// Other bytes, or a link in place of a file.
    Modified,
    /// Gone.
    Deleted,
    /// The same bytes, executable or no longer so.
    ModeChanged,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// Which one.
    pub path: ZonePath,
    /// The difference.
    pub kind: ChangeKind,
}

/// One versioned file on disk.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) path: String,
    pub(super) id: Oid,
    pub(super) mode: i32,
    pub(super) stat: Stat,
    /// The content in HEAD.
    pub(super) head: Option<(Oid, i32)>,
}

/// The whole zone, compared with its last commit.
#[derive(Debug, Default)]
pub struct ZoneComparison {
    pub(super) seen: Vec<Seen>,
    /// In HEAD and not on disk.
    pub(super) deleted: Vec<Committed>,
    /// In HEAD, and not to be judged: names that no path can say, files that cannot be read.
    kept: Vec<Committed>,
    pub(super) totals: Totals,
    /// `true` if content was read whose stat said nothing.
    pub(super) learned: bool,
}

impl Seen {
    /// Its difference from HEAD.
    pub(super) fn change(&self) -> Option<ChangeKind> {
        match self.head {
            None => Some(ChangeKind::Added),
            Some((id, mode)) if id == self.id && mode == self.mode => None,
            // A link is another thing than a file of the same bytes.
            Some((id, mode)) if id == self.id && mode >> 12 == self.mode >> 12 => {
                Some(ChangeKind::ModeChanged)
            }
            Some(_) => Some(ChangeKind::Modified),
        }
    }
}

impl ZoneComparison {
    /// Walks `data`; reads only files that `cache` does not know.
    pub(super) fn new(
        data: &Root,
        repository: &Repository,
        head: Option<&Tree<'_>>,
        cache: &StatCache,
    ) -> Result<Self> {
        let mut comparison = Self::default();
        let (found, closed) = comparison.find(data)?;
        let known = cache.known();
        let mut head = match head {
            Some(tree) => files(repository, tree)?,
            None => HashMap::new(),
        };
        for (path, kind, stat) in found {
            let Some(mode) = mode_of(kind, stat.st_mode) else {
                continue;
            };
            let cached = known
                .get(path.as_bytes())
                .filter(|known| is_untouched(known, &stat) && known.mode == mode as u32)
                .map(|known| known.id);
            comparison.learned |= cached.is_none();
            let outcome = cached.map_or_else(|| content_id(data, &path), |id| Ok(Some(id)));
            let id = match outcome {
                Ok(Some(id)) => id,
                Ok(None) => {
                    comparison.kept.extend(head.remove_entry(path.as_bytes()));
                    continue;
                }
                Err(error) if error.is_gone() => continue,
                Err(error) => return Err(error),
            };
            let head = head.remove(path.as_bytes());
            comparison.seen.push(Seen {
                path,
                id,
                mode,
                stat,
                head,
            });
        }
        let (deleted, kept): (Vec<Committed>, Vec<Committed>) =
            head.into_iter().partition(|(path, _)| {
                let hidden = closed.iter().any(|above| is_below(path, above));
                std::str::from_utf8(path).is_ok() && !hidden
            });
        comparison.deleted = deleted;
        comparison.kept.extend(kept);
        Ok(comparison)
    }

    /// Every versioned file, while everything is counted, and the directories that cannot be
    /// looked into.
    fn find(&mut self, data: &Root) -> Result<(Vec<OnDisk>, Vec<Vec<u8>>), DiskError> {
        let totals = &mut self.totals;
        let mut found = Vec::new();
        let closed = data.survey(&ZonePath::root(), |path, kind, stat| {
            if kind == Kind::File && path != b".git" {
                totals.bytes += stat.st_size as u64;
                totals.files += 1;
            }
            if holds(path, kind)
                && let Ok(path) = std::str::from_utf8(path)
            {
                found.push((path.to_owned(), kind, *stat));
            }
        })?;
        Ok((found, closed))
    }

    /// Every path of the last commit, as far as a path can say it.
    pub fn committed(&self) -> impl Iterator<Item = ZonePath> {
        let seen = self.seen.iter().filter(|seen| seen.head.is_some());
        let rest = self.deleted.iter().chain(&self.kept);
        seen.map(|seen| zone_path(&seen.path))
            .chain(rest.filter_map(|(path, _)| std::str::from_utf8(path).ok().map(zone_path)))
    }

    /// Every versioned path on disk.
    pub fn on_disk(&self) -> impl Iterator<Item = ZonePath> {
        self.seen.iter().map(|seen| zone_path(&seen.path))
    }

    /// Space of everything that is there.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The differences in the order of their paths.
    #[must_use]
    pub fn changes(&self) -> Vec<FileChange> {
        let differing = self.seen.iter().filter_map(|seen| {
            let path = zone_path(&seen.path);
            seen.change().map(|kind| FileChange { path, kind })
        });
        let deleted = self.deleted.iter().map(|(path, _)| FileChange {
            path: zone_path(&String::from_utf8_lossy(path)),
            kind: ChangeKind::Deleted,
        });
        let mut changes: Vec<FileChange> = differing.chain(deleted).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }

    /// The index of HEAD, with what is known of the files that have its content.
    pub(super) fn index_of_head(self) -> Vec<IndexEntry> {
        let seen = self.seen.into_iter().filter_map(|seen| {
            let stat = seen.change().is_none().then_some(seen.stat);
            Some(index_entry(seen.path.into_bytes(), seen.head?, stat))
        });
        let rest = self.kept.into_iter().chain(self.deleted);
        let rest = rest.map(|(path, content)| index_entry(path, content, None));
        let mut entries: Vec<IndexEntry> = seen.chain(rest).collect();
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        entries
    }
}

/// Returns `true` if a history can hold an entry of this kind at this path.
#[must_use]
pub fn holds(path: &[u8], kind: Kind) -> bool {
    std::str::from_utf8(path).is_ok_and(|path| {
        matches!(kind, Kind::File | Kind::Symlink)
            && path.len() <= PATH_MAX_BYTES
            && is_versioned(path, kind)
    })
}

/// Returns `true` if `path` lies in the directory `above`, whose empty name is the root.
fn is_below(path: &[u8], above: &[u8]) -> bool {
    above.is_empty()
        || path
            .strip_prefix(above)
            .is_some_and(|rest| rest.starts_with(b"/"))
}

/// Returns the id of a file's content; `None` if the file belongs to another account and cannot be read.
fn content_id(data: &Root, path: &str) -> Result<Option<Oid>> {
    let outcome = data
        .entry_as_named(&zone_path(path))
        .map_err(HistoryError::from)
        .and_then(|entry| identify(&entry));
    match outcome {
        Err(HistoryError::Disk(DiskError::Denied { .. }) | HistoryError::Unfinished) => Ok(None),
        other => other.map(Some),
    }
}
