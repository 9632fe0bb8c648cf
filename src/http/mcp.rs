//! The Model Context Protocol, at `/mcp` over HTTP and on the standard streams of `fileshed mcp`.
//!
//! Its tools are the operations of [`crate::ops`], with the same results; the SDK implements the protocol
//! in all its revisions. No state is kept between two requests: each carries its credential, as every
//! other request does, so there is no session that somebody else could take over.

use std::mem;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use fileshed_core::fair::CallSlot;
use fileshed_core::{Answers, Channel, Error, Mutex};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::admission::PermitSlot;
use super::call::{Call, ServerRequest, Surface};
use super::identity::{Accepts, IdentityError};
use super::middleware::{CallOutcome, RequestId};
use super::peer::{self, CallRoute};
use super::response_body::HeldBody;
use super::{Server, body, envelope, header, response_body, route};

mod failure;
mod handler;
mod message;
mod prompts;
mod request;
mod resources;
pub(super) mod stdio;
mod subscriptions;
mod tools;

use handler::{McpHandler, Requester};
use message::Message;
use request::CallContext;
use subscriptions::{Subscriber, Watched};
pub use tools::McpToolset;

/// Every address of the surface. The first has the tools of `first`.
pub(super) fn routes(first: McpToolset) -> Router<Arc<Server>> {
    let mut router = Router::new();
    for toolset in McpToolset::ALL.iter().copied() {
        let offered = match toolset {
            McpToolset::Shed => first,
            other => other,
        };
        let handler = move |request| answer(offered, request);
        router = router.route(&toolset.path(), post(handler).fallback(wrong_method));
    }
    message::PATHS.iter().fold(router, |router, path| {
        router.route(path, get(message::document))
    })
}

async fn wrong_method(request: Parts) -> Response {
    route::refuse_method(&request, Method::POST)
}

/// Most bytes of a message that names no user.
const NAMELESS_MAX: u64 = 64 * 1024;

/// The surface of the protocol over HTTP.
const SURFACE: Surface = Surface {
    accepts: Accepts::Models,
    channel: Channel::Mcp,
};

/// Answers a message.
async fn answer(toolset: McpToolset, mut request: ServerRequest) -> Response {
    let body = mem::take(&mut request.body);
    let ServerRequest { server, parts, .. } = &request;
    let refuse = |error| message::challenge(&server.public_url, parts, envelope::failure(error));
    let caller = match SURFACE.identify(server, parts).await {
        Ok(caller) => caller,
        Err(error) if names_nobody(server, parts) => {
            let answered = answer_nobody(server, toolset, parts, body).await;
            return answered.unwrap_or_else(|failed| refuse(failed.unwrap_or(error)));
        }
        Err(error) => return refuse(error),
    };
    request.body = body;
    let call = request.of(caller);
    let answered = SURFACE.answer_to(call, |call| async move {
        let answers = header::answers(&call.parts.headers).unwrap_or_default();
        let outcome = CallOutcome::default();
        let answered = run(toolset, call, &outcome).await;
        let mut response = answered.unwrap_or_else(envelope::failure);
        header::applied(&mut response, answers);
        response.extensions_mut().insert(outcome);
        Ok(response)
    });
    answered.await
}

/// The form of the answers to a request. A model reads them, so the usual form is the short one.
fn answers(parts: &Parts) -> Answers {
    header::answers(&parts.headers).unwrap_or(Answers::Minimal)
}

/// Returns `true` if a gateway sends a valid key, but names no user.
fn names_nobody(server: &Server, parts: &Parts) -> bool {
    let read = server.authenticator.read(parts, SURFACE.accepts);
    matches!(
        read,
        Err(IdentityError::NoUser { .. } | IdentityError::Unsigned { .. })
    )
}

/// Answers a request that names no user. Open WebUI sends such requests when an administrator connects a
/// server. They have no caller, so that none can reach a file. Fails without a reason if the request
/// needs a caller.
async fn answer_nobody(
    server: &Arc<Server>,
    toolset: McpToolset,
    parts: &Parts,
    mut body: Body,
) -> Result<Response, Option<Error>> {
    let mut admitted = server.admission.admit("").await.map_err(Error::from)?;
    let length = header::content_length(&parts.headers);
    let text = body::collect(&mut body, length, NAMELESS_MAX, &mut admitted).await?;
    match Message::read(&text)? {
        Ok(message) if message.is_for_everybody() => {}
        Ok(_) => return Err(None),
        Err(refusal) => return Ok(refusal),
    }
    let permit = PermitSlot::new(Mutex::new(Some(admitted)));
    let handler = McpHandler::new(Arc::clone(server), toolset, Requester::Nobody);
    Ok(handled(handler, parts, text, permit).await)
}

/// Waits for the permit of a call, reads its body, and hands it to the protocol.
async fn run(
    toolset: McpToolset,
    mut call: Call,
    outcome: &CallOutcome,
) -> Result<Response, Error> {
    let mut admitted = call.admit().await?;
    call.caller.client.answers = answers(&call.parts);
    let limit = call.server.body_limit;
    let text = call.read_body(limit, &mut admitted).await?;
    let message = match Message::read(&text)? {
        Ok(message) => message,
        Err(refusal) => return Ok(refusal),
    };
    let mut _starting = None;
    if let Some(r#use) = tools::processes_of(toolset, &message) {
        let request = (&call.parts, text.as_slice());
        let (server, caller) = (&call.server, &mut call.caller);
        match peer::destination(server, caller, r#use, request, admitted).await? {
            CallRoute::Answered(response) => return Ok(response),
            CallRoute::Here(permit, starting) => (admitted, _starting) = (permit, starting),
        }
    }
    let mut admitted = Some(admitted);
    let mut listener = None;
    if let Some(uris) = message.awaited_resources() {
        // A listener gives its permit back, so that other calls can proceed.
        admitted = None;
        let looker = (Arc::clone(&call.server), call.caller.clone());
        let accepted = Watched::accepted(&uris);
        listener = Some((accepted, Subscriber::begin(looker, uris).await));
    }
    let permit = PermitSlot::new(Mutex::new(admitted));
    // The permit alone has the place from here on: a copy would keep it as long as a stream lasts.
    call.caller.place = CallSlot::default();
    let id = call.parts.extensions.get::<RequestId>();
    let call_context = CallContext {
        caller: call.caller,
        id: id.map_or_else(String::new, |id| id.0.clone()),
        bytes: text.len() as u64,
        permit: permit.clone(),
        outcome: outcome.clone(),
        ..CallContext::default()
    };
    let requester = Requester::Caller(Box::new(call_context));
    let handler = McpHandler::new(call.server, toolset, requester);
    if let Some((uris, listener)) = listener {
        handler.begun.keep(uris, listener);
    }
    Ok(handled(handler, &call.parts, text, permit).await)
}

/// Has the protocol answer a message. The credential was looked at before, and with it `Host` and
/// `Origin`.
async fn handled(
    handler: McpHandler,
    parts: &Parts,
    text: Vec<u8>,
    permit: PermitSlot,
) -> Response {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(text.len());
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    let mut request = Request::new(Body::from(text));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = accepting(&parts.headers);
    let response = service.handle(request).await;
    sent(response.map(Body::new), permit).await
}

/// Returns the headers of a request. A client that accepts everything accepts both forms of an answer.
fn accepting(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    let takes_all = |accept: &HeaderValue| accept.to_str().is_ok_and(|text| text.contains("*/*"));
    if headers.get(ACCEPT).is_none_or(takes_all) {
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
    let admitted = permit.lock().take();
    response_body::respond(parts, text, admitted)
}
