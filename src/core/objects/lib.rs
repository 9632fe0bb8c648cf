//! Files of users in an object storage: S3 and what speaks it, Azure Blob Storage, Google Cloud
//! Storage.
//!
//! An [`ObjectStorage`] is a bucket, or a part of one. [`ObjectStorage::files`] is what one
//! namespace has in it, as a [`Provider`](fileshed_files::Provider): files are objects under their
//! own names, so that other programs of the same account find them, with their type, times and last
//! writes as metadata. A directory is what lies below it, or an empty object that keeps it.
//!
//! Several servers may use one bucket at once. Every write is made under the condition that the
//! state that it began with is still there, so that no update is lost; a large file is an object
//! under a fresh key and a small one, under the name of the file, that names it. An answer that is
//! lost is looked for (module `write`), and a request that is refused because there are too many is
//! repeated a little later.
//!
//! Calls block, and must not be made on a thread that runs futures.
//!
//! ```
//! use fileshed_files::{Files, Limits, ReadFile, WriteFile};
//! use fileshed_objects::ObjectStorage;
//!
//! // With `s3://bucket/path` it is S3; `AWS_ACCESS_KEY_ID` and the like say as whom.
//! let storage = ObjectStorage::in_memory()?;
//! let alice = storage.files("alice");
//! let files = Files::new(&alice, Limits::default());
//! files.write_file(&WriteFile::new("notes/todo.md", "# To do\n"))?;
//! let read = files.read_file(&ReadFile::new("notes/todo.md"))?;
//! assert_eq!(read.text(), Some("     1→# To do"));
//!
//! let bob = storage.files("bob");
//! let nothing = Files::new(&bob, Limits::default()).read_file(&ReadFile::new("notes/todo.md"));
//! assert!(nothing.is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bucket;
mod content;
mod failure;
mod keys;
mod list;
mod look;
mod namespace;
mod provider;
mod read;
mod record;
mod remove;
mod storage;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use failure::Failure;
pub use namespace::ObjectFiles;
pub use storage::{AddressError, ObjectStorage};
