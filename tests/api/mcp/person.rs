//! A process of one person, and the program that speaks with it over its streams.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{self, Receiver};

use fileshed_test_support::{PATIENCE, Setup, eventually};
use serde_json::{Value, json};

use super::client::NEWEST;

/// Such a process. Everything that it writes to its output is a message.
pub(super) struct Person {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<String>,
    version: &'static str,
    sent: u64,
}

impl Person {
    /// Starts it in this revision.
    pub(super) fn start(setup: &Setup, arguments: &[&str], version: &'static str) -> Self {
        let mut child = setup.piped(&[&["mcp"], arguments].concat());
        let (sender, messages) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut person = Self {
            input: child.stdin.take(),
            child,
            messages,
            version,
            sent: 0,
        };
        if version != NEWEST {
            person.request(
                "initialize",
                json!({
                    "protocolVersion": version,
                    "capabilities": {},
                    "clientInfo": {"name": "tests", "version": "1"},
                }),
            );
            person.notify("notifications/initialized", &json!({}));
        }
        person
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Sends a notification.
    pub(super) fn notify(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and gives its id.
    pub(super) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.version == NEWEST {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = NEWEST.into();
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "tests", "version": "1"});
        }
        self.sent += 1;
        let id = self.sent;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message, which comes in time.
    #[track_caller]
    pub(super) fn next(&mut self) -> Value {
        let line = self.messages.recv_timeout(PATIENCE).expect("a message");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"))
    }

    /// Waits for the next message that fits.
    #[track_caller]
    pub(super) fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            if fits(&message) {
                return message;
            }
        }
    }

    /// The answer to a request that was sent.
    #[track_caller]
    pub(super) fn answer(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id)
    }

    /// The result of a request that succeeds.
    #[track_caller]
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.answer(id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// `data` of a call that succeeds.
    #[track_caller]
    pub(super) fn done(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.request("tools/call", params);
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        assert!(result["structuredContent"].is_null(), "{result}");
        let text = result["content"][0]["text"].as_str().expect("text");
        serde_json::from_str(text).expect("JSON")
    }

    /// Closes its input.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// Asks it to stop.
    pub(super) fn terminate(&self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    }

    /// Waits for its end: its exit code.
    pub(super) fn wait(&mut self) -> Option<i32> {
        let ended = || self.child.try_wait().unwrap();
        eventually("it ends", ended).code()
    }

    /// Ends the process and returns what it wrote to standard error.
    pub(super) fn log(&mut self) -> String {
        let mut log = String::new();
        let mut output = self.child.stderr.take().unwrap();
        let _ = self.child.kill();
        output.read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
