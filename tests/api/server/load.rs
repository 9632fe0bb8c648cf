//! Limits on what clients may use at once: memory, permits, connections.
//!
//! Memory is what the kernel reports of the server (`VmHWM`), against a bound well above its need; the
//! order of events shows which callers are answered while others wait.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use fileshed_test_support::on_disk::take_turn;
use fileshed_test_support::{PATIENCE, Server, Setup, has_program};

/// Most that the server may ever have held, in MiB.
const MEMORY_MAX: u64 = 450;

fn many_users() -> Setup {
    Server::with().env("FILESHED_API_KEYS", "service-key")
}

/// The most memory that the server has held so far, in MiB.
fn memory(server: &Server) -> u64 {
    let status = format!("/proc/{}/status", server.process().as_raw_nonzero());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kibibytes = line.and_then(|line| line.split_whitespace().nth(1));
    kibibytes.unwrap().parse::<u64>().unwrap() / 1024
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// The head of a call with these lines.
fn head(server: &Server, operation: &str, lines: &str) -> String {
    let address = server.address();
    format!("POST /{operation} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{lines}\r\n")
}

fn as_user(user: &str) -> String {
    format!("Authorization: Bearer service-key\r\nX-OpenWebUI-User-Id: {user}\r\n")
}

/// Sends as much as is taken, then reads the answer: its status, 0 for none.
fn pour(mut stream: TcpStream, head: &str, body: &[u8]) -> u16 {
    let _ = stream.write_all(head.as_bytes());
    for piece in body.chunks(256 * 1024) {
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let status = answer
        .get(9..12)
        .and_then(|code| std::str::from_utf8(code).ok());
    status.and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// The same of so many clients at once.
fn pour_many(server: &Server, count: usize, head: &str, body: &[u8]) -> Vec<u16> {
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..count)
            .map(|_| scope.spawn(|| pour(connect(server), head, body)))
            .collect();
        senders
            .into_iter()
            .map(|sender| sender.join().unwrap())
            .collect()
    })
}

#[test]
fn bodies_wait_for_their_place_in_memory() {
    let server = many_users().start();
    let content = "x".repeat(60 << 20);
    let body = json!({"zone": "storage", "path": "a", "content": content}).to_string();
    let length = format!("Content-Length: {}\r\n", body.len());
    let token = server.run(&["token", "create", "--user", "bob", "--scope", "read"]);
    let reads = format!("Authorization: Bearer {}\r\n{length}", token.stdout.trim());
    // A caller without permission to write is refused before the body is read.
    let head_of_reader = head(&server, "shed_create_file", &reads);
    let answers = pour_many(&server, 6, &head_of_reader, body.as_bytes());
    assert!(
        answers.iter().all(|status| [0, 403].contains(status)),
        "{answers:?}"
    );
    let waits = format!("{reads}Expect: 100-continue\r\n");
    let status = pour(
        connect(&server),
        &head(&server, "shed_create_file", &waits),
        b"",
    );
    assert_eq!(status, 403);
    assert!(memory(&server) < 150, "{} MiB", memory(&server));
    // An operation without content refuses a large body from every caller.
    let writes = format!("{}{length}", as_user("ada"));
    let status = pour(
        connect(&server),
        &head(&server, "shed_tree", &writes),
        body.as_bytes(),
    );
    assert!([0, 413].contains(&status), "{status}");
    // Many that may come one after the other, or are told to come back.
    let head_of_writer = head(&server, "shed_create_file", &writes);
    let answers = pour_many(&server, 10, &head_of_writer, body.as_bytes());
    assert!(answers.contains(&200), "{answers:?}");
    assert!(
        answers
            .iter()
            .all(|status| [0, 200, 429, 503].contains(status)),
        "{answers:?}"
    );
    assert!(memory(&server) < MEMORY_MAX, "{} MiB", memory(&server));
}

#[test]
fn values_are_bounded_and_what_nobody_asked_for_is_not_kept() {
    let server = many_users().start();
    let many = "[],".repeat(5 << 20);
    for (operation, body, expected) in [
        // Unknown: skipped, and refused by its name.
        (
            "shed_patch_text",
            format!("{{\"zone\": \"storage\", \"path\": \"a\", \"content\": \"x\", \"x\": [{many}0]}}"),
            400,
        ),
        ("shed_patch_text", format!("{{\"content\": [{many}0]}}"), 413),
        ("shed_patch_text", format!("[{many}0]"), 400),
        ("shed_sqlite", format!("{{\"params\": [{}0]}}", "[],".repeat(3 << 20)), 413),
        // A list that is written as a text.
        (
            "shed_exec",
            json!({"zone": "storage", "cmd": "ls", "args": format!("[{}0]", "[],".repeat(300_000))}).to_string(),
            400,
        ),
    ] {
        let lines = format!("{}Content-Length: {}\r\n", as_user("ada"), body.len());
        let head = head(&server, operation, &lines);
        let answers = pour_many(&server, 3, &head, body.as_bytes());
        assert!(
            answers.iter().all(|status| [expected, 429, 503].contains(status)) && answers.contains(&expected),
            "{operation} {answers:?}"
        );
    }
    assert!(memory(&server) < MEMORY_MAX, "{} MiB", memory(&server));
}

#[test]
fn answers_that_nobody_reads_are_bounded() {
    let server = many_users().env("FILESHED_EXEC_MAX_PER_USER", "32").start();
    let ada = server.as_user("ada");
    let command =
        json!({"zone": "storage", "cmd": "seq", "args": ["900000"], "stdout_file": "long"});
    ada.call("shed_exec", &command).data();
    let control =
        json!({"zone": "storage", "cmd": "tr", "args": ["0-9\n", "\u{1}"], "stdout_file": "x"});
    let _whether_or_not = ada.call("shed_exec", &control);
    let body = json!({"zone": "storage", "cmd": "cat", "args": ["long"], "max_output": 5_000_000})
        .to_string();
    let lines = format!("{}Content-Length: {}\r\n", as_user("ada"), body.len());
    let request = head(&server, "shed_exec", &lines) + &body;
    let mut open: Vec<TcpStream> = Vec::new();
    for _ in 0..60 {
        let mut stream = connect(&server);
        stream.write_all(request.as_bytes()).unwrap();
        open.push(stream);
    }
    // Each answer has begun, or is a refusal to try again later; no client reads on.
    let mut last_begun = None;
    for (number, stream) in open.iter_mut().enumerate() {
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        if start.ends_with(b"200") {
            last_begun = Some(number);
        }
    }
    // The first may be cut soon, as those are who take nothing for long.
    let last_begun = last_begun.unwrap();
    assert!(memory(&server) < MEMORY_MAX, "{} MiB", memory(&server));
    // Another user is served meanwhile.
    let bob = server.as_user("bob");
    let file = json!({"zone": "storage", "path": "a", "content": "x"});
    bob.call("shed_create_file", &file).data();
    let command = json!({"zone": "storage", "cmd": "ls"});
    bob.call("shed_exec", &command).data();
    // An answer that is read is whole.
    let mut last = Vec::new();
    let mut stream = open.swap_remove(last_begun);
    drop(open);
    stream.read_to_end(&mut last).unwrap();
    assert!(last.ends_with(b"}"), "{} bytes", last.len());
}

#[test]
fn wildcards_are_bounded_over_all_arguments() {
    let server = Server::start();
    let data = server.data().join("shared/Storage/data");
    let first = json!({"zone": "storage", "path": "f", "content": "x"});
    server.call("shed_create_file", &first).data();
    for number in 0..3000 {
        std::fs::write(data.join(format!("f{number}")), "").unwrap();
    }
    let ls = |patterns: usize| {
        let args = vec!["f*"; patterns];
        server.call(
            "shed_exec",
            &json!({"zone": "storage", "cmd": "ls", "args": args}),
        )
    };
    assert_eq!(
        ls(1).data()["stdout"].as_str().unwrap().lines().count(),
        3001
    );
    let refused = ls(1500);
    refused.refused(400, "INVALID_PARAMETER");
    assert_eq!(refused.body["error"]["details"]["parameter"], "args");
    assert!(memory(&server) < 150, "{} MiB", memory(&server));
    // The time of a call holds, too: these stand for nothing, and take long to find it.
    let pattern = format!("{}z", "*[f0-9]".repeat(120));
    let args = vec![pattern; 1000];
    let slow = json!({"zone": "storage", "cmd": "ls", "args": args, "timeout": 1});
    server.call("shed_exec", &slow).refused(504, "TIMEOUT");
}

/// Takes the write lock of a zone as another process would, so that writers wait; `None` if the lock is not
/// a file.
pub(super) fn hold(server: &Server, user: &str, zone: &str) -> Option<std::fs::File> {
    let file = json!({"zone": zone, "path": "made", "content": "x"});
    let request = format!("{user}-makes-{zone}");
    server
        .as_user(user)
        .header("X-Request-Id", &request)
        .call("shed_create_file", &file)
        .data();
    assert!(server.logged(&request));
    let namespace = server.log();
    let namespace = namespace
        .lines()
        .rfind(|line| line.contains(&request))
        .and_then(|line| line.split("users/").nth(1))
        .map(|rest| rest[..32].to_owned())
        .unwrap();
    let lock = server
        .data()
        .join(format!("users/{namespace}/staging/{zone}.lock"));
    take_turn(&lock)
}

#[test]
fn who_waits_for_a_zone_holds_nobody_up() {
    let server = many_users()
        .env("FILESHED_MAX_CONCURRENT_CALLS", "8")
        .start();
    let Some(lock) = hold(&server, "ada", "storage") else {
        return;
    };
    let write = |number: usize| {
        json!({"zone": "storage", "path": format!("{number}"), "content": "x"}).to_string()
    };
    let mut waiting: Vec<TcpStream> = (0..60)
        .map(|number| {
            let body = write(number);
            let lines = format!("{}Content-Length: {}\r\n", as_user("ada"), body.len());
            let mut stream = connect(&server);
            let request = head(&server, "shed_create_file", &lines) + &body;
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    // All of these are answered while those wait: by the calls' own zones, and ada's others.
    for round in 0..3 {
        for user in ["bob", "cid", "ada"] {
            let client = server.as_user(user);
            let zone = if user == "ada" {
                "documents"
            } else {
                "storage"
            };
            let file = json!({"zone": zone, "path": format!("{round}"), "content": "x"});
            client.call("shed_create_file", &file).data();
            client.call("shed_tree", &json!({"zone": zone})).data();
        }
    }
    // None of them was answered meanwhile, nor refused.
    for stream in &mut waiting {
        stream.set_nonblocking(true).unwrap();
        let read = stream.read(&mut [0; 1]);
        assert!(read.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock));
        stream.set_nonblocking(false).unwrap();
    }
    drop(lock);
    for mut stream in waiting {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[test]
fn a_command_waits_for_its_turn_among_commands() {
    let server = many_users().env("FILESHED_EXEC_MAX_PER_USER", "1").start();
    let ada = server.as_user("ada");
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..3)
            .map(|_| {
                let ada = ada.clone();
                scope.spawn(move || {
                    let command = json!({"zone": "storage", "cmd": "sleep", "args": ["0.05"]});
                    ada.call("shed_exec", &command)
                })
            })
            .collect();
        for call in calls {
            call.join().unwrap().data();
        }
    });
}

/// Starts a server with few descriptors; `None` if they cannot be limited.
fn with_few_descriptors(setup: Setup) -> Option<Server> {
    if !has_program("prlimit") {
        return None;
    }
    Some(
        setup
            .through(&["/usr/bin/prlimit", "--nofile=256:256"])
            .start(),
    )
}

#[test]
fn idle_connections_make_room_for_calls() {
    let Some(server) = with_few_descriptors(many_users()) else {
        return;
    };
    let ada = server.as_user("ada");
    let file = json!({"zone": "storage", "path": "a", "content": "x"});
    ada.call("shed_create_file", &file).data();
    let mut open = Vec::new();
    for number in 0..400 {
        let mut stream = connect(&server);
        match number % 3 {
            0 => {}
            // Half a head.
            1 => drop(stream.write_all(b"GET /health HTTP/1.1\r\nHost: x")),
            // A whole request, and then nothing more.
            _ => {
                let request = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", server.address());
                drop(stream.write_all(request.as_bytes()));
                let _ = stream.read(&mut [0; 64]);
            }
        }
        open.push(stream);
        if number % 50 == 49 {
            ada.call("shed_create_file", &file).data();
            ada.call("shed_tree", &json!({"zone": "storage"})).data();
        }
    }
    // Half of the descriptors.
    let held = held_connections(&server);
    assert!((64..=128).contains(&held), "{held}");
}

/// Connections over IPv4 that the server has not ended; `/proc/<pid>/fd` is root's alone.
fn held_connections(server: &Server) -> usize {
    const ESTABLISHED: &str = "01";
    const CLOSE_WAIT: &str = "08";
    let (_, port) = server.address().rsplit_once(':').unwrap();
    let port = format!(":{:04X}", port.parse::<u16>().unwrap());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let is_held = |line: &&str| {
        let mut words = line.split_whitespace().skip(1);
        let local = words.next().unwrap();
        local.ends_with(&port) && [ESTABLISHED, CLOSE_WAIT].contains(&words.nth(1).unwrap())
    };
    table.lines().skip(1).filter(is_held).count()
}

#[test]
fn the_soft_limit_of_descriptors_is_raised() {
    if !has_program("prlimit") {
        return;
    }
    let server = Server::with()
        .through(&["/usr/bin/prlimit", "--nofile=100:300"])
        .start();
    let limits = format!("/proc/{}/limits", server.process().as_raw_nonzero());
    let limits = std::fs::read_to_string(limits).unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let mut words = line.unwrap().split_whitespace().skip(3);
    assert_eq!((words.next(), words.next()), (Some("300"), Some("300")));
}

#[test]
fn heads_and_bodies_that_never_end_do() {
    let server = Server::start();
    // No head: ten seconds, counted from the first.
    let mut silent = connect(&server);
    let mut drips = connect(&server);
    drips.write_all(b"GET /hea").unwrap();
    for stream in [&mut silent, &mut drips] {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    }
    assert_eq!(server.client().get("/health").status, 200);
}

#[test]
fn odd_requests_get_an_answer_or_an_end() {
    let server = Server::start();
    let host = server.address().to_owned();
    let request = |rest: &str| format!("POST /shed_parameters HTTP/1.1\r\nHost: {host}\r\n{rest}");
    for (odd, expected) in [
        // Chunks with extensions, a few and far too many.
        (
            request(
                "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\n\r\n",
            ),
            "HTTP/1.1 200",
        ),
        (
            request(&format!(
                "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2;{}\r\n{{}}\r\n0\r\n\r\n",
                "x".repeat(1 << 20)
            )),
            "HTTP/1.1 400",
        ),
        (
            request(
                "Connection: close\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
            ),
            "HTTP/1.1 ",
        ),
        (
            request("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
            "HTTP/1.1 400",
        ),
        (
            request("Connection: close\r\nContent-Length: 99999999999999\r\n\r\n"),
            "HTTP/1.1 413",
        ),
    ] {
        let answer = server.raw(odd.as_bytes());
        let start: String = odd.chars().take(200).collect();
        assert!(answer.starts_with(expected), "{start}\n{answer}");
    }
    // Many at once on one connection come back in order.
    let one = request("Content-Length: 2\r\n\r\n{}");
    let last = request("Connection: close\r\nContent-Length: 2\r\n\r\n{}");
    let answer = server.raw((one.repeat(50) + &last).as_bytes());
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 51);
    assert_eq!(server.call("shed_parameters", &Value::Null).status, 200);
}
