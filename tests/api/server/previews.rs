//! Tests of the page's previews: rows, documents, and the contents of archives.

use std::io::{Cursor, Write as _};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use fileshed_test_support::{Client, TestApp};

const BOOK: &[u8] = include_bytes!("../ops/sqlite/book.ods");

fn store(client: &Client<'_>, path: &str, content: &[u8]) {
    let address = format!("/files/content?zone=storage&path={path}");
    assert_eq!(client.send("PUT", &address, content).status, 201);
}

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let options = SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn table(client: &Client<'_>, rest: &str) -> Value {
    let answer = client.get(&format!("/page/table?zone=storage&path={rest}"));
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body
}

#[test]
fn rows_are_read_in_any_encoding_and_with_any_delimiter() {
    let app = TestApp::start();
    let client = app.client();
    let wide: Vec<u8> = "\u{feff}größe\tort\n1,5\tKöln\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let files: [(&str, &[u8], &str); 3] = [
        ("old.csv", b"gr\xf6\xdfe;ort\n1,5;K\xf6ln\n", "cp1252"),
        ("wide.tsv", &wide, "utf-16le"),
        ("new.csv", "größe|ort\n1,5|Köln\n".as_bytes(), "utf-8"),
    ];
    for (name, content, encoding) in files {
        store(&client, name, content);
        let read = table(&client, name);
        let rows = json!([["größe", "ort"], ["1,5", "Köln"]]);
        assert_eq!(read["rows"], rows, "{name}");
        assert_ne!(read["encoding"], Value::Null, "{encoding}");
    }
    store(
        &client,
        "titled.csv",
        b"Report\n\nid,sum,name\n1,2,a\n2,3,b\n",
    );
    let read = table(&client, "titled.csv");
    assert_eq!(read["above"], json!(["Report"]));
    assert_eq!(read["rows"][0], json!(["id", "sum", "name"]));
    let attached = "/files/content?zone=uploads&path=a.csv";
    assert_eq!(client.send("PUT", attached, b"a;b\n").status, 201);
    let read = client.get("/page/table?zone=uploads&path=a.csv").body;
    assert_eq!(read["rows"], json!([["a", "b"]]));
    store(&client, "empty.csv", b"");
    assert_eq!(table(&client, "empty.csv")["rows"], json!([]));
}

#[test]
fn many_rows_come_in_parts_and_long_cells_are_cut() {
    let app = TestApp::start();
    let client = app.client();
    let rows: Vec<String> = (0..1100).map(|row| format!("{row},x\n")).collect();
    let rows = rows.concat();
    store(&client, "many.csv", format!("n,letter\n{rows}").as_bytes());
    let (mut read, mut count, mut from) = (Vec::new(), 0, Some(0));
    while let Some(place) = from {
        let part = table(&client, &format!("many.csv&from={place}"));
        read.extend(part["rows"].as_array().unwrap().clone());
        from = part["next"].as_u64();
        count += 1;
    }
    assert_eq!((read.len(), count), (1101, 3));
    assert_eq!(read[1100], json!(["1099", "x"]));
    let cell = "y".repeat(9000);
    let row = vec![cell.as_str(); 400].join(",");
    store(&client, "large.csv", format!("{row}\n{row}\n").as_bytes());
    let part = table(&client, "large.csv");
    assert_eq!(part["left_out"], 100);
    assert_eq!(part["rows"].as_array().map(Vec::len), Some(1));
    assert_eq!(part["next"], 1);
    let shown = part["rows"][0][0].as_str().unwrap();
    assert!(
        shown.len() < 5000 && shown.ends_with('…'),
        "{}",
        shown.len()
    );
    client
        .get("/page/table?zone=storage&path=many.csv&from=x")
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn a_workbook_has_sheets_to_choose_and_letters_above_its_columns() {
    let app = TestApp::start();
    let client = app.client();
    store(&client, "book.ods", BOOK);
    let first = table(&client, "book.ods");
    let sheets = first["sheets"].as_array().unwrap();
    assert_eq!(first["sheet"], sheets[0]);
    let last = sheets.last().and_then(Value::as_str).unwrap();
    let other = table(&client, &format!("book.ods&sheet={last}"));
    assert_eq!(other["sheet"], last);
    assert_eq!(other["columns"][0], "A");
    let wrong = client.get("/page/table?zone=storage&path=book.ods&sheet=none");
    wrong.refused(400, "INVALID_PARAMETER");
    assert!(wrong.text.contains(last), "{}", wrong.text);
    for (name, content) in [
        ("cut.ods", &BOOK[..BOOK.len() / 2]),
        ("no.xlsx", b"PK\x03\x04"),
    ] {
        store(&client, name, content);
        let address = format!("/page/table?zone=storage&path={name}");
        client.get(&address).refused(400, "CSV_PARSE_ERROR");
    }
}

#[test]
fn a_document_says_what_its_lines_are() {
    let app = TestApp::start();
    let client = app.client();
    let paragraph = |style: &str, text: &str| {
        format!(
            "<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
    let body = [
        paragraph("berschrift2", "Costs"),
        paragraph("Text", "They rise."),
        format!("<w:tbl><w:tr>{}{}</w:tr></w:tbl>", cell("May"), cell("3")),
    ];
    let document = format!(
        "<w:document><w:body>{}</w:body></w:document>",
        body.concat()
    );
    let styles = "<w:styles><w:style w:styleId=\"berschrift2\"><w:name w:val=\"heading 2\"/></w:style></w:styles>";
    let word = archive(&[
        ("word/document.xml", &document),
        ("word/styles.xml", styles),
    ]);
    store(&client, "a.docx", &word);
    let read = client.get("/page/document?zone=storage&path=a.docx").body;
    let expected = json!({
        "text": "Costs\nThey rise.\nMay\t3\n",
        "truncated": false,
        "roles": [[0, {"heading": 2}], [2, "row"]],
    });
    assert_eq!(read, expected);
    let page = "<html><body><h1>One</h1><ul><li>a</li></ul><table><tr><td>1</td><td>2</td></tr></table></body></html>";
    let book = archive(&[
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path=\"b.opf\"/></rootfiles></container>",
        ),
        (
            "b.opf",
            "<package><manifest><item id=\"a\" href=\"a.xhtml\"/></manifest><spine><itemref idref=\"a\"/></spine></package>",
        ),
        ("a.xhtml", page),
    ]);
    store(&client, "b.epub", &book);
    let read = client.get("/page/document?zone=storage&path=b.epub").body;
    assert_eq!(read["text"], "--- Section 1 ---\nOne\n- a\n1\t2\n");
    let roles = json!([[0, "part"], [1, {"heading": 1}], [2, "item"], [3, "row"]]);
    assert_eq!(read["roles"], roles);
    for (name, content) in [("broken.docx", &b"PK\x03\x04"[..]), ("text.docx", b"text")] {
        store(&client, name, content);
        let address = format!("/page/document?zone=storage&path={name}");
        client.get(&address).refused(400, "INVALID_FORMAT");
    }
}

#[test]
fn a_file_comes_out_of_an_archive_alone() {
    let app = TestApp::start();
    let client = app.client();
    let many: Vec<String> = (0..150)
        .map(|number| format!("many/{number}.txt"))
        .collect();
    let mut parts = vec![("notes/größer.txt", "text"), ("folder/", "")];
    parts.extend(many.iter().map(|name| (name.as_str(), "x")));
    store(&client, "a.zip", &archive(&parts));
    let listed = client.get("/page/archive?zone=storage&path=a.zip").body;
    assert_eq!(listed["entries"].as_array().map(Vec::len), Some(152));
    assert_eq!(
        (&listed["files"], &listed["truncated"]),
        (&json!(151), &json!(false))
    );
    let member =
        |name: &str| client.get(&format!("/page/member?zone=storage&path=a.zip&name={name}"));
    let found = member("notes/gr%C3%B6%C3%9Fer.txt");
    assert_eq!((found.status, found.text.as_str()), (200, "text"));
    assert!(
        found
            .header("content-disposition")
            .starts_with("attachment")
    );
    assert!(found.header("content-security-policy").ends_with("sandbox"));
    member("none").refused(404, "FILE_NOT_FOUND");
    member("../a.zip").refused(404, "FILE_NOT_FOUND");
    member("folder/").refused(400, "NOT_A_FILE");
    client
        .get("/page/member?zone=storage&path=a.zip")
        .refused(400, "MISSING_PARAMETER");
    let zeros = "\0".repeat(8 << 20);
    store(&client, "bomb.zip", &archive(&[("zeros", &zeros)]));
    client
        .get("/page/member?zone=storage&path=bomb.zip&name=zeros")
        .refused(413, "ZIP_BOMB");
    store(&client, "no.zip", b"nothing");
    client
        .get("/page/archive?zone=storage&path=no.zip")
        .refused(400, "INVALID_FORMAT");
}

/// 600 by 400 points that let half of the light through.
const WIDE: &[u8] = include_bytes!("wide.png");

/// More points in a row than a picture may have.
const LONG: &[u8] = include_bytes!("long.png");

#[test]
fn a_small_picture_is_made_of_a_large_one_and_kept_by_the_browser() {
    let app = TestApp::start();
    let client = app.client();
    store(&client, "wide.png", WIDE);
    let address = "/page/thumbnail?zone=storage&path=wide.png";
    let made = client.get(address);
    assert_eq!(
        (made.status, made.header("content-type")),
        (200, "image/png")
    );
    let number = |at: usize| u32::from_be_bytes(made.bytes[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (256, 171));
    assert!(made.header("content-security-policy").ends_with("sandbox"));
    let known = app.client().header("If-None-Match", made.header("etag"));
    assert_eq!(known.get(address).status, 304);
    for (name, content) in [("long.png", LONG), ("text.png", b"text")] {
        store(&client, name, content);
        let address = format!("/page/thumbnail?zone=storage&path={name}");
        client.get(&address).refused(400, "INVALID_FORMAT");
    }
}

#[test]
fn nobody_sees_a_file_of_another() {
    let app = TestApp::with_key();
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    for name in ["a.csv", "a.docx", "a.zip"] {
        store(&ada, name, b"a,b\n1,2\n");
    }
    for address in [
        "/page/table?zone=storage&path=a.csv",
        "/page/document?zone=storage&path=a.docx",
        "/page/archive?zone=storage&path=a.zip",
        "/page/thumbnail?zone=storage&path=a.csv",
        "/page/member?zone=storage&path=a.zip&name=a",
    ] {
        bob.get(address).refused(404, "FILE_NOT_FOUND");
        app.client().get(address).refused(401, "UNAUTHORIZED");
        let out = address.replace("path=a.", "path=../a.");
        let refused = bob.get(&out);
        assert!(
            (400..500).contains(&refused.status),
            "{out}: {}",
            refused.text
        );
    }
}
