//! `/admin`: what an administrator sees of the server, and does there.
//!
//! An administrator is who has that role in Open WebUI or at the provider of OpenID Connect, or a
//! personal token of that scope. For everybody else these addresses say that, and nothing more. The
//! page calls them as it calls its own, under the same rules.

mod actions;
mod lists;
mod overview;

use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use fileshed_core::administration::Administration;
use fileshed_core::{Caller, Channel, Error, diagnostics};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::identity::{IdentityError, is_by_page};
use super::middleware::Subject;
use super::route::{self, RouteError};
use super::sign_in::unstored;
use super::{Server, envelope, small_body};
use crate::ops::Reply;

/// The page, beginning with what is an administrator's; a proxy may have put the server below a path.
const PAGE: HeaderValue = HeaderValue::from_static("./#/admin");

/// The addresses of administrators.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/admin", get(page))
        .route("/admin/api/overview", get(overview::overview))
        .route("/admin/api/tenants", get(lists::tenants))
        .route("/admin/api/running", get(lists::running))
        .route("/admin/api/links", get(lists::links))
        .route("/admin/api/locks", get(lists::locks))
        .route("/admin/api/users/suspend", post(actions::suspend))
        .route("/admin/api/users/resume", post(actions::resume))
        .route("/admin/api/tenants/quota", post(actions::quota))
        .route("/admin/api/tenants/delete", post(actions::delete))
        .route("/admin/api/running/end", post(actions::end_running))
        .route("/admin/api/links/end", post(actions::end_link))
        .route("/admin/api/locks/release", post(actions::release_lock))
}

/// What the log calls these addresses.
pub(super) fn operation(path: &str) -> Option<&'static str> {
    let known = [
        "admin",
        "admin/api/overview",
        "admin/api/tenants",
        "admin/api/running",
        "admin/api/links",
        "admin/api/locks",
        "admin/api/users/suspend",
        "admin/api/users/resume",
        "admin/api/tenants/quota",
        "admin/api/tenants/delete",
        "admin/api/running/end",
        "admin/api/links/end",
        "admin/api/locks/release",
    ];
    let path = path.strip_prefix('/')?;
    known.into_iter().find(|known| *known == path)
}

/// `GET /admin`: leads to the page.
async fn page() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, PAGE)]).into_response()
}

/// Answers an administrator with what `work` reads.
async fn read<T: Serialize + Send + 'static>(
    server: Arc<Server>,
    request: Request,
    work: impl FnOnce(&Administration<'_>) -> Result<T, Error> + Send + 'static,
) -> Response {
    let (parts, _body) = request.into_parts();
    let caller = match administrator(&server, &parts).await {
        Ok(caller) => caller,
        Err(error) => return envelope::failure(error),
    };
    let subject = Subject::of(&server.store, &caller);
    let mut response = match administer(&server, caller, work).await {
        Ok(found) => unstored(Json(found).into_response()),
        Err(error) => envelope::failure(error),
    };
    response.extensions_mut().insert(subject);
    response
}

/// Does what an administrator asks for; `work` says what was done.
async fn act<A: DeserializeOwned + Send + 'static>(
    server: Arc<Server>,
    request: Request,
    work: impl FnOnce(&Administration<'_>, A) -> Result<&'static str, Error> + Send + 'static,
) -> Response {
    let (parts, body) = request.into_parts();
    let caller = match administrator(&server, &parts).await {
        Ok(caller) => caller,
        Err(error) => return envelope::failure(error),
    };
    let subject = Subject::of(&server.store, &caller);
    let done = async {
        // Whoever is refused is so before anything of the body is read.
        administer(&server, caller.clone(), |_| Ok(())).await?;
        let arguments = small_body::arguments(&server.store, body).await;
        let arguments = arguments.ok_or(UnreadableArguments)?;
        administer(&server, caller, |administration| {
            work(administration, arguments)
        })
        .await
    };
    let reply = done
        .await
        .map(|text| Reply::new(serde_json::json!({}), text));
    let mut response = unstored(envelope::answer(reply));
    response.extensions_mut().insert(subject);
    response
}

/// Who asks: a program with a credential, or the page.
async fn administrator(server: &Arc<Server>, parts: &Parts) -> Result<Caller, Error> {
    let caller = route::identify_person(server, parts, Channel::Page).await?;
    if !parts.headers.contains_key(AUTHORIZATION) {
        if !is_by_page(parts) {
            return Err(IdentityError::OtherPage.into());
        }
        server.authenticator.expect_own_page(parts)?;
    }
    Ok(caller)
}

/// Works as an administrator, where the caller is one.
async fn administer<T: Send + 'static>(
    server: &Arc<Server>,
    caller: Caller,
    work: impl FnOnce(&Administration<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let user = server.store.namespace(&caller);
    let permit = server.admission.lookup(&user).await?;
    let store = Arc::clone(&server.store);
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        work(&store.administration(&caller)?)
    });
    done.await.map_err(RouteError::from)?
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
