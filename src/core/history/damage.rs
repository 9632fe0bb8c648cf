//! Histories that the disk damaged.
//!
//! No file depends on its history: a repository that cannot be used any more must not keep anybody
//! from working. What can be put right is put right where it is opened; the rest is set aside,
//! whole and beside its place, and a new history begins with the files that are there.

use std::io::ErrorKind;

use git2::{ErrorClass, ErrorCode};
use jiff::Timestamp;
use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::layout::NAME;
use super::{History, HistoryError, Result};
use fileshed_storage::Root;
use fileshed_types::Error;

/// Prefix of the names of repositories that were set aside.
pub const SET_ASIDE: &str = "repo.git.damaged-";

/// Repositories that may be set aside within one second.
const NEIGHBOURS: u32 = 100;

/// Failures of the system that pass, or that have nothing to do with one repository, as libgit2
/// words them.
const PASSING: [&str; 6] = [
    "Too many open files",
    "Cannot allocate memory",
    "Read-only file system",
    "Interrupted system call",
    "Resource temporarily unavailable",
    "Disk quota exceeded",
];

/// System errors of a broken repository, as opposed to failures that pass.
const BROKEN: [&str; 4] = [
    "No such file",
    "Not a directory",
    "Is a directory",
    "Input/output error",
];

/// Remedy for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// None that the server can apply.
    None,
    /// The rights of the server's account.
    Rights,
    /// Another repository.
    Another,
}

/// A failure in which one of a history may be.
pub trait HistoryFailure: From<HistoryError> {
    /// The failure of the history.
    fn of_history(&self) -> Option<&HistoryError>;
}

impl HistoryFailure for HistoryError {
    fn of_history(&self) -> Option<&HistoryError> {
        Some(self)
    }
}

impl HistoryFailure for Error {
    fn of_history(&self) -> Option<&HistoryError> {
        self.cause()
    }
}

impl HistoryError {
    pub(super) fn remedy(&self) -> Remedy {
        match self {
            Self::Git { action, source } => of_git(action, source),
            Self::Damaged { .. } => Remedy::Another,
            // `mark` is about the file in the work tree that names the repository.
            Self::Repository { action, source } if *action != "mark" => of_file(source),
            Self::Repository { .. }
            | Self::Unadoptable { .. }
            | Self::Unfinished
            | Self::Full
            | Self::TooLarge(_)
            | Self::Disk(_) => Remedy::None,
        }
    }
}

fn of_git(action: &str, source: &git2::Error) -> Remedy {
    let text = source.message();
    match (source.class(), source.code()) {
        // Somebody's git works there at this moment.
        (_, ErrorCode::Locked | ErrorCode::Modified) => Remedy::None,
        _ if text.contains("Permission denied") => Remedy::Rights,
        _ if PASSING.iter().any(|passing| text.contains(passing)) => Remedy::None,
        (ErrorClass::NoMemory | ErrorClass::Thread | ErrorClass::Callback, _) => Remedy::None,
        // Of names that git refuses in a tree; the reader of trees says `read`.
        (ErrorClass::Tree | ErrorClass::Invalid, _) if !matches!(action, "read" | "open") => {
            Remedy::None
        }
        (ErrorClass::Os, _)
            if matches!(action, "write to" | "commit to" | "pack")
                && !BROKEN.iter().any(|broken| text.contains(broken)) =>
        {
            Remedy::None
        }
        _ => Remedy::Another,
    }
}

fn of_file(source: &std::io::Error) -> Remedy {
    match source.kind() {
        ErrorKind::PermissionDenied => Remedy::Rights,
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::InvalidData
        | ErrorKind::UnexpectedEof => Remedy::Another,
        _ if source.raw_os_error() == Some(Errno::IO.raw_os_error()) => Remedy::Another,
        _ => Remedy::None,
    }
}

impl History {
    /// Works on the history of `data`. Where the repository turns out to be damaged, it is set
    /// aside and the same is done with a new one.
    pub fn work<T, E: HistoryFailure>(
        parent: &Root,
        data: &Root,
        now: Timestamp,
        mut work: impl FnMut(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut remedies = [Remedy::Rights, Remedy::Another].into_iter();
        loop {
            let opened = Self::open(parent, data).map_err(E::from);
            let done = opened.and_then(|history| work(&history));
            let failed = match done {
                Err(failed) => failed,
                done => return done,
            };
            let wanted = failed.of_history().map(HistoryError::remedy);
            // Each at most once, and rights before anything is moved.
            match wanted.filter(|wanted| remedies.any(|remedy| remedy == *wanted)) {
                Some(Remedy::Rights) => give_rights(parent)?,
                Some(Remedy::Another) => set_aside(parent, now, failed.of_history())?,
                _ => return Err(failed),
            }
        }
    }
}

/// Gives the server back what it needs of every file of the repository.
fn give_rights(parent: &Root) -> Result<()> {
    match parent.existing_subdirectory(NAME)? {
        Some(repository) => Ok(repository.grant_owner()?),
        None => Ok(()),
    }
}

fn set_aside(parent: &Root, now: Timestamp, why: Option<&HistoryError>) -> Result<()> {
    let moment = now.strftime("%Y%m%dT%H%M%SZ");
    for number in 1..NEIGHBOURS {
        let name = match number {
            1 => format!("{SET_ASIDE}{moment}"),
            number => format!("{SET_ASIDE}{moment}-{number}"),
        };
        let (here, flags) = (parent.handle(), RenameFlags::NOREPLACE);
        let renamed = match rustix::fs::renameat_with(here, NAME, here, &*name, flags) {
            // NFS knows no flags, and the kernel puts no directory on another that has something in it.
            Err(Errno::INVAL) => rustix::fs::renameat(here, NAME, here, &*name),
            renamed => renamed,
        };
        match renamed {
            Ok(()) => {
                let cause = why.map(|error| match std::error::Error::source(error) {
                    Some(cause) => cause.to_string(),
                    None => format!("{error:?}"),
                });
                let place = parent.location().display();
                tracing::error!(
                    %place, kept = name, cause,
                    "a history is damaged: it was set aside, and a new one begins"
                );
                return Ok(());
            }
            // Gone already: the new one can be made.
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::EXIST | Errno::NOTEMPTY) => {}
            Err(error) => return Err(HistoryError::repository("set aside")(error.into())),
        }
    }
    Err(HistoryError::repository("set aside")(Errno::EXIST.into()))
}
