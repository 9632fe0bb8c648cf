//! Every failure leads back: the calls in its text, made as they stand, work or fail for another reason.
//!
//! Each toolset of MCP has its own names and paths, and so have its hints.

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

use super::client::Peer;
use crate::ops::calls;

/// The files that calls are about.
fn furnish(peer: &Peer<'_>, write: &str, folder: &str) {
    for name in ["notes/a.md", "notes/Plan.md", "b.csv"] {
        let path = format!("{folder}{name}");
        let written = peer.call(write, &json!({"path": path, "content": "one\ntwo\none\n"}));
        assert_eq!(written["isError"], false, "{written}");
    }
}

/// The text of an answer, and whether it is a failure.
fn told(peer: &Peer<'_>, tool: &str, arguments: &Value) -> (bool, String) {
    let result = peer.call(tool, arguments);
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let failed = result["isError"] == true || text.starts_with("{\"error\":");
    (failed, text.to_owned())
}

/// Makes failing calls, and then the calls that each failure tells. At least so many tell one.
#[track_caller]
fn walk(peer: &Peer<'_>, cases: &[(&str, Value)], at_least: usize) {
    let listed = peer.request("tools/list", &json!({}));
    let listed = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = listed
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let (mut faults, mut leading) = (Vec::new(), 0);
    for (tool, arguments) in cases {
        let (failed, text) = told(peer, tool, arguments);
        if !failed {
            faults.push(format!("{tool} {arguments} works: {text}"));
            continue;
        }
        let failure: Value = serde_json::from_str(&text).unwrap_or(Value::String(text.clone()));
        let steps = calls::steps_of(&words(&failure), &names, tool, arguments);
        leading += usize::from(!steps.is_empty());
        for step in steps {
            let (failed, again) = told(peer, &step.operation, &step.arguments);
            if failed && again == text {
                faults.push(format!(
                    "{tool} {arguments}: {text}\n  {step:?} fails alike"
                ));
            }
        }
        for foreign in ["shed_", "zone="] {
            if !names.iter().any(|name| name.starts_with("shed_")) && text.contains(foreign) {
                faults.push(format!("{tool} {arguments}: {foreign} in {text}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(leading >= at_least, "{leading} failures tell a call");
}

/// All texts of a failure.
fn words(failure: &Value) -> String {
    match failure {
        Value::String(text) => text.clone(),
        Value::Object(fields) => fields.values().map(words).collect::<Vec<_>>().join("; "),
        _ => String::new(),
    }
}

#[test]
fn of_terminals() {
    let server = TestApp::start();
    let peer = Peer::new(server.client()).at("/mcp/terminal");
    furnish(&peer, "write_file", "/storage/");
    let line = |command: &str| json!({"command": command, "wait": 30});
    let replace = |path: &str, target: &str| json!({"path": path, "replacements": [{"target": target, "replacement": "x"}]});
    let cases = [
        ("read_file", json!({})),
        ("read_file", json!({"path": ""})),
        ("read_file", json!({"path": "none.md"})),
        ("read_file", json!({"path": "/storage/notes/none.md"})),
        ("read_file", json!({"path": "/stroage/notes/a.md"})),
        ("read_file", json!({"path": "storage/notes/a.md"})),
        ("read_file", json!({"path": "/b.csv"})),
        ("read_file", json!({"path": "/etc/passwd"})),
        ("read_file", json!({"path": "/workspace/notes/a.md"})),
        (
            "read_file",
            json!({"path": (["", "home", "user", "notes", "a.md"].join("/"))}),
        ),
        ("read_file", json!({"path": "/groups/none/a.md"})),
        ("read_file", json!({"path": "/storage/notes"})),
        ("read_file", json!({"path": "../../a"})),
        ("read_file", json!({"path": "notes/a.md", "start_line": 0})),
        (
            "read_file",
            json!({"path": "notes/a.md", "start_line": "x"}),
        ),
        ("list_files", json!({"directory": "/storag"})),
        ("list_files", json!({"directory": "/storage/none"})),
        ("list_files", json!({"directory": "/storage/notes/a.md"})),
        ("write_file", json!({"path": "/a.md", "content": "x"})),
        ("write_file", json!({"path": "/storage", "content": "x"})),
        (
            "write_file",
            json!({"path": "/storage/notes", "content": "x"}),
        ),
        (
            "write_file",
            json!({"path": "/storage/CON", "content": "x"}),
        ),
        (
            "write_file",
            json!({"path": "/uploads/a.md", "content": "x"}),
        ),
        ("write_file", json!({"path": "/storage/a.md"})),
        (
            "replace_file_content",
            replace("/storage/notes/a.md", "absent"),
        ),
        (
            "replace_file_content",
            replace("/storage/notes/a.md", "one"),
        ),
        ("replace_file_content", replace("/storage/none.md", "one")),
        (
            "replace_file_content",
            json!({"path": "/storage/notes/a.md"}),
        ),
        ("grep_search", json!({"query": "("})),
        (
            "grep_search",
            json!({"query": "x", "path": "/storage/none"}),
        ),
        ("grep_search", json!({})),
        ("glob_search", json!({"pattern": "[", "path": "/none"})),
        ("run_command", json!({})),
        ("run_command", json!({"command": ""})),
        ("run_command", json!({"command": "ls", "cwd": "/none"})),
        ("run_command", json!({"command": "ls", "wait": "soon"})),
        ("get_process_status", json!({"process_id": "none"})),
        ("get_process_status", json!({})),
        (
            "send_process_input",
            json!({"process_id": "none", "input": "x"}),
        ),
        ("kill_process", json!({"process_id": "none"})),
    ];
    walk(&peer, &cases, 15);
    let done = told(&peer, "run_command", &line("true"));
    assert!(!done.0, "{}", done.1);
}

#[test]
fn of_compact_tools() {
    let server = TestApp::start();
    let peer = Peer::new(server.client()).at("/mcp/fs");
    furnish(&peer, "write_file", "");
    let cases = [
        ("read_file", json!({})),
        ("read_file", json!({"path": "none.md"})),
        ("read_file", json!({"path": "notes"})),
        ("read_file", json!({"path": "../a"})),
        ("read_file", json!({"path": "notes/a.md", "offset": 0})),
        ("list_files", json!({"path": "none"})),
        ("write_file", json!({"path": "", "content": "x"})),
        ("write_file", json!({"path": "notes", "content": "x"})),
        ("write_file", json!({"path": "CON", "content": "x"})),
        (
            "edit_file",
            json!({"path": "notes/a.md", "old_string": "absent", "new_string": "x"}),
        ),
        (
            "edit_file",
            json!({"path": "notes/a.md", "old_string": "one", "new_string": "x"}),
        ),
        (
            "edit_file",
            json!({"path": "none.md", "old_string": "one", "new_string": "x"}),
        ),
        ("grep_search", json!({"pattern": "(", "is_regex": true})),
        ("glob_search", json!({"pattern": ""})),
        ("stat_file", json!({"path": "none.md"})),
    ];
    walk(&peer, &cases, 0);
}

#[test]
fn of_operations() {
    let server = TestApp::start();
    let peer = Peer::new(server.client());
    let file = |path: &str| json!({"zone": "storage", "path": path, "content": "one\none\n"});
    for path in ["notes/a.md", "notes/Plan.md"] {
        assert!(!told(&peer, "shed_create_file", &file(path)).0);
    }
    let exec = |cmd: &str, args: &[&str]| json!({"zone": "storage", "cmd": cmd, "args": args});
    let cases = [
        (
            "shed_exec",
            exec("cp", &["/storage/notes/a.md", "/documents/a.md"]),
        ),
        ("shed_exec", exec("cat", &["storage/notes/a.md"])),
        ("shed_exec", exec("find", &[".", "-exec", "cat", "{}", ";"])),
        ("shed_exec", exec("xargs", &["cat"])),
        ("shed_exec", exec("ls | wc", &[])),
        ("shed_exec", exec("nano", &["notes/a.md"])),
        (
            "shed_read",
            json!({"zone": "storage", "path": "storage/notes/a.md"}),
        ),
        (
            "shed_read",
            json!({"zone": "storage", "path": "notes/plan.md"}),
        ),
        ("shed_read", json!({"path": "notes/a.md"})),
        ("shed_delete", json!({"zone": "storage", "path": "storage"})),
        (
            "shed_rename",
            json!({"zone": "storage", "old_path": "notes/a.md", "new_path": "notes"}),
        ),
        ("shed_create_file", file("report.docx")),
        (
            "shed_copy",
            json!({"from": "notes/a.md", "to": "documents/a.md"}),
        ),
        (
            "shed_copy",
            json!({"from": "storage/none.md", "to": "documents/a.md"}),
        ),
        (
            "shed_unzip",
            json!({"zone": "storage", "src": "uploads/x.zip"}),
        ),
        (
            "shed_sqlite",
            json!({"zone": "storage", "path": "none.db", "query": "SELECT 1"}),
        ),
        (
            "shed_lockedit_save",
            json!({"zone": "storage", "path": "notes/a.md"}),
        ),
    ];
    walk(&peer, &cases, 12);
}
