//! `/page/…`: how a browser signs in on the page of the server, and out.
//!
//! There are no passwords. A person shows a personal token, or a link that was asked for in a chat or at the
//! command line; or signs in with a provider of OpenID Connect; or comes from an Open WebUI at the same
//! address, whose session counts here as it is. The browser gets a cookie with a secret of its own, new at
//! each sign-in.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::{AUTHORIZATION, LOCATION, REFERRER_POLICY, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use fileshed_core::link::LinkError;
use fileshed_core::sign_in::Principal;
use fileshed_core::{Caller, Channel, Chat, Code, Core, Error, Secret, UserId, diagnostics};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::http::call::{ServerRequest, Surface};
use crate::http::envelope::HandlerError;
use crate::http::files::{HtmlPage, escaped, show_refusal};
use crate::http::identity::is_by_page;
use crate::http::response_body::unstored;
use crate::http::serve::current;
use crate::http::words::Language;
use crate::http::{Server, body, envelope, pool};
use crate::ops::Reply;

pub(super) use oidc::OpenIdConnect;

mod oidc;
mod tokens;

/// Rules by which requests of the page are identified.
const SURFACE: Surface = Surface::of_page(Channel::Page);

/// The page, from an address like `/page/oidc/callback`: a proxy may have put the server below a path.
const PAGE: HeaderValue = HeaderValue::from_static("../../");

/// The addresses of signing in.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/page/session", get(session))
        .route("/page/sign-in", post(sign_in))
        .route("/page/sign-out", post(sign_out))
        .route("/page/tokens", get(tokens::list).post(tokens::create))
        .route("/page/tokens/revoke", post(tokens::revoke))
        .route("/page/sign-in/{secret}", get(show_link).post(open_link))
        .route(oidc::BEGIN, get(oidc::start))
        .route(oidc::ANSWER, get(oidc::finish))
}

/// `GET /page/session`: whether this browser is signed in, as whom, and how it may be.
async fn session(ServerRequest { server, parts, .. }: ServerRequest) -> Response {
    let found = SURFACE.identify(&server, &parts).await;
    let is_nobody = matches!(&found, Err(error) if error.code() == Code::Unauthorized);
    let caller = found.as_ref().ok();
    let secret = server.authenticator.page_session(&parts);
    let has_cookie = secret.is_some();
    let secret = secret.filter(|_| is_by_page(&parts));
    let (name, lapsed) = match caller.cloned() {
        Some(caller) => {
            let known = look_up(&server, move |core| {
                let lapsed = secret.map(|secret| core.admin.is_role_lapsed(secret.reveal()));
                Ok((name_shown(core, &caller), lapsed.transpose()?))
            });
            known.await.unwrap_or_default()
        }
        None => Default::default(),
    };
    let mut body = json!({
        "signed_in": caller.is_some(),
        "user": caller.and_then(|caller| caller.user.as_ref()).map(UserId::as_str),
        "name": name,
        "mode": if server.authenticator.asks { "user" } else { "shared" },
        "role": caller.map(|caller| caller.role.as_str()),
        "role_lapsed": lapsed.unwrap_or_default(),
        "ways": ways(&server),
        "link_hours": server.core.store.settings.link_expiry_hours,
    });
    // A program has a credential of its own.
    if let (Err(error), true) = (&found, parts.headers.contains_key(AUTHORIZATION)) {
        let (code, message, hint) = (error.code(), error.message(), error.hint().to_string());
        body["refusal"] = json!({"code": code.as_str(), "message": message, "hint": hint});
    }
    let mut response = unstored(Json(body).into_response());
    // Else what is left of a session would hide the one of an Open WebUI at the same address.
    if is_nobody && has_cookie && is_by_page(&parts) {
        let cookie = server.authenticator.cookie.clear();
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Returns the ways to sign in here, in the order in which the page offers them.
fn ways(server: &Server) -> Vec<&'static str> {
    let authenticator = &server.authenticator;
    let all = [
        ("openwebui", authenticator.takes_open_webui()),
        ("oidc", server.oidc.is_some()),
        ("link", true),
        ("token", true),
    ];
    let offered = all.into_iter().filter(|(_, is_offered)| *is_offered);
    let names = offered.map(|(way, _)| way);
    names.filter(|_| authenticator.asks).collect()
}

/// The name of somebody on the page, or the id of a user who is known by no name; `None` in shared mode.
fn name_shown(core: &Core, caller: &Caller) -> Option<String> {
    let user = caller.user.as_ref()?.as_str();
    Some(
        core.store
            .name_of(caller)
            .unwrap_or_else(|| user.to_owned()),
    )
}

#[derive(Deserialize)]
struct SignIn {
    token: String,
}

/// `POST /page/sign-in`: a personal token for a session.
async fn sign_in(request: ServerRequest) -> Result<Response, HandlerError> {
    let ServerRequest {
        server,
        parts,
        body,
    } = request;
    expect_page(&server, &parts)?;
    let SignIn { token } = arguments(&server.core, body).await?;
    let previous = server.authenticator.page_session(&parts);
    let signed_in = look_up(&server, move |core| {
        let principal = core.admin.principal_of_token(token.trim())?;
        let principal = principal.ok_or(SignInError::NoToken)?;
        let name = principal.user.as_str().to_owned();
        let secret = begin(core, &principal, previous.as_ref())?;
        Ok((name, secret))
    });
    let (name, secret) = signed_in.await?;
    let reply = Reply::new(json!({"name": name}), format!("Signed in as {name}"));
    Ok(with_session(&server, envelope::answer(Ok(reply)), &secret))
}

#[derive(Default, Deserialize)]
struct SignOut {
    /// In all browsers, not only in this one.
    #[serde(default)]
    everywhere: bool,
}

/// `POST /page/sign-out`: ends the session of this browser, or all of its user.
async fn sign_out(request: ServerRequest) -> Result<Response, HandlerError> {
    let ServerRequest {
        server,
        parts,
        body,
    } = request;
    expect_page(&server, &parts)?;
    let SignOut { everywhere } = arguments(&server.core, body).await?;
    if let Some(secret) = server.authenticator.page_session(&parts) {
        let ended = look_up(&server, move |core| {
            let sessions = core.store.page_sessions();
            let principal = sessions.verify(secret.reveal())?;
            match principal.filter(|_| everywhere) {
                Some(principal) => sessions.end_all(&principal.user),
                None => sessions.end(secret.reveal()),
            }
        });
        ended.await?;
    }
    let reply = Reply::new(json!({}), "Signed out");
    let mut response = unstored(envelope::answer(Ok(reply)));
    let cookie = server.authenticator.cookie.clear();
    response.headers_mut().insert(SET_COOKIE, cookie);
    // Small pictures that the browser kept. It takes the header over https only.
    let cached = HeaderValue::from_static("\"cache\"");
    response.headers_mut().insert("clear-site-data", cached);
    Ok(response)
}

/// Fails for what does not come from the page, and where nobody has to sign in.
fn expect_page(server: &Server, parts: &Parts) -> Result<(), Error> {
    server.authenticator.expect_page(parts)?;
    expect_users(server)
}

/// Fails where nobody has to sign in: a session would stand for nobody there.
fn expect_users(server: &Server) -> Result<(), Error> {
    if server.authenticator.asks {
        Ok(())
    } else {
        Err(SignInError::Shared.into())
    }
}

/// Begins a session with a secret of its own, and ends the one that the browser had.
fn begin(core: &Core, principal: &Principal, previous: Option<&Secret>) -> Result<Secret, Error> {
    core.store
        .expect_active(&Caller::known(principal.user.clone(), Chat::default()))?;
    let sessions = core.store.page_sessions();
    if let Some(previous) = previous {
        sessions.end(previous.reveal())?;
    }
    sessions.create(principal).map(Secret::new)
}

/// An answer that gives a browser its session.
fn with_session(server: &Server, response: Response, secret: &Secret) -> Response {
    let hours = server.core.store.settings.session_hours;
    let seconds = hours.saturating_mul(3600);
    let cookie = server.authenticator.cookie.set(secret, seconds);
    let mut response = unstored(response);
    response.headers_mut().insert(SET_COOKIE, cookie);
    response
}

/// Leads a browser that has signed in to the page, or shows why it has not.
fn lead_to_page(
    server: &Server,
    headers: &HeaderMap,
    signed_in: Result<Secret, Error>,
) -> Response {
    match signed_in {
        Ok(session) => {
            let response = (StatusCode::SEE_OTHER, [(LOCATION, PAGE)]).into_response();
            with_session(server, response, &session)
        }
        Err(error) => refused(headers, error),
    }
}

/// A failure as a page in the language of the browser.
fn refused(headers: &HeaderMap, error: Error) -> Response {
    if envelope::is_ours(error.code()) {
        envelope::failure(error)
    } else {
        show_refusal(Language::of(headers), &error)
    }
}

/// Does what takes a moment and a thread; few of these run at once, since anybody may ask for one.
async fn look_up<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&Core) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let permit = server.admission.lookup(&current::client()).await?;
    let core = Arc::clone(&server.core);
    pool::holding(permit, move || work(&core)).await
}

/// The arguments of a small call.
async fn arguments<T: DeserializeOwned>(core: &Core, body: Body) -> Result<T, Error> {
    let arguments = body::small(core, body).await;
    arguments.ok_or_else(|| SignInError::Unreadable.into())
}

diagnostics! {
    /// Why nobody is signed in.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum SignInError {
        /// No token of this server, or one that has ended.
        #[error("the token is unknown, expired or revoked")]
        NoToken => {
            code: Unauthorized,
            hint: "paste a personal token; an administrator makes one with `fileshed token create --user <id>`",
        },
        /// There are no users.
        #[error("signing in is not needed: this server has one workspace, for this machine")]
        Shared => {
            code: AccessDenied,
            hint: "open the page of this server",
        },
        /// The body is not what is expected.
        #[error("the request body is not a JSON object with the fields that this address needs")]
        Unreadable => {
            code: InvalidParameter,
            hint: "send {\"token\": \"shed_…\"} to sign in, {} or {\"everywhere\": true} to sign out, \
                   {\"label\": \"backup\"} for a token, {\"id\": \"…\"} to end one",
        },
    }
}

/// `GET /page/sign-in/<secret>`: the button, which alone uses the link up: programs that look at the links
/// of a chat in advance press none.
async fn show_link(
    State(server): State<Arc<Server>>,
    Path(secret): Path<String>,
    headers: HeaderMap,
) -> Response {
    let found = async {
        expect_users(&server)?;
        look_up(&server, move |core| {
            expected(core.admin.look_at_sign_in_link(&secret)?)
        })
        .await
    };
    match found.await {
        Ok(principal) => button(Language::of(&headers), &principal),
        Err(error) => refused(&headers, error),
    }
}

/// `POST /page/sign-in/<secret>`: signs in, once.
async fn open_link(Path(secret): Path<String>, request: ServerRequest) -> Response {
    let ServerRequest { server, parts, .. } = request;
    let previous = server.authenticator.page_session(&parts);
    let signed_in = async {
        expect_users(&server)?;
        server.authenticator.expect_own_page(&parts)?;
        look_up(&server, move |core| {
            let principal = expected(core.admin.redeem_sign_in_link(&secret)?)?;
            begin(core, &principal, previous.as_ref())
        })
        .await
    };
    lead_to_page(&server, &parts.headers, signed_in.await)
}

/// Fails in one way for every link that does not work: its holder is not told why.
fn expected(found: Option<Principal>) -> Result<Principal, Error> {
    found.ok_or_else(|| LinkError::Gone.into())
}

fn button(language: Language, principal: &Principal) -> Response {
    let user = principal.user.as_str();
    let name = escaped(principal.name.as_deref().unwrap_or(user));
    let told = language.say("sign_in_about");
    let told = told.replace("{0}", &format!("<strong>{name}</strong>"));
    let title = language.say("open_files");
    let action = language.say("open_the_files");
    let content = format!(
        "<p>{told}</p>\n<form method=\"post\"><button type=\"submit\">{action}</button></form>"
    );
    let mut response = HtmlPage::new(language, title, &content).answer();
    // With another policy, a browser does not send the origin of the form.
    let policy = HeaderValue::from_static("same-origin");
    response.headers_mut().insert(REFERRER_POLICY, policy);
    response
}
