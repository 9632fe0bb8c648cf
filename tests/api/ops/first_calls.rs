//! First calls as models plausibly make them, one a line of a table. Each is answered by success,
//! or by a hint whose first call, made as it stands, succeeds.
//!
//! A line that begins with `words` leaves open what was meant, or asks for what no call here can
//! do: its hint says so in words.

use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::hints::hint;
use crate::ops::stage::{bring, done, file, small};
use fileshed_test_support::{Answer, Client};

const TABLE: &str = include_str!("first_calls.txt");

/// Returns `true` if a call succeeded.
fn is_done(call: &Value, answer: &Answer) -> bool {
    let ended = answer.body["data"]["returncode"].as_i64().unwrap_or(0);
    // grep that finds nothing ends with 1.
    answer.status == 200 && (ended == 0 || ended == 1 && call["cmd"] == "grep")
}

/// The files that the table names.
fn situation(client: &Client<'_>) {
    bring(
        client,
        "uploads",
        "sales.csv",
        "item,amount\npen,2\nink,5\n",
    );
    file(client, "storage", "notes.md", "one\ntwo\nthree\n");
    file(
        client,
        "storage",
        "src/main.py",
        "def two():\n    return 2\n",
    );
    file(client, "documents", "report.md", "# Report\n");
    let packed = json!({"zone": "storage", "src": "notes.md", "dest": "pack.zip"});
    done(client, "shed_zip", &packed);
    for query in [
        "CREATE TABLE sales (item TEXT, amount REAL)",
        "INSERT INTO sales VALUES ('pen', 2)",
    ] {
        let arguments = json!({"zone": "storage", "path": "shop.db", "query": query});
        done(client, "shed_sqlite", &arguments);
    }
}

/// Returns the fault of the answer to a line of the table.
fn fault(client: &Client<'_>, line: &str) -> Option<String> {
    let (has_call, call) = match line.strip_prefix("words ") {
        Some(call) => (false, call),
        None => (true, line),
    };
    let (operation, arguments) = call.split_once(' ')?;
    let arguments: Value = serde_json::from_str(arguments).expect(line);
    situation(client);
    let answer = client.post(operation, arguments.to_string().as_bytes());
    if is_done(&arguments, &answer) {
        return None;
    }
    // A command that ran and missed its file is told in the message where it is.
    let hint = match answer.status {
        200 => answer.body["message"].as_str().unwrap_or_default(),
        _ => hint(&answer),
    };
    let wrong = |what: &str| Some(format!("{line}\n    {what}: {}", answer.text));
    let steps = calls::steps(hint, operation, &arguments);
    let Some(step) = steps.first() else {
        let is_told = !has_call && !hint.is_empty();
        return if is_told { None } else { wrong("no call") };
    };
    let second = client.call(&step.operation, &step.arguments);
    if is_done(&step.arguments, &second) {
        None
    } else {
        wrong(&format!("{step:?} answers {}", second.text))
    }
}

#[test]
fn first_calls_succeed_or_are_put_right() {
    let server = small().app();
    let lines: Vec<&str> = TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    assert!(lines.len() >= 120, "{}", lines.len());
    let faults: Vec<String> = lines
        .iter()
        .enumerate()
        .filter_map(|(index, line)| fault(&server.as_user(&format!("model-{index}")), line))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
