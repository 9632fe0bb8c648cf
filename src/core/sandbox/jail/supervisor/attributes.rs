//! Modes, times and owners of files, which file rules do not know. They change only in directories
//! that the command may write: the supervisor opens the file beneath one of them and changes what it
//! has opened.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Timespec, Timestamps};
use rustix::io::Errno;

use super::listener::{Listener, TrappedCall};
use super::process::{self, ProcessMemory};
use crate::descriptor::open;
use crate::job::Access;

/// Directories in which a command may change files.
#[derive(Default)]
pub(super) struct WritableDirectories {
    /// As it was named, and open.
    opened: Vec<(PathBuf, OwnedFd)>,
}

/// Change of an attribute.
enum AttributeChange {
    Mode(u32),
    Times(Timestamps),
    /// Owner and group; the highest number leaves one as it is.
    Owner(u32, u32),
}

/// File of which an attribute changes.
struct AttributeTarget {
    /// A descriptor of the caller: of the file, or of the directory that its path begins in.
    descriptor: u32,
    /// The address of its path, if it is named by one.
    path: Option<u64>,
    /// `true` if a link at the end of the path is followed.
    follow: bool,
}

/// The working directory, where a call takes a directory.
const HERE: u32 = libc::AT_FDCWD as u32;

impl WritableDirectories {
    pub(super) fn open(access: &Access) -> Self {
        let open = |place: &PathBuf| {
            let handle = open(place, OFlags::PATH | OFlags::DIRECTORY).ok()?;
            Some((place.clone(), handle))
        };
        Self {
            opened: access.write.iter().filter_map(open).collect(),
        }
    }

    /// Carries out a change of attributes.
    pub(super) fn change(&self, listener: &Listener, call: &TrappedCall) -> Result<(), Errno> {
        let memory = ProcessMemory::of(listener, call)?;
        let (subject, change) = understand(&memory, call)?;
        if let AttributeChange::Mode(mode) = change
            && mode & 0o6000 != 0
        {
            return Err(Errno::PERM);
        }
        let AttributeTarget {
            descriptor, follow, ..
        } = subject;
        let file = match subject.path {
            Some(path) => self.find(listener, call, descriptor, &memory.path(path)?, follow)?,
            None => self.own(listener, call, descriptor)?,
        };
        change.make(&file)
    }

    /// Opens the file at a path of the caller, where it lies in one of the directories.
    fn find(
        &self,
        listener: &Listener,
        call: &TrappedCall,
        directory: u32,
        path: &Path,
        follow: bool,
    ) -> Result<OwnedFd, Errno> {
        if path.as_os_str().is_empty() {
            return Err(Errno::NOENT);
        }
        let base = match directory {
            _ if path.is_absolute() => PathBuf::new(),
            HERE => process::directory(call)?,
            number => process::path_of_descriptor(call, number)?,
        };
        self.open_beneath(&listener.own(call, base.join(path))?, follow)
    }

    /// The file behind a descriptor of the caller, where it lies in one of the directories.
    fn own(&self, listener: &Listener, call: &TrappedCall, number: u32) -> Result<OwnedFd, Errno> {
        let handle = process::descriptor(listener, call, number)?;
        let path = process::link(&format!("/proc/self/fd/{}", handle.as_raw_fd()))?;
        let found = self.open_beneath(&path, false)?;
        let (wanted, there) = (rustix::fs::fstat(&handle)?, rustix::fs::fstat(&found)?);
        let is_same = (wanted.st_dev, wanted.st_ino) == (there.st_dev, there.st_ino);
        is_same.then_some(found).ok_or(Errno::PERM)
    }

    /// Opens a path without its content; nothing leads out of the directory that it begins with.
    fn open_beneath(&self, path: &Path, follow: bool) -> Result<OwnedFd, Errno> {
        let mut flags = OFlags::PATH | OFlags::CLOEXEC;
        if !follow {
            flags |= OFlags::NOFOLLOW;
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        for (named, directory) in &self.opened {
            let place = process::link(&format!("/proc/self/fd/{}", directory.as_raw_fd()))?;
            let below = path.strip_prefix(place);
            let Ok(rest) = below.or_else(|_| path.strip_prefix(named)) else {
                continue;
            };
            let rest = match rest.as_os_str() {
                rest if rest.is_empty() => OsStr::new("."),
                rest => rest,
            };
            return rustix::fs::openat2(directory, rest, flags, Mode::empty(), resolve).map_err(
                |error| match error {
                    // Out of the directory.
                    Errno::XDEV => Errno::PERM,
                    error => error,
                },
            );
        }
        Err(Errno::PERM)
    }
}

impl AttributeChange {
    fn make(&self, file: &OwnedFd) -> Result<(), Errno> {
        // The path that leads from a handle without content to what it stands for.
        let place = format!("/proc/self/fd/{}", file.as_raw_fd());
        match self {
            Self::Mode(mode) => {
                rustix::fs::chmodat(CWD, &place, Mode::from(*mode & 0o7777), AtFlags::empty())
            }
            Self::Times(times) => rustix::fs::utimensat(CWD, &place, times, AtFlags::empty()),
            Self::Owner(user, group) => {
                let none_or = |id: u32, own: u32| id == u32::MAX || id == own;
                let user_stays = none_or(*user, rustix::process::geteuid().as_raw());
                if user_stays && none_or(*group, rustix::process::getegid().as_raw()) {
                    Ok(())
                } else {
                    Err(Errno::PERM)
                }
            }
        }
    }
}

/// Reads a call: what it is to change, and of which file.
fn understand(
    memory: &ProcessMemory,
    call: &TrappedCall,
) -> Result<(AttributeTarget, AttributeChange), Errno> {
    let at = |descriptor, path: usize, flags: u32| AttributeTarget {
        descriptor,
        path: Some(call.argument(path)),
        follow: flags & libc::AT_SYMLINK_NOFOLLOW as u32 == 0,
    };
    #[cfg(target_arch = "x86_64")]
    let here = |flags| at(HERE, 0, flags);
    // No flag but `AT_SYMLINK_NOFOLLOW` is supported.
    let below = |flags: u32| match flags & !(libc::AT_SYMLINK_NOFOLLOW as u32) {
        0 => Ok(at(call.word(0), 1, flags)),
        _ => Err(Errno::INVAL),
    };
    let descriptor = AttributeTarget {
        path: None,
        ..at(call.word(0), 0, 0)
    };
    let mode = |index| AttributeChange::Mode(call.word(index));
    let owner = |index| AttributeChange::Owner(call.word(index), call.word(index + 1));
    let times =
        |read: ReadTimes, index| read(memory, call.argument(index)).map(AttributeChange::Times);
    let has_path = call.argument(1) != 0;
    Ok(match call.number() {
        libc::SYS_fchmod => (descriptor, mode(1)),
        libc::SYS_fchmodat => (below(0)?, mode(2)),
        libc::SYS_fchmodat2 => (below(call.word(3))?, mode(2)),
        libc::SYS_fchown => (descriptor, owner(1)),
        libc::SYS_fchownat => (below(call.word(4))?, owner(2)),
        libc::SYS_utimensat if has_path => (below(call.word(3))?, times(nanoseconds, 2)?),
        libc::SYS_utimensat => (descriptor, times(nanoseconds, 2)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod => (here(0), mode(1)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown => (here(0), owner(1)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown => (here(libc::AT_SYMLINK_NOFOLLOW as u32), owner(1)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utime => (here(0), times(seconds, 1)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utimes => (here(0), times(microseconds, 1)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat if has_path => (below(0)?, times(microseconds, 2)?),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat => (descriptor, times(microseconds, 2)?),
        _ => return Err(Errno::PERM),
    })
}

/// Reads times at an address in the memory of the caller.
type ReadTimes = fn(&ProcessMemory, u64) -> Result<Timestamps, Errno>;

/// Access and modification, from numbers of seconds and nanoseconds.
fn stamps([read, read_part, written, written_part]: [i64; 4]) -> Timestamps {
    let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
    Timestamps {
        last_access: time(read, read_part),
        last_modification: time(written, written_part),
    }
}

fn now() -> Timestamps {
    stamps([0, libc::UTIME_NOW, 0, libc::UTIME_NOW])
}

/// The numbers of the structure at an address; `None` if there is none, which stands for now.
fn numbers<const N: usize>(
    memory: &ProcessMemory,
    address: u64,
) -> Result<Option<[i64; N]>, Errno> {
    if address == 0 {
        return Ok(None);
    }
    let mut numbers = [0; N];
    for (index, number) in (0..).zip(&mut numbers) {
        *number = i64::from_ne_bytes(memory.bytes(address.wrapping_add(8 * index))?);
    }
    Ok(Some(numbers))
}

/// Two `struct timespec`, or now.
fn nanoseconds(memory: &ProcessMemory, address: u64) -> Result<Timestamps, Errno> {
    Ok(numbers(memory, address)?.map_or_else(now, stamps))
}

/// Two `struct timeval`, or now.
#[cfg(target_arch = "x86_64")]
fn microseconds(memory: &ProcessMemory, address: u64) -> Result<Timestamps, Errno> {
    let Some([read, read_part, written, written_part]) = numbers(memory, address)? else {
        return Ok(now());
    };
    let parts = [read_part, written_part];
    if parts.iter().any(|part| !(0..1_000_000).contains(part)) {
        return Err(Errno::INVAL);
    }
    let [read_part, written_part] = parts.map(|part| part * 1000);
    Ok(stamps([read, read_part, written, written_part]))
}

/// A `struct utimbuf`, or now.
#[cfg(target_arch = "x86_64")]
fn seconds(memory: &ProcessMemory, address: u64) -> Result<Timestamps, Errno> {
    let seconds = numbers(memory, address)?;
    Ok(seconds.map_or_else(now, |[read, written]| stamps([read, 0, written, 0])))
}
