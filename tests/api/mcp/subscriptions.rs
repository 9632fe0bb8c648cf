//! Clients that hear that a resource has changed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use fileshed_test_support::{Server, TestApp, eventually, wait_until};
use serde_json::{Value, json};

use super::client::{NEWEST, Peer};
use super::person::Person;
use crate::ops::stage::small;

/// A stream of messages that was asked for.
struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Begins to listen for these.
    fn open(peer: &Peer<'_>, uris: &[&str]) -> Self {
        let params = json!({"notifications": {"resourceSubscriptions": uris}});
        Self(BufReader::new(peer.begin("subscriptions/listen", &params)))
    }

    /// Returns the next message; `None` if the stream has ended.
    fn next(&mut self) -> Option<Value> {
        eventually("a message comes", || {
            let mut line = String::new();
            let is_over = self.0.read_line(&mut line).expect("in time") == 0;
            let data = line.strip_prefix("data:").unwrap_or(&line);
            match serde_json::from_str(data.trim()) {
                Ok(message @ Value::Object(_)) => Some(Some(message)),
                _ => (is_over || line.trim() == "0").then_some(None),
            }
        })
    }

    /// The addresses that are accepted.
    fn accepted(&mut self) -> Value {
        let message = self.next().expect("an answer");
        assert_eq!(
            message["method"], "notifications/subscriptions/acknowledged",
            "{message}"
        );
        message["params"]["notifications"]["resourceSubscriptions"].clone()
    }

    /// The address that has changed next.
    fn changed(&mut self) -> String {
        let message = self.next().expect("a change");
        assert_eq!(
            message["method"], "notifications/resources/updated",
            "{message}"
        );
        message["params"]["uri"].as_str().unwrap().to_owned()
    }
}

fn create(peer: &Peer<'_>, zone: &str, path: &str, content: &str) {
    let mut file = json!({"zone": zone, "path": path, "content": content});
    if zone == "group" {
        file["group"] = "team".into();
    }
    peer.done("shed_create_file", &file);
}

#[test]
fn a_change_by_anybody_is_told() {
    let server = small().start();
    let ada = Peer::new(server.as_user("ada"));
    create(&ada, "storage", "a.md", "1");
    create(&ada, "storage", "c.md", "1");
    let uris = [
        "fileshed://storage/a.md",
        "fileshed://storage/b.md",
        "fileshed://storage/",
        "file:///etc/passwd",
    ];
    let mut stream = Stream::open(&ada, &uris);
    assert_eq!(stream.accepted(), json!(uris[..3]));
    // By an operation, by a command, and by hand.
    create(&ada, "storage", "a.md", "2");
    let mut told = vec![stream.changed(), stream.changed()];
    told.sort();
    assert_eq!(told, [uris[2], uris[0]]);
    ada.done(
        "shed_exec",
        &json!({"zone": "storage", "cmd": "touch", "args": ["b.md"]}),
    );
    let mut told = vec![stream.changed(), stream.changed()];
    told.sort();
    assert_eq!(told, [uris[2], uris[1]]);
    let data = server.data().join("users").join("ada");
    // In one step, which is one change however soon it is seen.
    let path = data.join("Storage/data/a.md");
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all(b"3").unwrap();
    drop(file);
    assert_eq!(stream.changed(), uris[0]);
    // Changes of another user's files of the same names are not reported: the next change is the caller's
    // own.
    let bob = Peer::new(server.as_user("bob"));
    create(&bob, "storage", "a.md", "bob's");
    create(&ada, "storage", "c.md", "2");
    assert_eq!(stream.changed(), uris[2]);
    // Changes of a group's files are reported to its members.
    let crew = |user: &str| Peer::new(server.as_member(user, "crew"));
    let (ada, bob) = (crew("ada"), crew("bob"));
    let mut stream = Stream::open(&ada, &["fileshed://group/team/plan.md"]);
    stream.accepted();
    create(&bob, "group", "plan.md", "by bob");
    assert_eq!(stream.changed(), "fileshed://group/team/plan.md");
}

#[test]
fn a_change_right_after_the_answer_is_told() {
    let server = Server::with_key();
    let many: Vec<String> = (0..64)
        .map(|number| format!("fileshed://storage/{number}"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    // Those who look at much keep a look waiting.
    let busy: Vec<Peer<'_>> = (0..2)
        .map(|number| Peer::new(server.as_user(&format!("busy-{number}"))))
        .collect();
    let _streams: Vec<Stream> = busy
        .iter()
        .flat_map(|peer| std::iter::repeat_with(|| Stream::open(peer, &many)).take(8))
        .collect();
    let ada = Peer::new(server.as_user("ada"));
    create(&ada, "storage", "a.md", "0");
    for number in 1..6 {
        let mut stream = Stream::open(&ada, &["fileshed://storage/a.md"]);
        stream.accepted();
        create(&ada, "storage", "a.md", &number.to_string());
        assert_eq!(stream.changed(), "fileshed://storage/a.md");
    }
}

#[test]
fn a_stream_ends_with_its_credential_and_with_the_server() {
    let mut server = TestApp::with().env("FILESHED_NAMESPACE", "plain").start();
    let made = server.run(&["token", "create", "--user", "ada"]);
    let token = made.stdout.trim().to_owned();
    let ada = Peer::new(server.with_token(&token));
    create(&ada, "storage", "a.md", "1");
    let mut stream = Stream::open(&ada, &["fileshed://storage/a.md"]);
    stream.accepted();
    let ended = server.run(&["user", "end", "--user", "ada"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let file = server.data().join("users/ada/Storage/data/a.md");
    std::fs::write(file, "2").unwrap();
    let last = stream.next().expect("an end");
    assert!(
        last["method"].is_null() && !last["error"].is_null(),
        "{last}"
    );
    let shared = Peer::new(server.client());
    let mut stream = Stream::open(&shared, &["fileshed://storage/"]);
    stream.accepted();
    server.terminate();
    let last = stream.next().expect("an end");
    assert!(
        last["error"].is_null() && !last["result"].is_null(),
        "{last}"
    );
    drop(stream);
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn subscriptions_of_one_user_are_bounded() {
    let server = Server::with_key();
    let ada = Peer::new(server.as_user("ada"));
    let many: Vec<String> = (0..100)
        .map(|number| format!("fileshed://storage/{number}"))
        .collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut streams: Vec<Stream> = (0..8).map(|_| Stream::open(&ada, &many)).collect();
    for stream in &mut streams {
        assert_eq!(stream.accepted().as_array().unwrap().len(), 64);
    }
    let mut refused = Stream::open(&ada, &many);
    refused.accepted();
    let refused = refused.next().expect("a refusal");
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("8 subscriptions"),
        "{refused}"
    );
    // Others have theirs, and calls have their places.
    let bob = Peer::new(server.as_user("bob"));
    Stream::open(&bob, &many).accepted();
    create(&ada, "storage", "x.md", "1");
    // A stream that ends makes room for another.
    drop(streams);
    let mut round = 0;
    wait_until("there is room", || {
        round += 1;
        let mut stream = Stream::open(&ada, &["fileshed://storage/y.md"]);
        stream.accepted();
        create(&ada, "storage", "y.md", &round.to_string());
        stream
            .next()
            .is_some_and(|message| message["error"].is_null())
    });
}

#[test]
fn streams_and_waits_hold_no_place_of_calls() {
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_MAX_CONCURRENT_CALLS", "2")
        .start();
    let users: Vec<String> = (0..4).map(|number| format!("user-{number}")).collect();
    let mut streams = Vec::new();
    let mut waits = Vec::new();
    for user in &users {
        let peer = Peer::new(server.as_user(user));
        let mut stream = Stream::open(&peer, &["fileshed://storage/a.md"]);
        stream.accepted();
        streams.push(stream);
        let peer = Peer::new(server.as_user(user)).at("/mcp/terminal");
        let started = peer.call(
            "run_command",
            &json!({"command": format!("sleep {}.7", 5_000_000 + std::process::id())}),
        );
        let text = started["content"][0]["text"].as_str().unwrap();
        let started: Value = serde_json::from_str(text).unwrap();
        let wait = json!({"process_id": started["id"], "wait": 300});
        let call = json!({"name": "get_process_status", "arguments": wait});
        waits.push(peer.begin("tools/call", &call));
    }
    create(
        &Peer::new(server.as_user("another")),
        "storage",
        "a.md",
        "1",
    );
    // A wait that nobody waits for any more has ended as well.
    drop(waits);
    for user in &users {
        create(&Peer::new(server.as_user(user)), "storage", "a.md", "1");
    }
    for stream in &mut streams {
        assert_eq!(stream.changed(), "fileshed://storage/a.md");
    }
}

#[test]
fn a_change_right_after_the_answer_is_told_on_standard_streams() {
    let setup = TestApp::with();
    let mut person = Person::start(&setup, &[], NEWEST);
    let file = json!({"zone": "storage", "path": "a.md", "content": "0"});
    person.done("shed_create_file", &file);
    let path = setup.path("data/shared/Storage/data/a.md");
    let uri = "fileshed://storage/a.md";
    // With more to look at, a look takes longer.
    let uris: Vec<String> = (0..63)
        .map(|number| format!("fileshed://storage/{number}"))
        .chain([uri.to_owned()])
        .collect();
    let params = json!({"notifications": {"resourceSubscriptions": uris}});
    for round in 0..20 {
        let id = person.send("subscriptions/listen", params.clone());
        person.until(|message| message["method"] == "notifications/subscriptions/acknowledged");
        std::fs::write(&path, format!("{round} by hand")).unwrap();
        let told = person.until(|message| message["method"] == "notifications/resources/updated");
        assert_eq!(told["params"]["uri"], uri);
        person.notify("notifications/cancelled", &json!({"requestId": id}));
    }
}

#[test]
fn older_clients_subscribe_on_standard_streams() {
    let setup = TestApp::with();
    let mut person = Person::start(&setup, &[], "2025-06-18");
    let uri = "fileshed://storage/a.md";
    person.request("resources/subscribe", json!({"uri": uri}));
    person.done(
        "shed_create_file",
        &json!({"zone": "storage", "path": "a.md", "content": "1"}),
    );
    let told = person.until(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri);
    // By another process, too.
    let server = setup.start();
    let file = json!({"zone": "storage", "path": "a.md", "content": "2"});
    server.call("shed_create_file", &file).data();
    let told = person.until(|message| message["method"] == "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], uri);
    person.request("resources/unsubscribe", json!({"uri": uri}));
    for number in 0..64 {
        person.request(
            "resources/subscribe",
            json!({"uri": format!("fileshed://storage/{number}")}),
        );
    }
    let id = person.send("resources/subscribe", json!({"uri": uri}));
    let refused = person.answer(id);
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("64"),
        "{refused}"
    );
    // Over HTTP there is no stream for them, and they are told so.
    let older = Peer::new(server.client()).speaking("2025-06-18");
    let begun = older.request("initialize", &json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }));
    assert!(
        begun["capabilities"]["resources"]["subscribe"].is_null(),
        "{begun}"
    );
    let refused = older.refused("resources/subscribe", &json!({"uri": uri}));
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("subscriptions/listen"),
        "{refused}"
    );
}
