//! Files without a name that a job holds: no measurement of a directory finds them, and they take
//! space until the job ends.

use std::collections::HashMap;
use std::path::Path;

use rustix::fs::FileType;

use crate::tree::processes_of;

/// Bytes of a block of stat(2).
const BLOCK: u64 = 512;

/// Bytes on `device` of files without a name that the job with this first process holds open.
pub(super) fn bytes(first: i32, device: u64) -> u64 {
    let mut found = HashMap::new();
    for (_, process) in processes_of(&[first]) {
        let descriptors = std::fs::read_dir(format!("/proc/{process}/fd"));
        for descriptor in descriptors.into_iter().flatten().flatten() {
            found.extend(unlinked(&descriptor.path(), device));
        }
    }
    found.values().sum()
}

/// The number of such a file, and what it takes.
fn unlinked(descriptor: &Path, device: u64) -> Option<(u64, u64)> {
    // What a link says needs no look at the disk.
    let target = std::fs::read_link(descriptor).ok()?;
    if !target
        .as_os_str()
        .as_encoded_bytes()
        .ends_with(b" (deleted)")
    {
        return None;
    }
    let stat = rustix::fs::stat(descriptor).ok()?;
    let is_one = FileType::from_raw_mode(stat.st_mode).is_file()
        && stat.st_nlink == 0
        && stat.st_dev == device;
    is_one.then(|| {
        (
            stat.st_ino,
            u64::try_from(stat.st_blocks).unwrap_or(0) * BLOCK,
        )
    })
}
