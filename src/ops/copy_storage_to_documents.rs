//! `shed_copy_storage_to_documents`: copy a file or directory of storage into documents.

use super::cross_zone::{self, BetweenZones};
use super::prelude::*;

/// `shed_copy_storage_to_documents`
pub struct CopyStorageToDocuments;

impl BetweenZones for CopyStorageToDocuments {
    const ID: &str = "shed_copy_storage_to_documents";
    const SUMMARY: &str = "Copy from storage into documents";
    const DOC: &str = "Copy a file or directory from storage into documents, as one commit. shed_copy_storage_to_documents(src=\"draft.md\", dest=\"reports/final.md\")";
    const ERRORS: &[&[Code]] = errors![PATH, EXISTING_FILE, GROWTH; FileExists, FileLocked];
    const EXAMPLES: &[&str] = &[r#"{"src": "draft.md", "dest": "reports/final.md"}"#];
    const FROM: ZoneName = ZoneName::Storage;
    const TO: ZoneName = ZoneName::Documents;
    const COPIES: bool = true;
    type Request = cross_zone::Request;
}
