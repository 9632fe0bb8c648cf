//! The operations: one file each, one list of all.
//!
//! An operation is a unit struct in `src/ops/<name>.rs` that has everything about it: its description
//! for models, arguments, answers and failures. [`OPERATIONS`] is the only list. HTTP routes, the
//! OpenAPI document and every other surface iterate over it; `docs/architecture.md` has the steps to
//! add an operation.

use fileshed_core::Code;

mod address;
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
pub use effect::{Effect, FileAccess};
pub(crate) use exec::description;
pub use operation::{ImmediateRun, Operation, Reply};
pub(crate) use schema::parameters_of;
pub use tool::{Handler, ImmediateHandler, OperationCall, OperationTool, Tool, offered};
pub(crate) use tool::{request, with_note};

pub mod allowed_commands;
pub mod convert;
pub mod convert_eol;
pub mod copy;
pub mod copy_storage_to_documents;
pub mod copy_to_group;
pub mod create_file;
pub mod delete;
pub mod diff;
pub mod exec;
pub mod file_type;
pub mod force_unlock;
pub mod group_chown;
pub mod group_info;
pub mod group_list;
pub mod group_set_mode;
pub mod help;
pub mod hexdump;
pub mod history;
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
pub mod undo;
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
pub static OPERATIONS: &[OperationTool] = &[
    OperationTool::of::<exec::Exec>(),
    OperationTool::of::<create_file::CreateFile>(),
    OperationTool::of::<patch_text::PatchText>(),
    OperationTool::of::<patch_bytes::PatchBytes>(),
    OperationTool::of::<delete::Delete>(),
    OperationTool::of::<rename::Rename>(),
    OperationTool::of::<history::ListChanges>(),
    OperationTool::of::<undo::Undo>(),
    OperationTool::of::<lockedit_open::LockeditOpen>(),
    OperationTool::of::<lockedit_exec::LockeditExec>(),
    OperationTool::of::<lockedit_overwrite::LockeditOverwrite>(),
    OperationTool::of::<lockedit_save::LockeditSave>(),
    OperationTool::of::<lockedit_cancel::LockeditCancel>(),
    OperationTool::of::<read::Read>(),
    OperationTool::of::<tree::Tree>(),
    OperationTool::of::<sqlite::Sqlite>(),
    OperationTool::of::<zip::Zip>(),
    OperationTool::of::<unzip::Unzip>(),
    OperationTool::of::<zipinfo::Zipinfo>(),
    OperationTool::of::<file_type::FileType>(),
    OperationTool::of::<convert::Convert>(),
    OperationTool::of::<convert_eol::ConvertEol>(),
    OperationTool::of::<hexdump::Hexdump>(),
    OperationTool::of::<diff::Diff>(),
    OperationTool::of::<link_create::LinkCreate>(),
    OperationTool::of::<link_list::LinkList>(),
    OperationTool::of::<link_delete::LinkDelete>(),
    OperationTool::of::<force_unlock::ForceUnlock>(),
    OperationTool::of::<move_uploads_to_storage::MoveUploadsToStorage>(),
    OperationTool::of::<move_uploads_to_documents::MoveUploadsToDocuments>(),
    OperationTool::of::<copy_storage_to_documents::CopyStorageToDocuments>(),
    OperationTool::of::<move_documents_to_storage::MoveDocumentsToStorage>(),
    OperationTool::of::<copy_to_group::CopyToGroup>(),
    OperationTool::of::<copy::Copy>(),
    OperationTool::of::<group_list::GroupList>(),
    OperationTool::of::<group_info::GroupInfo>(),
    OperationTool::of::<group_set_mode::GroupSetMode>(),
    OperationTool::of::<group_chown::GroupChown>(),
    OperationTool::of::<import::Import>(),
    OperationTool::of::<help::Help>(),
    OperationTool::of::<parameters::Parameters>(),
    OperationTool::of::<stats::Stats>(),
    OperationTool::of::<allowed_commands::AllowedCommands>(),
    OperationTool::of::<maintenance::Maintenance>(),
];

/// The operation of that name.
pub fn find(id: &str) -> Option<&'static OperationTool> {
    OPERATIONS.iter().find(|entry| entry.id == id)
}
