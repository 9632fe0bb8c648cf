//! CSV files to tables and back.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::{at, import, joined, replacing, select, sql};
use crate::ops::stage::{self, content, done, file, place, small};
use fileshed_test_support::{Client, TestApp};

/// Puts bytes that are no text into a zone.
fn bytes(server: &TestApp, name: &str, bytes: &[u8]) {
    std::fs::write(place(server, "alice", "storage").join(name), bytes).unwrap();
}

fn bring(client: &Client<'_>, csv: &str, more: &Value) -> (Value, Value) {
    let data = done(client, "shed_sqlite", &replacing("storage", csv, more));
    let rows = select(client, "storage", "data.db", "SELECT * FROM t");
    (data, rows)
}

#[test]
fn encodings_are_detected_or_given() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "x", "");
    let text = "Prénom;Größe\nJosé;1,85\nAnaïs;1,60\nÉlodie à Orléans;1,7\n";
    let latin: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let utf16 = |little: bool, mark: bool| -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        let units = format!("{mark}{text}").encode_utf16().collect::<Vec<_>>();
        units
            .into_iter()
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    };
    let windows = [
        &b"Pr\xe9nom;Gr\xf6\xdfe\nJos\xe9;1,85\nAna\xefs;1,60\n"[..],
        b"\xc9lodie \xe0 Orl\xe9ans;1,7\n\x93x\x94 \x80;2,5\n",
    ]
    .concat();
    let expected = json!([
        {"Prénom": "José", "Größe": 1.85}, {"Prénom": "Anaïs", "Größe": 1.6},
        {"Prénom": "Élodie à Orléans", "Größe": 1.7},
    ]);
    for (content, given, name) in [
        (text.as_bytes().to_vec(), None, "utf-8"),
        ([b"\xef\xbb\xbf", text.as_bytes()].concat(), None, "utf-8"),
        (
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            Some("utf-8-sig"),
            "utf-8",
        ),
        (latin.clone(), None, "latin-1"),
        (latin.clone(), Some("ISO-8859-1"), "latin-1"),
        (latin, Some("cp1252"), "cp1252"),
        (utf16(true, true), None, "utf-16le"),
        (utf16(false, true), None, "utf-16be"),
        (utf16(false, true), Some("utf-16"), "utf-16le"),
        (utf16(true, false), None, "utf-16le"),
        (windows, None, "cp1252"),
    ] {
        bytes(&server, "a.csv", &content);
        let more = given.map_or(json!({}), |given| json!({"encoding": given}));
        let (data, rows) = bring(&alice, "a.csv", &more);
        let info = &data["import_info"];
        assert_eq!(info["detected_encoding"], name);
        assert_eq!(info["detected_delimiter"], ";");
        assert_eq!(
            rows.as_array().unwrap()[..3],
            expected.as_array().unwrap()[..],
            "{name}"
        );
        if rows.as_array().unwrap().len() == 4 {
            assert_eq!(rows[3], json!({"Prénom": "“x” €", "Größe": 2.5}));
        }
    }
    let unknown = at(
        "storage",
        "data.db",
        &json!({"import_csv": "a.csv", "table": "t", "encoding": "klingon"}),
    );
    alice
        .call("shed_sqlite", &unknown)
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn values_get_types_and_keep_what_they_say() {
    let server = TestApp::start();
    let client = server.client();
    let text = "id,zip,amount,big,mixed,empty,phone,code,na\n\
                1,01234,1.50,9007199254740993,1,,+33123,1e5,NA\n\
                -2,99999,-.5,1,x,,0,2e5,3\n";
    let data = import(&client, text, &json!({}));
    let types = json!({
        "id": "INTEGER", "zip": "TEXT", "amount": "REAL", "big": "INTEGER", "mixed": "TEXT",
        "empty": "TEXT", "phone": "TEXT", "code": "TEXT", "na": "INTEGER",
    });
    assert_eq!(data["import_info"]["column_types"], types);
    let rows = select(&client, "storage", "data.db", "SELECT * FROM t");
    let expected = json!([
        {"id": 1, "zip": "01234", "amount": 1.5, "big": "9007199254740993", "mixed": "1", "empty": null, "phone": "+33123", "code": "1e5", "na": null},
        {"id": -2, "zip": "99999", "amount": -0.5, "big": 1, "mixed": "x", "empty": null, "phone": "0", "code": "2e5", "na": 3},
    ]);
    assert_eq!(rows, expected);
    // One value at the end decides.
    let long = format!("a\n{}x\n", "1\n".repeat(5000));
    let data = import(&client, &long, &json!({}));
    assert_eq!(data["import_info"]["column_types"], json!({"a": "TEXT"}));
    assert_eq!(data["rows_imported"], 5001);
}

#[test]
fn decimals_dates_and_delimiters() {
    let server = TestApp::start();
    let client = server.client();
    let text = "tag;when;sum\nA;31/12/2026;1.234,50\nB;01/02/2026 7:30;-7\nC;soon;2,5\n";
    let data = import(&client, text, &json!({"date_columns": ["when"]}));
    assert_eq!(data["import_info"]["unread_dates"], 1);
    let rows = select(&client, "storage", "data.db", "SELECT * FROM t");
    let expected = json!([
        {"tag": "A", "when": "2026-12-31", "sum": 1234.5},
        {"tag": "B", "when": "2026-02-01 07:30:00", "sum": -7.0},
        {"tag": "C", "when": "soon", "sum": 2.5},
    ]);
    assert_eq!(rows, expected);
    let iso = |more: Value, text: &str| {
        import(&client, text, &more);
        select(&client, "storage", "data.db", "SELECT d FROM t")[0]["d"].clone()
    };
    for (more, written, expected) in [
        (
            json!({"date_columns": ["d"], "date_format": "monthfirst"}),
            "01/02/2026",
            "2026-01-02",
        ),
        (
            json!({"date_columns": ["d"], "date_format": "dayfirst"}),
            "01/02/2026",
            "2026-02-01",
        ),
        (
            json!({"date_columns": "[\"d\"]", "date_format": "%Y%m%d"}),
            "20260201",
            "2026-02-01",
        ),
        (json!({}), "01/02/2026", "01/02/2026"),
    ] {
        assert_eq!(iso(more, &format!("d,e\n{written},x\n")), expected);
    }
    for (more, content, expected) in [
        (json!({}), "a\tb\n1\t2,5\n", json!([{"a": 1, "b": 2.5}])),
        (json!({}), "a|b\n1|2\n", json!([{"a": 1, "b": 2}])),
        (
            json!({"delimiter": ":"}),
            "a:b\n1:2\n",
            json!([{"a": 1, "b": 2}]),
        ),
        (
            json!({"delimiter": "\\t"}),
            "a\tb\n1\t2\n",
            json!([{"a": 1, "b": 2}]),
        ),
        (
            json!({"decimal": ","}),
            "a,b\n\"1,5\",2\n",
            json!([{"a": 1.5, "b": 2}]),
        ),
        (json!({}), "a,b\n\"1,5\",2\n", json!([{"a": "1,5", "b": 2}])),
        (
            json!({"decimal": "."}),
            "a;b\n1.234;2\n",
            json!([{"a": 1.234, "b": 2}]),
        ),
        (
            json!({"skip_rows": 2}),
            "made by x\n\na,b\n1,2\n",
            json!([{"a": 1, "b": 2}]),
        ),
        (
            json!({}),
            "a,b\r\n\"x\r\ny\",2\r\n",
            json!([{"a": "x\r\ny", "b": 2}]),
        ),
        (
            json!({}),
            "a,b\n\"say \"\"hi\"\"\",2",
            json!([{"a": "say \"hi\"", "b": 2}]),
        ),
    ] {
        import(&client, content, &more);
        let rows = select(&client, "storage", "data.db", "SELECT * FROM t");
        assert_eq!(rows, expected, "{content}");
    }
}

#[test]
fn what_cannot_be_meant_is_named() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "data.csv", "a,b\n1,2\n");
    for more in [
        json!({"delimiter": "ab"}),
        json!({"decimal": "x"}),
        json!({"date_columns": ["z"]}),
        json!({"date_columns": ["a"], "date_format": "%!"}),
        json!({"skip_rows": -1}),
        json!({"if_exists": "maybe"}),
    ] {
        let mut call = at(
            "storage",
            "data.db",
            &json!({"import_csv": "data.csv", "table": "u"}),
        );
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        let answer = client.call("shed_sqlite", &call);
        answer.refused(400, "INVALID_PARAMETER");
        let name = more.as_object().unwrap().keys().next_back().unwrap();
        assert!(answer.text.contains(name), "{}", answer.text);
    }
}

#[test]
fn headers_and_ragged_rows() {
    let server = TestApp::start();
    let client = server.client();
    for (text, more, header, columns, padded, cut) in [
        (
            "First Name,2020,,a,A\n1,2,3,4,5\n",
            json!({}),
            true,
            json!(["First_Name", "col_2020", "col_3", "a", "A_2"]),
            0,
            0,
        ),
        (
            "1,2\n3,4\n",
            json!({}),
            false,
            json!(["col_1", "col_2"]),
            0,
            0,
        ),
        (
            "1,2\n3,4\n",
            json!({"has_header": true}),
            true,
            json!(["col_1", "col_2"]),
            0,
            0,
        ),
        (
            "x,y\n3,4\n",
            json!({"has_header": false}),
            false,
            json!(["col_1", "col_2"]),
            0,
            0,
        ),
        (
            "1\n2,3,4\n",
            json!({}),
            false,
            json!(["col_1", "col_2", "col_3"]),
            1,
            0,
        ),
        (
            "a,b\n1\n1,2,3\n1,2\n",
            json!({}),
            true,
            json!(["a", "b"]),
            1,
            1,
        ),
    ] {
        let mut more = more;
        more["delimiter"] = ",".into();
        let data = import(&client, text, &more);
        let info = &data["import_info"];
        let seen = (
            &data["columns"],
            &info["has_header"],
            &info["rows_padded"],
            &info["rows_cut"],
        );
        assert_eq!(
            seen,
            (&columns, &json!(header), &json!(padded), &json!(cut)),
            "{text}"
        );
    }
}

#[test]
fn tables_are_added_to_or_replaced() {
    let server = TestApp::start();
    let client = server.client();
    sql(
        &client,
        "storage",
        "data.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT, n REAL)",
    );
    let append = json!({"if_exists": "append"});
    import(&client, "N,Code\n1,1.50\n2,7\n", &append);
    let rows = select(&client, "storage", "data.db", "SELECT * FROM t");
    assert_eq!(
        rows,
        json!([{"id": 1, "code": "1.50", "n": 1.0}, {"id": 2, "code": "7", "n": 2.0}])
    );
    let foreign = at(
        "storage",
        "data.db",
        &json!({"import_csv": "data.csv", "table": "t", "if_exists": "append"}),
    );
    file(&client, "storage", "data.csv", "n,other\n1,2\n");
    let answer = client.call("shed_sqlite", &foreign);
    answer.refused(400, "EXEC_ERROR");
    assert_eq!(answer.body["error"]["details"]["missing"], json!(["other"]));
    // A row that breaks a rule takes the others back.
    file(&client, "storage", "data.csv", "id,n\n7,1\n8,1\n7,1\n");
    client
        .call("shed_sqlite", &foreign)
        .refused(400, "EXEC_ERROR");
    let rows = select(&client, "storage", "data.db", "SELECT count(*) AS n FROM t");
    assert_eq!(rows, json!([{"n": 2}]));
    import(&client, "x\n1\n", &json!({}));
    assert_eq!(
        select(&client, "storage", "data.db", "SELECT * FROM t"),
        json!([{"x": 1}])
    );
    let odd = json!({"table": "a \"b\"; DROP TABLE t", "if_exists": "fail"});
    import(&client, "x\n1\n", &odd);
    let rows = select(
        &client,
        "storage",
        "data.db",
        "SELECT count(*) AS n FROM sqlite_schema",
    );
    assert_eq!(rows, json!([{"n": 2}]));
    let neither = at("storage", "data.db", &json!({"import_csv": "data.csv"}));
    client
        .call("shed_sqlite", &neither)
        .refused(400, "MISSING_PARAMETER");
    let both = at(
        "storage",
        "data.db",
        &json!({"import_csv": "data.csv", "table": "t", "query": "SELECT 1"}),
    );
    client
        .call("shed_sqlite", &both)
        .refused(400, "INVALID_PARAMETER");
    let itself = at(
        "storage",
        "data.db",
        &json!({"import_csv": "data.db", "table": "t"}),
    );
    client
        .call("shed_sqlite", &itself)
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn as_wide_as_it_may_be() {
    let server = TestApp::start();
    let client = server.client();
    let names: Vec<String> = (0..5000).map(|number| format!("c{number}")).collect();
    let row = vec!["1"; 5000].join(",");
    let text = format!("{}\n{row}\n", names.join(","));
    let data = import(&client, &text, &json!({}));
    assert_eq!(data["columns"].as_array().unwrap().len(), 5000);
    let rows = select(&client, "storage", "data.db", "SELECT c0, c4999 FROM t");
    assert_eq!(rows, json!([{"c0": 1, "c4999": 1}]));
}

#[test]
fn rows_become_a_file() {
    let server = TestApp::start();
    let client = server.client();
    sql(&client, "storage", "a.db", "CREATE TABLE t (a, b)");
    let insert = "INSERT INTO t VALUES (1, 'x,y'), (2.5, 'say \"hi\"'), (NULL, ''), (x'00ff', 'é\n'), (1e21, 9007199254740993)";
    sql(&client, "storage", "a.db", insert);
    let export = |more: Value| {
        let mut call = at(
            "storage",
            "a.db",
            &json!({"query": "SELECT * FROM t", "output_csv": "d/out.csv"}),
        );
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        let data = done(&client, "shed_sqlite", &call);
        (
            data["rows_exported"].clone(),
            content(&client, "storage", "d/out.csv"),
        )
    };
    let all = "a,b\n1,\"x,y\"\n2.5,\"say \"\"hi\"\"\"\n,\nAP8=,\"é\n\"\n1e21,9007199254740993\n";
    assert_eq!(export(json!({})), (json!(5), all.to_owned()));
    assert_eq!(
        export(json!({"limit": 1})),
        (json!(1), "a,b\n1,\"x,y\"\n".to_owned())
    );
    let european =
        export(json!({"delimiter": ";", "decimal": ",", "encoding": "utf-8-sig", "limit": 2}));
    assert_eq!(
        european,
        (
            json!(2),
            "\u{feff}a;b\n1;x,y\n2,5;\"say \"\"hi\"\"\"\n".to_owned()
        )
    );
    for more in [json!({"encoding": "utf-16"}), json!({"delimiter": "ab"})] {
        let mut call = at(
            "storage",
            "a.db",
            &json!({"query": "SELECT 1", "output_csv": "no.csv"}),
        );
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        client
            .call("shed_sqlite", &call)
            .refused(400, "INVALID_PARAMETER");
    }
    let missing = json!({"zone": "storage", "path": "no.csv"});
    client
        .call("shed_delete", &missing)
        .refused(404, "FILE_NOT_FOUND");
}

/// Cells that come back as they were: text that is no number, and numbers as they are written.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "[a-zA-Z ,;\"'\n\t|é€😀-]{1,12}".prop_filter("blanks and missing values", |text| {
            !text.trim().is_empty()
                && !["NA", "none", "None", "null", "NULL", "nan", "NaN"].contains(&text.trim())
        }),
        any::<i64>().prop_map(|number| number.to_string()),
        (-1_000_000_i32..1_000_000).prop_map(|number| format!(
            "{}.{}5",
            number / 10,
            (number % 10).abs()
        )),
        "0[0-9]{1,6}",
    ]
}

/// Reading JSON quickly loses the last bit of some numbers.
#[test]
fn numbers_come_through_to_the_last_bit() {
    let server = TestApp::start();
    let client = server.client();
    let numbers = [
        -8_417_434_609_169_697.0,
        0.1 + 0.2,
        5e-324,
        1.797_693_134_862_315_7e308,
    ];
    let rows = numbers.map(|number: f64| format!("{number:?}\n")).concat();
    import(
        &client,
        &format!("h0\n0.05\n{rows}"),
        &json!({"delimiter": ","}),
    );
    let stored = select(
        &client,
        "storage",
        "data.db",
        "SELECT * FROM t LIMIT -1 OFFSET 1",
    );
    let read: Vec<_> = stored
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["h0"].as_f64())
        .collect();
    assert_eq!(read, numbers.map(Some));
    for number in numbers {
        let call = at(
            "storage",
            "data.db",
            &json!({"query": "SELECT ? AS x", "params": [number]}),
        );
        let data = done(&client, "shed_sqlite", &call);
        assert_eq!(data["rows"][0]["x"].as_f64(), Some(number));
    }
}

#[test]
fn what_is_imported_is_exported_again() {
    let server = TestApp::start();
    let client = server.client();
    let table = (1..5_usize)
        .prop_flat_map(|width| prop::collection::vec(prop::collection::vec(cell(), width), 1..8));
    let config = Config {
        cases: 16,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&table, |rows| {
        let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
        let header: Vec<String> = (0..rows[0].len())
            .map(|number| format!("h{number}"))
            .collect();
        let mut text = format!("{}\n", header.join(","));
        for row in &rows {
            text.push_str(&row.iter().map(quoted).collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        import(&client, &text, &json!({"delimiter": ","}));
        let stored = select(&client, "storage", "data.db", "SELECT * FROM t");
        let export = at(
            "storage",
            "data.db",
            &json!({"query": "SELECT * FROM t", "output_csv": "back.csv"}),
        );
        done(&client, "shed_sqlite", &export);
        // Numbers may be written otherwise (`1.50`), but they are the same when they are read again.
        let call = replacing("storage", "back.csv", &json!({"delimiter": ","}));
        let again = done(&client, "shed_sqlite", &call);
        prop_assert_eq!(again["rows_imported"].as_u64(), Some(rows.len() as u64));
        let restored = select(&client, "storage", "data.db", "SELECT * FROM t");
        prop_assert_eq!(&stored, &restored, "{}", text);
        for (row, object) in rows.iter().zip(stored.as_array().unwrap()) {
            for (cell, value) in row.iter().zip(object.as_object().unwrap().values()) {
                let same = match value {
                    Value::Null => cell.is_empty(),
                    Value::String(text) => text == cell,
                    number => cell.parse::<f64>().ok() == number.as_f64(),
                };
                prop_assert!(same, "{} {}", cell, value);
            }
        }
        Ok(())
    });
    assert!(outcome.is_ok(), "{}", outcome.unwrap_err());
}

#[test]
fn a_file_of_uploads_becomes_a_table_where_it_is() {
    let server = small().app();
    let alice = server.as_user("alice");
    stage::bring(&alice, "uploads", "in/sales.csv", "item,amount\npen,2\n");
    let rows = |zone: &str| select(&alice, zone, "data.db", "SELECT * FROM t");
    for zone in ["storage", "documents"] {
        for csv in ["in/sales.csv", "uploads/in/sales.csv"] {
            let data = done(&alice, "shed_sqlite", &replacing(zone, csv, &json!({})));
            assert_eq!(data["csv_zone"], "uploads", "{data}");
            assert_eq!(data["csv_path"], "in/sales.csv");
            assert_eq!(rows(zone), json!([{"item": "pen", "amount": 2}]));
        }
    }
    // It stays where it is, and one of the zone itself comes first.
    assert!(content(&alice, "uploads", "in/sales.csv").contains("pen"));
    file(&alice, "storage", "in/sales.csv", "item\nink\n");
    let call = replacing("storage", "in/sales.csv", &json!({}));
    let data = done(&alice, "shed_sqlite", &call);
    assert_eq!(data["csv_zone"], Value::Null);
    assert_eq!(rows("storage"), json!([{"item": "ink"}]));
}

#[test]
fn a_file_that_is_nowhere_is_missing_where_it_was_looked_for() {
    let server = small().app();
    let alice = server.as_user("alice");
    for (csv, zone) in [("none.csv", "storage"), ("uploads/none.csv", "uploads")] {
        let call = json!({"import_csv": csv, "table": "t"});
        let missing = alice.call("shed_sqlite", &at("storage", "data.db", &call));
        missing.refused(404, "FILE_NOT_FOUND");
        assert_eq!(missing.body["error"]["details"]["zone"], zone);
    }
    stage::bring(&alice, "uploads", "folder/x.csv", "a\n1\n");
    let call = json!({"import_csv": "uploads/folder", "table": "t"});
    let folder = alice.call("shed_sqlite", &at("storage", "data.db", &call));
    folder.refused(400, "NOT_A_FILE");
}

/// An import that cuts rows names their lines; empty fields beyond the last column are no loss.
#[test]
fn rows_that_lose_values_are_told() {
    let server = TestApp::start();
    let client = server.client();
    for (text, told) in [
        (
            "remark\nall fine\nwell, mostly\n\nno, not, sorry\n",
            Some(
                "2 row(s) have more fields than there are columns and were cut: the fields after \
                 the last column of row 2, 3 are not stored",
            ),
        ),
        ("a,b\n1,2,,\n3,4\n", None),
        ("a,b\n1,2\n", None),
    ] {
        file(&client, "storage", "lost.csv", text);
        let call = json!({"zone": "storage", "path": "lost.db", "import_csv": "lost.csv",
            "table": "t", "if_exists": "replace", "delimiter": ","});
        let answer = client.call("shed_sqlite", &call);
        answer.data();
        let message = answer.body["message"].as_str().unwrap();
        match told {
            Some(told) => assert!(message.contains(told), "{message}"),
            None => assert!(!message.contains("cut"), "{message}"),
        }
    }
}

#[test]
fn headers_of_every_script_name_columns() {
    let server = TestApp::start();
    let client = server.client();
    for (text, columns, headers) in [
        ("姓名,年龄\n张三,30\n", json!(["姓名", "年龄"]), Value::Null),
        ("Имя;Цена\nХлеб;1,5\n", json!(["Имя", "Цена"]), Value::Null),
        ("Όνομα,الاسم\na,b\n", json!(["Όνομα", "الاسم"]), Value::Null),
        (
            "Größe (cm),2024,größe,x,x\n1,2,3,4,5\n",
            json!(["Größe_cm", "col_2024", "größe", "x", "x_2"]),
            json!({"Größe_cm": "Größe (cm)", "col_2024": "2024", "x_2": "x"}),
        ),
        ("z,a\n1,2\n", json!(["z", "a"]), Value::Null),
    ] {
        let data = import(&client, text, &json!({}));
        assert_eq!(data["columns"], columns, "{text}");
        assert_eq!(data["import_info"]["headers"], headers, "{text}");
        let types = data["import_info"]["column_types"].as_object().unwrap();
        assert!(types.keys().eq(columns.as_array().unwrap()), "{types:?}");
    }
}

/// Lines above a table are left out, and said.
#[test]
fn tables_are_found_below_titles_and_comments() {
    let server = TestApp::start();
    let client = server.client();
    let rows =
        json!([{"Nr": 1, "Ort": "Ulm", "Preis": 1.5}, {"Nr": 2, "Ort": "Aue", "Preis": 2.25}]);
    let table = "Nr;Ort;Preis\n1;Ulm;1,50\n2;Aue;2,25\n";
    for (above, more) in [
        ("", json!({})),
        ("Bericht vom 6. Januar\n", json!({})),
        ("Bericht;;\n;;\n", json!({})),
        ("# made by a program\n# on Monday; late\n", json!({})),
        ("sep=;\r\n", json!({})),
        ("made \"by\" hand\nand more\n", json!({"skip_rows": 1})),
    ] {
        file(&client, "storage", "a.csv", &format!("{above}{table}"));
        let answer = client.call("shed_sqlite", &replacing("storage", "a.csv", &more));
        answer.data();
        let stored = select(&client, "storage", "data.db", "SELECT * FROM t");
        assert_eq!(stored, rows, "{above}");
        let message = answer.body["message"].as_str().unwrap();
        let is_told = message.contains("above the header");
        assert_eq!(
            is_told,
            !(above.is_empty() || above.starts_with("sep")),
            "{message}"
        );
    }
    // A line that cannot be read is named as it is in the file.
    file(&client, "storage", "a.csv", "Title\na,b,c\n1,2,3\n1,\"2\n");
    let call = json!({"import_csv": "a.csv", "table": "u"});
    let answer = client.call("shed_sqlite", &at("storage", "data.db", &call));
    answer.refused(400, "CSV_PARSE_ERROR");
    assert_eq!(answer.body["error"]["details"]["line"], 4);
}

#[test]
fn other_quotes_and_numbers_are_understood() {
    let server = TestApp::start();
    let client = server.client();
    for (text, expected) in [
        (
            "\"bird\", \"price\", \"why\"\n\"owl\", 2.5, \"small, loud\"\n\"hen\", 1.5, \"eggs\"\n",
            json!([{"bird": "owl", "price": 2.5, "why": "small, loud"}, {"bird": "hen", "price": 1.5, "why": "eggs"}]),
        ),
        (
            "'a','b'\n'x, y','1'\n'it''s','2'\n",
            json!([{"a": "x, y", "b": 1}, {"a": "it's", "b": 2}]),
        ),
        (
            "a,b\n\"say \\\"hi, all\\\" now\",1\n\"x\",2\n",
            json!([{"a": "say \"hi, all\" now", "b": 1}, {"a": "x", "b": 2}]),
        ),
        (
            "a,b\n\"1,234,567\",\"1,234.50\"\n\"-1,000\",2\n",
            json!([{"a": 1_234_567, "b": 1234.5}, {"a": -1000, "b": 2.0}]),
        ),
        ("a,b\n1,2\n\u{1a}", json!([{"a": 1, "b": 2}])),
    ] {
        import(&client, text, &json!({}));
        let rows = select(&client, "storage", "data.db", "SELECT * FROM t");
        assert_eq!(rows, expected, "{text}");
    }
}

#[test]
fn utf_32_and_stray_nul_characters_are_read() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "x", "");
    let text = "name;city\nJosé;Köln\n";
    let units = |text: &str| -> Vec<u8> {
        text.chars()
            .flat_map(|c| u32::from(c).to_le_bytes())
            .collect()
    };
    for (content, encoding) in [
        (units(&format!("\u{feff}{text}")), "utf-32le"),
        (units(text), "utf-32le"),
        (text.replace("José", "Jo\0sé").into_bytes(), "utf-8"),
    ] {
        bytes(&server, "a.csv", &content);
        let (data, rows) = bring(&alice, "a.csv", &json!({}));
        assert_eq!(data["import_info"]["detected_encoding"], encoding);
        assert_eq!(rows, json!([{"name": "José", "city": "Köln"}]));
    }
    let call = json!({"import_csv": "a.csv", "table": "u"});
    let answer = alice.call("shed_sqlite", &at("storage", "data.db", &call));
    assert!(
        answer.body["message"].as_str().unwrap().contains("1 NUL"),
        "{}",
        answer.text
    );
}

#[test]
fn dates_are_read_as_machines_and_people_write_them() {
    let server = TestApp::start();
    let client = server.client();
    for (written, expected) in [
        (
            ["2024-01-02T03:04:05Z", "2024-06-07T08:09:10Z"],
            ["2024-01-02 03:04:05", "2024-06-07 08:09:10"],
        ),
        (["1 Jan 2024", "13 Mar 2024"], ["2024-01-01", "2024-03-13"]),
        (["20240102", "20241231"], ["2024-01-02", "2024-12-31"]),
        (["02.01.2024", "3.1.2024"], ["2024-01-02", "2024-01-03"]),
        (
            ["1/2/2024 3:04 PM", "1/13/2024 3:04 AM"],
            ["2024-01-02 15:04:00", "2024-01-13 03:04:00"],
        ),
    ] {
        let text = format!("d\n{}\n{}\n", written[0], written[1]);
        let data = import(&client, &text, &json!({"date_columns": ["d"]}));
        assert_eq!(data["import_info"]["unread_dates"], 0, "{text}");
        let rows = select(&client, "storage", "data.db", "SELECT d FROM t");
        assert_eq!(rows, json!([{"d": expected[0]}, {"d": expected[1]}]));
    }
}

/// The rows after a file was added to `t`, and what the answer notes.
fn appended(client: &Client<'_>, text: &str, more: &Value) -> (Value, String) {
    file(client, "storage", "more.csv", text);
    let call = json!({"import_csv": "more.csv", "table": "t", "if_exists": "append"});
    let call = joined(at("storage", "data.db", &call), more);
    let short = client.clone().header("Prefer", "return=minimal");
    let answer = short.post("shed_sqlite", call.to_string().as_bytes());
    let note = answer.body["note"].as_str().unwrap_or_default().to_owned();
    (
        select(client, "storage", "data.db", "SELECT * FROM t"),
        note,
    )
}

#[test]
fn values_are_added_as_the_table_has_them() {
    let server = TestApp::start();
    let client = server.client();
    let dates = json!({"date_columns": ["Datum"]});
    for (first, more, expected, noted) in [
        (
            "Datum;Preis\n05.01.2026;1,5\n",
            "Datum;Preis\n06.01.2026;k.A.\n07.01.2026;2,5\n",
            json!([1.5, "k.A.", 2.5]),
            "Preis: 1 value(s) are not numbers and stay text, such as \"k.A.\"",
        ),
        (
            "Datum;Preis\n05.01.2026;2\n",
            "Datum;Preis\n06.01.2026;9007199254740993\n07.01.2026;\n07.01.2026;?\n07.01.2026;!\n",
            json!([2, "9007199254740993", null, "?", "!"]),
            "Preis: 2 value(s) are not numbers and stay text, such as \"?\"",
        ),
        (
            "Datum,Preis\n05.01.2026,1.5\n",
            "Datum,Preis\n06.01.2026,free\n07.01.2026,\"1,234.50\"\n",
            json!([1.5, "free", 1234.5]),
            "such as \"free\"",
        ),
        // Another column tells the sign.
        (
            "Datum;Preis;m\n05.01.2026;1,5;1,5\n",
            "Datum;Preis;m\n06.01.2026;k.A.;2,5\n07.01.2026;1.234;3\n",
            json!([1.5, "k.A.", 1234.0]),
            "Preis: 1 value(s)",
        ),
        (
            "Datum;Preis\n05.01.2026;x\n",
            "Datum;Preis\n06.01.2026;k.A.\n07.01.2026;2,5\n",
            json!(["x", "k.A.", "2,5"]),
            "",
        ),
    ] {
        import(&client, first, &dates);
        let (rows, note) = appended(&client, more, &dates);
        let rows = rows.as_array().unwrap().iter();
        let prices: Value = rows.map(|row| row["Preis"].clone()).collect();
        assert_eq!(prices, expected, "{more}");
        assert!(
            note.contains(noted) && note.is_empty() == noted.is_empty(),
            "{note}"
        );
    }
}

#[test]
fn amounts_and_dates_that_stay_text_are_told() {
    let server = TestApp::start();
    let client = server.client();
    let note = |text: &str, more: Value| {
        file(&client, "storage", "data.csv", text);
        let call = replacing("storage", "data.csv", &more);
        let answer = client.call("shed_sqlite", &call);
        answer.body["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let told = note("a;b\n1;1.234,50 €\n2;7,00 €\n", json!({}));
    assert!(told.contains("b: text such as \"1.234,50 €\""), "{told}");
    let told = note(
        "a;b\n1;1\u{a0}234,50\n2;\u{2212}7,00\n3;1 000,00-\n",
        json!({}),
    );
    assert!(!told.contains("text such as"), "{told}");
    let sum = select(&client, "storage", "data.db", "SELECT sum(b) AS s FROM t");
    assert_eq!(sum, json!([{"s": 227.5}]));
    let two = "Datum;Bis\n05.01.2026;5-Jan-26\n06.01.2026;6-Jan-26\n";
    let told = note(two, json!({}));
    assert!(told.contains("date_columns=[\"Datum\", \"Bis\"]"), "{told}");
    let told = note(two, json!({"date_columns": ["Bis", "Datum"]}));
    assert!(!told.contains("date_columns"), "{told}");
    let (_, told) = appended(&client, "Datum;Bis\n07.01.2026;2026-01-08\n", &json!({}));
    assert!(told.contains("date_columns=[\"Datum\"]"), "{told}");
    let (_, told) = appended(&client, "Datum;Bis\nsoon;2026-01-08\n", &json!({}));
    assert!(!told.contains("date_columns"), "{told}");
    let told = note("v;w\n1.2.10;2026-01-05\n1.2.11;2026-01-06\n", json!({}));
    assert!(!told.contains("date_columns"), "{told}");
}
