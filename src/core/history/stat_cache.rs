//! Cache of the content ids of files, by their stat data.
//!
//! Two files in git's index format: `fileshed/stat`, which only this module writes and reads, and
//! `index`, the same bytes for git itself. A person's `git add` changes the second and cannot make
//! the first say anything that is not so.

use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git2::{Index, IndexEntry, IndexTime, Oid};
use rustix::fs::Stat;

use super::layout::{OWN, remove};
use super::{HistoryError, Result};

/// Returns `true` if a file that now has this stat was not touched since it was entered in the index.
pub(super) fn is_untouched(entry: &IndexEntry, stat: &Stat) -> bool {
    let now = entry_of(stat);
    (entry.mtime, entry.ctime, entry.ino, entry.file_size)
        == (now.mtime, now.ctime, now.ino, now.file_size)
}

/// Returns the seconds and nanoseconds of a time.
pub(super) fn parts(time: IndexTime) -> (i32, u32) {
    (time.seconds(), time.nanoseconds())
}

/// Returns an entry of an index with the data of a stat.
fn entry_of(stat: &Stat) -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(stat.st_ctime as i32, stat.st_ctime_nsec as u32),
        mtime: IndexTime::new(stat.st_mtime as i32, stat.st_mtime_nsec as u32),
        dev: stat.st_dev as u32,
        ino: stat.st_ino as u32,
        uid: stat.st_uid,
        gid: stat.st_gid,
        file_size: stat.st_size as u32,
        ..empty_entry()
    }
}

/// Returns an entry of an index that says nothing.
fn empty_entry() -> IndexEntry {
    IndexEntry {
        ctime: IndexTime::new(0, 0),
        mtime: IndexTime::new(0, 0),
        dev: 0,
        ino: 0,
        mode: 0,
        uid: 0,
        gid: 0,
        file_size: 0,
        id: Oid::ZERO_SHA1,
        flags: 0,
        flags_extended: 0,
        path: Vec::new(),
    }
}

/// Returns the entry of a file with this content. Without the stat of a file that has it, git looks for
/// itself.
pub(super) fn index_entry(path: Vec<u8>, (id, mode): (Oid, i32), stat: Option<Stat>) -> IndexEntry {
    IndexEntry {
        mode: mode as u32,
        id,
        path,
        ..stat.as_ref().map_or_else(empty_entry, entry_of)
    }
}

/// The two files of one repository, and a copy of the first.
pub(super) struct StatCache {
    stat: PathBuf,
    /// Copy of `stat` from the beginning of a command.
    before: PathBuf,
    index: PathBuf,
    tree: PathBuf,
}

impl StatCache {
    pub(super) fn of(git_dir: &Path) -> Self {
        Self {
            stat: git_dir.join(OWN).join("stat"),
            before: git_dir.join(OWN).join("before"),
            index: git_dir.join("index"),
            tree: git_dir.join(OWN).join("tree"),
        }
    }

    /// Returns the entries of known files, by path. An unreadable cache counts as empty. An entry as young
    /// as the file it stands in could have changed within the same tick of the clock and is not known.
    pub(super) fn known(&self) -> HashMap<Vec<u8>, IndexEntry> {
        let (Ok(metadata), Ok(index)) = (fs::metadata(&self.stat), Index::open(&self.stat)) else {
            return HashMap::new();
        };
        let written = (metadata.mtime() as i32, metadata.mtime_nsec() as u32);
        let old = index
            .iter()
            .filter(|entry| parts(entry.mtime) < written && parts(entry.ctime) < written);
        old.map(|entry| (entry.path.clone(), entry)).collect()
    }

    /// Keeps what is known now. The file is never written in place, so a second name keeps it.
    pub(super) fn remember(&self) -> Result<()> {
        let fail = HistoryError::repository("index");
        remove(&self.before).map_err(&fail)?;
        let kept = fs::hard_link(&self.stat, &self.before)
            .or_else(|_| fs::copy(&self.stat, &self.before).map(drop));
        match kept {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(fail(error)),
            _ => Ok(()),
        }
    }

    /// Returns what was known when a command began.
    pub(super) fn remembered(&self) -> Vec<IndexEntry> {
        let index = Index::open(&self.before);
        index.map_or_else(|_| Vec::new(), |index| index.iter().collect())
    }

    /// Returns `true` if git's index describes `tree` and is unchanged since it was written here.
    pub(super) fn is_current(&self, tree: Oid) -> bool {
        let described = fs::read_to_string(&self.tree).is_ok_and(|text| text == tree.to_string());
        described && matches!((seal(&self.stat), seal(&self.index)), (Some(a), Some(b)) if a == b)
    }

    /// Has git's index written anew, whatever it looks like.
    pub(super) fn forget(&self) -> std::io::Result<()> {
        remove(&self.tree)
    }

    /// Writes what describes `tree`: entries in the order of their paths.
    pub(super) fn write(&self, tree: Oid, entries: &[IndexEntry]) -> Result<()> {
        let fail = HistoryError::repository("index");
        self.forget().map_err(&fail)?;
        if let Some(own) = self.stat.parent() {
            fs::create_dir_all(own).map_err(&fail)?;
        }
        let opened = Index::open(&self.stat).or_else(|_| {
            let _torn = fs::remove_file(&self.stat);
            Index::open(&self.stat)
        });
        let mut index = opened.map_err(HistoryError::git("index"))?;
        index.clear().map_err(HistoryError::git("index"))?;
        for entry in entries {
            if let Err(error) = index.add(entry) {
                // A tree that git wrote may have names that its index refuses.
                tracing::debug!(%error, "a file is not in the index");
            }
        }
        index.write().map_err(HistoryError::git("index"))?;
        let bytes = fs::read(&self.stat).map_err(&fail)?;
        let beside = self.index.with_extension("new");
        fs::write(&beside, bytes).map_err(&fail)?;
        fs::rename(&beside, &self.index).map_err(&fail)?;
        fs::write(&self.tree, tree.to_string()).map_err(&fail)
    }
}

/// Length and checksum of an index file; the checksum is its last 20 bytes.
fn seal(path: &Path) -> Option<(u64, [u8; 20])> {
    let mut file = fs::File::open(path).ok()?;
    let length = file.seek(SeekFrom::End(-20)).ok()? + 20;
    let mut sum = [0; 20];
    file.read_exact(&mut sum).ok()?;
    Some((length, sum))
}
