//! Arguments and answers of the tools, as the first document prints them.

use std::fs;

use fileshed_test_support::{Client, TestApp};
use serde_json::json;

use super::{call, done, refused};

fn write(client: &Client<'_>, path: &str, content: &str) {
    done(
        client,
        "write_file",
        &json!({"path": path, "content": content}),
    );
}

#[test]
fn read_file() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "notes/a.md", "one\ntwo\nthree\n");
    let read = done(
        &client,
        "read_file",
        &json!({"path": "notes/a.md", "offset": 2, "limit": 1}),
    );
    let expected = json!({
        "status": "ok", "path": "notes/a.md", "content": "     2→two", "total_lines": 3,
        "start_line": 2, "num_lines": 1, "mime_type": "text/markdown", "size": 14,
    });
    assert_eq!(read, expected);
    let whole = done(&client, "read_file", &json!({"path": "notes/a.md"}));
    assert_eq!(whole["content"], "     1→one\n     2→two\n     3→three");
}

#[test]
fn a_pdf_is_no_text() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "a", "%PDF-1.4\nonly text\n");
    write(&client, "a.pdf", "%PDF-1.4\nonly text\n");
    for (tool, arguments) in [
        ("read_file", json!({"path": "a"})),
        (
            "edit_file",
            json!({"path": "a.pdf", "old_string": "only", "new_string": "no"}),
        ),
    ] {
        let error = refused(&client, tool, &arguments);
        assert!(error.contains("binary"), "{tool}: {error}");
    }
    let error = refused(&client, "read_file", &json!({"path": "a.pdf"}));
    assert!(error.contains("`a.pdf`"), "{error}");
}

#[test]
fn documents_are_read_and_searched_by_their_text() {
    let app = TestApp::start();
    let client = app.client();
    let storage = app.data().join("shared/Storage/data");
    write(&client, "d/a.txt", "Paid at once\n");
    for (name, content) in [
        (
            "old.docx",
            &include_bytes!("../terminal/search/documents/old.docx")[..],
        ),
        (
            "slides.pptx",
            include_bytes!("../terminal/search/documents/slides.pptx"),
        ),
        ("broken.docx", b"PK\x03\x04 and no more"),
    ] {
        fs::write(storage.join("d").join(name), content).expect("a file");
    }
    let read = done(
        &client,
        "read_file",
        &json!({"path": "d/old.docx", "offset": 2}),
    );
    assert_eq!(
        read["content"],
        "     2→Paid in 30 days & signed\n     3→End"
    );
    let bytes = json!({"path": "d/old.docx", "encoding": "base64"});
    let bytes = done(&client, "read_file", &bytes);
    assert!(
        bytes["content"]
            .as_str()
            .is_some_and(|text| text.starts_with("UEs"))
    );
    let error = refused(&client, "read_file", &json!({"path": "d/broken.docx"}));
    assert!(error.contains("`d/broken.docx`"), "{error}");
    let lines = json!({"pattern": "Paid", "path": "d", "output_mode": "content"});
    let found = done(&client, "grep_search", &lines);
    let expected = json!([
        {"path": "d/a.txt", "line": 1, "text": "Paid at once"},
        {"path": "d/old.docx", "line": 2, "text": "Paid in 30 days & signed"},
    ]);
    assert_eq!(found["matches"], expected);
    let message = found["message"].as_str().expect("a message");
    for part in [
        "1 document was not searched",
        "read_file(path=\"d/broken.docx\")",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let slide = json!({"pattern": "Second", "path": "d/slides.pptx", "output_mode": "content"});
    let found = done(&client, "grep_search", &slide);
    let expected = json!([{"path": "d/slides.pptx", "line": 5, "text": "[Slide 2] Second slide"}]);
    assert_eq!(found["matches"], expected);
    assert_eq!(found.get("message"), None);
}

#[test]
fn read_file_gives_images_as_images() {
    let app = TestApp::start();
    let client = app.client();
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
    let image = json!({"path": "a.png", "content": picture, "encoding": "base64"});
    done(&client, "write_file", &image);
    let read = client.post("fs/read_file", br#"{"path": "a.png"}"#);
    assert_eq!(
        (read.status, read.header("content-type")),
        (200, "image/png")
    );
    assert_eq!(&read.bytes[..4], b"\x89PNG");
    assert!(read.header("content-security-policy").contains("sandbox"));
}

#[test]
fn write_file() {
    let app = TestApp::start();
    let client = app.client();
    let arguments = json!({"path": "deep/er/a.md", "content": "Grüße"});
    let made = done(&client, "write_file", &arguments);
    assert_eq!(
        made,
        json!({"status": "created", "path": "deep/er/a.md", "bytes_written": 7})
    );
    let again = done(&client, "write_file", &arguments);
    assert_eq!(again["status"], "updated");
    let file = app.data().join("shared/Storage/data/deep/er/a.md");
    assert_eq!(fs::read_to_string(file).expect("there"), "Grüße");
}

#[test]
fn edit_file() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "a.md", "one\ntwo\ntwo\n");
    let edit = json!({"path": "a.md", "old_string": "one", "new_string": "1"});
    let edited = done(&client, "edit_file", &edit);
    let expected = json!({
        "status": "ok", "path": "a.md", "replacements": 1, "old_string": "one", "new_string": "1",
    });
    assert_eq!(edited, expected);
    let several = json!({"path": "a.md", "old_string": "two", "new_string": "2"});
    let error = refused(&client, "edit_file", &several);
    assert!(
        error.contains("2:two") && error.contains("3:two"),
        "{error}"
    );
    let all = json!({"path": "a.md", "old_string": "two", "new_string": "2", "replace_all": true});
    assert_eq!(done(&client, "edit_file", &all)["replacements"], 2);
    let missing = json!({"path": "a.md", "old_string": "thre", "new_string": "3"});
    let error = refused(&client, "edit_file", &missing);
    assert!(error.to_lowercase().contains("not found"), "{error}");
}

#[test]
fn glob_search() {
    let app = TestApp::start();
    let client = app.client();
    for path in ["a.md", "nested/b.md", "nested/c.txt"] {
        write(&client, path, "x");
    }
    let found = done(&client, "glob_search", &json!({"pattern": "**/*.md"}));
    let expected = json!({
        "status": "ok", "pattern": "**/*.md", "matches": ["a.md", "nested/b.md"],
        "truncated": false, "truncated_branches": [],
    });
    assert_eq!(found, expected);
    let below = json!({"pattern": "*.{md,txt}", "path": "nested"});
    let found = done(&client, "glob_search", &below);
    assert_eq!(found["matches"], json!(["nested/b.md", "nested/c.txt"]));
    let escapes = refused(&client, "glob_search", &json!({"pattern": "../*"}));
    assert!(escapes.contains("escapes"), "{escapes}");
}

#[test]
fn grep_search() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "a.py", "import os\nprint(1)\n");
    write(&client, "b.md", "Import nothing\n");
    let search = |more: serde_json::Value| {
        let mut arguments = json!({"pattern": "import"});
        for (name, value) in more.as_object().expect("arguments") {
            arguments[name] = value.clone();
        }
        done(&client, "grep_search", &arguments)
    };
    let files = search(json!({}));
    assert!(
        files.to_string().contains("a.py") && !files.to_string().contains("b.md"),
        "{files}"
    );
    let both = search(json!({"case_insensitive": true}));
    assert!(both.to_string().contains("b.md"), "{both}");
    let content = search(json!({"output_mode": "content", "glob": "*.py"}));
    assert!(content.to_string().contains("import os"), "{content}");
    let count = search(json!({"output_mode": "count", "case_insensitive": true}));
    assert!(count.to_string().contains("b.md"), "{count}");
    let regex = search(json!({"pattern": "^print\\(\\d", "is_regex": true}));
    assert!(regex.to_string().contains("a.py"), "{regex}");
}

#[test]
fn output_file_hands_a_file_to_the_person() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "docs/report.pdf", "%PDF");
    let arguments = json!({"path": "docs/report.pdf", "description": "the report"});
    let sent = done(&client, "output_file", &arguments);
    assert_eq!(
        (&sent["sent"], &sent["path"]),
        (&json!(true), &json!("docs/report.pdf"))
    );
    let message = sent["message"].as_str().unwrap_or_default();
    let said = "[File sent to user: \"docs/report.pdf\" — the report]";
    assert!(message.starts_with(said), "{sent}");
    let url = sent["url"].as_str().expect("an address");
    let at = url.find("/links/").expect("a link");
    assert_eq!(client.get(&url[at..]).text, "%PDF");
}

#[test]
fn every_tool_forgives_what_models_write() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "a.md", "one\ntwo\n");
    let read = done(
        &client,
        "read_file",
        &json!({"path": "./a.md", "offset": "2", "limit": null}),
    );
    assert_eq!(read["content"], "     2→two");
    let camel = json!({"path": "b", "content": "x", "mimeType": "text/x-notes", "encoding": ""});
    done(&client, "write_file", &camel);
    assert_eq!(
        done(&client, "stat_file", &json!({"path": "b"}))["mimeType"],
        "text/x-notes"
    );
    let cwd = json!({"pattern": "*", "cwd": ""});
    assert_eq!(
        done(&client, "glob_search", &cwd)["matches"],
        json!(["a.md", "b"])
    );
    assert_eq!(call(&client, "list_files", &json!(null)).status, 200);
}
