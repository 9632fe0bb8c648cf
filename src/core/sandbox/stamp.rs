//! Whether names in a directory are those of before.

use std::path::Path;

/// When names were last made or removed in a directory, if it is there.
pub(super) type Stamp = Option<(u64, u64, i64, u64)>;

/// The one of a directory.
pub(super) fn stamp(directory: &Path) -> Stamp {
    let stat = rustix::fs::stat(directory).ok()?;
    Some((stat.st_dev, stat.st_ino, stat.st_mtime, stat.st_mtime_nsec))
}
