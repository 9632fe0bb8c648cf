//! Start, health and end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::support::{PATIENCE, Server};

#[test]
fn health_and_readiness_ask_for_no_credential() {
    let server = Server::with_key();
    let health = server.client().get("/health");
    assert_eq!(health.status, 200);
    assert_eq!(health.body["status"], "ok");
    assert_eq!(health.body["version"], env!("CARGO_PKG_VERSION"));
    let ready = server.client().get("/ready");
    assert_eq!((ready.status, &ready.body["status"]), (200, &"ok".into()));
    assert!(ready.body["checks"].is_object());
    let path = server.data().display().to_string();
    assert!(!ready.text.contains(&path));
}

#[test]
fn a_stop_is_heard_as_soon_as_the_server_listens() {
    for _ in 0..10 {
        let mut server = Server::start();
        server.terminate();
        assert_eq!(server.wait(), Some(0), "{}", server.log());
    }
}

#[test]
fn a_stop_lets_a_running_request_finish() {
    let mut server = Server::start();
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!(
        "POST /shed_parameters HTTP/1.1\r\nHost: {}\r\nExpect: 100-continue\r\n\
         Content-Length: 20\r\n\r\n",
        server.address()
    );
    stream.write_all(head.as_bytes()).expect("a head");
    let mut ready = [0; 25];
    stream
        .read_exact(&mut ready)
        .expect("the server waits for the body");
    assert_eq!(&ready, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"{\"a\"").expect("half a request");
    server.terminate();
    assert!(server.logged("stopping"));
    assert!(
        TcpStream::connect(server.address()).is_err(),
        "nobody new is let in"
    );
    stream
        .write_all(b":            1}\n")
        .expect("the other half");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(server.wait(), Some(0));
    assert!(server.logged("stopped"));
}

#[test]
fn an_idle_connection_does_not_hold_up_a_stop() {
    let mut server = Server::start();
    let _idle = TcpStream::connect(server.address()).expect("a connection");
    server
        .call("shed_parameters", &serde_json::json!({}))
        .data();
    server.terminate();
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn an_address_in_use_is_a_clear_end() {
    let server = Server::start();
    let finished = Server::with().run(&["serve", "--bind", server.address()]);
    assert_eq!(finished.code, Some(1));
    assert!(finished.stderr.contains("in use"), "{}", finished.stderr);
}
