//! Spreadsheets as tables.

use std::io::{Cursor, Read as _, Write as _};

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{at, joined, select};
use crate::ops::stage::{content, done, place, small, upload};
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
    // The content decides the format, not the name; a sheet without rows is skipped.
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

fn pack(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, part) in parts {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(part.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A workbook of sheets, each with its name and the XML of its rows and what follows them.
fn xlsx(properties: &str, sheets: &[(&str, &str, &str)]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    let (mut listed, mut related) = (Vec::new(), Vec::new());
    let mut parts = Vec::new();
    for (number, (name, rows, behind)) in (1..).zip(sheets) {
        listed.push(format!(
            "<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"r{number}\"/>"
        ));
        related.push(format!("<Relationship Id=\"r{number}\" Type=\"{RELATIONS}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"));
        let sheet = format!(
            "<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData>{behind}</worksheet>"
        );
        parts.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
    }
    let (listed, related) = (listed.concat(), related.concat());
    let related = format!(
        "{related}<Relationship Id=\"s\" Type=\"{RELATIONS}/styles\" Target=\"styles.xml\"/>"
    );
    for (name, part) in [
        (
            "[Content_Types].xml",
            format!("<Types xmlns=\"{PACKAGE}/content-types\"/>"),
        ),
        (
            "_rels/.rels",
            format!(
                "<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" Type=\"{RELATIONS}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\">{properties}<sheets>{listed}</sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!("<Relationships xmlns=\"{PACKAGE}/relationships\">{related}</Relationships>"),
        ),
        (
            "xl/styles.xml",
            format!(
                "<styleSheet xmlns=\"{MAIN}\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"
            ),
        ),
    ] {
        parts.push((name.to_owned(), part));
    }
    let parts: Vec<(&str, &str)> = parts
        .iter()
        .map(|(name, part)| (&**name, &**part))
        .collect();
    pack(&parts)
}

fn text(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

fn number(place: &str, number: &str) -> String {
    format!("<c r=\"{place}\"><v>{number}</v></c>")
}

fn row(number: u32, cells: &[String]) -> String {
    format!("<row r=\"{number}\">{}</row>", cells.concat())
}

fn rows(client: &Client<'_>, table: &str) -> Value {
    select(client, "storage", "a.db", &format!("SELECT * FROM {table}"))
}

#[test]
fn sheets_are_chosen_by_name_or_all_become_tables() {
    let server = small().app();
    let alice = server.as_user("alice");
    let sheet =
        |name: &str, value: &str| row(1, &[text("A1", name)]) + &row(2, &[number("A2", value)]);
    let book = xlsx(
        "",
        &[
            ("Stock", &sheet("item", "1"), ""),
            ("Q1 2024", &sheet("sum", "2"), ""),
            ("Empty", "", ""),
            ("2025", &sheet("sum", "3"), ""),
        ],
    );
    upload(&alice, "b.xlsx", book);
    let call = |more: Value| {
        let call = at("storage", "a.db", &json!({"import_csv": "b.xlsx"}));
        alice.call("shed_sqlite", &joined(call, &more))
    };
    let data = call(json!({})).data().clone();
    assert_eq!(data["rows_imported"], 3);
    assert_eq!(
        data["tables"],
        json!([
            {"table": "Stock", "rows": 1, "columns": "item INTEGER"},
            {"table": "Q1_2024", "sheet": "Q1 2024", "rows": 1, "columns": "sum INTEGER"},
            {"table": "sheet_2025", "sheet": "2025", "rows": 1, "columns": "sum INTEGER"},
        ])
    );
    assert_eq!(rows(&alice, "Q1_2024"), json!([{"sum": 2}]));
    // One that is there already leaves all as they were.
    call(json!({"sheet": "2025", "table": "Q1_2024"})).refused(409, "TABLE_EXISTS");
    call(json!({})).refused(409, "TABLE_EXISTS");
    let data = call(json!({"sheet": "q1 2024", "table": "first"}))
        .data()
        .clone();
    assert_eq!(
        (&data["table"], &data["sheet"]),
        (&json!("first"), &json!("Q1 2024"))
    );
    assert_eq!(rows(&alice, "first"), json!([{"sum": 2}]));
    let answer = call(json!({"table": "stock2"}));
    assert_eq!(answer.data()["sheet"], "Stock");
    assert!(
        answer.body["message"].as_str().unwrap().contains("Q1 2024"),
        "{}",
        answer.text
    );
    let answer = call(json!({"sheet": "Q2", "table": "t"}));
    answer.refused(400, "INVALID_PARAMETER");
    assert!(answer.text.contains("Stock, Q1 2024"), "{}", answer.text);
    let answer = call(json!({"date_columns": ["sum", "day"], "if_exists": "replace"}));
    answer.refused(400, "INVALID_PARAMETER");
    let message = answer.body["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("date_columns") && message.contains("\"day\""),
        "{message}"
    );
    assert!(answer.text.contains("item, sum"), "{}", answer.text);
    call(json!({"date_columns": ["sum"], "if_exists": "replace"})).data();
    upload(&alice, "c.csv", "a\n1\n");
    let sheet = at(
        "storage",
        "a.db",
        &json!({"import_csv": "c.csv", "sheet": "x", "table": "t"}),
    );
    alice
        .call("shed_sqlite", &sheet)
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn sheets_of_one_row_are_tables_or_it_is_said() {
    let server = small().app();
    let alice = server.as_user("alice");
    let pair = |number, one: &str, two: &str| {
        let places = [format!("A{number}"), format!("B{number}")];
        row(number, &[text(&places[0], one), text(&places[1], two)])
    };
    let stock = row(1, &[text("A1", "Stock")])
        + &pair(2, "item", "amount")
        + &row(3, &[text("A3", "pen"), number("B3", "7")]);
    let data = row(1, &[text("A1", "pen"), number("B1", "2.5")]);
    let names = pair(1, "a", "b");
    let sheets = [
        ("Stock", &*stock, ""),
        ("Data", &*data, ""),
        ("Names", &*names, ""),
    ];
    upload(&alice, "b.xlsx", xlsx("", &sheets));
    let call = |file: &str, more: Value| {
        let call = at("storage", "a.db", &json!({"import_csv": file}));
        alice.call("shed_sqlite", &joined(call, &more))
    };
    let answer = call("b.xlsx", json!({}));
    let tables = answer.data()["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2, "{}", answer.text);
    assert_eq!(
        rows(&alice, "Data"),
        json!([{"col_1": "pen", "col_2": 2.5}])
    );
    let message = answer.body["message"].as_str().unwrap();
    for told in ["sheet Stock: 1 line(s) above", "header: sheet Names"] {
        assert!(message.contains(told), "{told}: {message}");
    }
    // A workbook of one row is a table where the row is plainly data.
    upload(&alice, "c.xlsx", xlsx("", &sheets[1..2]));
    let answer = call("c.xlsx", json!({"table": "alone"}));
    assert_eq!(
        answer.data()["import_info"]["has_header"],
        false,
        "{}",
        answer.text
    );
    upload(&alice, "d.xlsx", xlsx("", &sheets[2..]));
    call("d.xlsx", json!({"table": "none"})).refused(400, "CSV_EMPTY");
}

#[test]
fn rows_that_are_alike_have_no_header() {
    let server = small().app();
    let alice = server.as_user("alice");
    upload(&alice, "g.csv", "hello,1,!\nworld,2,?\nagain,3,.\n");
    let answer = import(&alice, "g.csv", "g");
    assert_eq!(answer["rows_imported"], 3);
    assert_eq!(answer["columns"], json!(["col_1", "col_2", "col_3"]));
    assert_eq!(
        rows(&alice, "g")[0],
        json!({"col_1": "hello", "col_2": 1, "col_3": "!"})
    );
}

#[test]
fn sheets_of_charts_and_broken_workbooks_are_told_apart() {
    let server = small().app();
    let alice = server.as_user("alice");
    let table = row(1, &[text("A1", "item")]) + &row(2, &[text("A2", "pen")]);
    let book = xlsx("", &[("S", &table, ""), ("Chart", "", "")]);
    let mut parts = zip::ZipArchive::new(Cursor::new(book)).unwrap();
    let mut texts = Vec::new();
    for index in 0..parts.len() {
        let mut part = parts.by_index(index).unwrap();
        let mut text = String::new();
        part.read_to_string(&mut text).unwrap();
        let chart = (
            "worksheet\" Target=\"worksheets/sheet2",
            "chartsheet\" Target=\"worksheets/sheet2",
        );
        texts.push((
            part.name().unwrap().to_string(),
            text.replace(chart.0, chart.1),
        ));
    }
    let texts: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    upload(&alice, "b.xlsx", pack(&texts));
    let read = |path: &str| {
        let call = json!({"zone": "uploads", "path": path});
        alice.call("shed_read", &call)
    };
    let answer = read("b.xlsx");
    assert!(!answer.text.contains("Chart"), "{}", answer.text);
    // The fault is one of the format that the file has.
    upload(
        &alice,
        "b.ods",
        pack(&[
            ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
            ("content.xml", "<office:spreadsheet><table:table>"),
        ]),
    );
    let answer = read("b.ods");
    answer.refused(400, "INVALID_FORMAT");
    assert!(!answer.text.contains("Cannot detect"), "{}", answer.text);
}

#[test]
fn cells_are_what_a_person_sees_or_it_is_said() {
    let server = small().app();
    let alice = server.as_user("alice");
    let styled = |place: &str, inner: &str| format!("<c r=\"{place}\"{inner}</c>");
    let table = [
        row(1, &[text("A1", "Report")]),
        row(
            3,
            &["area", "place", "paid", "day", "twice"]
                .iter()
                .zip('A'..)
                .map(|(name, letter)| text(&format!("{letter}3"), name))
                .collect::<Vec<_>>(),
        ),
        row(
            4,
            &[
                text("A4", "North"),
                text("B4", "Ulm"),
                styled("C4", " t=\"b\"><v>1</v>"),
                styled("D4", " s=\"1\"><v>43538</v>"),
                styled("E4", "><f>B4*2</f>"),
            ],
        ),
        row(
            5,
            &[
                text("B5", "Aue"),
                styled("C5", " t=\"b\"><v>0</v>"),
                styled("D5", " s=\"1\"><v>43539</v>"),
                styled("E5", "><f>1+1</f><v>2</v>"),
            ],
        ),
        row(6, &["<c r=\"A6\" s=\"1\"/>".to_owned()]),
        row(8, &[text("A8", "South"), text("B8", "Bex")]),
    ];
    let merged =
        "<mergeCells count=\"2\"><mergeCell ref=\"A1:E1\"/><mergeCell ref=\"A4:A5\"/></mergeCells>";
    upload(
        &alice,
        "b.xlsx",
        xlsx(
            "<workbookPr date1904=\"1\"/>",
            &[("S", &table.concat(), merged)],
        ),
    );
    let call = at(
        "storage",
        "a.db",
        &json!({"import_csv": "b.xlsx", "table": "t"}),
    );
    let answer = alice.call("shed_sqlite", &call);
    assert_eq!(answer.data()["rows_imported"], 3);
    assert_eq!(
        rows(&alice, "t"),
        json!([
            {"area": "North", "place": "Ulm", "paid": 1, "day": "2023-03-15", "twice": null},
            {"area": "North", "place": "Aue", "paid": 0, "day": "2023-03-16", "twice": 2},
            {"area": "South", "place": "Bex", "paid": null, "day": null, "twice": null},
        ])
    );
    let message = answer.body["message"].as_str().unwrap();
    for told in [
        "1 cell(s) hold a formula",
        "E4 =B4*2",
        "1 cell(s) of merged areas",
        "above the header",
    ] {
        assert!(message.contains(told), "{told}: {message}");
    }
    let converted = json!({"zone": "storage", "path": "b.xlsx", "to": "csv"});
    done(&alice, "shed_convert", &converted);
    let csv = content(&alice, "storage", "b.csv");
    assert!(
        csv.contains("Ulm,TRUE,") && csv.contains("Aue,FALSE,"),
        "{csv}"
    );
    let read = done(
        &alice,
        "shed_read",
        &json!({"zone": "uploads", "path": "b.xlsx"}),
    );
    assert!(
        read["content"].as_str().unwrap().contains("=B4*2"),
        "{read}"
    );
}

#[test]
fn times_of_open_document_are_times() {
    let server = small().app();
    let alice = server.as_user("alice");
    let cell = |kind: &str, shown: &str| {
        format!(
            "<table:table-cell office:value-type={kind}><text:p>{shown}</text:p></table:table-cell>"
        )
    };
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let time = |value: &str| cell(&format!("\"time\" office:time-value=\"{value}\""), "x");
    let table = [
        row(&[cell("\"string\"", "what"), cell("\"string\"", "time")]),
        row(&[cell("\"string\"", "begin"), time("PT16H45M00S")]),
        row(&[cell("\"string\"", "sum"), time("PT27H05M30S")]),
        row(&[
            cell("\"string\"", "paid"),
            cell("\"boolean\" office:boolean-value=\"true\"", "TRUE"),
        ]),
    ];
    let names = ["office", "text", "table"]
        .map(|name| format!(" xmlns:{name}=\"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0\""));
    let content = format!(
        "<office:document-content{}><office:body><office:spreadsheet><table:table table:name=\"S\">{}</table:table></office:spreadsheet></office:body></office:document-content>",
        names.concat(),
        table.concat()
    );
    let book = pack(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &content),
        (
            "META-INF/manifest.xml",
            "<manifest:manifest xmlns:manifest=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"/>",
        ),
    ]);
    upload(&alice, "b.ods", book);
    import(&alice, "b.ods", "t");
    let times = select(&alice, "storage", "a.db", "SELECT time FROM t");
    assert_eq!(
        times,
        json!([{"time": "16:45:00"}, {"time": "27:05:30"}, {"time": "1"}])
    );
    let read = done(
        &alice,
        "shed_read",
        &json!({"zone": "uploads", "path": "b.ods"}),
    );
    assert!(
        read["content"].as_str().unwrap().contains("27:05:30"),
        "{read}"
    );
}

/// A compound file with the streams of an encrypted package, as far as a look goes.
pub(crate) fn encrypted() -> Vec<u8> {
    const FREE: u32 = u32::MAX;
    const END: u32 = FREE - 1;
    let entry = |name: &str, kind: u8, right: u32, child: u32, start: u32, size: u64| {
        let units: Vec<u8> = name
            .encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect();
        let mut bytes = units.clone();
        bytes.resize(64, 0);
        bytes.extend((units.len() as u16).to_le_bytes());
        bytes.extend([kind, 1]);
        bytes.extend([FREE, right, child].into_iter().flat_map(u32::to_le_bytes));
        bytes.extend([0; 36]);
        bytes.extend(start.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes
    };
    let mut file = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    file.extend([0; 16]);
    file.extend(
        [0x3e, 3, 0xfffe, 9, 6]
            .into_iter()
            .flat_map(u16::to_le_bytes),
    );
    file.extend([0; 6]);
    file.extend(
        [0, 1, 1, 0, 4096, END, 0, END, 0, 0]
            .into_iter()
            .flat_map(u32::to_le_bytes),
    );
    file.extend([FREE; 108].into_iter().flat_map(u32::to_le_bytes));
    // Sectors: the table itself, the directory, two streams of eight.
    let mut table = vec![FREE - 2, END];
    for stream in [2, 10] {
        table.extend(stream + 1..stream + 8);
        table.push(END);
    }
    table.resize(128, FREE);
    file.extend(table.into_iter().flat_map(u32::to_le_bytes));
    file.extend(entry("Root Entry", 5, FREE, 1, END, 0));
    file.extend(entry("EncryptionInfo", 2, 2, FREE, 2, 4096));
    file.extend(entry("EncryptedPackage", 2, FREE, FREE, 10, 4096));
    file.extend([0; 128]);
    file.extend([1; 8192]);
    file
}
