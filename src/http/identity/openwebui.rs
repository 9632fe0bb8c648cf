//! Users whom Open WebUI vouches for: by a session of theirs, or by a header that it signs as a gateway, so
//! that a service key alone cannot name a user.
//!
//! If the secret that signs sessions is configured, the signature is checked; if Open WebUI is
//! configured, it is asked, because only it knows keys, roles and revocations. Forged credentials
//! must not occupy the server meanwhile: few requests to Open WebUI run at once, the others wait
//! without a thread and not for long.
//!
//! The group headers are not part of what a gateway signs: they are believed from a service key, as
//! everything that an administrator writes into a connection.

use axum::http::HeaderMap;
use fileshed_core::fair::{FairSemaphore, Grant, Shares};
use fileshed_core::limiter::{Limiter, Pool};
use fileshed_core::sign_in::Principal;
use fileshed_core::{Code, Error, Role, UserId};
use serde::Deserialize;

use super::headers::single;
use super::{
    AcceptedCredentials, Authenticator, Credential, IdentityError, JwtError, Sources, jwt,
};
use crate::config::Secret;
use crate::http::admission;
use crate::http::serve::current;
use crate::openwebui::{presentable, role};

/// Requests to Open WebUI that run at once.
const LOOKUPS: u64 = 16;

/// Queues of questions to Open WebUI.
#[derive(Debug)]
pub(super) struct SessionQueues {
    /// Separate, so that forged credentials do not delay those whose signature is right.
    unchecked: FairSemaphore,
    checked: FairSemaphore,
}

impl SessionQueues {
    pub(super) fn new(limiter: &Limiter) -> Self {
        Self {
            unchecked: limiter.open(Pool::Sessions, Shares::dynamic(LOOKUPS)),
            checked: limiter.open(Pool::SignedSessions, Shares::dynamic(LOOKUPS)),
        }
    }
}

/// A session or an API key of Open WebUI.
#[derive(Debug)]
pub(in crate::http) struct SessionCredential {
    pub(super) secret: Secret,
    /// The user, if the signature was checked.
    user: Option<UserId>,
    /// `true` if the browser of a person sends it, because Open WebUI is at the same address; else Open
    /// WebUI does, for a model.
    pub(super) is_of_page: bool,
}

#[derive(Deserialize)]
struct SessionClaims {
    id: String,
    typ: Option<String>,
}

/// The issuer that a signature must name.
const ISSUER: &str = "open-webui";

#[derive(Deserialize)]
struct SignedUserClaims {
    iss: String,
    sub: String,
    #[serde(rename = "exp")]
    _ends: f64,
    #[serde(rename = "iat")]
    _dated: f64,
    name: Option<String>,
    email: Option<String>,
    role: Option<String>,
}

impl Authenticator {
    /// Checks what can be checked of a session without Open WebUI.
    pub(super) fn read_session(
        &self,
        secret: Secret,
        is_of_page: bool,
        accepted: AcceptedCredentials,
    ) -> Result<SessionCredential, IdentityError> {
        let user = match &self.config.webui_secret_key {
            Some(key) if jwt::is_token(secret.reveal()) => {
                let user = self.signed_session(&secret, key);
                Some(user.ok_or(IdentityError::WrongCredential(accepted))?)
            }
            _ if self.openwebui.is_some() => None,
            _ => return Err(IdentityError::NotChecked),
        };
        Ok(SessionCredential {
            secret,
            user,
            is_of_page,
        })
    }

    /// Returns the user of a session that is signed with this key.
    fn signed_session(&self, secret: &Secret, key: &Secret) -> Option<UserId> {
        let now = self.clock.now().as_second();
        let claims = jwt::verify::<SessionClaims>(secret.reveal(), key, now).ok()?;
        // Other tokens that Open WebUI signs are not credentials.
        matches!(claims.typ.as_deref(), None | Some("session" | "automation"))
            .then(|| UserId::parse(&claims.id).ok())?
    }

    /// Waits for a permit to ask Open WebUI, if the credential needs its answer. Dropping the permit
    /// gives it back.
    pub(in crate::http) async fn lookup_permit(
        &self,
        credential: &Credential,
    ) -> Result<Option<Grant>, IdentityError> {
        let (Credential::Session(session, _), Some(openwebui), Some(queues)) =
            (credential, &self.openwebui, &self.sessions)
        else {
            return Ok(None);
        };
        if openwebui
            .remembered_account(session.secret.reveal())
            .is_ok()
        {
            return Ok(None);
        }
        let (places, who) = match &session.user {
            Some(user) => (&queues.checked, user.as_str().to_owned()),
            None => (&queues.unchecked, current::client()),
        };
        let patience = self.config.core.timings.calls.lookup;
        let place = admission::wait(places, &who, 1, patience).await;
        Ok(Some(place.map_err(|_| IdentityError::Busy)?))
    }

    /// Finds the user of a session; `None` if the sources know nobody. If the signature alone counts, the
    /// rest is as a gateway has signed it.
    pub(super) fn find_session(
        &self,
        session: &SessionCredential,
        described: Option<&Principal>,
        sources: Sources,
    ) -> Result<Option<Principal>, Error> {
        let signed = session.user.as_ref();
        let by_signature = || {
            let described = described.filter(|described| Some(&described.user) == signed);
            described
                .cloned()
                .or_else(|| Some(Principal::of(signed?.clone())))
        };
        let Some(openwebui) = &self.openwebui else {
            return Ok(by_signature());
        };
        let secret = session.secret.reveal();
        let asked = match sources {
            Sources::Memory => match openwebui.remembered_account(secret) {
                // A refusal from memory counts too.
                Ok(None) => return Err(self.wrong_credential().into()),
                remembered => Ok(remembered.ok().flatten()),
            },
            Sources::All => openwebui.account(secret, jwt::is_token(secret)),
        };
        let account = match asked {
            Err(error) if signed.is_some() && error.code() == Code::OpenwebuiApiUnavailable => {
                tracing::debug!(
                    "Open WebUI does not answer: the signature of the session is accepted"
                );
                return Ok(by_signature());
            }
            asked => asked?,
        };
        match (account, signed) {
            (Some(account), Some(user)) if *user != account.principal.user => {
                tracing::warn!("Open WebUI names another user than the session's signature");
                Err(self.wrong_credential().into())
            }
            (Some(account), _) if account.is_pending => Err(IdentityError::Pending.into()),
            (account, _) => Ok(account.map(|account| account.principal)),
        }
    }

    /// Returns the user that a gateway has signed; `None` if there is none, or gateways sign nobody. A token
    /// that is there must be valid.
    pub(super) fn signed(&self, headers: &HeaderMap) -> Result<Option<Principal>, IdentityError> {
        let header = &self.config.header_user_jwt;
        let Some(secret) = &self.config.forward_jwt_secret else {
            return Ok(None);
        };
        let Some(token) = single(headers, header)? else {
            return Ok(None);
        };
        let wrong = |cause| IdentityError::WronglySigned {
            header: header.clone(),
            cause,
        };
        let now = self.clock.now().as_second();
        let claims = jwt::verify::<SignedUserClaims>(token, secret, now).map_err(wrong)?;
        if claims.iss != ISSUER {
            return Err(wrong(JwtError::Claims));
        }
        let user = UserId::parse(&claims.sub).map_err(IdentityError::User)?;
        Ok(Some(Principal {
            name: claims.name.and_then(presentable),
            email: claims.email.and_then(presentable),
            role: match claims.role {
                Some(text) => role(&text).ok_or(IdentityError::Pending)?,
                None => Role::User,
            },
            ..Principal::of(user)
        }))
    }
}
