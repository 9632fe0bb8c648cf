//! Files of the tree: one file an address.

pub(super) mod archive;
pub(super) mod compare;
pub(super) mod cwd;
pub(super) mod delete;
pub(super) mod display;
mod document;
mod entry_type;
pub(super) mod glob;
pub(super) mod grep;
pub(super) mod links;
pub(super) mod list;
pub(super) mod matches;
pub(super) mod mkdir;
pub(super) mod r#move;
pub(super) mod read;
pub(super) mod replace;
pub(super) mod search;
pub(super) mod upload;
pub(super) mod view;
pub(super) mod write;
