//! `/page/oidc`: signing in with OpenID Connect: the authorization code flow with PKCE (RFC 6749,
//! RFC 7636, OpenID Connect Core 1.0).
//!
//! Only its code comes through the browser; who signs in is asked of the provider, and believed if the
//! signature is right. Nothing is kept of an attempt: what it needs is derived from a secret in the
//! browser that began it (`attempt`).

use std::sync::Arc;

use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::caller::CallerError;
use fileshed_core::fair::{FairSemaphore, Shares};
use fileshed_core::limiter::{Limiter, Pool};
use fileshed_core::sign_in::Principal;
use fileshed_core::{Error, Role, Secret, Timings, UserId, diagnostics};
use moka::sync::Cache;
use serde_json::Value;
use ureq::Agent;

use super::{begin, lead_to_page, refused, unstored};
use crate::config::Config;
use crate::http::call::ServerRequest;
use crate::http::cookie::Cookie;
use crate::http::serve::current;
use crate::http::{Server, pool};
use crate::openwebui::{client, presentable};

mod attempt;
mod claims;
mod provider;

use attempt::Attempt;
use claims::KeySet;
use provider::{KEYS_AGAIN, PUBLISHED, ProviderMetadata, published};

/// Path that begins an attempt; the provider's answer comes to a path below it.
pub(super) const BEGIN: &str = "/page/oidc";
pub(super) const ANSWER: &str = "/page/oidc/callback";

/// The claims of an address, and of whether the provider knows that it is the person's own.
const EMAIL: &str = "email";
const VERIFIED: &str = "email_verified";

/// Seconds that a person may take to sign in at the provider.
const ATTEMPT_SECONDS: u64 = 600;

/// Questions to the provider that run at once: each takes a thread.
const QUESTIONS: u64 = 8;

/// Signing in with a provider of OpenID Connect.
pub(in crate::http) struct OpenIdConnect {
    config: Config,
    /// Holds the secret of an attempt.
    cookie: Cookie,
    questions: FairSemaphore,
    agent: Agent,
    /// Asked once, however many wait.
    metadata: Cache<(), Arc<ProviderMetadata>>,
    keys: Cache<(), Arc<KeySet>>,
    /// Present while keys were asked for again lately.
    asked_again: Cache<(), ()>,
}

impl OpenIdConnect {
    /// Returns `None` if no provider is configured.
    pub(in crate::http) fn new(config: &Config, limiter: &Limiter) -> Option<Self> {
        (!config.oidc_issuer.is_empty()).then(|| Self {
            config: config.clone(),
            cookie: Cookie::of_host("fileshed-oidc", config.core.public_url.as_str()),
            questions: limiter.open(Pool::SignIns, Shares::dynamic(QUESTIONS)),
            agent: client::agent(),
            metadata: published(PUBLISHED),
            keys: published(PUBLISHED),
            asked_again: published(KEYS_AGAIN),
        })
    }

    /// Returns the URL at which the provider asks a person to sign in; blocks.
    fn address(&self, attempt: &Attempt, callback: &str) -> Result<String, Error> {
        let metadata = self.metadata()?;
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.oidc_client_id)
            .append_pair("redirect_uri", callback)
            .append_pair("scope", &self.config.oidc_scopes)
            .append_pair("state", &attempt.state())
            .append_pair("nonce", &attempt.nonce())
            .append_pair("code_challenge", &attempt.challenge())
            .append_pair("code_challenge_method", "S256");
        let endpoint = &metadata.authorization_endpoint;
        let joint = if endpoint.contains('?') { '&' } else { '?' };
        Ok(format!("{endpoint}{joint}{}", query.finish()))
    }

    /// Returns the user who signed in; blocks.
    fn principal(
        &self,
        attempt: &Attempt,
        code: &str,
        callback: &str,
        now: i64,
    ) -> Result<Principal, Error> {
        let tokens = self.exchange(code, &attempt.verifier(), callback)?;
        let mut claims = self.verified(&tokens.id_token, &attempt.nonce(), now)?;
        let has_user = claims.contains_key(&self.config.oidc_user_claim);
        // An address and the word that it is verified count from one source alone.
        if has_user && self.config.oidc_user_claim == EMAIL {
            claims.entry(VERIFIED).or_insert(Value::Bool(false));
        }
        if !has_user || !claims::say_role(&self.config, &claims) {
            let more = match self.user_info(&tokens, &claims) {
                // Somebody who signs in is not kept out because nobody says that they administer.
                Err(_) if has_user => None,
                more => more?,
            };
            // Signed claims take precedence over those that are only answered.
            if !has_user && self.config.oidc_user_claim == EMAIL {
                claims.remove(VERIFIED);
            }
            for (name, value) in more.into_iter().flatten() {
                claims.entry(name).or_insert(value);
            }
        }
        let text = |name: &str| claims.get(name).and_then(Value::as_str).map(str::to_owned);
        let claim = &self.config.oidc_user_claim;
        let user = text(claim).ok_or_else(|| OidcError::NoUser {
            claim: claim.clone(),
        })?;
        if claim == EMAIL && claims.get(VERIFIED) != Some(&Value::Bool(true)) {
            return Err(OidcError::Unverified.into());
        }
        let name = text("name").or_else(|| text("preferred_username"));
        let role = claims::role(&self.config, &claims);
        let lasts = i64::try_from(Timings::STANDARD.sign_in.role.as_secs()).unwrap_or_default();
        Ok(Principal {
            name: name.and_then(presentable),
            email: text("email").and_then(presentable),
            role,
            role_ends_at: (role == Role::Admin).then(|| now.saturating_add(lasts)),
            ..Principal::of(UserId::parse(&user).map_err(OidcError::User)?)
        })
    }
}

/// `GET /page/oidc`: begins an attempt, and leads to the provider.
pub(super) async fn start(ServerRequest { server, parts, .. }: ServerRequest) -> Response {
    let begun = begin_attempt(&server).await;
    begun.unwrap_or_else(|error| refused(&parts.headers, error))
}

async fn begin_attempt(server: &Arc<Server>) -> Result<Response, Error> {
    let oidc = configured(server)?;
    let attempt = Attempt::begin()?;
    let callback = callback(server);
    let cookie = oidc.cookie.set(attempt.secret(), ATTEMPT_SECONDS);
    let address = ask(server, move |oidc, _| oidc.address(&attempt, &callback)).await?;
    let address = HeaderValue::try_from(address).map_err(|_| OidcError::Unusable)?;
    let headers = [(LOCATION, address), (SET_COOKIE, cookie)];
    Ok(unstored((StatusCode::SEE_OTHER, headers).into_response()))
}

/// `GET /page/oidc/callback`: the end of an attempt, in the browser that began it.
pub(super) async fn finish(ServerRequest { server, parts, .. }: ServerRequest) -> Response {
    let previous = server.authenticator.page_session(&parts);
    let signed_in = async {
        let (attempt, code) = answer(configured(&server)?, &parts)?;
        let callback = callback(&server);
        ask(&server, move |oidc, server| {
            let now = server.core.store.clock.now().as_second();
            let principal = oidc.principal(&attempt, &code, &callback, now)?;
            begin(&server.core, &principal, previous.as_ref())
        })
        .await
    };
    let mut response = lead_to_page(&server, &parts.headers, signed_in.await);
    if let Some(oidc) = &server.oidc {
        response
            .headers_mut()
            .append(SET_COOKIE, oidc.cookie.clear());
    }
    response
}

/// The attempt of this browser, and the code that the provider gave for it.
fn answer(oidc: &OpenIdConnect, parts: &Parts) -> Result<(Attempt, String), Error> {
    let secret: Option<Secret> = oidc.cookie.read(&parts.headers);
    let attempt = Attempt::of(secret.ok_or(OidcError::NoAttempt)?);
    let query = parts.uri.query().unwrap_or_default();
    let once = |wanted: &str| {
        let mut values =
            form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == wanted);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => Some(value.into_owned()),
            _ => None,
        }
    };
    if !once("state").is_some_and(|state| attempt.is_state(&state)) {
        return Err(OidcError::NoAttempt.into());
    }
    let code = once("code").ok_or(OidcError::Refused)?;
    Ok((attempt, code))
}

fn configured(server: &Server) -> Result<&OpenIdConnect, Error> {
    server.oidc.as_ref().ok_or_else(|| OidcError::Absent.into())
}

/// Returns the URL to which the provider sends people back: only the one that an administrator set, or that
/// of this machine.
fn callback(server: &Server) -> String {
    format!("{}{ANSWER}", server.core.store.public_url())
}

/// Asks the provider; few questions run at once.
async fn ask<T: Send + 'static>(
    server: &Arc<Server>,
    question: impl FnOnce(&OpenIdConnect, &Server) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let questions = &configured(server)?.questions;
    let permit = questions.try_take(&current::client());
    let permit = permit.map_err(|_| OidcError::Busy)?;
    let server = Arc::clone(server);
    pool::holding(permit, move || question(configured(&server)?, &server)).await
}

diagnostics! {
    /// Why nobody is signed in by OpenID Connect.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum OidcError {
        /// There is no provider.
        #[error("this server has no provider of OpenID Connect")]
        Absent => {
            code: FileNotFound,
            hint: "sign in with a link or a personal token; an administrator names a provider with `oidc.issuer`",
        },
        /// Too many sign in.
        #[error("too many people are signing in at once")]
        Busy => {
            code: Busy,
            hint: "try again in a few seconds",
            details: { "scope": "server" },
            retry_after: 5,
        },
        /// It does not answer, or with what is no answer.
        #[error("the provider of OpenID Connect does not answer as it should")]
        Unusable => {
            code: Busy,
            hint: "try again later; the server's log has the cause",
            details: { "scope": "server" },
            retry_after: 30,
        },
        /// Another browser began, or too long ago.
        #[error("this sign-in was begun in another browser, or too long ago")]
        NoAttempt => {
            code: AccessDenied,
            hint: "begin again on the page of this server",
        },
        /// The person or the provider said no.
        #[error("the provider of OpenID Connect refused the sign-in")]
        Refused => {
            code: AccessDenied,
            hint: "begin again on the page of this server, or tell its administrator",
        },
        /// Its claims about the person do not count.
        #[error("the answer of the provider of OpenID Connect could not be verified")]
        Untrusted => {
            code: AccessDenied,
            hint: "begin again; if it fails again, tell the administrator of this server to look \
                at its log",
        },
        /// The claim is missing.
        #[error("the provider of OpenID Connect sent no claim `{claim}`")]
        NoUser {
            /// The claim that the settings name.
            claim: String = "sub".to_owned(),
        } => {
            code: InvalidUser,
            hint: CLAIM,
        },
        /// An address that nobody checked could be anybody's.
        #[error("the mail address is not verified")]
        Unverified => {
            code: AccessDenied,
            hint: "verify the mail address at the provider, which must send `\"email_verified\": \
                true` with it",
        },
        /// The claim cannot be a user id.
        #[error(transparent)]
        User(error: CallerError = CallerError::EmptyUser) => {
            code: InvalidUser,
            hint: CLAIM,
        },
    }
}

const CLAIM: &str = "an administrator must set `oidc.user_claim` and `oidc.scopes` so that the \
                     provider sends the claim as text";
