//! Requests of clients of the proxy.

use super::head::Head;
use super::refusal::EgressRefusal;

/// Longest address.
const URL_BYTES: usize = 8 * 1024;

/// A request that keeps the rules; where it leads is not judged yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) kind: RequestKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// A tunnel for TLS.
    Tunnel,
    /// One document over plain HTTP.
    Fetch {
        /// `HEAD`, so that the answer has no body.
        head: bool,
        /// A body follows it.
        has_body: bool,
        /// The request as it is passed on to the host.
        request: Vec<u8>,
    },
}

impl Request {
    /// Reads a request: `CONNECT host:port`, or one of a whole address, which is `GET` or `HEAD`
    /// without a body where nothing but downloads is allowed.
    pub(super) fn new(head: &Head, downloads_only: bool) -> Result<Self, EgressRefusal> {
        let mut words = head.line.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(EgressRefusal::Malformed);
        };
        // Some servers take a tab for a space.
        if head.line.contains('\t') || !matches!(version, "HTTP/1.0" | "HTTP/1.1") {
            return Err(EgressRefusal::Malformed);
        }
        if target.len() > URL_BYTES {
            return Err(EgressRefusal::TooLong);
        }
        let has_body =
            head.has("transfer-encoding") || head.length().is_some_and(|length| length > 0);
        if downloads_only && has_body {
            return Err(EgressRefusal::Body);
        }
        if head.has("upgrade") {
            return Err(EgressRefusal::Upgrade);
        }
        if method == "CONNECT" {
            let (host, port) = authority(target).ok_or(EgressRefusal::Malformed)?;
            return Ok(Self {
                host,
                port: port.ok_or(EgressRefusal::Malformed)?,
                kind: RequestKind::Tunnel,
            });
        }
        if downloads_only && !matches!(method, "GET" | "HEAD") {
            return Err(EgressRefusal::Method);
        }
        let (scheme, rest) = target.split_once("://").ok_or(EgressRefusal::Malformed)?;
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(EgressRefusal::Scheme);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (place, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let (host, port) = authority(place).ok_or(EgressRefusal::Malformed)?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut request =
            format!("{method} {slash}{path} {version}\r\nHost: {place}\r\n").into_bytes();
        // The host that is asked is the one that was judged.
        let dropped = ["host", "expect", "trailer", "content-length"];
        let dropped = if has_body {
            &dropped[..3]
        } else {
            &dropped[..]
        };
        head.write_headers(&mut request, dropped);
        Ok(Self {
            host,
            port: port.unwrap_or(80),
            kind: RequestKind::Fetch {
                head: method == "HEAD",
                has_body,
                request,
            },
        })
    }
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`; no user, no zone of an interface.
fn authority(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            let _an_address: std::net::Ipv6Addr = host.parse().ok()?;
            (
                host,
                port.strip_prefix(':').or(port.is_empty().then_some(""))?,
            )
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    if host.is_empty() || host.len() > 255 || !host.chars().all(known) {
        return None;
    }
    let port = match port {
        "" => None,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse().ok().filter(|port| *port > 0)?)
        }
        _ => return None,
    };
    Some((host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Result<Request, EgressRefusal> {
        let (head, _) = Head::read(&mut text.as_bytes(), Vec::new(), 32 * 1024).expect("a head");
        Request::new(&head, true)
    }

    #[test]
    fn a_fetch_is_written_anew() {
        let asked = request(
            "GET http://Files.example.org:8080/a?b=1#c HTTP/1.1\r\nHost: inner.example.org\r\n\
             Accept: */*\r\nProxy-Connection: keep-alive\r\n\r\n",
        );
        let Ok(Request {
            host,
            port,
            kind: RequestKind::Fetch { head, request, .. },
        }) = asked
        else {
            panic!("{asked:?}")
        };
        assert_eq!(
            (host.as_str(), port, head),
            ("Files.example.org", 8080, false)
        );
        assert_eq!(
            String::from_utf8_lossy(&request),
            "GET /a?b=1 HTTP/1.1\r\nHost: Files.example.org:8080\r\nAccept: */*\r\n\
             Connection: close\r\n\r\n"
        );
        let bare = request_line("HEAD http://example.org?x HTTP/1.0").expect("fine");
        assert!(
            matches!(bare.kind, RequestKind::Fetch { head: true, request, .. }
            if request.starts_with(b"HEAD /?x HTTP/1.0\r\n"))
        );
        let tunnel = request_line("CONNECT [2606:4700::1]:443 HTTP/1.1").expect("fine");
        assert_eq!((tunnel.host.as_str(), tunnel.port), ("2606:4700::1", 443));
    }

    fn request_line(line: &str) -> Result<Request, EgressRefusal> {
        request(&format!("{line}\r\n\r\n"))
    }

    #[test]
    fn everything_but_a_download_is_refused() {
        for method in [
            "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "PROPFIND",
        ] {
            let line = format!("{method} http://example.org/ HTTP/1.1");
            assert_eq!(request_line(&line), Err(EgressRefusal::Method), "{method}");
        }
        let with = |header: &str| {
            request(&format!(
                "GET http://example.org/ HTTP/1.1\r\n{header}\r\n\r\n"
            ))
        };
        assert_eq!(with("Content-Length: 1"), Err(EgressRefusal::Body));
        assert_eq!(with("Content-Length: x"), Err(EgressRefusal::Body));
        assert_eq!(with("Transfer-Encoding: chunked"), Err(EgressRefusal::Body));
        assert_eq!(with("Upgrade: websocket"), Err(EgressRefusal::Upgrade));
        for line in [
            "GET / HTTP/1.1",
            "GET example.org/ HTTP/1.1",
            "GET http:///a HTTP/1.1",
            "GET http://user@example.org/ HTTP/1.1",
            "GET http://example.org:0/ HTTP/1.1",
            "GET http://example.org:+80/ HTTP/1.1",
            "GET http://[::1%25lo]/ HTTP/1.1",
            "GET http://[::1]x/ HTTP/1.1",
            "GET http://a:80:80/ HTTP/1.1",
            "GET  http://a/ HTTP/1.1",
            "GET http://a/\tb HTTP/1.1",
            "GET http://a/ HTTP/2",
            "GET http://a/",
            "CONNECT example.org HTTP/1.1",
            "CONNECT user@example.org:443 HTTP/1.1",
        ] {
            assert_eq!(request_line(line), Err(EgressRefusal::Malformed), "{line}");
        }
        assert_eq!(
            request_line("GET ftp://example.org/ HTTP/1.1"),
            Err(EgressRefusal::Scheme)
        );
        let long = format!("GET http://example.org/{} HTTP/1.1", "a".repeat(URL_BYTES));
        assert_eq!(request_line(&long), Err(EgressRefusal::TooLong));
    }
}
