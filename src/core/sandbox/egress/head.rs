//! The head of an HTTP message: its first line and its headers, read strictly. A head that two parsers could
//! read in two ways is refused, so that the other side sees the same message that was checked here.

use std::io::Read;

use super::refusal::EgressRefusal;

/// Largest head of a message.
pub(super) const HEAD_BYTES: usize = 32 * 1024;

/// End of a head.
const END: &[u8] = b"\r\n\r\n";

/// Headers of one connection, not of the message: never passed on.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "proxy-connection",
    "proxy-authorization",
    "proxy-authenticate",
    "keep-alive",
    "te",
    "upgrade",
    "http2-settings",
    "alt-svc",
];

/// A first line and headers, in order.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) line: String,
    /// Its bytes.
    pub(super) size: usize,
    headers: Vec<(String, Vec<u8>)>,
}

impl Head {
    /// Reads a head of at most so many bytes, and what came behind it in the same pieces. A head that
    /// ends early, or takes too long, is as malformed as one that is not HTTP/1.
    pub(super) fn read(
        stream: &mut impl Read,
        mut bytes: Vec<u8>,
        most: usize,
    ) -> Result<(Self, Vec<u8>), EgressRefusal> {
        let mut piece = [0; 4096];
        let mut searched = 0;
        loop {
            if let Some(at) = bytes[searched..]
                .windows(END.len())
                .position(|window| window == END)
            {
                let end = searched + at;
                if end > most {
                    return Err(EgressRefusal::TooLong);
                }
                let rest = bytes.split_off(end + END.len());
                return Ok((Self::parse(&bytes).ok_or(EgressRefusal::Malformed)?, rest));
            }
            // Whatever comes, the head ends behind its bound.
            if bytes.len() >= most + END.len() {
                return Err(EgressRefusal::TooLong);
            }
            searched = bytes.len().saturating_sub(END.len() - 1);
            match stream.read(&mut piece) {
                Ok(0) => return Err(EgressRefusal::Malformed),
                Ok(count) => bytes.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return Err(EgressRefusal::Malformed),
            }
        }
    }

    /// Parses a head with the empty line at its end.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let is_text = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
        // httparse takes a line feed alone for the end of a line; others may not.
        let is_lone = |pair: &[u8]| pair[1] == b'\n' && pair[0] != b'\r';
        if bytes.first() == Some(&b'\n') || bytes.windows(2).any(is_lone) {
            return None;
        }
        let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
        let (first, fields) = (&bytes[..end], &bytes[end + 2..]);
        if !first.iter().all(is_text) {
            return None;
        }
        let lines = fields.split(|byte| *byte == b'\n').count();
        let mut parsed = vec![httparse::EMPTY_HEADER; lines];
        let Ok(httparse::Status::Complete((length, parsed))) =
            httparse::parse_headers(fields, &mut parsed)
        else {
            return None;
        };
        let header =
            |header: &httparse::Header<'_>| (header.name.to_owned(), header.value.to_vec());
        (length == fields.len()).then_some(Self {
            size: bytes.len().saturating_sub(END.len()),
            line: String::from_utf8(first.to_vec()).ok()?,
            headers: parsed.iter().map(header).collect(),
        })
    }

    /// All values of a header.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers
            .iter()
            .filter(move |(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// Returns `true` if there is such a header.
    pub(super) fn has(&self, name: &str) -> bool {
        self.all(name).next().is_some()
    }

    /// The length that the message says its body has; the largest where it says several.
    pub(super) fn length(&self) -> Option<u64> {
        self.all("content-length")
            .map(|value| {
                let digits = std::str::from_utf8(value).ok();
                digits
                    .and_then(|text| text.parse().ok())
                    .unwrap_or(u64::MAX)
            })
            .max()
    }

    /// Appends the headers that go on, without those named in `except`.
    pub(super) fn write_headers(&self, out: &mut Vec<u8>, except: &[&str]) {
        let named: Vec<String> = self
            .all("connection")
            .flat_map(|value| value.split(|byte| *byte == b','))
            .map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned())
            .collect();
        // A body's framing is never an option of the connection, whatever that header says.
        let framing = |name: &str| {
            name.eq_ignore_ascii_case("content-length")
                || name.eq_ignore_ascii_case("transfer-encoding")
        };
        for (name, value) in &self.headers {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            let dropped = HOP_BY_HOP.iter().any(|other| is(other))
                || except.iter().any(|other| is(other))
                || (!framing(name) && named.iter().any(|other| is(other)));
            if !dropped {
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b": ");
                out.extend_from_slice(value);
                out.extend_from_slice(b"\r\n");
            }
        }
        out.extend_from_slice(b"Connection: close\r\n\r\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<(Head, Vec<u8>), EgressRefusal> {
        Head::read(&mut &text[..], Vec::new(), HEAD_BYTES)
    }

    #[test]
    fn a_head_ends_at_the_empty_line() {
        let (head, rest) =
            read(b"GET / HTTP/1.1\r\nHost: a\r\nX:  b \r\n\r\nbody").expect("a head");
        assert_eq!(head.line, "GET / HTTP/1.1");
        assert_eq!(head.all("x").collect::<Vec<_>>(), [b"b"]);
        assert_eq!(rest, b"body");
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for text in [
            &b"GET / HTTP/1.1\nHost: a\r\n\r\n"[..],
            b"GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: a\r\n folded\r\n\r\n",
            b"GET / HTTP/1.1\r\nX : a\r\n\r\n",
            b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
            b"GET / HTTP/1.1\r\n: a\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: a\0b\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: a\x7fb\r\n\r\n",
            b"GET / HTTP/1.1\r\nX: a\r\n\nY: b\r\n\r\n",
            b"GET / HTTP/1.1\r\n\nX: a\r\n\r\n",
            b"\nGET / HTTP/1.1\r\nX: a\r\n\r\n",
            b"GET / HTTP/1.1\r\n\tX: a\r\n\r\n",
            b"GET / HTTP/1.1\r\nX:\r\n a\r\n\r\n",
            b"GET / HTTP/1.1\r\nX\xe9: a\r\n\r\n",
        ] {
            assert_eq!(read(text).err(), Some(EgressRefusal::Malformed), "{text:?}");
        }
        assert_eq!(read(b"GET / HT").err(), Some(EgressRefusal::Malformed));
        let large = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(HEAD_BYTES));
        assert_eq!(read(large.as_bytes()).err(), Some(EgressRefusal::TooLong));
    }

    #[test]
    fn the_bound_is_the_same_in_pieces() {
        let text = b"GET / HTTP/1.1\r\nX: a\r\n\r\n";
        let end = text.len() - END.len();
        for most in 0..=text.len() {
            for cut in 0..=text.len() {
                let (first, second) = text.split_at(cut);
                let read = Head::read(&mut first.chain(second), Vec::new(), most);
                let expected = (most < end).then_some(EgressRefusal::TooLong);
                assert_eq!(read.err(), expected, "{most} {cut}");
            }
        }
    }

    #[test]
    fn headers_of_the_connection_stay_behind() {
        let (head, _) = read(
            b"GET / HTTP/1.1\r\nHost: a\r\nConnection: x-own, Content-Length\r\nX-Own: 1\r\n\
              Proxy-Authorization: Basic secret\r\nTE: trailers\r\nAccept: */*\r\n\
              Content-Length: 0\r\n\r\n",
        )
        .expect("a head");
        let mut out = Vec::new();
        head.write_headers(&mut out, &["host"]);
        assert_eq!(
            String::from_utf8_lossy(&out),
            "Accept: */*\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        );
    }
}
