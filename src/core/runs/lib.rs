//! Runs: how anything runs.
//!
//! Commands of a zone and lines and shells of users are judged, started in the sandbox and watched, and
//! what they changed is taken into history. Databases and documents are read by processes of their own,
//! confined as commands are. [`Runs`] has what is true of all of them.

pub mod at_once;
pub mod command;
pub mod comparison;
pub mod convert;
pub mod databases;
pub mod extraction;
mod hidden_places;
pub mod misnamed;
pub mod process;
pub mod processes;
pub mod programs;
mod runs;
mod searched_documents;
pub mod terminal;
pub mod thumbnail;

use fileshed_sandbox::BuiltInJob;

pub use runs::Runs;
pub use searched_documents::SearchedDocuments;

/// Built-in jobs of confined processes, for [`fileshed_sandbox::serve`].
pub const BUILT_IN_JOBS: &[BuiltInJob] = &[
    databases::DATABASE_JOB,
    extraction::DOCUMENT_JOB,
    thumbnail::THUMBNAIL_JOB,
];

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/runs.md");
