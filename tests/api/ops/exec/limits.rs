//! Limits that strike are said, with the name of the setting that an administrator can change.

use serde_json::json;

use crate::ops::stage::{file, installed, output};
use fileshed_test_support::{Answer, Client, TestApp};

fn exec(client: &Client<'_>, zone: &str, cmd: &str, args: &[&str]) -> Answer {
    let arguments = json!({"zone": zone, "cmd": cmd, "args": args});
    client.call("shed_exec", &arguments)
}

#[test]
fn a_file_that_grows_too_large_is_said() {
    let server = TestApp::with().env("FILESHED_MAX_FILE_SIZE_MB", "1").app();
    let client = server.client();
    for zone in ["storage", "documents"] {
        file(&client, zone, "half", &"x\n".repeat(350_000));
        file(&client, zone, "other", &"y\n".repeat(350_000));
        for (cmd, args) in [
            ("truncate", &["-s", "2M", "big"][..]),
            ("sort", &["-o", "big", "half", "half"]),
            ("tar", &["-cf", "big.tar", "half", "other"]),
        ] {
            let answer = exec(&client, zone, cmd, args);
            answer.refused(413, "FILE_TOO_LARGE");
            let error = &answer.body["error"];
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(&format!("`{cmd}`")), "{message}");
            assert!(message.contains("1 MiB (max_file_size_mb)"), "{message}");
            let details = &error["details"];
            assert_eq!(details["max_file_size_mb"], 1);
            assert_eq!(details["returncode"], -25);
            assert_eq!(details["stdout"], "");
            assert!(details["stderr"].is_string(), "{details}");
        }
        // The zone goes on, and a file may be as large as the limit.
        let wrote = output(&client, zone, "wc", &["-c", "half"]);
        assert_eq!(wrote, "700000 half\n");
        output(&client, zone, "truncate", &["-s", "1M", "fits"]);
        output(&client, zone, "cp", &["fits", "copy"]);
    }
}

#[test]
fn time_of_a_processor_is_said() {
    let server = TestApp::with()
        .env("FILESHED_EXEC_CPU_LIMIT_SECONDS", "1")
        .app();
    let client = server.client();
    let program = "BEGIN {print \"begun\"; fflush(); while (1) n++}";
    let answer = exec(&client, "storage", "awk", &[program]);
    answer.refused(504, "TIMEOUT");
    let error = &answer.body["error"];
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("`awk`") && message.contains("1 s of CPU time (exec_cpu_limit_seconds)"),
        "{message}"
    );
    let details = &error["details"];
    assert_eq!(details["exec_cpu_limit_seconds"], 1);
    assert_eq!(details["returncode"], -24);
    assert_eq!(details["stdout"], "begun\n");
    assert_eq!(details["stderr"], "");
}

#[test]
fn memory_that_a_command_lacks_is_said() {
    let server = TestApp::with()
        .env("FILESHED_EXEC_MEMORY_LIMIT_MB", "64")
        .app();
    let client = server.client();
    let program = "BEGIN {s = \"x\"; while (1) s = s s}";
    let answer = exec(&client, "storage", "awk", &[program]);
    // The kernel refuses it, or the server ends it, whichever comes first.
    let message = if answer.status == 200 {
        assert_ne!(answer.data()["returncode"], 0);
        &answer.body["message"]
    } else {
        answer.refused(400, "EXEC_ERROR");
        &answer.body["error"]["message"]
    };
    let message = message.as_str().unwrap();
    assert!(
        message.contains("64 MiB of memory (exec_memory_limit_mb)"),
        "{}",
        answer.text
    );
}

#[test]
fn open_files_that_a_command_lacks_are_said_beside_its_words() {
    let server = TestApp::start();
    let client = server.client();
    if !installed(&client, "paste") || !installed(&client, "split") {
        return;
    }
    file(&client, "storage", "lines", &"x\n".repeat(300));
    output(
        &client,
        "storage",
        "split",
        &["-l", "1", "-a", "3", "lines"],
    );
    let answer = exec(&client, "storage", "paste", &["xa*"]);
    assert_ne!(answer.data()["returncode"], 0);
    let message = answer.body["message"].as_str().unwrap();
    assert!(message.contains("256 open files"), "{}", answer.text);
    // A command that fails for another reason names no limit.
    let answer = exec(&client, "storage", "paste", &["missing"]);
    let message = &answer.body["message"];
    assert_eq!(message, "paste ended with status 1", "{}", answer.text);
}
