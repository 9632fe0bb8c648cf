//! Files that a tool of the protocol deletes go into the bin, and can be restored.

use serde_json::{Value, json};

use super::client::Peer;
use fileshed_test_support::TestApp;

/// The paths that the page shows in the bin.
fn bin(server: &TestApp) -> Vec<Value> {
    let entries = server.client().get("/page/bin").body["entries"].clone();
    let entries = entries.as_array().unwrap().iter();
    entries.map(|entry| entry["path"].clone()).collect()
}

#[test]
fn what_a_tool_deleted_comes_back() {
    let server = TestApp::with().env("FILESHED_BIN_DAYS", "30").app();
    let operations = Peer::new(server.client());
    let tools = Peer::new(server.client()).at("/mcp/fs");
    let place = json!({"zone": "storage", "path": "notes/a.md"});
    let file = json!({"zone": "storage", "path": "notes/a.md", "content": "text\n"});
    operations.done("shed_create_file", &file);
    let restore = json!({"zone": "storage", "path": "notes/a.md", "restore": true});

    let deleted = operations.done("shed_delete", &place);
    assert_eq!(deleted["restorable_days"], 30, "{deleted}");
    assert_eq!(bin(&server), ["notes/a.md"]);
    let restored = operations.done("shed_delete", &restore);
    assert_eq!(restored["restored"], "notes/a.md");
    assert_eq!(bin(&server), [Value::Null; 0]);

    let removed = tools.call("remove_file", &json!({"path": "notes/a.md"}));
    assert_eq!(removed["isError"], false, "{removed}");
    assert_eq!(bin(&server), ["notes/a.md"]);
    operations.done("shed_delete", &restore);
    let read = operations.call("shed_read", &place);
    assert!(read["content"].to_string().contains("text"), "{read}");
}
