//! Transfer: uploads and downloads, links and archives.
//!
//! Whole files or piece by piece, in any number at once: how much moves is bounded by the user and on
//! the whole server. [`Transfer`] has what is true of all of it.

pub mod archive;
mod attachment_cache;
pub mod attachments;
pub mod link;
mod link_key;
pub mod link_terms;
pub mod publication;
pub mod resumable;
mod transfer;
mod transfer_limiter;
pub mod upload;
pub mod waiting_uploads;

pub use resumable::{ArrivingUpload, NewUpload, ResumableError, UploadState};
pub use transfer::Transfer;
pub use transfer_limiter::{TransferBusyError, TransferPermit, TransferQueue};
pub use upload::{OnConflict, Stored, Upload, UploadError, UploadingFile};

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/transfer.md");
