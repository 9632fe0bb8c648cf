//! A shell that prints without end while its client does not read.

use std::thread::sleep;
use std::time::Duration;

use fileshed_test_support::Server;
use fileshed_test_support::processes::resident;
use fileshed_test_support::socket::Socket;
use serde_json::json;

/// Time without a reader.
const UNREAD: Duration = Duration::from_secs(2);

/// Growth that the server may have.
const GROWTH: u64 = 8 << 20;

/// Measures output that nobody reads: it stays with the shell, which waits.
pub(super) fn measure() -> bool {
    let server = Server::start();
    let opened = server.client().send("POST", "/terminal/api/terminals", b"");
    let id = opened.body["id"].as_str().unwrap();
    let mut shell = Socket::open(&server, &format!("/terminal/api/terminals/{id}"), &[]);
    shell.say(&json!({"type": "auth", "token": ""}));
    shell.type_in("echo re''ady\n");
    shell.until("\nready");
    let process = server.process().as_raw_nonzero().get();
    let before = resident(process);
    shell.type_in("yes 'for ever and ever'\n");
    sleep(UNREAD);
    let grown = resident(process).saturating_sub(before);
    println!("output that nobody reads: {} KB", grown >> 10);
    grown < GROWTH
}
