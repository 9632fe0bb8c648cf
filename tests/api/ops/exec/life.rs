//! Ends of commands: each ends whole, and leaves no process behind.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::json;

use crate::ops::stage::{done, ran};
use fileshed_test_support::commands::{kill, running};
use fileshed_test_support::processes::left_of_commands;
use fileshed_test_support::{Server, TestApp, eventually};

#[test]
fn a_command_that_runs_too_long_is_ended_whole() {
    let server = TestApp::start();
    let client = server.client();
    // An answer that does not come in time fails the call.
    let arguments = json!({"zone": "storage", "cmd": "sleep", "args": ["4317.25"], "timeout": 1});
    let answer = client.call("shed_exec", &arguments);
    answer.refused(504, "TIMEOUT");
    assert!(running("4317.25").is_empty());
    // Output that the command wrote before its end is returned.
    let mut arguments = json!({"zone": "storage", "cmd": "tail", "args": ["-f", "x"]});
    arguments["timeout"] = 5.into();
    done(
        &client,
        "shed_create_file",
        &json!({"zone": "storage", "path": "x", "content": "seen\n"}),
    );
    let answer = client.call("shed_exec", &arguments);
    answer.refused(504, "TIMEOUT");
    assert_eq!(answer.body["error"]["details"]["stdout"], "seen\n");
    // Less than a second is a second.
    arguments["timeout"] = 0.into();
    let answer = client.call("shed_exec", &arguments);
    answer.refused(504, "TIMEOUT");
    assert_eq!(answer.body["error"]["details"]["timeout"], 1);
}

#[test]
fn a_timeout_is_at_most_the_servers() {
    let server = TestApp::with()
        .env("FILESHED_EXEC_TIMEOUT_DEFAULT", "1")
        .env("FILESHED_EXEC_TIMEOUT_MAX", "1")
        .app();
    for timeout in [
        json!(null),
        json!(100_000),
        json!("9223372036854775807"),
        json!(0),
    ] {
        let arguments =
            json!({"zone": "storage", "cmd": "sleep", "args": ["4318"], "timeout": timeout});
        let answer = server.client().call("shed_exec", &arguments);
        answer.refused(504, "TIMEOUT");
        assert_eq!(answer.body["error"]["details"]["timeout"], 1);
    }
}

#[test]
fn a_client_that_hangs_up_ends_its_command() {
    let server = Server::start();
    let body = json!({"zone": "storage", "cmd": "sleep", "args": ["4319.5"]}).to_string();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let head = format!(
        "POST /shed_exec HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{body}",
        server.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    eventually("the command runs", || {
        (!running("4319.5").is_empty()).then_some(())
    });
    drop(stream);
    eventually("the command ends", || {
        running("4319.5").is_empty().then_some(())
    });
    ran(&server.client(), "storage", "ls", &[]);
}

#[test]
fn calls_that_come_at_once_wait_for_their_place() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_EXEC_MAX_PER_USER", "2")
        .env("FILESHED_TRANSFER_MAX_PER_USER", "2")
        .app();
    let alice = server.as_user("alice");
    let made = json!({"zone": "storage", "path": "a.db", "query": "CREATE TABLE t (a)"});
    done(&alice, "shed_sqlite", &made);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..6)
            .map(|number| {
                let alice = alice.clone();
                scope.spawn(move || match number % 3 {
                    0 => alice.call("shed_exec", &json!({"zone": "storage", "cmd": "ls"})),
                    1 => {
                        let query = "SELECT count(*) FROM t";
                        let count = json!({"zone": "storage", "path": "a.db", "query": query});
                        alice.call("shed_sqlite", &count)
                    }
                    _ => alice.get("/files/content?zone=storage&path=a.db"),
                })
            })
            .collect();
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap())
            .collect()
    });
    for answer in answers {
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
}

#[test]
fn one_user_cannot_take_all_turns() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_EXEC_MAX_PER_USER", "1")
        .app();
    let alice = server.as_user("alice");
    std::thread::scope(|scope| {
        let sleeper = alice.clone();
        let arguments = json!({"zone": "storage", "cmd": "sleep", "args": ["4320"]});
        scope.spawn(move || {
            let answer = sleeper.call("shed_exec", &arguments);
            assert_ne!(answer.data()["returncode"], 0);
        });
        eventually("the command runs", || {
            (!running("4320").is_empty()).then_some(())
        });
        let busy = alice.call("shed_exec", &json!({"zone": "storage", "cmd": "ls"}));
        busy.refused(429, "BUSY");
        assert!(
            busy.header("retry-after")
                .parse::<u64>()
                .is_ok_and(|seconds| seconds > 0)
        );
        ran(&server.as_user("bob"), "storage", "ls", &[]);
        kill("4320");
    });
    ran(&alice, "storage", "ls", &[]);
}

#[test]
fn the_server_has_an_end_too() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_EXEC_MAX_PER_USER", "1")
        .env("FILESHED_EXEC_MAX_TOTAL", "1")
        .app();
    std::thread::scope(|scope| {
        let sleeper = server.as_user("alice");
        let arguments = json!({"zone": "storage", "cmd": "sleep", "args": ["4321"]});
        scope.spawn(move || {
            let answer = sleeper.call("shed_exec", &arguments);
            assert_ne!(answer.data()["returncode"], 0);
        });
        eventually("the command runs", || {
            (!running("4321").is_empty()).then_some(())
        });
        let arguments = json!({"zone": "storage", "cmd": "ls"});
        let busy = server.as_user("bob").call("shed_exec", &arguments);
        busy.refused(503, "BUSY");
        assert!(!busy.text.contains("alice"));
        kill("4321");
    });
}

#[test]
fn nothing_is_left_of_commands() {
    let server = Server::start();
    let client = server.client();
    for number in 0..50 {
        let arguments = match number % 5 {
            0 => json!({"zone": "storage", "cmd": "cat", "args": ["missing"]}),
            1 => json!({"zone": "storage", "cmd": "touch", "args": ["x"]}),
            2 => json!({"zone": "documents", "cmd": "git", "args": ["status"]}),
            3 => json!({"zone": "storage", "cmd": "seq", "args": ["20000"], "max_output": 10}),
            _ => json!({"zone": "storage", "cmd": "echo", "args": ["x"], "stdout_file": "y"}),
        };
        done(&client, "shed_exec", &arguments);
    }
    let left = left_of_commands(server.process().as_raw_nonzero().get());
    assert!(left.is_empty(), "{left:?}");
    let staging = server.data().join("shared/staging");
    let left: Vec<_> = std::fs::read_dir(staging)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| !name.to_string_lossy().ends_with(".lock"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
