//! What a gateway may ask that names nobody: what this server offers, which is the same for everybody.
//!
//! Open WebUI looks at a server in this way when an administrator connects it. No request of this
//! kind has a caller, so that none can reach a file.

use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use axum::response::Response;
use fileshed_core::Error;
use serde::Deserialize;

use super::{McpToolset, PermitSlot, forwarded, message, sent, service};
use crate::http::{Server, body};

/// Bytes of such a message.
const MESSAGE_MAX: u64 = 64 * 1024;

/// What may be asked.
const METHODS: [&str; 7] = [
    "initialize",
    "notifications/initialized",
    "ping",
    "prompts/list",
    "resources/templates/list",
    "server/discover",
    "tools/list",
];

/// A request without a caller.
#[derive(Clone)]
pub(super) struct Nameless;

#[derive(Deserialize)]
struct Message {
    method: String,
}

/// The answer; nothing where the request needs somebody who makes it.
pub(super) async fn answer(
    server: &Arc<Server>,
    toolset: McpToolset,
    parts: &Parts,
    body: &mut Body,
) -> Result<Option<Response>, Error> {
    let mut admitted = server.admission.admit("").await?;
    let length = body::content_length(&parts.headers);
    let text = body::collect(body, length, MESSAGE_MAX, &mut admitted).await?;
    if let Err(refusal) = message::check(&text)? {
        return Ok(Some(refusal));
    }
    let message = serde_json::from_slice::<Message>(&text);
    if !message.is_ok_and(|message| METHODS.contains(&message.method.as_str())) {
        return Ok(None);
    }
    let permit = PermitSlot::default();
    permit.put(admitted);
    let mut request = forwarded(parts, text);
    request.extensions_mut().insert(Nameless);
    let response = service(server, toolset).handle(request).await;
    Ok(Some(sent(response.map(Body::new), permit).await))
}
