//! 300 MB in and out, while the server's memory stays as it was.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;

use fileshed_test_support::Server;
use fileshed_test_support::processes::peak;

/// Boundary of the parts of a form.
const BOUNDARY: &str = "----boundary7MA4YWxkTrZu0gW";

const SIZE: usize = 300 << 20;
/// Growth that the server may have.
const GROWTH: u64 = 20 << 20;

/// The byte at a place.
fn piece(number: usize) -> Vec<u8> {
    let mut piece = vec![number as u8; 1 << 20];
    piece[..8].copy_from_slice(&number.to_le_bytes());
    piece
}

/// Sends 300 MB between two texts; the status line.
fn pour(
    server: &Server,
    line: &str,
    headers: &[(&str, &str)],
    before: &str,
    after: &str,
) -> String {
    let length = (before.len() + SIZE + after.len()).to_string();
    let mut all = vec![("Content-Length", length.as_str()), ("Connection", "close")];
    all.extend(headers);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream
        .write_all(request(server, line, &all).as_bytes())
        .unwrap();
    stream.write_all(before.as_bytes()).unwrap();
    for number in 0..SIZE >> 20 {
        stream.write_all(&piece(number)).unwrap();
    }
    stream.write_all(after.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

/// A large file in and out needs no memory.
pub(super) fn measure() -> bool {
    let server = Server::with()
        .env("FILESHED_QUOTA_PER_USER_MB", "700")
        .start();
    let client = server.client();
    client.call("shed_stats", &json!({})).data();
    let process = server.process().as_raw_nonzero().get();
    let before = peak(process);

    let line = "PUT /files/content?zone=storage&path=large.bin";
    assert_eq!(pour(&server, line, &[], "", ""), "HTTP/1.1 201 Created");
    let line = "POST /files/upload?zone=uploads";
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let start = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; \
         filename=\"large.bin\"\r\n\r\n"
    );
    let after = format!("\r\n--{BOUNDARY}--\r\n");
    let status = pour(&server, line, &[("Content-Type", &kind)], &start, &after);
    assert_eq!(status, "HTTP/1.1 200 OK");

    let made = client.call(
        "shed_link_create",
        &json!({"zone": "uploads", "path": "large.bin"}),
    );
    let url = made.data()["download_url"].as_str().unwrap().to_owned();
    for url in [
        server.url("/files/content?zone=storage&path=large.bin"),
        url,
    ] {
        let mut reader = ureq::get(&url).call().unwrap().into_body().into_reader();
        let mut buffer = vec![0; 1 << 20];
        for number in 0..SIZE >> 20 {
            reader.read_exact(&mut buffer).unwrap();
            assert!(buffer == piece(number), "MB {number}");
        }
        assert_eq!(reader.read(&mut buffer).unwrap(), 0);
    }
    let grown = peak(process) - before;
    println!("300 MB in and out: the server grew by {} KB", grown >> 10);

    // A client that does not read holds no more than pieces.
    let mut idle: Vec<TcpStream> = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let line = "GET /files/content?zone=storage&path=large.bin";
        stream
            .write_all(request(&server, line, &[]).as_bytes())
            .unwrap();
        stream.read_exact(&mut [0; 100]).unwrap();
        idle.push(stream);
    }
    let idle_growth = peak(process) - before;
    println!("four clients that do not read: {} KB", idle_growth >> 10);
    let on_disk = server.data().join("shared/Storage/data/large.bin");
    assert_eq!(
        File::open(on_disk).unwrap().metadata().unwrap().len(),
        SIZE as u64
    );
    idle_growth < GROWTH
}

/// A request that goes on after its head.
fn request(server: &Server, line: &str, headers: &[(&str, &str)]) -> String {
    let mut head = format!("{line} HTTP/1.1\r\nHost: {}\r\n", server.address());
    for (name, value) in headers {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    head + "\r\n"
}
