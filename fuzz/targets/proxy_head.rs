//! Heads of requests to the proxy: a head that is passed on can be read in one way only, and leads to the
//! host that was judged.
#![no_main]

use std::io::Read;

use fileshed_sandbox::egress::fuzzing::{JudgedRequest, read};

/// Largest head in the product.
const MOST: usize = 32 * 1024;

/// A stream that gives few bytes at once.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.1.min(buffer.len());
        (&mut self.0).read(&mut buffer[..count])
    }
}

libfuzzer_sys::fuzz_target!(|input: (u8, u8, &[u8])| {
    let (limit, drop, bytes) = input;
    // Mostly the product's bound, sometimes one that the input meets.
    let most = if limit < 128 {
        MOST
    } else {
        usize::from(limit)
    };
    let head = read(&mut &bytes[..], most);
    let mut dropped = read(&mut Drops(bytes, 1 + usize::from(drop)), most);
    if let (Ok(whole), Ok(pieces)) = (&head, &mut dropped) {
        // Bytes that came with the last piece of the head are only a part of the rest.
        assert!(whole.rest.starts_with(&pieces.rest));
        pieces.rest.clone_from(&whole.rest);
    }
    assert_eq!(head, dropped);

    let Ok(Some(JudgedRequest { host, port, sent })) = head.map(|head| head.request) else {
        return;
    };
    assert!(!host.is_empty() && port > 0);
    assert!(
        host.bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"/?#@[]\\".contains(&byte))
    );
    let Some(sent) = sent else { return };

    let passed = read(&mut &sent[..], 2 * MOST).expect("what is passed on is a head");
    assert!(
        passed.rest.is_empty() && passed.request.is_none(),
        "{passed:?}"
    );
    assert_eq!(passed.hosts.len(), 1, "{passed:?}");
    let words: Vec<&str> = passed.line.split(' ').collect();
    let [method, path, version] = words[..] else {
        panic!("{passed:?}")
    };
    assert_eq!(
        passed.line.split_ascii_whitespace().count(),
        3,
        "{passed:?}"
    );
    assert!(matches!(method, "GET" | "HEAD") && path.starts_with('/'));

    // Asked for once more, it is the same.
    let place = String::from_utf8(passed.hosts[0].clone()).expect("a host is text");
    let behind = sent.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
    let mut again = format!("{method} http://{place}{path} {version}\r\n").into_bytes();
    again.extend_from_slice(&sent[behind..]);
    let again = String::from_utf8_lossy(&again).replace("Connection: close\r\n\r\n", "\r\n");
    if sent.is_ascii() {
        let judged = read(&mut again.as_bytes(), 2 * MOST)
            .ok()
            .and_then(|head| head.request);
        let expected = JudgedRequest {
            host,
            port,
            sent: Some(sent),
        };
        assert_eq!(judged, Some(expected));
    }
});
