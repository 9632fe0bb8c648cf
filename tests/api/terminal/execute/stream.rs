//! `POST /terminal/execute?stream=true`

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use fileshed_test_support::{PATIENCE, Server, TestApp, eventually};
use serde_json::{Value, json};

use super::{execute, input, listed, status};

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("one object a line"))
        .collect()
}

#[test]
fn output_comes_as_lines_between_start_and_end() {
    let app = TestApp::start();
    let answer = execute(
        &app.client(),
        "?stream=true",
        &json!({"command": "echo one; echo two >&2; sleep 1; echo three; exit 5"}),
    );
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let lines = lines(&answer.text);
    assert_eq!(lines[0]["type"], "start");
    assert!(lines[0]["id"].is_string(), "{}", answer.text);
    let last = lines.last().expect("lines");
    assert_eq!(
        last,
        &json!({"type": "end", "status": "done", "exit_code": 5})
    );
    assert!(
        lines.contains(&json!({"type": "stdout", "data": "one\n"})),
        "{}",
        answer.text
    );
    assert!(
        lines.contains(&json!({"type": "stderr", "data": "two\n"})),
        "{}",
        answer.text
    );
    assert_eq!(
        lines[lines.len() - 2],
        json!({"type": "stdout", "data": "three\n"})
    );
}

#[test]
fn a_long_stream_loses_nothing() {
    let app = TestApp::start();
    let answer = execute(
        &app.client(),
        "?stream=true",
        &json!({"command": "seq 1 100000"}),
    );
    let lines = lines(&answer.text);
    let text: String = lines
        .iter()
        .filter_map(|line| line["data"].as_str())
        .collect();
    let numbers: Vec<String> = (1..=100_000).map(|number| number.to_string()).collect();
    let expected = numbers.join("\n") + "\n";
    assert_eq!(text, expected);
}

#[test]
fn lines_come_while_the_process_runs_and_it_survives_who_reads() {
    let server = Server::start();
    let mut connection = TcpStream::connect(server.address()).expect("a connection");
    connection.set_read_timeout(Some(PATIENCE)).expect("set");
    let body = json!({"command": "echo ready; read line; echo \"got $line\""}).to_string();
    write!(
        connection,
        "POST /terminal/execute?stream=true HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    )
    .expect("sent");
    let mut lines = BufReader::new(&connection).lines();
    // The process waits for input: only a line that comes at once gets here.
    lines
        .find(|line| line.as_ref().is_ok_and(|line| line.contains("ready\\n")))
        .expect("the line comes")
        .expect("read");
    drop(lines);
    drop(connection);
    let client = server.client();
    let id = listed(&client)[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(input(&client, &id, "on\\n").status, 200);
    let ended = eventually("it goes on", || {
        let answer = status(&client, &id, "").body;
        (answer["status"] == "done").then_some(answer)
    });
    assert!(super::stdout(&ended).ends_with("got on\n"), "{ended}");
}
