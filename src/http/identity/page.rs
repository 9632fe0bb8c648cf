//! Who calls from the page of this server: a browser that is signed in, here or in an Open WebUI at
//! the same address.
//!
//! A browser sends cookies with whatever it is made to ask. So they count only where the page itself
//! asks: with a header that pages of other sites cannot send, and as far as the browser says where a
//! request comes from, from this site. Without that header they count for the endpoints of [`SHOWN`]
//! alone. Beside another credential they never count. Nobody keeps an answer to a cookie.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderName, Method};

use super::session::SessionOrigin;
use super::{Authenticator, Credential, CredentialKind, IdentityError, browser};
use crate::config::{Origin, Secret};
use crate::http::cookie::{self, Cookie};

/// What the page sends with every call; the value is `1`.
pub(in crate::http) const X_FILESHED_PAGE: HeaderName = HeaderName::from_static("x-fileshed-page");

/// The endpoints that elements of the page load and people open, where the page cannot send its header.
const SHOWN: [&str; 2] = ["/files/content", "/files/archive"];

/// A mark on a request: `true` once a cookie was read as its credential.
#[derive(Clone, Debug, Default)]
pub(in crate::http) struct CookieUse(Arc<AtomicBool>);

impl CookieUse {
    /// Notes that a cookie was read.
    fn note(request: &Parts) {
        if let Some(Self(used)) = request.extensions.get() {
            used.store(true, Ordering::Relaxed);
        }
    }

    /// `true` if the answer may depend on a cookie.
    pub(in crate::http) fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// In which Open WebUI keeps its session.
const OPEN_WEBUI_COOKIE: &str = "token";

/// What is known of the server's own page.
#[derive(Debug)]
pub(super) struct OwnPage {
    /// Holds the secret of a session.
    pub(super) cookie: Cookie,
    /// The site of the public address, if that is set.
    origin: Option<Origin>,
}

impl OwnPage {
    /// The page at a public address, which is empty where nobody said it.
    pub(super) fn new(public_url: &str) -> Self {
        let origin = public_url.split_once("://").and_then(|(scheme, rest)| {
            let authority = rest.split('/').next()?;
            format!("{scheme}://{authority}").parse().ok()
        });
        Self {
            cookie: Cookie::new("fileshed-session", public_url, ""),
            origin,
        }
    }
}

impl Authenticator {
    /// Reads the credential of a request that the page may make, without disk, registry or network.
    pub(super) fn read_for_page(&self, request: &Parts) -> Result<Credential, IdentityError> {
        let headers = &request.headers;
        if !self.asks || headers.contains_key(AUTHORIZATION) {
            return self.read_header(request);
        }
        if is_by_page(request) {
            self.expect_own_page(request)?;
        } else if !is_shown(request) {
            return self.read_header(request);
        } else if !browser::is_of_site_or_person(request, self.page.origin.as_ref()) {
            // Before anything is looked up, so that the answer tells the other page nothing.
            return Err(IdentityError::OtherPage);
        }
        if let Some(secret) = self.page_session(request) {
            let kind = CredentialKind::PageSession(secret, self.principal_headers(headers)?);
            return Ok(Credential(kind));
        }
        let of_open_webui = cookie::read(headers, OPEN_WEBUI_COOKIE);
        let (Some(sessions), Some(secret)) = (&self.sessions, of_open_webui) else {
            return self.read_header(request);
        };
        CookieUse::note(request);
        let session = sessions.read(secret, SessionOrigin::Page, self.accepted())?;
        let kind = CredentialKind::Session(session, self.principal_headers(headers)?);
        Ok(Credential(kind))
    }

    /// Refuses what the server's own page does not ask.
    pub fn expect_page(&self, request: &Parts) -> Result<(), IdentityError> {
        if is_by_page(request) {
            self.expect_own_page(request)
        } else {
            Err(IdentityError::OtherPage)
        }
    }

    /// Refuses what a page of another site makes a browser ask.
    pub fn expect_own_page(&self, request: &Parts) -> Result<(), IdentityError> {
        if browser::is_of_site(request, self.page.origin.as_ref()) {
            Ok(())
        } else {
            Err(IdentityError::OtherPage)
        }
    }

    /// Whether anybody has to sign in: else there is one workspace for all.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// Whether sessions of Open WebUI count.
    #[must_use]
    pub fn takes_open_webui(&self) -> bool {
        self.sessions.is_some()
    }

    /// The cookie with the secret of a session on the page.
    pub(in crate::http) fn session_cookie(&self) -> &Cookie {
        &self.page.cookie
    }

    /// The secret of the session on the page that a request brings.
    pub(in crate::http) fn page_session(&self, request: &Parts) -> Option<Secret> {
        let secret = self.page.cookie.read(&request.headers);
        if secret.is_some() {
            CookieUse::note(request);
        }
        secret
    }
}

/// `true` if the request reads one of the endpoints of [`SHOWN`].
fn is_shown(request: &Parts) -> bool {
    let reads = request.method == Method::GET || request.method == Method::HEAD;
    reads && SHOWN.contains(&request.uri.path())
}

/// Whether the request is one that only the server's own page makes.
pub(in crate::http) fn is_by_page(request: &Parts) -> bool {
    let value = request.headers.get(X_FILESHED_PAGE);
    value.is_some_and(|value| value == "1")
}
