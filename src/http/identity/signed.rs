//! Users that a gateway signs, so that a service key alone cannot name a user.
//!
//! The group headers are not part of what is signed: they are believed from a service key, as
//! everything that an administrator writes into a connection.

use axum::http::{HeaderMap, HeaderName};
use fileshed_core::{Caller, Clock, Role, UserId};
use serde::Deserialize;

use super::headers::single;
use super::{IdentityError, JwtError, jwt};
use crate::config::{Config, Secret};
use crate::openwebui::{presentable, role};

/// Who must have signed.
const ISSUER: &str = "open-webui";

/// Verifies signed users.
#[derive(Debug)]
pub(super) struct SignedUserVerifier {
    secret: Secret,
    header: HeaderName,
    clock: Clock,
}

/// A user that a gateway has signed.
#[derive(Debug)]
pub(super) struct SignedUser {
    pub(super) id: UserId,
    name: Option<String>,
    email: Option<String>,
    role: Role,
}

#[derive(Deserialize)]
struct SignedUserClaims {
    iss: String,
    sub: String,
    name: Option<String>,
    email: Option<String>,
    role: Option<String>,
}

impl SignedUserVerifier {
    pub(super) fn new(config: &Config, clock: &Clock) -> Option<Self> {
        Some(Self {
            secret: config.forward_jwt_secret.clone()?,
            header: config.header_user_jwt.clone(),
            clock: clock.clone(),
        })
    }

    pub(super) fn header(&self) -> &HeaderName {
        &self.header
    }

    /// The signed user, if there is one. A token that is there must be valid.
    pub(super) fn read(&self, headers: &HeaderMap) -> Result<Option<SignedUser>, IdentityError> {
        let Some(token) = single(headers, &self.header)? else {
            return Ok(None);
        };
        let wrong = |cause| IdentityError::WronglySigned {
            header: self.header.clone(),
            cause,
        };
        let now = self.clock.now().as_second();
        let verified = jwt::verify::<SignedUserClaims>(token, &self.secret, now).map_err(wrong)?;
        let claims = verified.claims;
        if !verified.is_dated || !verified.ends || claims.iss != ISSUER {
            return Err(wrong(JwtError::Claims));
        }
        Ok(Some(SignedUser {
            id: UserId::parse(&claims.sub).map_err(IdentityError::User)?,
            name: claims.name.and_then(presentable),
            email: claims.email.and_then(presentable),
            role: match claims.role {
                Some(text) => role(&text).ok_or(IdentityError::Pending)?,
                None => Role::User,
            },
        }))
    }
}

impl SignedUser {
    /// Sets what is known of the user.
    pub(super) fn describe(self, caller: &mut Caller) {
        caller.name = self.name;
        caller.email = self.email;
        caller.role = self.role;
    }
}
