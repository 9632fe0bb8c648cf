//! State of a process that calls: read, and written to its memory.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::fs::{CWD, OFlags};
use rustix::io::Errno;

use super::MACHINE_NAME;
use super::listener::{Listener, TrappedCall, Verdict};
use crate::descriptor::open;

/// Longest path with its end (limits.h).
const PATH_MAX: usize = 4096;

/// The memory of a process that calls.
pub(super) struct ProcessMemory(File);

impl ProcessMemory {
    pub(super) fn of(listener: &Listener, call: &TrappedCall) -> Result<Self, Errno> {
        Self::open(listener, call, false)
    }

    fn open(listener: &Listener, call: &TrappedCall, write: bool) -> Result<Self, Errno> {
        let place = format!("/proc/{}/mem", call.thread());
        let file = File::options().read(true).write(write).open(place);
        listener.own(call, Self(file.map_err(|_| Errno::PERM)?))
    }

    pub(super) fn bytes<const N: usize>(&self, address: u64) -> Result<[u8; N], Errno> {
        let mut bytes = [0; N];
        self.0
            .read_exact_at(&mut bytes, address)
            .map_err(|_| Errno::FAULT)?;
        Ok(bytes)
    }

    /// A text that ends with a zero.
    pub(super) fn path(&self, address: u64) -> Result<PathBuf, Errno> {
        let mut text = Vec::new();
        let mut piece = [0; 256];
        while text.len() < PATH_MAX {
            let at = address + text.len() as u64;
            // Never over the end of a page, behind which nothing may be.
            let left = (256 - (at % 256)) as usize;
            let count = match self.0.read_at(&mut piece[..left], at) {
                Ok(count) if count > 0 => count,
                _ => return Err(Errno::FAULT),
            };
            let read = &piece[..count];
            if let Some(end) = read.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(&read[..end]);
                return Ok(OsString::from_vec(text).into());
            }
            text.extend_from_slice(read);
        }
        Err(Errno::NAMETOOLONG)
    }
}

/// Opens what a descriptor of the caller leads to, without its content.
pub(super) fn descriptor(
    listener: &Listener,
    call: &TrappedCall,
    number: u32,
) -> Result<OwnedFd, Errno> {
    let handle = open(format!("/proc/{}/fd/{number}", call.thread()), OFlags::PATH);
    let handle = handle.map_err(|error| match error {
        Errno::NOENT => Errno::BADF,
        _ => Errno::PERM,
    })?;
    listener.own(call, handle)
}

/// The path of a descriptor of the caller, as the kernel tells it.
pub(super) fn path_of_descriptor(call: &TrappedCall, number: u32) -> Result<PathBuf, Errno> {
    link(&format!("/proc/{}/fd/{number}", call.thread()))
}

/// The working directory of the caller.
pub(super) fn directory(call: &TrappedCall) -> Result<PathBuf, Errno> {
    link(&format!("/proc/{}/cwd", call.thread()))
}

/// Returns the path that a link of the kernel leads to; anything else is refused.
pub(super) fn link(place: &str) -> Result<PathBuf, Errno> {
    let target = rustix::fs::readlinkat(CWD, place, Vec::new()).map_err(|_| Errno::PERM)?;
    let path = PathBuf::from(OsString::from_vec(target.into_bytes()));
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(Errno::PERM)
    }
}

/// Returns the names of this machine and its kernel (uname(2)).
pub(crate) fn names() -> Option<libc::utsname> {
    // SAFETY: all-zero names are valid, and the call fills them.
    #[expect(unsafe_code, reason = "the kernel's own structure, to be filled by it")]
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: the structure lives through the call.
    #[expect(unsafe_code, reason = "rustix has it behind a feature")]
    let result = unsafe { libc::uname(&raw mut names) };
    (result == 0).then_some(names)
}

/// uname: what the kernel says, without the name of the host.
pub(super) fn tell_name(listener: &Listener, call: &TrappedCall) -> Verdict {
    let Some(mut names) = names() else {
        return Verdict::Refused(Errno::PERM);
    };
    names.nodename.fill(0);
    for (place, byte) in names.nodename.iter_mut().zip(MACHINE_NAME.bytes()) {
        *place = byte as libc::c_char;
    }
    // SAFETY: the structure is arrays of characters, without any gap.
    #[expect(unsafe_code, reason = "what is written is bytes")]
    let bytes: [u8; size_of::<libc::utsname>()] = unsafe { std::mem::transmute(names) };
    let written = ProcessMemory::open(listener, call, true).and_then(|memory| {
        let written = memory.0.write_all_at(&bytes, call.argument(0));
        written.map_err(|_| Errno::FAULT)
    });
    written.into()
}
