//! Processes and shells where several servers have the data: all of one user are on one of them, and
//! every other one sends on what is about them.

mod wiretap;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use fileshed_test_servers::Postgres;
use fileshed_test_support::{Answer, Client, PATIENCE, Server, TestApp, wait_until};
use serde_json::{Value, json};

use super::shell::{KEY, connect, open, proxy, setup, socket};
use crate::mcp::client::Peer;
use wiretap::Wiretap;

/// Two servers on the same data, if there is a database for them.
fn two() -> Option<(Server, Server)> {
    let first = setup()
        .env("FILESHED_REGISTRY", &Postgres::shared()?.database())
        .start();
    let second = first.again();
    Some((first, second))
}

fn execute(client: &Client<'_>, command: &str) -> String {
    let body = json!({"command": command}).to_string();
    let answer = client.send("POST", "/terminal/execute?wait=0", body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body["id"].as_str().unwrap().to_owned()
}

fn status(client: &Client<'_>, id: &str, query: &str) -> Value {
    let answer = client.get(&format!("/terminal/execute/{id}/status?{query}"));
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body
}

fn written(answer: &Value) -> String {
    let entries = answer["output"].as_array().unwrap().iter();
    entries
        .map(|entry| entry["data"].as_str().unwrap())
        .collect()
}

fn listed(client: &Client<'_>) -> Vec<(String, String)> {
    let answer = client.get("/terminal/execute");
    let listed = answer
        .body
        .as_array()
        .unwrap_or_else(|| panic!("{}", answer.text));
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    listed
        .iter()
        .map(|entry| (text(entry, "id"), text(entry, "status")))
        .collect()
}

fn ada(server: &TestApp) -> Client<'_> {
    proxy(server, "ada", "chat")
}

#[test]
fn a_process_is_seen_fed_and_ended_from_every_server() {
    let Some((first, second)) = two() else { return };
    let (here, there) = (ada(&first), ada(&second));
    let id = execute(
        &here,
        "while read line; do echo got $line; done; sleep 1000",
    );
    let runs = vec![(id.clone(), "running".to_owned())];
    assert_eq!(listed(&there), runs);
    let path = format!("/terminal/execute/{id}/input");
    let sent = there.send("POST", &path, br#"{"input": "one\\n"}"#);
    assert_eq!(sent.status, 200, "{}", sent.text);
    wait_until("what was sent arrived", || {
        written(&status(&there, &id, "wait=5")) == "got one\n"
    });
    // A model sees it, too, and a call that waits at one server hears of events at the other.
    let tools = Peer::new(second.as_user("ada")).at("/mcp/terminal");
    let seen = tools.call("get_process_status", &json!({"process_id": id}));
    assert!(seen.to_string().contains("got one"), "{seen}");
    // Another user has none, at either server.
    for server in [&first, &second] {
        let eve = proxy(server, "eve", "chat");
        assert!(listed(&eve).is_empty());
        assert_eq!(
            eve.get(&format!("/terminal/execute/{id}/status")).status,
            404
        );
    }
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| status(&there, &id, "offset=1&wait=60"));
        let ended = here.send("DELETE", &format!("/terminal/execute/{id}?force=true"), b"");
        assert_eq!(ended.body["status"], "killed", "{}", ended.text);
        assert_eq!(waits.join().unwrap()["status"], "killed");
    });
    // A new process starts on the server that runs the others, though the request came to the second
    // server.
    let next = execute(&there, "sleep 1000");
    assert_eq!(listed(&here).last().unwrap().0, next);
    let ended = there.send(
        "DELETE",
        &format!("/terminal/execute/{next}?force=true"),
        b"",
    );
    assert_eq!(ended.body["status"], "killed", "{}", ended.text);
}

#[test]
fn who_waits_for_another_server_holds_nobody_up() {
    let Some((first, _)) = two() else { return };
    let second = first.again_with("FILESHED_MAX_CONCURRENT_CALLS", "1");
    let id = execute(&ada(&first), "sleep 1000");
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| status(&ada(&second), &id, "wait=60")))
            .collect();
        // They all are at the first one by now, or wait for the one place that there is.
        let tree = second
            .as_user("eve")
            .call("shed_tree", &json!({"zone": "storage"}));
        tree.data();
        let path = format!("/terminal/execute/{id}?force=true");
        let ended = ada(&second).send("DELETE", &path, b"");
        assert_eq!(ended.body["status"], "killed", "{}", ended.text);
        for answer in waiting {
            assert_eq!(answer.join().unwrap()["status"], "killed");
        }
    });
}

#[test]
fn an_answer_that_streams_comes_through_as_it_is_written() {
    let Some((first, second)) = two() else { return };
    let begun = execute(&ada(&first), "sleep 1000");
    let body = json!({"command": "echo one; sleep 1; echo two"}).to_string();
    let answer = ada(&second).send("POST", "/terminal/execute?stream=true", body.as_bytes());
    let lines: Vec<Value> = answer
        .text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let types: Vec<&str> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        ["start", "stdout", "stdout", "end"],
        "{}",
        answer.text
    );
    let id = lines[0]["id"].as_str().unwrap();
    let there = listed(&ada(&first));
    assert_eq!(there.len(), 2);
    assert!(there.iter().any(|(one, _)| one == id) && there.iter().any(|(one, _)| *one == begun));
}

#[test]
fn a_shell_is_reached_from_every_server() {
    let Some((first, second)) = two() else { return };
    let id = open(&first, "ada", "chat");
    let mut socket_there = connect(&second, "ada", &id);
    socket_there.type_in("cd /documents; echo re''ady\n");
    socket_there.until("\nready");
    // A model that calls the second server reads it.
    let read = ada(&second).get("/terminal/api/terminals/user/output");
    assert!(read.text.contains("ready"), "{}", read.text);
    drop(socket_there);
    // A page that is reloaded reaches the same shell, through whichever server.
    let again = fileshed_test_support::eventually("it is left alone", || {
        let id = open(&second, "ada", "chat");
        let count = ada(&first).get("/terminal/api/terminals");
        (count.body.as_array().unwrap().len() == 1).then_some(id)
    });
    let mut back = connect(&first, "ada", &again);
    back.type_in("pwd; echo do''ne\n");
    assert!(back.until("\ndone").contains("/documents"));
    drop(back);
    // The id alone lets nobody else in, nor does a made-up one.
    for (user, id) in [
        ("eve", again.clone()),
        ("ada", again.replace(|_: char| true, "0")),
    ] {
        let mut refused = socket(&second, user, &id);
        refused.say(&json!({"type": "auth", "token": ""}));
        assert_ne!(refused.close_code(), 0, "{user} {id}");
    }
    let closed = ada(&second).send("DELETE", &format!("/terminal/api/terminals/{again}"), b"");
    assert_eq!(closed.status, 200, "{}", closed.text);
    wait_until("it has ended", || {
        let left = ada(&first).get("/terminal/api/terminals");
        left.body.as_array().unwrap().is_empty()
    });
    // The first server has no processes left, so new ones start on the second.
    let next = open(&second, "ada", "chat");
    let mut first = first;
    first.kill();
    let mut alive = connect(&second, "ada", &next);
    alive.type_in("echo ali''ve\n");
    alive.until("\nalive");
}

#[test]
fn who_loses_the_server_of_their_processes_is_told_and_goes_on_at_another() {
    let Some((mut first, second)) = two() else {
        return;
    };
    let id = execute(&ada(&first), "echo begun; sleep 1000");
    wait_until("it has begun", || {
        written(&status(&ada(&second), &id, "")) == "begun\n"
    });
    first.kill();
    let there = ada(&second);
    let mut answers: Vec<Answer> = Vec::new();
    wait_until("the second takes over", || {
        answers.push(there.get("/terminal/execute"));
        answers.last().unwrap().status == 200
    });
    let last = answers.pop().unwrap();
    assert_eq!(last.body[0]["id"], id.as_str(), "{}", last.text);
    assert_eq!(last.body[0]["status"], "killed");
    assert!(written(&status(&there, &id, "")).contains("cut off"));
    for answer in answers {
        assert_eq!(
            (answer.status, &answer.body["code"]),
            (503, &"BUSY".into()),
            "{}",
            answer.text
        );
        assert_ne!(answer.header("retry-after"), "");
    }
    let next = execute(&there, "echo on");
    let done = status(&there, &next, "wait=20");
    assert_eq!(done["status"], "done", "{done}");
}

#[test]
fn a_server_that_stops_completes_what_others_sent_on() {
    let Some((mut first, second)) = two() else {
        return;
    };
    execute(&ada(&first), "sleep 1000");
    let body = json!({"command": "echo be''gun; sleep 1000"}).to_string();
    let mut stream = TcpStream::connect(second.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "POST /terminal/execute?stream=true HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {KEY}\r\n\
         X-User-Id: ada\r\nX-Session-Id: chat\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        second.address(),
        body.len()
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("begun")));
    first.terminate();
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|line| line.contains("killed")), "{rest:?}");
    assert!(rest.ends_with(&["0".to_owned(), String::new()]), "{rest:?}");
    assert_eq!(first.wait(), Some(0), "{}", first.log());
}

#[test]
fn who_only_says_that_a_call_was_sent_on_gains_nothing() {
    let Some((first, second)) = two() else { return };
    let id = execute(&ada(&first), "sleep 1000");
    // As the release before sent calls on: they go where every call goes.
    for server in [&first, &second] {
        let claimed = ada(server).header("X-Fileshed-Sent-On", "1");
        assert_eq!(listed(&claimed), [(id.clone(), "running".to_owned())]);
        let nobody = server.client().header("X-Fileshed-Sent-On", "1");
        assert_eq!(nobody.get("/terminal/execute").status, 401);
    }
}

/// A server that sends a call on names the client as it knows it, whatever the client wrote.
#[test]
fn the_other_server_is_told_who_the_client_is() {
    for (first_trusts, second_trusts, client) in [
        ("127.0.0.0/8", "192.0.2.1", "127.0.0.1"),
        ("192.0.2.1", "127.0.0.1", "198.51.100.7"),
    ] {
        let Some(postgres) = Postgres::shared() else {
            return;
        };
        let first = setup()
            .env("FILESHED_REGISTRY", &postgres.database())
            .env("FILESHED_TRUSTED_PROXIES", first_trusts)
            .start();
        // The first server does not know the key, so it refuses the call and logs its client.
        let second = first.setup().clone();
        let second = second
            .env("FILESHED_TRUSTED_PROXIES", second_trusts)
            .env("FILESHED_TERMINAL_API_KEYS", "key-of-the-second")
            .start();
        let id = execute(&ada(&first), "sleep 1000");
        let sent_on = second
            .client()
            .header("Authorization", "Bearer key-of-the-second")
            .header("X-User-Id", "ada")
            .header("X-Forwarded-For", "203.0.113.9, 198.51.100.7");
        let answer = sent_on.get(&format!("/terminal/execute/{id}/status"));
        assert_eq!(answer.status, 401, "{}", answer.text);
        let line = format!("a credential was refused address={client}\n");
        assert!(first.logged(&line), "{line}: {}", first.log());
        assert!(!second.log().contains("was refused"), "{}", second.log());
    }
}

/// Two servers on the same data, of which the second reaches the first by a tapped way.
fn tapped() -> Option<(Wiretap, Server, Server)> {
    let way = Wiretap::new();
    let first = setup()
        .env("FILESHED_REGISTRY", &Postgres::shared()?.database())
        .env("FILESHED_INSTANCE_ADDRESS", &way.address())
        .start();
    way.lead_to(first.address());
    // The second server need not be reachable.
    let second = first.again_with("FILESHED_INSTANCE_ADDRESS", "127.0.0.1:1");
    Some((way, first, second))
}

#[test]
fn nobody_reads_what_servers_say_to_each_other() {
    let Some((way, first, second)) = tapped() else {
        return;
    };
    let id = execute(&ada(&first), "echo spo''ken; sleep 1000");
    wait_until("it has spoken", || {
        written(&status(&ada(&second), &id, "wait=5")) == "spoken\n"
    });
    let shell = open(&first, "ada", "chat");
    let mut socket = connect(&second, "ada", &shell);
    socket.type_in("echo re''ady\n");
    socket.until("\nready");
    let seen = way.seen();
    assert!(!seen.is_empty());
    for text in [KEY, &id, "spoken", "ready", "HTTP"] {
        assert!(!seen.contains(text), "{text}: {seen}");
    }
}

#[test]
fn an_address_that_leads_elsewhere_gets_no_credential() {
    let Some((way, first, second)) = tapped() else {
        return;
    };
    let id = execute(&ada(&first), "sleep 1000");
    let another = setup()
        .env("FILESHED_REGISTRY", &Postgres::shared().unwrap().database())
        .start();
    let alone = setup().start();
    // A server of another installation, and one that takes no sealed connections.
    for server in [&another, &alone] {
        way.lead_to(server.address());
        let answer = ada(&second).get(&format!("/terminal/execute/{id}/status"));
        assert_eq!((answer.status, &answer.body["code"]), (503, &"BUSY".into()));
    }
    wait_until("it is told to its administrator", || {
        another.logged("a sealed connection was refused")
    });
    assert!(!way.seen().contains(KEY));
    way.lead_to(first.address());
    status(&ada(&second), &id, "");
}
