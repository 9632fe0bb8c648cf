//! The data directory itself, and the server's own files in it.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use rustix::fs::{Access, AtFlags, FallocateFlags, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

use super::handle::stat_at_handle;
use super::{DiskError, FileIdentity, Root, Stamp};

/// Bits of anybody but the server's account.
const OTHERS: u32 = 0o077;

/// What only the server's account may do with its files.
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

    /// Fails where nothing can be made in it.
    pub fn expect_writable(&self) -> Result<(), DiskError> {
        let found = rustix::fs::fstatvfs(self.handle()).map_err(DiskError::server)?;
        if found.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(DiskError::server(Errno::ROFS));
        }
        // As the account that the server runs as, whoever started it.
        let (wanted, flags) = (Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
        rustix::fs::accessat(self.handle(), ".", wanted, flags).map_err(DiskError::server)
    }

    /// Bytes that are free in its file system, for this account.
    pub fn free_space(&self) -> Result<u64, DiskError> {
        let found = rustix::fs::fstatvfs(self.handle()).map_err(DiskError::server)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Files that its file system takes, as far as their number is bounded.
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
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.handle(), name, flags, Mode::empty());
        file.and_then(|file| rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, 0, bytes))
            .map_err(DiskError::server)
    }

    /// Makes an empty file of the server's own, unless there is one.
    pub fn make_private_file(&self, name: &str) -> Result<(), DiskError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        rustix::fs::openat(self.handle(), name, flags, PRIVATE).map_err(DiskError::server)?;
        Ok(())
    }

    /// Makes a file of the server's own with this content, unless there is one; whether it did. The file
    /// appears whole, and of two that make it at once one does: a link refuses a name that is there.
    /// `temporary` is a name that nothing has.
    pub fn make_private_file_once(
        &self,
        name: &str,
        temporary: &str,
        content: &[u8],
    ) -> io::Result<bool> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.handle(), temporary, flags, PRIVATE)?;
        let mut file = File::from(file);
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

    /// So many bytes, at most, of a file of the server's own, if it is there.
    pub fn read_private_file(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(self.handle(), name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut content = Vec::new();
        file.take(most).read_to_end(&mut content)?;
        Ok(Some(content))
    }

    /// Takes from everybody else what they may do with a file of the server's own, if it is there.
    pub fn keep_private(&self, name: &str) -> Result<(), DiskError> {
        match stat_at_handle(self.handle(), name).map_err(DiskError::server)? {
            Some(stat) if stat.st_mode & OTHERS != 0 => {
                let mode = Mode::from(stat.st_mode & 0o700);
                match rustix::fs::chmodat(self.handle(), name, mode, AtFlags::empty()) {
                    // Another account's file, which the administrator shares with the server.
                    Ok(()) | Err(Errno::PERM | Errno::NOENT) => Ok(()),
                    Err(error) => Err(DiskError::server(error)),
                }
            }
            _ => Ok(()),
        }
    }

    /// Whether `name` is there.
    pub fn has(&self, name: &str) -> Result<bool, DiskError> {
        let found = stat_at_handle(self.handle(), name).map_err(DiskError::server)?;
        Ok(found.is_some())
    }

    /// Tells the file `name` from another one that takes its place; nothing where there is none.
    pub fn identity(&self, name: &str) -> Result<Option<FileIdentity>, DiskError> {
        let found = stat_at_handle(self.handle(), name).map_err(DiskError::server)?;
        Ok(found.as_ref().map(FileIdentity::of))
    }

    /// Returns the state of the entry `name`, if there is one. A link is not followed.
    pub fn stamp(&self, name: &str) -> Result<Option<Stamp>, DiskError> {
        match rustix::fs::statat(self.handle(), name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Stamp::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(DiskError::server(error)),
        }
    }

    /// Removes the file `name` of the server's own, if it is there.
    pub fn remove_file(&self, name: &str) -> Result<(), DiskError> {
        match rustix::fs::unlinkat(self.handle(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(DiskError::server(error)),
        }
    }

    /// Gives a file of the server's own another name, if it is there.
    pub fn set_aside(&self, name: &str, to: &str) -> Result<(), DiskError> {
        match rustix::fs::renameat(self.handle(), name, self.handle(), to) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(DiskError::server(error)),
        }
    }
}
