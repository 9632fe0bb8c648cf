//! `/page/tokens`: the personal tokens of who is signed in, for their other programs.

use std::sync::Arc;

use axum::Json;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use fileshed_core::own_tokens::WantedToken;
use fileshed_core::tokens::Token;
use fileshed_core::{Caller, Core, Error, Scope};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{SURFACE, arguments, expect_page, look_up, unstored};
use crate::http::call::ServerRequest;
use crate::http::envelope::HandlerError;
use crate::http::identity::IdentityError;
use crate::http::{Server, envelope};
use crate::ops::Reply;

/// `GET /page/tokens`: those that work, and whether the caller may make one.
pub(super) async fn list(request: ServerRequest) -> Result<Response, HandlerError> {
    let ServerRequest { server, parts, .. } = request;
    let caller = owner(&server, &parts).await?;
    let listed = look_up(&server, move |core| {
        let tokens = core.admin.own_tokens(&caller)?;
        let tokens: Vec<Value> = tokens.iter().map(shown).collect();
        Ok(json!({"tokens": tokens, "may_make": core.admin.may_make_tokens(&caller)}))
    });
    Ok(unstored(Json(listed.await?).into_response()))
}

/// A token as its owner sees it in the list.
fn shown(token: &Token) -> Value {
    let mut shown = json!({
        "id": token.id,
        "label": token.label,
        "scope": token.scope_name(),
        "created_at": token.created_at.to_string(),
    });
    if let Some(end) = token.expires_at {
        shown["expires_at"] = end.to_string().into();
    }
    shown
}

#[derive(Deserialize)]
struct Create {
    label: String,
    /// `true` if programs may only read with it.
    #[serde(default)]
    only_reads: bool,
    /// Days after which it ends.
    days: Option<u32>,
}

/// `POST /page/tokens`: makes a token; its secret is in this answer and nowhere else.
pub(super) async fn create(request: ServerRequest) -> Response {
    let made = change(request, |core, caller, wanted: Create| {
        let scope = if wanted.only_reads {
            Scope::Read
        } else {
            Scope::Write
        };
        let wanted = WantedToken {
            label: &wanted.label,
            scope,
            days: wanted.days,
        };
        let token = core.admin.create_own_token(caller, &wanted)?;
        let data = json!({"id": token.id, "secret": token.secret});
        let message = "This is the only time that the token is shown";
        Ok(Reply::new(data, message))
    });
    made.await
}

#[derive(Deserialize)]
struct Revoke {
    id: String,
}

/// `POST /page/tokens/revoke`: ends a token, at once.
pub(super) async fn revoke(request: ServerRequest) -> Response {
    let revoked = change(request, |core, caller, Revoke { id }| {
        core.admin.revoke_own_token(caller, &id)?;
        Ok(Reply::new(json!({}), "The token has ended"))
    });
    revoked.await
}

/// Answers as `work` does for the owner of the tokens, with the arguments of the request.
async fn change<A: DeserializeOwned + Send + 'static>(
    request: ServerRequest,
    work: impl FnOnce(&Core, &Caller, A) -> Result<Reply<Value>, Error> + Send + 'static,
) -> Response {
    let server = &request.server;
    let done = async {
        let caller = owner(server, &request.parts).await?;
        let given = arguments(&server.core, request.body).await?;
        look_up(server, move |core| work(core, &caller, given)).await
    };
    unstored(envelope::answer(done.await))
}

/// Returns the user who is signed in on the requesting page, and who owns the tokens. Another credential does
/// not count: a key that speaks for everybody must not create tokens that outlive it.
async fn owner(server: &Arc<Server>, parts: &Parts) -> Result<Caller, Error> {
    expect_page(server, parts)?;
    if parts.headers.contains_key(AUTHORIZATION) {
        return Err(IdentityError::OtherPage.into());
    }
    SURFACE.identify(server, parts).await
}
