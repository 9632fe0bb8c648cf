//! Processes of the terminal under a server that is killed: none outlives it, and what they wrote
//! until then is there.

use fileshed_test_support::processes::helper;
use fileshed_test_support::{Client, Server, wait_until};
use serde_json::{Value, json};

/// Processes that run when the server is killed.
const RUNNING: usize = 10;

fn execute(client: &Client<'_>, command: &str) -> String {
    let body = json!({"command": command}).to_string();
    let answer = client.send("POST", "/terminal/execute?wait=0", body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body["id"].as_str().unwrap().to_owned()
}

fn status(client: &Client<'_>, id: &str) -> Value {
    client.get(&format!("/terminal/execute/{id}/status")).body
}

fn texts(answer: &Value) -> String {
    let output = answer["output"].as_array().unwrap();
    output
        .iter()
        .filter_map(|entry| entry["data"].as_str())
        .collect()
}

/// Returns `true` if a process of the machine has this text in its command line.
fn runs(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    })
}

#[test]
fn a_killed_server_takes_its_processes_along_and_keeps_what_they_wrote() {
    let mut server = Server::start();
    let client = server.client();
    let mark = format!("9{}.25", server.process().as_raw_nonzero());
    let ids: Vec<String> = (0..RUNNING)
        .map(|number| {
            let line = format!(
                "echo kept > kept-{number}.txt; echo begun {number}; sleep {mark}; echo never"
            );
            execute(&client, &line)
        })
        .collect();
    let done = execute(&client, "echo whole; exit 3");
    for (number, id) in ids.iter().enumerate() {
        let begun = format!("begun {number}\n");
        wait_until("each has begun", || texts(&status(&client, id)) == begun);
    }
    wait_until("one has ended", || {
        status(&client, &done)["status"] == "done"
    });
    assert!(runs(&mark));
    let process = server.process().as_raw_nonzero().get();
    let helper = helper(process);

    server.kill();
    wait_until("all of them are gone", || {
        !runs(&mark) && !std::path::Path::new(&format!("/proc/{helper}/exe")).exists()
    });

    let again = server.again();
    let client = again.client();
    let list = client.get("/terminal/execute").body;
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), RUNNING, "{list:?}");
    for (entry, id) in list.iter().zip(&ids) {
        assert_eq!(
            entry["id"],
            id.as_str(),
            "in the order in which they were started"
        );
        assert_eq!(
            (&entry["status"], &entry["exit_code"]),
            (&json!("killed"), &Value::Null)
        );
    }
    for (number, id) in ids.iter().enumerate() {
        let answer = status(&client, id);
        assert_eq!(
            texts(&answer),
            format!("begun {number}\ncut off by a restart of the server\n"),
            "{answer}"
        );
        let log = client.get(&format!("/terminal/files/read?path=/logs/{id}.jsonl"));
        let lines = log.body["content"].as_str().unwrap().lines();
        let types: Vec<Value> = lines
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].take())
            .collect();
        assert_eq!(types, ["start", "stdout", "stderr", "end"]);
        let input = json!({"input": "x"}).to_string();
        let path = format!("/terminal/execute/{id}/input");
        assert_eq!(client.send("POST", &path, input.as_bytes()).status, 400);
    }
    // Logs of processes that had ended are unchanged, and their files exist and are counted.
    let log = client.get(&format!("/terminal/files/read?path=/logs/{done}.jsonl"));
    let content = log.body["content"].as_str().unwrap();
    assert!(
        content.contains("whole") && content.contains("\"exit_code\":3"),
        "{content}"
    );
    let kept = client.get("/terminal/files/list?directory=/storage");
    assert_eq!(kept.body["entries"].as_array().unwrap().len(), RUNNING);
    // A third server finds nothing more to say.
    drop(again);
    let third = server.again();
    let log = third
        .client()
        .get(&format!("/terminal/files/read?path=/logs/{}.jsonl", ids[0]));
    let content = log.body["content"].as_str().unwrap();
    assert_eq!(content.matches("cut off").count(), 1, "{content}");
}

#[test]
fn what_an_answer_has_shown_is_in_the_log_of_a_killed_server() {
    let mut server = Server::start();
    let client = server.client();
    let id = execute(
        &client,
        "n=0; while true; do n=$((n + 1)); echo line $n; done",
    );
    let mut shown = 0;
    wait_until("much was shown", || {
        let answer = client
            .get(&format!("/terminal/execute/{id}/status?tail=1"))
            .body;
        shown = answer["next_offset"].as_u64().unwrap();
        shown > 500
    });
    server.kill();
    let again = server.again();
    let answer = again
        .client()
        .get(&format!("/terminal/execute/{id}/status?tail=1"))
        .body;
    assert_eq!(answer["status"], "killed");
    assert!(answer["next_offset"].as_u64().unwrap() > shown, "{answer}");
    assert_eq!(texts(&answer), "cut off by a restart of the server\n");
}
