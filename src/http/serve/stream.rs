//! The request lines of a connection, as the client sent them.
//!
//! The HTTP library cuts a fragment off the target of a request before a handler sees it, and
//! `DELETE /dav/storage/d/#1.txt` would remove `d`. So the bytes are followed as they come in, and a
//! request whose target has a `#` is refused. The library knows the length of a body.

use crate::http::serve::BUFFER_MAX_BYTES;

/// Marks a request whose target has a fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetHasFragment;

/// Follows the bytes of a connection from request to request.
#[derive(Debug, Default)]
pub(super) struct RequestLines {
    position: StreamPosition,
    line: PartialLine,
    /// `true` if the line of the current head has a fragment.
    has_fragment: bool,
    /// Bytes after a head whose framing is not known yet.
    unread: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StreamPosition {
    /// Before a request, or in its first line; empty lines are skipped.
    #[default]
    Before,
    /// In the fields of a head.
    Fields,
    /// After a head, until the library has read it.
    Head,
    /// In a body, or in a chunk, of which so much is missing.
    Sized { missing: u64, chunk: bool },
    /// In the line with the size of a chunk.
    ChunkSize,
    /// Between a chunk and the next size.
    ChunkEnd,
    /// In the fields after a chunked body.
    Trailers,
    /// The connection no longer speaks HTTP.
    Upgraded,
}

/// State of the line that is coming in.
#[derive(Debug, Default)]
struct PartialLine {
    has_text: bool,
    has_fragment: bool,
    /// The number that it begins with, as the size of a chunk; it ends at an extension.
    size: u64,
    size_ended: bool,
}

impl RequestLines {
    /// Takes bytes that came in.
    pub(super) fn read(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            match &mut self.position {
                StreamPosition::Upgraded => return,
                StreamPosition::Head => {
                    if self.unread.len() + bytes.len() > BUFFER_MAX_BYTES {
                        self.position = StreamPosition::Upgraded;
                        self.unread = Vec::new();
                        return;
                    }
                    self.unread.extend_from_slice(bytes);
                    return;
                }
                StreamPosition::Sized { missing, chunk } => {
                    let taken = usize::try_from(*missing).unwrap_or(usize::MAX);
                    let taken = taken.min(bytes.len());
                    *missing -= taken as u64;
                    if *missing == 0 {
                        self.position = if *chunk {
                            StreamPosition::ChunkEnd
                        } else {
                            StreamPosition::Before
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
        match byte {
            b'\n' => return self.end_line(),
            b'\r' => return,
            _ => {}
        }
        let line = &mut self.line;
        line.has_text = true;
        line.has_fragment |= byte == b'#';
        match char::from(byte).to_digit(16) {
            Some(digit) if !line.size_ended => {
                let size = line.size.saturating_mul(16);
                line.size = size.saturating_add(u64::from(digit));
            }
            _ => line.size_ended = true,
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.position = match (self.position, line.has_text) {
            (StreamPosition::Before, true) => {
                self.has_fragment = line.has_fragment;
                StreamPosition::Fields
            }
            (StreamPosition::Fields, false) => StreamPosition::Head,
            (StreamPosition::ChunkSize, _) if line.size == 0 => StreamPosition::Trailers,
            (StreamPosition::ChunkSize, _) => StreamPosition::Sized {
                missing: line.size,
                chunk: true,
            },
            (StreamPosition::ChunkEnd, _) => StreamPosition::ChunkSize,
            (StreamPosition::Trailers, false) => StreamPosition::Before,
            (position, _) => position,
        };
    }

    /// Goes on behind the head of a request, with the length of its body, `None` if that comes in chunks.
    /// Returns `true` if the target has a fragment.
    pub(super) fn follow(&mut self, length: Option<u64>) -> bool {
        if self.position != StreamPosition::Head {
            return self.has_fragment;
        }
        self.position = match length {
            Some(0) => StreamPosition::Before,
            Some(missing) => StreamPosition::Sized {
                missing,
                chunk: false,
            },
            None => StreamPosition::ChunkSize,
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
        let mut lines = RequestLines::default();
        let mut pieces = stream.as_bytes().chunks(piece);
        let mut found = Vec::new();
        for length in lengths {
            while lines.position != StreamPosition::Head {
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
