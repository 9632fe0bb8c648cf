//! A body whose pieces come from elsewhere.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

/// Bytes of one piece.
pub(super) const PIECE: usize = 128 * 1024;
/// Pieces that wait for the connection.
pub(super) const WAITING: usize = 1;
/// How long one piece may wait: who reads slower than that comes back for the rest with a range.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// Pieces that come from elsewhere: of a length that was promised, or up to an empty one. Where
/// they end too early, the connection does, so that nobody takes a part for the whole.
pub(super) struct Content {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    left: Option<u64>,
}

impl Content {
    /// So many bytes.
    pub(super) fn new(pieces: mpsc::Receiver<io::Result<Bytes>>, length: u64) -> Self {
        Self {
            pieces,
            left: Some(length),
        }
    }

    /// Up to an empty piece.
    pub(super) fn open_ended(pieces: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { pieces, left: None }
    }
}

impl HttpBody for Content {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Poll::Ready(match ready!(self.pieces.poll_recv(context)) {
            Some(Ok(end)) if end.is_empty() => None,
            Some(Ok(piece)) => {
                self.left = self
                    .left
                    .map(|left| left.saturating_sub(piece.len() as u64));
                Some(Ok(Frame::data(piece)))
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
