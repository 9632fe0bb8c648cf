//! `/admin`: what an administrator sees of the server, and does there.
//!
//! An administrator is who has that role in Open WebUI or at the provider of OpenID Connect, or a
//! personal token of that scope. For everybody else these addresses say that, and nothing more. The
//! page calls them as it calls its own, under the same rules.

mod actions;
mod lists;

use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use fileshed_core::administration::Administration;
use fileshed_core::{Channel, Error, diagnostics};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::call::{Call, Surface};
use super::sign_in::unstored;
use super::{Server, body, envelope};
use crate::ops::Reply;

/// The page, beginning with what is an administrator's; a proxy may have put the server below a path.
const PAGE: HeaderValue = HeaderValue::from_static("./#/admin");

/// The endpoints of administrators.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/admin", get(page))
        .route(
            "/admin/api/overview",
            read(|server, administration| Ok(lists::overview(server, administration))),
        )
        .route(
            "/admin/api/tenants",
            read(|_, administration| lists::tenants(administration)),
        )
        .route(
            "/admin/api/running",
            read(|_, administration| Ok(lists::running(administration))),
        )
        .route(
            "/admin/api/links",
            read(|_, administration| lists::links(administration)),
        )
        .route(
            "/admin/api/locks",
            read(|_, administration| lists::locks(administration)),
        )
        .route("/admin/api/users/suspend", act(actions::suspend))
        .route("/admin/api/users/resume", act(actions::resume))
        .route("/admin/api/tenants/quota", act(actions::quota))
        .route("/admin/api/tenants/delete", act(actions::delete))
        .route("/admin/api/running/end", act(actions::end_running))
        .route("/admin/api/links/end", act(actions::end_link))
        .route("/admin/api/locks/release", act(actions::release_lock))
}

/// `GET /admin`: leads to the page.
async fn page() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, PAGE)]).into_response()
}

/// How administrators call.
const SURFACE: Surface = Surface::of_page(Channel::Page);

/// Answers an administrator with what `work` reads.
fn read(
    work: fn(&Server, &Administration<'_>) -> Result<Value, Error>,
) -> MethodRouter<Arc<Server>> {
    get(SURFACE.handler(move |mut call: Call| async move {
        expect_page_or_program(&call)?;
        let server = Arc::clone(&call.server);
        let found = administer(&mut call, move |administration| {
            work(&server, administration)
        });
        Ok(unstored(Json(found.await?).into_response()))
    }))
}

/// Does what an administrator asks for; `work` says what was done.
fn act<A: DeserializeOwned + Send + 'static>(
    work: fn(&Administration<'_>, &A) -> Result<&'static str, Error>,
) -> MethodRouter<Arc<Server>> {
    post(SURFACE.handler(move |mut call: Call| async move {
        expect_page_or_program(&call)?;
        // Whoever is refused is so before anything of the body is read.
        administer(&mut call, |_| Ok(())).await?;
        let body = std::mem::take(&mut call.body);
        let arguments = body::small(&call.server.store, body).await;
        let arguments = arguments.ok_or(UnreadableArguments)?;
        let done = administer(&mut call, move |administration| {
            work(administration, &arguments)
        });
        let reply = Reply::new(json!({}), done.await?);
        Ok(unstored(envelope::answer(Ok(reply))))
    }))
}

/// Fails unless a program with a credential asks, or the page.
fn expect_page_or_program(call: &Call) -> Result<(), Error> {
    if !call.parts.headers.contains_key(AUTHORIZATION) {
        call.server.authenticator.expect_page(&call.parts)?;
    }
    Ok(())
}

/// Works as an administrator, where the caller is one.
async fn administer<T: Send + 'static>(
    call: &mut Call,
    work: impl FnOnce(&Administration<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let user = call.server.store.namespace(&call.caller);
    let permit = call.server.admission.lookup(&user).await?;
    let done = call.run(permit, |view, _| {
        work(&view.store.administration(view.caller)?)
    });
    done.await?.0
}

diagnostics! {
    /// The body of a call of an administrator is not what is expected.
    #[derive(Debug, thiserror::Error)]
    #[error("the request body is not a JSON object with what this address needs")]
    pub(super) struct UnreadableArguments => {
        code: InvalidParameter,
        hint: "send {\"user\": \"<id>\"} or {\"group\": \"<id>\"}, with \"quota_mb\" for a quota and \
               \"name\" for a deletion; {\"id\": \"…\"} for what is ended or released",
    }
}
