//! Destinations of output, and the amount of it that is shown.

use serde_json::{Value, json};

use super::attempt;
use crate::ops::calls::calls;
use crate::ops::stage::{content, done, file, output, ran, small};
use fileshed_test_support::{Answer, Client, TestApp};

fn seq(client: &Client<'_>, last: &str, max_output: &Value) -> Value {
    let arguments =
        json!({"zone": "storage", "cmd": "seq", "args": [last], "max_output": max_output});
    done(client, "shed_exec", &arguments)
}

#[test]
fn output_is_cut_and_says_so() {
    let server = TestApp::with()
        .env("FILESHED_MAX_OUTPUT_ABSOLUTE", "100000")
        .app();
    let client = server.client();
    for (last, max_output, shown, truncated) in [
        ("10", json!(null), 21..22, false),
        ("10", json!(21), 21..22, false),
        ("10", json!(20), 20..21, true),
        ("10", json!("1"), 1..2, true),
        ("100000", json!(null), 49_900..50_001, true),
        ("100000", json!(0), 99_900..100_001, true),
        ("100000", json!(99_999_999), 99_900..100_001, true),
    ] {
        let data = seq(&client, last, &max_output);
        let length = data["stdout"].as_str().unwrap().len();
        assert!(shown.contains(&length), "{last} {max_output}: {length}");
        assert_eq!(data["truncated"], truncated, "{last} {max_output}");
        assert_eq!(data["returncode"], 0, "{last} {max_output}");
    }
}

/// Makes the call that a message names.
#[track_caller]
fn follow(client: &Client<'_>, made: &Value, answer: &Answer) -> Value {
    let message = answer.body["message"].as_str().unwrap();
    if let Some(call) = calls(message).pop() {
        return done(client, &call.operation, &call.arguments);
    }
    let (_, words) = message.rsplit_once("repeat the call with ").expect(message);
    let set = calls(&format!("shed_exec({words})")).pop().expect(message);
    let mut arguments = made.clone();
    for (name, value) in set.arguments.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    done(client, "shed_exec", &arguments)
}

#[test]
fn both_ends_of_long_output_and_the_call_that_goes_on() {
    let server = TestApp::with_key();
    let client = server.as_user("alice");
    let lines: Vec<String> = (1..=5_000).map(|line| format!("line {line}\n")).collect();
    let text = lines.concat();
    file(&client, "storage", "long.txt", &text);
    let cat = json!({"zone": "storage", "cmd": "cat", "args": ["long.txt"]});
    let answer = client.call("shed_exec", &cat);
    let shown = answer.data()["stdout"].as_str().unwrap();
    // A gateway's model reads it.
    assert!((15_000..=16_000).contains(&shown.len()), "{}", shown.len());
    let (head, rest) = shown.split_once("… ").unwrap();
    let (left_out, tail) = rest.split_once(" bytes left out …\n").unwrap();
    assert!(text.starts_with(head) && text.ends_with(tail));
    let left_out: usize = left_out.replace(' ', "").parse().unwrap();
    assert_eq!(left_out, text.len() - head.len() - tail.len());
    let next = follow(&client, &cat, &answer);
    let next = next["stdout"].as_str().unwrap();
    assert!(
        text[head.len()..].starts_with(next) && next.len() > 10_000,
        "{next}"
    );

    // All of it goes into a file that does not exist yet.
    file(&client, "storage", "output.txt", "mine");
    let sort = json!({"zone": "storage", "cmd": "sort", "args": ["-r", "long.txt"]});
    let answer = client.call("shed_exec", &sort);
    let data = follow(&client, &sort, &answer);
    assert_eq!(data["stdout_file"], "output-2.txt");
    assert_eq!(data["stdout_file_size"], text.len());
    assert_eq!(content(&client, "storage", "output.txt"), "mine");

    // Of a locked file too.
    let open = json!({"zone": "storage", "path": "long.txt"});
    done(&client, "shed_lockedit_open", &open);
    let cat = json!({"zone": "storage", "path": "long.txt", "cmd": "cat", "args": ["."]});
    let data = done(&client, "shed_lockedit_exec", &cat);
    assert_eq!(
        (&data["truncated"], &data["stdout"]),
        (&json!(true), &json!(shown))
    );
    // A limit that the caller asked for is not changed.
    let all = json!({"zone": "storage", "cmd": "cat", "args": ["long.txt"], "max_output": 0});
    assert_eq!(done(&client, "shed_exec", &all)["stdout"], text);
}

#[test]
fn binary_output_is_named_with_the_call_that_reads_it() {
    let server = TestApp::start();
    let client = server.client();
    let table = json!({"zone": "storage", "path": "shop.db", "query": "CREATE TABLE sales (item)"});
    done(&client, "shed_sqlite", &table);
    file(&client, "storage", "notes/todo.md", "- milk\n");
    done(
        &client,
        "shed_zip",
        &json!({"zone": "storage", "src": "notes"}),
    );
    ran(&client, "storage", "gzip", &["-k", "notes/todo.md"]);
    for (path, bytes) in [
        ("wide.txt", "fffe68006900"),
        (
            "a.png",
            "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489",
        ),
        ("a.bin", "000102030405"),
    ] {
        let arguments = json!({"zone": "storage", "path": path, "content": bytes});
        done(&client, "shed_patch_bytes", &arguments);
    }
    for (path, name, found) in [
        ("shop.db", "SQLite", "CREATE TABLE sales"),
        ("notes.zip", "ZIP", "todo.md"),
        ("notes/todo.md.gz", "gzip", "- milk"),
        ("wide.txt", "utf-16le", "hi"),
        ("a.png", "Portable Network Graphics", "a.png"),
        ("a.bin", "no known format", "00 01 02 03"),
    ] {
        let cat = json!({"zone": "storage", "cmd": "cat", "args": [path]});
        let answer = client.call("shed_exec", &cat);
        let data = answer.data();
        assert_eq!(
            (&data["stdout"], &data["truncated"]),
            (&json!(""), &json!(true)),
            "{path}"
        );
        assert!(answer.text.len() < 600, "{}", answer.text);
        let message = answer.body["message"].as_str().unwrap();
        assert!(message.contains(name), "{message}");
        let read = follow(&client, &cat, &answer);
        assert!(
            read.to_string().contains(found),
            "{path}: {message}\n{read}"
        );
    }
    // Binary output that has no file is written into one.
    let packed = json!({"zone": "storage", "cmd": "gzip", "args": ["-c", "notes/todo.md"]});
    let answer = client.call("shed_exec", &packed);
    assert_eq!(
        follow(&client, &packed, &answer)["stdout_file"],
        "output.txt"
    );
    // Names that end with NUL bytes are text.
    let names =
        json!({"zone": "storage", "cmd": "find", "args": ["notes", "-name", "*.md", "-print0"]});
    assert_eq!(
        done(&client, "shed_exec", &names)["stdout"],
        "notes/todo.md\0"
    );
}

#[test]
fn a_command_that_writes_much_is_not_held_up() {
    let server = TestApp::start();
    let client = server.client();
    let data = seq(&client, "2000000", &json!(100));
    assert_eq!(
        (&data["truncated"], &data["returncode"]),
        (&json!(true), &json!(0))
    );
    assert!(data["stdout"].as_str().unwrap().starts_with("1\n2\n"));
}

#[test]
fn what_is_no_text_is_replaced() {
    let server = TestApp::start();
    let client = server.client();
    let arguments = json!({"zone": "storage", "path": "a.bin", "content": "61ff62c3"});
    done(&client, "shed_patch_bytes", &arguments);
    assert_eq!(content(&client, "storage", "a.bin"), "a\u{fffd}b\u{fffd}");
    file(&client, "storage", "e.txt", "ééé");
    let arguments = json!({"zone": "storage", "cmd": "cat", "args": ["e.txt"], "max_output": 3});
    let data = done(&client, "shed_exec", &arguments);
    assert_eq!(
        (&data["stdout"], &data["truncated"]),
        (&json!("é"), &json!(true))
    );
}

#[test]
fn streams_into_files() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a", "x\n");
    let arguments = json!({
        "zone": "storage", "cmd": "cat", "args": ["a", "missing"], "stdout_file": "new/out.txt", "stderr_file": "err.txt",
    });
    let data = done(&client, "shed_exec", &arguments);
    assert_eq!((&data["stdout"], &data["stderr"]), (&json!(""), &json!("")));
    assert_eq!(
        (&data["stdout_file"], &data["stdout_file_size"]),
        (&json!("new/out.txt"), &json!(2))
    );
    assert_eq!(data["stderr_file"], "err.txt");
    assert_eq!(content(&client, "storage", "new/out.txt"), "x\n");
    let complaint = content(&client, "storage", "err.txt");
    assert!(complaint.contains("missing"), "{complaint}");
    assert_eq!(data["stderr_file_size"], complaint.len());
    // Files hold everything, whatever is shown; an old file is replaced.
    let arguments = json!({
        "zone": "storage", "cmd": "seq", "args": ["100000"], "stdout_file": "new/out.txt", "max_output": 1,
    });
    let data = done(&client, "shed_exec", &arguments);
    assert_eq!(
        (&data["stdout_file_size"], &data["truncated"]),
        (&json!(588_895), &json!(false))
    );
    let same = json!({"zone": "storage", "cmd": "ls", "stdout_file": "s", "stderr_file": "./s"});
    assert_eq!(
        attempt(&client, &same),
        (400, "INVALID_PARAMETER".to_owned())
    );
}

#[test]
fn both_streams_together() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a", "x\n");
    let mut arguments = json!({
        "zone": "storage", "cmd": "cat", "args": ["a", "missing"], "redirect_stderr_to_stdout": "true",
    });
    let data = done(&client, "shed_exec", &arguments);
    let stdout = data["stdout"].as_str().unwrap();
    assert!(
        stdout.starts_with("x\n") && stdout.contains("missing"),
        "{data}"
    );
    assert_eq!(data["stderr"], "");
    arguments["stdout_file"] = "both.txt".into();
    done(&client, "shed_exec", &arguments);
    assert_eq!(content(&client, "storage", "both.txt"), stdout);
}

#[test]
fn standard_input_is_empty() {
    let server = TestApp::start();
    let client = server.client();
    for cmd in ["cat", "sort", "wc", "head"] {
        let data = ran(&client, "storage", cmd, &[]);
        assert_eq!(data["returncode"], 0, "{data}");
    }
}

#[test]
fn no_command_passes_the_quota_unseen() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a", &"x".repeat(1 << 20));
    let copies = json!({"zone": "storage", "cmd": "cp", "args": ["a", "b"]});
    assert_eq!(attempt(&alice, &copies), (200, String::new()));
    let more = json!({"zone": "storage", "cmd": "cp", "args": ["a", "c"]});
    assert_eq!(attempt(&alice, &more), (507, "QUOTA_EXCEEDED".to_owned()));
    // Files that the command wrote stay, and are counted.
    let stats = done(&alice, "shed_stats", &json!({}));
    let listed = output(
        &alice,
        "storage",
        "find",
        &[".", "-type", "f", "-printf", "%s\n"],
    );
    let on_disk: u64 = listed
        .lines()
        .map(|size| size.parse::<u64>().unwrap())
        .sum();
    assert_eq!(stats["storage"]["size_bytes"], on_disk);
    assert_eq!(on_disk, 3 << 20);
    let write = json!({"zone": "documents", "path": "x", "content": "x"});
    alice
        .call("shed_create_file", &write)
        .refused(507, "QUOTA_EXCEEDED");
    ran(&alice, "storage", "rm", &["b", "c"]);
    file(&alice, "documents", "x", "x");
}

#[test]
fn no_command_makes_a_file_that_is_too_large() {
    let server = small().env("FILESHED_QUOTA_PER_USER_MB", "100").app();
    let alice = server.as_user("alice");
    let truncate = json!({"zone": "storage", "cmd": "truncate", "args": ["-s", "2M", "big"]});
    assert_eq!(
        attempt(&alice, &truncate),
        (413, "FILE_TOO_LARGE".to_owned())
    );
    let arguments =
        json!({"zone": "storage", "cmd": "seq", "args": ["1000000"], "stdout_file": "big"});
    let answer = alice.call("shed_exec", &arguments);
    let size = done(&alice, "shed_stats", &json!({}))["storage"]["size_bytes"]
        .as_u64()
        .unwrap();
    assert!(size <= 1 << 20, "{size} {}", answer.text);
}
