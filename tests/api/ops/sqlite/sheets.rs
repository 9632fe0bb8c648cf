//! Spreadsheets as tables.

use serde_json::{Value, json};

use super::select;
use crate::ops::stage::{done, place, small, upload};
use fileshed_test_support::Client;

const XLSX: &[u8] = include_bytes!("../../../sandbox/book.xlsx");
const ODS: &[u8] = include_bytes!("book.ods");

fn import(client: &Client<'_>, file: &str, table: &str) -> Value {
    let arguments = json!({"zone": "storage", "path": "a.db", "import_csv": file, "table": table});
    done(client, "shed_sqlite", &arguments)
}

#[test]
fn an_attached_spreadsheet_is_a_table_in_one_call() {
    let server = small().app();
    let alice = server.as_user("alice");
    upload(&alice, "book.xlsx", XLSX);
    upload(&alice, "named.csv", ODS);
    let imported = import(&alice, "book.xlsx", "stock");
    assert_eq!(imported["rows_imported"], 2);
    assert_eq!(
        imported["import_info"]["column_types"],
        json!({"item": "TEXT", "amount": "REAL"})
    );
    let rows = select(
        &alice,
        "storage",
        "a.db",
        "SELECT * FROM stock ORDER BY item",
    );
    assert_eq!(
        rows,
        json!([{"item": "ink, blue", "amount": 2.5}, {"item": "pen", "amount": 3.0}])
    );
    // What the content is counts, not the name; a sheet without rows is passed over.
    import(&alice, "named.csv", "due");
    let rows = select(&alice, "storage", "a.db", "SELECT * FROM due ORDER BY due");
    assert_eq!(
        rows,
        json!([
            {"item": "pen", "amount": 3.0, "due": "2026-01-02"},
            {"item": "ink, \"blue\"", "amount": 2.5, "due": "2026-03-04"},
        ])
    );
}

#[test]
fn what_only_begins_as_a_spreadsheet_changes_nothing() {
    let server = small().app();
    let alice = server.as_user("alice");
    import_nothing(&alice, "cut.xlsx", &XLSX[..XLSX.len() / 2]);
    import_nothing(&alice, "empty.zip", b"PK\x03\x04");
    import_nothing(
        &alice,
        "old.xls",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and no more",
    );
    assert!(!place(&server, "alice", "storage").join("a.db").exists());
}

fn import_nothing(client: &Client<'_>, name: &str, content: &[u8]) {
    upload(client, name, content);
    let arguments = json!({"zone": "storage", "path": "a.db", "import_csv": name, "table": "t"});
    let answer = client.call("shed_sqlite", &arguments);
    answer.refused(400, "CSV_PARSE_ERROR");
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("spreadsheet"), "{message}");
}
