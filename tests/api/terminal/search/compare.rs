//! `POST /terminal/files/compare`

use std::process::Command;

use fileshed_test_support::{Answer, Client, TestApp, skip};
use serde_json::{Value, json};

use super::{fill, storage};

fn compare(client: &Client<'_>, body: &Value) -> Answer {
    client.send(
        "POST",
        "/terminal/files/compare",
        body.to_string().as_bytes(),
    )
}

/// Returns `true` if this machine has the program for PDF files.
fn reads_pdf() -> bool {
    let is_there = Command::new("pdftotext").arg("-v").output().is_ok();
    if !is_there {
        skip("pdftotext is not installed: PDF is refused");
    }
    is_there
}

/// Fails unless an answer says which program is missing, and where it comes from.
fn assert_lacks_pdftotext(answer: &Answer) {
    assert_eq!(answer.status, 415, "{}", answer.body);
    let detail = answer.body["detail"].as_str().expect("words");
    for part in ["`pdftotext`", "`poppler-utils`"] {
        assert!(detail.contains(part), "{detail}");
    }
}

/// Kinds of lines with their texts.
fn changed(answer: &Answer) -> Vec<(&str, &str)> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let hunks = answer.body["hunks"].as_array().expect("hunks");
    let lines = hunks
        .iter()
        .flat_map(|hunk| hunk["lines"].as_array().expect("lines"));
    let text = |value: &'_ Value| value.as_str().map(str::len).unwrap_or_default();
    lines
        .filter(|line| text(&line["type"]) > 0 && line["type"] != "context")
        .map(|line| {
            (
                line["type"].as_str().unwrap_or_default(),
                line["content"].as_str().unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn hunks_have_lines_and_lines_have_segments() {
    let app = TestApp::start();
    let client = app.client();
    fill(
        &client,
        &[
            ("a.txt", "one\ntwo words\n"),
            ("d/b.txt", "one\ntwo  letters\n"),
        ],
    );
    let found = compare(
        &client,
        &json!({"original": "a.txt", "revised": "/storage/d/b.txt", "ignore_whitespace": false}),
    );
    assert_eq!(
        found.body,
        json!({
            "original": {"path": "/storage/a.txt", "name": "a.txt", "notices": []},
            "revised": {"path": "/storage/d/b.txt", "name": "b.txt", "notices": []},
            "additions": 1,
            "deletions": 1,
            "hunks": [{
                "header": "@@ -1,2 +1,2 @@",
                "lines": [
                    {"type": "context", "oldNumber": 1, "newNumber": 1, "content": "one",
                     "revisedContent": "one", "segments": [{"text": "one", "changed": false}]},
                    {"type": "removed", "oldNumber": 2, "newNumber": null, "content": "two words",
                     "segments": [{"text": "two", "changed": false}, {"text": " words", "changed": true}]},
                    {"type": "added", "oldNumber": null, "newNumber": 2, "content": "two  letters",
                     "segments": [{"text": "two", "changed": false}, {"text": "  letters", "changed": true}]},
                ],
            }],
        })
    );
    let same = json!({"original": "a.txt", "revised": "a.txt"});
    assert_eq!(compare(&client, &same).body["hunks"], json!([]));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("a.txt", "a\n"), ("d/b.txt", "b\n")]);
    std::fs::write(storage(&app).join("binary"), b"\0\x01\x02").expect("a file");
    let status = |revised: &str| {
        let answer = compare(&client, &json!({"original": "a.txt", "revised": revised}));
        assert!(answer.body["detail"].is_string());
        answer.status
    };
    assert_eq!(status("none.txt"), 404);
    assert_eq!(status("d"), 404);
    assert_eq!(status("binary"), 400);
    assert_eq!(compare(&client, &json!({"original": "a.txt"})).status, 400);
    let lines = "x\n".repeat(50_001);
    fill(&client, &[("long.txt", &lines)]);
    assert_eq!(status("long.txt"), 413);
}

#[test]
fn documents_are_compared_by_their_text() {
    let app = TestApp::start();
    let client = app.client();
    let zone = storage(&app);
    fill(
        &client,
        &[
            ("none.txt", ""),
            (
                "slides.txt",
                "--- Slide 1 ---\nFirst slide\n\n--- Slide 2 ---\n2nd slide\n",
            ),
        ],
    );
    for (name, content) in [
        ("old.docx", &include_bytes!("documents/old.docx")[..]),
        ("new.docx", include_bytes!("documents/new.docx")),
        ("slides.pptx", include_bytes!("documents/slides.pptx")),
        ("book.xlsx", include_bytes!("../../../sandbox/book.xlsx")),
        ("-pages*.pdf", include_bytes!("documents/pages.pdf")),
        ("wide.xlsx", include_bytes!("documents/wide.xlsx")),
        ("broken.docx", b"PK\x03\x04 and no more"),
        ("broken.pdf", b"%PDF-1.4 and no more"),
    ] {
        std::fs::write(zone.join(name), content).expect("a file");
    }
    let against = |original: &str, revised: &str| {
        compare(&client, &json!({"original": original, "revised": revised}))
    };
    let found = against("old.docx", "new.docx");
    assert_eq!(
        changed(&found),
        [
            ("removed", "Paid in 30 days & signed"),
            ("added", "Paid in 14 days & signed")
        ]
    );
    let notices = found.body["original"]["notices"].as_array();
    assert_eq!(notices.map(Vec::len), Some(1));
    assert_eq!(
        changed(&against("slides.pptx", "slides.txt")),
        [("removed", "Second slide"), ("added", "2nd slide")]
    );
    let book = against("none.txt", "book.xlsx");
    assert!(
        changed(&book).contains(&("added", "pen\t3")),
        "{:?}",
        changed(&book)
    );
    let mut broken = vec!["broken.docx", "wide.xlsx"];
    if reads_pdf() {
        broken.push("broken.pdf");
        assert_eq!(
            changed(&against("none.txt", "-pages*.pdf")),
            [
                ("added", "--- Page 1 ---"),
                ("added", "First page"),
                ("added", "--- Page 2 ---"),
                ("added", "Second page"),
            ]
        );
    } else {
        assert_lacks_pdftotext(&against("none.txt", "-pages*.pdf"));
    }
    for name in broken {
        let refused = against("none.txt", name);
        assert_eq!(refused.status, 400, "{name}: {}", refused.body);
        let detail = refused.body["detail"].as_str().unwrap_or_default();
        assert!(detail.contains(name), "{detail}");
        assert!(!detail.contains("/tmp"), "{detail}");
    }
}

#[test]
fn documents_are_read_by_their_text() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("kept.md", "x")]);
    let zone = storage(&app);
    for (name, content) in [
        ("plain.docx", &b"no archive\n"[..]),
        ("old.docx", include_bytes!("documents/old.docx")),
        ("slides.pptx", include_bytes!("documents/slides.pptx")),
        ("pages.pdf", include_bytes!("documents/pages.pdf")),
        ("broken.docx", b"PK\x03\x04 and no more"),
    ] {
        std::fs::write(zone.join(name), content).expect("a file");
    }
    let read = |query: &str| client.get(&format!("/terminal/files/read?path={query}"));
    let text = read("old.docx");
    assert_eq!(
        text.body,
        json!({
            "path": "/storage/old.docx",
            "total_lines": 3,
            "content": "Contract\nPaid in 30 days & signed\nEnd\n",
        })
    );
    let some = read("slides.pptx&start_line=4&end_line=5");
    assert_eq!(some.body["content"], "--- Slide 2 ---\nSecond slide\n");
    let pages = read("pages.pdf&start_line=3");
    if reads_pdf() {
        assert_eq!(pages.body["content"], "--- Page 2 ---\nSecond page\n");
    } else {
        assert_lacks_pdftotext(&pages);
    }
    // Its source is nothing to read, under whatever name.
    std::fs::write(zone.join("pages"), include_bytes!("documents/pages.pdf")).expect("a file");
    assert_eq!(read("pages").status, 415);
    let refused = compare(
        &client,
        &json!({"original": "pages", "revised": "plain.docx"}),
    );
    assert_eq!(refused.status, 400, "{}", refused.body);
    // A file with an extension of another format is read as what it is.
    assert_eq!(read("plain.docx").body["content"], "no archive\n");
    assert_eq!(read("broken.docx").status, 400);
}
