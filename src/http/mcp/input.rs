//! Standard input, read by a thread of its own: whoever stops need not wait until somebody writes.

use std::io::{self, Read as _};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Bytes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::{mpsc, oneshot};

/// Bytes that are read at once.
const PIECE_BYTES: usize = 64 * 1024;

/// What is left to read.
pub(super) struct Input {
    pieces: mpsc::Receiver<Bytes>,
    piece: Bytes,
    ended: Option<oneshot::Sender<()>>,
}

impl Input {
    /// Begins to read. The second value comes when the input has ended.
    pub(super) fn begin() -> io::Result<(Self, oneshot::Receiver<()>)> {
        let (sender, pieces) = mpsc::channel(1);
        let (ended, end) = oneshot::channel();
        let thread = std::thread::Builder::new().name("input".to_owned());
        thread.spawn(move || {
            let mut input = io::stdin().lock();
            let mut buffer = vec![0; PIECE_BYTES];
            while let Ok(length @ 1..) = input.read(&mut buffer) {
                let piece = Bytes::copy_from_slice(&buffer[..length]);
                if sender.blocking_send(piece).is_err() {
                    return;
                }
            }
        })?;
        let input = Self {
            pieces,
            piece: Bytes::new(),
            ended: Some(ended),
        };
        Ok((input, end))
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.piece.is_empty() {
            let Some(piece) = ready!(self.pieces.poll_recv(context)) else {
                if let Some(ended) = self.ended.take() {
                    let _nobody_waits = ended.send(());
                }
                return Poll::Ready(Ok(()));
            };
            self.piece = piece;
        }
        let length = self.piece.len().min(buffer.remaining());
        let piece = self.piece.split_to(length);
        buffer.put_slice(&piece);
        Poll::Ready(Ok(()))
    }
}
