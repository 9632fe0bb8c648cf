//! Every operation, through HTTP against the real program: a file each, and what holds for all.
//!
//! A file is `tests/api/ops/<name>.rs`, named as the operation is without `shed_`. It has ordinary
//! tests of what the operation does, and `PROVOKED`: a case for each code that the operation
//! declares. `coverage` fails where a file or a case is missing.

mod arbitrary;
mod archives;
mod bin;
mod binary;
mod brief;
pub(crate) mod calls;
mod coercions;
mod coverage;
mod cross_zone;
mod crossings;
mod encodings;
mod fault;
mod first_calls;
mod groups;
mod guides;
mod hints;
mod identity;
mod missing;
mod paths;
mod read;
mod real;
pub(crate) mod stage;

mod allowed_commands;
mod convert;
mod convert_eol;
mod copy;
mod copy_storage_to_documents;
mod copy_to_group;
mod create_file;
mod delete;
mod diff;
mod exec;
mod file_type;
mod force_unlock;
mod group_chown;
mod group_info;
mod group_list;
mod group_set_mode;
mod help;
mod hexdump;
mod history;
mod import;
mod link_create;
mod link_delete;
mod link_list;
mod lockedit_cancel;
mod lockedit_exec;
mod lockedit_open;
mod lockedit_overwrite;
mod lockedit_save;
mod maintenance;
mod move_documents_to_storage;
mod move_uploads_to_documents;
mod move_uploads_to_storage;
mod parameters;
mod patch_bytes;
mod patch_text;
mod rename;
mod sqlite;
mod stats;
mod tokens;
mod tree;
mod undo;
mod unzip;
mod uploads_retention;
mod zip;
mod zipinfo;

/// The files: name and provoked codes.
const FILES: &[(&str, stage::Provoked)] = &[
    ("allowed_commands", allowed_commands::PROVOKED),
    ("convert", convert::PROVOKED),
    ("convert_eol", convert_eol::PROVOKED),
    ("copy", copy::PROVOKED),
    (
        "copy_storage_to_documents",
        copy_storage_to_documents::PROVOKED,
    ),
    ("copy_to_group", copy_to_group::PROVOKED),
    ("create_file", create_file::PROVOKED),
    ("delete", delete::PROVOKED),
    ("diff", diff::PROVOKED),
    ("exec", exec::PROVOKED),
    ("file_type", file_type::PROVOKED),
    ("force_unlock", force_unlock::PROVOKED),
    ("group_chown", group_chown::PROVOKED),
    ("group_info", group_info::PROVOKED),
    ("group_list", group_list::PROVOKED),
    ("group_set_mode", group_set_mode::PROVOKED),
    ("help", help::PROVOKED),
    ("hexdump", hexdump::PROVOKED),
    ("history", history::PROVOKED),
    ("import", import::PROVOKED),
    ("link_create", link_create::PROVOKED),
    ("link_delete", link_delete::PROVOKED),
    ("link_list", link_list::PROVOKED),
    ("lockedit_cancel", lockedit_cancel::PROVOKED),
    ("lockedit_exec", lockedit_exec::PROVOKED),
    ("lockedit_open", lockedit_open::PROVOKED),
    ("lockedit_overwrite", lockedit_overwrite::PROVOKED),
    ("lockedit_save", lockedit_save::PROVOKED),
    ("maintenance", maintenance::PROVOKED),
    (
        "move_documents_to_storage",
        move_documents_to_storage::PROVOKED,
    ),
    (
        "move_uploads_to_documents",
        move_uploads_to_documents::PROVOKED,
    ),
    ("move_uploads_to_storage", move_uploads_to_storage::PROVOKED),
    ("parameters", parameters::PROVOKED),
    ("patch_bytes", patch_bytes::PROVOKED),
    ("patch_text", patch_text::PROVOKED),
    ("read", read::PROVOKED),
    ("rename", rename::PROVOKED),
    ("sqlite", sqlite::PROVOKED),
    ("stats", stats::PROVOKED),
    ("tree", tree::PROVOKED),
    ("undo", undo::PROVOKED),
    ("unzip", unzip::PROVOKED),
    ("zip", zip::PROVOKED),
    ("zipinfo", zipinfo::PROVOKED),
];
