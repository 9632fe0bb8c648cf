//! Remains of processes: their logs, and nothing else.

use fileshed_test_support::processes::{helper, left_of_commands};
use fileshed_test_support::{Server, TestApp, eventually, skip, wait_until};
use serde_json::{Value, json};

use super::{last, listed, ran, started, status, stdout};

/// Descriptors, threads and mounts of a process. A server hides its descriptors from its own
/// account: to all but root it has none.
fn held(process: i32) -> (usize, usize, usize) {
    let count = |name: &str| {
        let entries = std::fs::read_dir(format!("/proc/{process}/{name}"));
        entries.map_or(0, Iterator::count)
    };
    let mounts = std::fs::read_to_string(format!("/proc/{process}/mounts")).unwrap();
    (count("fd"), count("task"), mounts.lines().count())
}

#[test]
fn processes_leave_nothing_but_their_logs() {
    let count = std::env::var("FILESHED_TEST_COMMANDS").ok();
    let count: usize = count.and_then(|text| text.parse().ok()).unwrap_or(30);
    let server = Server::start();
    let client = server.client();
    let process = server.process().as_raw_nonzero().get();
    for _ in 0..20 {
        ran(&client, "echo warm | cat");
    }
    let helper = helper(process);
    let settled = || {
        // Threads of the pool end by themselves.
        let (descriptors, _, mounts) = held(process);
        let (of_helper, threads, own_mounts) = held(helper);
        [descriptors, mounts, of_helper, threads, own_mounts]
    };
    assert_eq!(left_of_commands(process), Vec::<String>::new());
    let before = settled();
    // Connections of this client may come and go.
    let most = [before[0] + 4, before[1], before[2], before[3], before[4]];
    if before[0] == 0 {
        skip("descriptors of the server: only root can count them");
    }
    let mut ids = Vec::new();
    for number in 0..count {
        if number % 10 == 0 {
            ids.push(started(&client, "echo quick; exit 1"));
        } else {
            let answer = ran(&client, &format!("echo {number} | cat; (true &)"));
            assert_eq!(stdout(&answer), format!("{number}\n"), "{answer}");
        }
    }
    for id in &ids {
        status(&client, id, "?wait=60");
    }
    assert_eq!(left_of_commands(process), Vec::<String>::new());
    let is_given_back =
        |after: &[usize; 5]| after.iter().zip(&most).all(|(after, most)| after <= most);
    wait_until("descriptors, mounts and threads are given back", || {
        is_given_back(&settled())
    });
    let logs = std::fs::read_dir(server.data().join("shared/logs"))
        .unwrap()
        .count();
    assert_eq!(logs, (count + 20).min(1000));
}

#[test]
fn a_log_tells_everything_in_lines_of_json() {
    let server = TestApp::start();
    ran(&server.client(), "echo out; exit 2");
    let process = last(&server.client());
    let id = process["id"].as_str().expect("an id");
    let path = server.data().join(format!("shared/logs/{id}.jsonl"));
    let text = std::fs::read_to_string(path).expect("there");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let types: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["type"].as_str())
        .collect();
    assert_eq!(types, ["start", "stdout", "end"]);
    assert_eq!(lines[0]["command"], "echo out; exit 2");
    assert_eq!(lines[2]["exit_code"], 2);
    assert!(
        lines
            .iter()
            .all(|line| line["ts"].as_f64().is_some_and(|ts| ts > 1e9))
    );
    assert!(!text.contains(&server.data().display().to_string()));
}

#[test]
fn a_server_that_stops_ends_what_runs_and_says_so() {
    let mut server = Server::start();
    let client = server.client();
    let id = started(&client, "echo kept > kept.txt; echo begun; sleep 600");
    eventually("it has begun", || {
        (stdout(&status(&client, &id, "").body) == "begun\n").then_some(())
    });
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    let again = server.again();
    let client = again.client();
    let path = again.data().join(format!("shared/logs/{id}.jsonl"));
    let log = std::fs::read_to_string(path).expect("there");
    let last = log.lines().last().expect("lines");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(
        (&last["type"], &last["status"]),
        (&json!("end"), &json!("killed")),
        "{log}"
    );
    assert_eq!(stdout(&ran(&client, "cat kept.txt")), "kept\n");
    assert_eq!(listed(&client).len(), 1, "only the one of this server");
}
