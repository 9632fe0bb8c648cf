//! Requests that are refused before their bodies are read.
//!
//! Most clients write all of a request before they read the answer; so does a proxy before several servers.
//! They must learn why they were refused, not that the connection broke.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use fileshed_test_support::{PATIENCE, Server};

/// More than the kernel holds of a connection whose other side does not read.
const BODY_BYTES: usize = 16 << 20;

const KNOWN: &str = "Authorization: Bearer service-key\r\nX-OpenWebUI-User-Id: ada\r\n";

#[test]
fn who_writes_before_they_read_learns_why_they_were_refused() {
    let server = Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .start();
    let body = vec![b'x'; BODY_BYTES];
    for (method, path, who, status) in [
        // Paths that do not exist.
        ("POST", "/shed_nothing", KNOWN, 404),
        ("POST", "/fs/nothing", KNOWN, 404),
        ("POST", "/terminal/nothing", KNOWN, 404),
        ("PUT", "/links/nothing", KNOWN, 405),
        // It takes no such thing.
        ("PUT", "/shed_create_file", KNOWN, 405),
        ("POST", "/files/content?zone=storage&path=a", KNOWN, 405),
        ("PUT", "/mcp", KNOWN, 405),
        ("PUT", "/health", KNOWN, 405),
        ("PATCH", "/dav/storage/a", KNOWN, 405),
        // It takes less.
        ("POST", "/shed_tree", KNOWN, 413),
        ("PROPFIND", "/dav/storage", KNOWN, 413),
        ("POST", "/page/sign-in", KNOWN, 403),
        // Calls without a user.
        ("POST", "/shed_create_file", "", 401),
        ("POST", "/fs/write_file", "", 401),
        ("POST", "/mcp", "", 401),
        ("POST", "/files/upload", "", 401),
        ("PUT", "/files/content?zone=storage&path=a", "", 401),
        ("POST", "/terminal/files/write", "", 401),
        (
            "POST",
            "/terminal/files/upload?directory=%2Fstorage",
            "",
            401,
        ),
        ("PUT", "/dav/storage/a", "", 401),
        ("POST", "/admin/api/users/suspend", KNOWN, 403),
        // It cannot be stored there.
        ("PUT", "/files/content?zone=nowhere&path=a", KNOWN, 400),
        ("PUT", "/files/content?zone=storage&path=..%2Fa", KNOWN, 403),
        ("POST", "/files/upload?zone=nowhere", KNOWN, 400),
        ("PUT", "/dav/nowhere/a", KNOWN, 403),
        ("POST", "/terminal/files/upload", KNOWN, 400),
        ("POST", "/links/nothing", "", 404),
    ] {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\n{who}Content-Length: {BODY_BYTES}\r\n\r\n",
            server.address()
        );
        let asked = format!("{method} {path} of {who:?}");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).expect(&asked);
        let mut first = [0; 12];
        stream.read_exact(&mut first).expect(&asked);
        assert_eq!(first, format!("HTTP/1.1 {status}").as_bytes(), "{asked}");
    }
}
