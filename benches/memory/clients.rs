//! Memory and descriptors that remain after many calls and many clients: none.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use fileshed_test_support::processes::resident;
use fileshed_test_support::{PATIENCE, Server, wait_until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

const CALLS: usize = 10_000;
const CLIENTS: usize = 1_000;

/// Growth that the server may have.
const GROWTH: u64 = 16 << 20;

/// Threads that call at the same time.
const THREADS: usize = 8;

/// A client with a connection of its own, which stays open.
struct Connected {
    stream: BufReader<TcpStream>,
    address: String,
    user: String,
}

impl Connected {
    fn to(server: &Server, user: usize) -> Self {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream: BufReader::new(stream),
            address: server.address().to_owned(),
            user: format!("user{user}"),
        }
    }

    /// The result of a request in a revision that begins with `initialize`.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer service-key\r\n\
             X-OpenWebUI-User-Id: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.user,
            body.len()
        );
        let stream = self.stream.get_mut();
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .unwrap();
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "it hung up");
            let line = line.trim().to_lowercase();
            if let Some(given) = line.strip_prefix("content-length:") {
                length = given.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        self.stream.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self) {
        let call = json!({"name": "shed_help", "arguments": {"howto": "paths"}});
        let result = self.request("tools/call", &call);
        assert_eq!(result["isError"], false, "{result}");
    }

    fn begin(&mut self) {
        let begun = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"},
        });
        self.request("initialize", &begun);
    }
}

/// So many calls of a few users.
fn calls(server: &Server, count: usize) {
    std::thread::scope(|scope| {
        for user in 0..THREADS {
            scope.spawn(move || {
                let mut client = Connected::to(server, user);
                (0..count / THREADS).for_each(|_| client.call());
            });
        }
    });
}

/// So many clients that are there at the same time and do what clients do.
fn clients(server: &Server, count: usize) {
    // Each client asks at once, because a connection that is silent for seconds is closed.
    let share = count.div_ceil(THREADS);
    let begin = |number: usize| {
        let mut client = Connected::to(server, number % 50);
        client.begin();
        client
    };
    let mut all: Vec<Connected> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| (0..share).map(begin).collect::<Vec<_>>()))
            .collect();
        let clients = threads.into_iter().map(|thread| thread.join().unwrap());
        clients.flatten().collect()
    });
    for step in [
        |client: &mut Connected| drop(client.request("tools/list", &json!({}))),
        Connected::call,
    ] {
        std::thread::scope(|scope| {
            for some in all.chunks_mut(share) {
                scope.spawn(move || some.iter_mut().for_each(step));
            }
        });
    }
}

/// Ten thousand calls and a thousand clients leave memory and descriptors where they were.
pub(super) fn measure() -> bool {
    let limit = getrlimit(Resource::Nofile);
    if limit.maximum.is_some_and(|most| most < 4 * CLIENTS as u64) {
        println!("SKIP: a thousand clients: too few files may be open here");
        return true;
    }
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap();
    let server = Server::with_key();
    let process = server.process().as_raw_nonzero().get();
    let open = || {
        std::fs::read_dir(format!("/proc/{process}/fd"))
            .unwrap()
            .count()
    };
    // Resources that are created once exist before the measurement.
    calls(&server, CALLS / 10);
    clients(&server, CLIENTS / 10);
    let (descriptors, before) = (open(), resident(process));
    calls(&server, CALLS);
    clients(&server, CLIENTS);
    wait_until("connections are closed", || open() <= descriptors + 5);
    // Memory of finished work is released once the server has rested.
    let most = before + GROWTH;
    wait_until("memory is where it was", || resident(process) < most);
    println!(
        "{CALLS} calls and {CLIENTS} clients: {} MB before, {} MB after",
        before >> 20,
        resident(process) >> 20
    );
    true
}
