//! Callers who use their session of Open WebUI.
//!
//! If the secret that signs sessions is configured, the signature is checked; if Open WebUI is
//! configured, it is asked, because only it knows keys, roles and revocations. Forged credentials
//! must not occupy the server meanwhile: few requests to Open WebUI run at once, the others wait
//! without a thread and not for long.

use std::sync::Arc;
use std::time::Duration;

use fileshed_core::fair::{FairSemaphore, Grant, Shares};
use fileshed_core::limiter::{Limiter, Pool};
use fileshed_core::{Clock, Code, Error, UserId};
use serde::Deserialize;

use super::{AcceptedCredentials, IdentityError, jwt};
use crate::config::{Config, Secret};
use crate::http::admission;
use crate::http::serve::current;
use crate::openwebui::{Account, OpenWebUi};

/// Requests to Open WebUI that run at once.
const LOOKUPS: u64 = 16;

/// Verifies sessions.
#[derive(Debug)]
pub(super) struct SessionVerifier {
    secret: Option<Secret>,
    openwebui: Option<Arc<OpenWebUi>>,
    clock: Clock,
    /// How long a call waits until its question can be asked.
    patience: Duration,
    /// Separate, so that forged credentials do not delay those whose signature is right.
    unchecked: FairSemaphore,
    checked: FairSemaphore,
}

/// A session or an API key of Open WebUI.
#[derive(Debug)]
pub(super) struct SessionCredential {
    pub(super) secret: Secret,
    is_token: bool,
    /// The user, if the signature was checked.
    user: Option<UserId>,
    pub(super) origin: SessionOrigin,
}

/// How a session gets here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionOrigin {
    /// Open WebUI sends it, for a model.
    Header,
    /// The browser of a person sends it, because Open WebUI is at the same address.
    Page,
}

/// The user of a session.
#[derive(Debug)]
pub(super) enum SessionUser {
    /// As Open WebUI knows it.
    Account(Account),
    /// As the signature alone says.
    Signature(UserId),
}

#[derive(Deserialize)]
struct SessionClaims {
    id: String,
    typ: Option<String>,
}

impl SessionVerifier {
    pub(super) fn new(
        config: &Config,
        limiter: &Limiter,
        openwebui: Option<Arc<OpenWebUi>>,
    ) -> Option<Self> {
        config.takes_sessions().then(|| Self {
            secret: config.webui_secret_key.clone(),
            openwebui,
            clock: limiter.clock().clone(),
            patience: config.core.timings.calls.lookup,
            unchecked: limiter.open(Pool::Sessions, Shares::dynamic(LOOKUPS)),
            checked: limiter.open(Pool::SignedSessions, Shares::dynamic(LOOKUPS)),
        })
    }

    /// Checks what can be checked without Open WebUI.
    pub(super) fn read(
        &self,
        secret: Secret,
        origin: SessionOrigin,
        accepted: AcceptedCredentials,
    ) -> Result<SessionCredential, IdentityError> {
        let is_token = jwt::is_token(secret.reveal());
        let user = match &self.secret {
            Some(key) if is_token => Some(self.signed(&secret, key, accepted)?),
            _ if self.openwebui.is_some() => None,
            _ => return Err(IdentityError::NotChecked),
        };
        Ok(SessionCredential {
            secret,
            is_token,
            user,
            origin,
        })
    }

    fn signed(
        &self,
        secret: &Secret,
        key: &Secret,
        accepted: AcceptedCredentials,
    ) -> Result<UserId, IdentityError> {
        let wrong = || IdentityError::WrongCredential(accepted);
        let now = self.clock.now().as_second();
        let claims = jwt::verify::<SessionClaims>(secret.reveal(), key, now);
        let claims = claims.map_err(|_| wrong())?.claims;
        // Other tokens that Open WebUI signs are not credentials.
        if !matches!(claims.typ.as_deref(), None | Some("session" | "automation")) {
            return Err(wrong());
        }
        UserId::parse(&claims.id).map_err(|_| wrong())
    }

    /// Waits for a permit to ask Open WebUI, if it has to be asked.
    pub(super) async fn lookup_permit(
        &self,
        session: &SessionCredential,
    ) -> Result<Option<Grant>, IdentityError> {
        let Some(openwebui) = &self.openwebui else {
            return Ok(None);
        };
        let secret = session.secret.reveal();
        if openwebui.remembers_account(secret) {
            return Ok(None);
        }
        let (places, who) = match &session.user {
            Some(user) => (&self.checked, user.as_str().to_owned()),
            None => (&self.unchecked, current::client()),
        };
        let place = admission::wait(places, &who, 1, self.patience).await;
        Ok(Some(place.map_err(|_| IdentityError::Busy)?))
    }

    /// Finds the user; blocks.
    pub(super) fn find(
        &self,
        session: &SessionCredential,
        accepted: AcceptedCredentials,
    ) -> Result<SessionUser, Error> {
        let secret = session.secret.reveal();
        let openwebui = self.openwebui.as_ref();
        let asked = openwebui.map(|openwebui| openwebui.account(secret, session.is_token));
        judge(session.user.as_ref(), asked, accepted)
    }

    /// The same without blocking; nothing where Open WebUI has to be asked.
    pub(super) fn find_at_once(
        &self,
        session: &SessionCredential,
        accepted: AcceptedCredentials,
    ) -> Option<Result<SessionUser, Error>> {
        let asked = match &self.openwebui {
            Some(openwebui) => Some(Ok(openwebui
                .remembered_account(session.secret.reveal())
                .ok()?)),
            None => None,
        };
        Some(judge(session.user.as_ref(), asked, accepted))
    }
}

/// Whose session it is: of the user whom the signature names, if one was checked, and of the account
/// that Open WebUI names, if it was asked.
fn judge(
    user: Option<&UserId>,
    asked: Option<Result<Option<Account>, Error>>,
    accepted: AcceptedCredentials,
) -> Result<SessionUser, Error> {
    let account = match (asked, user) {
        (Some(Ok(account)), _) => account,
        (None, Some(user)) => return Ok(SessionUser::Signature(user.clone())),
        (Some(Err(error)), Some(user)) if error.code() == Code::OpenwebuiApiUnavailable => {
            tracing::debug!("Open WebUI cannot be asked: the signature counts");
            return Ok(SessionUser::Signature(user.clone()));
        }
        (None, None) => None,
        (Some(Err(error)), _) => return Err(error),
    };
    let account = account.ok_or(IdentityError::WrongCredential(accepted))?;
    if user.is_some_and(|user| *user != account.user) {
        tracing::warn!("Open WebUI names another user than the session's signature");
        return Err(IdentityError::WrongCredential(accepted).into());
    }
    Ok(SessionUser::Account(account))
}
