//! Uploads and downloads: whole files, piece by piece, in any number at once.
//!
//! An [`Upload`] is one request. Its files are staged while they arrive, held to the largest size
//! and to the quota at every piece, and get their names together when the last one is complete:
//! one write lock, one permit, one commit. Until then its files are not visible, and an upload that
//! is dropped is gone. A [`TransferPermit`] is the right to move bytes at all: so many for one
//! user, so many on the whole server.

mod resumable;
mod upload;

pub use crate::transfer_limiter::{TransferBusyError, TransferPermit, TransferQueue};
pub use resumable::{ArrivingUpload, NewUpload, ResumableError, ResumableUploads, UploadState};
pub use upload::{Incoming, OnConflict, Stored, Upload, UploadError};
