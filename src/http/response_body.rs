//! Bodies that hold something until they have been written out, or nobody reads them any more: the
//! permit of a call, the mark of a connection that a request runs, or the trust in a caller.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::response::Response;
use fileshed_core::trust::{Revocation, Trust};
use futures_util::stream;
use hyper::body::{Frame, SizeHint};
use tokio::sync::mpsc;

use super::admission::CallPermit;

/// Bytes that the connection gets at once. An answer that is no larger keeps no permit.
const CHUNK_BYTES: usize = 64 * 1024;

/// What a file may do in the browser that opens it: nothing, whatever it holds.
pub(super) const INERT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");

/// The body of an answer.
pub(super) fn body(text: Vec<u8>, mut admitted: CallPermit) -> Body {
    admitted.set_held(text.len() as u64);
    let text = Bytes::from(text);
    if text.len() <= CHUNK_BYTES {
        return Body::from(text);
    }
    Body::new(ResponseBody {
        left: text,
        _admitted: admitted,
    })
}

/// The answer of a call that succeeded.
pub(super) fn json(text: Vec<u8>, admitted: CallPermit) -> Response {
    let mut response = Response::new(body(text, admitted));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// A picture as it is, which does nothing in a browser.
pub(super) fn picture(mime_type: &str, bytes: Vec<u8>, admitted: CallPermit) -> Response {
    let mut response = Response::new(body(bytes, admitted));
    let headers = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(mime_type) {
        headers.insert(CONTENT_TYPE, kind);
    }
    headers.insert(CONTENT_SECURITY_POLICY, INERT);
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// In chunks: a connection would take the whole at once, and the permit would be free while the
/// client does not read.
struct ResponseBody {
    left: Bytes,
    _admitted: CallPermit,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let chunk = CHUNK_BYTES.min(self.left.len());
        // A copy: what is left of the whole would else be held by its last piece.
        let chunk = Bytes::copy_from_slice(&self.left.split_to(chunk));
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

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

/// A body of this size is on its way at once.
const SHORT: u64 = 64 * 1024;

/// Breaks a body off when the trust ends in the caller who sends or receives it.
pub(super) fn trusted(body: Body, trust: &Trust) -> Body {
    let is_short = body.size_hint().exact().is_some_and(|size| size <= SHORT);
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
