//! Arguments of a wrong type or value.

use serde_json::json;

use super::Case;

const NOTES: &[(&str, &str, &str)] = &[("storage", "a.md", "one\ntwo\nthree\n")];

pub(super) fn cases() -> Vec<Case> {
    let invalid = "INVALID_PARAMETER";
    let missing = "MISSING_PARAMETER";
    let read = |more: serde_json::Value| {
        let mut arguments = json!({"zone": "storage", "cmd": "cat", "args": ["a.md"]});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        Case::new("shed_exec", arguments, "INVALID_PARAMETER").with(NOTES)
    };
    let patch = |more: serde_json::Value, code| {
        let mut arguments = json!({"zone": "storage", "path": "a.md", "content": "new\n"});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        Case::new("shed_patch_text", arguments, code).with(NOTES)
    };
    vec![
        read(json!({"max_output": "much"})),
        read(json!({"timeout": "2.5"})),
        read(json!({"redirect_stderr_to_stdout": "yes"})),
        read(json!({"cmd": ["cat"]})),
        Case::new("shed_tree", json!({"zone": "storage", "depth": "all"}), invalid),
        Case::new("shed_tree", json!({"zone": "storag"}), "INVALID_ZONE"),
        Case::new("shed_tree", json!({"zone": "home"}), "INVALID_ZONE").in_words(),
        Case::new("shed_tree", json!({"zone": ["storage"]}), invalid),
        Case::new("shed_tree", json!({"zone": "group", "group": "taem"}), "GROUP_NOT_FOUND"),
        Case::new("shed_tree", json!({"zone": "group", "group": "xyz"}), "GROUP_NOT_FOUND"),
        Case::new("shed_help", json!({"howto": "comands"}), invalid),
        Case::new("shed_help", json!({"howto": "cooking"}), invalid),
        // If the content to replace is not certain, the hint has no call.
        patch(json!({"content": null}), missing).in_words(),
        patch(json!({"position": "replace"}), missing).in_words(),
        patch(json!({"position": "repalce", "line": 2}), invalid).changing(&["a.md"]),
        patch(json!({"position": "middle"}), invalid).in_words(),
        patch(json!({"position": 5}), invalid).in_words(),
        patch(json!({"position": "replace", "line": "second"}), invalid).in_words(),
        patch(json!({"position": "replace", "line": 0}), invalid).in_words(),
        patch(json!({"position": "replace", "line": 9}), invalid).in_words(),
        patch(json!({"position": "replace", "line": 2, "end_line": 9}), invalid)
            .changing(&["a.md"]),
        patch(json!({"position": "replace", "line": 3, "end_line": 2}), invalid)
            .changing(&["a.md"]),
        patch(json!({"position": "replace", "pattern": "four"}), "PATTERN_NOT_FOUND"),
        patch(json!({"position": "replace", "pattern": "TWO"}), "PATTERN_NOT_FOUND").changing(&["a.md"]),
        patch(json!({"position": "replace", "pattern": "two", "regex_flags": "g"}), invalid)
            .changing(&["a.md"]),
        patch(json!({"overwrite": "maybe"}), invalid).in_words(),
        Case::new(
            "shed_patch_bytes",
            json!({"zone": "storage", "path": "a.md", "content": "zz", "position": "replace"}),
            invalid,
        )
        .with(NOTES)
        .in_words(),
        Case::new(
            "shed_copy_to_group",
            json!({"src_zone": "storage", "src_path": "a.md", "dest_path": "a.md"}),
            missing,
        )
        .with(NOTES)
        .in_words(),
        Case::new(
            "shed_create_file",
            json!({"zone": "storage", "path": "b.md", "content": 5}),
            invalid,
        ),
        Case::new(
            "shed_create_file",
            json!({"zone": "storage", "path": "b.md", "content": "eA==", "content_format": "base46"}),
            invalid,
        ),
        Case::new("shed_sqlite", json!({"zone": "storage", "path": "a.db"}), missing).in_words(),
        Case::new(
            "shed_sqlite",
            json!({"zone": "storage", "path": "new.db", "import_csv": "north 2026.csv"}),
            missing,
        )
        .with(&[("storage", "north 2026.csv", "a,b\n1,2\n")]),
        Case::new(
            "shed_sqlite",
            json!({"zone": "storage", "path": "a.db", "query": "SELECT 1", "import_csv": "a.csv", "table": "t"}),
            invalid,
        )
        .with(&[("storage", "a.csv", "x,y\n1,2\n")]),
        Case::new(
            "shed_sqlite",
            json!({"zone": "storage", "path": "a.db", "import_csv": "a.csv", "table": "t", "if_exists": "replac"}),
            invalid,
        )
        .with(&[("storage", "a.csv", "x,y\n1,2\n")])
        ,
        Case::new("shed_hexdump", json!({"zone": "storage", "path": "a.md", "length": 0}), invalid)
            .with(NOTES)
            .in_words(),
    ]
}
