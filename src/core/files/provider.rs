//! Trait of providers, which store files.

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
/// - A [`Precondition`] is checked and kept in one step: of two writers that saw the same version, one
///   is refused.
/// - [`Metadata::created_at`] and [`Metadata::mime_type`] survive a write (a write that names a type
///   sets it), a rename and a restart.
///
/// A storage that has keys and no directories, as buckets are, can be one: a directory is what several
/// keys begin with. Here a map stands for the bucket, and its lock for the conditions that a bucket
/// checks. The feature `conformance` brings tests of all promises.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::io::Read;
/// use std::ops::Range;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::sync::{Mutex, MutexGuard, PoisonError};
///
/// use fileshed_files::{
///     EntryType, FileBytes, Files, Metadata, Page, Precondition, Provider, ProviderError, ReadFile,
///     ToolLimits, Version, Write, WriteFile, Written, ZonePath,
/// };
/// use jiff::Timestamp;
///
/// type Objects = BTreeMap<String, (Metadata, Vec<u8>)>;
///
/// #[derive(Default)]
/// struct Bucket {
///     objects: Mutex<Objects>,
///     versions: AtomicU64,
/// }
///
/// /// What the keys below a directory begin with.
/// fn prefix(path: &ZonePath) -> String {
///     if path.is_root() { String::new() } else { format!("{path}/") }
/// }
///
/// fn directory(path: &ZonePath) -> Metadata {
///     Metadata {
///         path: path.clone(),
///         kind: EntryType::Directory,
///         mime_type: None,
///         size: 0,
///         created_at: Timestamp::UNIX_EPOCH,
///         updated_at: Timestamp::UNIX_EPOCH,
///         version: Version(String::new()),
///     }
/// }
///
/// fn is_directory(objects: &Objects, path: &ZonePath) -> bool {
///     path.is_root() || objects.keys().any(|key| key.starts_with(&prefix(path)))
/// }
///
/// /// Fails where a file is in the place of a directory above `path`.
/// fn expect_directories(objects: &Objects, path: &ZonePath) -> Result<(), ProviderError> {
///     let above = std::iter::successors(path.parent(), ZonePath::parent);
///     match above.into_iter().find(|above| objects.contains_key(above.as_str())) {
///         Some(file) => Err(ProviderError::NotDirectory(file)),
///         None => Ok(()),
///     }
/// }
///
/// fn find(objects: &Objects, path: &ZonePath) -> Result<Metadata, ProviderError> {
///     if let Some((metadata, _)) = objects.get(path.as_str()) {
///         return Ok(metadata.clone());
///     }
///     expect_directories(objects, path)?;
///     if is_directory(objects, path) {
///         return Ok(directory(path));
///     }
///     Err(ProviderError::NotFound(path.clone()))
/// }
///
/// /// The keys of a file, or of all files below a directory.
/// fn keys(objects: &Objects, path: &ZonePath) -> Vec<String> {
///     let is_in = |key: &&String| *key == path.as_str() || key.starts_with(&prefix(path));
///     objects.keys().filter(is_in).cloned().collect()
/// }
///
/// impl Bucket {
///     fn objects(&self) -> MutexGuard<'_, Objects> {
///         self.objects.lock().unwrap_or_else(PoisonError::into_inner)
///     }
/// }
///
/// impl Provider for Bucket {
///     fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError> {
///         find(&self.objects(), path)
///     }
///
///     fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<FileBytes, ProviderError> {
///         let objects = self.objects();
///         if find(&objects, path)?.is_directory() {
///             return Err(ProviderError::IsDirectory(path.clone()));
///         }
///         let (metadata, content) = &objects[path.as_str()];
///         let end = range.end.min(content.len() as u64);
///         let start = range.start.min(end);
///         Ok(FileBytes {
///             bytes: content[start as usize..end as usize].to_vec(),
///             metadata: metadata.clone(),
///         })
///     }
///
///     fn write(
///         &self,
///         path: &ZonePath,
///         source: &mut dyn Read,
///         write: &Write,
///     ) -> Result<Written, ProviderError> {
///         let mut content = Vec::new();
///         let read = source.read_to_end(&mut content);
///         read.map_err(|error| ProviderError::Unavailable(error.to_string()))?;
///         let mut objects = self.objects();
///         expect_directories(&objects, path)?;
///         if is_directory(&objects, path) {
///             return Err(ProviderError::IsDirectory(path.clone()));
///         }
///         let old = objects.get(path.as_str()).map(|(metadata, _)| metadata.clone());
///         match (&write.condition, &old) {
///             (Precondition::Absent, Some(_)) => return Err(ProviderError::Exists(path.clone())),
///             (Precondition::Version(wanted), old)
///                 if old.as_ref().is_none_or(|old| old.version != *wanted) =>
///             {
///                 return Err(ProviderError::Changed(path.clone()));
///             }
///             _ => {}
///         }
///         let (now, kept) = (Timestamp::now(), old.as_ref());
///         let metadata = Metadata {
///             path: path.clone(),
///             kind: EntryType::File,
///             mime_type: write.mime_type.clone().or(kept.and_then(|old| old.mime_type.clone())),
///             size: content.len() as u64,
///             created_at: kept.map_or(now, |old| old.created_at),
///             updated_at: now,
///             version: Version(self.versions.fetch_add(1, Ordering::Relaxed).to_string()),
///         };
///         objects.insert(path.to_string(), (metadata.clone(), content));
///         Ok(Written { metadata, created: old.is_none() })
///     }
///
///     fn list(
///         &self,
///         path: &ZonePath,
///         after: Option<&str>,
///         most: usize,
///     ) -> Result<Page, ProviderError> {
///         let objects = self.objects();
///         if !find(&objects, path)?.is_directory() {
///             return Err(ProviderError::NotDirectory(path.clone()));
///         }
///         let prefix = prefix(path);
///         let below = objects.keys().filter_map(|key| key.strip_prefix(&prefix));
///         let names = below.map(|key| key.split('/').next().unwrap_or(key));
///         let mut names: Vec<&str> = names.filter(|name| after.is_none_or(|after| *name > after)).collect();
///         names.sort_unstable();
///         names.dedup();
///         let more = names.len() > most;
///         let entries = names.into_iter().take(most);
///         let entries = entries.map(|name| find(&objects, &ZonePath::found(format!("{prefix}{name}"))));
///         Ok(Page { entries: entries.collect::<Result<_, _>>()?, more })
///     }
///
///     fn remove(&self, path: &ZonePath) -> Result<(), ProviderError> {
///         let mut objects = self.objects();
///         find(&objects, path)?;
///         for key in keys(&objects, path) {
///             objects.remove(&key);
///         }
///         Ok(())
///     }
///
///     fn rename(&self, from: &ZonePath, to: &ZonePath) -> Result<Metadata, ProviderError> {
///         let mut objects = self.objects();
///         find(&objects, from)?;
///         expect_directories(&objects, to)?;
///         let is_taken = objects.contains_key(to.as_str()) || is_directory(&objects, to);
///         if is_taken || to.as_str().starts_with(&prefix(from)) {
///             return Err(ProviderError::Exists(to.clone()));
///         }
///         for key in keys(&objects, from) {
///             if let Some((mut metadata, content)) = objects.remove(&key) {
///                 let key = format!("{to}{}", &key[from.as_str().len()..]);
///                 metadata.path = ZonePath::found(key.clone());
///                 objects.insert(key, (metadata, content));
///             }
///         }
///         find(&objects, to)
///     }
/// }
///
/// let bucket = Bucket::default();
/// let files = Files::new(&bucket, ToolLimits::default());
/// files.write_file(&WriteFile::new("notes/todo.md", "# To do\n"))?;
/// let read = files.read_file(&ReadFile::new("notes/todo.md"))?;
/// assert_eq!(read.text(), Some("     1→# To do"));
/// # #[cfg(feature = "conformance")]
/// fileshed_files::conformance::keeps_every_promise(&bucket);
/// # Ok::<(), fileshed_files::Error>(())
/// ```
pub trait Provider: Send + Sync {
    /// Returns the metadata of the file or directory at `path`.
    fn stat(&self, path: &ZonePath) -> Result<Metadata, ProviderError>;

    /// The bytes of a file in `range`, as many of them as it has, with its metadata of the same
    /// moment.
    fn read(&self, path: &ZonePath, range: Range<u64>) -> Result<FileBytes, ProviderError>;

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
pub struct FileBytes {
    /// The bytes of the range.
    pub bytes: Vec<u8>,
    /// Metadata of the whole file.
    pub metadata: Metadata,
}

/// Options of a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// Its type; without, it keeps the one that it has.
    pub mime_type: Option<String>,
    /// The condition under which it is written.
    pub condition: Precondition,
}

/// Condition on a path; a change fails if it does not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Precondition {
    /// No condition.
    #[default]
    Any,
    /// The path is free.
    Absent,
    /// The file has this version.
    Version(Version),
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// As it is now.
    pub metadata: Metadata,
    /// `true` if the file is new.
    pub created: bool,
}

/// Some entries of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<Entry = Metadata> {
    /// In the order of their names' bytes.
    pub entries: Vec<Entry>,
    /// `true` if there are more after the last one.
    pub more: bool,
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
    /// Its path below the root of the provider.
    pub path: ZonePath,
    /// Its type.
    pub kind: EntryType,
}

impl Named {
    /// Returns `true` if it is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == EntryType::Directory
    }
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
    /// No file or directory is at the path.
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
    /// The storage does not answer, or not in time; the same call may work later. It is unknown if a change
    /// was made.
    #[error("the storage does not answer: {0}")]
    Unavailable(String),
    /// A refusal with words of its own: quota, a locked edit, rights.
    #[error("{0}")]
    Refused(Error),
}

impl From<Error> for ProviderError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}
