//! An answer that is sent piece by piece, and keeps the permit of its call until its end.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::PermitSlot;

/// The body of such an answer.
pub(super) struct HeldBody {
    body: Body,
    /// Taken out by who wants to hold nobody up.
    _permit: PermitSlot,
}

impl HeldBody {
    pub(super) fn new(body: Body, permit: PermitSlot) -> Self {
        Self {
            body,
            _permit: permit,
        }
    }
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
