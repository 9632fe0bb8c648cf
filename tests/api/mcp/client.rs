//! A client of the protocol that sees what is sent.

use std::cell::Cell;
use std::io::Write as _;
use std::net::TcpStream;

use fileshed_test_support::{Answer, Client, PATIENCE};
use serde_json::{Value, json};

/// The revision without sessions.
pub(super) const NEWEST: &str = "2026-07-28";

/// The revisions before it, which begin with `initialize`.
pub(super) const OLDER: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The headers that a request may have.
const HEADERS: [&str; 11] = [
    "Prefer",
    "Content-Type",
    "Accept",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Authorization",
    "X-OpenWebUI-User-Id",
    "X-OpenWebUI-User-Group-Ids",
    "X-OpenWebUI-User-Groups",
    "X-OpenWebUI-Chat-Id",
];

/// A client that speaks one revision at one path.
pub(crate) struct Peer<'a> {
    client: Client<'a>,
    path: &'static str,
    version: &'static str,
    sent: Cell<u64>,
}

impl<'a> Peer<'a> {
    /// One that reads answers as programs do, whole and with their schemas.
    pub(crate) fn new(client: Client<'a>) -> Self {
        Self::of_model(client.header("Prefer", "return=representation"))
    }

    /// One that asks for no form of the answers, as those do whose answers a model reads.
    pub(crate) fn of_model(client: Client<'a>) -> Self {
        Self {
            client: client
                .header("Content-Type", "application/json")
                .header("Accept", "application/json, text/event-stream"),
            path: "/mcp",
            version: NEWEST,
            sent: Cell::new(0),
        }
    }

    /// At another address.
    pub(crate) fn at(self, path: &'static str) -> Self {
        Self { path, ..self }
    }

    /// In another revision.
    pub(super) fn speaking(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    /// A request as it is sent: its headers and its text.
    fn message(&self, method: &str, params: &Value) -> (Client<'a>, String) {
        let mut params = params.clone();
        let mut client = self.client.clone();
        if method != "initialize" {
            client = client.header("MCP-Protocol-Version", self.version);
        }
        if self.version == NEWEST {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = self.version.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            params["_meta"]["io.modelcontextprotocol/clientInfo"] =
                json!({"name": "tests", "version": "1"});
            client = client.header("Mcp-Method", method);
            let name = params["name"].as_str().or(params["uri"].as_str());
            if let Some(name) = name.filter(|_| method != "completion/complete") {
                client = client.header("Mcp-Name", name);
            }
        }
        self.sent.set(self.sent.get() + 1);
        let request = json!({
            "jsonrpc": "2.0", "id": self.sent.get(), "method": method, "params": params,
        });
        (client, request.to_string())
    }

    /// Sends a request and gives the whole answer.
    pub(super) fn send(&self, method: &str, params: &Value) -> Answer {
        let (client, text) = self.message(method, params);
        client.send("POST", self.path, text.as_bytes())
    }

    /// Sends a request over a connection of its own, which ends with the value.
    pub(super) fn begin(&self, method: &str, params: &Value) -> TcpStream {
        let (client, text) = self.message(method, params);
        let mut head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n",
            self.path,
            client.server().address(),
            text.len()
        );
        for name in HEADERS {
            if let Some(value) = client.header_text(name) {
                head = format!("{head}{name}: {value}\r\n");
            }
        }
        let mut stream = TcpStream::connect(client.server().address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
            .write_all(format!("{head}\r\n{text}").as_bytes())
            .unwrap();
        stream
    }

    /// Sends a request and returns the messages of the answer: notifications first, the response last.
    pub(super) fn messages(&self, method: &str, params: &Value) -> Vec<Value> {
        let answer = self.send(method, params);
        if answer.header("content-type") == "application/json" {
            return vec![answer.body];
        }
        let data = answer
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let messages = data.filter_map(|data| serde_json::from_str(data.trim()).ok());
        messages.collect()
    }

    /// The result of a request that succeeds.
    #[track_caller]
    pub(crate) fn request(&self, method: &str, params: &Value) -> Value {
        let answer = self.messages(method, params).pop().expect("an answer");
        assert!(answer["error"].is_null(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request that the protocol refuses.
    #[track_caller]
    pub(super) fn refused(&self, method: &str, params: &Value) -> Value {
        let answer = self.messages(method, params).pop().expect("an answer");
        assert!(answer["result"].is_null(), "{method} {params}: {answer}");
        answer["error"].clone()
    }

    /// Calls a tool; the whole result.
    #[track_caller]
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// `data` of a call that succeeds.
    #[track_caller]
    pub(super) fn done(&self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        result["structuredContent"]["data"].clone()
    }
}
