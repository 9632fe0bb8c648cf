//! Failures that people read, on the page and behind a drive: they say what a person can do, and name
//! no operation.

use serde_json::{Value, json};

use crate::dav::Drive;
use fileshed_test_support::{Answer, TestApp};

/// Returns the fault of a message that a person reads: no failure, or a word of the API in it.
fn fault(what: &str, answer: &Answer) -> Option<String> {
    let error = &answer.body["error"];
    let text = format!("{}; {}", error["message"], error["hint"]);
    let hint = error["hint"].as_str().unwrap_or_default();
    // Drives are told some refusals by the status, or in one line.
    let is_failure = answer.status >= 400 && (!hint.is_empty() || answer.body.is_null());
    let foreign = ["shed_", "zone=", "the call", "the user", "tool", "`zone`"];
    let foreign = foreign.into_iter().find(|word| text.contains(word));
    (!is_failure || foreign.is_some())
        .then(|| format!("{what}: {} {} ({foreign:?})", answer.status, answer.text))
}

/// Names and values of headers.
type Headers<'h> = &'h [(&'h str, &'h str)];

#[test]
fn failures_of_the_page_are_for_people() {
    let app = TestApp::start();
    let page = app.client().header("X-Fileshed-Page", "1");
    let file = |path: &str| json!({"zone": "storage", "path": path, "content": "one\none\n"});
    for path in ["notes/a.md", "notes/Plan.md", "b.csv"] {
        page.call("shed_create_file", &file(path)).data();
    }
    page.call("shed_create_file", &file("held.md")).data();
    let edit = json!({"zone": "storage", "path": "held.md"});
    let chat = app.client().header("X-Session-Id", "another");
    chat.call("shed_lockedit_open", &edit).data();
    let calls: &[(&str, Value)] = &[
        ("shed_create_file", file("notes")),
        ("shed_create_file", file("CON")),
        ("shed_create_file", file("a/../../b")),
        ("shed_create_file", file("b.csv/c")),
        ("shed_create_file", file("report.docx")),
        ("shed_delete", json!({"zone": "storage", "path": "none"})),
        ("shed_delete", json!({"zone": "storage", "path": "."})),
        (
            "shed_copy",
            json!({"from": "storage/none", "to": "documents/none"}),
        ),
        (
            "shed_copy",
            json!({"from": "storage/b.csv", "to": "storage/notes/a.md"}),
        ),
        (
            "shed_rename",
            json!({"zone": "storage", "old_path": "b.csv", "new_path": "notes"}),
        ),
        ("shed_unzip", json!({"zone": "storage", "src": "b.csv"})),
        ("shed_zip", json!({"zone": "storage", "src": "none"})),
        (
            "shed_patch_text",
            json!({"zone": "storage", "path": "held.md", "content": "x"}),
        ),
        ("shed_delete", json!({"zone": "storage", "path": "held.md"})),
        (
            "shed_lockedit_save",
            json!({"zone": "storage", "path": "b.csv"}),
        ),
        (
            "shed_link_create",
            json!({"zone": "storage", "path": "none"}),
        ),
        ("shed_link_delete", json!({"file_id": "none"})),
        (
            "shed_sqlite",
            json!({"zone": "storage", "path": "b.csv", "query": "SELECT 1"}),
        ),
        ("shed_undo", json!({"change": 4711})),
        ("shed_undo", json!({"answer": "none"})),
    ];
    let mut faults: Vec<String> = calls
        .iter()
        .filter_map(|(operation, given)| {
            let what = format!("{operation} {given}");
            fault(&what, &page.call(operation, given))
        })
        .collect();
    for address in [
        "page/list?zone=storage&path=none",
        "page/list?zone=storage&path=../x",
        "page/list?zone=storage&path=b.csv",
        "page/details?zone=storage&path=none",
        "page/search?zone=storage",
        "page/changes?before=x",
        "files/content?zone=storage&path=none",
    ] {
        faults.extend(fault(address, &page.get(&format!("/{address}"))));
    }
    for address in [
        "page/lease?zone=storage&path=held.md",
        "page/bin/restore",
        "page/undo?change=4711",
    ] {
        faults.extend(fault(
            address,
            &page.send("POST", &format!("/{address}"), b""),
        ));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn failures_of_drives_are_for_people() {
    let app = TestApp::start();
    let drive = Drive::of(app.client(), "/storage");
    drive.send("MKCOL", "notes", &[]);
    drive.put("notes/a.md", "a");
    drive.put("b.csv", "a");
    let to = |path: &str| format!("http://localhost/dav/storage/{path}");
    let none = to("none/deep/c.md");
    let over = to("b.csv");
    let cases: &[(&str, &str, Headers)] = &[
        ("GET", "none.md", &[]),
        ("PROPFIND", "none", &[("Depth", "1")]),
        ("DELETE", "none", &[]),
        ("MKCOL", "notes", &[]),
        ("MKCOL", "none/deep", &[]),
        ("PUT", "none/a.md", &[]),
        ("PUT", "notes", &[]),
        ("COPY", "none", &[("Destination", &over)]),
        ("COPY", "b.csv", &[("Destination", &none)]),
        (
            "MOVE",
            "notes/a.md",
            &[("Destination", &over), ("Overwrite", "F")],
        ),
        (
            "MOVE",
            "notes/a.md",
            &[("Destination", "http://other.example/dav/storage/a")],
        ),
        ("MOVE", "notes/a.md", &[]),
        ("LOCK", "b.csv", &[("Depth", "2")]),
        ("UNLOCK", "b.csv", &[]),
        ("UNLOCK", "b.csv", &[("Lock-Token", "<urn:uuid:none>")]),
        ("DELETE", "b.csv", &[("If", "(<urn:uuid:none>)")]),
        ("PUT", "b.csv", &[("If-Match", "\"none\"")]),
        ("PROPPATCH", "none", &[]),
    ];
    let faults: Vec<String> = cases
        .iter()
        .filter_map(|(method, path, headers)| {
            let answer = drive.send(method, path, headers);
            fault(&format!("{method} {path} {headers:?}"), &answer)
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
