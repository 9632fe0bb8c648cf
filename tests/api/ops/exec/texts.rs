//! Documents as people send them: PDF, DOCX and XLSX to text, in every zone, and PDFs made.

use serde_json::{Value, json};

use crate::ops::stage::{done, file, installed, output, place, ran, small, upload};
use fileshed_test_support::Client;

/// Returns `true` if all of these commands are installed; otherwise notes which one is missing.
fn have(client: &Client<'_>, commands: &[&str]) -> bool {
    commands.iter().all(|command| installed(client, command))
}

#[test]
fn text_of_attachments_is_read_where_they_are() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !have(&alice, &["pandoc", "weasyprint", "pdftotext", "xlsx2csv"]) {
        return;
    }
    file(&alice, "storage", "a.md", "# Überschrift\n\nSome *text*.\n");
    output(&alice, "storage", "pandoc", &["a.md", "-o", "a.docx"]);
    output(&alice, "storage", "pandoc", &["a.md", "-o", "a.pdf"]);
    let storage = place(&server, "alice", "storage");
    for name in ["a.docx", "a.pdf"] {
        upload(&alice, name, std::fs::read(storage.join(name)).unwrap());
    }
    upload(
        &alice,
        "book.xlsx",
        include_bytes!("../../../sandbox/book.xlsx"),
    );
    for (cmd, args, part) in [
        ("pandoc", &["a.docx", "-t", "plain"][..], "Some text."),
        ("pdftotext", &["a.pdf"], "Überschrift"),
        ("pdftotext", &["a.pdf", "-"], "Some text."),
        ("xlsx2csv", &["book.xlsx"], "pen,3"),
    ] {
        let text = output(&alice, "uploads", cmd, args);
        assert!(text.contains(part), "{cmd} {args:?}: {text}");
    }
    for (cmd, args) in [
        ("pdftotext", json!(["a.pdf", "a.txt"])),
        ("pandoc", json!(["a.docx", "-o", "a.md"])),
        ("pandoc", json!(["a.docx", "-o", "a.pdf"])),
        ("xlsx2csv", json!(["book.xlsx", "book.csv"])),
    ] {
        let arguments = json!({"zone": "uploads", "cmd": cmd, "args": args});
        alice
            .call("shed_exec", &arguments)
            .refused(403, "ZONE_READONLY");
    }
}

#[test]
fn a_pdf_is_one_change() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !have(&alice, &["pandoc", "weasyprint", "pdfinfo"]) {
        return;
    }
    file(&alice, "documents", "a.md", "# Title\n");
    let data = ran(&alice, "documents", "pandoc", &["a.md", "-o", "out/a.pdf"]);
    assert_eq!(data["returncode"], 0, "{data}");
    let count = |client: &Client<'_>| -> usize {
        let log = output(client, "documents", "git", &["log", "--oneline"]);
        log.lines().count()
    };
    assert_eq!(count(&alice), 2);
    let info = output(&alice, "documents", "pdfinfo", &["out/a.pdf"]);
    assert!(info.contains("Pages:           1"), "{info}");
    // A source that pandoc cannot read leaves the PDF as it was.
    let data = ran(&alice, "documents", "pandoc", &["b.md", "-o", "out/a.pdf"]);
    assert_ne!(data["returncode"], 0);
    assert!(data["stderr"].as_str().unwrap().contains("b.md"), "{data}");
    assert_eq!(count(&alice), 2);
    // It is held to locks and to the zone like any other file.
    let open = json!({"zone": "documents", "path": "out/a.pdf"});
    let elsewhere = server.as_user("alice").chat("other");
    done(&elsewhere, "shed_lockedit_open", &open);
    let refused = |args: Value, status, code| {
        let arguments = json!({"zone": "documents", "cmd": "pandoc", "args": args});
        alice.call("shed_exec", &arguments).refused(status, code);
    };
    refused(json!(["a.md", "-o", "out/a.pdf"]), 423, "FILE_LOCKED");
    refused(json!(["a.md", "-o", "../a.pdf"]), 403, "PATH_ESCAPE");
    refused(json!(["a.md", "-o", ".git/a.pdf"]), 403, "PROTECTED_PATH");
    refused(
        json!(["a.md", "--pdf-engine=xelatex", "-o", "b.pdf"]),
        403,
        "ARGUMENT_FORBIDDEN",
    );
}

#[test]
fn what_only_looks_like_a_way_to_a_pdf_says_the_way() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !have(&alice, &["convert", "img2pdf", "pdftoppm"]) {
        return;
    }
    output(
        &alice,
        "storage",
        "convert",
        &["-size", "8x8", "xc:red", "r.png"],
    );
    for args in [json!(["r.png", "r.pdf"]), json!(["r.pdf", "s.png"])] {
        let arguments = json!({"zone": "storage", "cmd": "convert", "args": args});
        let answer = alice.call("shed_exec", &arguments);
        answer.refused(403, "ARGUMENT_FORBIDDEN");
        // The call of the hint, as it stands there.
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        let (cmd, args) = hint
            .split_once("cmd=\"")
            .and_then(|(_, rest)| rest.trim_end_matches(')').split_once("\", args="))
            .unwrap();
        let args: Value = serde_json::from_str(args).unwrap();
        let arguments = json!({"zone": "storage", "cmd": cmd, "args": args});
        assert_eq!(done(&alice, "shed_exec", &arguments)["returncode"], 0);
    }
    let made = output(&alice, "storage", "ls", &[]);
    assert!(
        made.contains("r.pdf\n") && made.contains("r-1.png\n"),
        "{made}"
    );
    for (cmd, args) in [
        ("magick", ["r.png", "m.jpg"]),
        ("magick", ["identify", "r.png"]),
    ] {
        output(&alice, "storage", cmd, &args);
    }
}

#[test]
fn grep_says_which_documents_it_passed_by() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "d/a.md", "paid\n");
    let storage = place(&server, "alice", "storage");
    let docx = include_bytes!("../../terminal/search/documents/old.docx");
    for name in ["d/b.docx", "c.docx"] {
        std::fs::write(storage.join(name), docx).unwrap();
    }
    let said = |args: &[&str]| {
        let arguments = json!({"zone": "storage", "cmd": "grep", "args": args});
        let answer = alice.call("shed_exec", &arguments);
        answer.data();
        answer.body["message"].as_str().unwrap().to_owned()
    };
    let all = said(&["-rni", "paid", "."]);
    assert!(all.contains("2 documents were not searched"), "{all}");
    assert!(
        all.contains(r#"shed_read(zone="storage", path="c.docx", paths=["d/b.docx"])"#),
        "{all}"
    );
    for args in [
        &["-rl", "paid", "d"][..],
        &["paid", "d/b.docx", "d/a.md"],
        &["paid", "d/*"],
    ] {
        let one = said(args);
        assert!(
            one.contains("1 document was not searched"),
            "{args:?}: {one}"
        );
        assert!(one.contains(r#"path="d/b.docx""#), "{args:?}: {one}");
    }
    let none = said(&["paid", "d/a.md"]);
    assert!(!none.contains("searched"), "{none}");
}

#[test]
fn grep_says_that_a_file_has_another_encoding() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "b.txt", "Gr\u{f6}\u{df}e: 42\n");
    let storage = place(&server, "alice", "storage");
    std::fs::write(storage.join("a.txt"), b"Gr\xf6\xdfe: 42 Stra\xdfen\n").unwrap();
    for (name, is_told) in [("a.txt", true), ("b.txt", false)] {
        let args = ["Gr\u{f6}\u{df}e", name];
        let arguments = json!({"zone": "storage", "cmd": "grep", "args": args});
        let answer = alice.call("shed_exec", &arguments);
        let message = answer.body["message"].as_str().unwrap();
        let call = format!(r#"shed_read(zone="storage", path="{name}")"#);
        assert_eq!(message.contains(&call), is_told, "{message}");
    }
}
