//! The request that a task answers: its client's address, its permit among those of all connections, and
//! its body, of which the server reads the rest if the handler did not.
//!
//! A request holds its permit from its head until its answer is complete, including all waits, so that
//! one client cannot hold all connections. The permit counts for the client's address until the user is
//! known, and for the user from then on.
//!
//! Most clients write all of a request before they read the answer. A connection that is closed with
//! unread bytes is reset, and a reset may overtake the answer (RFC 9112, section 9.6): the client would
//! see a broken connection instead of the reason for the refusal.

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::http::header::EXPECT;
use axum::http::{HeaderMap, HeaderName, Request};
use fileshed_core::fair::{FairSemaphore, Full, Grant};
use fileshed_core::{Clock, Mutex};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::sync::oneshot;

use crate::http::timer;

/// The body of a request. Dropped before its end, it leaves the rest to [`UnreadBody`].
pub(super) struct RequestBody {
    /// `None` only while it is dropped.
    incoming: Option<Incoming>,
    /// The client sends it when it is asked to, which the first look at it does.
    waits: bool,
    rest: Option<oneshot::Sender<Incoming>>,
}

/// The unread part of a body.
pub(super) struct UnreadBody(oneshot::Receiver<Incoming>);

/// A request whose body can be left unread.
pub(super) fn with_rest(request: Request<Incoming>) -> (Request<RequestBody>, UnreadBody) {
    let (sender, rest) = oneshot::channel();
    let waits = request.headers().contains_key(EXPECT);
    let request = request.map(|incoming| RequestBody {
        incoming: Some(incoming),
        waits,
        rest: Some(sender),
    });
    (request, UnreadBody(rest))
}

impl UnreadBody {
    /// Reads it, for a while: the answer is the same whether all of it came or not.
    pub(super) async fn read(mut self, clock: &Clock, patience: Duration) {
        if let Ok(mut incoming) = self.0.try_recv() {
            let rest = async { while let Some(Ok(_)) = incoming.frame().await {} };
            let _ = timer::within(clock, patience, rest).await;
        }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.waits = false;
        match &mut self.incoming {
            Some(incoming) => Pin::new(incoming).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let hint = self.incoming.as_ref().map(Incoming::size_hint);
        hint.unwrap_or_else(|| SizeHint::with_exact(0))
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if self.waits || self.is_end_stream() {
            return;
        }
        if let (Some(incoming), Some(rest)) = (self.incoming.take(), self.rest.take()) {
            // The receiver is gone with its connection.
            let _ = rest.send(incoming);
        }
    }
}

/// Header in which proxies name the clients of the requests that they pass on, each proxy at the end.
pub(crate) const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the address of the client whose request came from `peer`: the last one that is no trusted proxy. Only
/// what trusted proxies wrote counts, so that a client cannot choose its address.
pub(super) fn client_address(
    headers: &HeaderMap,
    peer: IpAddr,
    is_trusted: impl Fn(IpAddr) -> bool,
) -> IpAddr {
    let lines = headers.get_all(X_FORWARDED_FOR).into_iter().rev();
    let mut named = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    let mut address = peer;
    while is_trusted(address)
        && let Some(before) = named.next().and_then(parse_address)
    {
        address = before;
    }
    address
}

/// Reads an address, which some proxies write with its port.
fn parse_address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let address = text.trim_start_matches('[').trim_end_matches(']').parse();
    let address = address.or_else(|_| text.parse().map(|address: SocketAddr| address.ip()));
    address.ok().map(|address: IpAddr| address.to_canonical())
}

tokio::task_local! {
    /// Absent in tasks that answer no request of the listener.
    pub(super) static CURRENT: CurrentRequest;
}

/// A request of the listener. Copies are the same; its place is free when the last one is dropped.
#[derive(Clone, Debug)]
pub(super) struct CurrentRequest {
    address: IpAddr,
    places: FairSemaphore,
    held: Arc<Mutex<Option<Grant>>>,
}

impl CurrentRequest {
    pub(super) fn new(address: IpAddr, places: &FairSemaphore) -> Self {
        Self {
            address,
            places: places.clone(),
            held: Arc::default(),
        }
    }

    fn take(&self, user: &str) -> Result<(), Full> {
        let mut held = self.held.lock();
        if held.as_ref().is_some_and(|grant| grant.user() == user) {
            return Ok(());
        }
        drop(held.take());
        *held = Some(self.places.try_take(user)?);
        Ok(())
    }
}

/// Returns the address of the client whose request this task answers.
pub(crate) fn address() -> Option<IpAddr> {
    CURRENT.try_with(|request| request.address).ok()
}

/// Returns the name that pools know a client by whose user is not known. An IPv6 client usually has a whole
/// network of 64 bits, so that is one client.
pub(crate) fn client() -> String {
    let own = match address() {
        Some(IpAddr::V6(address)) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        Some(address) => address,
        None => return "nobody".to_owned(),
    };
    format!("at {own}")
}

/// Makes the place of the current request one of this user.
pub(crate) fn take_place(user: &str) -> Result<(), Full> {
    CURRENT
        .try_with(|request| request.take(user))
        .unwrap_or(Ok(()))
}
