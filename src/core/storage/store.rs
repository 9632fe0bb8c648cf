//! The data directory itself, and the server's own files in it.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Access, AtFlags, FallocateFlags, Mode, OFlags, Stat, StatVfsMountFlags};
use rustix::io::Errno;

use super::handle::{create_at, if_there, open_at};
use super::{DiskError, FileIdentity, Root, Stamp};

/// Bits of anybody but the server's account.
const OTHERS: u32 = 0o077;

/// Permission bits of the server's own files: for its account alone.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

impl Root {
    /// Opens a directory by its path, if there is one.
    pub fn open_existing_ambient(location: &Path) -> Result<Option<Self>, DiskError> {
        match std::fs::metadata(location) {
            Ok(_) => Self::open_ambient(location).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(DiskError::server(error)),
        }
    }

    /// Fails if no entry can be created in it.
    pub fn expect_writable(&self) -> Result<(), DiskError> {
        let found = rustix::fs::fstatvfs(self.handle()).map_err(DiskError::server)?;
        if found.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(DiskError::server(Errno::ROFS));
        }
        // As the account that the server runs as, whoever started it.
        let (wanted, flags) = (Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
        rustix::fs::accessat(self.handle(), ".", wanted, flags).map_err(DiskError::server)
    }

    /// Returns the free bytes of its file system, for this account.
    pub fn free_space(&self) -> Result<u64, DiskError> {
        let found = rustix::fs::fstatvfs(self.handle()).map_err(DiskError::server)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Returns the number of files that its file system can still take, if it is bounded.
    pub fn free_files(&self) -> Result<u64, DiskError> {
        let found = rustix::fs::fstatvfs(self.handle()).map_err(DiskError::server)?;
        Ok(if found.f_files == 0 {
            u64::MAX
        } else {
            found.f_favail
        })
    }

    /// Sets space aside for a file of the server's own, which grows into it on a full disk too. Its length
    /// stays.
    pub fn set_space_aside(&self, name: &str, bytes: u64) -> Result<(), DiskError> {
        let file = open_at(self.handle(), name, OFlags::WRONLY);
        file.and_then(|file| rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes))
            .map_err(DiskError::server)
    }

    /// Makes an empty file of the server's own, unless there is one.
    pub fn make_private_file(&self, name: &str) -> Result<(), DiskError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        rustix::fs::openat(self.handle(), name, flags, PRIVATE).map_err(DiskError::server)?;
        Ok(())
    }

    /// Creates a file of the server's own with this content, unless there is one. Returns `true` if it
    /// did. The file appears whole, and of two processes that create it at the same time one does,
    /// because a link refuses an existing name. `temporary` is a free name.
    pub fn make_private_file_once(
        &self,
        name: &str,
        temporary: &str,
        content: &[u8],
    ) -> io::Result<bool> {
        let mut file = create_at(self.handle(), temporary, PRIVATE)?;
        file.write_all(content).and_then(|()| file.sync_all())?;
        let (handle, none) = (self.handle(), AtFlags::empty());
        let linked = rustix::fs::linkat(handle, temporary, handle, name, none);
        let _gone = rustix::fs::unlinkat(handle, temporary, none);
        match linked {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads at most so many bytes of a file of the server's own, if it exists.
    pub fn read_private_file(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = if_there(open_at(self.handle(), name, OFlags::RDONLY))? else {
            return Ok(None);
        };
        let mut content = Vec::new();
        File::from(file).take(most).read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Takes from everybody else what they may do with a file of the server's own, if it is there.
    pub fn keep_private(&self, name: &str) -> Result<(), DiskError> {
        let Some(stat) = self.stat(name)?.filter(|stat| stat.st_mode & OTHERS != 0) else {
            return Ok(());
        };
        let mode = Mode::from(stat.st_mode & 0o700);
        match rustix::fs::chmodat(self.handle(), name, mode, AtFlags::empty()) {
            // Another account's file, which the administrator shares with the server.
            Ok(()) | Err(Errno::PERM | Errno::NOENT) => Ok(()),
            Err(error) => Err(DiskError::server(error)),
        }
    }

    /// Returns the state of `name`, links followed; `None` if nothing is there.
    fn stat(&self, name: &str) -> Result<Option<Stat>, DiskError> {
        let stat = rustix::fs::statat(self.handle(), name, AtFlags::empty());
        if_there(stat).map_err(DiskError::server)
    }

    /// Returns `true` if `name` exists.
    pub fn has(&self, name: &str) -> Result<bool, DiskError> {
        Ok(self.stat(name)?.is_some())
    }

    /// Returns the identity of the file `name`, which differs from that of a file that takes its place;
    /// `None` if there is none.
    pub fn identity(&self, name: &str) -> Result<Option<FileIdentity>, DiskError> {
        Ok(self.stat(name)?.as_ref().map(FileIdentity::of))
    }

    /// Returns the state of the entry `name`, if there is one. A link is not followed.
    pub fn stamp(&self, name: &str) -> Result<Option<Stamp>, DiskError> {
        let stat = rustix::fs::statat(self.handle(), name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = if_there(stat).map_err(DiskError::server)?;
        Ok(stat.as_ref().map(Stamp::of))
    }

    /// Removes the file `name` of the server's own, if it is there.
    pub fn remove_file(&self, name: &str) -> Result<(), DiskError> {
        let removed = rustix::fs::unlinkat(self.handle(), name, AtFlags::empty());
        if_there(removed).map(drop).map_err(DiskError::server)
    }

    /// Gives a file of the server's own another name, if it is there.
    pub fn set_aside(&self, name: &str, to: &str) -> Result<(), DiskError> {
        let renamed = rustix::fs::renameat(self.handle(), name, self.handle(), to);
        if_there(renamed).map(drop).map_err(DiskError::server)
    }
}

/// A file that is never closed. SQLite's locks are those of the process (`fcntl`), and to close any
/// descriptor of a file ends all that the process has on it.
#[derive(Debug)]
pub struct UnclosedFile(ManuallyDrop<OwnedFd>);

impl UnclosedFile {
    /// Opens the file `name` in a directory of the server's own; `None` if that cannot be.
    #[must_use]
    pub fn open(directory: &Root, name: &str) -> Option<Self> {
        let file = open_at(directory.handle(), name, OFlags::RDONLY);
        Some(Self(ManuallyDrop::new(file.ok()?)))
    }

    /// Returns the first bytes as they are now; `None` if there are fewer.
    #[must_use]
    pub fn first<const LENGTH: usize>(&self) -> Option<[u8; LENGTH]> {
        self.at(0)
    }

    /// Returns the bytes at `offset` as they are now; `None` if there are fewer.
    #[must_use]
    pub fn at<const LENGTH: usize>(&self, offset: u64) -> Option<[u8; LENGTH]> {
        let mut bytes = [0; LENGTH];
        let read = rustix::io::pread(&*self.0, &mut bytes, offset).ok()?;
        (read == LENGTH).then_some(bytes)
    }
}
