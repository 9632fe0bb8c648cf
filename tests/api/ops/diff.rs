//! `shed_diff`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, done, file, place, small};

pub(crate) const OLD: &[u8] = include_bytes!("../terminal/search/documents/old.docx");
pub(crate) const NEW: &[u8] = include_bytes!("../terminal/search/documents/new.docx");

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        stage.file("documents", "report.md", "x");
        let arguments = json!({"zone": "documents", "path": "none.md", "to_path": "report.md"});
        stage.refuses(&arguments, &["`none.md`"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("documents", "d/a", "x");
        let arguments = json!({"zone": "documents", "path": "d", "to_path": "d/a"});
        stage.refuses(&arguments, &["a directory"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        stage.file("storage", "new.csv", "x");
        let made = std::fs::File::create(stage.place("storage").join("large.txt")).unwrap();
        made.set_len(9 << 20).unwrap();
        let arguments = json!({"zone": "storage", "path": "large.txt", "to_path": "new.csv"});
        stage.refuses(&arguments, &["`large.txt`"]);
    }),
    ("INVALID_FORMAT", |stage| {
        stage.file("storage", "new.csv", "x");
        std::fs::write(stage.place("storage").join("a.bin"), b"\0\x01").unwrap();
        let arguments = json!({"zone": "storage", "path": "a.bin", "to_path": "new.csv"});
        stage.refuses(&arguments, &["`a.bin`", "no text"]);
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected),
    ("INVALID_PATH", |stage| {
        fault::unusable(stage);
        fault::through_a_file(stage);
    }),
];

#[test]
fn versions_of_a_file_are_compared() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "documents", "a.md", "one\ntwo\nthree\n");
    let change = json!({"zone": "documents", "path": "a.md", "find": "two", "content": "zwei"});
    done(&alice, "shed_patch_text", &change);
    let arguments = json!({"zone": "documents", "path": "a.md", "version": "HEAD~1"});
    let found = done(&alice, "shed_diff", &arguments);
    let expected = json!({
        "diff": "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n",
        "additions": 1, "deletions": 1, "truncated": false,
    });
    assert_eq!(found, expected);
    let arguments = json!({
        "zone": "documents", "path": "a.md", "version": "HEAD~1", "to_version": "HEAD~1",
    });
    assert_eq!(done(&alice, "shed_diff", &arguments)["diff"], "");
    // Before the first commit it was not there.
    let arguments = json!({
        "zone": "documents", "path": "a.md", "version": "HEAD~2", "to_version": "HEAD~1",
    });
    let found = done(&alice, "shed_diff", &arguments);
    assert_eq!(
        (&found["additions"], &found["deletions"]),
        (&json!(3), &json!(0))
    );
    assert!(found["notices"][0].is_string(), "{found}");
    for version in ["nonsense", ":/one", "HEAD@{1}"] {
        let arguments = json!({"zone": "documents", "path": "a.md", "version": version});
        let answer = alice.call("shed_diff", &arguments);
        answer.refused(400, "INVALID_PARAMETER");
        assert_eq!(answer.body["error"]["details"]["parameter"], "version");
    }
    let itself = alice.call("shed_diff", &json!({"zone": "documents", "path": "a.md"}));
    itself.refused(400, "MISSING_PARAMETER");
    file(&alice, "storage", "a.md", "x");
    let arguments = json!({"zone": "storage", "path": "a.md", "version": "HEAD"});
    alice
        .call("shed_diff", &arguments)
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn documents_are_compared_by_text_and_tables_by_cells() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "documents", "kept.md", "x");
    let put = |name: &str, content: &[u8]| {
        let path = format!("/files/content?zone=documents&path={name}");
        let sent = alice.send("PUT", &path, content);
        assert!(matches!(sent.status, 200 | 201), "{}", sent.text);
    };
    put("a.docx", OLD);
    put("a.docx", NEW);
    let arguments = json!({"zone": "documents", "path": "a.docx", "version": "HEAD~1"});
    let found = done(&alice, "shed_diff", &arguments);
    let expected =
        "@@ -1,3 +1,3 @@\n Contract\n-Paid in 30 days & signed\n+Paid in 14 days & signed\n End\n";
    assert_eq!(found["diff"], expected);
    put("book.xlsx", include_bytes!("../../sandbox/book.xlsx"));
    let rows = "item;amount\n\"pen\";3\n\"ink, blue\";4\n";
    file(&alice, "documents", "book.csv", rows);
    let arguments = json!({"zone": "documents", "path": "book.xlsx", "to_path": "book.csv"});
    let found = done(&alice, "shed_diff", &arguments);
    assert_eq!(
        found["cells"],
        json!(["line 3, cell 2: `2.5` → `4`"]),
        "{found}"
    );
    assert_eq!(
        (&found["additions"], &found["deletions"]),
        (&json!(1), &json!(1))
    );
    let place = place(&server, "alice", "documents");
    assert!(place.join("book.csv").exists());
}
