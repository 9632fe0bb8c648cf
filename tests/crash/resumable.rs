//! An upload in pieces, with the server killed between them and within one: acknowledged bytes are there,
//! and the file is whole in the end.

use std::io::Write as _;
use std::net::TcpStream;

use crate::kills::setup;
use fileshed_test_support::{Answer, Server, wait_until};

const USER: &str = "ada";
const PIECE: usize = 700_000;
const PIECES: usize = 6;

fn content() -> Vec<u8> {
    (0_u32..)
        .flat_map(u32::to_le_bytes)
        .take(PIECE * PIECES)
        .collect()
}

fn ask(
    server: &Server,
    method: &str,
    address: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let client = server.as_user(USER).header("Tus-Resumable", "1.0.0");
    let client = headers
        .iter()
        .fold(client, |client, (name, value)| client.header(name, value));
    client.send(method, address, body)
}

fn arrived(server: &Server, address: &str) -> usize {
    let answer = ask(server, "HEAD", address, &[], b"");
    assert_eq!(answer.status, 200);
    answer.header("upload-offset").parse().unwrap()
}

/// Sends a part of a piece and leaves the rest open.
fn half_a_piece(server: &Server, address: &str, offset: usize, bytes: &[u8]) -> TcpStream {
    let head = format!(
        "PATCH {address} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer service-key\r\n\
         X-OpenWebUI-User-Id: {USER}\r\nTus-Resumable: 1.0.0\r\n\
         Content-Type: application/offset+octet-stream\r\nUpload-Offset: {offset}\r\n\
         Content-Length: {}\r\n\r\n",
        server.address(),
        2 * bytes.len()
    );
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

#[test]
fn what_was_acknowledged_of_an_upload_is_there_after_kills() {
    for zone in ["storage", "documents"] {
        let content = content();
        let mut server = setup("relaxed").start();
        let length = content.len().to_string();
        let named = [
            ("Upload-Length", length.as_str()),
            ("Upload-Metadata", "filename YS5iaW4="),
        ];
        let begun = ask(
            &server,
            "POST",
            &format!("/files/uploads?zone={zone}"),
            &named,
            b"",
        );
        assert_eq!(begun.status, 201, "{}", begun.text);
        let address = format!("/files/{}", begun.header("location"));
        let mut offset = 0;
        while offset < content.len() {
            let end = content.len().min(offset + PIECE);
            let at = offset.to_string();
            let headers = [
                ("Content-Type", "application/offset+octet-stream"),
                ("Upload-Offset", at.as_str()),
            ];
            let answer = ask(&server, "PATCH", &address, &headers, &content[offset..end]);
            assert_eq!(answer.status, 204, "{}", answer.text);
            offset = end;
            let cut = (content.len() - offset).min(PIECE) / 2;
            let open = half_a_piece(&server, &address, offset, &content[offset..offset + cut]);
            if cut > 0 {
                wait_until("the half piece arrives", || {
                    arrived(&server, &address) == offset + cut
                });
            }
            server.kill();
            drop(open);
            server = server.again();
            // All that was acknowledged, and here what came after it, too.
            assert_eq!(arrived(&server, &address), offset + cut);
            offset += cut;
        }
        let home = server.data().join("users").join(USER);
        let stored = server
            .as_user(USER)
            .get(&format!("/files/content?zone={zone}&path=a.bin"));
        assert_eq!(stored.status, 200, "{}", stored.text);
        assert!(stored.bytes == content, "{zone}: another content");
        assert_eq!(std::fs::read_dir(home.join("arriving")).unwrap().count(), 0);
    }
}
