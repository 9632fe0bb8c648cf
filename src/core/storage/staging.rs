//! Effects, each of them one rename, each of them undone unless it is confirmed.
//!
//! New content is written beside the zone and exchanged with the entry that it replaces; a removed entry
//! moves out of the zone whole. So a change is there or not there, and until it is confirmed the old
//! state still exists and can be put back.

mod append;
mod copy;
mod directory;
mod effect;
mod journal;
mod remove;

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use super::entry::{Place, file_mode, regular_file};
use super::handle::{DIRECTORY, create_at, if_there, open_at, path_of, resolve};
use super::{DiskError, Entry, Kind, Root, Stamp, Target};
use fileshed_types::zone::ZonePath;

pub use append::Appendable;
pub use directory::{Merge, ReplacedFile, StagedDirectory, StagedEntry};
pub use effect::{Installed, KeepAs, Removed, Renamed};
pub use journal::{Appended, Journal};
use remove::StagedName;
pub(super) use remove::remove_tree;
pub use remove::{Removals, Remover, StagedName as Displaced, give_way};

/// Ending of the names of journals.
const ENDING: &str = ".journal";

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Makes so many bytes of space on a full disk; `false` if there are none to make.
#[derive(Clone)]
pub struct Relief(Arc<MakeRoom>);

/// Makes room for so many bytes; returns `true` if it did.
type MakeRoom = dyn Fn(&Staging, u64) -> bool + Send + Sync;

impl Relief {
    /// Creates a relief that frees space by calling `make`.
    pub fn new(make: impl Fn(&Staging, u64) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }
}

impl std::fmt::Debug for Relief {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Relief").finish_non_exhaustive()
    }
}

/// The directory beside the zones of one tenant where content waits to be moved in or removed.
#[derive(Clone, Debug)]
pub struct Staging {
    directory: Arc<OwnedFd>,
    location: PathBuf,
    /// Names begin with it, so that what a dead process left can be told apart.
    owner: String,
    removals: Removals,
    relief: Option<Relief>,
}

impl Staging {
    /// Creates staging in `root`, for the process called `owner`.
    #[must_use]
    pub fn new(root: Root, owner: &str) -> Self {
        Self {
            location: root.location().to_owned(),
            directory: Arc::new(root.into_handle()),
            owner: owner.to_owned(),
            removals: Removals::default(),
            relief: None,
        }
    }

    /// Returns the same staging, which calls `relief` to free space on a full disk, and goes on.
    #[must_use]
    pub fn relieved_by(mut self, relief: Relief) -> Self {
        self.relief = Some(relief);
        self
    }

    /// Returns the same staging, but with removal at once and without relief.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self {
            removals: Removals::default(),
            relief: None,
            ..self.clone()
        }
    }

    /// Makes so many bytes of space on a full disk; `false` if there are none to make.
    #[must_use]
    pub fn relieve(&self, bytes: u64) -> bool {
        let relief = self.relief.as_ref();
        relief.is_some_and(|relief| (relief.0)(self, bytes))
    }

    /// Does something that a full disk may stop, which needs so many bytes; again once there is space.
    fn with_space<T>(
        &self,
        bytes: u64,
        mut act: impl FnMut() -> Result<T, DiskError>,
    ) -> Result<T, DiskError> {
        loop {
            match act() {
                Err(DiskError::Full) if self.relieve(bytes) => {}
                done => return done,
            }
        }
    }

    /// Writes all of `content` to a file that is staged here, on a full disk once there is space.
    pub fn write_all(&self, file: &mut File, mut content: &[u8]) -> std::io::Result<()> {
        while !content.is_empty() {
            match file.write(content) {
                Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
                Ok(count) => content = content.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if is_full(&error) && self.relieve(content.len() as u64) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Copies the rest of `source` to a new file that is staged here, on a full disk once there is
    /// space.
    fn copy_all(&self, source: &mut File, file: &mut File) -> std::io::Result<()> {
        let start = source.stream_position()?;
        loop {
            match std::io::copy(source, file) {
                Err(error) if is_full(&error) => {
                    let size = source.metadata()?.len().saturating_sub(start);
                    file.set_len(0)?;
                    if !self.relieve(size) {
                        return Err(error);
                    }
                    file.rewind()?;
                    source.seek(SeekFrom::Start(start))?;
                }
                copied => return copied.map(drop),
            }
        }
    }

    /// Returns the same staging, which removes large directories after the response.
    #[must_use]
    pub fn removing_behind(mut self, removals: Removals) -> Self {
        self.removals = removals;
        self
    }

    /// Returns a name here that nothing has.
    fn fresh_name(&self) -> String {
        format!("{}-{}", self.owner, COUNTER.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the place of a name here.
    fn place(&self, name: String) -> Place {
        Place::new(Arc::clone(&self.directory), name, ZonePath::root())
    }

    /// Creates a private, empty file.
    pub fn create(&self) -> Result<Staged, DiskError> {
        self.create_as(self.fresh_name())
    }

    /// Creates an empty file in a private directory: what it replaces is removed with the directory.
    pub fn create_in(&self, private: &PrivateDirectory) -> Result<Staged, DiskError> {
        self.create_as(private.path_of(&self.fresh_name()))
    }

    fn create_as(&self, name: String) -> Result<Staged, DiskError> {
        let file = self.with_space(0, || {
            create_at(&self.directory, &*name, file_mode(false)).map_err(DiskError::server)
        });
        Ok(self.staged(file?, name))
    }

    /// Returns the open file that is staged under a name.
    fn staged(&self, file: File, name: String) -> Staged {
        Staged {
            file,
            name: StagedName::new(self.place(name)),
            staging: self.clone(),
            mode: None,
            flushed: false,
        }
    }

    /// Stages a file with this content.
    pub fn write(&self, content: &[u8]) -> Result<Staged, DiskError> {
        let mut staged = self.create()?;
        let written = self.write_all(&mut staged.file, content);
        written.map_err(|error| DiskError::of("write", &ZonePath::root(), error))?;
        Ok(staged)
    }

    /// Stages a file with the content of `source` from its offset on; shares the blocks if the file
    /// system can. The source is closed then, because an NFS client would keep a replaced file under
    /// another name in its directory while it is open.
    pub fn copy(&self, mut source: File) -> Result<Staged, DiskError> {
        let mut staged = self.create()?;
        let copied = self.copy_all(&mut source, &mut staged.file);
        copied.map_err(|error| DiskError::of("copy", &ZonePath::root(), error))?;
        Ok(staged)
    }

    /// Stages a copy of a file with its permissions and its time of change; shares the blocks if the
    /// file system can. `None` if it cannot, and the file has more bytes than `most`.
    pub fn copy_of(&self, entry: &Entry, most: u64) -> Result<Option<Staged>, DiskError> {
        let (mut source, mut staged) = (entry.open()?, self.create()?);
        let fail = |error: Errno| DiskError::of("copy", entry.path(), error);
        if rustix::fs::ioctl_ficlone(&staged.file, &source).is_err() {
            if entry.size() > most {
                return Ok(None);
            }
            let copied = std::io::copy(&mut source, &mut staged.file);
            copied.map_err(|error| DiskError::of("copy", entry.path(), error))?;
        }
        let stat = rustix::fs::fstat(&source).map_err(fail)?;
        set_modified(&staged.file, (stat.st_mtime, stat.st_mtime_nsec as i64)).map_err(fail)?;
        rustix::fs::fchmod(&staged.file, Mode::from(entry.mode())).map_err(fail)?;
        staged.inherit(entry)?;
        Ok(Some(staged))
    }

    /// Creates an empty directory for one command, gone with the handle.
    pub fn private_directory(&self) -> Result<PrivateDirectory, DiskError> {
        let name = self.fresh_name();
        let made = rustix::fs::mkdirat(&self.directory, &*name, Mode::RWXU);
        self.private(name, made)
    }

    /// Takes the empty directory `name` of `from` for that.
    pub(super) fn adopt(&self, from: &Root, name: &str) -> Result<PrivateDirectory, DiskError> {
        let fresh = self.fresh_name();
        let moved = rustix::fs::renameat(from.handle(), name, &self.directory, &*fresh);
        self.private(fresh, moved)
    }

    fn private(
        &self,
        name: String,
        made: Result<(), Errno>,
    ) -> Result<PrivateDirectory, DiskError> {
        made.map_err(|error| DiskError::of("stage", &ZonePath::root(), error))?;
        Ok(PrivateDirectory {
            location: self.location.join(&name),
            name: StagedName::new(self.place(name)),
        })
    }

    /// Stages a regular file that a child made in its private directory.
    pub fn take(&self, private: &PrivateDirectory, name: &str) -> Result<Staged, DiskError> {
        let path = ZonePath::root();
        let fail = |error: Errno| DiskError::of("stage", &path, error);
        let (parent, from) = (&private.name.place().parent, private.path_of(name));
        let file = open_at(parent, &*from, OFlags::RDWR | OFlags::NONBLOCK);
        let file = regular_file(file.map_err(fail)?, &path)?;
        let name = self.fresh_name();
        rustix::fs::renameat(parent, &*from, &self.directory, &*name).map_err(fail)?;
        Ok(self.staged(file, name))
    }

    /// Opens the directory that holds staging and the zones.
    pub fn home(&self) -> Result<Root, DiskError> {
        let home = open_at(&self.directory, "..", DIRECTORY).map_err(DiskError::server)?;
        let location = self.location.parent().unwrap_or(&self.location);
        Ok(Root::of(home, location.to_owned()))
    }

    /// Returns the path of a place, below the directory that holds staging.
    fn below_home(&self, place: &Place) -> Result<String, DiskError> {
        place.below(&self.home_path()?)
    }

    /// Returns the path under which the kernel knows the directory that holds staging.
    fn home_path(&self) -> Result<PathBuf, DiskError> {
        let mut path = path_of(&self.directory).map_err(DiskError::server)?;
        path.pop();
        Ok(path)
    }

    /// Removes the remains of dead processes: every name that does not begin with one of `living`.
    /// `living` is called after the names were read, so that a process that stages later is among them.
    /// If there are journals to roll back, nothing is removed, because they may need the rest.
    pub fn sweep(
        &self,
        living: impl FnOnce() -> Result<Vec<String>, DiskError>,
    ) -> Result<(), DiskError> {
        let left = self.left_behind(living)?;
        if !left.iter().any(|name| name.ends_with(ENDING)) {
            // A failure to remove one must not keep the others.
            let removed = left.iter().map(|name| remove_tree(&self.directory, name));
            return removed.fold(Ok(()), Result::and);
        }
        Ok(())
    }

    /// Returns the journals of processes that are gone.
    pub fn journals(
        &self,
        living: impl FnOnce() -> Result<Vec<String>, DiskError>,
    ) -> Result<Vec<String>, DiskError> {
        let mut left = self.left_behind(living)?;
        left.retain(|name| name.ends_with(ENDING));
        Ok(left)
    }

    fn left_behind(
        &self,
        living: impl FnOnce() -> Result<Vec<String>, DiskError>,
    ) -> Result<Vec<String>, DiskError> {
        let path = ZonePath::root();
        let listing = rustix::fs::Dir::read_from(&self.directory)
            .map_err(|error| DiskError::of("list", &path, error))?;
        let mut names: Vec<String> = listing
            .flatten()
            .map(|item| item.file_name().to_string_lossy().into_owned())
            .filter(|name| name.contains('-'))
            .collect();
        if !names.is_empty() {
            let living: Vec<String> = living()?.iter().map(|name| format!("{name}-")).collect();
            names.retain(|name| !living.iter().any(|owner| name.starts_with(owner)));
        }
        Ok(names)
    }
}

/// A directory for one command. When it is dropped, it is removed with its content.
#[derive(Debug)]
pub struct PrivateDirectory {
    name: StagedName,
    location: PathBuf,
}

impl PrivateDirectory {
    /// Returns its path on disk.
    #[must_use]
    pub fn location(&self) -> &Path {
        &self.location
    }

    /// Removes it with its content: a little at once, the rest after the response.
    pub fn remove(self, staging: &Staging) -> Result<(), DiskError> {
        let removed = staging.removals.remove(self.name.place());
        self.name.leave();
        removed
    }

    fn root(&self) -> Result<Root, DiskError> {
        let at = self.name.place();
        let (parent, no_links) = (at.parent.as_fd(), ResolveFlags::NO_SYMLINKS);
        let directory =
            resolve(parent, &*at.name, DIRECTORY, no_links).map_err(DiskError::server)?;
        Ok(Root::of(directory, self.location.clone()))
    }

    /// Returns the bytes of everything in it.
    pub fn measure(&self) -> Result<u64, DiskError> {
        Ok(self.root()?.measure()?.bytes)
    }

    /// Replaces the file `name` of a directory in it, and sets its time if one is given. The command may
    /// be running, and may have put anything there.
    pub fn replace(
        &self,
        (directory, name): (&str, &str),
        content: &mut impl std::io::Read,
        modified: Option<SystemTime>,
    ) -> Result<(), DiskError> {
        let (directory, beside) = (self.root()?.subdirectory(directory)?, format!("{name}.new"));
        let at = directory.handle();
        let fail = |error: Errno| DiskError::server(error);
        if_there(rustix::fs::unlinkat(at, &*beside, AtFlags::empty())).map_err(fail)?;
        let mut file = create_at(at, &*beside, Mode::RUSR | Mode::WUSR).map_err(fail)?;
        std::io::copy(content, &mut file).map_err(DiskError::server)?;
        if let Some(modified) = modified {
            file.set_modified(modified).map_err(DiskError::server)?;
        }
        rustix::fs::renameat(at, &*beside, at, name).map_err(fail)
    }

    /// Creates a symbolic link to `target` in a directory in it.
    pub fn link(&self, (directory, name): (&str, &str), target: &Path) -> Result<(), DiskError> {
        let directory = self.root()?.subdirectory(directory)?;
        rustix::fs::symlinkat(target, directory.handle(), name).map_err(DiskError::server)
    }

    /// Creates a file with this content in it.
    pub fn furnish(&self, name: &str, content: &str) -> Result<(), DiskError> {
        self.receive(name, &mut content.as_bytes())
    }

    /// Creates a file with the content of `source` in it.
    pub fn receive(&self, name: &str, source: &mut impl std::io::Read) -> Result<(), DiskError> {
        let (at, mode) = (self.name.place(), Mode::RUSR | Mode::WUSR);
        let mut file =
            create_at(&at.parent, self.path_of(name), mode).map_err(DiskError::server)?;
        std::io::copy(source, &mut file).map_err(DiskError::server)?;
        Ok(())
    }

    /// Returns the path of a file in it, from the directory of staging.
    fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.name.place().name)
    }
}

/// Sets when the content of a file was written, in seconds and nanoseconds since 1970.
fn set_modified(file: &File, (second, rest): (i64, i64)) -> Result<(), Errno> {
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    let times = Timestamps {
        last_access: time(0, UTIME_OMIT),
        last_modification: time(second, rest),
    };
    rustix::fs::futimens(file, &times)
}

/// A file that is not visible yet. When it is dropped, it is removed.
#[derive(Debug)]
pub struct Staged {
    file: File,
    staging: Staging,
    name: StagedName,
    /// The permission bits that it gets, whatever it replaces.
    mode: Option<u32>,
    /// `true` if its content is on disk.
    flushed: bool,
}

impl Staged {
    /// Returns the open file.
    pub fn file(&mut self) -> &mut File {
        self.flushed = false;
        &mut self.file
    }

    /// Flushes the content to disk, so that installing it does not wait for the disk. Callers that flush
    /// at the same time share the work.
    pub fn flush(&mut self) -> Result<(), DiskError> {
        if !self.flushed {
            rustix::fs::fdatasync(&self.file)
                .map_err(|error| DiskError::of("write", &ZonePath::root(), error))?;
            self.flushed = true;
        }
        Ok(())
    }

    /// Writes all of `content`, on a full disk once there is space.
    pub fn write_all(&mut self, content: &[u8]) -> std::io::Result<()> {
        self.flushed = false;
        self.staging.write_all(&mut self.file, content)
    }

    /// Returns its path on disk, for a child process to read.
    #[must_use]
    pub fn location(&self) -> PathBuf {
        self.staging.location.join(&self.name.place().name)
    }

    /// Returns `true` if it begins with these bytes.
    pub fn begins_with(&self, bytes: &[u8]) -> Result<bool, DiskError> {
        super::entry::begins_with(&self.file, bytes, &ZonePath::root())
    }

    /// Returns the number of bytes written so far.
    pub fn size(&self) -> Result<u64, DiskError> {
        Ok(self.stamp()?.size())
    }

    /// Returns its state.
    pub fn stamp(&self) -> Result<Stamp, DiskError> {
        Stamp::of_file(&self.file)
    }

    /// Gives it these permission bits, whatever it replaces.
    pub fn set_mode(&mut self, mode: u32) {
        self.mode = Some(mode);
    }

    /// Sets when its content was written, in nanoseconds since 1970.
    pub fn set_modified(&mut self, nanoseconds: i64) -> std::io::Result<()> {
        let second = 1_000_000_000;
        let time = (
            nanoseconds.div_euclid(second),
            nanoseconds.rem_euclid(second),
        );
        Ok(set_modified(&self.file, time)?)
    }

    /// Gives the file its name in the zone. Its content is on disk before the name is, so that a
    /// power cut cannot leave a torn or empty file.
    pub fn install(self, target: Target) -> Result<Installed, DiskError> {
        self.install_over(target, None)
    }

    /// Does the same; the entry that had the name gets the name of `keep`.
    pub(super) fn install_over(
        mut self,
        target: Target,
        keep: Option<KeepAs<'_>>,
    ) -> Result<Installed, DiskError> {
        if let Some(entry) = target.entry().filter(|entry| entry.kind() == Kind::File) {
            let flushed = self.flushed;
            self.inherit(entry)?;
            self.flushed = flushed;
        }
        let fail = |error| DiskError::of("write", target.path(), error);
        // The server needs the owner's bits, too: it reads the file for history and for the next edit.
        let former = target.entry().map(|entry| entry.mode() | 0o600);
        if let Some(mode) = self.mode.or(former) {
            rustix::fs::fchmod(&self.file, Mode::from(mode)).map_err(fail)?;
        }
        if !self.flushed {
            rustix::fs::fdatasync(&self.file).map_err(fail)?;
        }
        Installed::new(&self.staging, self.name, target, keep)
    }
}

impl Staging {
    /// Flushes the contents of staged files to disk: those of several files at once.
    pub fn flush<'s>(&self, staged: impl Iterator<Item = &'s mut Staged>) -> Result<(), DiskError> {
        let mut staged: Vec<&mut Staged> = staged.collect();
        match staged.as_mut_slice() {
            [] => return Ok(()),
            [one] => return one.flush(),
            _ => {}
        }
        rustix::fs::syncfs(&self.directory).map_err(DiskError::server)?;
        for one in staged {
            one.flushed = true;
        }
        Ok(())
    }
}

fn is_full(error: &std::io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT))
}

fn report(undone: &Result<(), DiskError>) {
    if let Err(error) = undone {
        tracing::error!(%error, "a staged entry could not be restored or removed");
    }
}
