//! Groups of operations, for people who browse: Open WebUI does not read them, so a model does not
//! pay for them.

use serde_json::{Value, json};

/// A group, which the document calls a tag: its name, its description, and its operations without
/// the prefix `shed_`.
type Tag = (&'static str, &'static str, &'static str);

/// Every group, in the order in which they are shown. The last two have the paths of `files.json`.
const GROUPS: &[Tag] = &[
    (
        "Text and files",
        "Make, edit, move and look at files.",
        "create_file patch_text patch_bytes rename delete read tree file_type convert \
         convert_eol hexdump diff",
    ),
    (
        "Commands",
        "Programs in the user's zone, confined by the kernel.",
        "exec allowed_commands",
    ),
    (
        "Databases",
        "SQL on SQLite files, CSV in and out.",
        "sqlite",
    ),
    ("Archives", "ZIP files.", "zip unzip zipinfo"),
    ("History", "List changes and undo them.", "history undo"),
    (
        "Between zones",
        "Copy and move from one zone to another, and fetch the attachments of a chat.",
        "import move_uploads_to_storage move_uploads_to_documents copy_storage_to_documents \
         move_documents_to_storage copy_to_group copy",
    ),
    (
        "Links",
        "Links that open without a credential.",
        "link_create link_list link_delete",
    ),
    (
        "Groups",
        "Files that several users share, and their owners.",
        "group_list group_info group_set_mode group_chown",
    ),
    (
        "Locked edits",
        "A working copy that nobody else changes.",
        "lockedit_open lockedit_exec lockedit_overwrite lockedit_save lockedit_cancel force_unlock",
    ),
    (
        "Help and upkeep",
        "Guides, limits, space used, and cleaning up.",
        "help parameters stats maintenance",
    ),
    (
        "Files in and out",
        "Whole files. These are not tools for a model.",
        "",
    ),
    ("Server", "For monitoring.", ""),
];

/// The group of an operation.
pub(super) fn of(operation: &str) -> Option<&'static str> {
    let name = operation.trim_start_matches("shed_");
    let has = |(.., operations): &&Tag| operations.split(' ').any(|one| one == name);
    GROUPS.iter().find(has).map(|(group, ..)| *group)
}

/// The groups for which `has` answers true, as the document lists them.
pub(super) fn list(has: impl Fn(&str) -> bool) -> Value {
    let groups = GROUPS.iter().filter(|(name, ..)| has(name));
    groups
        .map(|(name, description, _)| json!({"name": name, "description": description}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPERATIONS;

    #[test]
    fn every_operation_is_in_one_group() {
        let listed = GROUPS
            .iter()
            .flat_map(|(.., operations)| operations.split_whitespace());
        let listed: Vec<String> = listed.map(|name| format!("shed_{name}")).collect();
        for operation in OPERATIONS {
            let groups = listed.iter().filter(|name| *name == operation.id);
            assert_eq!(groups.count(), 1, "groups of {}", operation.id);
        }
        assert_eq!(
            listed.len(),
            OPERATIONS.len(),
            "a group names an unknown operation"
        );
    }
}
