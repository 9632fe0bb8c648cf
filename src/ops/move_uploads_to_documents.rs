//! `shed_move_uploads_to_documents`: move a file or directory of uploads into documents.

use fileshed_core::{Caller, Code, Error, Shed, ZoneName};

use super::bridge::{self, Way};
use super::brief::Keep;
use super::{Aim, Operation, Reply};

/// See the module.
pub struct MoveUploadsToDocuments;

impl Operation for MoveUploadsToDocuments {
    const ID: &str = "shed_move_uploads_to_documents";
    const SUMMARY: &str = "Move an upload into documents";
    const DOC: &str = "Move a file or directory from uploads into documents, as one commit. shed_move_uploads_to_documents(src=\"report.pdf\", dest=\"reports/report.pdf\")";
    const ERRORS: &[Code] = bridge::ERRORS;
    const EXAMPLES: &[&str] = &[r#"{"src": "report.pdf", "dest": "reports/report.pdf"}"#];
    const AIM: Aim = Aim::Change;
    const BRIEF: &[Keep] = bridge::BRIEF;
    type Request = bridge::Request;
    type Response = bridge::Response;

    fn run(
        shed: &Shed,
        caller: &Caller,
        request: bridge::Request,
    ) -> Result<Reply<bridge::Response>, Error> {
        let way = Way {
            operation: Self::ID,
            from: ZoneName::Uploads,
            to: ZoneName::Documents,
            copies: false,
        };
        way.go(shed, caller, &request)
    }
}
