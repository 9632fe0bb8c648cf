//! The compact tools of `/fs` as tools.

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

use super::client::Peer;

fn peer(server: &TestApp) -> Peer<'_> {
    Peer::new(server.client()).at("/mcp/fs")
}

#[track_caller]
fn done(peer: &Peer<'_>, tool: &str, arguments: &Value) -> Value {
    let result = peer.call(tool, arguments);
    assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
    result["structuredContent"].clone()
}

#[test]
fn models_have_the_nine_tools_with_their_answers() {
    let server = TestApp::start();
    let peer = peer(&server);
    let listed = peer.request("tools/list", &json!({}));
    let document = fileshed::http::fs::document::document();
    let paths = document["paths"].as_object().unwrap();
    for (tool, path) in listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .zip(paths.values())
    {
        let operation = &path["post"];
        assert_eq!(tool["name"], operation["operationId"]);
        assert_eq!(tool["description"], operation["description"]);
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        assert_eq!(tool["inputSchema"], *schema);
    }
    assert_eq!(listed["tools"].as_array().unwrap().len(), paths.len());
    let file = json!({"path": "a/b.md", "content": "one\n"});
    assert_eq!(done(&peer, "write_file", &file)["status"], "created");
    let read = json!({"path": "a/b.md"});
    let over_http = server
        .client()
        .send("POST", "/fs/read_file", read.to_string().as_bytes());
    assert_eq!(done(&peer, "read_file", &read), over_http.body);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    std::fs::write(server.data().join("shared/Storage/data/a.png"), png).unwrap();
    let shown = peer.call("read_file", &json!({"path": "a.png"}));
    assert_eq!(shown["content"][0]["type"], "image", "{shown}");
}

#[test]
fn what_fails_is_an_error_of_the_tool_in_the_same_words() {
    let server = TestApp::start();
    let peer = peer(&server);
    for path in ["none.md", "../../etc/passwd"] {
        let arguments = json!({"path": path});
        let result = peer.call("read_file", &arguments);
        assert_eq!(result["isError"], true, "{result}");
        let over_http =
            server
                .client()
                .send("POST", "/fs/read_file", arguments.to_string().as_bytes());
        assert_eq!(result["structuredContent"], over_http.body);
    }
}

#[test]
fn headers_narrow_what_a_request_sees() {
    let server = TestApp::start();
    done(
        &peer(&server),
        "write_file",
        &json!({"path": "in/a.md", "content": "1"}),
    );
    done(
        &peer(&server),
        "write_file",
        &json!({"path": "out.md", "content": "1"}),
    );
    let client = server.client().header("X-Fileshed-Workspace", "in");
    let narrow = Peer::new(client.header("X-Fileshed-Read-Only", "1")).at("/mcp/fs");
    let listed = done(&narrow, "list_files", &json!({}));
    assert!(
        listed.to_string().contains("a.md") && !listed.to_string().contains("out.md"),
        "{listed}"
    );
    let refused = narrow.call("write_file", &json!({"path": "b.md", "content": "1"}));
    assert_eq!(refused["isError"], true, "{refused}");
}

#[test]
fn tools_do_what_their_effect_says() {
    let server = TestApp::start();
    let peer = peer(&server);
    let listed = peer.request("tools/list", &json!({}));
    let content = || std::fs::read_to_string(server.data().join("shared/Storage/data/a.txt")).ok();
    let write = json!({"path": "a.txt", "content": "one\n"});
    done(&peer, "write_file", &write);
    for (tool, arguments, settles) in [
        ("read_file", json!({"path": "a.txt"}), true),
        ("list_files", json!({}), true),
        ("stat_file", json!({"path": "a.txt"}), true),
        ("glob_search", json!({"pattern": "*"}), true),
        ("grep_search", json!({"pattern": "one"}), true),
        ("output_file", json!({"path": "a.txt"}), false),
        (
            "edit_file",
            json!({"path": "a.txt", "old_string": "one", "new_string": "one one"}),
            false,
        ),
        ("write_file", write, true),
        ("remove_file", json!({"path": "a.txt"}), true),
    ] {
        let tools = listed["tools"].as_array().unwrap();
        let hints = &tools.iter().find(|one| one["name"] == tool).unwrap()["annotations"];
        let before = content();
        done(&peer, tool, &arguments);
        let after = content();
        // `output_file` changes no file, but makes a link, so it is not read-only.
        let reads = before == after && tool != "output_file";
        assert_eq!(hints["readOnlyHint"], reads, "{tool}");
        assert_eq!(hints["destructiveHint"], before != after, "{tool}");
        assert_eq!(hints["idempotentHint"], settles, "{tool}");
        assert_eq!(hints["openWorldHint"], tool == "output_file", "{tool}");
        if settles {
            peer.call(tool, &arguments);
            assert_eq!(content(), after, "{tool}");
        }
    }
}
