//! `shed_move_uploads_to_documents`: move a file or directory of uploads into documents.

use super::cross_zone::{self, BetweenZones};
use super::prelude::*;

/// `shed_move_uploads_to_documents`
pub struct MoveUploadsToDocuments;

impl BetweenZones for MoveUploadsToDocuments {
    const ID: &str = "shed_move_uploads_to_documents";
    const SUMMARY: &str = "Move an upload into documents";
    const DOC: &str = "Move a file or directory from uploads into documents, as one commit. shed_move_uploads_to_documents(src=\"report.pdf\", dest=\"reports/report.pdf\")";
    const EXAMPLES: &[&str] = &[r#"{"src": "report.pdf", "dest": "reports/report.pdf"}"#];
    const FROM: ZoneName = ZoneName::Uploads;
    const TO: ZoneName = ZoneName::Documents;
    type Request = cross_zone::Request;
}
