//! What ends when trust ends: everything that outlives a call, by every reason.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use fileshed_core::Channel;
use fileshed_test_support::socket::Socket;
use fileshed_test_support::{PATIENCE, TestApp, wait_until};
use serde_json::json;

use crate::sign_in::browser::{printed, token};

/// Work that outlives the moment in which its caller was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Shell,
    Process,
    Command,
    Answer,
    Subscription,
}

/// By which channel work of a surface comes; a new channel has to be named here.
fn surfaces(channel: Channel) -> &'static [Surface] {
    match channel {
        Channel::Operations | Channel::Fs => &[Surface::Command, Surface::Answer],
        Channel::Mcp => &[Surface::Command, Surface::Answer, Surface::Subscription],
        Channel::Terminal => &[Surface::Process, Surface::Answer],
        Channel::Shell => &[Surface::Shell],
        Channel::FileBrowser | Channel::Page | Channel::WebDav | Channel::Files | Channel::Link => {
            &[Surface::Answer]
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Token,
    User,
    Suspension,
    Membership,
}

/// Bytes of a file that no connection takes at once.
const LARGE: usize = 64 << 20;

/// A request whose answer nobody reads yet.
fn send(app: &TestApp, secret: &str, request: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(app.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {secret}\r\n\
         Connection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n\
         Content-Length: {}\r\n\r\n{body}",
        app.address(),
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// All that still comes.
fn rest(mut stream: TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    // A connection that is cut off has ended, too.
    let _cut_off = stream.read_to_end(&mut all);
    all
}

fn ends_everything(reason: Reason) {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_GROUPS", "local")
        .start();
    printed(&app.run(&["group", "create", "--name", "team", "--members", "ada"]));
    let secret = token(&app, "ada", &[]);
    let ada = app.with_token(&secret);
    let zone = json!({"zone": "group", "group": "team"});
    let address = "/files/content?zone=group&group=team&path=large.bin";
    let stored = ada.send("PUT", address, &vec![b'x'; LARGE]);
    assert_eq!(stored.status, 201, "{}", stored.text);

    let opened = ada.send("POST", "/terminal/api/terminals", b"");
    let shell = opened.body["id"].as_str().expect("an id").to_owned();
    let mut shell = Socket::open(&app, &format!("/terminal/api/terminals/{shell}"), &[]);
    shell.say(&json!({"type": "auth", "token": secret}));
    shell.type_in("echo re''ady\n");
    shell.until("\nready");
    let line = json!({"command": "sleep 600", "cwd": "/groups/team"}).to_string();
    let process = ada.send("POST", "/terminal/execute", line.as_bytes());
    assert!(process.body["id"].is_string(), "{}", process.text);
    let mut sleep = zone.clone();
    sleep["cmd"] = "tail".into();
    sleep["args"] = json!(["-f", "large.bin"]);
    sleep["timeout"] = 300.into();
    let command = send(&app, &secret, "POST /shed_exec", &sleep.to_string());
    let answer = send(&app, &secret, &format!("GET {address}"), "");
    let listen = json!({
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
            "notifications": {"resourceSubscriptions": ["fileshed://group/team/large.bin"]},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            },
        },
    });
    let subscription = send(&app, &secret, "POST /mcp", &listen.to_string());
    let mut first = [0; 12];
    (&subscription).read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");

    match reason {
        Reason::Token => {
            let list = app.run(&["token", "list"]).stdout;
            let id = list.split('\t').next().unwrap().to_owned();
            printed(&app.run(&["token", "revoke", &id]));
        }
        Reason::User => drop(printed(&app.run(&["user", "end", "--user", "ada"]))),
        Reason::Suspension => drop(printed(&app.run(&["user", "suspend", "--user", "ada"]))),
        Reason::Membership => drop(printed(&app.run(&["group", "remove", "team", "ada"]))),
    }
    shell.until("fileshed: ");
    assert_eq!(shell.close_code(), 1000, "{reason:?}");
    let said = String::from_utf8_lossy(&rest(command)).into_owned();
    assert!(said.contains("\"success\":false"), "{reason:?}: {said}");
    assert!(rest(answer).len() < LARGE, "{reason:?}");
    rest(subscription);
    wait_until("the process ended", || {
        let users = std::fs::read_dir(app.data().join("users")).unwrap();
        let mut logs = users
            .flatten()
            .filter_map(|user| std::fs::read_dir(user.path().join("logs")).ok())
            .flat_map(Iterator::flatten);
        logs.any(|log| {
            let text = std::fs::read_to_string(log.path()).unwrap_or_default();
            text.contains("ended: ") && text.contains("\"killed\"")
        })
    });
}

#[test]
fn a_revoked_token_ends_what_was_begun_with_it() {
    ends_everything(Reason::Token);
}

#[test]
fn the_end_of_a_user_ends_what_was_begun_before() {
    ends_everything(Reason::User);
}

#[test]
fn a_suspension_ends_what_runs() {
    ends_everything(Reason::Suspension);
}

#[test]
fn a_lost_membership_ends_what_is_in_the_group() {
    ends_everything(Reason::Membership);
}

#[test]
fn every_channel_names_what_outlives_its_calls() {
    let all = [
        Channel::Operations,
        Channel::Mcp,
        Channel::Terminal,
        Channel::Shell,
    ]
    .map(surfaces);
    for surface in [
        Surface::Shell,
        Surface::Process,
        Surface::Command,
        Surface::Answer,
        Surface::Subscription,
    ] {
        assert!(all.iter().any(|of| of.contains(&surface)), "{surface:?}");
    }
}
