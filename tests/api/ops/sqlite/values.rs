//! Values of queries: parameters, types, names, rows.

use serde_json::{Value, json};

use super::{ask, at, select, sql};
use crate::ops::stage::done;
use fileshed_test_support::TestApp;

#[test]
fn every_type_comes_back() {
    let server = TestApp::start();
    let client = server.client();
    sql(&client, "storage", "a.db", "CREATE TABLE t (v)");
    let exact = 9_007_199_254_740_992_i64;
    let values = json!([
        null, true, false, 0, -1, exact, -exact, exact + 1, i64::MIN, 1.5, -0.0, 1e300, "", "a\u{0}b",
        "é😀", "{\"a\": 1}", {"base64": "AP8="}, [1, 2], {"a": 1},
    ]);
    for value in values.as_array().unwrap() {
        // An object alone would be names.
        let call = json!({"query": "INSERT INTO t SELECT ?2 WHERE ?1", "params": [1, value]});
        done(&client, "shed_sqlite", &at("storage", "a.db", &call));
    }
    let query = "SELECT v, typeof(v) AS t FROM t";
    let call = at("storage", "a.db", &json!({"query": query, "limit": 0}));
    let data = done(&client, "shed_sqlite", &call);
    let found: Vec<(Value, Value)> = data["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["v"].clone(), row["t"].clone()))
        .collect();
    let expected = json!([
        [null, "null"], [1, "integer"], [0, "integer"], [0, "integer"], [-1, "integer"],
        [exact, "integer"], [-exact, "integer"], ["9007199254740993", "integer"],
        ["-9223372036854775808", "integer"], [1.5, "real"], [-0.0, "real"], [1e300, "real"],
        ["", "text"], ["a\u{0}b", "text"], ["é😀", "text"], ["{\"a\": 1}", "text"],
        [{"base64": "AP8="}, "blob"], ["[1,2]", "text"], ["{\"a\":1}", "text"],
    ]);
    let expected: Vec<(Value, Value)> = serde_json::from_value(expected).unwrap();
    assert_eq!(found, expected);
    assert_eq!(
        data["notes"],
        json!([
            "integers beyond 2^53 are given as text",
            "BLOBs are given as base64"
        ])
    );
    let data = sql(
        &client,
        "storage",
        "a.db",
        "SELECT 1e999 AS a, -1e999 AS b, 0.0/0.0 AS c, CAST(x'41ff' AS TEXT) AS d",
    );
    let expected = json!([{"a": "Infinity", "b": "-Infinity", "c": null, "d": "A\u{fffd}"}]);
    assert_eq!(data["rows"], expected);
    assert_eq!(data["notes"].as_array().unwrap().len(), 2);
}

#[test]
fn parameters_have_places_or_names() {
    let server = TestApp::start();
    let client = server.client();
    sql(&client, "storage", "a.db", "CREATE TABLE t (a)");
    let row = |query: &str, params: &Value| {
        let call = json!({"query": query, "params": params});
        let answer = client.call("shed_sqlite", &at("storage", "a.db", &call));
        if answer.status == 200 {
            return Ok(answer.body["data"]["rows"][0].clone());
        }
        answer.refused(400, "INVALID_PARAMETER");
        let message = answer.body["error"]["message"].as_str();
        Err(message.unwrap().to_owned())
    };
    let two = "SELECT ? AS a, ? AS b";
    let named = "SELECT :a AS a, @b AS b, $c AS c";
    for (query, params, expected) in [
        (two, json!([1, "x"]), json!({"a": 1, "b": "x"})),
        (two, json!("[1, \"x\"]"), json!({"a": 1, "b": "x"})),
        (
            named,
            json!({"a": 1, ":b": null, "c": "3"}),
            json!({"a": 1, "b": null, "c": 3}),
        ),
        (
            named,
            json!("{\"a\": 1, \"b\": true, \"c\": 2.5}"),
            json!({"a": 1, "b": 1, "c": 2.5}),
        ),
        (named, json!([1, 2, 3]), json!({"a": 1, "b": 2, "c": 3})),
        ("SELECT 1 AS a", json!(0), json!({"a": 1})),
        (
            "SELECT typeof(?) AS t",
            json!(["5"]),
            json!({"t": "integer"}),
        ),
        ("SELECT typeof(?) AS t", json!([5]), json!({"t": "integer"})),
    ] {
        assert_eq!(row(query, &params), Ok(expected), "{query} {params}");
    }
    for (query, params, named_in) in [
        (two, json!([1]), "takes 2 values, 1 are given"),
        ("SELECT 1", json!([1]), "takes 0 values"),
        (named, json!({"a": 1, "b": 2}), "no value for `:c`"),
        ("SELECT :a", json!({"a": 1, "z": 2}), "no parameter `:z`"),
        (two, json!({"a": 1}), "without a name"),
        ("SELECT ?", json!([{"base64": "*"}]), "base64"),
    ] {
        let message = row(query, &params).unwrap_err();
        assert!(
            message.contains("`params`") && message.contains(named_in),
            "{message}"
        );
    }
}

/// A text that SQLite writes for a number is that number, in comparisons of every kind; others stay
/// as they are.
#[test]
fn numbers_written_as_texts_are_numbers() {
    let server = TestApp::start();
    let client = server.client();
    let table = "CREATE TABLE t (i INTEGER, r REAL, x TEXT, n NUMERIC, b)";
    sql(&client, "storage", "a.db", table);
    let rows = "INSERT INTO t VALUES (5, 5.5, '5', 5, 5), (30, 30.5, '30', 30, 30)";
    sql(&client, "storage", "a.db", rows);
    let count = |query: &str, params: Value| {
        let call = json!({"query": query, "params": params});
        let data = done(&client, "shed_sqlite", &at("storage", "a.db", &call));
        data["rows"][0]["c"].clone()
    };
    for condition in [
        "i > ?",
        "r > ?",
        "n > ?",
        "b > ?",
        "i * 2 > ?",
        "abs(r) > ?",
        "+i > ?",
        "b + 0 > ?",
        "CAST(x AS INTEGER) > ?",
    ] {
        let query = format!("SELECT count(*) AS c FROM t WHERE {condition}");
        for twenty in [json!("20"), json!(20), json!("20.5"), json!(20.5)] {
            assert_eq!(count(&query, json!([twenty])), 1, "{condition} {twenty}");
        }
        assert_eq!(count(&query, json!([null])), 0, "{condition}");
    }
    for (query, params, expected) in [
        (
            "SELECT count(*) AS c FROM t WHERE x = ?",
            json!(["30"]),
            json!(1),
        ),
        (
            "SELECT count(*) AS c FROM t GROUP BY i > 0 HAVING sum(i) > ?",
            json!(["34"]),
            json!(2),
        ),
        (
            "SELECT count(*) AS c FROM t WHERE b = :b",
            json!({"b": "5"}),
            json!(1),
        ),
        (
            "SELECT typeof(?) || typeof(?) AS c",
            json!(["20", "-3.5"]),
            json!("integerreal"),
        ),
        (
            "SELECT typeof(?) || typeof(?) AS c",
            json!(["007", "2.50"]),
            json!("texttext"),
        ),
        (
            "SELECT typeof(?) || typeof(?) AS c",
            json!(["1e5", "+5"]),
            json!("texttext"),
        ),
        (
            "SELECT typeof(?) || typeof(?) AS c",
            json!(["", " 5"]),
            json!("texttext"),
        ),
        (
            "SELECT typeof(?) AS c",
            json!(["99999999999999999999"]),
            json!("text"),
        ),
        ("SELECT CAST(? AS TEXT) AS c", json!(["20"]), json!("20")),
    ] {
        assert_eq!(count(query, params.clone()), expected, "{query} {params}");
    }
}

#[test]
fn rows_have_a_limit_and_the_answer_says_so() {
    let server = TestApp::start();
    let client = server.client();
    sql(
        &client,
        "storage",
        "a.db",
        "CREATE TABLE t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n LIMIT 30) SELECT a FROM n",
    );
    let endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n";
    let many = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n LIMIT 20000) SELECT a FROM n";
    for (query, limit, count, truncated, total, applied) in [
        ("SELECT * FROM t", json!(null), 10, true, json!(30), 10),
        (
            "/* all */ SELECT * FROM t -- LIMIT 1",
            json!(null),
            10,
            true,
            json!(30),
            10,
        ),
        (
            "SELECT * FROM t LIMIT 20",
            json!(null),
            20,
            false,
            json!(20),
            10_000,
        ),
        ("SELECT * FROM t LIMIT 20", json!(5), 5, true, json!(20), 5),
        ("SELECT * FROM t", json!(0), 30, false, json!(30), 10_000),
        ("SELECT * FROM t", json!("12"), 12, true, json!(30), 12),
        ("SELECT * FROM t", json!(30), 30, false, json!(30), 30),
        (
            "SELECT * FROM t WHERE a > 25",
            json!(null),
            5,
            false,
            json!(5),
            10,
        ),
        ("VALUES (1), (2)", json!(null), 2, false, json!(2), 10),
        (
            "PRAGMA table_info(t)",
            json!(null),
            1,
            false,
            json!(1),
            10_000,
        ),
        (endless, json!(null), 10, true, json!(null), 10),
        (many, json!(0), 10_000, true, json!(null), 10_000),
        (many, json!(50_000), 10_000, true, json!(null), 10_000),
    ] {
        let call = at("storage", "a.db", &json!({"query": query, "limit": limit}));
        let data = done(&client, "shed_sqlite", &call);
        let seen = (
            &data["row_count"],
            &data["truncated"],
            &data["limit_applied"],
        );
        assert_eq!(
            seen,
            (&json!(count), &json!(truncated), &json!(applied)),
            "{query}"
        );
        assert_eq!(data["rows"].as_array().unwrap().len(), count, "{query}");
        if query == many {
            // Counting may have ended in time or not.
            let total = &data["total_rows"];
            assert!(total.is_null() || *total == 20_000, "{total}");
        } else {
            assert_eq!(
                data.get("total_rows").unwrap_or(&Value::Null),
                &total,
                "{query}"
            );
        }
    }
    let negative = at(
        "storage",
        "a.db",
        &json!({"query": "SELECT 1", "limit": -1}),
    );
    client
        .call("shed_sqlite", &negative)
        .refused(400, "INVALID_PARAMETER");
}

#[test]
fn an_answer_has_an_end() {
    let server = TestApp::start();
    let client = server.client();
    sql(
        &client,
        "storage",
        "a.db",
        "CREATE TABLE t AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n LIMIT 9) SELECT a, hex(zeroblob(5000)) AS long FROM n",
    );
    let data = sql(&client, "storage", "a.db", "SELECT * FROM t");
    assert_eq!(
        (&data["row_count"], &data["truncated"], &data["total_rows"]),
        (&json!(4), &json!(true), &json!(9))
    );
    let rows = select(&client, "storage", "a.db", "SELECT * FROM t");
    assert_eq!(rows.as_array().unwrap().len(), 9);
    let data = sql(
        &client,
        "storage",
        "a.db",
        "SELECT hex(zeroblob(100000)) AS a",
    );
    assert_eq!(
        (&data["row_count"], &data["truncated"]),
        (&json!(0), &json!(true))
    );
    assert!(
        data["notes"][0].as_str().unwrap().contains("substr"),
        "{data}"
    );
    let answer = ask(&client, "storage", "a.db", "SELECT zeroblob(8000000)");
    assert!(answer.text.len() < 10_000, "{}", answer.text.len());
}

#[test]
fn names_are_unique_and_verbs_are_sqlites() {
    let server = TestApp::start();
    let client = server.client();
    sql(
        &client,
        "storage",
        "a.db",
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b)",
    );
    let data = sql(
        &client,
        "storage",
        "a.db",
        "SELECT 1 AS a, 2 AS A, 3 AS a_2, 4 AS a",
    );
    assert_eq!(data["columns"], json!(["a", "A_3", "a_2", "a_4"]));
    let data = sql(
        &client,
        "storage",
        "a.db",
        "/* c */ INSERT INTO t (b) VALUES ('attach'), ('vacuum into')",
    );
    assert_eq!(
        (&data["rows_affected"], &data["last_row_id"]),
        (&json!(2), &json!(2))
    );
    let data = sql(
        &client,
        "storage",
        "a.db",
        "INSERT INTO t (b) VALUES ('x') RETURNING a, b",
    );
    assert_eq!(data["rows"], json!([{"a": 3, "b": "x"}]));
    assert_eq!(data["rows_affected"], 1);
    let data = sql(
        &client,
        "storage",
        "a.db",
        "WITH x AS (SELECT 1) UPDATE t SET b = NULL WHERE a IN x",
    );
    assert_eq!(data["rows_affected"], 1);
    let data = sql(
        &client,
        "storage",
        "a.db",
        "EXPLAIN QUERY PLAN SELECT * FROM t WHERE a = 1",
    );
    assert_eq!(data["row_count"], 1);
    let data = sql(&client, "storage", "a.db", "PRAGMA user_version = 7");
    assert_eq!(data["rows_affected"], 0);
    assert_eq!(
        select(&client, "storage", "a.db", "PRAGMA user_version"),
        json!([{"user_version": 7}])
    );
    sql(&client, "storage", "a.db", "VACUUM");
    let data = sql(&client, "storage", "a.db", "SELECT count(*) AS n FROM t");
    assert_eq!(data["rows"], json!([{"n": 3}]));
}
