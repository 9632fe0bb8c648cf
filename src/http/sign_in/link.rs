//! `/page/sign-in/<secret>`: a link that signs the browser in that opens it.
//!
//! Opening it shows a button, and only the button uses the link up: programs that look at the links
//! of a chat in advance press none.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::header::{LOCATION, REFERRER_POLICY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::Error;
use fileshed_core::link::LinkError;
use fileshed_core::sign_in::Principal;

use super::{PAGE, begin, expect_users, look_up, refused, with_session};
use crate::http::Server;
use crate::http::files::{escaped, show_page};

/// `GET /page/sign-in/<secret>`: the button.
pub(super) async fn show(
    State(server): State<Arc<Server>>,
    Path(secret): Path<String>,
) -> Response {
    let found = async {
        expect_users(&server)?;
        look_up(&server, move |store| store.look_at_sign_in_link(&secret)).await
    };
    match found.await.and_then(expected) {
        Ok(principal) => button(&principal),
        Err(error) => refused(error),
    }
}

/// `POST /page/sign-in/<secret>`: signs in, once.
pub(super) async fn open(
    State(server): State<Arc<Server>>,
    Path(secret): Path<String>,
    request: Request,
) -> Response {
    let (parts, _body) = request.into_parts();
    let previous = server.authenticator.page_session(&parts);
    let signed_in = async {
        expect_users(&server)?;
        server.authenticator.expect_own_page(&parts)?;
        look_up(&server, move |store| {
            let principal = expected(store.redeem_sign_in_link(&secret)?)?;
            begin(store, &principal, previous.as_ref())
        })
        .await
    };
    match signed_in.await {
        Ok(session) => {
            let response = (StatusCode::SEE_OTHER, [(LOCATION, PAGE)]).into_response();
            with_session(&server, response, &session)
        }
        Err(error) => refused(error),
    }
}

/// Whoever has a link is not told why it does not work.
fn expected(found: Option<Principal>) -> Result<Principal, Error> {
    found.ok_or_else(|| LinkError::Gone.into())
}

fn button(principal: &Principal) -> Response {
    let user = principal.user.as_str();
    let name = escaped(principal.name.as_deref().unwrap_or(user));
    let content = format!(
        "<p>This opens the files of <strong>{name}</strong> in this browser. The link works once.</p>\n\
         <form method=\"post\"><button type=\"submit\">Open the files</button></form>"
    );
    let mut response = show_page(StatusCode::OK, "Open files", &content, "");
    // Else a browser does not say where the form comes from.
    let policy = HeaderValue::from_static("same-origin");
    response.headers_mut().insert(REFERRER_POLICY, policy);
    response
}
