//! Tools of the terminal that models are offered.

use fileshed::http::terminal::document::document;
use fileshed_test_support::commands::running;
use fileshed_test_support::{Server, TestApp, wait_until};
use serde_json::{Value, json};

use super::client::Peer;

fn peer(server: &TestApp) -> Peer<'_> {
    Peer::new(server.client()).at("/mcp/terminal")
}

/// The text of an answer, of a call that succeeds.
#[track_caller]
fn done(peer: &Peer<'_>, tool: &str, arguments: &Value) -> Value {
    let result = peer.call(tool, arguments);
    assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    serde_json::from_str(text).unwrap()
}

#[test]
fn models_have_the_tools_of_the_document() {
    let server = TestApp::start();
    let listed = peer(&server).request("tools/list", &json!({}));
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let operations = paths
        .values()
        .flat_map(|path| path.as_object().unwrap().values());
    let mut expected: Vec<&str> = operations
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect();
    let tools = listed["tools"].as_array().unwrap();
    let mut names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    expected.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, expected);
    let run = tools
        .iter()
        .find(|tool| tool["name"] == "run_command")
        .unwrap();
    assert!(run["description"].as_str().unwrap().contains("Installed:"));
    assert!(
        run["inputSchema"]["properties"]["stream"].is_null(),
        "{run}"
    );
}

#[test]
fn files_are_written_read_and_shown() {
    let server = TestApp::start();
    let peer = peer(&server);
    let file = json!({"path": "/documents/a.md", "content": "one\ntwo\n"});
    done(&peer, "write_file", &file);
    let read = done(
        &peer,
        "read_file",
        &json!({"path": "/documents/a.md", "start_line": 2}),
    );
    assert_eq!(read["content"], "two\n", "{read}");
    let found = done(&peer, "grep_search", &json!({"query": "two", "path": "/"}));
    assert!(found.to_string().contains("/documents/a.md"), "{found}");
    // The same bytes as over its own address: a picture is shown.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    std::fs::write(server.data().join("shared/Storage/data/a.png"), png).unwrap();
    let shown = peer.call("read_file", &json!({"path": "a.png"}));
    assert_eq!(shown["content"][0]["type"], "image", "{shown}");
    assert_eq!(shown["content"][0]["mimeType"], "image/png");
    let missing = peer.call("read_file", &json!({"path": "/storage/none.md"}));
    assert_eq!(missing["isError"], true, "{missing}");
    let text = missing["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("FILE_NOT_FOUND") && !text.contains("shed_"),
        "{text}"
    );
}

#[test]
fn a_command_that_is_waited_for_ends_with_its_client() {
    let server = Server::start();
    let peer = peer(&server);
    let ran = done(
        &peer,
        "run_command",
        &json!({"command": "echo hello", "wait": 20}),
    );
    assert!(ran.to_string().contains("hello"), "{ran}");
    let mark = format!("{}.7", 4_000_000 + std::process::id());
    let call = json!({"name": "run_command", "arguments": {"command": format!("exec sleep {mark}"), "wait": 100}});
    let connection = peer.begin("tools/call", &call);
    wait_until("the command runs", || !running(&mark).is_empty());
    drop(connection);
    wait_until("the command is gone", || running(&mark).is_empty());
    // A command goes on though no client waits for it.
    let begun = done(
        &peer,
        "run_command",
        &json!({"command": format!("exec sleep {mark}")}),
    );
    let id = begun["id"].as_str().unwrap();
    wait_until("the command runs", || !running(&mark).is_empty());
    done(&peer, "kill_process", &json!({"process_id": id}));
    wait_until("the command is gone", || running(&mark).is_empty());
}

#[test]
fn tools_do_what_their_effect_says() {
    let server = TestApp::start();
    let peer = peer(&server);
    let listed = peer.request("tools/list", &json!({}));
    let hints = |name: &str| {
        let tools = listed["tools"].as_array().unwrap();
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        tool["annotations"].clone()
    };
    let content = || std::fs::read_to_string(server.data().join("shared/Storage/data/a.txt"));
    let write = json!({"path": "a.txt", "content": "one one\n"});
    for (tool, arguments, reads) in [
        ("write_file", write.clone(), false),
        ("read_file", json!({"path": "a.txt"}), true),
        ("list_files", json!({}), true),
        ("grep_search", json!({"query": "one"}), true),
        ("glob_search", json!({"pattern": "*"}), true),
        ("display_file", json!({"path": "a.txt"}), true),
        ("list_processes", json!({}), true),
        (
            "replace_file_content",
            json!({"path": "a.txt", "replacements": [{"target": "one one", "replacement": "two"}]}),
            false,
        ),
        (
            "run_command",
            json!({"command": "echo three > a.txt", "wait": 20}),
            false,
        ),
    ] {
        let before = content().ok();
        done(&peer, tool, &arguments);
        assert_eq!(hints(tool)["readOnlyHint"], reads, "{tool}");
        assert_eq!(before == content().ok(), reads, "{tool}");
        let destroys = !reads;
        assert_eq!(hints(tool)["destructiveHint"], destroys, "{tool}");
    }
    done(&peer, "write_file", &write);
    done(&peer, "write_file", &write);
    assert_eq!(hints("write_file")["idempotentHint"], true);
    for tool in [
        "run_command",
        "send_process_input",
        "send_user_terminal_input",
        "replace_file_content",
    ] {
        assert_eq!(hints(tool)["idempotentHint"], false, "{tool}");
    }
    for tool in ["run_command", "send_user_terminal_input"] {
        assert_eq!(hints(tool)["openWorldHint"], true, "{tool}");
    }
    assert_eq!(hints("kill_process")["destructiveHint"], true);
}

#[test]
fn every_schema_is_one_that_strict_clients_read() {
    let app = fileshed_test_support::TestApp::start();
    for path in ["/mcp", "/mcp/core", "/mcp/fs", "/mcp/terminal"] {
        let listed = Peer::new(app.client())
            .at(path)
            .request("tools/list", &json!({}));
        for tool in listed["tools"].as_array().expect("tools") {
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object", "{tool}");
            let properties = schema.get("properties");
            assert!(
                properties.is_none_or(serde_json::Value::is_object),
                "{tool}"
            );
        }
    }
}
