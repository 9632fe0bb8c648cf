//! `shed_move_documents_to_storage`: move a file or directory of documents into storage.

use fileshed_core::{Caller, Code, Error, Shed, ZoneName};

use super::bridge::{self, Way};
use super::brief::Keep;
use super::{Aim, Operation, Reply};

/// See the module.
pub struct MoveDocumentsToStorage;

impl Operation for MoveDocumentsToStorage {
    const ID: &str = "shed_move_documents_to_storage";
    const SUMMARY: &str = "Move from documents into storage";
    const DOC: &str = "Move a file or directory from documents into storage; its history stays in documents. shed_move_documents_to_storage(src=\"old.md\", dest=\"archive/old.md\")";
    const ERRORS: &[Code] = bridge::ERRORS;
    const EXAMPLES: &[&str] = &[r#"{"src": "old.md", "dest": "archive/old.md"}"#];
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
            from: ZoneName::Documents,
            to: ZoneName::Storage,
            copies: false,
        };
        way.go(shed, caller, &request)
    }
}
