//! The operations: one file each, one list of all.
//!
//! An operation is a unit struct in `src/ops/<name>.rs` that says everything about itself: how a
//! model sees it, what it takes, what it answers, how it fails. [`OPERATIONS`] is the only list.
//! HTTP routes, the OpenAPI document and every other surface walk it; nothing of an operation
//! lives elsewhere. To add one: write its file, add one line below, write the file of its tests.

use fileshed_core::Code;

mod answer;
mod arguments;
mod codes;
mod cross_zone;
mod effect;
mod markdown;
mod missing_file;
mod operation;
pub mod parameters;
mod prelude;
mod read_only_zone;
mod schema;
pub mod short_answer;
mod tool;
mod vocabulary;
mod write;

pub use answer::{Answer, AnswerData, Picture, SuccessEnvelope};
pub use effect::{Access, Effect};
pub use operation::{ImmediateRun, Operation, Reply};
pub(crate) use schema::parameters_of;
pub(crate) use tool::request;
pub use tool::{Entry, Handler, ImmediateHandler, OperationCall, Tool, offered};

pub mod allowed_commands;
pub mod convert_eol;
pub mod copy_storage_to_documents;
pub mod copy_to_group;
pub mod create_file;
pub mod delete;
pub mod exec;
pub mod file_type;
pub mod force_unlock;
pub mod group_chown;
pub mod group_info;
pub mod group_list;
pub mod group_set_mode;
pub mod help;
pub mod hexdump;
pub mod import;
pub mod link_create;
pub mod link_delete;
pub mod link_list;
pub mod lockedit_cancel;
pub mod lockedit_exec;
pub mod lockedit_open;
pub mod lockedit_overwrite;
pub mod lockedit_save;
pub mod maintenance;
pub mod move_documents_to_storage;
pub mod move_uploads_to_documents;
pub mod move_uploads_to_storage;
pub mod patch_bytes;
pub mod patch_text;
pub mod read;
pub mod rename;
pub mod sqlite;
pub mod stats;
pub mod tree;
pub mod unzip;
pub mod zip;
pub mod zipinfo;

/// Codes that every operation may answer.
pub const COMMON_ERRORS: &[Code] = &[
    Code::MissingParameter,
    Code::InvalidParameter,
    Code::Unauthorized,
    Code::InvalidUser,
    Code::AccessDenied,
    Code::Busy,
    Code::OpenwebuiApiUnavailable,
    Code::DbError,
    Code::InternalApiError,
];

/// Codes that every operation with the parameter `group` may answer.
pub const GROUP_ERRORS: &[Code] = &[
    Code::InvalidGroupId,
    Code::GroupNotFound,
    Code::GroupNotAvailable,
];

/// The parameter of every operation that may answer `PATH_STARTS_WITH_ZONE`: its paths may begin
/// with the name of a zone.
pub const ALLOW_ZONE_IN_PATH: &str = "allow_zone_in_path";

/// The one list, in the order in which documents show it.
pub static OPERATIONS: &[Entry] = &[
    Entry::of::<exec::Exec>(),
    Entry::of::<create_file::CreateFile>(),
    Entry::of::<patch_text::PatchText>(),
    Entry::of::<patch_bytes::PatchBytes>(),
    Entry::of::<delete::Delete>(),
    Entry::of::<rename::Rename>(),
    Entry::of::<lockedit_open::LockeditOpen>(),
    Entry::of::<lockedit_exec::LockeditExec>(),
    Entry::of::<lockedit_overwrite::LockeditOverwrite>(),
    Entry::of::<lockedit_save::LockeditSave>(),
    Entry::of::<lockedit_cancel::LockeditCancel>(),
    Entry::of::<read::Read>(),
    Entry::of::<tree::Tree>(),
    Entry::of::<sqlite::Sqlite>(),
    Entry::of::<zip::Zip>(),
    Entry::of::<unzip::Unzip>(),
    Entry::of::<zipinfo::Zipinfo>(),
    Entry::of::<file_type::FileType>(),
    Entry::of::<convert_eol::ConvertEol>(),
    Entry::of::<hexdump::Hexdump>(),
    Entry::of::<link_create::LinkCreate>(),
    Entry::of::<link_list::LinkList>(),
    Entry::of::<link_delete::LinkDelete>(),
    Entry::of::<force_unlock::ForceUnlock>(),
    Entry::of::<move_uploads_to_storage::MoveUploadsToStorage>(),
    Entry::of::<move_uploads_to_documents::MoveUploadsToDocuments>(),
    Entry::of::<copy_storage_to_documents::CopyStorageToDocuments>(),
    Entry::of::<move_documents_to_storage::MoveDocumentsToStorage>(),
    Entry::of::<copy_to_group::CopyToGroup>(),
    Entry::of::<group_list::GroupList>(),
    Entry::of::<group_info::GroupInfo>(),
    Entry::of::<group_set_mode::GroupSetMode>(),
    Entry::of::<group_chown::GroupChown>(),
    Entry::of::<import::Import>(),
    Entry::of::<help::Help>(),
    Entry::of::<parameters::Parameters>(),
    Entry::of::<stats::Stats>(),
    Entry::of::<allowed_commands::AllowedCommands>(),
    Entry::of::<maintenance::Maintenance>(),
];

/// The operation of that name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Entry> {
    OPERATIONS.iter().find(|entry| entry.id == id)
}
