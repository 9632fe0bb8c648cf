//! `shed_copy_storage_to_documents`: copy a file or directory of storage into documents.

use fileshed_core::{Caller, Code, Error, Store, ZoneName};

use super::brief::Keep;
use super::cross_zone::{self, Way};
use super::{Operation, Reply};

/// See the module.
pub struct CopyStorageToDocuments;

impl Operation for CopyStorageToDocuments {
    const ID: &str = "shed_copy_storage_to_documents";
    const SUMMARY: &str = "Copy from storage into documents";
    const DOC: &str = "Copy a file or directory from storage into documents, as one commit. shed_copy_storage_to_documents(src=\"draft.md\", dest=\"reports/final.md\")";
    const ERRORS: &[Code] = &[
        Code::FileNotFound,
        Code::FileExists,
        Code::NotAFile,
        Code::PathEscape,
        Code::PathStartsWithZone,
        Code::ProtectedPath,
        Code::InvalidPath,
        Code::FileLocked,
        Code::FileTooLarge,
        Code::QuotaExceeded,
    ];
    const EXAMPLES: &[&str] = &[r#"{"src": "draft.md", "dest": "reports/final.md"}"#];
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
            from: ZoneName::Storage,
            to: ZoneName::Documents,
            copies: true,
        };
        way.go(store, caller, &request)
    }
}
