//! The stream of a connection, which records its progress and the request lines as the client sent them.
//!
//! The HTTP library cuts a fragment off the target of a request before a handler sees it, and
//! `DELETE /dav/storage/d/#1.txt` would remove `d`. So the bytes are followed as they come in, and a
//! request whose target has a `#` is refused. The library knows the length of a body.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::HttpBody as _;
use axum::extract::Request;
use fileshed_core::Mutex;
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::http::serve::BUFFER_MAX_BYTES;
use crate::http::serve::connection::HttpConnection;

/// A stream that records its progress in its connection.
pub(super) struct MonitoredStream<S> {
    pub(super) stream: S,
    pub(super) connection: Arc<HttpConnection>,
    pub(super) lines: Arc<Mutex<RequestLines>>,
}

impl<S> MonitoredStream<S> {
    fn record(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Pending => self.connection.blocked(),
            Poll::Ready(Ok(bytes)) => self.connection.wrote(*bytes),
            Poll::Ready(Err(_)) => {}
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MonitoredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let new = buffer.filled().get(before..).unwrap_or_default();
        if !new.is_empty() {
            self.connection.read();
            let mut lines = self.lines.lock();
            lines.read(new);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MonitoredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.record(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Marks a request whose target has a fragment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetHasFragment;

/// Follows the bytes of a connection from request to request.
#[derive(Debug)]
pub(super) struct RequestLines {
    position: StreamPosition,
    line: PartialLine,
    /// `true` if the line of the current head has a fragment.
    has_fragment: bool,
    /// Bytes after a head whose framing is not known yet.
    unread: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StreamPosition {
    /// Before a request, or in its first line; empty lines are skipped.
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
    pub(super) fn new() -> Self {
        Self {
            position: StreamPosition::Before,
            line: PartialLine::default(),
            has_fragment: false,
            unread: Vec::new(),
        }
    }

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

    /// Goes on behind the head of a request that the library has read; `true` if its target has a
    /// fragment.
    pub(super) fn next(&mut self, request: &Request<Incoming>) -> bool {
        self.follow(request.body().size_hint().exact())
    }

    /// The same with the length of the body; `None` if it comes in chunks.
    fn follow(&mut self, length: Option<u64>) -> bool {
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
        let mut lines = RequestLines::new();
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
