//! The repository by handles, so that what is taken away is taken from where the pack was put,
//! even if the repository is set aside meanwhile.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use git2::Oid;
use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::layout::{NAME, OWN};
use crate::pack_index::{self, Pack};
use fileshed_storage::Root;

/// Where a pack is made, inside the server's own part of the repository.
const WORK: &str = "packing";

/// Begins the name of a file that says which pack is getting its name.
const INSTALLING: &str = "installing-";

/// Free bytes that are left to everybody else.
const SPARE: u64 = 64 * 1024 * 1024;

/// A pack is as large as the objects that it is made from, and those of packs that go into it.
const SPACE_FACTOR: u64 = 2;

/// Endings of what belongs to a pack, the one first without which nobody sees it.
const PARTS: [&str; 5] = ["idx", "rev", "bitmap", "mtimes", "pack"];

/// One packer at a time has it, in all processes.
#[derive(Debug)]
pub(super) struct PackPlace {
    objects: OwnedFd,
    packs: OwnedFd,
    /// Locked until this is dropped.
    work: OwnedFd,
}

/// A child that another thread has just forked may have the descriptor a moment longer, and the lock
/// with it, so closing it is not enough.
impl Drop for PackPlace {
    fn drop(&mut self) {
        if let Err(error) = rustix::fs::flock(&self.work, FlockOperation::Unlock) {
            tracing::warn!(%error, "the lock of a packer could not be given back");
        }
    }
}

impl PackPlace {
    /// Opens the repository in `parent`; nothing where there is none, or somebody packs it.
    pub(super) fn open(parent: &Root) -> io::Result<Option<Self>> {
        let repository = match directory(parent.handle(), NAME) {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            opened => opened?,
        };
        let objects = match directory(&repository, "objects") {
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            opened => opened?,
        };
        let packs = made(&objects, "pack")?;
        let own = made(&repository, OWN)?;
        let work = made(&own, WORK)?;
        match rustix::fs::flock(&work, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Ok(None),
            locked => {
                locked?;
                Ok(Some(Self {
                    objects,
                    packs,
                    work,
                }))
            }
        }
    }

    /// Where packs are made, below the repository.
    pub(super) fn directory(repository: &Path) -> PathBuf {
        repository.join(OWN).join(WORK)
    }

    /// Removes what a packer left that died.
    pub(super) fn clear(&self) -> io::Result<()> {
        for name in names(&self.work)? {
            if let Some(pack) = name.strip_prefix(INSTALLING)
                && !exists(&self.packs, &file_name(pack, "idx"))?
            {
                unlink(&self.packs, &file_name(pack, "pack"))?;
            }
            unlink(&self.work, &name)?;
        }
        Ok(())
    }

    /// Whether the disk has room for a pack of what takes so many bytes.
    pub(super) fn has_space_for(&self, bytes: u64) -> io::Result<bool> {
        let found = rustix::fs::fstatvfs(&self.objects)?;
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        Ok(free >= bytes.saturating_mul(SPACE_FACTOR).saturating_add(SPARE))
    }

    /// A file of settings for libgit2.
    pub(super) fn settings(&self, repository: &Path, text: &str) -> io::Result<PathBuf> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(&self.work, "settings", flags, mode)?;
        File::from(file).write_all(text.as_bytes())?;
        Ok(Self::directory(repository).join("settings"))
    }

    /// A directory of objects.
    pub(super) fn objects_below(&self, name: &str) -> Result<OwnedFd, Errno> {
        directory(&self.objects, name)
    }

    /// Removes the file of an object.
    pub(super) fn remove_object(&self, name: &str) -> io::Result<()> {
        unlink(&self.objects, name)
    }

    /// Removes directories of objects that have none.
    pub(super) fn remove_empty_directories(&self) -> io::Result<()> {
        for name in directories() {
            match rustix::fs::unlinkat(&self.objects, &*name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The objects of a pack that was made and has no place yet.
    pub(super) fn read_index(&self, name: &str) -> io::Result<Vec<Oid>> {
        pack_index::ids(&content(&self.work, &file_name(name, "idx"), usize::MAX)?)
    }

    /// Gives a pack that was made its place, on disk before this comes back.
    pub(super) fn install(&self, name: &str) -> io::Result<()> {
        for part in ["pack", "idx"] {
            let flags = OFlags::RDONLY | OFlags::CLOEXEC;
            let file = rustix::fs::openat(&self.work, file_name(name, part), flags, Mode::empty())?;
            rustix::fs::fsync(&file)?;
        }
        let note = format!("{INSTALLING}{name}");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        rustix::fs::openat(&self.work, &*note, flags, Mode::RUSR | Mode::WUSR)?;
        // A pack counts from the moment that its index is there.
        for part in ["pack", "idx"] {
            let file = file_name(name, part);
            rustix::fs::renameat(&self.work, &*file, &self.packs, &*file)?;
        }
        rustix::fs::fsync(&self.packs)?;
        unlink(&self.work, &note)
    }

    /// Packs that may go into another one, the smallest first. Those with a mark of git that they
    /// are kept stay, and so do all while git has one index for several.
    pub(super) fn packs(&self) -> io::Result<Vec<Pack>> {
        let names = names(&self.packs)?;
        let has = |name: &str| names.iter().any(|other| other == name);
        if has("multi-pack-index") {
            return Ok(Vec::new());
        }
        let mut packs = Vec::new();
        for file in &names {
            let name = file.strip_prefix("pack-");
            let Some(name) = name.and_then(|name| name.strip_suffix(".idx")) else {
                continue;
            };
            let is_kept = ["keep", "promisor"]
                .iter()
                .any(|mark| has(&file_name(name, mark)));
            if is_kept || !has(&file_name(name, "pack")) {
                continue;
            }
            let header = content(&self.packs, file, pack_index::HEADER_BYTES)?;
            if let Ok(objects) = pack_index::count(&header) {
                packs.push(Pack {
                    name: name.to_owned(),
                    objects,
                });
            }
        }
        packs.sort_by_key(|pack| pack.objects);
        Ok(packs)
    }

    /// The objects of a pack.
    pub(super) fn pack_ids(&self, name: &str) -> io::Result<Vec<Oid>> {
        pack_index::ids(&content(&self.packs, &file_name(name, "idx"), usize::MAX)?)
    }

    /// Removes a pack whose objects another one has.
    pub(super) fn remove_pack(&self, name: &str) -> io::Result<()> {
        for part in PARTS {
            unlink(&self.packs, &file_name(name, part))?;
        }
        Ok(())
    }
}

/// The names of the directories that objects are in.
pub(super) fn directories() -> impl Iterator<Item = String> {
    (0..=u8::MAX).map(|number| format!("{number:02x}"))
}

fn file_name(pack: &str, part: &str) -> String {
    format!("pack-{pack}.{part}")
}

fn directory(above: impl AsFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(above, name, flags, Mode::empty())
}

fn made(above: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    match rustix::fs::mkdirat(above, name, Mode::from(0o755)) {
        Ok(()) | Err(Errno::EXIST) => directory(above, name),
        Err(error) => Err(error),
    }
}

fn names(of: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for item in Dir::read_from(of)? {
        let name = item?.file_name().to_string_lossy().into_owned();
        if name != "." && name != ".." {
            names.push(name);
        }
    }
    Ok(names)
}

fn exists(directory: &OwnedFd, name: &str) -> io::Result<bool> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn unlink(directory: &OwnedFd, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn content(directory: &OwnedFd, name: &str, most: usize) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    let mut bytes = Vec::new();
    File::from(file).take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
