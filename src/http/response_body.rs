//! The body of an answer, which keeps the permit of its call until it has been written out.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

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
