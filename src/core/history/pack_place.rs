//! Packs of a repository, by handles, so that objects are removed from the repository that got the pack,
//! even if it is set aside meanwhile.

use std::io::{self, BufWriter, ErrorKind, Write as _};
use std::path::Path;

use git2::{Indexer, Oid, PackBuilder};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::layout::{NAME, OWN};
use super::{HistoryError, Result};
use fileshed_storage::Root;
use fileshed_types::zone::ZonePath;

/// Begins the name of a file that says which pack is getting its name.
const INSTALLING: &str = "installing-";

/// Free bytes that are left to everybody else.
const SPARE: u64 = 64 * 1024 * 1024;

/// A pack is as large as the objects that it is made from, and those of packs that go into it.
const SPACE_FACTOR: u64 = 2;

/// Endings of what belongs to a pack, the one first without which nobody sees it.
const PARTS: [&str; 5] = ["idx", "rev", "bitmap", "mtimes", "pack"];

/// Magic of the second version of an index (gitformat-pack).
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

/// Bytes of the magic, and of 256 counts of the objects whose first byte is at most so much.
const HEADER_BYTES: usize = 8 + 256 * 4;

/// Bytes of an id.
const ID_BYTES: usize = 20;

/// An object that has a file of its own.
#[derive(Debug)]
pub(super) struct Loose {
    pub(super) id: Oid,
    /// Bytes that its file takes on disk.
    pub(super) bytes: u64,
    /// Time at which its file was written.
    pub(super) written: (i64, i64),
}

/// A pack of a repository.
#[derive(Debug)]
pub(super) struct Pack {
    /// Part of its name between `pack-` and the ending.
    pub(super) name: String,
    pub(super) objects: usize,
}

/// Directories of a repository to which a pack is added. One packer at a time has a directory to work
/// in, in all processes.
#[derive(Debug)]
pub(super) struct PackPlace {
    objects: Root,
    packs: Root,
    /// Locked until this is dropped.
    work: Root,
}

/// A child that another thread has just forked may have the descriptor a moment longer, and the lock
/// with it, so closing it is not enough.
impl Drop for PackPlace {
    fn drop(&mut self) {
        if let Err(error) = rustix::fs::flock(self.work.handle(), FlockOperation::Unlock) {
            tracing::warn!(%error, "the lock of a packer could not be released");
        }
    }
}

impl PackPlace {
    /// Opens the repository in `parent`, to make packs in its directory `work`. Returns `None` if there
    /// is no repository, or if another packer works there.
    pub(super) fn open(parent: &Root, work: &str) -> Result<Option<Self>> {
        let Some(repository) = parent.existing_subdirectory(NAME)? else {
            return Ok(None);
        };
        let Some(objects) = repository.existing_subdirectory("objects")? else {
            return Ok(None);
        };
        let packs = objects.subdirectory("pack")?;
        let work = repository.subdirectory(&format!("{OWN}/{work}"))?;
        match rustix::fs::flock(work.handle(), FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self {
                objects,
                packs,
                work,
            })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(HistoryError::repository("pack")(error.into())),
        }
    }

    /// Returns the directory in which packs are made.
    pub(super) fn directory(&self) -> &Path {
        self.work.location()
    }

    /// Removes what a packer left that died.
    pub(super) fn clear(&self) -> Result<()> {
        for (name, _) in self.work.hold(&ZonePath::root())?.names()? {
            if let Some(pack) = name.strip_prefix(INSTALLING)
                && !self.packs.has(&file_name(pack, "idx"))?
            {
                self.packs.remove_file(&file_name(pack, "pack"))?;
            }
            self.work.remove_file(&name)?;
        }
        Ok(())
    }

    /// Returns `true` if the disk has room for a pack of what takes so many bytes.
    pub(super) fn has_space_for(&self, bytes: u64) -> Result<bool> {
        let needed = bytes.saturating_mul(SPACE_FACTOR).saturating_add(SPARE);
        Ok(self.objects.free_space()? >= needed)
    }

    /// Lists the objects with a file of at most so many bytes.
    pub(super) fn loose(&self, largest: u64) -> Result<Vec<Loose>> {
        let mut loose = Vec::new();
        for name in directories() {
            let Some(directory) = self.objects.existing_subdirectory(&name)? else {
                continue;
            };
            for found in directory.list(&ZonePath::root())? {
                let digits = format!("{name}{}", found.path);
                let bytes = (found.stat.st_blocks as u64) * 512;
                if let (40, true, Ok(id)) = (digits.len(), bytes <= largest, Oid::from_str(&digits))
                {
                    let written = (found.stat.st_mtime, found.stat.st_mtime_nsec as i64);
                    loose.push(Loose { id, bytes, written });
                }
            }
        }
        Ok(loose)
    }

    /// Removes the file of an object that a pack has.
    pub(super) fn remove_loose(&self, id: Oid) -> Result<()> {
        let digits = id.to_string();
        let (directory, name) = digits.split_at(2);
        Ok(self.objects.remove_file(&format!("{directory}/{name}"))?)
    }

    /// Removes directories of objects that have none.
    pub(super) fn remove_empty_directories(&self) -> Result<()> {
        for name in directories() {
            match rustix::fs::unlinkat(self.objects.handle(), &*name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                Err(error) => return Err(HistoryError::repository("pack")(error.into())),
            }
        }
        Ok(())
    }

    /// Writes pack and index, and returns their name; `None` if that was stopped.
    pub(super) fn write(
        &self,
        builder: &mut PackBuilder<'_>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Option<String>> {
        const BUFFER_BYTES: usize = 1024 * 1024;
        const MODE: u32 = 0o444;
        let git = HistoryError::git("pack");
        let indexer = Indexer::new(None, self.directory(), MODE, false).map_err(&git)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, indexer);
        let mut failed = None;
        let written = builder.foreach(|bytes| {
            let outcome = out.write_all(bytes);
            let is_written = outcome.is_ok();
            failed = outcome.err();
            is_written && goes_on()
        });
        if let Some(error) = failed {
            return Err(of_indexer(error));
        }
        if let Err(error) = written {
            return if goes_on() { Err(git(error)) } else { Ok(None) };
        }
        let indexer = out
            .into_inner()
            .map_err(|error| of_indexer(error.into_error()))?;
        indexer.commit().map(Some).map_err(git)
    }

    /// Returns the objects of a pack that was made and has no place yet.
    pub(super) fn made_ids(&self, name: &str) -> Result<Vec<Oid>> {
        ids(&index(&self.work, name, u64::MAX)?).map_err(HistoryError::repository("pack"))
    }

    /// Gives a pack that was made its place, on disk before this comes back.
    pub(super) fn install(&self, name: &str) -> Result<()> {
        let note = format!("{INSTALLING}{name}");
        let install = || {
            let work = self.work.handle();
            for part in ["pack", "idx"] {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                let file = rustix::fs::openat(work, file_name(name, part), flags, Mode::empty())?;
                rustix::fs::fsync(&file)?;
            }
            self.work
                .make_private_file(&note)
                .map_err(io::Error::other)?;
            // A pack counts from the moment that its index is there.
            for part in ["pack", "idx"] {
                let file = file_name(name, part);
                rustix::fs::renameat(work, &*file, self.packs.handle(), &*file)?;
            }
            rustix::fs::fsync(self.packs.handle())?;
            Ok(())
        };
        install().map_err(HistoryError::repository("pack"))?;
        Ok(self.work.remove_file(&note)?)
    }

    /// Lists packs that may go into another one, the smallest first. Those with a mark of git that
    /// they are kept stay, and so do all while git has one index for several.
    pub(super) fn packs(&self) -> Result<Vec<Pack>> {
        let names = self.packs.hold(&ZonePath::root())?.names()?;
        let has = |name: &str| names.iter().any(|(other, _)| other == name);
        if has("multi-pack-index") {
            return Ok(Vec::new());
        }
        let mut packs = Vec::new();
        for (file, _) in &names {
            let name = file.strip_prefix("pack-");
            let Some(name) = name.and_then(|name| name.strip_suffix(".idx")) else {
                continue;
            };
            let mut marks = ["keep", "promisor"].into_iter();
            if marks.any(|mark| has(&file_name(name, mark))) || !has(&file_name(name, "pack")) {
                continue;
            }
            if let Ok(objects) = count(&index(&self.packs, name, HEADER_BYTES as u64)?) {
                let name = name.to_owned();
                packs.push(Pack { name, objects });
            }
        }
        packs.sort_by_key(|pack| pack.objects);
        Ok(packs)
    }

    /// Returns the objects of a pack.
    pub(super) fn pack_ids(&self, name: &str) -> Result<Vec<Oid>> {
        ids(&index(&self.packs, name, u64::MAX)?).map_err(HistoryError::repository("pack"))
    }

    /// Removes a pack whose objects another one has.
    pub(super) fn remove_pack(&self, name: &str) -> Result<()> {
        for part in PARTS {
            self.packs.remove_file(&file_name(name, part))?;
        }
        Ok(())
    }
}

/// Returns the names of the directories that objects are in.
fn directories() -> impl Iterator<Item = String> {
    (0..=u8::MAX).map(|number| format!("{number:02x}"))
}

fn file_name(pack: &str, part: &str) -> String {
    format!("pack-{pack}.{part}")
}

/// Reads so many bytes of the index of a pack.
fn index(directory: &Root, pack: &str, most: u64) -> Result<Vec<u8>> {
    let read = directory.read_private_file(&file_name(pack, "idx"), most);
    let read = read.and_then(|bytes| bytes.ok_or(ErrorKind::NotFound.into()));
    read.map_err(HistoryError::repository("pack"))
}

/// Returns the number of objects that the beginning of an index says.
fn count(index: &[u8]) -> io::Result<usize> {
    let header = index.get(..HEADER_BYTES).ok_or(ErrorKind::InvalidData)?;
    let last = header.last_chunk().ok_or(ErrorKind::InvalidData)?;
    if !header.starts_with(&MAGIC) {
        return Err(ErrorKind::InvalidData.into());
    }
    Ok(u32::from_be_bytes(*last) as usize)
}

/// Returns the objects that an index names.
fn ids(index: &[u8]) -> io::Result<Vec<Oid>> {
    let count = count(index)?;
    let names = index.get(HEADER_BYTES..HEADER_BYTES + count * ID_BYTES);
    let names = names.ok_or(ErrorKind::InvalidData)?;
    names
        .chunks_exact(ID_BYTES)
        .map(|bytes| Oid::from_bytes(bytes).map_err(io::Error::other))
        .collect()
}

/// Converts an error of writing to an indexer, which wraps those of libgit2.
fn of_indexer(error: io::Error) -> HistoryError {
    match error.downcast::<git2::Error>() {
        Ok(error) => HistoryError::git("pack")(error),
        Err(error) => HistoryError::repository("pack")(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_says_what_its_pack_has() {
        let mut index = MAGIC.to_vec();
        index.extend((0..256_u32).flat_map(|first| u32::from(first >= 7).to_be_bytes()));
        index.extend([7; ID_BYTES]);
        index.extend([0; 100]);
        assert_eq!(count(&index).expect("a count"), 1);
        let id = Oid::from_bytes(&[7; ID_BYTES]).expect("an id");
        assert_eq!(ids(&index).expect("ids"), vec![id]);
    }

    #[test]
    fn what_is_no_index_or_is_cut_is_refused() {
        let mut index = MAGIC.to_vec();
        index.extend([0xff; 256 * 4]);
        for bytes in [&index[..], &index[..500], b"", &[0; 4096]] {
            assert!(ids(bytes).is_err(), "{}", bytes.len());
        }
    }
}
