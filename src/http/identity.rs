//! Who calls, from the headers of a request.
//!
//! The credential decides and nothing else does: a personal token is its user, a service key makes
//! the caller a gateway whose user header is believed, a session is the user of Open WebUI whose it
//! is, and no credential is somebody only where none is configured. What does not fit together is
//! refused, never guessed. Credentials are neither logged nor answered.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use fileshed_core::directory::GroupId;
use fileshed_core::settings::GroupSource;
use fileshed_core::{Caller, Chat, Clock, Error, GroupClaim, Store, UserId};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};
use tokio::sync::OwnedSemaphorePermit;

use crate::config::{Config, Origin, Secret};
use crate::openwebui::{OpenWebUi, role};

mod browser;
mod headers;
mod jwt;
mod refusal;
mod session;
mod signed;
#[cfg(test)]
mod tests;

use headers::{credential, filled, identifier, list, personal, single};
pub use jwt::JwtError;
pub use refusal::{IdentityError, Wanted};
use session::{Found, Session, Sessions};
use signed::{Signatures, SignedUser};

/// What every personal token begins with.
const TOKEN_PREFIX: &str = "shed_";
/// What Open WebUI's terminal proxy sends.
pub(super) const X_USER_ID: HeaderName = HeaderName::from_static("x-user-id");
pub(super) const X_SESSION_ID: HeaderName = HeaderName::from_static("x-session-id");

/// What is believed, and from whom.
#[derive(Debug)]
pub struct Gate {
    /// Digests, so that a comparison tells nothing about the length of a key.
    keys: Vec<[u8; 32]>,
    /// How a gateway signs its users, where it must.
    signatures: Option<Signatures>,
    /// How users of Open WebUI are known by their own credentials, where they are taken.
    sessions: Option<Sessions>,
    /// Sites whose pages may call although no credential is asked for.
    origins: Vec<Origin>,
    user_id: HeaderName,
    user_name: HeaderName,
    user_email: HeaderName,
    user_role: HeaderName,
    chat_id: HeaderName,
    message_id: HeaderName,
    /// Ids and names of groups, where the gateway is asked for them.
    groups: Option<(HeaderName, HeaderName)>,
}

/// What a request claims about itself.
#[derive(Debug)]
pub struct Claim(Whose);

impl Claim {
    /// Who it is, where nothing has to be looked up for that; else the claim.
    pub fn known(self) -> Result<Caller, Box<Self>> {
        match self.0 {
            Whose::Known(caller) => Ok(caller),
            _ => Err(Box::new(self)),
        }
    }
}

#[derive(Debug)]
enum Whose {
    /// Nothing more has to be looked up.
    Known(Caller),
    /// Somebody with a personal token, if there is such a token.
    Token(Secret, Beside),
    /// Somebody with a credential of Open WebUI.
    Session(Session, Beside),
}

/// What the headers say besides the credential.
#[derive(Debug)]
struct Beside {
    /// Users that the headers name; they must be who calls.
    user: Option<UserId>,
    signed: Option<SignedUser>,
    chat: Chat,
    message: Option<String>,
}

impl Gate {
    /// The gate that `config` describes.
    #[must_use]
    pub fn new(config: &Config, clock: &Clock, openwebui: Option<Arc<OpenWebUi>>) -> Self {
        Self {
            keys: config
                .api_keys
                .iter()
                .map(|key| digest(key.reveal()))
                .collect(),
            signatures: Signatures::new(config, clock),
            sessions: Sessions::new(config, clock, openwebui),
            origins: config.cors_origins.clone(),
            user_id: config.header_user_id.clone(),
            user_name: config.header_user_name.clone(),
            user_email: config.header_user_email.clone(),
            user_role: config.header_user_role.clone(),
            chat_id: config.header_chat_id.clone(),
            message_id: config.header_message_id.clone(),
            groups: (config.core.groups == GroupSource::Headers).then(|| {
                let names = config.header_group_names.clone();
                (config.header_group_ids.clone(), names)
            }),
        }
    }

    /// Reads what a request claims; touches neither disk nor registry, and asks nobody.
    pub fn claim(&self, request: &Parts) -> Result<Claim, IdentityError> {
        let (headers, wanted) = (&request.headers, self.wanted());
        let whose = match (credential(headers, wanted)?, &self.sessions) {
            (None, None) if self.keys.is_empty() => {
                browser::refuse_foreign_pages(request, &self.origins)?;
                let mut caller = Caller::shared(self.chat(headers)?);
                caller.message = self.message(headers)?;
                caller.client.gateway = caller.message.is_some();
                Whose::Known(caller)
            }
            (None, _) => return Err(IdentityError::NoCredential(wanted)),
            (Some(secret), _) if self.is_service_key(&secret) => {
                Whose::Known(self.gateway(headers)?)
            }
            (Some(secret), Some(sessions)) if !secret.reveal().starts_with(TOKEN_PREFIX) => {
                Whose::Session(sessions.read(secret, wanted)?, self.beside(headers)?)
            }
            (Some(secret), _) => Whose::Token(secret, self.beside(headers)?),
        };
        Ok(Claim(whose))
    }

    /// Waits for a place among those who need an answer of Open WebUI, where the claim needs one.
    /// The place is given back when it is dropped.
    pub async fn place(
        &self,
        claim: &Claim,
    ) -> Result<Option<OwnedSemaphorePermit>, IdentityError> {
        match (&claim.0, &self.sessions) {
            (Whose::Session(session, _), Some(sessions)) => sessions.place(session).await,
            _ => Ok(None),
        }
    }

    /// Looks up what has to be; blocks.
    pub fn settle(&self, claim: Claim, store: &Store) -> Result<Caller, Error> {
        let wanted = self.wanted();
        match (claim.0, &self.sessions) {
            (Whose::Known(caller), _) => Ok(caller),
            (Whose::Session(session, beside), Some(sessions)) => {
                let found = sessions.find(&session, wanted)?;
                let mut caller = user_of_open_webui(found, beside)?;
                caller.credential = Some(session.secret);
                caller.client.gateway = true;
                Ok(caller)
            }
            (Whose::Session(..), None) => Err(IdentityError::WrongCredential(wanted).into()),
            (Whose::Token(secret, beside), _) => {
                let token = store.tokens().verify(secret.reveal())?;
                // Whoever deletes an account there means its credentials here, too.
                let token = token.filter(|token| !store.is_gone(&token.user));
                let token = token.ok_or(IdentityError::WrongCredential(wanted))?;
                let (mut caller, _) = beside.of(token.user)?;
                caller.scope = token.scope;
                // Nobody vouches for it, and lines in chats may be shown with an administrator's key.
                caller.message = None;
                Ok(caller)
            }
        }
    }

    /// What a request should have brought, for hints.
    fn wanted(&self) -> Wanted {
        Wanted {
            key: !self.keys.is_empty(),
            session: self.sessions.is_some(),
        }
    }

    fn is_service_key(&self, secret: &Secret) -> bool {
        let given = digest(secret.reveal());
        let none = Choice::from(0);
        // All keys are compared, whichever fits.
        let found = self
            .keys
            .iter()
            .fold(none, |found, key| found | key.ct_eq(&given));
        found.into()
    }

    fn gateway(&self, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        let mut caller = if let Some(signatures) = &self.signatures {
            self.signed_user(signatures, headers)?
        } else {
            self.plain_user(headers)?
        };
        caller.chat = self.chat(headers)?;
        caller.message = self.message(headers)?;
        caller.groups = self.group_claims(headers)?;
        caller.client.gateway = true;
        Ok(caller)
    }

    fn signed_user(
        &self,
        signatures: &Signatures,
        headers: &HeaderMap,
    ) -> Result<Caller, IdentityError> {
        let signed = signatures.read(headers)?;
        let signed = signed.ok_or_else(|| IdentityError::Unsigned {
            header: signatures.header().clone(),
        })?;
        let plain = self.user(headers)?;
        if plain.is_some_and(|plain| plain != signed.id) {
            return Err(IdentityError::TwoUsers {
                header: self.user_id.clone(),
                other: signatures.header().clone(),
            });
        }
        let mut caller = Caller::known(signed.id.clone(), Chat::default());
        signed.introduce(&mut caller);
        Ok(caller)
    }

    fn plain_user(&self, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        let user = self.user(headers)?.ok_or_else(|| IdentityError::NoUser {
            header: self.user_id.clone(),
        })?;
        let mut caller = Caller::known(user, Chat::default());
        caller.name = personal(headers, &self.user_name, true)?;
        caller.email = personal(headers, &self.user_email, false)?;
        if let Some(text) = single(headers, &self.user_role)? {
            caller.role = role(text).ok_or(IdentityError::Pending)?;
        }
        Ok(caller)
    }

    fn beside(&self, headers: &HeaderMap) -> Result<Beside, IdentityError> {
        let signatures = self.signatures.as_ref();
        let signed = signatures.map(|signatures| signatures.read(headers));
        Ok(Beside {
            user: self.user(headers)?,
            signed: signed.transpose()?.flatten(),
            chat: self.chat(headers)?,
            message: self.message(headers)?,
        })
    }

    /// The user that the headers name, in one way or in two that agree.
    fn user(&self, headers: &HeaderMap) -> Result<Option<UserId>, IdentityError> {
        let read = |name: &HeaderName| {
            let text = filled(headers, name)?;
            text.map(UserId::parse)
                .transpose()
                .map_err(IdentityError::User)
        };
        match (read(&self.user_id)?, read(&X_USER_ID)?) {
            (Some(one), Some(other)) if one != other => Err(IdentityError::TwoUsers {
                header: self.user_id.clone(),
                other: X_USER_ID,
            }),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// The groups that the gateway names: ids, and names where there is one for each id.
    fn group_claims(&self, headers: &HeaderMap) -> Result<Vec<GroupClaim>, IdentityError> {
        let Some((header, names)) = &self.groups else {
            return Ok(Vec::new());
        };
        let (ids, given) = (list(headers, header)?, list(headers, names)?);
        // A name with a comma that was not encoded makes two: then no name is sure.
        let sure = given.len() == ids.len();
        let mut given = given.into_iter();
        let claim = |id: String| {
            Ok(GroupClaim {
                id: GroupId::parse(&id).map_err(|_| IdentityError::Group {
                    header: header.clone(),
                })?,
                name: given.next().filter(|name| sure && !name.is_empty()),
            })
        };
        ids.into_iter().map(claim).collect()
    }

    fn chat(&self, headers: &HeaderMap) -> Result<Chat, IdentityError> {
        for name in [&self.chat_id, &X_SESSION_ID] {
            if let Some(id) = identifier(headers, name)? {
                return Ok(Chat::new(id));
            }
        }
        Ok(Chat::default())
    }

    fn message(&self, headers: &HeaderMap) -> Result<Option<String>, IdentityError> {
        Ok(identifier(headers, &self.message_id)?.map(str::to_owned))
    }
}

impl Beside {
    /// A caller whom the credential names, unless the headers name another; and what is signed of
    /// the same user.
    fn of(self, user: UserId) -> Result<(Caller, Option<SignedUser>), IdentityError> {
        let signed = self.signed.as_ref().map(|signed| &signed.id);
        if [self.user.as_ref(), signed]
            .into_iter()
            .flatten()
            .any(|named| *named != user)
        {
            return Err(IdentityError::NotItsUser);
        }
        let mut caller = Caller::known(user, self.chat);
        // Only an application in which a model writes sends one.
        caller.client.gateway = self.message.is_some();
        caller.message = self.message;
        Ok((caller, self.signed))
    }
}

fn user_of_open_webui(found: Found, beside: Beside) -> Result<Caller, IdentityError> {
    match found {
        Found::Account(account) => {
            let (mut caller, _) = beside.of(account.user)?;
            caller.role = account.role.ok_or(IdentityError::Pending)?;
            caller.name = account.name;
            caller.email = account.email;
            Ok(caller)
        }
        Found::Signature(user) => {
            let (mut caller, signed) = beside.of(user)?;
            if let Some(signed) = signed {
                signed.introduce(&mut caller);
            }
            Ok(caller)
        }
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}
