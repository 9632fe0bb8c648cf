//! `shed_move_documents_to_storage`: move a file or directory of documents into storage.

use fileshed_core::{Caller, Code, Error, Store, ZoneName};

use super::brief::Keep;
use super::cross_zone::{self, Way};
use super::{Aim, Operation, Reply};

/// See the module.
pub struct MoveDocumentsToStorage;

impl Operation for MoveDocumentsToStorage {
    const ID: &str = "shed_move_documents_to_storage";
    const SUMMARY: &str = "Move from documents into storage";
    const DOC: &str = "Move a file or directory from documents into storage; its history stays in documents. shed_move_documents_to_storage(src=\"old.md\", dest=\"archive/old.md\")";
    const ERRORS: &[Code] = cross_zone::ERRORS;
    const EXAMPLES: &[&str] = &[r#"{"src": "old.md", "dest": "archive/old.md"}"#];
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
            from: ZoneName::Documents,
            to: ZoneName::Storage,
            copies: false,
        };
        way.go(store, caller, &request)
    }
}
