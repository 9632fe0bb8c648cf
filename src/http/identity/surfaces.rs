//! Credentials that surfaces accept beside a bearer token: a password of a drive, a key of a terminal, a
//! cookie of the server's own page.
//!
//! Programs that show files as a drive only support a name and a password: the password is a personal
//! token, which alone identifies the caller. The name is ignored.
//!
//! Open WebUI's proxy in front of the terminal names the user in one header, which it cannot sign, and
//! passes no other identification. So that header counts only beside a key that is meant for it. Callers
//! with a service key name their users here as everywhere else: if gateways sign their users, a leaked
//! key alone opens nothing.
//!
//! A browser sends cookies with every request that a site makes it send. So they count only if the page
//! itself calls: with a header that pages of other sites cannot send, and from this site, if the browser
//! names the origin of a request. Without that header they count only for the endpoints of [`SHOWN`].
//! Beside another credential they never count. Answers to a cookie are not cached.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::settings::GroupSource;
use fileshed_core::{Caller, Chat};

use super::headers::{self, credential, filled, single};
use super::{Authenticator, Credential, IdentityError, TOKEN_PREFIX, X_USER_ID, is_among};
use crate::config::{Origin, Secret};
use crate::http::cookie;
use crate::http::header;

/// Header that the page sends with every call; the value is `1`.
pub(in crate::http) const X_FILESHED_PAGE: HeaderName = HeaderName::from_static("x-fileshed-page");

/// Header in which the page brings the token of an open editor.
const LOCK_TOKEN: HeaderName = HeaderName::from_static("lock-token");
/// Header in which the page names what a person does there, in one call or in several.
pub(in crate::http) const X_FILESHED_ACTION: HeaderName =
    HeaderName::from_static("x-fileshed-action");

/// Endpoints that elements of the page load and people open, for which the page cannot send its header.
const SHOWN: [&str; 4] = [
    "/files/content",
    "/files/archive",
    "/page/member",
    "/page/thumbnail",
];

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

/// The cookie in which Open WebUI keeps its session.
const OPEN_WEBUI_COOKIE: &str = "token";

/// The name of the cookie with the secret of a session on the page.
pub(super) const SESSION_COOKIE: &str = "fileshed-session";

/// Returns the site of a public address; `None` if that is empty.
pub(super) fn site_of(public_url: &str) -> Option<Origin> {
    let (scheme, rest) = public_url.split_once("://")?;
    let authority = rest.split('/').next()?;
    format!("{scheme}://{authority}").parse().ok()
}

impl Authenticator {
    /// Reads the credential of a request that the page may make, without disk, registry or network.
    pub(super) fn read_for_page(&self, request: &Parts) -> Result<Credential, IdentityError> {
        let headers = &request.headers;
        if !self.asks || headers.contains_key(AUTHORIZATION) {
            return self.read_header(request, self.accepted());
        }
        if is_by_page(request) {
            self.expect_own_page(request)?;
        } else if !is_shown(request) {
            return self.read_header(request, self.accepted());
        } else if !headers::is_by_program(request)
            && !headers::is_of_site(request, self.site.as_ref())
        {
            // The refusal comes before any lookup, so that the answer tells the other page nothing.
            return Err(IdentityError::OtherPage);
        }
        if let Some(secret) = self.page_session(request) {
            let headers = self.principal_headers(headers)?;
            return Ok(Credential::PageSession(secret, headers));
        }
        let of_open_webui = cookie::read(headers, OPEN_WEBUI_COOKIE);
        let Some(secret) = of_open_webui.filter(|_| self.sessions.is_some()) else {
            return self.read_header(request, self.accepted());
        };
        CookieUse::note(request);
        let session = self.read_session(secret, true, self.accepted())?;
        Ok(Credential::Session(
            session,
            self.principal_headers(headers)?,
        ))
    }

    /// Refuses what the server's own page does not ask.
    pub(in crate::http) fn expect_page(&self, request: &Parts) -> Result<(), IdentityError> {
        if is_by_page(request) {
            self.expect_own_page(request)
        } else {
            Err(IdentityError::OtherPage)
        }
    }

    /// Refuses what a page of another site makes a browser ask.
    pub(in crate::http) fn expect_own_page(&self, request: &Parts) -> Result<(), IdentityError> {
        if headers::is_of_site(request, self.site.as_ref()) {
            Ok(())
        } else {
            Err(IdentityError::OtherPage)
        }
    }

    /// Returns `true` if sessions of Open WebUI count.
    pub(in crate::http) fn takes_open_webui(&self) -> bool {
        self.sessions.is_some()
    }

    /// The secret of the session on the page that a request brings.
    pub(in crate::http) fn page_session(&self, request: &Parts) -> Option<Secret> {
        let secret = self.cookie.read(&request.headers);
        if secret.is_some() {
            CookieUse::note(request);
        }
        secret
    }

    /// Reads the credential of a request to the terminal, without disk, registry or network.
    pub(super) fn read_for_terminal(&self, request: &Parts) -> Result<Credential, IdentityError> {
        let headers = &request.headers;
        let accepted = self.accepted_by_terminal();
        let caller = match credential(headers, accepted)? {
            Some(secret) if is_among(&self.terminal_keys, &secret) => {
                self.terminal_user(headers)?
            }
            Some(secret) if is_among(&self.keys, &secret) => {
                if !self.names_a_user(headers)? {
                    return Err(IdentityError::NotForTerminals);
                }
                self.gateway(headers)?
            }
            _ => return self.read_header(request, accepted),
        };
        Ok(Credential::Resolved(caller))
    }

    /// Returns the user whom the proxy names. Other headers of the call must name the same user.
    fn terminal_user(&self, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        if filled(headers, &X_USER_ID)?.is_none_or(str::is_empty) {
            return Err(IdentityError::NoTerminalUser);
        }
        let mut caller = if self.config.forward_jwt_secret.is_none() {
            self.plain_user(headers)?
        } else if single(headers, &self.config.header_user_jwt)?.is_some() {
            self.signed_user(headers)?
        } else {
            let user = self.named_user(headers)?;
            Caller::known(user.ok_or(IdentityError::NoTerminalUser)?, Chat::default())
        };
        let ids = &self.config.header_group_ids;
        if self.config.core.groups == GroupSource::Headers && single(headers, ids)?.is_some() {
            caller.groups = self.group_claims(headers)?;
        } else {
            caller.recalls_groups = true;
        }
        self.of_gateway(caller, headers)
    }

    /// Returns `true` if the request names its user in a way that counts beside a service key.
    fn names_a_user(&self, headers: &HeaderMap) -> Result<bool, IdentityError> {
        let config = &self.config;
        if config.forward_jwt_secret.is_some() {
            return Ok(single(headers, &config.header_user_jwt)?.is_some());
        }
        Ok(
            config.header_user_id != X_USER_ID
                && filled(headers, &config.header_user_id)?.is_some(),
        )
    }

    /// Reads the credential of a request by a program that shows files, without disk, registry or
    /// network. Browsers send passwords that they know whatever page asks, so no page may call.
    pub(super) fn read_for_drive(&self, request: &Parts) -> Result<Credential, IdentityError> {
        if !headers::is_by_program(request) {
            return Err(IdentityError::OtherPage);
        }
        let text = header::text(&request.headers, &AUTHORIZATION);
        match text.and_then(|text| text.split_once(' ')) {
            Some((scheme, secret)) if scheme.eq_ignore_ascii_case("basic") => {
                let token = password(secret).ok_or_else(|| self.wrong_credential())?;
                let headers = self.principal_headers(&request.headers)?;
                Ok(Credential::PersonalToken(token, headers))
            }
            _ => self.read_header(request, self.accepted()),
        }
    }
}

/// `true` if the request reads one of the endpoints of [`SHOWN`].
fn is_shown(request: &Parts) -> bool {
    let reads = request.method == Method::GET || request.method == Method::HEAD;
    reads && SHOWN.contains(&request.uri.path())
}

/// Returns `true` if only the server's own page makes such a request.
pub(in crate::http) fn is_by_page(request: &Parts) -> bool {
    let value = request.headers.get(X_FILESHED_PAGE);
    value.is_some_and(|value| value == "1")
}

/// Returns the name of what a person does on the page.
pub(in crate::http) fn action(request: &Parts) -> Option<&str> {
    let name = header::text(&request.headers, &X_FILESHED_ACTION)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    ((1..=64).contains(&name.len()) && name.bytes().all(is_plain)).then_some(name)
}

/// Returns the token of the lease that an editor of the page has, as WebDAV has it in its header (RFC 4918,
/// section 10.5).
pub(in crate::http) fn lock_token(request: &Parts) -> Option<String> {
    let text = header::text(&request.headers, &LOCK_TOKEN)?;
    let token = text.strip_prefix('<')?.strip_suffix('>')?;
    Some(token.to_owned())
}

/// Returns the password in a credential of RFC 7617; `None` if it cannot be a personal token.
fn password(secret: &str) -> Option<Secret> {
    let decoded = STANDARD.decode(secret.trim()).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (_, password) = text.split_once(':')?;
    password
        .starts_with(TOKEN_PREFIX)
        .then(|| Secret::new(password))
}
