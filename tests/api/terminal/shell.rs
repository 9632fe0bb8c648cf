//! Interactive shells over their sockets.

mod connecting;
mod limits;
mod memory;
mod typing;

use fileshed_test_support::socket::Socket;
use fileshed_test_support::{Client, Server, Setup, TestApp};
use serde_json::{Value, json};

pub(super) const KEY: &str = "terminal-key";

/// A server with a key of terminals, and the service key of [`Server::with_key`].
pub(super) fn setup() -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", KEY)
}

/// A client with the headers that the proxy sends for a user in a chat.
pub(super) fn proxy<'a>(app: &'a TestApp, user: &str, chat: &str) -> Client<'a> {
    app.client()
        .header("Authorization", &format!("Bearer {KEY}"))
        .header("X-User-Id", user)
        .header("X-Session-Id", chat)
}

/// The id of a shell.
#[track_caller]
pub(super) fn open(app: &TestApp, user: &str, chat: &str) -> String {
    let answer = proxy(app, user, chat).send("POST", "/terminal/api/terminals", b"");
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body["id"].as_str().expect("an id").to_owned()
}

/// Returns the path of a shell.
fn entry(id: &str) -> String {
    format!("/terminal/api/terminals/{id}")
}

/// Returns the path at which the proxy opens the shell's socket.
fn path(id: &str) -> String {
    format!("{}?user_id=ada", entry(id))
}

/// The socket of the proxy for a user, before anything was said.
pub(super) fn socket(app: &TestApp, user: &str, id: &str) -> Socket {
    Socket::open(app, &path(id), &[("X-User-Id", user), ("X-Session-Id", "")])
}

fn introduction(token: &str) -> Value {
    json!({"type": "auth", "token": token})
}

/// Connects a user to a shell, with a key.
pub(super) fn connect(app: &TestApp, user: &str, id: &str) -> Socket {
    let mut socket = socket(app, user, id);
    socket.say(&introduction(KEY));
    socket
}

/// A new shell of a user, at its first prompt.
#[track_caller]
pub(super) fn shell(app: &TestApp, user: &str, chat: &str) -> (String, Socket) {
    let id = open(app, user, chat);
    let mut socket = connect(app, user, &id);
    // The terminal echoes input before it runs, so the output must differ from the input.
    socket.type_in("echo re''ady\n");
    socket.until("\nready");
    (id, socket)
}

/// Has a shell start something that reads what is typed from then on: before, the shell reads it.
#[track_caller]
fn start(shell: &mut Socket, line: &str) {
    shell.type_in(&format!("echo sta''rts; {line}\n"));
    shell.until("\nstarts\r\n");
}
