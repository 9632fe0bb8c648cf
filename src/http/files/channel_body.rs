//! A body whose chunks come over a channel.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use fileshed_core::Timings;
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

/// Bytes of one chunk.
pub(super) const CHUNK_BYTES: usize = 128 * 1024;
/// Chunks that wait for the connection.
pub(super) const CHUNKS_QUEUED: usize = 1;
/// How long one chunk may wait: a client that reads more slowly comes back for the rest with a range.
pub(super) const CHUNK_TIMEOUT: Duration = Timings::STANDARD.http.chunk;

/// A body of a known length, or one up to an empty chunk. If the channel closes too early, the
/// connection does, so that nobody takes a part for the whole.
pub(super) struct ChannelBody {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    left: Option<u64>,
}

impl ChannelBody {
    /// A body of `length` bytes.
    pub(super) fn new(chunks: mpsc::Receiver<io::Result<Bytes>>, length: u64) -> Self {
        Self {
            chunks,
            left: Some(length),
        }
    }

    /// A body up to an empty chunk.
    pub(super) fn open_ended(chunks: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { chunks, left: None }
    }
}

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(match ready!(self.chunks.poll_recv(context)) {
            Some(Ok(end)) if end.is_empty() => None,
            Some(Ok(chunk)) => {
                self.left = self
                    .left
                    .map(|left| left.saturating_sub(chunk.len() as u64));
                Some(Ok(Frame::data(chunk)))
            }
            Some(Err(error)) => Some(Err(error)),
            None if self.left == Some(0) => None,
            None => Some(Err(io::ErrorKind::UnexpectedEof.into())),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
