//! 300 MB in and out, while the server's memory stays as it was.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::json;

use crate::transfer::form::{content_type, end, head, request};
use fileshed_test_support::Server;

const SIZE: usize = 300 << 20;
/// What the server may grow by.
const GROWTH: u64 = 20 << 20;

/// Most memory that the server had so far.
fn peak(server: &Server) -> u64 {
    let process = server.process().as_raw_nonzero();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes << 10
}

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

#[test]
fn a_large_file_needs_no_memory() {
    let server = Server::with()
        .env("FILESHED_QUOTA_PER_USER_MB", "700")
        .start();
    let client = server.client();
    client.call("shed_stats", &json!({})).data();
    let before = peak(&server);

    let begun = Instant::now();
    let line = "PUT /files/content?zone=storage&path=large.bin";
    assert_eq!(pour(&server, line, &[], "", ""), "HTTP/1.1 201 Created");
    println!("300 MB by PUT in {:?}", begun.elapsed());
    let begun = Instant::now();
    let line = "POST /files/upload?zone=uploads";
    let kind = content_type();
    let (start, after) = (head("large.bin"), format!("\r\n{}", end()));
    let status = pour(&server, line, &[("Content-Type", &kind)], &start, &after);
    assert_eq!(status, "HTTP/1.1 200 OK");
    println!("300 MB in a form in {:?}", begun.elapsed());

    let made = client.call(
        "shed_link_create",
        &json!({"zone": "uploads", "path": "large.bin"}),
    );
    let url = made.data()["download_url"].as_str().unwrap().to_owned();
    for url in [
        server.url("/files/content?zone=storage&path=large.bin"),
        url,
    ] {
        let begun = Instant::now();
        let mut reader = ureq::get(&url).call().unwrap().into_body().into_reader();
        let mut buffer = vec![0; 1 << 20];
        for number in 0..SIZE >> 20 {
            reader.read_exact(&mut buffer).unwrap();
            assert!(buffer == piece(number), "MB {number}");
        }
        assert_eq!(reader.read(&mut buffer).unwrap(), 0);
        println!("300 MB out in {:?}", begun.elapsed());
    }
    let grown = peak(&server) - before;
    println!("the server grew by {} KB", grown >> 10);
    assert!(grown < GROWTH, "{} MB", grown >> 20);

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
    assert!(peak(&server) - before < GROWTH);
    let on_disk = server.data().join("shared/Storage/data/large.bin");
    assert_eq!(
        File::open(on_disk).unwrap().metadata().unwrap().len(),
        SIZE as u64
    );
}
