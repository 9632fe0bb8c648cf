//! Uploads that do not end: nothing of them is ever seen, and nothing stays.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::json;

use crate::form::{
    as_user, content_type, eventually, files, head, many_users, request, sizes_staged, staged,
};
use crate::support::Server;

/// Half of an upload of 2 MB, whose first file is complete.
fn half(server: &Server, address: &str) -> TcpStream {
    let kind = content_type();
    let mut headers = as_user("ada").to_vec();
    headers.extend([
        ("Content-Type", kind.as_str()),
        ("Content-Length", "2000000"),
    ]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let line = format!("POST {address}");
    stream
        .write_all(request(server, &line, &headers).as_bytes())
        .unwrap();
    let first = format!("{}complete\r\n", head("first.txt"));
    stream.write_all(first.as_bytes()).unwrap();
    stream.write_all(head("second.txt").as_bytes()).unwrap();
    stream.write_all(&vec![b'x'; 900_000]).unwrap();
    stream.flush().unwrap();
    stream
}

/// Waits until what was sent is on disk.
fn arrived(server: &Server) {
    eventually("both files are staged", || {
        let sizes = sizes_staged(server, "ada");
        (sizes.len() == 2 && sizes.iter().sum::<u64>() > 800_000).then_some(())
    });
}

fn nothing(server: &Server) {
    let client = server.as_user("ada");
    let stats = client.call("shed_stats", &json!({}));
    assert_eq!(stats.data()["total"]["size_bytes"], 0);
    let log = json!({"zone": "documents", "cmd": "git", "args": ["rev-list", "--count", "--all"]});
    let log = client.call("shed_exec", &log);
    assert_eq!(log.data()["stdout"].as_str().unwrap().trim(), "0");
}

#[test]
fn a_client_that_goes_away_leaves_nothing() {
    let server = many_users().start();
    for zone in ["uploads", "documents"] {
        let stream = half(&server, &format!("/files/upload?zone={zone}"));
        arrived(&server);
        assert_eq!(files(&server, "ada").len(), 2, "nothing has its name yet");
        drop(stream);
        eventually("nothing is staged", || {
            staged(&server, "ada").is_empty().then_some(())
        });
        assert!(files(&server, "ada").is_empty());
        nothing(&server);
    }
}

#[test]
fn a_killed_server_leaves_nothing() {
    for zone in ["uploads", "storage", "documents"] {
        let mut server = many_users().start();
        let _stream = half(&server, &format!("/files/upload?zone={zone}&path=in"));
        arrived(&server);
        server.kill();
        let server = server.again();
        nothing(&server);
        assert!(
            files(&server, "ada").is_empty(),
            "{:?}",
            files(&server, "ada")
        );
        let answer = crate::form::send(&server.as_user("ada"), "/files/upload", &[("a", b"x")]);
        assert_eq!(answer.data()["count"], 1);
    }
}

#[test]
fn a_form_without_an_end_is_no_form() {
    let server = many_users().start();
    let client = server
        .as_user("ada")
        .header("Content-Type", &content_type());
    let whole = crate::form::body(&[("a.txt", b"content"), ("b.txt", b"more")]);
    for length in (0..whole.len() - 4).step_by(7) {
        let answer = client.send("POST", "/files/upload", &whole[..length]);
        answer.refused(400, "INVALID_PARAMETER");
    }
    assert!(files(&server, "ada").is_empty());
    nothing(&server);
}
