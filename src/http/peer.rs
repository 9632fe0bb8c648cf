//! Calls that belong to another server on the same data; they are forwarded to it unchanged.
//!
//! The other server authenticates the caller again and relies on nothing that this one found. Forwarded
//! calls carry the credentials of their callers, so the connection is a [sealed](super::seal) one.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{OriginalUri, Request};
use axum::http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderName, HeaderValue, StatusCode, Uri, Version};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::fair::CallSlot;
use fileshed_core::terminal::{ProcessUse, StartingProcess, TerminalPlace};
use fileshed_core::{Caller, Error, Timings, diagnostics};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::admission::CallPermit;
use super::seal::{Seal, SentOn};
use super::serve::current::{self, X_FORWARDED_FOR};
use super::{Server, pool, timer};

/// Most time that the other server may take to accept a connection.
const CONNECT: Duration = Timings::STANDARD.http.peer;

/// Most lookups of the server that has the processes, if they move meanwhile.
const MOVES: usize = 3;

/// Headers that belong to one connection (RFC 9110, section 7.6.1), describe its body, or name its client.
const OF_A_CONNECTION: [HeaderName; 8] = [
    CONNECTION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
    EXPECT,
    CONTENT_LENGTH,
    X_FORWARDED_FOR,
];

diagnostics! {
    /// Why a call could not be sent on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    pub(super) enum PeerError {
        /// It does not answer: it has just ended, is not reached at its address, or somebody else is there.
        #[error("the server that runs your processes and shells does not answer")]
        Silent => {
            code: Busy,
            hint: "call again in a few seconds; if the other server has stopped, its processes \
                   have ended and this server takes over",
            details: { "scope": "server" },
            retry_after: 5_u64,
        },
        /// They moved from one server to the next while it was asked where they are.
        #[error("your processes and shells are moving to another server")]
        Moving => {
            code: Busy,
            hint: "call again in a few seconds",
            details: { "scope": "server" },
            retry_after: 1_u64,
        },
    }
}

/// The route of a call about processes and shells.
pub(super) enum CallRoute {
    /// This server runs it, with this permit; the value is held for as long as the call may start a process.
    Here(CallPermit, Option<StartingProcess>),
    /// The other server has answered.
    Answered(Response),
}

/// Forwards a call to the server that has the processes and shells of its user. The call holds no permit
/// here while it waits for another server.
pub(super) async fn destination(
    server: &Arc<Server>,
    caller: &mut Caller,
    r#use: ProcessUse,
    (parts, body): (&Parts, &[u8]),
    mut admitted: CallPermit,
) -> Result<CallRoute, Error> {
    let Some(seal) = &server.seal else {
        return Ok(CallRoute::Here(admitted, None));
    };
    let was_sent_on = was_sent_on(&parts.extensions);
    for _ in 0..MOVES {
        let (core, asked) = (Arc::clone(&server.core), caller.clone());
        let place = pool::blocking(move || core.runs.terminal_place(&asked, r#use, was_sent_on));
        let address = match place.await?? {
            TerminalPlace::Here(starting) => return Ok(CallRoute::Here(admitted, starting)),
            TerminalPlace::At(address) => address,
            TerminalPlace::Moved => {
                let answer = StatusCode::MISDIRECTED_REQUEST.into_response();
                return Ok(CallRoute::Answered(answer));
            }
        };
        let user = server.core.store.namespace(caller);
        let waits = server.admission.wait_permit(&user)?;
        caller.place = CallSlot::default();
        drop(admitted);
        let mut request = sent_on(parts, Body::from(body.to_vec()));
        request
            .headers_mut()
            .insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        let response = send(server, seal, &address, request).await?;
        if response.status() != StatusCode::MISDIRECTED_REQUEST {
            return Ok(CallRoute::Answered(response.map(Body::new)));
        }
        drop(waits);
        admitted = server.admission.admit(&user).await?;
        caller.place = admitted.place();
    }
    Err(PeerError::Moving.into())
}

/// Forwards a request for an upgrade, and then the bytes of both sides.
pub(super) async fn connect(
    server: &Server,
    seal: &Seal,
    address: &str,
    mut request: Request,
) -> Result<Response, Error> {
    let ours = hyper::upgrade::on(&mut request);
    let (parts, _) = request.into_parts();
    let mut onward = sent_on(&parts, Body::empty());
    for name in [CONNECTION, UPGRADE] {
        if let Some(value) = parts.headers.get(&name) {
            onward.headers_mut().insert(name, value.clone());
        }
    }
    let mut response = send(server, seal, address, onward).await?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let theirs = hyper::upgrade::on(&mut response);
        tokio::spawn(async move {
            if let (Ok(ours), Ok(theirs)) = (ours.await, theirs.await) {
                let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
                // Whichever side ends it, it is over.
                let _over = tokio::io::copy_bidirectional(&mut ours, &mut theirs).await;
            }
        });
    }
    Ok(response.map(Body::new))
}

/// Returns `true` if another server sent a call on, so that it goes no further.
pub(super) fn was_sent_on(extensions: &Extensions) -> bool {
    extensions.get::<SentOn>().is_some()
}

/// The request as the other server is to see it.
fn sent_on(parts: &Parts, body: Body) -> Request {
    let uri = parts
        .extensions
        .get::<OriginalUri>()
        .map_or(&parts.uri, |original| &original.0);
    let mut sent = parts.clone();
    sent.extensions.clear();
    sent.version = Version::HTTP_11;
    sent.uri = uri
        .path_and_query()
        .map_or_else(Uri::default, |path| Uri::from(path.clone()));
    for name in OF_A_CONNECTION {
        sent.headers.remove(name);
    }
    let host = HeaderValue::from_static("fileshed");
    sent.headers.entry(HOST).or_insert(host);
    // The other server relies on this name of the client.
    let client = current::address().and_then(|address| address.to_string().parse().ok());
    let client = client.map(|client| (X_FORWARDED_FOR, client));
    sent.headers.extend(client);
    Request::from_parts(sent, body)
}

async fn send(
    server: &Server,
    seal: &Seal,
    address: &str,
    request: Request,
) -> Result<axum::http::Response<hyper::body::Incoming>, PeerError> {
    let sent = async {
        let mut sender = open(server, seal, address).await?;
        sender.send_request(request).await.map_err(io::Error::other)
    };
    sent.await.map_err(|error| {
        tracing::warn!(%error, %address, "another server did not answer");
        PeerError::Silent
    })
}

async fn open(server: &Server, seal: &Seal, address: &str) -> io::Result<SendRequest<Body>> {
    let clock = &server.core.store.clock;
    let late = || io::Error::from(ErrorKind::TimedOut);
    let stream = timer::within(clock, CONNECT, TcpStream::connect(address)).await;
    let stream = stream.ok_or_else(late)??;
    // Answers of a shell are short, and waited for.
    let _slower = stream.set_nodelay(true);
    let patience = server.core.store.settings.timings.http.head;
    let sealed = timer::within(clock, patience, seal.connect(stream)).await;
    let stream = TokioIo::new(sealed.ok_or_else(late)??);
    let (sender, connection) = http1::handshake(stream).await.map_err(io::Error::other)?;
    tokio::spawn(connection.with_upgrades());
    Ok(sender)
}
