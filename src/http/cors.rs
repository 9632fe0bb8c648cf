//! Pages of other sites that may call from a browser: a tool server that a user of Open WebUI adds
//! is called by the page itself.
//!
//! Only sites that an administrator lists are allowed. Preflight requests are answered here, so
//! that they never reach an operation and need no credential. Cookies are never accepted.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{
    AUTHORIZATION, CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, LOCATION, ORIGIN, RETRY_AFTER, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse as _;
use fileshed_core::Timings;
use tower_http::cors::{AllowOrigin, AllowPrivateNetwork, CorsLayer};

use super::Server;
use super::files::resumable::{
    TUS_RESUMABLE, UPLOAD_EXPIRES, UPLOAD_LENGTH, UPLOAD_METADATA, UPLOAD_OFFSET,
};
use super::header::{PREFER, X_FILESHED_PREFER};
use super::identity::{X_SESSION_ID, X_USER_ID};
use super::middleware::X_REQUEST_ID;
use crate::config::{Config, Origin};

/// Lets pages of the listed sites call `routes`.
pub(super) fn allow(routes: Router<Arc<Server>>, config: &Config) -> Router<Arc<Server>> {
    let listed: Arc<[Origin]> = config.cors_origins.clone().into();
    if listed.is_empty() {
        return routes;
    }
    let is_listed = move |origin: &HeaderValue, _: &Parts| {
        let mut listed = listed.iter();
        listed.any(|listed| listed.as_str().as_bytes() == origin.as_bytes())
    };
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(is_listed.clone()))
        // A page from the internet calls a server in a private network.
        .allow_private_network(AllowPrivateNetwork::predicate(is_listed.clone()))
        .allow_methods([
            Method::GET,
            Method::POST,
            Method::PUT,
            Method::PATCH,
            Method::HEAD,
            Method::DELETE,
            Method::OPTIONS,
        ])
        .allow_headers([
            AUTHORIZATION,
            CONTENT_TYPE,
            X_SESSION_ID,
            X_USER_ID,
            TUS_RESUMABLE,
            UPLOAD_OFFSET,
            UPLOAD_LENGTH,
            UPLOAD_METADATA,
            PREFER,
            X_FILESHED_PREFER,
            config.header_user_id.clone(),
            config.header_user_name.clone(),
            config.header_user_email.clone(),
            config.header_user_role.clone(),
            config.header_user_jwt.clone(),
            config.header_group_ids.clone(),
            config.header_group_names.clone(),
            config.header_chat_id.clone(),
            config.header_message_id.clone(),
        ])
        .expose_headers([
            CONTENT_DISPOSITION,
            ETAG,
            RETRY_AFTER,
            X_REQUEST_ID,
            LOCATION,
            TUS_RESUMABLE,
            UPLOAD_OFFSET,
            UPLOAD_LENGTH,
            UPLOAD_METADATA,
            UPLOAD_EXPIRES,
        ])
        .max_age(Timings::STANDARD.http.cors);
    // The layer would name the methods and headers to every site.
    let unless_foreign = from_fn(move |request: Request, next: Next| {
        let (parts, body) = request.into_parts();
        let origin = parts.headers.get(ORIGIN);
        let is_listed = origin.is_some_and(|origin| is_listed(origin, &parts));
        async move {
            if parts.method == Method::OPTIONS && !is_listed {
                return (StatusCode::NO_CONTENT, [(VARY, "origin")]).into_response();
            }
            next.run(Request::from_parts(parts, body)).await
        }
    });
    routes.layer(layer).layer(unless_foreign)
}
