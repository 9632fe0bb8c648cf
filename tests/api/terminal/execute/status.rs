//! `GET /terminal/execute/{process_id}/status`

use fileshed_test_support::{TestApp, eventually};
use serde_json::{Value, json};

use super::{execute, input, kill, last, ran, started, status, stdout};

#[test]
fn output_is_read_on_from_an_offset() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(&client, "echo one; read line; echo \"two $line\"");
    let first = eventually("the first line comes", || {
        let answer = status(&client, &id, "").body;
        (answer["next_offset"] == 1).then_some(answer)
    });
    assert_eq!(
        (&first["status"], stdout(&first)),
        (&json!("running"), "one\n".to_owned())
    );
    assert_eq!(first["exit_code"], Value::Null);
    let nothing = status(&client, &id, "?offset=1").body;
    assert_eq!(
        (&nothing["output"], &nothing["next_offset"]),
        (&json!([]), &json!(1))
    );
    assert_eq!(input(&client, &id, "x\\n").status, 200);
    let rest = status(&client, &id, "?offset=1&wait=60").body;
    assert_eq!(
        (&rest["status"], stdout(&rest)),
        (&json!("done"), "two x\n".to_owned())
    );
    // Reading takes nothing away, and the older address shows the same.
    let all = status(&client, &id, "").body;
    assert_eq!(stdout(&all), "one\ntwo x\n");
    let older = client.get(&format!("/terminal/processes/{id}/status"));
    assert_eq!(older.body, all);
}

#[test]
fn the_last_entries_are_shown() {
    let app = TestApp::start();
    let client = app.client();
    let answer = ran(&client, "for n in 1 2 3 4; do echo $n; sleep 1; done");
    assert_eq!(stdout(&answer), "1\n2\n3\n4\n", "{answer}");
    let process = last(&client);
    let id = process["id"].as_str().expect("an id");
    let latest = status(&client, id, "?tail=2").body;
    assert_eq!(
        (stdout(&latest), &latest["truncated"]),
        ("3\n4\n".to_owned(), &json!(true))
    );
    let late = status(&client, id, "?tail=9&offset=3").body;
    assert_eq!(
        (stdout(&late), &late["truncated"]),
        ("4\n".to_owned(), &json!(false))
    );
    let tail = execute(
        &client,
        "?wait=60&tail=1",
        &json!({"command": "echo a; sleep 1; echo b"}),
    );
    assert_eq!(stdout(&tail.body), "b\n", "{}", tail.text);
}

#[test]
fn a_wait_ends_with_the_process_or_with_its_time() {
    let app = TestApp::start();
    let client = app.client();
    let slow = execute(&client, "?wait=0.3", &json!({"command": "sleep 30"}));
    assert_eq!(slow.body["status"], "running", "{}", slow.text);
    let quick = execute(&client, "?wait=60", &json!({"command": "sleep 0.2"}));
    assert_eq!(quick.body["status"], "done", "{}", quick.text);
    kill(
        &client,
        slow.body["id"].as_str().expect("an id"),
        "?force=true",
    );
}

#[test]
fn who_waits_holds_no_place_of_the_user() {
    let server = TestApp::with()
        .env("FILESHED_MAX_CONCURRENT_CALLS", "2")
        .app();
    let client = server.client();
    let ids: Vec<String> = (0..4)
        .map(|_| started(&client, "read line; echo $line"))
        .collect();
    std::thread::scope(|scope| {
        let waits: Vec<_> = ids
            .iter()
            .map(|id| {
                let client = client.clone();
                scope.spawn(move || status(&client, id, "?wait=60"))
            })
            .collect();
        // All four wait, two places are there, and others are served all the same.
        for id in &ids {
            assert_eq!(input(&client, id, "on\\n").status, 200);
        }
        for wait in waits {
            let answer = wait.join().expect("answered");
            assert_eq!(answer.status, 200, "{}", answer.text);
            assert_eq!(answer.body["status"], "done", "{}", answer.text);
        }
    });
}

#[test]
fn an_answer_that_would_be_too_long_says_where_to_go_on() {
    let app = TestApp::with()
        .env("FILESHED_MAX_OUTPUT_DEFAULT", "20000")
        .app();
    let client = app.client();
    let answer = ran(&client, "seq 1 20000");
    let id = answer["id"].as_str().expect("an id");
    assert_eq!(answer["truncated"], true);
    let mut text = stdout(&answer);
    let mut offset = answer["next_offset"].as_u64().expect("a number");
    loop {
        let more = status(&client, id, &format!("?offset={offset}")).body;
        text.push_str(&stdout(&more));
        let next = more["next_offset"].as_u64().expect("a number");
        if next == offset {
            break;
        }
        offset = next;
    }
    let numbers: Vec<String> = (1..=20_000).map(|number| number.to_string()).collect();
    let expected = numbers.join("\n") + "\n";
    assert_eq!(text, expected);
}

#[test]
fn an_id_that_is_none_is_not_found() {
    let app = TestApp::start();
    let client = app.client();
    for answer in [
        status(&client, "a1b2c3d4e5f6", ""),
        status(&client, "..%2f..%2fetc", ""),
        input(&client, "a1b2c3d4e5f6", "x"),
        kill(&client, "a1b2c3d4e5f6", ""),
    ] {
        assert_eq!(answer.status, 404, "{}", answer.text);
        assert!(answer.body["detail"].is_string(), "{}", answer.text);
    }
}

#[test]
fn output_that_is_no_text_is_shown_all_the_same() {
    let app = TestApp::start();
    let client = app.client();
    let answer = ran(
        &client,
        "printf 'a\\377b'; printf '\\303'; sleep 0.1; printf '\\274\\n'",
    );
    assert_eq!(stdout(&answer), "a\u{fffd}b\u{fc}\n", "{answer}");
}
