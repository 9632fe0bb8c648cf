//! `/page/tokens`: the personal tokens of who is signed in, for their other programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use fileshed_core::own_tokens::WantedToken;
use fileshed_core::tokens::Token;
use fileshed_core::{Caller, Error, Scope};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{SURFACE, arguments, expect_page, look_up, unstored};
use crate::http::identity::IdentityError;
use crate::http::{Server, envelope};
use crate::ops::Reply;

/// A token as its owner sees it in the list.
#[derive(Serialize)]
struct ListedToken {
    id: String,
    label: String,
    scope: &'static str,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

impl From<Token> for ListedToken {
    fn from(token: Token) -> Self {
        Self {
            scope: token.scope_name(),
            id: token.id,
            label: token.label,
            created_at: token.created_at.to_string(),
            expires_at: token.expires_at.map(|moment| moment.to_string()),
        }
    }
}

/// `GET /page/tokens`: those that work, and whether the caller may make one.
pub(super) async fn list(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    let listed = async {
        let caller = owner(&server, &parts).await?;
        look_up(&server, move |store| {
            let tokens = store.own_tokens(&caller)?.into_iter();
            let tokens: Vec<_> = tokens.map(ListedToken::from).collect();
            Ok(json!({"tokens": tokens, "may_make": store.may_make_tokens(&caller)}))
        })
        .await
    };
    match listed.await {
        Ok(listed) => unstored(Json(listed).into_response()),
        Err(error) => envelope::failure(error),
    }
}

#[derive(Deserialize)]
struct Create {
    label: String,
    /// Whether programs may only read with it.
    #[serde(default)]
    only_reads: bool,
    /// Days after which it ends.
    days: Option<u32>,
}

/// `POST /page/tokens`: makes a token; its secret is in this answer and nowhere else.
pub(super) async fn create(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let made = async {
        let caller = owner(&server, &parts).await?;
        let wanted: Create = arguments(&server.store, body).await?;
        look_up(&server, move |store| {
            let wanted = WantedToken {
                label: &wanted.label,
                scope: if wanted.only_reads {
                    Scope::Read
                } else {
                    Scope::Write
                },
                days: wanted.days,
            };
            store.create_own_token(&caller, &wanted)
        })
        .await
    };
    let reply = made.await.map(|token| {
        let data = json!({"id": token.id, "secret": token.secret});
        Reply::new(data, "This is the only time that the token is shown")
    });
    unstored(envelope::answer(reply))
}

#[derive(Deserialize)]
struct Revoke {
    id: String,
}

/// `POST /page/tokens/revoke`: ends a token, at once.
pub(super) async fn revoke(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let revoked = async {
        let caller = owner(&server, &parts).await?;
        let Revoke { id } = arguments(&server.store, body).await?;
        look_up(&server, move |store| store.revoke_own_token(&caller, &id)).await
    };
    let reply = revoked
        .await
        .map(|()| Reply::new(json!({}), "The token has ended"));
    unstored(envelope::answer(reply))
}

/// Who is signed in on the page that asks, whose tokens these are. Another credential does not count: a key that speaks for
/// everybody must not make what outlives it.
async fn owner(server: &Arc<Server>, parts: &Parts) -> Result<Caller, Error> {
    expect_page(server, parts)?;
    if parts.headers.contains_key(AUTHORIZATION) {
        return Err(IdentityError::OtherPage.into());
    }
    SURFACE.identify(server, parts).await
}
