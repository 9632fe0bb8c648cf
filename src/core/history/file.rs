//! Small files of a repository, read and replaced whole.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

/// Bytes of a small file at most.
const SMALL: usize = 512;

/// The text of a small file, which comes with one system call.
pub(super) fn small_text(path: &Path) -> io::Result<String> {
    let mut bytes = vec![0; SMALL];
    let read = File::open(path)?.read(&mut bytes)?;
    bytes.truncate(read);
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Replaces a file, on disk before it has its name.
pub(super) fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = File::create(&beside)?;
    file.write_all(content.as_ref())?;
    file.sync_data()?;
    fs::rename(&beside, path)
}
