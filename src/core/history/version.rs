//! A file as it was in a commit.

use git2::{ErrorCode, ObjectType, Oid, Repository};

use super::handle::ignore_the_host;
use super::layout::NAME;
use super::{CommitId, HistoryError, Result, head, object};
use fileshed_storage::Root;
use fileshed_types::zone::ZonePath;

/// The content of a file in a version.
#[derive(Debug, PartialEq, Eq)]
pub enum FileVersion {
    /// Its bytes.
    Content(Vec<u8>),
    /// The commit has no such file.
    Absent,
    /// It has more bytes than are wanted.
    TooLarge(u64),
    /// There is no such commit.
    NoCommit,
}

/// Commits that are looked through for a path that is gone.
const FARTHEST: usize = 20_000;

/// Reads a file of the commit that `revision` names: an id or its beginning, `HEAD`, a branch or tag,
/// each with `~2` or `^` behind it. Changes nothing in the repository, which lies in `parent`.
pub fn file_at(parent: &Root, revision: &str, path: &ZonePath, most: u64) -> Result<FileVersion> {
    let fail = HistoryError::git("read");
    // Other searches of git take long in a long history.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/~^".contains(c);
    if !revision.chars().all(is_plain) {
        return Ok(FileVersion::NoCommit);
    }
    let Some(repository) = open(parent)? else {
        return Ok(FileVersion::NoCommit);
    };
    let commit = |revision: &str| {
        let found = repository.revparse_single(revision);
        found.and_then(|object| object.peel_to_commit())
    };
    let Ok(commit) = commit(revision) else {
        // Before the first commit there is no file.
        let of = revision.split(['^', '~']).next().unwrap_or_default();
        let is_before = of != revision && commit(of).is_ok();
        return Ok(if is_before {
            FileVersion::Absent
        } else {
            FileVersion::NoCommit
        });
    };
    let tree = object::tree(&repository, commit.tree_id())?;
    let id: Oid = match tree.get_path(path.as_str().as_ref()) {
        Ok(entry) if entry.kind() == Some(ObjectType::Blob) => entry.id(),
        Ok(_) => return Ok(FileVersion::Absent),
        Err(error) if error.code() == ErrorCode::NotFound => return Ok(FileVersion::Absent),
        Err(error) => return Err(fail(error)),
    };
    let (size, _) = repository
        .odb()
        .and_then(|odb| odb.read_header(id))
        .map_err(fail)?;
    if size as u64 > most {
        return Ok(FileVersion::TooLarge(size as u64));
    }
    let blob = object::blob(&repository, id)?;
    Ok(FileVersion::Content(blob.content().to_vec()))
}

/// Returns the last commit that has something at `path`, if it is not too long ago.
pub fn last_with(parent: &Root, path: &ZonePath) -> Result<Option<CommitId>> {
    let Some(repository) = open(parent)? else {
        return Ok(None);
    };
    let mut next = head::commit(&repository)?;
    for _ in 0..FARTHEST {
        let Some(id) = next else { break };
        let commit = object::commit(&repository, id)?;
        let tree = object::tree(&repository, commit.tree_id())?;
        if tree.get_path(path.as_str().as_ref()).is_ok() {
            return Ok(Some(CommitId::of(id)));
        }
        next = commit.parent_id(0).ok();
    }
    Ok(None)
}

/// Opens the repository in `parent` to read it, if there is one.
fn open(parent: &Root) -> Result<Option<Repository>> {
    ignore_the_host();
    match Repository::open_bare(parent.location().join(NAME)) {
        Ok(repository) => Ok(Some(repository)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(HistoryError::git("read")(error)),
    }
}
