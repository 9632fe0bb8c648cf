//! `shed_move_uploads_to_documents`: move a file or directory of uploads into documents.

use fileshed_core::{Caller, Code, Error, Store, ZoneName};

use super::brief::Keep;
use super::cross_zone::{self, Way};
use super::{Aim, Operation, Reply};

/// See the module.
pub struct MoveUploadsToDocuments;

impl Operation for MoveUploadsToDocuments {
    const ID: &str = "shed_move_uploads_to_documents";
    const SUMMARY: &str = "Move an upload into documents";
    const DOC: &str = "Move a file or directory from uploads into documents, as one commit. shed_move_uploads_to_documents(src=\"report.pdf\", dest=\"reports/report.pdf\")";
    const ERRORS: &[Code] = cross_zone::ERRORS;
    const EXAMPLES: &[&str] = &[r#"{"src": "report.pdf", "dest": "reports/report.pdf"}"#];
    const AIM: Aim = Aim::Change;
    const BRIEF: &[Keep] = cross_zone::BRIEF;
    type Request = cross_zone::Request;
    type Response = cross_zone::Response;

    fn run(
        store: &Store,
        caller: &Caller,
        request: cross_zone::Request,
    ) -> Result<Reply<cross_zone::Response>, Error> {
        let way = Way {
            operation: Self::ID,
            from: ZoneName::Uploads,
            to: ZoneName::Documents,
            copies: false,
        };
        way.go(store, caller, &request)
    }
}
