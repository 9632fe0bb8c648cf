//! A message before the protocol reads it: checks of its JSON, and requests that name no user.
//!
//! Open WebUI sends the latter when an administrator connects a server. No request of this kind has a
//! caller, so that none can reach a file.
//!
//! A client without a credential is told to send a token, and that there is no authorization server that
//! would issue one (RFC 9728).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::Error;
use rmcp::model::SubscriptionFilter;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::body::BodyError;
use crate::http::{Server, header};
use crate::json;

/// Error code of JSON-RPC for a message that is not JSON.
const PARSE_ERROR: i32 = -32_700;

/// A message as it came.
pub(super) struct Message(Value);

impl Message {
    /// Reads a message. One that cannot be read is refused in the words of the protocol, or of this
    /// server if it would take too much memory.
    pub(super) fn read(text: &[u8]) -> Result<Result<Self, Response>, Error> {
        match json::value(text) {
            Ok(message) => Ok(Ok(Self(message))),
            Err(error) if json::has_too_many(&error) => Err(BodyError::TooMany.into()),
            Err(error) => {
                let message = format!("the message is not valid JSON: {error}");
                let error = json!({"code": PARSE_ERROR, "message": message});
                let body = json!({"jsonrpc": "2.0", "id": null, "error": error});
                Ok(Err((StatusCode::BAD_REQUEST, Json(body)).into_response()))
            }
        }
    }

    fn method(&self) -> Option<&str> {
        self.0["method"].as_str()
    }

    /// The tool that is called.
    pub(super) fn called_tool(&self) -> Option<&str> {
        let name = self.0["params"]["name"].as_str();
        name.filter(|_| self.method() == Some("tools/call"))
    }

    /// Returns the resources that a message subscribes to; `None` if it is another request. Consumes the
    /// message to free its memory, because the call may take minutes.
    pub(super) fn awaited_resources(self) -> Option<Vec<String>> {
        if self.method() != Some("subscriptions/listen") {
            return None;
        }
        let filter = SubscriptionFilter::deserialize(&self.0["params"]["notifications"]);
        filter.ok()?.resource_subscriptions
    }

    /// Returns `true` if a request that names no user may ask this.
    pub(super) fn is_for_everybody(&self) -> bool {
        self.method()
            .is_some_and(|method| METHODS.contains(&method))
    }
}

/// Methods of requests that name no user.
const METHODS: [&str; 7] = [
    "initialize",
    "notifications/initialized",
    "ping",
    "prompts/list",
    "resources/templates/list",
    "server/discover",
    "tools/list",
];

/// The paths of the metadata: with the path of the resource behind it, or without.
pub(super) const PATHS: [&str; 2] = [PATH, "/.well-known/oauth-protected-resource"];

const PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// The metadata. It names no authorization server, so a client need not look for one.
pub(super) async fn document(State(server): State<Arc<Server>>, request: Request) -> Response {
    let address = address(&server.public_url, request.headers(), request.uri());
    Json(json!({
        "resource": format!("{address}/mcp"),
        "resource_name": "fileshed",
        "authorization_servers": [],
        "bearer_methods_supported": ["header"],
        "resource_documentation": format!("{address}/docs/"),
    }))
    .into_response()
}

/// Adds the expected credentials to a refusal whose status says that they are missing.
pub(super) fn challenge(public_url: &str, request: &Parts, mut refusal: Response) -> Response {
    if refusal.status() == StatusCode::UNAUTHORIZED {
        let metadata = format!(
            "{}{PATH}",
            address(public_url, &request.headers, &request.uri)
        );
        let text = format!(
            "Bearer realm=\"fileshed\", error_description=\"send a personal token: an administrator \
             makes one with fileshed token create; there is no OAuth server\", \
             resource_metadata=\"{metadata}\""
        );
        if let Ok(value) = HeaderValue::from_str(&text) {
            refusal.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
    refusal
}

/// Returns the address at which the client reaches this server.
fn address(public_url: &str, headers: &HeaderMap, target: &Uri) -> String {
    if !public_url.is_empty() {
        return public_url.trim_end_matches('/').to_owned();
    }
    let is_plain = |host: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]_".contains(&byte);
        host.bytes().all(plain)
    };
    format!(
        "http://{}",
        header::host(headers, target)
            .filter(is_plain)
            .unwrap_or("localhost")
    )
}
