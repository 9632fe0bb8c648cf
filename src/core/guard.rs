//! What stands between a caller and a change.
//!
//! A [`Writer`] has the caller's turn: within one zone, changes happen one after the other, so
//! that what was read is still there when it is replaced. [`Writer::guard`] then asks, always in
//! this order, policy (file size), locked edits, ownership and quota, and yields a [`Permit`]. Effects exist
//! only as its methods; each gives a [`Change`] that undoes itself unless it is committed.

mod claims;
mod crossing;
mod encrypted;
mod journal;
mod lock;
mod owner;
mod permit;
pub(crate) mod queue;
#[cfg(test)]
mod tests;
mod transaction;

pub use crossing::{Crossing, Passage};
pub use encrypted::{EncryptedError, expect_plain};
pub use lock::{Holder, LockError};
pub(crate) use lock::{check as check_lock, holder};
pub use owner::{ModeError, PermissionError, parse_mode};
pub(crate) use owner::{check as check_owner, keys as keys_of_records};
pub use permit::{Change, Needs, Permit, SizeError, Writer};
pub use queue::BusyError;
pub(crate) use transaction::Stand;
