//! Addresses of which a part would be lost, and headers that cannot be followed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::Drive;
use fileshed_test_support::{PATIENCE, Server, TestApp};

/// The statuses of requests that are sent at once on one connection, and then of one more.
fn statuses(server: &Server, requests: &[&str]) -> Vec<String> {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(requests.concat().as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    let heads = answers.split("HTTP/1.1 ").skip(1);
    heads.map(|head| head[..3].to_owned()).collect()
}

#[test]
fn a_fragment_is_refused_on_every_request_of_a_connection() {
    let server = Server::start();
    let host = "Host: localhost\r\n";
    let put = |path: &str, body: &str| {
        let length = body.len();
        format!("PUT {path} HTTP/1.1\r\n{host}Content-Length: {length}\r\n\r\n{body}")
    };
    let chunked = format!(
        "PUT /dav/storage/chunks HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n\
         1a;x=#\r\nGET /dav/#1 HTTP/1.1\r\n\r\n#\n\r\n0\r\n\r\n"
    );
    let plain = |line: &str| format!("{line} HTTP/1.1\r\n{host}\r\n");
    let found = statuses(
        &server,
        &[
            &plain("MKCOL /dav/storage/d"),
            &put("/dav/storage/d/a.txt", "GET /dav/#1 HTTP/1.1\r\n\r\n"),
            &plain("DELETE /dav/storage/d/#1.txt"),
            &chunked,
            &put("/dav/storage/d/a.txt#1", "lost"),
            &plain("DELETE http://localhost/dav/storage/d#1"),
            &plain("GET /health#1"),
            &plain("GET /dav/storage/d/a.txt"),
            &format!("DELETE /dav/storage/d/#1 HTTP/1.1\r\n{host}Connection: close\r\n\r\n"),
        ],
    );
    assert_eq!(
        found,
        [
            "201", "201", "400", "201", "400", "400", "400", "200", "400"
        ]
    );
    let drive = Drive::of(server.client(), "/storage");
    assert_eq!(
        drive.get("d/a.txt"),
        (200, "GET /dav/#1 HTTP/1.1\r\n\r\n".to_owned())
    );
    assert_eq!(drive.put("d/%231.txt", "a name").status, 201);
    assert_eq!(drive.send("DELETE", "d/%231.txt", &[]).status, 204);
}

#[test]
fn a_destination_is_a_name_as_a_whole_on_this_server() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.put("a.txt", "kept");
    drive.put("b.txt", "moved");
    let to = |destination: &str| {
        drive
            .send("MOVE", "b.txt", &[("Destination", destination)])
            .status
    };
    for (destination, status) in [
        ("http://elsewhere.example/dav/storage/c.txt", 502),
        ("/dav/storage/a.txt?b", 400),
        ("ftp://localhost/dav/storage/c.txt", 400),
        ("/davstorage/c.txt", 400),
        ("c.txt", 400),
    ] {
        assert_eq!(to(destination), status, "{destination}");
    }
    assert_eq!(drive.get("b.txt").0, 200);
    assert_eq!(to("/dav/storage/a.txt#1"), 201);
    assert_eq!(drive.get("a.txt"), (200, "kept".to_owned()));
    assert_eq!(drive.get("a.txt%231"), (200, "moved".to_owned()));
}

#[test]
fn conditions_that_cannot_be_parsed_change_nothing() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.put("a.txt", "kept");
    for (condition, status) in [
        ("nonsense", 400),
        ("(<urn:uuid:1>", 400),
        ("(<urn:uuid:1", 400),
        ("()", 400),
        ("([\"another\"])", 412),
        ("</dav/storage/a.txt> ([\"another\"])", 412),
    ] {
        let refused = drive.send("DELETE", "a.txt", &[("If", condition)]);
        assert_eq!(refused.status, status, "{condition}: {refused:?}");
    }
    assert_eq!(drive.get("a.txt"), (200, "kept".to_owned()));
}

#[test]
fn documents_that_multiply_are_refused() {
    let server = TestApp::start();
    let drive = Drive::of(server.client(), "/storage");
    drive.put("a.txt", "a");
    let entities = "<!DOCTYPE a [<!ENTITY x \"1234567890\">]>";
    for (method, root, inner) in [
        ("PROPFIND", "propfind", "<prop><getetag/></prop>"),
        (
            "PROPPATCH",
            "propertyupdate",
            "<set><prop><x xmlns=\"urn:x\">1</x></prop></set>",
        ),
        (
            "LOCK",
            "lockinfo",
            "<lockscope><exclusive/></lockscope><locktype><write/></locktype>",
        ),
    ] {
        let send = |head: &str| {
            let body = format!("{head}<{root} xmlns=\"DAV:\">{inner}</{root}>");
            drive.send_body(method, "a.txt", &[("Depth", "0")], body.as_bytes())
        };
        let refused = send(entities);
        assert_eq!(
            (refused.status, refused.code()),
            (400, "INVALID_FORMAT"),
            "{refused:?}"
        );
        let taken = send("");
        assert!([200, 207].contains(&taken.status), "{method}: {taken:?}");
    }
    let many = "<getetag/>".repeat(500);
    let body = format!("<propfind xmlns=\"DAV:\"><prop>{many}</prop></propfind>");
    let refused = drive.send_body("PROPFIND", "", &[("Depth", "1")], body.as_bytes());
    assert_eq!(
        (refused.status, refused.code()),
        (400, "INVALID_FORMAT"),
        "{refused:?}"
    );
}
