//! `shed_read`

use serde_json::{Value, json};

use crate::ops::fault;
use crate::ops::stage::{Provoked, done, file, installed, output, small, upload};
use fileshed_test_support::{TestApp, has_program};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "d/a", "x");
        for path in ["d", "."] {
            stage.refuses_example("path", path, &["a directory"]);
        }
    }),
    ("FILE_TOO_LARGE", |stage| {
        stage.file("storage", "kept", "x");
        let place = stage.place("storage").join("large.png");
        let made = std::fs::File::create(place).unwrap();
        made.set_len(11 << 20).unwrap();
        stage.refuses_example("path", "large.png", &["`large.png`", "10485760"]);
    }),
    ("UNSUPPORTED_FILE_TYPE", |stage| {
        stage.file("storage", "kept", "x");
        std::fs::write(stage.place("storage").join("a.bin"), b"\0\x01\x02\xff").unwrap();
        stage.refuses_example("path", "a.bin", &["`a.bin`", "not text"]);
    }),
    ("INVALID_FORMAT", |stage| {
        stage.file("storage", "kept", "x");
        std::fs::write(stage.place("storage").join("a.docx"), b"PK\x03\x04 broken").unwrap();
        stage.refuses_example("path", "a.docx", &["`a.docx`", "cannot be read"]);
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
fn lines_come_with_their_numbers() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "documents", "a.md", "one\ntwo\nthree\n");
    let arguments = json!({"zone": "documents", "path": "a.md", "offset": 2, "limit": 1});
    let read = done(&client, "shed_read", &arguments);
    let expected = json!({
        "path": "a.md", "content": "     2→two", "total_lines": 3, "start_line": 2,
        "num_lines": 1, "truncated": false, "file_size": 14, "mime_type": "text/markdown",
    });
    assert_eq!(read, expected);
    let whole = done(
        &client,
        "shed_read",
        &json!({"zone": "documents", "path": "a.md"}),
    );
    assert_eq!(whole["content"], "     1→one\n     2→two\n     3→three");
    for (parameter, value) in [("offset", 0), ("limit", -1)] {
        let mut arguments = json!({"zone": "documents", "path": "a.md"});
        arguments[parameter] = value.into();
        client
            .call("shed_read", &arguments)
            .refused(400, "INVALID_PARAMETER");
    }
}

#[test]
fn an_empty_file_is_a_text_without_lines() {
    let server = TestApp::start();
    let client = server.client();
    for zone in ["storage", "documents"] {
        for path in ["empty.txt", "empty"] {
            file(&client, zone, path, "");
            let read = done(&client, "shed_read", &json!({"zone": zone, "path": path}));
            let shown = (&read["content"], &read["total_lines"], &read["num_lines"]);
            assert_eq!(shown, (&json!(""), &json!(0), &json!(0)));
        }
    }
}

#[test]
fn what_is_too_long_says_where_it_goes_on() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.txt", &"line\n".repeat(20_000));
    let answer = client.call("shed_read", &json!({"zone": "storage", "path": "a.txt"}));
    let read = answer.data();
    assert_eq!(
        (&read["truncated"], &read["total_lines"]),
        (&json!(true), &json!(20_000))
    );
    let next = read["num_lines"].as_u64().unwrap() + 1;
    let said = answer.body["message"].as_str().unwrap_or_default();
    assert!(said.contains(&format!("offset={next}")), "{said}");
    let arguments = json!({"zone": "storage", "path": "a.txt", "offset": next, "limit": 1});
    let more = done(&client, "shed_read", &arguments);
    assert!(
        more["content"].as_str().unwrap().ends_with("→line"),
        "{more}"
    );
}

#[test]
fn a_line_that_is_longer_than_an_answer_is_read_in_parts() {
    let server = TestApp::start();
    let client = server.client();
    let line = "0123456789ä".repeat(20_000);
    file(&client, "storage", "a.json", &format!("{line}\nlast\n"));
    let (mut whole, mut next) = (String::new(), json!({}));
    for _ in 0..100 {
        let mut arguments = json!({"zone": "storage", "path": "a.json", "limit": 1});
        let given = arguments.as_object_mut().unwrap();
        given.extend(next.as_object().unwrap().clone());
        let answer = client.call("shed_read", &arguments);
        let content = answer.data()["content"].as_str().unwrap().to_owned();
        whole += content.strip_prefix("     1→").unwrap();
        if answer.data()["truncated"] == false {
            break;
        }
        let message = answer.body["message"].as_str().unwrap();
        let (_, said) = message.split_once("more with ").unwrap();
        let (offset, column) = said.split_once(", ").unwrap();
        assert_eq!(offset, "offset=1");
        let column: u64 = column.strip_prefix("column=").unwrap().parse().unwrap();
        next = json!({"offset": 1, "column": column});
    }
    assert!(whole == line, "{} of {} bytes", whole.len(), line.len());
}

#[test]
fn lines_are_read_from_the_end() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.log", "one\ntwo\nthree\n");
    let arguments = json!({"zone": "storage", "path": "a.log", "offset": -2});
    let read = done(&client, "shed_read", &arguments);
    assert_eq!(read["content"], "     2→two\n     3→three");
    assert_eq!(
        (&read["start_line"], &read["num_lines"]),
        (&json!(2), &json!(2))
    );
}

#[test]
fn lines_are_read_from_a_file_of_any_size() {
    let server = TestApp::start();
    let client = server.client();
    let line = "Grüße aus Köln\n".repeat(100);
    let count = (11 << 20) / line.len() + 1;
    upload(&client, "long.txt", line.repeat(count));
    let total = (count * 100) as u64;
    let mut arguments = json!({"zone": "uploads", "path": "long.txt", "offset": total, "limit": 3});
    let read = done(&client, "shed_read", &arguments);
    assert_eq!(read["content"], format!("{total:>6}→Grüße aus Köln"));
    arguments["offset"] = json!(-1);
    assert_eq!(
        done(&client, "shed_read", &arguments)["content"],
        read["content"]
    );
    arguments["path"] = json!("wide.txt");
    let text = line.repeat(count);
    let wide = std::iter::once(0xfeff).chain(text.encode_utf16());
    upload(
        &client,
        "wide.txt",
        wide.flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    );
    assert_eq!(
        done(&client, "shed_read", &arguments)["content"],
        read["content"]
    );
}

#[test]
fn several_files_are_read_in_one_call() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "one\ntwo\n");
    file(&client, "storage", "d/b.md", "three\n");
    let expected = "==> a.md <==\n     1→one\n     2→two\n\n==> d/b.md <==\n     1→three";
    for paths in [
        json!({"path": "a.md", "paths": ["d/b.md"]}),
        json!({"paths": ["a.md", "d/b.md"]}),
        json!({"path": ["a.md", "d/b.md"]}),
    ] {
        let mut arguments = json!({"zone": "storage"});
        let given = arguments.as_object_mut().unwrap();
        given.extend(paths.as_object().unwrap().clone());
        let answer = client.call("shed_read", &arguments);
        let read = answer.data();
        assert_eq!(read["content"], expected, "{paths}");
        assert_eq!(
            (&read["path"], &read["num_lines"]),
            (&json!("a.md, d/b.md"), &json!(3))
        );
        assert_eq!(answer.body["message"], "3 lines of 2 files");
    }
    let arguments = json!({"zone": "storage", "path": "a.md", "paths": ["no.md"]});
    let answer = client.call("shed_read", &arguments);
    let content = answer.data()["content"].as_str().unwrap();
    assert!(
        content.contains("==> no.md <==\n[") && content.contains("`no.md`"),
        "{content}"
    );
    let message = answer.body["message"].as_str().unwrap();
    assert!(message.contains("1 of which cannot be read"), "{message}");
    let arguments = json!({"zone": "storage", "path": "no.md", "paths": ["none.md"]});
    client
        .call("shed_read", &arguments)
        .refused(404, "FILE_NOT_FOUND");
}

#[test]
fn a_picture_is_the_answer_itself() {
    let server = TestApp::start();
    let client = server.client();
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    upload(&client, "a.png", picture.clone());
    let read = client.post("shed_read", br#"{"zone": "uploads", "path": "a.png"}"#);
    assert_eq!(
        (read.status, read.header("content-type")),
        (200, "image/png")
    );
    assert_eq!(read.bytes, picture);
    assert!(read.header("content-security-policy").contains("sandbox"));
}

#[test]
fn documents_are_read_as_text() {
    let server = small().app();
    let alice = server.as_user("alice");
    upload(
        &alice,
        "book.xlsx",
        include_bytes!("../../sandbox/book.xlsx"),
    );
    let read = |zone: &str, path: &str| {
        let read = done(&alice, "shed_read", &json!({"zone": zone, "path": path}));
        read["content"].as_str().unwrap().to_owned()
    };
    assert!(read("uploads", "book.xlsx").contains("pen"));
    for command in ["pandoc", "weasyprint", "pdftotext"] {
        if !installed(&alice, command) {
            return;
        }
    }
    file(&alice, "storage", "a.md", "# Überschrift\n\nSome *text*.\n");
    for name in ["a.docx", "a.pptx", "a.odt", "a.pdf"] {
        output(&alice, "storage", "pandoc", &["a.md", "-o", name]);
        let text = read("storage", name);
        assert!(text.starts_with("     1→"), "{name}: {text}");
        assert!(
            text.contains("Überschrift") && text.contains("Some text."),
            "{name}: {text}"
        );
    }
}

/// The source of a PDF is no text, even if it has no other bytes than text has.
#[test]
fn the_source_of_a_pdf_is_not_read_as_text() {
    let server = small().start();
    let alice = server.as_user("alice");
    let pdf = include_bytes!("../terminal/search/documents/pages.pdf");
    assert!(pdf.is_ascii());
    upload(&alice, "pages.pdf", pdf);
    upload(&alice, "pages", pdf);
    let read = |path: &str| {
        let arguments = json!({"zone": "uploads", "path": path});
        alice.call("shed_read", &arguments)
    };
    read("pages").refused(415, "UNSUPPORTED_FILE_TYPE");
    let answer = read("pages.pdf");
    if installed(&alice, "pdftotext") {
        let text = answer.data()["content"].to_string();
        assert!(text.contains("First page"), "{text}");
        assert!(!text.contains("%PDF"), "{text}");
    } else {
        answer.refused(415, "UNSUPPORTED_FILE_TYPE");
        let details = &answer.body["error"]["details"];
        assert_eq!(details["program"], "pdftotext");
        assert_eq!(details["package"], "poppler-utils");
    }
}

#[test]
fn old_encodings_are_read() {
    let server = TestApp::start();
    let client = server.client();
    upload(
        &client,
        "old.txt",
        b"Gr\xfc\xdfe aus K\xf6ln, sch\xf6ne Gr\xfc\xdfe\n",
    );
    let read = done(
        &client,
        "shed_read",
        &json!({"zone": "uploads", "path": "old.txt"}),
    );
    assert_eq!(read["content"], "     1→Grüße aus Köln, schöne Grüße");
}

#[test]
fn bytes_are_read_as_digits() {
    let server = TestApp::start();
    let client = server.client();
    upload(&client, "a.bin", b"\0\x01\x02\xff");
    let read = |more: serde_json::Value| {
        let mut arguments = json!({"zone": "uploads", "path": "a.bin"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        client.call("shed_read", &arguments)
    };
    let whole = read(json!({"encoding": "hex"}));
    assert_eq!(whole.data()["content"], "000102ff");
    assert_eq!(whole.data()["truncated"], false);
    let part = read(json!({"encoding": "base64", "offset": 1, "limit": 2}));
    assert_eq!(
        (&part.data()["content"], &part.data()["file_size"]),
        (&json!("AQI="), &json!(4))
    );
    assert_eq!(
        read(json!({"encoding": "hex", "offset": 9})).data()["content"],
        ""
    );
    for wrong in [
        json!({"encoding": "utf-8"}),
        json!({"encoding": "hex", "offset": -1}),
    ] {
        read(wrong).refused(400, "INVALID_PARAMETER");
    }
}

#[test]
fn a_page_without_text_is_seen_as_a_picture() {
    let server = TestApp::start();
    let client = server.client();
    if !installed(&client, "pdftoppm") || !installed(&client, "pdftotext") {
        return;
    }
    upload(
        &client,
        "scan.pdf",
        include_bytes!("../terminal/search/documents/scan.pdf"),
    );
    let answer = client.call("shed_read", &json!({"zone": "uploads", "path": "scan.pdf"}));
    let said = answer.body["message"].as_str().unwrap_or_default();
    assert!(said.contains("page=1"), "{said}");
    let text = answer.data()["content"].as_str().unwrap_or_default();
    assert!(text.contains("page 1 of 1 has no text"), "{text}");
    let page = client.post(
        "shed_read",
        br#"{"zone": "uploads", "path": "scan.pdf", "page": 1}"#,
    );
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, "image/jpeg")
    );
    assert!(page.bytes.starts_with(b"\xff\xd8\xff"));
    for wrong in [json!(2), json!(0), json!("x")] {
        let arguments = json!({"zone": "uploads", "path": "scan.pdf", "page": wrong});
        client
            .call("shed_read", &arguments)
            .refused(400, "INVALID_PARAMETER");
    }
    upload(&client, "a.md", "text\n");
    let arguments = json!({"zone": "uploads", "path": "a.md", "page": 1});
    client
        .call("shed_read", &arguments)
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn the_text_of_a_scan_is_recognised() {
    if !["pdftotext", "pdftoppm", "tesseract"]
        .into_iter()
        .all(has_program)
    {
        return;
    }
    let server = TestApp::start();
    let client = server.client();
    let scan = include_bytes!("../terminal/search/documents/scan-words.pdf");
    upload(&client, "scan.pdf", scan);
    let text = |answer: &Value| answer["content"].as_str().unwrap_or_default().to_owned();
    let read = client.call("shed_read", &json!({"zone": "uploads", "path": "scan.pdf"}));
    let read = text(read.data());
    for part in ["recognised", "Invoice 4711 of 3 March", "Total 1250 Euro"] {
        assert!(read.contains(part), "{read}");
    }
    let file = client.get("/terminal/files/read?path=/uploads/scan.pdf");
    assert!(text(&file.body).contains("Invoice 4711"));
}

#[test]
fn a_pdf_that_needs_a_password_says_so() {
    let server = TestApp::start();
    let client = server.client();
    let pdf = include_bytes!("../terminal/search/documents/encrypted.pdf");
    upload(&client, "closed.pdf", pdf);
    for (command, arguments) in [
        (
            "pdftotext",
            json!({"zone": "uploads", "path": "closed.pdf"}),
        ),
        (
            "pdftoppm",
            json!({"zone": "uploads", "path": "closed.pdf", "page": 1}),
        ),
    ] {
        if installed(&client, command) {
            let answer = client.call("shed_read", &arguments);
            answer.refused(400, "INVALID_FORMAT");
            let said = answer.body["error"]["message"].as_str().unwrap_or_default();
            assert!(said.contains("encrypted"), "{said}");
        }
    }
}

#[test]
fn an_encrypted_document_says_so() {
    let server = TestApp::start();
    let client = server.client();
    let document = super::sqlite::encrypted();
    for name in ["a.xlsx", "a.docx", "a.pptx"] {
        upload(&client, name, &document);
        let answer = client.call("shed_read", &json!({"zone": "uploads", "path": name}));
        answer.refused(400, "INVALID_FORMAT");
        let said = answer.body["error"]["message"].as_str().unwrap_or_default();
        assert!(
            said.contains("encrypted") && said.contains("password"),
            "{said}"
        );
    }
}
