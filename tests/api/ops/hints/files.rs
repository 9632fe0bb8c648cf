//! Paths and files that are not what the operation needs.

use serde_json::{Value, json};

use super::Case;

/// An archive without entries.
const EMPTY_ZIP: &str = "PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

fn case(operation: &'static str, arguments: Value, code: &'static str) -> Case {
    Case::new(operation, arguments, code)
}

#[expect(clippy::too_many_lines, reason = "one table")]
pub(super) fn cases() -> Vec<Case> {
    let readonly = "ZONE_READONLY";
    vec![
        case(
            "shed_tree",
            json!({"zone": "documents", "path": "storage/d"}),
            "PATH_STARTS_WITH_ZONE",
        )
        .with(&[("storage", "d/a.md", "x")]),
        case(
            "shed_delete",
            json!({"zone": "storage", "path": "storage"}),
            "PATH_STARTS_WITH_ZONE",
        )
        .with(&[("storage", "d/a.md", "x")]),
        case(
            "shed_unzip",
            json!({"zone": "storage", "src": "uploads/a.zip"}),
            "PATH_STARTS_WITH_ZONE",
        )
        .with(&[("uploads", "a.zip", EMPTY_ZIP)]),
        case(
            "shed_rename",
            json!({"zone": "storage", "old_path": "a.md", "new_path": "d"}),
            "FILE_EXISTS",
        )
        .with(&[("storage", "a.md", "x"), ("storage", "d/b.md", "x")])
        .changing(&["a.md"]),
        case(
            "shed_delete",
            json!({"zone": "storage", "path": "storage/d/a.md"}),
            "PATH_STARTS_WITH_ZONE",
        )
        .with(&[("storage", "d/a.md", "x"), ("storage", "b.md", "x")])
        .changing(&["a.md"]),
        case(
            "shed_tree",
            json!({"zone": "storage", "path": "../x"}),
            "PATH_ESCAPE",
        )
        .in_words(),
        case(
            "shed_hexdump",
            json!({"zone": "storage", "path": "d"}),
            "NOT_A_FILE",
        )
        .with(&[("storage", "d/a.md", "x")]),
        case(
            "shed_hexdump",
            json!({"zone": "storage", "path": "a.md/b"}),
            "INVALID_PATH",
        )
        .with(&[("storage", "a.md", "x")]),
        case(
            "shed_patch_text",
            json!({"zone": "uploads", "path": "a.md", "content": "x"}),
            readonly,
        )
        .with(&[("uploads", "a.md", "x")])
        .changing(&["a.md"]),
        case(
            "shed_rename",
            json!({"zone": "storage", "old_path": "a.md", "new_path": "documents/a.md"}),
            "PATH_STARTS_WITH_ZONE",
        )
        .with(&[("storage", "a.md", "x")])
        .changing(&["a.md"]),
        case(
            "shed_move_uploads_to_storage",
            json!({"src": "a.md", "dest": "b.md"}),
            "FILE_EXISTS",
        )
        .with(&[("uploads", "a.md", "x"), ("storage", "b.md", "y")])
        .changing(&["a.md", "b.md"]),
        case(
            "shed_copy_storage_to_documents",
            json!({"src": "a.md", "dest": "d"}),
            "NOT_A_FILE",
        )
        .with(&[("storage", "a.md", "x"), ("documents", "d/b.md", "y")]),
        case(
            "shed_force_unlock",
            json!({"zone": "storage", "path": "a.md"}),
            "NOT_IN_EDIT_MODE",
        )
        .with(&[("storage", "a.md", "x")])
        .in_words(),
        case(
            "shed_lockedit_save",
            json!({"zone": "storage", "path": "a.md"}),
            "NOT_IN_EDIT_MODE",
        )
        .with(&[("storage", "a.md", "x")]),
        case(
            "shed_zipinfo",
            json!({"zone": "storage", "path": "a.zip"}),
            "INVALID_FORMAT",
        )
        .with(&[("storage", "a.zip", "no archive")]),
        case(
            "shed_sqlite",
            json!({"zone": "storage", "path": "sales.csv", "query": "SELECT 1"}),
            "INVALID_FORMAT",
        )
        .with(&[("storage", "sales.csv", "a,b\n1,2\n")]),
        case(
            "shed_sqlite",
            json!({"zone": "storage", "path": "a.md", "query": "SELECT 1"}),
            "INVALID_FORMAT",
        )
        .with(&[("storage", "a.md", "no database")]),
        case(
            "shed_sqlite",
            json!({"zone": "storage", "path": "a.db", "import_csv": "e.csv", "table": "t"}),
            "CSV_EMPTY",
        )
        .with(&[("storage", "e.csv", "")]),
        case(
            "shed_sqlite",
            json!({"zone": "storage", "path": "a.db", "import_csv": "e.csv", "table": "t"}),
            "CSV_EMPTY",
        )
        .with(&[("uploads", "e.csv", "")]),
        case(
            "shed_link_delete",
            json!({"file_id": "nothing"}),
            "NOT_A_FILESHED_LINK",
        ),
        case("shed_maintenance", json!({"all": true}), "ACCESS_DENIED"),
        case(
            "shed_group_chown",
            json!({"group": "team", "path": "a.md", "new_owner": "nobody"}),
            "INVALID_OWNER",
        ),
    ]
}
