//! Zones: the directories of users and groups.
//!
//! A [`Store`] is an opened data directory with what is true of all of it: settings, clock, registry,
//! queues. [`Store::zone`] opens a zone of a caller and returns a [`Zone`]: a handle with rights.
//! [`Zone::entry`] and [`Zone::vacancy`] resolve a path to a directory handle and one name; from there
//! on nobody holds a path. A [`view::View`] shows all zones of a caller as one tree.
//!
//! This crate changes nothing in a zone. It has the write locks and the tables of running work that
//! changes need.

pub mod chat_host;
pub mod chats;
pub mod commit_coalescer;
pub mod content_digest;
pub mod directory;
pub mod free_names;
mod generated_key;
pub mod inspect;
mod live_list;
pub mod namespace;
mod packer;
pub mod path_suggestions;
pub mod process_identity;
mod recalled;
pub mod running_commands;
pub mod space_in_use;
pub mod store;
pub mod tenant;
pub mod trust;
mod trust_list;
pub mod view;
pub mod watched;
pub mod write_leases;
pub mod write_lock;
pub mod zone;
pub mod zone_access;

pub use generated_key::GeneratedKey;
pub use store::{Hooks, Store};
pub use zone::Zone;

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/zones.md");
