//! Operations as tools: the same names, schemas, texts and answers as over HTTP.

use std::collections::BTreeSet;

use fileshed::ops::OPERATIONS;
use serde_json::{Value, json};

use super::client::{NEWEST, OLDER, Peer};
use fileshed_test_support::{TestApp, has_program};

fn tools(peer: &Peer<'_>) -> Vec<Value> {
    let listed = peer.request("tools/list", &json!({}));
    assert!(listed["nextCursor"].is_null());
    listed["tools"].as_array().unwrap().clone()
}

#[test]
fn every_operation_is_a_tool_with_its_texts_and_schemas() {
    let server = TestApp::start();
    let listed = tools(&Peer::new(server.client()));
    assert_eq!(listed.len(), OPERATIONS.len());
    for (tool, entry) in listed.iter().zip(OPERATIONS) {
        assert_eq!(tool["name"], entry.id);
        assert_eq!(tool["title"], entry.summary);
        assert_eq!(tool["description"], entry.doc);
        assert_eq!(tool["inputSchema"], (entry.request_schema)());
        let answer = &tool["outputSchema"]["properties"];
        assert_eq!(answer["data"], (entry.response_schema)());
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], entry.effect.reads_only);
        assert_eq!(hints["destructiveHint"], entry.effect.destroys);
        assert_eq!(hints["idempotentHint"], entry.effect.settles);
        assert_eq!(hints["openWorldHint"], entry.effect.reaches_out);
    }
}

#[test]
fn the_small_toolset_has_an_address_of_its_own() {
    let server = TestApp::start();
    let peer = Peer::new(server.client()).at("/mcp/core");
    let listed = tools(&peer);
    let names: BTreeSet<&str> = listed
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let core = OPERATIONS.iter().filter(|entry| entry.core);
    assert_eq!(names, core.map(|entry| entry.id).collect());
    let error = peer.refused(
        "tools/call",
        &json!({"name": "shed_hexdump", "arguments": {}}),
    );
    assert_eq!(error["code"], -32_602, "{error}");
    // Hints name only what is offered.
    let refused = peer.call("shed_exec", &json!({"zone": "storage", "cmd": "python"}));
    assert_eq!(refused["isError"], true);
    assert!(
        !refused.to_string().contains("shed_allowed_commands"),
        "{refused}"
    );
}

#[test]
fn every_revision_is_spoken_at_one_address() {
    let server = TestApp::start();
    for version in OLDER {
        let peer = Peer::new(server.client()).speaking(version);
        let begun = peer.request(
            "initialize",
            &json!({
                "protocolVersion": version,
                "capabilities": {"roots": {"listChanged": true}},
                "clientInfo": {"name": "tests", "version": "1"},
            }),
        );
        assert_eq!(begun["protocolVersion"], version, "{begun}");
        assert_eq!(begun["serverInfo"]["name"], "fileshed");
        // A client that offers its directories reads that nobody looks at them.
        assert!(
            begun["instructions"].as_str().unwrap().contains("roots"),
            "{begun}"
        );
        assert_eq!(tools(&peer).len(), OPERATIONS.len());
        peer.done("shed_tree", &json!({"zone": "storage"}));
    }
    let peer = Peer::new(server.client());
    let found = peer.request("server/discover", &json!({}));
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(NEWEST)), "{found}");
    peer.done("shed_tree", &json!({"zone": "storage"}));
}

#[test]
fn answers_are_those_of_http() {
    let server = TestApp::start();
    let peer = Peer::new(server.client());
    let made = json!({"zone": "documents", "path": "a.md", "content": "one\n"});
    let data = peer.done("shed_create_file", &made);
    assert_eq!(data["created"], true, "{data}");
    let arguments = json!({"zone": "documents", "cmd": "cat", "args": ["a.md"]});
    let result = peer.call("shed_exec", &arguments);
    let mut over_http = server.call("shed_exec", &arguments).body;
    let mut structured = result["structuredContent"].clone();
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured);
    for answer in [&mut over_http, &mut structured] {
        answer["data"]["duration_ms"] = Value::Null;
    }
    assert_eq!(structured, over_http);
}

#[test]
fn failures_are_answers_of_the_tool_with_the_hint() {
    let server = TestApp::start();
    let peer = Peer::new(server.client());
    for (operation, arguments) in [
        (
            "shed_exec",
            json!({"zone": "storage", "cmd": "cat", "args": ["none.md"]}),
        ),
        ("shed_delete", json!({"zone": "storage", "path": "none.md"})),
        ("shed_delete", json!({"zone": "storage"})),
        (
            "shed_rename",
            json!({"zone": "attic", "old_path": "a", "new_path": "b"}),
        ),
        ("shed_tree", json!({"zone": "storage", "depth": "deep"})),
    ] {
        let over_http = server.call(operation, &arguments);
        let result = peer.call(operation, &arguments);
        assert_eq!(result["isError"], over_http.status != 200, "{result}");
        if over_http.status != 200 {
            assert_eq!(result["structuredContent"], over_http.body);
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), over_http.body);
        }
    }
    let error = peer.refused("tools/call", &json!({"name": "shed_tre", "arguments": {}}));
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("did you mean shed_tree?"),
        "{error}"
    );
}

#[test]
fn short_answers_are_text_alone() {
    let server = TestApp::start();
    let client = || server.client().header("Prefer", "return=minimal");
    let peer = Peer::of_model(server.client());
    assert!(
        tools(&peer)
            .iter()
            .all(|tool| tool["outputSchema"].is_null())
    );
    let arguments = json!({"zone": "storage", "cmd": "echo", "args": ["hello"]});
    let result = peer.call("shed_exec", &arguments);
    assert!(result["structuredContent"].is_null(), "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let text: Value = serde_json::from_str(text).unwrap();
    let over_http = client().post("shed_exec", arguments.to_string().as_bytes());
    assert_eq!(text, over_http.body);
    let result = peer.call("shed_delete", &json!({"zone": "storage", "path": "none"}));
    assert!(result["structuredContent"].is_null(), "{result}");
    assert_eq!(result["isError"], true);
}

#[test]
fn a_model_reads_an_answer_once_and_short() {
    let server = TestApp::start();
    let peer = Peer::of_model(server.client());
    for (tool, arguments, most) in [
        (
            "shed_create_file",
            json!({"zone": "storage", "path": "a.md", "content": "x"}),
            40,
        ),
        (
            "shed_link_create",
            json!({"zone": "storage", "path": "a.md"}),
            260,
        ),
        (
            "shed_exec",
            json!({"zone": "storage", "cmd": "echo", "args": ["hello"]}),
            30,
        ),
    ] {
        let result = peer.call(tool, &arguments);
        assert!(result["structuredContent"].is_null(), "{result}");
        assert_eq!(
            result["content"].as_array().map(Vec::len),
            Some(1),
            "{result}"
        );
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(
            text.len() <= most,
            "{tool}: {} characters: {text}",
            text.len()
        );
    }
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    std::fs::write(server.data().join("shared/Storage/data/a.png"), png).unwrap();
    let shown = peer.call("shed_read", &json!({"zone": "storage", "path": "a.png"}));
    assert_eq!(shown["content"][1]["type"], "image", "{shown}");
    for path in ["/mcp/fs", "/mcp/terminal"] {
        let peer = Peer::of_model(server.client()).at(path);
        let read = peer.call("read_file", &json!({"path": "a.md"}));
        assert!(read["structuredContent"].is_null(), "{read}");
        assert!(read["content"][0]["text"].is_string(), "{read}");
    }
}

#[test]
fn a_message_that_cannot_be_read_is_refused_before_it_costs_memory() {
    let server = TestApp::start();
    let client = server.client().header("Content-Type", "application/json");
    let answer = client.send("POST", "/mcp", b"{\"jsonrpc\": ");
    assert_eq!(
        (answer.status, &answer.body["error"]["code"]),
        (400, &json!(-32_700))
    );
    let many = format!("[{}]", vec!["[]"; 60_000].join(","));
    let call = format!(
        "{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {{\"a\": {many}}}}}"
    );
    client
        .send("POST", "/mcp", call.as_bytes())
        .refused(413, "BODY_TOO_LARGE");
    let answer = client.send("GET", "/mcp", b"");
    answer.refused(405, "METHOD_NOT_ALLOWED");
    assert_eq!(answer.header("allow"), "POST");
}

#[test]
fn a_picture_is_shown_to_the_model() {
    let server = TestApp::start();
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    let file = server.data().join("shared/Storage/data/a.png");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, png).unwrap();
    let peer = Peer::new(server.client());
    let shown = peer.call("shed_read", &json!({"zone": "storage", "path": "a.png"}));
    let picture = &shown["content"][1];
    assert_eq!(
        (&picture["type"], &picture["mimeType"]),
        (&json!("image"), &json!("image/png")),
        "{shown}"
    );
    assert_eq!(shown["structuredContent"]["data"]["mime_type"], "image/png");
}

#[test]
fn a_page_of_a_pdf_is_an_image() {
    let server = TestApp::start();
    let peer = Peer::new(server.client());
    if !has_program("pdftoppm") {
        return;
    }
    let storage = server.data().join("shared/Storage/data");
    let first = json!({"zone": "storage", "path": "a.md", "content": "x"});
    peer.call("shed_create_file", &first);
    let pdf = include_bytes!("../terminal/search/documents/scan.pdf");
    std::fs::write(storage.join("scan.pdf"), pdf).unwrap();
    let page = json!({"zone": "storage", "path": "scan.pdf", "page": 1});
    let shown = peer.call("shed_read", &page);
    let page = &shown["content"][1];
    assert_eq!(page["type"], "image", "{shown}");
    assert_eq!(page["mimeType"], "image/jpeg");
    assert_eq!(
        shown["structuredContent"]["data"]["mime_type"],
        "image/jpeg"
    );
}

/// By a service key as well as by the token of a user.
#[test]
fn calls_that_name_one_answer_are_taken_back_together() {
    let server = TestApp::with_key();
    let made = server.run(&["token", "create", "--user", "ada"]);
    let token = made.stdout.trim();
    for client in [server.as_user("ada"), server.with_token(token)] {
        let answering = |id: &str| {
            let client = client.clone().chat("one");
            Peer::new(client.header("X-OpenWebUI-Message-Id", id))
        };
        for path in ["a.md", "b.md"] {
            let file = json!({"zone": "storage", "path": path, "content": "x"});
            answering("m-1").done("shed_create_file", &file);
        }
        let undone = answering("m-2").done("shed_undo", &json!({"answer": "last"}));
        assert_eq!(undone["answer"], "m-1");
        assert_eq!(undone["count"], 2, "{undone}");
    }
}
