//! The Model Context Protocol, at `/mcp` over HTTP and on the standard streams of `fileshed mcp`.
//!
//! Its tools are the operations of [`crate::ops`], its answers theirs; the protocol itself, in all its
//! revisions, is the SDK's. Nothing is kept between two requests: each says who calls, as every other
//! request does, so there is no session that somebody else could take over.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use fileshed_core::fair::Place;
use fileshed_core::{Answers, Caller, Channel, Error};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::admission::{CallPermit, Slot};
use super::call::{Call, Surface};
use super::identity::Accepts;
use super::middleware::{Outcome, RequestId};
use super::peer::{self, Destination};
use super::response_body::HeldBody;
use super::{Server, envelope, header, response_body, route};

mod failure;
mod handler;
mod listener;
mod message;
mod person;
mod prompts;
mod resources;
pub(super) mod stdio;
mod subscriptions;
mod tools;
mod work;

use handler::McpHandler;
use listener::Listener;
use person::Closing;
pub use tools::McpToolset;

/// Every address of the surface. The first has the tools of `first`.
pub(super) fn routes(first: McpToolset) -> Router<Arc<Server>> {
    let mut router = Router::new();
    for toolset in McpToolset::ALL {
        let path = toolset.path();
        let toolset = if toolset == McpToolset::default() {
            first
        } else {
            toolset
        };
        let handler = move |State(server): State<Arc<Server>>, request: Request| async move {
            answer(server, toolset, request).await
        };
        router = router.route(path, post(handler).fallback(wrong_method));
    }
    message::PATHS.iter().fold(router, |router, path| {
        router.route(path, get(message::document))
    })
}

async fn wrong_method(request: Request) -> Response {
    route::refuse_method(&request, Method::POST)
}

/// A request as the handler of its message sees it.
#[derive(Clone)]
struct Arrival {
    caller: Caller,
    /// The id of the request, for failures of the server.
    id: String,
    /// How long the message is.
    bytes: u64,
    /// The right to run, until the answer has been written out.
    permit: PermitSlot,
    /// What came of the call.
    outcome: Outcome,
    /// Who is to hear of changes, where the request asks for that.
    listener: Slot<Result<Listener, Error>>,
    /// The end of the connection, where that is the end of everything.
    closing: Option<Closing>,
}

/// Where the permit of a call lies.
type PermitSlot = Slot<CallPermit>;

/// How the protocol is spoken over HTTP.
const SURFACE: Surface = Surface {
    accepts: Accepts::Models,
    channel: Channel::Mcp,
    form: None,
};

/// Answers a message.
async fn answer(server: Arc<Server>, toolset: McpToolset, request: Request) -> Response {
    let (parts, mut body) = request.into_parts();
    let refuse = |error| message::challenge(&server.public_url, &parts, envelope::failure(error));
    let caller = match SURFACE.identify(&server, &parts).await {
        Ok(caller) => caller,
        Err(error) if names_nobody(&server, &parts) => {
            return match message::answer(&server, toolset, &parts, &mut body).await {
                Ok(Some(response)) => response,
                Ok(None) => refuse(error),
                Err(error) => refuse(error),
            };
        }
        Err(error) => return refuse(error),
    };
    let call = Call {
        server,
        caller,
        parts,
        body,
    };
    let answered = SURFACE.answer_to(call, |call| async move {
        let answers = header::answers(&call.parts.headers);
        let outcome = Outcome::default();
        let answered = run(toolset, call, &outcome).await;
        let mut response = answered.unwrap_or_else(envelope::failure);
        header::applied(&mut response, answers);
        response.extensions_mut().insert(outcome);
        Ok(response)
    });
    answered.await
}

/// Whether a gateway calls for nobody: with the right key, from where it may.
fn names_nobody(server: &Server, parts: &Parts) -> bool {
    let read = server.authenticator.read(parts, SURFACE.accepts);
    read.is_err_and(|error| error.is_of_gateway())
}

/// Waits for the permit of a call, reads its body, and hands it to the protocol.
async fn run(toolset: McpToolset, mut call: Call, outcome: &Outcome) -> Result<Response, Error> {
    let mut admitted = call.admit().await?;
    call.caller.client.answers = header::answers(&call.parts.headers);
    let limit = call.server.body_limit;
    let text = call.read_body(limit, &mut admitted).await?;
    if let Err(refusal) = message::check(&text)? {
        return Ok(refusal);
    }
    let Call {
        server,
        mut caller,
        parts,
        ..
    } = call;
    let mut _starting = None;
    if let Some(r#use) = tools::processes_of(toolset, &text) {
        let request = (&parts, text.as_slice());
        match peer::destination(&server, &mut caller, r#use, request, admitted).await? {
            Destination::Answered(response) => return Ok(response),
            Destination::Here(permit, starting) => (admitted, _starting) = (permit, starting),
        }
    }
    let (permit, bytes) = (PermitSlot::default(), text.len() as u64);
    let listener = Slot::default();
    if let Some(uris) = listener::asked_for(&text) {
        // Who listens holds nobody up.
        drop(admitted);
        let looker = (Arc::clone(&server), caller.clone());
        listener.put(Listener::begin(looker, uris).await);
    } else {
        permit.put(admitted);
    }
    // The permit alone has the place from here on: a copy would keep it as long as a stream lasts.
    caller.place = Place::default();
    let mut request = forwarded(&parts, text);
    let id = parts.extensions.get::<RequestId>();
    request.extensions_mut().insert(Arrival {
        caller,
        id: id.map_or_else(String::new, |id| id.0.clone()),
        bytes,
        permit: permit.clone(),
        outcome: outcome.clone(),
        listener,
        closing: None,
    });
    let response = service(&server, toolset).handle(request).await;
    Ok(sent(response.map(Body::new), permit).await)
}

/// A message as the protocol is to read it.
fn forwarded(parts: &Parts, text: Vec<u8>) -> Request {
    let mut request = Request::new(Body::from(text));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = accepting(&parts.headers);
    request
}

/// The protocol over HTTP. The credential was looked at before, and with it `Host` and `Origin`.
fn service(
    server: &Arc<Server>,
    toolset: McpToolset,
) -> StreamableHttpService<McpHandler, NeverSessionManager> {
    let handler = McpHandler::new(Arc::clone(server), toolset);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(server.body_limit as usize);
    StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}

/// The headers of a request. Who takes everything takes both forms of an answer.
fn accepting(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    let takes_all = match headers.get(ACCEPT).map(HeaderValue::to_str) {
        None => true,
        Some(Ok(text)) => text.contains("*/*"),
        Some(Err(_)) => false,
    };
    if takes_all {
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
    }
    headers
}

/// The answer, which keeps the permit until it has been written out.
async fn sent(response: Response, permit: PermitSlot) -> Response {
    let (mut parts, body) = response.into_parts();
    let json = HeaderValue::from_static("application/json");
    if parts.headers.get(CONTENT_TYPE) != Some(&json) {
        return Response::from_parts(parts, Body::new(HeldBody::new(body, permit)));
    }
    // It is whole already.
    let Ok(text) = to_bytes(body, usize::MAX).await else {
        parts.status = StatusCode::INTERNAL_SERVER_ERROR;
        return (parts.status, Body::empty()).into_response();
    };
    let body = match permit.take() {
        Some(admitted) => response_body::body(text.into(), admitted),
        None => Body::from(text),
    };
    Response::from_parts(parts, body)
}

/// Whether the caller wants what it cannot know yet, and no more.
fn is_short(caller: &Caller) -> bool {
    caller.client.answers == Answers::Minimal
}
