//! What may be relied on, by the kind of a file system.

use std::os::fd::AsFd;

use rustix::io::Errno;

/// File systems on which nobody but this kernel changes anything, and which keep in memory what they
/// read: ext, XFS, btrfs, tmpfs, overlayfs, ZFS, F2FS, bcachefs (statfs(2)).
const LOCAL: [u64; 8] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x794c_7630,
    0x2fc1_2fc1,
    0xf2f5_2010,
    0xca45_1a4e,
];

/// Whether nobody but this kernel changes what lies there.
pub(super) fn is_local(handle: impl AsFd) -> Result<bool, Errno> {
    let system = rustix::fs::fstatfs(handle)?;
    Ok(LOCAL.contains(&(system.f_type as u64)))
}
