//! Files that another program encrypts: only that program may write them.

use fileshed_storage::{Entry, Kind, StagedEntry, Target};
use fileshed_types::{Error, Hint, NextCall, diagnostics};

/// The first bytes of encrypted files of later versions of the original Fileshed.
const MAGIC: &[u8] = b"FILESHED_ENC_V1\0";

/// Fails where a file is encrypted: what is written into it, or over it, makes it unreadable.
pub fn expect_plain(entry: &Entry) -> Result<(), Error> {
    if entry.kind() == Kind::File && entry.begins_with(MAGIC)? {
        let path = entry.path().as_str().to_owned();
        return Err(EncryptedError { path }.into());
    }
    Ok(())
}

/// Fails where something else than an encrypted file would take the place of one.
pub(super) fn expect_kept(target: &Target, staged: &StagedEntry) -> Result<(), Error> {
    let Some(entry) = target.entry() else {
        return Ok(());
    };
    match staged {
        StagedEntry::File(staged) if staged.begins_with(MAGIC)? => Ok(()),
        _ => expect_plain(entry),
    }
}

diagnostics! {
    /// A file that is encrypted.
    #[derive(Debug, thiserror::Error)]
    #[error("`{path}` is encrypted: writing to it or over it would destroy it")]
    pub struct EncryptedError {
        path: String,
    } => {
        code: InvalidFormat,
        hint: Hint::new("change it with the program that encrypts it, or write another file")
            .or("to replace it, delete it first: ")
            .call(NextCall::here("shed_delete").with("path", path.as_str())),
        details: { "path": path },
    }
}
