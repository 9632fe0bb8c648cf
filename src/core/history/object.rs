//! Objects of a repository, looked at before they are read.
//!
//! libgit2 never comes back from an object whose file was cut, as a power cut or a full disk leaves
//! it: it asks for more of the compressed bytes for ever. So nothing is read through it whose file
//! does not hold all that it says.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use flate2::read::ZlibDecoder;
use git2::{Blob, Commit, ObjectType, Oid, Repository, Tree};

use super::{HistoryError, Result};

/// Longest beginning of an object: its kind and its size, up to a NUL.
const HEADER_BYTES: u64 = 64;

/// A content of so many bytes is on disk as soon as it is written.
pub(super) const LARGE: u64 = 1024 * 1024;

/// 40 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommitId(String);

impl CommitId {
    pub(super) fn of(id: Oid) -> Self {
        Self(id.to_string())
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A commit.
pub(super) fn commit(repository: &Repository, id: Oid) -> Result<Commit<'_>> {
    expect_whole(repository, id)?;
    repository
        .find_commit(id)
        .map_err(HistoryError::git("read"))
}

/// A directory.
pub(super) fn tree(repository: &Repository, id: Oid) -> Result<Tree<'_>> {
    expect_whole(repository, id)?;
    repository.find_tree(id).map_err(HistoryError::git("read"))
}

/// The content of a file.
pub(super) fn blob(repository: &Repository, id: Oid) -> Result<Blob<'_>> {
    expect_whole(repository, id)?;
    repository.find_blob(id).map_err(HistoryError::git("read"))
}

/// Hands the content of a file, piece by piece, to `write`. A damaged one is noticed at its end.
pub(super) fn copy_content(
    repository: &Repository,
    id: Oid,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<()> {
    let fail = HistoryError::repository("read");
    let Ok(object) = File::open(file(repository, id)) else {
        let packed = repository
            .find_blob(id)
            .map_err(HistoryError::git("read"))?;
        return write(packed.content()).map_err(fail);
    };
    let size = copy_if_whole(object, u64::MAX, write).map_err(fail)?;
    size.map(drop)
        .ok_or_else(|| HistoryError::Damaged(id.to_string()))
}

/// Adds an object, unless it is there, and returns its id. One that is there and damaged is written
/// anew.
pub(super) fn write(repository: &Repository, kind: ObjectType, content: &[u8]) -> Result<Oid> {
    let fail = HistoryError::git("write to");
    forget_damaged(repository, Oid::hash_object(kind, content).map_err(&fail)?);
    let database = repository.odb().map_err(&fail)?;
    database.write(kind, content).map_err(fail)
}

/// Returns the bytes that the file of an object takes on disk; 0 if it has none.
pub(super) fn bytes_on_disk(repository: &Repository, id: Oid) -> u64 {
    fs::metadata(file(repository, id)).map_or(0, |metadata| metadata.blocks() * 512)
}

/// Fails where the file of an object is damaged. What is missing or in a pack is libgit2's to say.
pub(super) fn expect_whole(repository: &Repository, id: Oid) -> Result<()> {
    if is_whole(repository, id) {
        return Ok(());
    }
    Err(HistoryError::Damaged(id.to_string()))
}

/// Takes the file of an object away that is damaged, so that the object can be written again.
/// Whether there was one.
pub(super) fn forget_damaged(repository: &Repository, id: Oid) -> bool {
    !is_whole(repository, id) && fs::remove_file(file(repository, id)).is_ok()
}

/// Returns `true` if an object has a file of its own.
pub(super) fn has_file(repository: &Repository, id: Oid) -> bool {
    file(repository, id).exists()
}

/// Returns the bytes of an object that has a file, if that is whole; `None` for one with more than
/// `largest`.
pub(super) fn size_if_whole(repository: &Repository, id: Oid, largest: u64) -> Option<u64> {
    whole_size(File::open(file(repository, id)).ok()?, largest)
}

fn whole_size(object: File, largest: u64) -> Option<u64> {
    copy_if_whole(object, largest, |_| Ok(())).ok().flatten()
}

/// The file that an object has, or would have.
pub(super) fn file(repository: &Repository, id: Oid) -> PathBuf {
    let digits = id.to_string();
    let (directory, name) = digits.split_at(2);
    repository.path().join("objects").join(directory).join(name)
}

fn is_whole(repository: &Repository, id: Oid) -> bool {
    File::open(file(repository, id)).map_or(true, |file| whole_size(file, u64::MAX).is_some())
}

/// Hands the content of the object that a file holds to `write`. Returns the bytes of the content if the file
/// holds all of it and nothing else, and they are no more than `largest`. Fails only if `write` does.
fn copy_if_whole(
    object: File,
    largest: u64,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Option<u64>> {
    let Ok(length) = object.metadata().map(|metadata| metadata.len()) else {
        return Ok(None);
    };
    let mut content = BufReader::new(ZlibDecoder::new(object));
    let Some(size) = size(&mut content).filter(|size| *size <= largest) else {
        return Ok(None);
    };
    let mut found = 0;
    while let Ok(piece) = content.fill_buf() {
        if piece.is_empty() {
            let is_whole = found == size && content.get_ref().total_in() == length;
            return Ok(is_whole.then_some(size));
        }
        write(piece)?;
        let count = piece.len();
        found += count as u64;
        content.consume(count);
    }
    Ok(None)
}

/// The size that the beginning of an object says.
fn size(content: &mut impl BufRead) -> Option<u64> {
    let mut header = Vec::with_capacity(HEADER_BYTES as usize);
    content.take(HEADER_BYTES).read_until(0, &mut header).ok()?;
    header.pop().filter(|end| *end == 0)?;
    let (_, size) = std::str::from_utf8(&header).ok()?.split_once(' ')?;
    size.parse().ok()
}
