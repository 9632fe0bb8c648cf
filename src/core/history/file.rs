//! Files of a repository that are replaced whole.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

/// Replaces a file, on disk before it has its name.
pub(super) fn replace(path: &Path, content: impl AsRef<[u8]>) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(content.as_ref())?;
    file.sync_data()?;
    fs::rename(&beside, path)
}
