//! Effects, each of them one rename, each of them undone unless it is confirmed.
//!
//! New content is written beside the zone and exchanged with what it replaces; what is removed
//! moves out of the zone whole. So a change is there or not there, and until it is confirmed the
//! old state still exists and can be put back.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::entry::Place;
use super::root::{clone_handle, kind_of, stat_at};
use super::{DiskError, Entry, Kind, Root, Target, Vacancy};
use crate::zone::ZonePath;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// The directory beside the zones of one home where content waits to be moved in or removed.
#[derive(Debug)]
pub struct Staging {
    directory: OwnedFd,
    location: PathBuf,
    /// Names begin with it, so that what a dead process left can be told apart.
    owner: String,
}

impl Staging {
    pub(crate) fn new(root: &Root, owner: &str) -> Result<Self, DiskError> {
        Ok(Self {
            location: root.location().to_owned(),
            directory: root.try_clone()?.into_handle(),
            owner: owner.to_owned(),
        })
    }

    fn fresh_name(&self) -> String {
        format!("{}-{}", self.owner, COUNTER.fetch_add(1, Ordering::Relaxed))
    }

    /// A new, empty, private file.
    pub fn create(&self) -> Result<Staged, DiskError> {
        let name = self.fresh_name();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.directory, &*name, flags, Mode::from(0o644))
            .map_err(|error| DiskError::of("stage", &ZonePath::root(), error))?;
        Ok(Staged {
            file: File::from(file),
            location: self.location.join(&name),
            at: Place::new(clone_handle(&self.directory)?, name, ZonePath::root()),
            installed: false,
        })
    }

    /// A staged file with this content.
    pub fn write(&self, content: &[u8]) -> Result<Staged, DiskError> {
        let mut staged = self.create()?;
        staged
            .file
            .write_all(content)
            .map_err(|error| DiskError::of("write", &ZonePath::root(), error))?;
        Ok(staged)
    }

    /// A staged file with the content of `source`, from where it stands; shares the blocks where
    /// the file system can.
    pub fn copy(&self, source: &mut File) -> Result<Staged, DiskError> {
        let mut staged = self.create()?;
        std::io::copy(source, &mut staged.file)
            .map_err(|error| DiskError::of("copy", &ZonePath::root(), error))?;
        Ok(staged)
    }

    /// An empty directory of its own for one command, gone with the handle.
    pub(crate) fn private_directory(&self) -> Result<PrivateDirectory, DiskError> {
        let name = self.fresh_name();
        rustix::fs::mkdirat(&self.directory, &*name, Mode::RWXU)
            .map_err(|error| DiskError::of("stage", &ZonePath::root(), error))?;
        Ok(PrivateDirectory {
            at: Place::new(
                clone_handle(&self.directory)?,
                name.clone(),
                ZonePath::root(),
            ),
            location: self.location.join(name),
        })
    }

    /// A regular file that a child made in its private directory, staged.
    pub(crate) fn take(&self, private: &PrivateDirectory, name: &str) -> Result<Staged, DiskError> {
        let fail = |error: Errno| DiskError::of("stage", &ZonePath::root(), error);
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let from = format!("{}/{name}", private.at.name);
        let file = rustix::fs::openat(&private.at.parent, &*from, flags, Mode::empty());
        let file = file.map_err(fail)?;
        let kind = kind_of(&rustix::fs::fstat(&file).map_err(fail)?);
        if kind != Kind::File {
            return Err(DiskError::NotAFile {
                path: ZonePath::root(),
                found: kind.describe(),
            });
        }
        let name = self.fresh_name();
        rustix::fs::renameat(&private.at.parent, &*from, &self.directory, &*name).map_err(fail)?;
        Ok(Staged {
            file: File::from(file),
            location: self.location.join(&name),
            at: Place::new(clone_handle(&self.directory)?, name, ZonePath::root()),
            installed: false,
        })
    }

    /// Takes an entry out of its zone.
    pub(crate) fn remove(&self, entry: &Entry) -> Result<Removed, DiskError> {
        let from = Place::new(
            clone_handle(&entry.place().parent)?,
            entry.place().name.clone(),
            entry.path().clone(),
        );
        let to = Place::new(
            clone_handle(&self.directory)?,
            self.fresh_name(),
            ZonePath::root(),
        );
        move_place(&from, &to, RenameFlags::NOREPLACE, "remove")?;
        Ok(Removed {
            from,
            to,
            kept: false,
        })
    }

    /// Removes what processes left here that are gone: every name that does not begin with one of
    /// `living`, which is asked after the names were read: who stages later is among them.
    pub(crate) fn sweep(
        &self,
        living: impl FnOnce() -> Result<Vec<String>, DiskError>,
    ) -> Result<(), DiskError> {
        let path = ZonePath::root();
        let listing = rustix::fs::Dir::read_from(&self.directory)
            .map_err(|error| DiskError::of("list", &path, error))?;
        let names: Vec<String> = listing
            .flatten()
            .map(|item| item.file_name().to_string_lossy().into_owned())
            .filter(|name| name.contains('-'))
            .collect();
        if names.is_empty() {
            return Ok(());
        }
        let living = living()?;
        for name in names {
            if !living
                .iter()
                .any(|owner| name.starts_with(&format!("{owner}-")))
            {
                remove_tree(&self.directory, &name)?;
            }
        }
        Ok(())
    }
}

/// A directory for one command. Dropped, it is gone with everything in it.
#[derive(Debug)]
pub(crate) struct PrivateDirectory {
    at: Place,
    location: PathBuf,
}

impl PrivateDirectory {
    /// Where it is on disk.
    pub(crate) fn location(&self) -> &Path {
        &self.location
    }

    /// Puts a file of the server into it.
    pub(crate) fn furnish(&self, name: &str, content: &str) -> Result<(), DiskError> {
        self.receive(name, &mut content.as_bytes())
    }

    /// Puts a copy of what `source` gives into it.
    pub(crate) fn receive(
        &self,
        name: &str,
        source: &mut impl std::io::Read,
    ) -> Result<(), DiskError> {
        let fail = |error: std::io::Error| DiskError::server(error);
        let path = format!("{}/{name}", self.at.name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.at.parent, &*path, flags, Mode::from(0o600))
            .map_err(|error| fail(error.into()))?;
        std::io::copy(source, &mut File::from(file)).map_err(fail)?;
        Ok(())
    }
}

impl Drop for PrivateDirectory {
    fn drop(&mut self) {
        report(&remove_tree(&self.at.parent, &self.at.name));
    }
}

/// A file that nobody sees yet. Dropped, it is gone.
#[derive(Debug)]
pub struct Staged {
    file: File,
    location: PathBuf,
    at: Place,
    installed: bool,
}

impl Staged {
    /// The open file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Where it is on disk, for a child process to read.
    pub(crate) fn location(&self) -> &Path {
        &self.location
    }

    /// Bytes written so far.
    pub fn size(&self) -> Result<u64, DiskError> {
        Ok(self
            .file
            .metadata()
            .map_err(|error| DiskError::of("look at", &ZonePath::root(), error))?
            .len())
    }

    /// Gives the file its name in the zone. Its content is on disk before the name is, so that a
    /// power cut cannot leave a torn or empty file.
    pub(crate) fn install(mut self, target: Target) -> Result<Installed, DiskError> {
        let path = target.path().clone();
        let (to, made, replaces) = match target {
            Target::Entry(entry) => {
                rustix::fs::fchmod(&self.file, Mode::from(entry.mode()))
                    .map_err(|error| DiskError::of("write", &path, error))?;
                let place = entry.place();
                let to = Place::new(clone_handle(&place.parent)?, place.name.clone(), path);
                (to, Vec::new(), true)
            }
            Target::Vacancy(vacancy) => {
                let (to, made) = make_directories(vacancy)?;
                (to, made, false)
            }
        };
        let outcome = rustix::fs::fdatasync(&self.file)
            .map_err(|error| DiskError::of("write", &to.path, error))
            .and_then(|()| {
                let flags = if replaces {
                    RenameFlags::EXCHANGE
                } else {
                    RenameFlags::NOREPLACE
                };
                move_place(&self.at, &to, flags, "write")
            });
        if let Err(error) = outcome {
            remove_made(&made);
            return Err(error);
        }
        let old = Place::new(
            clone_handle(&self.at.parent)?,
            self.at.name.clone(),
            ZonePath::root(),
        );
        // A command that runs meanwhile may have put a directory there: it goes back whole.
        let found = old.stat()?.filter(|_| replaces);
        if found.is_some_and(|stat| kind_of(&stat) == Kind::Directory) {
            report(&move_place(&to, &old, RenameFlags::EXCHANGE, "undo"));
            return Err(DiskError::NotAFile {
                path: to.path.clone(),
                found: Kind::Directory.describe(),
            });
        }
        self.installed = true;
        Ok(Installed {
            at: to,
            old,
            replaced: replaces,
            made,
            kept: false,
        })
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.installed {
            let _gone = rustix::fs::unlinkat(&self.at.parent, &*self.at.name, AtFlags::empty());
        }
    }
}

/// A file that has its name, while the old one still exists. Dropped without
/// [`Installed::keep`], the old state comes back.
#[derive(Debug)]
pub(crate) struct Installed {
    at: Place,
    old: Place,
    replaced: bool,
    made: Vec<Place>,
    kept: bool,
}

impl Installed {
    /// Makes the change final.
    pub(crate) fn keep(mut self) {
        self.kept = true;
        if self.replaced {
            let _gone = rustix::fs::unlinkat(&self.old.parent, &*self.old.name, AtFlags::empty());
        }
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let flags = if self.replaced {
            RenameFlags::EXCHANGE
        } else {
            RenameFlags::NOREPLACE
        };
        let back = move_place(&self.at, &self.old, flags, "undo");
        report(&back);
        let _gone = rustix::fs::unlinkat(&self.old.parent, &*self.old.name, AtFlags::empty());
        remove_made(&self.made);
    }
}

/// Something that left its zone and still exists beside it.
#[derive(Debug)]
pub(crate) struct Removed {
    from: Place,
    to: Place,
    kept: bool,
}

impl Removed {
    /// Makes the removal final.
    pub(crate) fn keep(mut self) -> Result<(), DiskError> {
        self.kept = true;
        remove_tree(&self.to.parent, &self.to.name)
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        if !self.kept {
            report(&move_place(
                &self.to,
                &self.from,
                RenameFlags::NOREPLACE,
                "undo",
            ));
        }
    }
}

/// Something that moved inside its zone.
#[derive(Debug)]
pub(crate) struct Renamed {
    from: Place,
    to: Place,
    made: Vec<Place>,
    kept: bool,
}

impl Renamed {
    /// Moves `entry` to `vacancy`.
    pub(crate) fn new(entry: &Entry, vacancy: Vacancy) -> Result<Self, DiskError> {
        let place = entry.place();
        let from = Place::new(
            clone_handle(&place.parent)?,
            place.name.clone(),
            place.path.clone(),
        );
        let (to, made) = make_directories(vacancy)?;
        if let Err(error) = move_place(&from, &to, RenameFlags::NOREPLACE, "rename") {
            remove_made(&made);
            return Err(error);
        }
        Ok(Self {
            from,
            to,
            made,
            kept: false,
        })
    }

    /// Makes the move final.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Renamed {
    fn drop(&mut self) {
        if !self.kept {
            report(&move_place(
                &self.to,
                &self.from,
                RenameFlags::NOREPLACE,
                "undo",
            ));
            remove_made(&self.made);
        }
    }
}

fn move_place(
    from: &Place,
    to: &Place,
    flags: RenameFlags,
    action: &'static str,
) -> Result<(), DiskError> {
    rustix::fs::renameat_with(&from.parent, &*from.name, &to.parent, &*to.name, flags).map_err(
        |error| match error {
            Errno::INVAL => DiskError::IntoItself {
                path: from.path.clone(),
            },
            Errno::NOENT => DiskError::NotFound {
                path: from.path.clone(),
            },
            error => DiskError::of(action, &to.path, error),
        },
    )
}

/// Makes the directories that a vacancy lacks; gives the place and what was made, deepest last.
fn make_directories(vacancy: Vacancy) -> Result<(Place, Vec<Place>), DiskError> {
    let (mut place, missing) = vacancy.into_parts();
    let mut made = Vec::new();
    for name in missing {
        let result = rustix::fs::mkdirat(&place.parent, &*name, Mode::from(0o755));
        if !matches!(result, Ok(()) | Err(Errno::EXIST)) {
            remove_made(&made);
        }
        match result {
            Ok(()) => made.push(Place::new(
                clone_handle(&place.parent)?,
                name.clone(),
                ZonePath::root(),
            )),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(DiskError::of("create", &place.path, error)),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        place.parent = rustix::fs::openat(&place.parent, &*name, flags, Mode::empty())
            .map_err(|error| DiskError::of("create", &place.path, error))?;
    }
    Ok((place, made))
}

fn remove_made(made: &[Place]) {
    for place in made.iter().rev() {
        let _kept_when_used = rustix::fs::unlinkat(&place.parent, &*place.name, AtFlags::REMOVEDIR);
    }
}

fn report(undone: &Result<(), DiskError>) {
    if let Err(error) = undone {
        tracing::error!(%error, "something staged could not be put back or removed");
    }
}

/// A command may take rights on its own directories away; where that was the error, they are
/// given back.
fn grant(error: Errno, parent: &OwnedFd, name: impl rustix::path::Arg) -> Result<(), Errno> {
    if error != Errno::ACCESS {
        return Err(error);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    let place = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(place, Mode::RWXU)
}

/// Removes `name` and everything below it. Directories inside are first moved up beside it, so
/// that any depth takes a handful of handles and links are never followed.
pub(super) fn remove_tree(parent: &OwnedFd, name: &str) -> Result<(), DiskError> {
    let path = ZonePath::root();
    let fail = |error: Errno| DiskError::of("delete", &path, error);
    let Some(stat) = stat_at(parent, name, &path)? else {
        return Ok(());
    };
    if kind_of(&stat) != Kind::Directory {
        return rustix::fs::unlinkat(parent, name, AtFlags::empty()).map_err(fail);
    }
    let mut directories = vec![name.to_owned()];
    while let Some(directory) = directories.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(parent, &*directory, flags, Mode::empty());
        let handle = open()
            .or_else(|error| {
                grant(error, parent, &directory)?;
                open()
            })
            .map_err(fail)?;
        rustix::fs::fchmod(&handle, Mode::RWXU).map_err(fail)?;
        let listing = rustix::fs::Dir::read_from(&handle).map_err(fail)?;
        for item in listing.flatten() {
            let child = item.file_name();
            if matches!(child.to_bytes(), b"." | b"..") {
                continue;
            }
            match rustix::fs::unlinkat(&handle, child, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR | Errno::PERM) => {
                    let lifted = format!("{name}.{}", COUNTER.fetch_add(1, Ordering::Relaxed));
                    let lift = || rustix::fs::renameat(&handle, child, parent, &*lifted);
                    lift()
                        .or_else(|error| {
                            grant(error, &handle, child)?;
                            lift()
                        })
                        .map_err(fail)?;
                    directories.push(lifted);
                }
                Err(error) => return Err(fail(error)),
            }
        }
        rustix::fs::unlinkat(parent, &*directory, AtFlags::REMOVEDIR).map_err(fail)?;
    }
    Ok(())
}
