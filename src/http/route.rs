//! Addresses at which there is nothing, and methods that an address does not take.

use axum::extract::OriginalUri;
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use fileshed_core::diagnostics;
use fileshed_core::nearest::nearest;

use super::envelope;
use crate::ops::{self, OPERATIONS};

/// There is nothing at this address.
pub(super) async fn unknown(request: Parts) -> Response {
    let path = asked_path(&request);
    nothing_at(
        path,
        match meant(path.trim_matches('/')) {
            Some(meant) => format!("did you mean POST /{meant}?"),
            None => "GET /openapi.json lists the operations".to_owned(),
        },
    )
}

/// The operation whose name the unknown one begins with, or is nearest to.
fn meant(name: &str) -> Option<&'static str> {
    let names = || OPERATIONS.iter().map(|entry| entry.id);
    let begins = |id: &&str| {
        name.strip_prefix(id)
            .is_some_and(|rest| rest.starts_with('_'))
    };
    let begun = names().filter(begins).max_by_key(|id| id.len());
    begun.or_else(|| nearest(name, names()))
}

/// There is nothing at this address of a surface with a document of its own.
pub(super) fn unlisted(request: &Parts, base: &'static str) -> Response {
    let hint = format!("GET {base}/openapi.json lists the addresses");
    nothing_at(asked_path(request), hint)
}

fn nothing_at(path: &str, hint: String) -> Response {
    let path = path.chars().take(100).collect();
    envelope::failure(RouteError::Unknown { path, hint })
}

/// The address does not have this method; the router adds which ones it has.
pub(super) async fn wrong_method(request: Parts) -> Response {
    let is_operation = ops::find(asked_path(&request).trim_matches('/')).is_some();
    let taken = if is_operation || request.method == Method::GET {
        Method::POST
    } else {
        Method::GET
    };
    refuse_method(&request, taken)
}

/// The address takes another method.
pub(super) fn refuse_method(request: &Parts, taken: Method) -> Response {
    if request.method == Method::OPTIONS {
        return StatusCode::NO_CONTENT.into_response();
    }
    envelope::failure(RouteError::Method {
        method: request.method.clone(),
        path: asked_path(request).to_owned(),
        taken,
    })
}

/// The whole path of a request, also below a prefix, where the router takes it off.
pub(super) fn asked_path(request: &Parts) -> &str {
    match request.extensions.get::<OriginalUri>() {
        Some(whole) => whole.path(),
        None => request.uri.path(),
    }
}

diagnostics! {
    /// Why a call did not reach its operation, or did not come back from it.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum RouteError {
        /// There is nothing at the address.
        #[error("there is nothing at `{path}`")]
        Unknown {
            path: String => ["/shed_tre".to_owned(), "/fs/move_file".to_owned()],
            hint: String => [
                "did you mean POST /shed_tree?".to_owned(),
                "GET /fs/openapi.json lists the addresses".to_owned(),
            ],
        } => {
            code: UnknownOperation,
            hint: hint.clone(),
        },
        /// The address has other methods.
        #[error("`{path}` does not take {method}")]
        Method {
            method: Method = Method::PUT,
            path: String = "/shed_tree".to_owned(),
            taken: Method => [Method::POST, Method::GET],
        } => {
            code: MethodNotAllowed,
            hint: if taken == Method::POST {
                format!("send POST {path} with a JSON object")
            } else {
                format!("send {taken} {path}")
            },
        },
    }
}
