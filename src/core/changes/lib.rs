//! Changes of zones: write lock, permit, effect, commit.
//!
//! A [`Writer`] has the write lock: within one zone, changes happen one after the other, so
//! that content that was read is still there when it is replaced. Before a change it asks, always in
//! this order, policy (file size), locked edits, ownership and quota, which yields a permit. Effects
//! exist only as methods of the writer and its permit; each returns a [`ZoneChange`] that undoes itself
//! unless it is committed. [`Writer::write`] is the one write of a file.

pub mod bin;
pub mod change_list;
mod change_request;
pub mod cross_zone;
mod encrypted;
pub mod file_storage;
mod former;
mod judge;
pub mod listing;
mod lock;
pub mod lockedit;
pub mod open_ended;
mod owner;
mod permit;
pub mod prepared_contents;
pub mod removal;
pub mod repair;
pub mod sharing;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod undo;
mod undone_commits;
pub mod webdav;
mod write;
pub mod zone_files;

pub use encrypted::{EncryptedError, expect_plain};
pub use file_storage::FileStorage;
pub use fileshed_zones::write_lock::BusyError;
pub use former::ExpectedChange;
pub use lock::{Holder, LockError};
pub use owner::{PermissionError, check as check_owner};
pub use permit::{
    SizeError, Writer, WrittenFile, ZoneChange, hold, hold_within, make_directory, receiver,
    remover, writer,
};
pub use webdav::{ClientLockError, NewClientLock, check as check_lock, holders};
pub use write::{AppendContext, FileWrite};
pub use zone_files::ZoneFiles;

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/changes.md");
