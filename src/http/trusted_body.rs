//! A body that breaks off when the trust ends of the caller who sends or receives it.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use fileshed_core::trust::{Revocation, Trust};
use hyper::body::{Frame, SizeHint};

/// A body of this size is on its way at once.
const SHORT: u64 = 64 * 1024;

/// A body, and what it depends on.
struct TrustedBody {
    body: Body,
    trust: Trust,
}

/// Breaks a body off when the trust ends.
pub(super) fn trusted(body: Body, trust: &Trust) -> Body {
    let is_short = body.size_hint().exact().is_some_and(|size| size <= SHORT);
    if is_short || trust.grounds().is_none() {
        return body;
    }
    let trust = trust.clone();
    Body::new(TrustedBody { body, trust })
}

impl HttpBody for TrustedBody {
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

/// Waits until the trust ends.
pub(super) async fn ended(trust: &Trust) -> Revocation {
    std::future::poll_fn(|context| trust.poll_ended(context)).await
}
