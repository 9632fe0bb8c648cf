//! The process of one person.

use fileshed::ops::OPERATIONS;
use fileshed_test_support::commands::running;
use fileshed_test_support::{Server, TestApp, wait_until};
use serde_json::{Value, json};

use super::client::{NEWEST, OLDER};
use super::person::Person;

fn names(listed: &Value) -> Vec<String> {
    let tools = listed["tools"].as_array().unwrap();
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

#[test]
fn every_revision_is_spoken_on_standard_streams() {
    let setup = TestApp::with();
    for version in OLDER.into_iter().chain([NEWEST]) {
        let mut person = Person::start(&setup, &[], version);
        let listed = person.request("tools/list", json!({}));
        let all: Vec<&str> = OPERATIONS.iter().map(|entry| entry.id).collect();
        assert_eq!(names(&listed), all, "{version}");
        let file = json!({"zone": "storage", "path": "a.md", "content": version});
        let _ = person.request(
            "tools/call",
            json!({"name": "shed_create_file",
            "arguments": {"zone": "storage", "path": "b.md", "content": "b", "overwrite": true}}),
        );
        person.request(
            "tools/call",
            json!({"name": "shed_create_file", "arguments": file}),
        );
        let tree = person.done("shed_tree", &json!({"zone": "storage"}));
        assert!(tree.to_string().contains("a.md"), "{tree}");
        person.close();
        assert_eq!(person.wait(), Some(0));
    }
    // Beside a server it has the same files.
    let server = setup.start();
    let tree = server.call("shed_tree", &json!({"zone": "storage"}));
    assert!(tree.text.contains("a.md"), "{}", tree.text);
}

#[test]
fn each_toolset_has_its_tools() {
    let setup = TestApp::with();
    for (toolset, has, lacks) in [
        ("shed", "shed_hexdump", "run_command"),
        ("core", "shed_exec", "shed_hexdump"),
        ("fs", "output_file", "run_command"),
        ("terminal", "run_command", "shed_exec"),
    ] {
        let mut person = Person::start(&setup, &["--toolset", toolset], NEWEST);
        let names = names(&person.request("tools/list", json!({})));
        assert!(names.iter().any(|name| name == has), "{names:?}");
        assert!(!names.iter().any(|name| name == lacks), "{names:?}");
    }
    let refused = setup.run(&["mcp", "--toolset", "everything"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn the_end_of_the_input_ends_what_runs() {
    let setup = TestApp::with();
    let mark = format!("{}.5", 4_000_000 + std::process::id());
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": [mark], "timeout": 120});
    for signal in [false, true] {
        let mut person = Person::start(&setup, &[], NEWEST);
        let call = json!({"name": "shed_exec", "arguments": sleep});
        person.send("tools/call", call);
        wait_until("the command runs", || !running(&mark).is_empty());
        if signal {
            person.terminate();
        } else {
            person.close();
        }
        assert_eq!(person.wait(), Some(0));
        wait_until("the command is gone", || running(&mark).is_empty());
    }
}

#[test]
fn calls_that_a_script_pipes_in_are_answered() {
    let setup = TestApp::with();
    let mut person = Person::start(&setup, &[], "2025-06-18");
    let file = json!({"zone": "documents", "path": "a.md", "content": "a"});
    let call = json!({"name": "shed_create_file", "arguments": file});
    let id = person.send("tools/call", call);
    person.close();
    let answer = person.answer(id);
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(person.wait(), Some(0));
}

#[test]
fn calls_of_whoever_is_gone_are_answered() {
    let file = json!({"zone": "storage", "path": "a.md", "content": "a"});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "shed_create_file", "arguments": file,
        }}),
    ];
    let lines = messages.map(|message| format!("{message}\n")).concat();
    // A file, and a pipe whose writer has ended.
    for script in [
        "exec \"$0\" \"$@\" <calls",
        "cat calls | (sleep 0.2; exec \"$0\" \"$@\")",
    ] {
        let setup = TestApp::with().file("calls", &lines);
        let finished = setup.through(&["sh", "-c", script]).run(&["mcp"]);
        let mut answers = finished.stdout.lines();
        let answer: Value = serde_json::from_str(answers.next_back().unwrap()).unwrap();
        assert_eq!(answer["id"], 2, "{script} {answer}");
        assert_eq!(answer["result"]["isError"], false, "{script} {answer}");
    }
}

#[test]
fn a_cancelled_call_ends_its_command() {
    let setup = TestApp::with();
    let mark = format!("{}.6", 4_000_000 + std::process::id());
    let mut person = Person::start(&setup, &[], "2025-11-25");
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": [mark], "timeout": 120});
    let params = json!({
        "name": "shed_exec", "arguments": sleep, "_meta": {"progressToken": "p"},
    });
    let id = person.send("tools/call", params);
    wait_until("the command runs", || !running(&mark).is_empty());
    // A client that sent a progress token hears that the command still runs.
    let progress = person.until(|message| message["method"] == "notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "p");
    assert!(progress["params"]["progress"].as_f64().unwrap() >= 1.0);
    let cancelled = json!({"requestId": id, "reason": "enough"});
    person.notify("notifications/cancelled", &cancelled);
    wait_until("the command is gone", || running(&mark).is_empty());
    person.done("shed_stats", &json!({}));
}

#[test]
fn standard_output_has_messages_alone() {
    let setup = TestApp::with().env("FILESHED_LOG_LEVEL", "trace");
    let mut person = Person::start(&setup, &[], "2025-06-18");
    // `next` fails on a line that is no message.
    person.done("shed_stats", &json!({}));
    person.request(
        "tools/call",
        json!({"name": "shed_exec", "arguments": {"zone": "storage", "cmd": "nosuch"}}),
    );
    let log = person.log();
    assert!(log.contains("INFO") || log.contains("TRACE"), "{log}");
}

#[test]
fn a_directory_to_begin_in_has_configuration_and_data() {
    let setup = TestApp::with();
    let place = setup.path("place");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(
        place.join("fileshed.toml"),
        "storage_base_path = \"./mine\"\n",
    )
    .unwrap();
    let cwd = place.to_str().unwrap();
    let mut person = Person::start(&setup, &["--cwd", cwd], NEWEST);
    let file = json!({"zone": "storage", "path": "a.md", "content": "a"});
    person.done("shed_create_file", &file);
    assert!(place.join("mine/shared/Storage/data/a.md").exists());
    let missing = setup.run(&["mcp", "--cwd", "/none"]);
    assert_eq!(missing.code, Some(1));
    assert!(
        missing
            .stderr
            .contains("cannot change to the directory `/none`"),
        "{missing:?}"
    );
}

#[test]
fn whose_files_it_has_is_said_where_everybody_has_their_own() {
    let setup = TestApp::with().env("FILESHED_API_KEYS", "service-key");
    let refused = setup.run(&["mcp"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    assert!(refused.stderr.contains("--user <id>"), "{refused:?}");
    let mut person = Person::start(&setup, &["--user", "ada"], NEWEST);
    let file = json!({"zone": "storage", "path": "hers.md", "content": "a"});
    person.done("shed_create_file", &file);
    let server = setup.start();
    let tree = |user: &str| {
        let tree = server.as_user(user);
        tree.call("shed_tree", &json!({"zone": "storage"})).text
    };
    assert!(tree("ada").contains("hers.md"));
    assert!(!tree("bob").contains("hers.md"));
}

#[test]
fn an_address_can_be_served_instead_with_the_same_tools() {
    let setup = TestApp::with();
    for arguments in [
        &["mcp", "--port", "1"][..],
        &["mcp", "--transport", "streamable-http", "--user", "ada"],
    ] {
        assert_eq!(setup.run(arguments).code, Some(2), "{arguments:?}");
    }
    // Not for others without a credential.
    let open = [
        "mcp",
        "--transport",
        "streamable-http",
        "--host",
        "0.0.0.0",
        "--port",
        "0",
    ];
    let refused = setup.run(&open);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let server = Server::with().serving(&[
        "mcp",
        "--transport",
        "streamable-http",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--toolset",
        "core",
    ]);
    let peer = super::client::Peer::new(server.client());
    let listed = names(&peer.request("tools/list", &json!({})));
    assert!(
        !listed.iter().any(|name| name == "shed_hexdump"),
        "{listed:?}"
    );
    peer.done("shed_tree", &json!({"zone": "storage"}));
}
