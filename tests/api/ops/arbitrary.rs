//! Whatever is sent, the answer is an envelope, and the server goes on.

use fileshed::ops::{OPERATIONS, OperationTool};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::ops::stage::small;
use fileshed_test_support::Client;

/// Bodies for each operation.
const BODIES: u32 = 24;

/// Values as text, because some are no values that this program could write.
fn value() -> impl Strategy<Value = String> {
    let quoted = |text: &str| Value::from(text).to_string();
    let odd = [
        "",
        "a",
        ".",
        "/",
        "..",
        "../x",
        "a/b",
        "notes/todo.md",
        "storage",
        "documents",
        "uploads",
        "group",
        "a\u{0}b",
        "\n",
        "\u{202e}x",
        "\u{1f600}\u{1f600}",
        "e\u{301}",
        "(a+)+$",
        "(?<n>a)\\k<n>",
        "[",
        "-rf",
        "--help",
        "true",
        "false",
        "12",
        "-1",
        "{}",
        "[]",
        "[1]",
        "$(id)",
        "; id",
        "%s%n",
        "hex",
        "base64",
        "replace",
        "at",
        "before",
        "imsx",
        "ls",
        "cat",
        "git",
        "awk",
        "sed",
        "find",
        "tar",
        "echo",
        "NaN",
    ];
    let plain = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "-1",
        "3.5",
        "1e3",
        "1e400",
        "-1e-400",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
        "99999999999999999999999999999999999999",
        "[]",
        "{}",
        "[null]",
        "\"\\ud800\"",
    ];
    let leaf = prop_oneof![
        4 => prop::sample::select(odd.to_vec()).prop_map(quoted),
        3 => prop::sample::select(plain.to_vec()).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| Value::from(text).to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
        1 => (1..3000_usize).prop_map(|length| Value::from("x".repeat(length)).to_string()),
        1 => (1..200_usize).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            inner.prop_map(|value| format!("{{\"a\":{value}}}")),
        ]
    })
}

/// Bodies that are often nearly right: the parameters of the operation, each there or not, and
/// the example's value or another.
fn body(entry: &'static OperationTool) -> impl Strategy<Value = String> {
    let example: Value = serde_json::from_str(entry.examples[0]).unwrap();
    let schema = (entry.request_schema)();
    let names = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|known| known.keys().cloned());
    let names: Vec<String> = names.chain(["invented".to_owned()]).collect();
    let fields: Vec<_> = names
        .into_iter()
        .map(|name| {
            let given = example.get(&name).map(Value::to_string);
            let usual = Just(given);
            let field = prop_oneof![3 => usual, 2 => value().prop_map(Some)];
            field.prop_map(move |value| value.map(|value| format!("\"{name}\":{value}")))
        })
        .collect();
    fields.prop_map(|fields| {
        let fields: Vec<String> = fields.into_iter().flatten().collect();
        format!("{{{}}}", fields.join(","))
    })
}

fn is_envelope(
    client: &Client<'_>,
    entry: &OperationTool,
    body: &str,
) -> Result<(), TestCaseError> {
    let answer = client.post(entry.id, body.as_bytes());
    prop_assert_ne!(answer.status, 500, "{}", answer.text);
    let keys: Vec<&str> = match answer.body.as_object() {
        Some(object) => object.keys().map(String::as_str).collect(),
        None => Vec::new(),
    };
    if answer.status == 200 {
        prop_assert_eq!(keys, ["success", "data", "message"], "{}", &answer.text);
        return Ok(());
    }
    prop_assert_eq!(keys, ["success", "error"], "{}", &answer.text);
    let error = &answer.body["error"];
    for name in ["code", "message", "hint"] {
        prop_assert!(
            error[name].as_str().is_some_and(|text| !text.is_empty()),
            "{}",
            &answer.text
        );
    }
    prop_assert!(error["details"].is_object(), "{}", &answer.text);
    Ok(())
}

#[test]
fn arbitrary_bodies_get_an_envelope() {
    let server = small()
        .env("FILESHED_EXEC_TIMEOUT_DEFAULT", "1")
        .env("FILESHED_EXEC_TIMEOUT_MAX", "1")
        .start();
    std::thread::scope(|scope| {
        for half in OPERATIONS.chunks(OPERATIONS.len().div_ceil(2)) {
            let server = &server;
            scope.spawn(move || {
                for entry in half {
                    let client = server.as_user(entry.id);
                    let config = Config {
                        cases: BODIES,
                        failure_persistence: None,
                        ..Config::default()
                    };
                    let outcome = TestRunner::new(config)
                        .run(&body(entry), |body| is_envelope(&client, entry, &body));
                    assert!(outcome.is_ok(), "{}: {}", entry.id, outcome.unwrap_err());
                }
            });
        }
    });
    let client = server.as_user("afterwards");
    let arguments = json!({"zone": "documents", "path": "a.md", "content": "x"});
    client.call("shed_create_file", &arguments).data();
    assert!(!server.log().contains("panicked"), "{}", server.log());
}
