//! Where a history stands, written down once more.
//!
//! A branch is a file of forty digits, and a power cut or a full disk can leave it empty while all
//! commits are there. So the last commit that was made here is remembered beside it.

use std::fs;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, Oid, Repository};

use super::layout::OWN;
use super::{HistoryError, object};

/// The branch of a new repository.
pub(super) const BRANCH: &str = "refs/heads/main";

fn file(place: &Path) -> PathBuf {
    place.join(OWN).join("head")
}

/// The branch and the commit that were last remembered.
pub(super) fn recorded(place: &Path) -> Option<(String, Oid)> {
    let text = fs::read_to_string(file(place)).ok()?;
    let (branch, id) = text.trim_end().split_once(' ')?;
    let id = Oid::from_str(id).ok().filter(|_| id.len() == 40)?;
    (branch.starts_with("refs/heads/") && git2::Reference::is_valid_name(branch))
        .then(|| (branch.to_owned(), id))
}

/// Remembers a commit. It is only needed where the branch is lost, so it need not be on disk.
pub(super) fn record(repository: &Repository, id: Oid) {
    let place = repository.path();
    let branch = repository.find_reference("HEAD").ok();
    let branch = branch.and_then(|head| head.symbolic_target().ok().flatten().map(str::to_owned));
    let Some(branch) = branch else {
        return;
    };
    let beside = file(place).with_extension("new");
    let written = fs::write(&beside, format!("{branch} {id}\n"))
        .and_then(|()| fs::rename(&beside, file(place)));
    if let Err(error) = written {
        tracing::debug!(%error, "the last commit is not remembered");
    }
}

/// Whether a file HEAD names a branch or a commit.
pub(super) fn is_sound(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let text = text.trim_end();
    match text.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim_start();
            name.starts_with("refs/") && git2::Reference::is_valid_name(name)
        }
        None => text.len() == 40 && Oid::from_str(text).is_ok(),
    }
}

/// Puts the branch of HEAD back where it was last remembered, if it leads to no commit.
pub(super) fn restore(repository: &Repository, place: &Path) -> Result<(), HistoryError> {
    let fail = HistoryError::git("read");
    let id = repository.refname_to_id("HEAD");
    // A branch without a commit is a file that is not there; one that leads nowhere is another.
    let is_unborn = matches!(&id, Err(error) if error.code() == ErrorCode::NotFound);
    let id = id.map_err(&fail);
    let Err(error) = id.and_then(|id| object::commit(repository, id)) else {
        return Ok(());
    };
    let head = repository.find_reference("HEAD").map_err(&fail)?;
    let branch = head.symbolic_target().ok().flatten().map(str::to_owned);
    match (branch, recorded(place)) {
        (Some(branch), Some((known, id)))
            if branch == known && object::commit(repository, id).is_ok() =>
        {
            remove(&place.join(&branch)).map_err(HistoryError::repository("mend"))?;
            repository
                .reference(&branch, id, true, "put back")
                .map_err(HistoryError::git("put back"))?;
            tracing::warn!(place = %place.display(), "a branch was lost and is put back");
            Ok(())
        }
        _ if is_unborn => Ok(()),
        _ => Err(error),
    }
}

fn remove(file: &Path) -> std::io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
