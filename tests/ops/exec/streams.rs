//! Where output goes, and how much of it is shown.

use serde_json::{Value, json};

use super::attempt;
use crate::stage::{content, done, file, output, ran, small};
use crate::support::{Client, Server};

fn seq(client: &Client<'_>, last: &str, max_output: &Value) -> Value {
    let arguments =
        json!({"zone": "storage", "cmd": "seq", "args": [last], "max_output": max_output});
    done(client, "shed_exec", &arguments)
}

#[test]
fn output_is_cut_and_says_so() {
    let server = Server::with()
        .env("FILESHED_MAX_OUTPUT_ABSOLUTE", "100000")
        .start();
    let client = server.client();
    for (last, max_output, shown, truncated) in [
        ("10", json!(null), 21, false),
        ("10", json!(21), 21, false),
        ("10", json!(20), 20, true),
        ("10", json!("1"), 1, true),
        ("100000", json!(null), 50_000, true),
        ("100000", json!(0), 100_000, true),
        ("100000", json!(99_999_999), 100_000, true),
    ] {
        let data = seq(&client, last, &max_output);
        assert_eq!(
            data["stdout"].as_str().unwrap().len(),
            shown,
            "{last} {max_output}"
        );
        assert_eq!(data["truncated"], truncated, "{last} {max_output}");
        assert_eq!(data["returncode"], 0, "{last} {max_output}");
    }
}

#[test]
fn a_command_that_writes_much_is_not_held_up() {
    let server = Server::start();
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
    let server = Server::start();
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
    let server = Server::start();
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
    let server = Server::start();
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
    let server = Server::start();
    let client = server.client();
    for cmd in ["cat", "sort", "wc", "head"] {
        let data = ran(&client, "storage", cmd, &[]);
        assert_eq!(data["returncode"], 0, "{data}");
    }
}

#[test]
fn no_command_passes_the_quota_unseen() {
    let server = small().start();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a", &"x".repeat(1 << 20));
    let copies = json!({"zone": "storage", "cmd": "cp", "args": ["a", "b"]});
    assert_eq!(attempt(&alice, &copies), (200, String::new()));
    let more = json!({"zone": "storage", "cmd": "cp", "args": ["a", "c"]});
    assert_eq!(attempt(&alice, &more), (507, "QUOTA_EXCEEDED".to_owned()));
    // Nothing of it is left, and what is there is counted.
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
    assert_eq!(on_disk, 2 << 20);
    let write = json!({"zone": "documents", "path": "x", "content": "x"});
    alice
        .call("shed_create_file", &write)
        .refused(507, "QUOTA_EXCEEDED");
    ran(&alice, "storage", "rm", &["b"]);
    file(&alice, "documents", "x", "x");
}

#[test]
fn no_command_makes_a_file_that_is_too_large() {
    let server = small().env("FILESHED_QUOTA_PER_USER_MB", "100").start();
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
