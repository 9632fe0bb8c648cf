//! The request lines of a connection, as the client sent them.
//!
//! The HTTP library cuts a fragment off the target of a request before a handler sees it, and
//! `DELETE /dav/storage/d/#1.txt` would remove `d`. So the bytes are followed as they come in, and a
//! request whose target has a `#` is refused. How long a body is, the library says.

use axum::body::HttpBody as _;
use axum::extract::Request;
use hyper::body::Incoming;

use super::BUFFER_MAX_BYTES;

/// Marks a request whose target has a fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetHasFragment;

/// Follows the bytes of a connection from request to request.
#[derive(Debug)]
pub(super) struct RequestLines {
    position: Position,
    /// Whether the line of the current head has a fragment.
    has_fragment: bool,
    /// Bytes after a head whose framing is not known yet.
    unread: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// Before a request; empty lines are skipped.
    Before,
    /// In a request line.
    Line,
    /// In the fields of a head: `true` at the beginning of a line.
    Fields(bool),
    /// After a head, until the library has read it.
    Head,
    /// In a body, or in a chunk, of which so much is missing.
    Sized { missing: u64, chunk: bool },
    /// In the size of a chunk; the digits end at an extension.
    ChunkSize { size: u64, digits: bool },
    /// Between a chunk and the next size.
    ChunkEnd,
    /// In the fields after a chunked body: `true` at the beginning of a line.
    Trailers(bool),
    /// The connection no longer speaks HTTP.
    Upgraded,
}

impl RequestLines {
    pub(super) fn new() -> Self {
        Self {
            position: Position::Before,
            has_fragment: false,
            unread: Vec::new(),
        }
    }

    /// Takes bytes that came in.
    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            match &mut self.position {
                Position::Upgraded => return,
                Position::Head => {
                    if self.unread.len() + bytes.len() > BUFFER_MAX_BYTES {
                        self.position = Position::Upgraded;
                        self.unread = Vec::new();
                        return;
                    }
                    self.unread.extend_from_slice(bytes);
                    return;
                }
                Position::Sized { missing, chunk } => {
                    let taken = usize::try_from(*missing).unwrap_or(usize::MAX);
                    let taken = taken.min(bytes.len());
                    *missing -= taken as u64;
                    if *missing == 0 {
                        self.position = if *chunk {
                            Position::ChunkEnd
                        } else {
                            Position::Before
                        };
                    }
                    bytes = bytes.get(taken..).unwrap_or_default();
                    continue;
                }
                _ => self.step(byte),
            }
            bytes = rest;
        }
    }

    fn step(&mut self, byte: u8) {
        self.position = match (self.position, byte) {
            (Position::Before, b'\r' | b'\n') | (Position::Trailers(true), b'\n') => {
                Position::Before
            }
            (Position::Before, _) => {
                self.has_fragment = byte == b'#';
                Position::Line
            }
            (Position::Line, b'\n') => Position::Fields(true),
            (Position::Line, _) => {
                self.has_fragment |= byte == b'#';
                Position::Line
            }
            (Position::Fields(true), b'\n') => Position::Head,
            (Position::Fields(is_start), b'\r') => Position::Fields(is_start),
            (Position::Fields(_), _) => Position::Fields(byte == b'\n'),
            (Position::ChunkSize { size: 0, .. }, b'\n') => Position::Trailers(true),
            (Position::ChunkSize { size, .. }, b'\n') => Position::Sized {
                missing: size,
                chunk: true,
            },
            (Position::ChunkSize { size, digits: true }, _) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                Position::ChunkSize {
                    size: size.saturating_mul(16).saturating_add(u64::from(digit)),
                    digits: true,
                }
            }
            (Position::ChunkSize { size, .. }, _) => Position::ChunkSize {
                size,
                digits: false,
            },
            (Position::ChunkEnd, b'\n') => Position::ChunkSize {
                size: 0,
                digits: true,
            },
            (Position::Trailers(is_start), b'\r') => Position::Trailers(is_start),
            (Position::Trailers(_), _) => Position::Trailers(byte == b'\n'),
            (position, _) => position,
        };
    }

    /// Goes on behind the head of a request that the library has read; `true` if its target has a
    /// fragment.
    pub(super) fn next(&mut self, request: &Request<Incoming>) -> bool {
        self.follow(request.body().size_hint().exact())
    }

    /// The same with the length of the body; `None` if it comes in chunks.
    fn follow(&mut self, length: Option<u64>) -> bool {
        if self.position != Position::Head {
            return self.has_fragment;
        }
        self.position = match length {
            Some(0) => Position::Before,
            Some(missing) => Position::Sized {
                missing,
                chunk: false,
            },
            None => Position::ChunkSize {
                size: 0,
                digits: true,
            },
        };
        let has_fragment = std::mem::take(&mut self.has_fragment);
        let unread = std::mem::take(&mut self.unread);
        self.read(&unread);
        has_fragment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answers for requests with bodies of these lengths, in pieces of so many bytes.
    fn fragments(stream: &str, lengths: &[Option<u64>], piece: usize) -> Vec<bool> {
        let mut lines = RequestLines::new();
        let mut pieces = stream.as_bytes().chunks(piece);
        let mut found = Vec::new();
        for length in lengths {
            while lines.position != Position::Head {
                lines.read(pieces.next().unwrap_or_else(|| panic!("{stream:?}")));
            }
            found.push(lines.follow(*length));
        }
        found
    }

    #[test]
    fn fragments_are_found_in_request_lines_only() {
        let stream = "DELETE /d/#1 HTTP/1.1\r\nHost: x\r\n\r\n\
            \r\nPUT /a HTTP/1.1\r\nHost: #\r\nContent-Length: 22\r\n\r\nGET /#1 HTTP/1.1\r\n\r\n\r\n\
            GET /b HTTP/1.1\n\n\
            PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
            2;e=1#\r\n\n#\r\n1A\r\nGET /#1 HTTP/1.1\r\n\r\n012345\r\n0\r\nT: #\r\n\r\n\
            GET /e#f HTTP/1.1\r\n\r\nGET /g HTTP/1.1\r\n\r\n";
        let lengths = [Some(0), Some(22), Some(0), None, Some(0), Some(0)];
        for piece in [1, 2, 3, 7, 40, 1000] {
            assert_eq!(
                fragments(stream, &lengths, piece),
                [true, false, false, false, true, false],
                "{piece}"
            );
        }
    }
}
