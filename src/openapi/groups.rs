//! Groups of operations, for people who browse: Open WebUI does not read them, so a model does not
//! pay for them.

use serde_json::{Value, json};

/// A group, which the document calls a tag.
pub(super) struct Tag {
    /// What it is called.
    pub(super) name: &'static str,
    description: &'static str,
    operations: &'static [&'static str],
}

/// The group of what is no operation but moves whole files.
pub(super) const FILES: &str = "Files in and out";
/// The group of what is for programs that watch the server.
pub(super) const SERVER: &str = "Server";

/// Every group, in the order in which they are shown.
static GROUPS: &[Tag] = &[
    Tag {
        name: "Text and files",
        description: "Make, edit, move and look at files.",
        operations: &[
            "shed_create_file",
            "shed_patch_text",
            "shed_patch_bytes",
            "shed_rename",
            "shed_delete",
            "shed_read",
            "shed_tree",
            "shed_file_type",
            "shed_convert_eol",
            "shed_hexdump",
        ],
    },
    Tag {
        name: "Commands",
        description: "Programs in the user's zone, held by the kernel.",
        operations: &["shed_exec", "shed_allowed_commands"],
    },
    Tag {
        name: "Databases",
        description: "SQL on SQLite files, CSV in and out.",
        operations: &["shed_sqlite"],
    },
    Tag {
        name: "Archives",
        description: "ZIP files.",
        operations: &["shed_zip", "shed_unzip", "shed_zipinfo"],
    },
    Tag {
        name: "Between zones",
        description: "Copy and move from one zone to another, and fetch what is attached to a chat.",
        operations: &[
            "shed_import",
            "shed_move_uploads_to_storage",
            "shed_move_uploads_to_documents",
            "shed_copy_storage_to_documents",
            "shed_move_documents_to_storage",
            "shed_copy_to_group",
        ],
    },
    Tag {
        name: "Links",
        description: "Addresses that open without a credential.",
        operations: &["shed_link_create", "shed_link_list", "shed_link_delete"],
    },
    Tag {
        name: "Groups",
        description: "What several users share, and whose it is.",
        operations: &[
            "shed_group_list",
            "shed_group_info",
            "shed_group_set_mode",
            "shed_group_chown",
        ],
    },
    Tag {
        name: "Locked edits",
        description: "A working copy that nobody disturbs.",
        operations: &[
            "shed_lockedit_open",
            "shed_lockedit_exec",
            "shed_lockedit_overwrite",
            "shed_lockedit_save",
            "shed_lockedit_cancel",
            "shed_force_unlock",
        ],
    },
    Tag {
        name: "Help and upkeep",
        description: "What there is, what it takes, and cleaning up.",
        operations: &[
            "shed_help",
            "shed_parameters",
            "shed_stats",
            "shed_maintenance",
        ],
    },
    Tag {
        name: FILES,
        description: "Whole files, as they are. No tools of a model.",
        operations: &[],
    },
    Tag {
        name: SERVER,
        description: "For programs that watch it.",
        operations: &[],
    },
];

/// The group of an operation.
pub(super) fn of(operation: &str) -> Option<&'static Tag> {
    let mut groups = GROUPS.iter();
    groups.find(|group| group.operations.contains(&operation))
}

/// The groups that `has` has something in, as a document lists them.
pub(super) fn list(has: impl Fn(&Tag) -> bool) -> Value {
    let groups = GROUPS.iter().filter(|group| has(group));
    groups
        .map(|group| json!({"name": group.name, "description": group.description}))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPERATIONS;

    #[test]
    fn every_operation_is_in_one_group() {
        for entry in OPERATIONS {
            let groups = GROUPS.iter();
            let found = groups.filter(|group| group.operations.contains(&entry.id));
            assert_eq!(found.count(), 1, "{}", entry.id);
        }
        let listed = GROUPS.iter().flat_map(|group| group.operations);
        for operation in listed {
            assert!(crate::ops::find(operation).is_some(), "{operation}");
        }
    }
}
