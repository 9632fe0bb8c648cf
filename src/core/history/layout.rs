//! Files of a repository: its place, the part of it that is only ours, small files read and replaced
//! whole.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

/// Name beside the work tree.
pub(super) const NAME: &str = "repo.git";

/// Name of the part inside the repository that is only ours.
pub(super) const OWN: &str = "fileshed";

/// Bytes of a small file at most.
const SMALL: usize = 512;

/// The text of a small file, which comes with one system call.
pub(super) fn small_text(path: &Path) -> io::Result<String> {
    let mut bytes = vec![0; SMALL];
    let read = File::open(path)?.read(&mut bytes)?;
    bytes.truncate(read);
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Replaces a file, on disk before it has its name.
pub(super) fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(content.as_ref())?;
    file.sync_data()?;
    fs::rename(&beside, path)
}
