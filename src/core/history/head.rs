//! Backup of HEAD: a log of the commits that a branch has had.
//!
//! A branch is a file of forty digits, and a power cut or a full disk can leave it empty while all
//! commits are there. So the commits that were made here are remembered beside it, each by a line at
//! the end of a file: lines that were flushed stay, whatever becomes of the lines behind them.

use std::fs;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};

use git2::{ErrorCode, Oid, Repository};

use super::layout::{OWN, remove, replace};
use super::{HistoryError, Result, object};

/// The branch of a new repository.
pub(super) const BRANCH: &str = "refs/heads/main";

const HEAD: &str = "HEAD";

/// Bytes of remembered commits after which most are forgotten.
const LONGEST: u64 = 256 * 1024;

fn file(place: &Path) -> PathBuf {
    place.join(OWN).join("head")
}

/// The branches and commits that are remembered, the latest first. What is no whole line is none.
pub(super) fn recorded(place: &Path) -> impl Iterator<Item = (String, Oid)> {
    let bytes = fs::read(file(place)).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines: Vec<_> = text.lines().filter_map(read).collect();
    lines.into_iter().rev()
}

fn read(line: &str) -> Option<(String, Oid)> {
    let (branch, id) = line.split_once(' ')?;
    let id = Oid::from_str(id).ok().filter(|_| id.len() == 40)?;
    let is_named = is_branch(branch) || branch == HEAD;
    (is_named && git2::Reference::is_valid_name(branch)).then(|| (branch.to_owned(), id))
}

/// The branch that was last remembered.
pub(super) fn recorded_branch(place: &Path) -> Option<String> {
    let mut names = recorded(place).map(|(name, _)| name);
    names.find(|name| is_branch(name))
}

fn is_branch(name: &str) -> bool {
    name.starts_with("refs/heads/")
}

/// Position of HEAD.
#[derive(Debug)]
pub(super) struct Tip {
    /// The branch that it names, or HEAD itself.
    branch: String,
    commit: Option<Oid>,
}

impl Tip {
    /// Returns the last commit, if there is one.
    pub(super) fn commit(&self) -> Option<Oid> {
        self.commit
    }
}

/// Returns the position of HEAD.
pub(super) fn tip(repository: &Repository) -> Result<Tip> {
    Ok(Tip {
        branch: branch(repository).unwrap_or_else(|| BRANCH.to_owned()),
        commit: commit(repository)?,
    })
}

/// Returns the commit at which HEAD stands, if there is one.
pub(super) fn commit(repository: &Repository) -> Result<Option<Oid>> {
    match repository.refname_to_id(HEAD) {
        Ok(id) => Ok(Some(id)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(HistoryError::git("read")(error)),
    }
}

/// Moves HEAD from where it stands to a commit, which is remembered.
pub(super) fn advance(repository: &Repository, tip: &Tip, id: Oid) -> Result<()> {
    let branch = &*tip.branch;
    let moved = match tip.commit {
        Some(from) => repository.reference_matching(branch, id, true, from, "commit"),
        None => repository.reference(branch, id, false, "commit"),
    };
    moved.map_err(HistoryError::git("commit to"))?;
    record(repository, branch, id);
    Ok(())
}

/// Remembers a commit of a branch. It is only needed where the branch is lost, so it need not be on
/// disk.
pub(super) fn record(repository: &Repository, branch: &str, id: Oid) {
    let written = try_record(repository, branch, id).and_then(|length| {
        if length > LONGEST {
            // The commits of the lines that go are on disk, and so is the branch.
            fs::File::open(repository.path()).and_then(|place| Ok(rustix::fs::syncfs(&place)?))?;
            shorten(repository)?;
        }
        Ok(())
    });
    if let Err(error) = written {
        tracing::debug!(%error, "the last commit could not be recorded");
    }
}

/// Adds a line, and gives the bytes that there are then.
fn try_record(repository: &Repository, branch: &str, id: Oid) -> std::io::Result<u64> {
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .append(true)
        .create(true)
        .open(file(repository.path()))?;
    file.write_all(format!("{branch} {id}\n").as_bytes())?;
    file.stream_position()
}

/// Leaves the last commit of the branch only. Everything is on disk.
pub(super) fn shorten(repository: &Repository) -> std::io::Result<()> {
    let Some(branch) = branch(repository) else {
        return Ok(());
    };
    let Ok(id) = repository.refname_to_id(&branch) else {
        return Ok(());
    };
    replace(&file(repository.path()), format!("{branch} {id}\n"))
}

/// Returns the reference that holds the last commit: the branch that HEAD names, or HEAD itself.
pub(super) fn branch(repository: &Repository) -> Option<String> {
    let head = repository.find_reference(HEAD).ok()?;
    let named = head.symbolic_target().ok().flatten();
    Some(named.unwrap_or(HEAD).to_owned())
}

/// Returns `true` if the text of a file HEAD names a branch or a commit.
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
pub(super) fn restore(repository: &Repository, place: &Path) -> Result<()> {
    let fail = HistoryError::git("read");
    let id = repository.refname_to_id(HEAD);
    // A branch without a commit is a file that is not there; one that leads nowhere is another.
    let is_unborn = matches!(&id, Err(error) if error.code() == ErrorCode::NotFound);
    let id = id.map_err(&fail);
    let Err(error) = id.and_then(|id| object::commit(repository, id)) else {
        return Ok(());
    };
    let branch = branch(repository);
    let known = recorded(place).next().filter(|(known, id)| {
        branch.as_ref() == Some(known) && object::commit(repository, *id).is_ok()
    });
    match known {
        Some((branch, id)) => put_back(repository, &branch, id),
        None if is_unborn => Ok(()),
        None => Err(error),
    }
}

/// Gives a branch that was lost a commit.
pub(super) fn put_back(repository: &Repository, branch: &str, id: Oid) -> Result<()> {
    let place = repository.path();
    remove(&place.join(branch)).map_err(HistoryError::repository("mend"))?;
    repository
        .reference(branch, id, true, "put back")
        .map_err(HistoryError::git("put back"))?;
    tracing::warn!(place = %place.display(), %id, "a lost branch was restored");
    Ok(())
}
