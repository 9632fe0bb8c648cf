//! What stores files.

use std::io;
use std::ops::Range;

use fileshed_types::{Error, ZonePath};

use crate::{EntryType, Metadata, Version};

/// The files of one user. Calls block; several may run at once.
///
/// Every provider promises the same:
///
/// - Its root is a directory that is always there.
/// - A path is relative and clean ([`ZonePath`]): nothing leads out.
/// - Writing a file makes the directories above it. A directory whose last entry goes may go too.
/// - A reader sees the old content or the new one, never a part of either.
/// - A [`Condition`] is checked and kept in one step: of two writers that saw the same version, one
///   is refused.
/// - [`Metadata::created_at`] and [`Metadata::mime_type`] survive a write (a write that names a type
///   sets it), a rename and a restart.
pub trait Provider: Send + Sync {
    /// What is at `path`.
    fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError>;

    /// The bytes of a file in `range`, as many of them as it has, with its metadata of the same
    /// moment.
    fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<Content, ProviderError>;

    /// Gives the file at `path` the content of `source`, to its end.
    fn write(
        &self,
        path: &ZonePath,
        source: &mut dyn io::Read,
        write: &Write,
    ) -> Result<Written, ProviderError>;

    /// Entries of a directory in the order of their names' bytes, at most `most` (which is 1 or more)
    /// behind the name `after`.
    fn list(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, ProviderError>;

    /// The same entries with nothing but their kinds: where a list asks about each of them, this costs
    /// a search for names a fraction of it.
    fn names(
        &self,
        directory: &ZonePath,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page<Named>, ProviderError> {
        let page = self.list(directory, after, most)?;
        Ok(page.map(Named::from))
    }

    /// Removes a file, or a directory with everything below it.
    fn remove(&self, path: &ZonePath) -> Result<(), ProviderError>;

    /// Moves a file, or a directory with everything below it, to a path where nothing is.
    fn rename(&self, from: &ZonePath, to: &ZonePath) -> Result<Metadata, ProviderError>;
}

/// Bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// The bytes of the range.
    pub bytes: Vec<u8>,
    /// Of the whole file.
    pub metadata: Metadata,
}

/// How a file is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// Its type; without, it keeps the one that it has.
    pub mime_type: Option<String>,
    /// What must be true.
    pub condition: Condition,
}

/// What must be true of a path, for a change to be made there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Condition {
    /// Nothing.
    #[default]
    Any,
    /// Nothing is there.
    Absent,
    /// The file has this version.
    Version(Version),
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// As it is now.
    pub metadata: Metadata,
    /// Whether nothing was there before.
    pub created: bool,
}

/// Some entries of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<Entry = Metadata> {
    /// In the order of their names' bytes.
    pub entries: Vec<Entry>,
    /// Whether there are more behind the last one.
    pub more: bool,
}

impl<Entry> Default for Page<Entry> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            more: false,
        }
    }
}

impl<Entry> Page<Entry> {
    /// The same with something else of each entry.
    pub fn map<Other>(self, of: impl FnMut(Entry) -> Other) -> Page<Other> {
        Page {
            entries: self.entries.into_iter().map(of).collect(),
            more: self.more,
        }
    }
}

/// A name that is taken, and by what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it is, seen from the root of the provider.
    pub path: ZonePath,
    /// What it is.
    pub kind: EntryType,
}

impl From<Metadata> for Named {
    fn from(metadata: Metadata) -> Self {
        Self {
            path: metadata.path,
            kind: metadata.kind,
        }
    }
}

/// Why a provider did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// Nothing is there.
    #[error("nothing is at `{0}`")]
    NotFound(ZonePath),
    /// A file was needed.
    #[error("`{0}` is a directory")]
    IsDirectory(ZonePath),
    /// A directory was needed, there or above.
    #[error("`{0}` is not a directory")]
    NotDirectory(ZonePath),
    /// Something is there already.
    #[error("something is at `{0}`")]
    Exists(ZonePath),
    /// The file has another version than the condition says, or is gone.
    #[error("`{0}` is not what it was")]
    Changed(ZonePath),
    /// The storage does not answer, or does not answer in time; the same call may work later.
    /// Whether a change was made is not known.
    #[error("the storage does not answer: {0}")]
    Unavailable(String),
    /// A refusal with words of its own: quota, a locked edit, rights.
    #[error("{0}")]
    Refused(Error),
}
