//! An answer on its way out.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use super::admission::Admitted;

/// Bytes that are handed to the connection at once. A smaller answer holds no memory.
const PIECE: usize = 64 * 1024;

/// The answer of a call. It keeps the call's place and memory until the client has taken it.
pub(super) fn body(text: Vec<u8>, mut admitted: Admitted) -> Body {
    admitted.settle(text.len() as u64);
    let text = Bytes::from(text);
    if text.len() <= PIECE {
        return Body::from(text);
    }
    Body::new(Answer {
        left: text,
        _admitted: admitted,
    })
}

/// The answer of a call that succeeded.
pub(super) fn of(text: Vec<u8>, admitted: Admitted) -> Response {
    let mut response = Response::new(body(text, admitted));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Sends in pieces: a connection would take the whole, and the place would be free while nobody
/// reads.
struct Answer {
    left: Bytes,
    _admitted: Admitted,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left.is_empty() {
            return Poll::Ready(None);
        }
        let piece = PIECE.min(self.left.len());
        // A copy: what is left of the whole would else be held by its last piece.
        let piece = Bytes::copy_from_slice(&self.left.split_to(piece));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}
