//! Which content a file has, told by its stat alone.
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

use super::HistoryError;
use super::layout::OWN;

/// What of a stat tells that a file was not touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    modified: (i32, u32),
    changed: (i32, u32),
    inode: u32,
    size: u32,
}

impl Stamp {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            modified: (stat.st_mtime as i32, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime as i32, stat.st_ctime_nsec as u32),
            inode: stat.st_ino as u32,
            size: stat.st_size as u32,
        }
    }

    fn of_entry(entry: &IndexEntry) -> Self {
        Self {
            modified: (entry.mtime.seconds(), entry.mtime.nanoseconds()),
            changed: (entry.ctime.seconds(), entry.ctime.nanoseconds()),
            inode: entry.ino,
            size: entry.file_size,
        }
    }

    /// What the kernel knew the file by; nothing where no stat was taken.
    pub(super) fn inode(&self) -> Option<u32> {
        (self.inode != 0).then_some(self.inode)
    }

    /// Whether the file was there already when something that was born `then` was.
    pub(super) fn is_not_before(&self, then: (i64, u32)) -> bool {
        (i64::from(self.changed.0), self.changed.1) >= then
    }
}

/// One file on disk with the content that it was found to have.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) path: Vec<u8>,
    pub(super) id: Oid,
    pub(super) mode: i32,
    /// Nothing where the content on disk is another one: git then looks for itself.
    pub(super) stat: Option<Stat>,
}

/// The two files of one repository, and a copy of the first.
pub(super) struct StatCache {
    stat: PathBuf,
    /// What the first was when a command began.
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

    /// What is known: path to stamp, mode and id. Unreadable is the same as empty. An entry as
    /// young as the file it stands in could have changed within the same tick of the clock and is
    /// not known.
    pub(super) fn known(&self) -> HashMap<Vec<u8>, (Stamp, i32, Oid)> {
        let Ok(metadata) = fs::metadata(&self.stat) else {
            return HashMap::new();
        };
        let written = (metadata.mtime() as i32, metadata.mtime_nsec() as u32);
        let Ok(index) = Index::open(&self.stat) else {
            return HashMap::new();
        };
        let mut known = HashMap::with_capacity(index.len());
        for entry in index.iter() {
            let stamp = Stamp::of_entry(&entry);
            if stamp.modified < written && stamp.changed < written {
                known.insert(entry.path, (stamp, entry.mode as i32, entry.id));
            }
        }
        known
    }

    /// Keeps what is known now. The file is never written in place, so a second name keeps it.
    pub(super) fn remember(&self) -> Result<(), HistoryError> {
        let fail = HistoryError::repository("index");
        match fs::remove_file(&self.before) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(fail(error)),
            _ => {}
        }
        let kept = fs::hard_link(&self.stat, &self.before)
            .or_else(|_| fs::copy(&self.stat, &self.before).map(drop));
        match kept {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(fail(error)),
            _ => Ok(()),
        }
    }

    /// What was known when a command began: paths, stamps, ids.
    pub(super) fn remembered(&self) -> Vec<(Vec<u8>, Stamp, Oid)> {
        let Ok(index) = Index::open(&self.before) else {
            return Vec::new();
        };
        let entries = index.iter();
        entries
            .map(|entry| {
                let stamp = Stamp::of_entry(&entry);
                (entry.path, stamp, entry.id)
            })
            .collect()
    }

    /// Whether git's index describes `tree` and is as it was written here.
    pub(super) fn is_current(&self, tree: Oid) -> bool {
        let described = fs::read_to_string(&self.tree).is_ok_and(|text| text == tree.to_string());
        described && matches!((seal(&self.stat), seal(&self.index)), (Some(a), Some(b)) if a == b)
    }

    /// Has git's index written anew, whatever it looks like.
    pub(super) fn forget(&self) -> std::io::Result<()> {
        match fs::remove_file(&self.tree) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes what describes `tree`. `lines` in the order of their paths.
    pub(super) fn write(&self, tree: Oid, lines: &[Line]) -> Result<(), HistoryError> {
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
        for line in lines {
            if let Err(error) = index.add(&line.entry()) {
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

impl Line {
    fn entry(&self) -> IndexEntry {
        let stamp = self.stat.as_ref().map(Stamp::of).unwrap_or_default();
        let stat = self.stat.as_ref();
        IndexEntry {
            ctime: IndexTime::new(stamp.changed.0, stamp.changed.1),
            mtime: IndexTime::new(stamp.modified.0, stamp.modified.1),
            dev: stat.map_or(0, |stat| stat.st_dev as u32),
            ino: stamp.inode,
            mode: self.mode as u32,
            uid: stat.map_or(0, |stat| stat.st_uid),
            gid: stat.map_or(0, |stat| stat.st_gid),
            file_size: stamp.size,
            id: self.id,
            flags: 0,
            flags_extended: 0,
            path: self.path.clone(),
        }
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
