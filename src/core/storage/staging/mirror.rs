//! A copy of a directory that is made while others write there, and follows what they do.
//!
//! It may lie on another file system. Each pass takes over what changed since the last one; what one makes
//! while nobody writes is the directory as it is. Nothing is left out but what has no content: sockets,
//! pipes and devices.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::time::SystemTime;

use rustix::fs::{
    AtFlags, Mode, OFlags, SeekFrom, Stat, Timespec, Timestamps, UTIME_OMIT, XattrFlags,
};
use rustix::io::Errno;

use super::remove::remove_tree;
use super::{StagedDirectory, Staging};
use crate::handle::open_raw;
use crate::kind::kind_of;
use crate::rights;
use crate::snapshot::join;
use crate::walk::each;
use crate::{DiskError, Kind, Root, Stamp};
use fileshed_types::zone::ZonePath;

/// A file that changed no longer ago than this may change once more and look the same, because clocks of
/// file systems move in steps, and are not this machine's.
const SETTLED_SECONDS: i64 = 10;

/// Bytes of the names and of one value of extended attributes.
const ATTRIBUTES_MAX: usize = 64 * 1024;

/// A private copy, and what is known of its files.
#[derive(Debug)]
pub struct Mirror {
    from: Root,
    copy: StagedDirectory,
    staging: Staging,
    /// By their paths, the states of the files that were copied, and whether these tell every change.
    known: HashMap<Box<[u8]>, (Stamp, bool)>,
}

/// What one pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirrorPass {
    /// Entries that came, changed or went.
    pub changes: u64,
    /// Bytes that were copied.
    pub bytes: u64,
    /// Entries that have no content, and were left out.
    pub skipped: u64,
}

/// One pass.
struct Passing<'a> {
    mirror: &'a mut Mirror,
    /// Whether nobody writes.
    is_last: bool,
    now: i64,
    done: MirrorPass,
    /// Files with several names, by their inodes: the first of these and its copy's inode.
    linked: HashMap<u64, (CString, u64)>,
    /// Directories with their states, those above before those below.
    directories: Vec<(CString, Stat)>,
}

/// Names of a directory with what they stand for, in an order that is the same in each pass.
type DirectoryNames = BTreeMap<CString, Stat>;

impl Mirror {
    /// Begins an empty copy of `from`.
    pub fn begin(from: &Root, staging: &Staging) -> Result<Self, DiskError> {
        Ok(Self {
            from: from.try_clone()?,
            copy: staging.directory()?,
            staging: staging.try_clone()?,
            known: HashMap::new(),
        })
    }

    /// Takes over what changed since the last pass. `is_last` says that nobody writes meanwhile. What has
    /// one of these names directly below the root is left out.
    pub fn pass(&mut self, is_last: bool, left_out: &[&str]) -> Result<MirrorPass, DiskError> {
        let mut passing = Passing {
            mirror: self,
            is_last,
            now: SystemTime::UNIX_EPOCH
                .elapsed()
                .map_or(0, |now| now.as_secs() as i64),
            done: MirrorPass::default(),
            linked: HashMap::new(),
            directories: Vec::new(),
        };
        let mut pending = vec![CString::default()];
        while let Some(path) = pending.pop() {
            let skip = |name: &CStr| {
                let is_top = path.is_empty();
                is_top && left_out.iter().any(|out| out.as_bytes() == name.to_bytes())
            };
            passing.directory(&path, skip, &mut pending)?;
        }
        passing.finish()
    }

    /// The copy, to be installed.
    #[must_use]
    pub fn into_copy(self) -> StagedDirectory {
        self.copy
    }
}

impl Passing<'_> {
    fn directory(
        &mut self,
        path: &CStr,
        skip: impl Fn(&CStr) -> bool,
        pending: &mut Vec<CString>,
    ) -> Result<(), DiskError> {
        let from = match open(self.mirror.from.handle(), path) {
            // Gone since it was seen: the next pass sees that.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !path.is_empty() => {
                self.done.changes += 1;
                return Ok(());
            }
            opened => opened.map_err(fail)?,
        };
        let to = open(self.mirror.copy.root.handle(), path).map_err(fail)?;
        let mut entries = names(&from)?;
        entries.retain(|name, _| !skip(name));
        let there = names(&to)?;
        for (name, stat) in &there {
            let now = entries.get(name).map(kind_of);
            if now != Some(kind_of(stat)) {
                self.remove(&to, name)?;
            }
        }
        for (name, stat) in entries {
            let inside = below(path, &name);
            let copied = there.get(&name);
            let copied = copied.filter(|copied| kind_of(copied) == kind_of(&stat));
            match kind_of(&stat) {
                Kind::Directory => {
                    if copied.is_none() {
                        rustix::fs::mkdirat(&to, &*name, Mode::RWXU).map_err(fail)?;
                        self.done.changes += 1;
                    }
                    pending.push(inside);
                }
                Kind::File => self.file((&from, &to), (&name, inside), &stat, copied)?,
                Kind::Symlink => self.link((&from, &to), &name, copied.is_some())?,
                Kind::Special => self.done.skipped += 1,
            }
        }
        let stat = rustix::fs::fstat(&from).map_err(fail)?;
        self.directories.push((path.to_owned(), stat));
        Ok(())
    }

    /// Removes what the copy has too much: whole directories go through a name of their own.
    fn remove(&mut self, from: &OwnedFd, name: &CStr) -> Result<(), DiskError> {
        let staging = &self.mirror.staging;
        let fresh = staging.fresh_name();
        rustix::fs::renameat(from, name, &staging.directory, &*fresh).map_err(fail)?;
        remove_tree(&staging.directory, &fresh)?;
        self.done.changes += 1;
        Ok(())
    }

    fn file(
        &mut self,
        (from, to): (&OwnedFd, &OwnedFd),
        (name, path): (&CStr, CString),
        stat: &Stat,
        copied: Option<&Stat>,
    ) -> Result<(), DiskError> {
        let is_linked = stat.st_nlink > 1;
        if is_linked && let Some((first, inode)) = self.linked.get(&stat.st_ino) {
            if copied.is_some_and(|copied| copied.st_ino == *inode) {
                return Ok(());
            }
            if copied.is_some() {
                rustix::fs::unlinkat(to, name, AtFlags::empty()).map_err(fail)?;
            }
            let root = self.mirror.copy.root.handle();
            rustix::fs::linkat(root, &**first, to, name, AtFlags::empty()).map_err(fail)?;
            self.done.changes += 1;
            return Ok(());
        }
        let known = self.mirror.known.get(path.to_bytes());
        let is_same = known.is_some_and(|(stamp, tells)| *tells && *stamp == Stamp::of(stat));
        let inode = match copied.filter(|_| is_same) {
            Some(copied) => copied.st_ino,
            None => match self.copy((from, to), name, &path, copied.is_some())? {
                Some(inode) => inode,
                None => return Ok(()),
            },
        };
        if is_linked {
            self.linked.insert(stat.st_ino, (path, inode));
        }
        Ok(())
    }

    /// Copies a file, whatever the copy has of it; the inode of that. Nothing where it is gone.
    fn copy(
        &mut self,
        (from, to): (&OwnedFd, &OwnedFd),
        name: &CStr,
        path: &CStr,
        is_there: bool,
    ) -> Result<Option<u64>, DiskError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(from, name, flags, Mode::empty());
        let opened = open().or_else(|error| match error {
            Errno::ACCESS if rights::give(from, name, rights::READ) => open(),
            error => Err(error),
        });
        self.done.changes += 1;
        let source = match opened {
            Ok(source) => File::from(source),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        // Before it is read: what is written meanwhile shows afterwards.
        let stat = rustix::fs::fstat(&source).map_err(fail)?;
        if kind_of(&stat) != Kind::File {
            return Ok(None);
        }
        if is_there {
            rustix::fs::unlinkat(to, name, AtFlags::empty()).map_err(fail)?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let copy = rustix::fs::openat(to, name, flags, Mode::RUSR | Mode::WUSR).map_err(fail)?;
        let copy = File::from(copy);
        self.done.bytes += copy_content(&source, &copy, &stat)
            .map_err(|error| DiskError::of("copy", &ZonePath::root(), error))?;
        copy_state(&source, &copy, &stat).map_err(fail)?;
        let settles = stat.st_ctime.saturating_add(SETTLED_SECONDS);
        let tells = self.is_last || settles < self.now;
        let state = (Stamp::of(&stat), tells);
        self.mirror.known.insert(path.to_bytes().into(), state);
        Ok(Some(rustix::fs::fstat(&copy).map_err(fail)?.st_ino))
    }

    fn link(
        &mut self,
        (from, to): (&OwnedFd, &OwnedFd),
        name: &CStr,
        is_there: bool,
    ) -> Result<(), DiskError> {
        let target = match rustix::fs::readlinkat(from, name, Vec::new()) {
            Ok(target) => target,
            // Gone, or something else by now.
            Err(Errno::NOENT | Errno::INVAL) => return Ok(()),
            Err(error) => return Err(fail(error)),
        };
        if is_there {
            let copied = rustix::fs::readlinkat(to, name, Vec::new()).map_err(fail)?;
            if copied == target {
                return Ok(());
            }
            rustix::fs::unlinkat(to, name, AtFlags::empty()).map_err(fail)?;
        }
        rustix::fs::symlinkat(&*target, to, name).map_err(fail)?;
        self.done.changes += 1;
        Ok(())
    }

    /// Gives the directories their rights and times, which what came into them changed: those below
    /// first.
    fn finish(self) -> Result<MirrorPass, DiskError> {
        for (path, stat) in self.directories.iter().rev() {
            let root = self.mirror.copy.root.handle();
            let to = match open(root, path) {
                Ok(to) => to,
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(fail(error)),
            };
            let mode = Mode::from(stat.st_mode & 0o7777 | rights::DIRECTORY);
            rustix::fs::fchmod(&to, mode).map_err(fail)?;
            rustix::fs::futimens(&to, &times(stat)).map_err(fail)?;
        }
        Ok(self.done)
    }
}

fn names(directory: &OwnedFd) -> Result<DirectoryNames, DiskError> {
    let mut names = DirectoryNames::new();
    each(directory, &ZonePath::root(), |name, stat| {
        names.insert(name.to_owned(), stat);
    })?;
    Ok(names)
}

fn open(root: impl AsFd, path: &CStr) -> Result<OwnedFd, Errno> {
    let path = if path.is_empty() { c"." } else { path };
    open_raw(root.as_fd(), path)
}

fn below(above: &CStr, name: &CStr) -> CString {
    // Neither has a NUL.
    CString::new(join(above.to_bytes(), name.to_bytes())).unwrap_or_default()
}

/// Copies what a file holds, and no holes; how many bytes.
fn copy_content(from: &File, to: &File, stat: &Stat) -> io::Result<u64> {
    let (mut reader, mut writer) = (from, to);
    let size = stat.st_size as u64;
    if stat.st_blocks as u64 * 512 >= size {
        return io::copy(&mut reader, &mut writer);
    }
    let (mut at, mut copied) = (0, 0);
    loop {
        let begin = match rustix::fs::seek(from, SeekFrom::Data(at)) {
            Ok(begin) => begin,
            // There is none any more.
            Err(Errno::NXIO) => break,
            Err(error) => return Err(error.into()),
        };
        at = rustix::fs::seek(from, SeekFrom::Hole(begin))?;
        for file in [from, to] {
            rustix::fs::seek(file, SeekFrom::Start(begin))?;
        }
        copied += io::copy(&mut reader.take(at - begin), &mut writer)?;
    }
    let written = to.metadata()?.len();
    to.set_len(written.max(size))?;
    Ok(copied)
}

/// Gives a copy the rights, the time and the extended attributes of its file, as far as the file system
/// has those.
fn copy_state(from: &File, to: &File, stat: &Stat) -> Result<(), Errno> {
    copy_attributes(from, to)?;
    rustix::fs::fchmod(to, Mode::from(stat.st_mode & 0o7777))?;
    rustix::fs::futimens(to, &times(stat))
}

fn copy_attributes(from: &File, to: &File) -> Result<(), Errno> {
    let mut names = vec![0; ATTRIBUTES_MAX];
    let length = match rustix::fs::flistxattr(from, &mut names) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut value = Vec::new();
    for name in names[..length].split(|byte| *byte == 0) {
        if !name.starts_with(b"user.") {
            continue;
        }
        value.resize(ATTRIBUTES_MAX, 0);
        let length = match rustix::fs::fgetxattr(from, name, value.as_mut_slice()) {
            Ok(length) => length,
            Err(Errno::NODATA) => continue,
            Err(error) => return Err(error),
        };
        match rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty()) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn times(stat: &Stat) -> Timestamps {
    Timestamps {
        last_access: Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_OMIT,
        },
        last_modification: Timespec {
            tv_sec: stat.st_mtime,
            tv_nsec: stat.st_mtime_nsec as i64,
        },
    }
}

fn fail(error: Errno) -> DiskError {
    DiskError::of("copy", &ZonePath::root(), error)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
    use std::path::{Path, PathBuf};

    use super::*;

    struct Stage {
        directory: tempfile::TempDir,
        from: Root,
        staging: Staging,
    }

    impl Stage {
        fn new() -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let root = |name: &str| Root::open_ambient(&directory.path().join(name)).expect("root");
            Self {
                from: root("from"),
                staging: Staging::new(root("staging"), "one"),
                directory,
            }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.directory.path().join("from").join(name)
        }
    }

    fn copy(mirror: &Mirror) -> &Path {
        mirror.copy.root.location()
    }

    #[test]
    fn each_pass_takes_over_what_changed() {
        let stage = Stage::new();
        std::fs::create_dir_all(stage.at("a/b")).expect("made");
        std::fs::write(stage.at("a/b/one"), "1").expect("written");
        std::fs::write(stage.at("two"), "22").expect("written");
        std::fs::hard_link(stage.at("two"), stage.at("a/also")).expect("linked");
        symlink("a/b", stage.at("link")).expect("linked");
        std::fs::set_permissions(stage.at("two"), PermissionsExt::from_mode(0o751)).expect("set");
        std::fs::create_dir(stage.at("staging")).expect("made");
        let hole = File::create(stage.at("hole")).expect("made");
        hole.set_len(1 << 30).expect("grown");
        let mut mirror = Mirror::begin(&stage.from, &stage.staging).expect("begun");
        mirror.pass(false, &["staging"]).expect("a pass");
        let read = |mirror: &Mirror, name: &str| std::fs::read_to_string(copy(mirror).join(name));
        assert_eq!(read(&mirror, "a/b/one").expect("there"), "1");
        let looks = |path: PathBuf| {
            let found = std::fs::metadata(path).expect("there");
            (found.mode(), found.mtime(), found.mtime_nsec(), found.len())
        };
        for name in ["two", "a", "hole"] {
            assert_eq!(
                looks(copy(&mirror).join(name)),
                looks(stage.at(name)),
                "{name}"
            );
        }
        let inode = |name: &str| {
            std::fs::metadata(copy(&mirror).join(name))
                .expect("there")
                .ino()
        };
        assert_eq!(inode("two"), inode("a/also"));
        let blocks = std::fs::metadata(copy(&mirror).join("hole")).expect("there");
        assert!(blocks.blocks() < 1000, "{blocks:?}");
        assert_eq!(
            std::fs::read_link(copy(&mirror).join("link")).expect("a link"),
            Path::new("a/b")
        );
        assert!(!copy(&mirror).join("staging").exists());

        std::fs::remove_dir_all(stage.at("a/b")).expect("removed");
        std::fs::write(stage.at("a/b"), "a file now").expect("written");
        std::fs::write(stage.at("two"), "33").expect("written");
        std::fs::remove_file(stage.at("link")).expect("removed");
        mirror.pass(true, &["staging"]).expect("a pass");
        assert_eq!(read(&mirror, "a/b").expect("there"), "a file now");
        assert_eq!(read(&mirror, "a/also").expect("there"), "33");
        assert!(!copy(&mirror).join("link").exists());
        let nothing = mirror.pass(true, &["staging"]).expect("a pass");
        assert_eq!(nothing, MirrorPass::default());
        drop(mirror);
        let left = std::fs::read_dir(stage.directory.path().join("staging")).expect("there");
        assert_eq!(left.count(), 0);
    }
}
