//! The proxy itself, spoken to by hand.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::sandbox::egress::{Egress, EgressGrant, RefusalStyle};
use fileshed_core::settings::NetworkMode;
use fileshed_test_support::{PATIENCE, wait_until};

use super::origin::CONTENT;
use super::{Origin, Unseen, proxy, proxy_in};

/// The header that proves a grant.
fn proof(grant: &EgressGrant) -> String {
    let url = grant.url();
    let credentials = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split('@').next());
    let encoded = STANDARD.encode(credentials.expect("credentials"));
    format!("Proxy-Authorization: Basic {encoded}\r\n")
}

fn connect(grant: &EgressGrant) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", grant.port())).expect("the proxy listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _however_it_ends = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends a request as it is and reads everything that comes back.
fn ask(grant: &EgressGrant, request: &str) -> String {
    let mut stream = connect(grant);
    stream.write_all(request.as_bytes()).expect("sent");
    rest(stream)
}

/// A request with the proof of its grant.
fn ask_with(grant: &EgressGrant, line: &str, headers: &str) -> String {
    ask(
        grant,
        &format!("{line} HTTP/1.1\r\n{}{headers}\r\n", proof(grant)),
    )
}

/// Opens a tunnel to `place`; the answer's first line.
fn tunnel(grant: &EgressGrant, place: &str) -> (TcpStream, String) {
    let mut stream = connect(grant);
    let request = format!("CONNECT {place} HTTP/1.1\r\n{}\r\n", proof(grant));
    stream.write_all(request.as_bytes()).expect("sent");
    let mut line = Vec::new();
    let mut byte = [0];
    while !line.ends_with(b"\r\n\r\n") && matches!(stream.read(&mut byte), Ok(1)) {
        line.push(byte[0]);
    }
    let line = String::from_utf8_lossy(&line);
    let line = line.lines().next().unwrap_or_default().to_owned();
    (stream, line)
}

fn scene() -> (Origin, Egress, EgressGrant) {
    let origin = Origin::start();
    let egress = proxy(&[origin.place()]);
    let grant = egress.grant(RefusalStyle::InWords).expect("a grant");
    (origin, egress, grant)
}

#[test]
fn a_document_comes_through() {
    let (origin, _egress, grant) = scene();
    let line = format!("GET {}", origin.url("/file"));
    let answer = ask_with(&grant, &line, "Host: elsewhere\r\nX-Mine: 1\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with(CONTENT), "{answer}");
    let asked = origin.requests().concat();
    assert!(
        asked.contains(&format!("Host: {}\r\n", origin.place())),
        "{asked}"
    );
    assert!(asked.contains("X-Mine: 1"), "{asked}");
    assert!(!asked.to_lowercase().contains("proxy"), "{asked}");
    assert!(!asked.contains("elsewhere"), "{asked}");
    assert!(grant.remarks().is_empty());
}

#[test]
fn only_the_token_of_a_running_command_opens_it() {
    let (origin, egress, grant) = scene();
    let line = format!("GET {} HTTP/1.1\r\n", origin.url("/file"));
    let other = "Proxy-Authorization: Basic ZmlsZXNoZWQ6YWJj\r\n";
    for header in [
        "",
        other,
        "Proxy-Authorization: Bearer x\r\n",
        "Authorization: Basic eDp5\r\n",
    ] {
        let answer = ask(&grant, &format!("{line}{header}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 407 "), "{header}: {answer}");
        assert!(answer.contains("Proxy-Authenticate: Basic"), "{answer}");
    }
    let ended = egress.grant(RefusalStyle::InWords).expect("a grant");
    let void = proof(&ended);
    drop(ended);
    let answer = ask(&grant, &format!("{line}{void}\r\n"));
    assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
    assert!(origin.requests().is_empty());
}

#[test]
fn nothing_but_downloads_is_passed_on() {
    let (origin, _egress, grant) = scene();
    let url = origin.url("/file");
    for (line, headers, body, text) in [
        (
            format!("POST {url}"),
            "Content-Length: 4\r\n",
            "data",
            "no body",
        ),
        (format!("POST {url}"), "", "", "GET and HEAD"),
        (
            format!("PUT {url}"),
            "Transfer-Encoding: chunked\r\n",
            "0\r\n\r\n",
            "no body",
        ),
        (format!("DELETE {url}"), "", "", "GET and HEAD"),
        (
            format!("GET {url}"),
            "Content-Length: 4\r\n",
            "data",
            "no body",
        ),
        (
            format!("GET {url}"),
            "Transfer-Encoding: chunked\r\n",
            "0\r\n\r\n",
            "no body",
        ),
        (
            format!("GET {url}"),
            "Upgrade: websocket\r\n",
            "",
            "upgraded",
        ),
        (format!("GET {url}?{}", "a".repeat(9000)), "", "", "8 KiB"),
        (
            format!("GET {url}"),
            &format!("X: {}\r\n", "a".repeat(40_000)),
            "",
            "32 KiB",
        ),
        (url.replace("http:", "GET ftp:"), "", "", "only http"),
    ] {
        let request = format!("{line} HTTP/1.1\r\n{}{headers}\r\n{body}", proof(&grant));
        let answer = ask(&grant, &request);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{line}: {answer}");
        assert!(answer.contains(text), "{line}: {answer}");
    }
    assert!(origin.requests().is_empty(), "{:?}", origin.requests());
    wait_until("it is said", || !grant.remarks().is_empty());
}

#[test]
fn a_second_request_on_a_connection_is_not_passed_on() {
    let (origin, _egress, grant) = scene();
    let first = format!(
        "GET {} HTTP/1.1\r\n{}\r\n",
        origin.url("/slow"),
        proof(&grant)
    );
    let second = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\ndata";
    let answer = ask(&grant, &format!("{first}{second}"));
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(origin.requests().is_empty());
    // The same a little later, while the first is being answered.
    let mut stream = connect(&grant);
    stream.write_all(first.as_bytes()).expect("sent");
    let mut beginning = [0; 4];
    stream.read_exact(&mut beginning).expect("an answer begins");
    stream.write_all(second.as_bytes()).expect("sent");
    rest(stream);
    assert!(origin.closed(1), "the first connection is still open");
    assert!(!origin.requests().concat().contains("POST"));
}

#[test]
fn no_spelling_leads_to_this_machine() {
    let (origin, egress, grant) = scene();
    let unseen = Unseen::new();
    // Not even an open destination makes a port of the server one.
    let served = Unseen::new();
    egress.protect(served.port());
    let open = proxy(&[
        "127.0.0.0/8".to_owned(),
        format!("127.0.0.1:{}", served.port()),
        format!("[::1]:{}", served.port()),
    ]);
    open.protect(served.port());
    let opened = open.grant(RefusalStyle::InWords).expect("a grant");
    for place in unseen.spellings() {
        let answer = ask_with(&grant, &format!("GET http://{place}/"), "");
        assert!(
            answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 502 "),
            "{place}: {answer}"
        );
        let (_stream, line) = tunnel(&grant, &place);
        assert!(
            line.contains(" 403 ") || line.contains(" 502 "),
            "{place}: {line}"
        );
        unseen.assert_unseen(&place);
    }
    for place in served.spellings() {
        let answer = ask_with(&opened, &format!("GET http://{place}/"), "");
        assert!(
            answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 502 "),
            "{place}: {answer}"
        );
        let (_stream, line) = tunnel(&opened, &place);
        assert!(
            line.contains(" 403 ") || line.contains(" 502 "),
            "{place}: {line}"
        );
        served.assert_unseen(&place);
    }
    // The proxy is a port of the server as well.
    let own = format!("GET http://127.0.0.1:{}/", opened.port());
    assert!(ask_with(&opened, &own, "").starts_with("HTTP/1.1 403 "));
    assert!(origin.requests().is_empty());
}

#[test]
fn a_redirect_is_judged_anew() {
    let (origin, _egress, grant) = scene();
    let unseen = Unseen::new();
    let target = format!("127.0.0.1:{}/x", unseen.port());
    let line = format!("GET {}", origin.url(&format!("/to/{target}")));
    let answer = ask_with(&grant, &line, "");
    assert!(answer.starts_with("HTTP/1.1 302 "), "{answer}");
    let answer = ask_with(&grant, &format!("GET http://{target}"), "");
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    unseen.assert_unseen("a redirect");
}

#[test]
fn answers_are_bounded() {
    let (origin, _egress, grant) = scene();
    let answer = ask_with(&grant, &format!("GET {}", origin.url("/large")), "");
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(answer.contains("max_file_size_mb"), "{answer}");
    // One that is cut off must not look whole.
    let mut stream = connect(&grant);
    let line = format!("GET {} HTTP/1.1", origin.url("/endless"));
    let request = format!("{line}\r\n{}\r\n", proof(&grant));
    stream.write_all(request.as_bytes()).expect("sent");
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes);
    assert!(ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset));
    assert!(bytes.len() <= (2 << 20) + 1024, "{}", bytes.len());
    wait_until("it is said", || {
        grant.remarks().concat().contains("larger than 1 MiB")
    });
}

#[test]
fn a_tunnel_carries_tls_and_little_of_it_upwards() {
    let (origin, _egress, grant) = scene();
    let (mut stream, line) = tunnel(&grant, &origin.place());
    assert!(line.contains("200"), "{line}");
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    assert_eq!(rest(stream), "");
    wait_until("it is said", || {
        grant.remarks().concat().contains("nothing but TLS")
    });
    assert!(
        origin.requests().iter().all(String::is_empty),
        "{:?}",
        origin.requests()
    );

    let (mut stream, line) = tunnel(&grant, &origin.place());
    assert!(line.contains("200"), "{line}");
    let mut upload = vec![0x16, 3];
    upload.resize(3 << 20, b'x');
    let _cut_off = stream.write_all(&upload);
    let _closed = stream.shutdown(Shutdown::Write);
    drop(stream);
    assert!(origin.closed(1), "the tunnel stays open");
    assert!(origin.raw_bytes() <= 1 << 20, "{}", origin.raw_bytes());
    wait_until("it is said", || {
        grant.remarks().concat().contains("KiB were sent")
    });
}

#[test]
fn connections_are_bounded_and_end_with_the_command() {
    let (origin, _egress, grant) = scene();
    let mut open = Vec::new();
    for _ in 0..16 {
        let (mut stream, line) = tunnel(&grant, &origin.place());
        assert!(line.contains("200"), "{line}");
        stream.write_all(&[0x16, 3]).expect("sent");
        open.push(stream);
    }
    let (_stream, line) = tunnel(&grant, &origin.place());
    assert!(line.contains("503"), "{line}");
    // The bytes have arrived, so the origin has seen each connection as a tunnel.
    assert!(origin.received(2 * 16), "{}", origin.raw_bytes());
    drop(grant);
    for stream in open {
        assert_eq!(rest(stream), "");
    }
    assert!(origin.closed(16), "the other side is still connected");
}

#[test]
fn in_mode_all_addresses_alone_are_judged() {
    let origin = Origin::start();
    let egress = proxy_in(NetworkMode::All, &[origin.place()]);
    let grant = egress.grant(RefusalStyle::InWords).expect("a grant");
    let url = origin.url("/file");
    let head = format!("{}Content-Length: 4\r\n\r\n", proof(&grant));
    for (begun, body) in [
        (format!("POST {url} HTTP/1.1\r\n{head}da"), "ta"),
        (format!("PUT {url} HTTP/1.1\r\n{head}"), "data"),
        (
            format!("DELETE {url} HTTP/1.1\r\n{}\r\n", proof(&grant)),
            "",
        ),
    ] {
        let mut stream = connect(&grant);
        stream.write_all(begun.as_bytes()).expect("sent");
        stream.write_all(body.as_bytes()).expect("sent");
        // A request without a body may be answered, and the connection closed, by now.
        let _is_over = stream.shutdown(Shutdown::Write);
        let answer = rest(stream);
        assert!(
            answer.starts_with("HTTP/1.1 200 OK\r\n"),
            "{begun}: {answer}"
        );
        assert!(answer.contains(CONTENT), "{answer}");
    }
    let asked = origin.requests().concat();
    for line in [
        "POST /file",
        "PUT /file",
        "DELETE /file",
        "Content-Length: 4",
    ] {
        assert!(asked.contains(line), "{line}: {asked}");
    }
    // A tunnel of any protocol, with more than a request takes.
    let (mut stream, line) = tunnel(&grant, &origin.place());
    assert!(line.contains("200"), "{line}");
    stream
        .write_all(b"GET /file HTTP/1.1\r\n\r\n")
        .expect("sent");
    assert!(rest(stream).contains(CONTENT));
    let (mut stream, _) = tunnel(&grant, &origin.place());
    let mut upload = vec![0x16, 3];
    upload.resize(3 << 20, b'x');
    stream.write_all(&upload).expect("sent");
    assert!(origin.received(3 << 20), "{}", origin.raw_bytes());
    // Addresses that are not public stay out of reach.
    let unseen = Unseen::new();
    for place in unseen.spellings() {
        let answer = ask_with(&grant, &format!("POST http://{place}/"), "");
        assert!(
            answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 502 "),
            "{place}: {answer}"
        );
        let (_stream, line) = tunnel(&grant, &place);
        assert!(
            line.contains(" 403 ") || line.contains(" 502 "),
            "{place}: {line}"
        );
    }
    let (_stream, line) = tunnel(&grant, "169.254.169.254:80");
    assert!(line.contains(" 403 "), "{line}");
    unseen.assert_unseen("mode all");
}
