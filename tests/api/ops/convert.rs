//! `shed_convert`, and text under the name of a format that it is not.

use serde_json::{Value, json};

use crate::ops::fault;
use crate::ops::sqlite::{at, select};
use crate::ops::stage::{Provoked, bring, content, done, file, installed, place, small, upload};
use fileshed_test_support::{Client, TestApp, has_program};

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", |stage| {
        let source = json!({"zone": "group", "group": "team", "path": "a.csv", "content": "a\n"});
        stage.done("shed_create_file", &source);
        stage.theirs("theirs.txt");
        let call = json!({"zone": "group", "group": "team", "path": "a.csv", "to": "theirs.txt"});
        stage.refuses(&call, &["`theirs.txt`", "owner"]);
    }),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("FILE_NOT_FOUND", |stage| {
        stage.refuses_example("path", "missing.csv", &["`missing.csv`"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "folder/x", "x");
        stage.refuses_example("path", "folder", &["`folder`", "a directory"]);
    }),
    ("INVALID_FORMAT", |stage| {
        for (path, to) in [("a.md", "xlsx"), ("a.csv", "foo"), ("a.png", "pdf")] {
            stage.file("storage", path, "x\n");
            let call = json!({"zone": "storage", "path": path, "to": to});
            stage.refuses(&call, &[&format!("`{path}`"), to]);
        }
    }),
    ("COMMAND_NOT_FOUND", |stage| {
        if crate::ops::stage::installed(&stage.client(), "pandoc") {
            stage.skip("pandoc is installed");
            return;
        }
        let call = stage.example(&json!({"to": "docx"}));
        stage.refuses(&call, &["`pandoc`", "package"]);
    }),
    ("EXEC_ERROR", |stage| {
        if !installed(&stage.client(), "pandoc") {
            stage.skip("needs pandoc");
            return;
        }
        stage.file("storage", "broken.epub", "no archive");
        let call = json!({"zone": "storage", "path": "broken.epub", "to": "md"});
        stage.refuses(&call, &["`broken.epub`", "pandoc"]);
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", |stage| {
        for path in [".git/a.csv", "a/.lfsig/a.csv"] {
            let call = stage.example(&json!({"zone": "documents", "to": path}));
            stage.bring("documents", "sales.csv", "a\n");
            stage.refuses(&call, &[]);
        }
    }),
    ("INVALID_PATH", |stage| {
        stage.file("storage", "sales.csv", "a\n");
        for to in ["a\\b.xlsx", "con.xlsx"] {
            let call = json!({"zone": "storage", "path": "sales.csv", "to": to});
            stage.refuses(&call, &[]);
        }
    }),
    ("FILE_LOCKED", |stage| {
        stage.file("storage", "held.tsv", "a\n");
        stage.file("storage", "sales.csv", "a\n");
        let held = json!({"zone": "storage", "path": "held.tsv"});
        stage.done("shed_lockedit_open", &held);
        let call = json!({"zone": "storage", "path": "sales.csv", "to": "held.tsv"});
        stage.refuses(&call, &["`held.tsv`"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        // A quote that stands alone is written as four.
        stage.file("storage", "quotes.tsv", &"a\"b\n".repeat(250_000));
        let call = json!({"zone": "storage", "path": "quotes.tsv", "to": "csv"});
        stage.refuses(&call, &[]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        stage.file("storage", "a.csv", &"abcdefg,hijklmn\n".repeat(1000));
        stage.file("documents", "full.txt", &"x".repeat(1 << 20));
        stage.file("storage", "full.txt", &"x".repeat((1 << 20) - 20_000));
        let call = json!({"zone": "storage", "path": "a.csv", "to": "tsv"});
        stage.refuses(&call, &["2.0 MB"]);
    }),
    ("CSV_PARSE_ERROR", |stage| {
        stage.file("storage", "a.csv", "a,b\n1,\"2\n3,4\n");
        let call = json!({"zone": "storage", "path": "a.csv", "to": "xlsx"});
        stage.refuses(&call, &["`path`", "line 2"]);
    }),
    ("CSV_TOO_WIDE", |stage| {
        let wide = vec!["a"; 5001].join(",");
        stage.file("storage", "a.csv", &format!("{wide}\n1\n"));
        let call = json!({"zone": "storage", "path": "a.csv", "to": "xlsx"});
        stage.refuses(&call, &["5001", "5000"]);
    }),
];

fn convert(client: &Client<'_>, path: &str, to: &str) -> Value {
    let call = json!({"zone": "storage", "path": path, "to": to});
    done(client, "shed_convert", &call)
}

/// Imports a file and gives its columns' types and its rows.
fn imported(client: &Client<'_>, path: &str) -> (Value, Value) {
    let call = json!({"import_csv": path, "table": "t", "if_exists": "replace"});
    let data = done(client, "shed_sqlite", &at("storage", "check.db", &call));
    let rows = select(client, "storage", "check.db", "SELECT * FROM t");
    (data["import_info"]["column_types"].clone(), rows)
}

const TABLE: &str = "First name;zip;sum;day;note\nAda;01234;1.234,50;2026-01-02;=1+1\nAlan;99999;-7;2026-03-04;\"a; b\"\n";

#[test]
fn a_table_becomes_a_workbook_with_types_and_comes_back() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "t/a.csv", TABLE);
    for format in ["xlsx", "ods"] {
        let data = convert(&client, "t/a.csv", format);
        let book = format!("t/a.{format}");
        assert_eq!(data["path"], book);
        assert_eq!(data["replaced"], false);
        let (types, rows) = imported(&client, &book);
        assert_eq!(
            types,
            json!({"First_name": "TEXT", "zip": "TEXT", "sum": "REAL", "day": "TEXT", "note": "TEXT"})
        );
        assert_eq!(
            rows,
            json!([
                {"First_name": "Ada", "zip": "01234", "sum": 1234.5, "day": "2026-01-02", "note": "=1+1"},
                {"First_name": "Alan", "zip": "99999", "sum": -7.0, "day": "2026-03-04", "note": "a; b"},
            ])
        );
        // Back, with the header as it was.
        convert(&client, &book, "back.csv");
        let back = content(&client, "storage", "back.csv");
        assert_eq!(
            back,
            "First name,zip,sum,day,note\nAda,01234,1234.5,2026-01-02,=1+1\nAlan,99999,-7,2026-03-04,a; b\n"
        );
    }
    assert_eq!(convert(&client, "t/a.csv", "xlsx")["replaced"], true);
    let call = json!({"zone": "storage", "path": "t/a.csv", "to": "f.xlsx", "formulas": true});
    done(&client, "shed_convert", &call);
    let (_, rows) = imported(&client, "f.xlsx");
    assert_eq!(rows[0]["note"], Value::Null);
}

#[test]
fn what_stands_above_a_table_and_beside_it_stays() {
    let server = TestApp::start();
    let client = server.client();
    let text = "Report of January\nplace,sum\nUlm,1\nAue,2,more\n";
    file(&client, "storage", "a.csv", text);
    convert(&client, "a.csv", "a.xlsx");
    convert(&client, "a.xlsx", "b.csv");
    let expected = "Report of January,,\nplace,sum,\nUlm,1,\nAue,2,more\n";
    assert_eq!(content(&client, "storage", "b.csv"), expected);
}

#[test]
fn words_for_missing_values_and_truth_stay() {
    let server = TestApp::start();
    let client = server.client();
    let text = "n,ok\n1,TRUE\nNA,FALSE\n#N/A,NULL\n,x\n";
    file(&client, "storage", "a.csv", text);
    for format in ["xlsx", "ods"] {
        convert(&client, "a.csv", format);
        convert(&client, &format!("a.{format}"), "b.csv");
        assert_eq!(content(&client, "storage", "b.csv"), text, "{format}");
    }
    let call = at(
        "storage",
        "check.db",
        &json!({"import_csv": "a.csv", "table": "t"}),
    );
    let answer = client.call("shed_sqlite", &call);
    let rows = select(&client, "storage", "check.db", "SELECT n FROM t");
    assert_eq!(
        rows,
        json!([{"n": 1}, {"n": null}, {"n": null}, {"n": null}])
    );
    let message = answer.body["message"].as_str().unwrap();
    assert!(message.contains("2 value(s) such as NA"), "{message}");
}

#[test]
fn a_database_becomes_a_sheet_each_table() {
    let server = TestApp::start();
    let client = server.client();
    for query in [
        "CREATE TABLE people (name TEXT, age INTEGER)",
        "INSERT INTO people VALUES ('Ada', 36)",
        "CREATE VIEW old AS SELECT name FROM people WHERE age > 30",
    ] {
        done(
            &client,
            "shed_sqlite",
            &at("storage", "a.db", &json!({"query": query})),
        );
    }
    convert(&client, "a.db", "xlsx");
    let call = json!({"import_csv": "a.xlsx"});
    let data = done(&client, "shed_sqlite", &at("storage", "b.db", &call));
    let tables: Vec<&Value> = data["tables"]
        .as_array()
        .unwrap()
        .iter()
        .map(|table| &table["table"])
        .collect();
    assert_eq!(tables, ["people", "old"]);
    assert_eq!(
        select(&client, "storage", "b.db", "SELECT * FROM people"),
        json!([{"name": "Ada", "age": 36}])
    );
    let call = json!({"zone": "storage", "path": "a.db", "to": "csv"});
    let answer = client.call("shed_convert", &call);
    assert!(answer.text.contains("not in it are old"), "{}", answer.text);
    let read = json!({"zone": "storage", "path": "a.csv"});
    let content = done(&client, "shed_read", &read)["content"].clone();
    assert_eq!(content, "     1→name,age\n     2→Ada,36");
}

#[test]
fn rows_of_a_query_become_a_workbook() {
    let server = TestApp::start();
    let client = server.client();
    let query = "SELECT 1 AS a, 'x' AS b, NULL AS c, 9007199254740993 AS d, x'00ff' AS e";
    let made = json!({"query": "CREATE TABLE t (a)"});
    done(&client, "shed_sqlite", &at("storage", "a.db", &made));
    for name in ["out.xlsx", "out.ods"] {
        let call = json!({"query": query, "output_csv": name});
        let data = done(&client, "shed_sqlite", &at("storage", "a.db", &call));
        assert_eq!(data["rows_exported"], 1);
        let (_, rows) = imported(&client, name);
        let expected = json!([{"a": 1, "b": "x", "c": null, "d": "9007199254740993", "e": "AP8="}]);
        assert_eq!(rows, expected, "{name}");
    }
    for name in ["out.docx", "out.xls", "out.XLSM", "out.xlsb", "out.numbers"] {
        let call = json!({"query": query, "output_csv": name});
        let answer = client.call("shed_sqlite", &at("storage", "a.db", &call));
        answer.refused(400, "INVALID_FORMAT");
    }
    for name in ["out.txt", "out.md", "out.json", "out"] {
        let call = json!({"query": query, "output_csv": name});
        done(&client, "shed_sqlite", &at("storage", "a.db", &call));
    }
}

#[test]
fn dates_of_a_workbook_come_back() {
    let server = TestApp::start();
    let client = server.client();
    let dates = [
        "1600-01-01",
        "1899-12-31",
        "1900-01-01",
        "1900-02-28",
        "1900-03-01",
        "2026-12-31",
    ];
    let query = dates.map(|date| format!("('{date}')")).join(", ");
    let query = format!("SELECT column1 AS d FROM (VALUES {query})");
    let made = json!({"query": "CREATE TABLE t (a)"});
    done(&client, "shed_sqlite", &at("storage", "a.db", &made));
    for name in ["out.xlsx", "out.ods"] {
        let call = json!({"query": query, "output_csv": name});
        done(&client, "shed_sqlite", &at("storage", "a.db", &call));
        let expected: Value = dates.iter().map(|date| json!({"d": date})).collect();
        assert_eq!(imported(&client, name).1, expected, "{name}");
    }
}

#[test]
fn a_file_of_uploads_is_converted_into_a_zone() {
    let server = small().app();
    let alice = server.as_user("alice");
    bring(&alice, "uploads", "in.csv", "a,b\n1,2\n");
    let data = convert(&alice, "in.csv", "ods");
    assert_eq!(
        (&data["source_zone"], &data["path"]),
        (&json!("uploads"), &json!("in.ods"))
    );
    assert_eq!(imported(&alice, "in.ods").1, json!([{"a": 1, "b": 2}]));
}

#[test]
fn a_database_of_uploads_becomes_a_workbook() {
    let server = small().app();
    let alice = server.as_user("alice");
    for query in ["CREATE TABLE t (a)", "INSERT INTO t VALUES (1)"] {
        done(
            &alice,
            "shed_sqlite",
            &at("storage", "b.db", &json!({"query": query})),
        );
    }
    let database = place(&server, "alice", "storage").join("b.db");
    upload(&alice, "in.db", std::fs::read(database).unwrap());
    let data = convert(&alice, "in.db", "xlsx");
    assert_eq!(
        (&data["source_zone"], &data["path"]),
        (&json!("uploads"), &json!("in.xlsx"))
    );
    assert_eq!(imported(&alice, "in.xlsx").1, json!([{"a": 1}]));
    let call = json!({"zone": "storage", "path": "in.db", "to": "docx"});
    let answer = alice.call("shed_convert", &call);
    answer.refused(400, "INVALID_FORMAT");
    assert!(answer.text.contains("`to` may be xlsx"), "{}", answer.text);
}

const MARKDOWN: &str = "# Title\n\nSome text:\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";

#[test]
fn documents_become_documents() {
    let server = TestApp::start();
    let client = server.client();
    if !installed(&client, "pandoc") {
        return;
    }
    file(&client, "storage", "d/a.md", MARKDOWN);
    for format in ["docx", "odt", "pptx"] {
        let path = convert(&client, "d/a.md", format)["path"].clone();
        let read = json!({"zone": "storage", "path": path});
        let text = done(&client, "shed_read", &read)["content"].to_string();
        assert!(
            text.contains("Title") && text.contains("two"),
            "{format}: {text}"
        );
    }
    convert(&client, "d/a.docx", "back.md");
    let back = content(&client, "storage", "back.md");
    assert!(
        back.starts_with("# Title") && back.contains("one") && back.contains('|'),
        "{back}"
    );
    file(&client, "storage", "t.csv", "item,sum\npen,2\n");
    convert(&client, "t.csv", "xlsx");
    convert(&client, "t.xlsx", "docx");
    let read = json!({"zone": "storage", "path": "t.docx"});
    let text = done(&client, "shed_read", &read)["content"].to_string();
    assert!(text.contains("pen"), "{text}");
    if installed(&client, "weasyprint") && installed(&client, "pdftotext") {
        file(
            &client,
            "storage",
            "d/p.html",
            "<h1>Page</h1><p>printed</p>",
        );
        for (path, word) in [
            ("d/a.md", "Title"),
            ("d/p.html", "printed"),
            ("t.csv", "pen"),
        ] {
            convert(&client, path, "out.pdf");
            let read = json!({"zone": "storage", "path": "out.pdf"});
            let text = done(&client, "shed_read", &read)["content"].to_string();
            assert!(text.contains(word), "{path}: {text}");
        }
    }
}

/// New text under such a name is refused, and the calls of the hint make the file.
#[test]
fn text_is_no_document_by_its_name() {
    let server = TestApp::start();
    let client = server.client();
    for (name, operation, more) in [
        ("a.xlsx", "shed_create_file", json!({})),
        ("b.ods", "shed_patch_text", json!({})),
        ("c.xlsx", "shed_patch_text", json!({"overwrite": true})),
        ("d.ods", "shed_patch_text", json!({"position": "start"})),
        ("e.ods", "shed_patch_text", json!({"dry_run": true})),
        (
            "f.ods",
            "shed_patch_text",
            json!({"dry_run": true, "overwrite": true}),
        ),
        ("a.docx", "shed_create_file", json!({})),
        ("a.PDF", "shed_patch_text", json!({})),
        ("a.odp", "shed_create_file", json!({"file_type": "text"})),
    ] {
        let mut call = json!({"zone": "storage", "path": name, "content": "item,sum\npen,2\n"});
        for (key, value) in more.as_object().unwrap() {
            call[key] = value.clone();
        }
        let answer = client.call(operation, &call);
        answer.refused(400, "INVALID_FORMAT");
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        let needed: &[&str] = match name.rsplit_once('.') {
            Some((_, "xlsx" | "ods")) => &[],
            Some((_, "PDF")) => &["pandoc", "weasyprint"],
            _ => &["pandoc"],
        };
        let is_made = needed.iter().all(|program| installed(&client, program));
        assert_eq!(hint.contains("shed_convert"), is_made, "{hint}");
        let is_shown = call["dry_run"] == true;
        if is_shown {
            continue;
        }
        for step in crate::ops::calls::steps(hint, operation, &call) {
            done(&client, &step.operation, &step.arguments);
        }
    }
    // Everything else is free.
    for (name, text) in [
        ("a.zip", "text"),
        ("a.png", "text"),
        ("real.pdf", "%PDF-1.4\n"),
        ("empty.docx", ""),
    ] {
        file(&client, "storage", name, text);
    }
    let bytes =
        json!({"zone": "storage", "path": "b.docx", "content": "504b0304", "file_type": "bytes"});
    done(&client, "shed_create_file", &bytes);
    let sent = client.send("PUT", "/files/content?zone=storage&path=sent.docx", b"text");
    assert_eq!(sent.status, 201, "{}", sent.text);
}

#[test]
fn a_command_that_writes_text_under_such_a_name_is_told() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.csv", "a,b\n1,2\n");
    for (format, made, call) in [
        (
            "XLSX",
            "xlsx",
            json!({"cmd": "cat", "args": ["a.csv"], "stdout_file": "b.xlsx"}),
        ),
        (
            "XLSX",
            "xlsx",
            json!({"cmd": "cp", "args": ["a.csv", "c.xlsx"]}),
        ),
        (
            "ODP",
            "pptx",
            json!({"cmd": "cp", "args": ["a.csv", "c.odp"]}),
        ),
    ] {
        // A slide show comes from a program.
        if made == "pptx" && !has_program("pandoc") {
            continue;
        }
        let mut call = call;
        call["zone"] = "storage".into();
        let answer = client.call("shed_exec", &call);
        answer.data();
        let message = answer.body["message"].as_str().unwrap();
        assert!(
            message.contains(&format!("not a {format} file"))
                && message.contains("shed_convert")
                && message.contains(&format!("to=\"{made}\"")),
            "{message}"
        );
    }
    let right = json!({"zone": "storage", "cmd": "cp", "args": ["a.csv", "d.csv"]});
    let answer = client.call("shed_exec", &right);
    assert!(!answer.text.contains("shed_convert"), "{}", answer.text);
}

#[test]
fn an_encrypted_workbook_is_said_to_be_one() {
    let server = small().app();
    let alice = server.as_user("alice");
    upload(&alice, "locked.xlsx", super::sqlite::encrypted());
    for (operation, call) in [
        (
            "shed_convert",
            json!({"zone": "storage", "path": "locked.xlsx", "to": "csv"}),
        ),
        (
            "shed_sqlite",
            at(
                "storage",
                "a.db",
                &json!({"import_csv": "locked.xlsx", "table": "t"}),
            ),
        ),
    ] {
        let answer = alice.call(operation, &call);
        answer.refused(400, "CSV_PARSE_ERROR");
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("encrypted") && message.contains("password"),
            "{message}"
        );
    }
    assert!(!place(&server, "alice", "storage").join("a.db").exists());
}
