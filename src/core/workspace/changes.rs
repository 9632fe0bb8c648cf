//! Changes of zones: write lock, permit, effect, commit.
//!
//! A [`Writer`] has the write lock: within one zone, changes happen one after the other, so
//! that content that was read is still there when it is replaced. Before a change it asks, always in
//! this order, policy (file size), locked edits, ownership and quota, which yields a permit. Effects
//! exist only as methods of the writer and its permit; each returns a [`ZoneChange`] that undoes itself
//! unless it is committed. [`Writer::write`] is the one write of a file.

#![expect(
    clippy::disallowed_methods,
    reason = "the only module that records intents and ends them"
)]

pub mod bin;
mod change_request;
pub mod cross_zone;
mod encrypted;
mod lock;
pub mod lockedit;
mod open_ended;
mod owner;
mod permit;
pub(crate) mod prepared_contents;
mod removal;
mod repair;
pub mod sharing;
#[cfg(test)]
mod tests;
mod webdav;
mod write;

pub use crate::write_lock::BusyError;
pub(crate) use change_request::ChangeRequest;
pub use encrypted::{EncryptedError, expect_plain};
pub use lock::{Holder, LockError};
pub(crate) use open_ended::{Finished, LINE, OpenEndedPermit, OpenEndedRequest};
pub use owner::PermissionError;
pub(crate) use owner::check as check_owner;
pub use permit::{SizeError, Writer, WrittenFile, ZoneChange};
pub(crate) use repair::is_measured;
pub(crate) use webdav::check as check_lock;
pub use webdav::{ClientLockError, NewClientLock};
pub use write::{AppendContext, FileWrite};
