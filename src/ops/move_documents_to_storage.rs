//! `shed_move_documents_to_storage`: move a file or directory of documents into storage.

use super::cross_zone::{self, BetweenZones};
use super::prelude::*;

/// `shed_move_documents_to_storage`
pub struct MoveDocumentsToStorage;

impl BetweenZones for MoveDocumentsToStorage {
    const ID: &str = "shed_move_documents_to_storage";
    const SUMMARY: &str = "Move from documents into storage";
    const DOC: &str = "Move a file or directory from documents into storage; its history stays in documents. shed_move_documents_to_storage(src=\"old.md\", dest=\"archive/old.md\")";
    const EXAMPLES: &[&str] = &[r#"{"src": "old.md", "dest": "archive/old.md"}"#];
    const FROM: ZoneName = ZoneName::Documents;
    const TO: ZoneName = ZoneName::Storage;
    type Request = cross_zone::Request;
}
