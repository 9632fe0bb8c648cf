//! Files of the tree: one file an address.

pub(super) mod archive;
pub(super) mod compare;
pub(super) mod entries;
pub(super) mod find;
pub(super) mod links;
pub(super) mod read;
pub(super) mod upload;
pub(super) mod view;
pub(super) mod write;
