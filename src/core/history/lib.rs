//! The only place that knows git: what a zone was, change by change.
//!
//! The repository lies beside the work tree, where no path of the zone leads. What an operation
//! changed is committed path by path, straight from HEAD's tree, so that a commit costs the same
//! in a zone of ten files and of ten thousand. What a command may have changed is found by a walk
//! that reads only files whose stat is new. Bytes are stored as they are: no attribute, filter or
//! setting changes them. Names that are not UTF-8, special files, empty directories and whatever
//! git takes for a `.git` are not versioned.
//!
//! Callers hold the writer lock of the zone around every call, opening included; only packing and
//! [`file_at`], which reads, go on beside commits.

mod author;
mod capture;
mod commit;
mod commit_range;
mod compare;
mod config;
mod content;
mod damage;
mod descent;
mod error;
mod handle;
mod head;
mod large;
mod layout;
mod line;
mod moved;
mod object;
mod pack_place;
pub mod packing;
pub mod power_cut;
mod repository;
mod restore;
mod reversal;
pub mod size;
mod stat_cache;
#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/history.md");

#[cfg(test)]
mod tests;
mod tree;
mod version;

pub use author::Author;
pub use capture::Captured;
pub use commit::subject;
pub use commit_range::{CommitRange, CommitReader};
pub use compare::{ChangeKind, FileChange, ZoneComparison, holds};
pub use damage::{HistoryFailure, SET_ASIDE};
pub use error::HistoryError;
use error::Result;
pub use handle::History;
pub use large::PreparedContent;
pub use line::{HeldLine, KeptTip, ReferenceState};
pub use moved::MovedFile;
pub use object::CommitId;
pub use reversal::{
    LARGEST_MERGED, MOST_MERGED, Reversal, ReversalConflict, Reversed, ReversedFiles, merge_texts,
};
pub use version::{FileVersion, file_at, last_with};
