//! Access to the file system; no other crate touches files.
//!
//! No function checks a path as text and then opens it. A [`Root`] is an open directory; openat2
//! resolves below it (`RESOLVE_BENEATH`, no magic links) to a parent handle and one name, and every
//! effect acts on that pair. A symbolic link or directory swapped in between has no effect, because the
//! handle still is the resolved one. New content is staged in a directory of the same file system that
//! no path of a zone can name, and moved in by one rename. So readers see the old file or the new one.

mod attributes;
mod cached;
mod directory;
mod entry;
mod error;
mod growing_file;
mod handle;
mod kind;
mod promises;
mod rename;
mod reserve;
mod rights;
mod root;
mod spelling;
mod staging;
mod stamp;
mod store;
mod sync;
#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/storage.md");

#[cfg(test)]
mod tests;
mod walk;
mod watch;

pub use attributes::{Attributes, is_media_type};
pub use cached::{CachedFile, CachedReader};
pub use directory::{Directory, Name};
pub use entry::{Entry, Target, Vacancy};
pub use error::DiskError;
pub use growing_file::{ArrivingFile, LogFile, OpenedArrivingFile};
pub use kind::Kind;
pub use promises::{Promise, Support};
pub use reserve::Reserve;
pub use root::Root;
pub use staging::{
    Appendable, Appended, Displaced, Installed, Journal, KeepAs, Merge, PrivateDirectory, Relief,
    Removals, Removed, Remover, Renamed, ReplacedFile, Staged, StagedDirectory, StagedEntry,
    Staging, give_way,
};
pub use stamp::{ContentState, FileIdentity, Stamp};
pub use store::UnclosedFile;
pub use sync::Flusher;
pub use walk::{Totals, TreeSummary, WalkEntry, Weight};
pub use watch::{ChangedPaths, Watch, WatchedName};
