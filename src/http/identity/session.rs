//! Callers who bring what they are signed in to Open WebUI with.
//!
//! A session is checked against the secret that signed it where that is configured, and Open WebUI
//! is asked where it can be: only it knows keys, roles, and what was taken back. Made-up credentials
//! must not occupy the server while it asks: few questions run at once, the others wait without a
//! thread and not for long.

use std::sync::Arc;

use fileshed_core::{Clock, Code, Error, UserId};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::TURN;
use super::{IdentityError, Wanted, jwt};
use crate::config::{Config, Secret};
use crate::openwebui::{Account, OpenWebUi};

/// Questions that run at once.
const QUESTIONS: usize = 16;

/// How such callers are known.
#[derive(Debug)]
pub(super) struct Sessions {
    secret: Option<Secret>,
    openwebui: Option<Arc<OpenWebUi>>,
    clock: Clock,
    /// Apart from each other, so that made-up credentials hold nobody up whose signature is right.
    unchecked: Arc<Semaphore>,
    checked: Arc<Semaphore>,
}

/// One such credential.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) secret: Secret,
    is_token: bool,
    /// The user, where the signature says it.
    user: Option<UserId>,
}

/// Who it is.
#[derive(Debug)]
pub(super) enum Found {
    /// Open WebUI told.
    Account(Account),
    /// Only the signature is known.
    Signature(UserId),
}

#[derive(Deserialize)]
struct Claims {
    id: String,
    typ: Option<String>,
}

impl Sessions {
    pub(super) fn new(
        config: &Config,
        clock: &Clock,
        openwebui: Option<Arc<OpenWebUi>>,
    ) -> Option<Self> {
        config.takes_sessions().then(|| Self {
            secret: config.webui_secret_key.clone(),
            openwebui,
            clock: clock.clone(),
            unchecked: Arc::new(Semaphore::new(QUESTIONS)),
            checked: Arc::new(Semaphore::new(QUESTIONS)),
        })
    }

    /// Checks what can be checked without asking anybody.
    pub(super) fn read(&self, secret: Secret, wanted: Wanted) -> Result<Session, IdentityError> {
        let is_token = jwt::is_token(secret.reveal());
        let user = match &self.secret {
            Some(key) if is_token => Some(self.signed(&secret, key, wanted)?),
            _ if self.openwebui.is_some() => None,
            _ => return Err(IdentityError::NotChecked),
        };
        Ok(Session {
            secret,
            is_token,
            user,
        })
    }

    fn signed(
        &self,
        secret: &Secret,
        key: &Secret,
        wanted: Wanted,
    ) -> Result<UserId, IdentityError> {
        let wrong = || IdentityError::WrongCredential(wanted);
        let now = self.clock.now().as_second();
        let claims = jwt::verify::<Claims>(secret.reveal(), key, now);
        let claims = claims.map_err(|_| wrong())?.claims;
        // Other tokens that Open WebUI signs are not for calling anything.
        if !matches!(claims.typ.as_deref(), None | Some("session" | "automation")) {
            return Err(wrong());
        }
        UserId::parse(&claims.id).map_err(|_| wrong())
    }

    /// Waits until Open WebUI can be asked, where it has to be.
    pub(super) async fn place(
        &self,
        session: &Session,
    ) -> Result<Option<OwnedSemaphorePermit>, IdentityError> {
        let Some(openwebui) = &self.openwebui else {
            return Ok(None);
        };
        let secret = session.secret.reveal();
        if openwebui.remembers_account(secret) {
            return Ok(None);
        }
        let places = match session.user {
            Some(_) => &self.checked,
            None => &self.unchecked,
        };
        let place = tokio::time::timeout(TURN, Arc::clone(places).acquire_owned());
        match place.await {
            Ok(Ok(place)) => Ok(Some(place)),
            _ => Err(IdentityError::Busy),
        }
    }

    /// Who it is; blocks.
    pub(super) fn find(&self, session: &Session, wanted: Wanted) -> Result<Found, Error> {
        let Session {
            secret,
            is_token,
            user,
        } = session;
        let asked = match &self.openwebui {
            Some(openwebui) => openwebui.account(secret.reveal(), *is_token).map(Some),
            None => Ok(None),
        };
        let account = match (asked, user) {
            (Ok(Some(account)), _) => account,
            (Ok(None), Some(user)) => return Ok(Found::Signature(user.clone())),
            (Err(error), Some(user)) if error.code() == Code::OpenwebuiApiUnavailable => {
                tracing::debug!("Open WebUI cannot be asked: the signature counts");
                return Ok(Found::Signature(user.clone()));
            }
            (Ok(None), None) => None,
            (Err(error), _) => return Err(error),
        };
        let account = account.ok_or(IdentityError::WrongCredential(wanted))?;
        if user.as_ref().is_some_and(|user| *user != account.user) {
            tracing::warn!("Open WebUI names another user than the session's signature");
            return Err(IdentityError::WrongCredential(wanted).into());
        }
        Ok(Found::Account(account))
    }
}
