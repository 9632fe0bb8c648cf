//! Bodies that hold a value until they have been written, or the client has gone: the permit of a call,
//! the mark of a connection that a request runs, or the trust in a caller.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{io, iter};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::response::Parts;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::transfer::TransferPermit;
use fileshed_core::trust::{Revocation, Trust};
use fileshed_core::{Clock, Timings};
use futures_util::stream;
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::admission::CallPermit;
use super::{pool, timer};

/// Most bytes that the connection gets at once. An answer that is no larger keeps no permit.
const PIECE_BYTES: usize = 64 * 1024;

/// Bytes of one chunk of a body that a thread writes.
pub(super) const CHUNK_BYTES: usize = 128 * 1024;
/// Most chunks of it that wait for the connection.
const CHUNKS_QUEUED: usize = 1;
/// Policy for a file that a browser opens: it may do nothing, whatever it holds.
pub(super) const INERT: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox",
);

/// Completes an answer with its text. A large one keeps the permit until it has been written out.
pub(super) fn respond(
    mut parts: Parts,
    text: impl Into<Bytes>,
    admitted: Option<CallPermit>,
) -> Response {
    let mut text = text.into();
    let size = text.len();
    let body = match admitted {
        Some(mut admitted) if size > PIECE_BYTES => {
            admitted.set_held(size as u64);
            parts.headers.insert(CONTENT_LENGTH, size.into());
            // Pieces, because a connection would take the whole at once, and the permit would be free
            // while the client does not read. Copies, because the last piece would hold the whole.
            let pieces = iter::from_fn(move || {
                let piece = text.split_to(PIECE_BYTES.min(text.len()));
                (!piece.is_empty()).then(|| Ok::<_, Infallible>(Bytes::copy_from_slice(&piece)))
            });
            let body = Body::from_stream(stream::iter(pieces));
            Body::new(HeldBody::new(body, admitted))
        }
        _ => Body::from(text),
    };
    Response::from_parts(parts, body)
}

/// The answer of a call that succeeded.
pub(super) fn json(text: Vec<u8>, admitted: CallPermit) -> Response {
    let headers = [(CONTENT_TYPE, "application/json")];
    let (parts, _) = headers.into_response().into_parts();
    respond(parts, text, Some(admitted))
}

/// A picture as it is, which does nothing in a browser.
pub(super) fn picture(mime_type: &str, bytes: Vec<u8>, admitted: CallPermit) -> Response {
    let headers = [(CONTENT_TYPE, mime_type), (CONTENT_DISPOSITION, "inline")];
    let policy = [(CONTENT_SECURITY_POLICY, INERT)];
    let (parts, _) = unstored((headers, policy).into_response()).into_parts();
    respond(parts, bytes, Some(admitted))
}

/// An answer that nobody keeps.
pub(super) fn unstored(response: Response) -> Response {
    ([(CACHE_CONTROL, "no-store")], response).into_response()
}

/// A mark on an answer: a browser may keep it, and asks each time if it still may show it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptPrivately;

/// A body that holds a value, and breaks off when a trust ends.
pub(super) struct HeldBody<T> {
    body: Body,
    trust: Trust,
    _held: T,
}

impl<T> HeldBody<T> {
    pub(super) fn new(body: Body, held: T) -> Self {
        Self {
            body,
            trust: Trust::default(),
            _held: held,
        }
    }
}

/// Breaks a body off when the trust ends in the caller who sends or receives it.
pub(super) fn trusted(body: Body, trust: &Trust) -> Body {
    let is_short = body
        .size_hint()
        .exact()
        .is_some_and(|size| size <= PIECE_BYTES as u64);
    if is_short || trust.grounds().is_none() {
        return body;
    }
    Body::new(HeldBody {
        body,
        trust: trust.clone(),
        _held: (),
    })
}

/// Waits until the trust ends.
pub(super) async fn ended(trust: &Trust) -> Revocation {
    std::future::poll_fn(|context| trust.poll_ended(context)).await
}

impl<T: Unpin> HttpBody for HeldBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(reason) = self.trust.poll_ended(context) {
            return Poll::Ready(Some(Err(axum::Error::new(reason))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body that `write` makes in a thread that may block, while it is sent. If it fails, the connection
/// breaks off, so that nobody takes a part for the whole. The permit is held until then.
pub(super) fn written(
    transfer_permit: TransferPermit,
    write: impl FnOnce(&mut BodyWriter) -> io::Result<()> + Send + 'static,
) -> Body {
    let (sender, chunks) = mpsc::channel(CHUNKS_QUEUED);
    drop(pool::blocking(move || {
        let mut writer = BodyWriter {
            sender,
            runtime: Handle::current(),
            clock: transfer_permit.clock().clone(),
            is_broken: false,
        };
        let end = write(&mut writer).map(|()| Bytes::new());
        if !writer.is_broken {
            let _gone = writer.send(end);
        }
    }));
    of_chunks(chunks)
}

/// The connection, for a thread that may block.
pub(super) struct BodyWriter {
    sender: mpsc::Sender<io::Result<Bytes>>,
    runtime: Handle,
    clock: Clock,
    /// `true` if the client took nothing for too long, or is gone.
    is_broken: bool,
}

impl BodyWriter {
    /// Sends a chunk; an empty one is the end.
    pub(super) fn send(&mut self, chunk: io::Result<Bytes>) -> io::Result<()> {
        let patience = Timings::STANDARD.http.chunk;
        let sent = timer::within(&self.clock, patience, self.sender.send(chunk));
        self.is_broken = !matches!(self.runtime.block_on(sent), Some(Ok(())));
        if self.is_broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }
}

impl io::Write for BodyWriter {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        if !chunk.is_empty() {
            self.send(Ok(Bytes::copy_from_slice(chunk)))?;
        }
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A body of the chunks that come over a channel, up to an empty one. If the channel closes earlier, the
/// connection does, so that nobody takes a part for the whole.
pub(super) fn of_chunks(chunks: mpsc::Receiver<io::Result<Bytes>>) -> Body {
    Body::from_stream(stream::unfold(chunks, |mut chunks| async {
        let chunk = chunks.recv().await;
        let chunk = chunk.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
        let is_end = chunk.as_ref().is_ok_and(Bytes::is_empty);
        (!is_end).then_some((chunk, chunks))
    }))
}
