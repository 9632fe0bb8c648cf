//! Who calls with a name and a password, as programs do that know no other way: the password is a
//! personal token, and alone says who calls. The name may be any.

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Authenticator, Credential, CredentialKind, IdentityError, TOKEN_PREFIX, browser};
use crate::config::Secret;

impl Authenticator {
    /// Reads the credential of a request by a program that shows files, without disk, registry or
    /// network. Browsers send passwords that they know whatever page asks, so no page may call.
    pub(super) fn read_for_files(&self, request: &Parts) -> Result<Credential, IdentityError> {
        if !browser::is_by_program(request) {
            return Err(IdentityError::OtherPage);
        }
        let mut values = request.headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return self.read_header(request);
        };
        let text = value.to_str().unwrap_or_default();
        match text.split_once(' ') {
            Some((scheme, secret)) if scheme.eq_ignore_ascii_case("basic") => {
                let wrong = || IdentityError::WrongCredential(self.accepted());
                let token = password(secret).ok_or_else(wrong)?;
                let headers = self.principal_headers(&request.headers)?;
                Ok(Credential(CredentialKind::PersonalToken(token, headers)))
            }
            _ => self.read_header(request),
        }
    }
}

/// The password in a credential of RFC 7617, where it could be a personal token.
fn password(secret: &str) -> Option<Secret> {
    let decoded = STANDARD.decode(secret.trim()).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (_, password) = text.split_once(':')?;
    password
        .starts_with(TOKEN_PREFIX)
        .then(|| Secret::new(password))
}
