//! Status of a file since a locked edit opened it.

use sha2::{Digest as _, Sha256};

use fileshed_registry::Lock;
use fileshed_storage::{DiskError, Entry, Kind};
use fileshed_types::{Hint, NextCall, diagnostics};
use fileshed_zones::content_digest::sha256_of;
use fileshed_zones::zone::ZonePath;

/// Status of the file since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditStatus {
    /// Its content is the same.
    Unchanged,
    /// It has another content.
    Changed,
    /// It was deleted or renamed.
    Gone,
    /// Something else has its name.
    Replaced(Kind),
}

impl EditStatus {
    /// Its name in answers.
    fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Replaced(_) => "replaced",
        }
    }

    /// The change in words.
    fn describe(self) -> String {
        match self {
            Self::Unchanged => "is unchanged".to_owned(),
            Self::Changed => "was changed".to_owned(),
            Self::Gone => "was deleted or renamed".to_owned(),
            Self::Replaced(kind) => format!("was replaced by {}", kind.describe()),
        }
    }

    /// Compares `entry`, which is at the path of `lock` now, with the content that was opened. If
    /// that is not known, others could write only under an expired lock.
    pub(super) fn of(lock: &Lock, entry: Option<&Entry>, expired: bool) -> Result<Self, DiskError> {
        let Some(entry) = entry else {
            return Ok(Self::Gone);
        };
        if entry.kind() != Kind::File {
            return Ok(Self::Replaced(entry.kind()));
        }
        let same = match lock.opened {
            Some(opened) => of_file(entry)? == opened,
            None => !expired,
        };
        Ok(if same { Self::Unchanged } else { Self::Changed })
    }
}

/// The hash of a content.
pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The hash of a file's content.
pub(super) fn of_file(entry: &Entry) -> Result<[u8; 32], DiskError> {
    let hash = sha256_of(&entry.open()?, entry.path())?;
    Ok(hash.finalize().into())
}

diagnostics! {
    /// The file is not what the locked edit opened.
    #[derive(Debug, thiserror::Error)]
    #[error("`{path}` {} since this locked edit opened it; the working copy stays", status.describe())]
    pub struct ChangedError {
        pub(super) path: ZonePath,
        pub(super) status: EditStatus => [EditStatus::Changed, EditStatus::Gone, EditStatus::Replaced(Kind::Directory)],
    } => {
        code: PreconditionFailed,
        hint: choices(path, *status),
        details: { "path": path.as_str(), "file": status.as_str() },
    }
}

/// To compare, to save all the same, or to give the copy up.
fn choices(path: &ZonePath, status: EditStatus) -> Hint {
    let path = path.display();
    let call = |operation| NextCall::here(operation).with("path", path);
    let copy = call("shed_lockedit_exec")
        .with("cmd", "cat")
        .with("args", vec!["."]);
    let save = call("shed_lockedit_save").with("overwrite", true);
    let cancel = call("shed_lockedit_cancel");
    match status {
        EditStatus::Gone => Hint::from(copy)
            .say(" shows the working copy")
            .or("")
            .call(save)
            .say(" creates the file again from it, ")
            .call(cancel)
            .say(" drops it"),
        EditStatus::Replaced(_) => Hint::from(copy)
            .say(" shows the working copy")
            .or("write it to another path with shed_create_file, or rename what is there, then ")
            .call(save)
            .or("")
            .call(cancel)
            .say(" drops it"),
        EditStatus::Changed | EditStatus::Unchanged => {
            let file = NextCall::here("shed_exec")
                .with("cmd", "cat")
                .with("args", vec![path]);
            Hint::new("compare the two: ")
                .call(copy)
                .say(" shows the working copy, ")
                .call(file)
                .say(" shows the file")
                .or("then ")
                .call(save)
                .say(" replaces the file, or ")
                .call(cancel)
                .say(" drops the copy and shed_lockedit_open begins with the current file")
        }
    }
}
