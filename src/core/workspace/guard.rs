//! What stands between a caller and a change.
//!
//! A [`Writer`] has the write lock: within one zone, changes happen one after the other, so
//! that what was read is still there when it is replaced. [`Writer::guard`] then asks, always in
//! this order, policy (file size), locked edits, ownership and quota, and yields a [`Permit`]. Effects exist
//! only as its methods; each gives a [`Change`] that undoes itself unless it is committed.

#![expect(
    clippy::disallowed_methods,
    reason = "the only module that records intents and ends them"
)]

mod access;
mod bin;
mod bin_move;
mod change_request;
mod claims;
mod client_lock;
mod cross_zone;
mod edits;
mod encrypted;
mod finished;
mod group_transaction;
mod journal;
mod lock;
mod open_ended;
mod open_ended_edit;
mod owner;
mod permit;
mod records;
mod repair;
mod space;
mod tenant_removal;
#[cfg(test)]
mod tests;
mod unfinished;
mod uploads_end;

pub use crate::write_lock::BusyError;
pub use crate::zone::{ModeError, parse_mode};
pub use change_request::ChangeRequest;
pub use client_lock::{ClientLockError, NewClientLock};
pub(crate) use client_lock::{check as check_lock, check_clients};
pub use cross_zone::{CrossZonePermit, CrossZoneWriter};
pub(crate) use edits::{EditWriter, has_working_copy, working_copy};
pub use encrypted::{EncryptedError, expect_plain};
pub(crate) use finished::Finished;
use group_transaction::GroupTransaction;
pub(crate) use lock::holder;
pub use lock::{Holder, LockError};
pub(crate) use open_ended::{LINE, OpenEndedPermit, OpenEndedRequest};
pub use owner::PermissionError;
pub(crate) use owner::{check as check_owner, keys as keys_of_records};
pub use permit::{Change, Permit, SizeError, Writer};
pub(crate) use repair::is_measured;
