//! Caller of a request, from its headers.
//!
//! The credential alone decides. A personal token is its user; a service key makes the caller a
//! gateway whose user header is believed; a session is its user of Open WebUI; without a credential
//! there is a caller only where none is configured. Contradictions are refused, never guessed.
//! Credentials appear in no log and no answer.

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use fileshed_core::directory::GroupId;
use fileshed_core::limiter::Limiter;
use fileshed_core::settings::GroupSource;
use fileshed_core::sign_in::Principal;
use fileshed_core::{Caller, Chat, Clock, Core, Error, GroupClaim, UserId};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use super::cookie::Cookie;
use crate::config::{AUTO, Config, Origin, Secret};
use crate::openwebui::{OpenWebUi, role};

mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod headers;
mod jwt;
mod openwebui;
mod surfaces;
#[cfg(test)]
mod tests;

pub use error::{AcceptedCredentials, IdentityError};
use headers::{credential, filled, identifier, list, personal, single};
pub use jwt::JwtError;
pub(super) use jwt::{JwtHeader, check as check_jwt};
use openwebui::{SessionCredential, SessionQueues};
pub(super) use surfaces::{CookieUse, action, is_by_page, lock_token};
use surfaces::{SESSION_COOKIE, site_of};

/// Prefix of every personal token.
const TOKEN_PREFIX: &str = "shed_";
/// Header in which Open WebUI's terminal proxy names the user.
pub(super) const X_USER_ID: HeaderName = HeaderName::from_static("x-user-id");
pub(super) const X_SESSION_ID: HeaderName = HeaderName::from_static("x-session-id");

/// Authenticates requests.
#[derive(Debug)]
pub(super) struct Authenticator {
    /// Digests, so that a comparison tells nothing about the length of a key.
    keys: Vec<[u8; 32]>,
    /// `true` if people have to sign in; else there is one workspace for all.
    pub(super) asks: bool,
    /// Digests of the keys of terminals.
    terminal_keys: Vec<[u8; 32]>,
    /// Questions about sessions of Open WebUI, if they are accepted.
    sessions: Option<SessionQueues>,
    openwebui: Option<Arc<OpenWebUi>>,
    /// Holds the secret of a session on the page.
    pub(super) cookie: Cookie,
    /// The site of the public address, if that is set.
    site: Option<Origin>,
    /// Settings of the headers that name the caller, and of the sites whose pages may call without a
    /// credential.
    config: Config,
    clock: Clock,
}

/// The credentials that a surface accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepts {
    /// Credentials in the header `Authorization`.
    Programs,
    /// The same, but from no page of a site that is not listed, not even this server's own.
    Models,
    /// Credentials in `Authorization`, and cookies of the server's own page.
    People,
    /// Credentials in `Authorization`, and a personal token as a password.
    Drives,
    /// Credentials in `Authorization`, and keys of terminals.
    Terminals,
}

/// The sources that are asked for the user of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sources {
    /// The memory of this process, which does not block.
    Memory,
    /// The registry and Open WebUI too.
    All,
}

/// The credential that a request presents.
#[derive(Debug)]
pub(super) enum Credential {
    /// A caller that is known without a lookup.
    Resolved(Caller),
    /// A personal token, which may not exist.
    PersonalToken(Secret, PrincipalHeaders),
    /// A credential of Open WebUI.
    Session(SessionCredential, PrincipalHeaders),
    /// The secret of a session on the page, which may have ended.
    PageSession(Secret, PrincipalHeaders),
}

/// The claims of the headers about the caller, besides the credential.
#[derive(Debug)]
pub(super) struct PrincipalHeaders {
    /// The user that the headers name; it must be the one of the credential.
    user: Option<UserId>,
    signed: Option<Principal>,
    chat: Chat,
    message: Option<String>,
}

impl Authenticator {
    /// The authenticator that `config` describes.
    pub(super) fn new(
        config: &Config,
        limiter: &Limiter,
        openwebui: Option<Arc<OpenWebUi>>,
    ) -> Self {
        let public_url = config.core.public_url.as_str();
        Self {
            keys: digests(&config.api_keys),
            asks: config.asks_who_calls(),
            terminal_keys: digests(&config.terminal_api_keys),
            sessions: config.takes_sessions().then(|| SessionQueues::new(limiter)),
            openwebui,
            cookie: Cookie::new(SESSION_COOKIE, public_url, ""),
            site: site_of(public_url),
            config: config.clone(),
            clock: limiter.clock().clone(),
        }
    }

    /// Reads the credential of a request, without disk, registry or network.
    pub(super) fn read(
        &self,
        request: &Parts,
        accepts: Accepts,
    ) -> Result<Credential, IdentityError> {
        match accepts {
            Accepts::Programs => self.read_header(request, self.accepted()),
            Accepts::Models => {
                headers::refuse_unlisted_pages(request, &self.config.cors_origins)?;
                self.read_header(request, self.accepted())
            }
            Accepts::People => self.read_for_page(request),
            Accepts::Drives => self.read_for_drive(request),
            Accepts::Terminals => self.read_for_terminal(request),
        }
    }

    /// Reads a credential in the header `Authorization`.
    fn read_header(
        &self,
        request: &Parts,
        accepted: AcceptedCredentials,
    ) -> Result<Credential, IdentityError> {
        let headers = &request.headers;
        Ok(match credential(headers, accepted)? {
            None if !self.asks => {
                headers::refuse_foreign_pages(request, &self.config.cors_origins)?;
                let mut caller = Caller::shared(self.chat(headers)?);
                caller.message = self.message(headers)?;
                caller.client.gateway = caller.message.is_some();
                Credential::Resolved(caller)
            }
            None => return Err(IdentityError::NoCredential(accepted)),
            Some(secret) if is_among(&self.keys, &secret) => {
                Credential::Resolved(self.gateway(headers)?)
            }
            Some(secret)
                if self.sessions.is_some() && !secret.reveal().starts_with(TOKEN_PREFIX) =>
            {
                Credential::Session(
                    self.read_session(secret, false, accepted)?,
                    self.principal_headers(headers)?,
                )
            }
            Some(secret) => Credential::PersonalToken(secret, self.principal_headers(headers)?),
        })
    }

    /// Finds the caller of a credential; `None` if the sources know nobody. Entries in memory are as new as
    /// those of the other sources.
    pub(super) fn authenticate(
        &self,
        credential: &Credential,
        core: &Core,
        sources: Sources,
    ) -> Result<Option<Caller>, Error> {
        let caller = match credential {
            Credential::Resolved(caller) => Some(caller.clone()),
            Credential::Session(session, headers) => {
                let found = self.find_session(session, headers.signed.as_ref(), sources)?;
                let caller = found.map(|found| {
                    let mut caller = headers.caller(found)?;
                    caller.credential = Some(session.secret.clone());
                    caller.client.gateway = !session.is_of_page;
                    Ok::<_, IdentityError>(caller)
                });
                caller.transpose()?
            }
            Credential::PersonalToken(secret, headers) => {
                let principal = match sources {
                    Sources::Memory => core.admin.principal_of_token_at_once(secret.reveal()),
                    Sources::All => core.admin.principal_of_token(secret.reveal())?,
                };
                principal.map(|it| headers.caller_of(it)).transpose()?
            }
            Credential::PageSession(secret, headers) if sources == Sources::All => {
                let principal = core.admin.principal_of_session(secret.reveal())?;
                let principal = principal.ok_or(IdentityError::SessionEnded)?;
                let mut caller = headers.caller_of(principal)?;
                caller.client.gateway = false;
                caller.session = Some(secret.clone());
                Some(caller)
            }
            Credential::PageSession(..) => None,
        };
        Ok(caller)
    }

    /// Returns the failure of a credential that belongs to no user.
    pub(super) fn wrong_credential(&self) -> IdentityError {
        IdentityError::WrongCredential(self.accepted())
    }

    /// Returns the credentials that this server accepts, for hints.
    fn accepted(&self) -> AcceptedCredentials {
        AcceptedCredentials {
            key: !self.keys.is_empty(),
            session: self.sessions.is_some(),
            terminal_key: false,
        }
    }

    /// The same, for the terminal.
    fn accepted_by_terminal(&self) -> AcceptedCredentials {
        AcceptedCredentials {
            key: false,
            terminal_key: !self.terminal_keys.is_empty(),
            ..self.accepted()
        }
    }

    fn gateway(&self, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        let mut caller = if self.config.forward_jwt_secret.is_some() {
            self.signed_user(headers)?
        } else {
            self.plain_user(headers)?
        };
        caller.groups = self.group_claims(headers)?;
        self.of_gateway(caller, headers)
    }

    /// The caller with what a gateway says of the conversation.
    fn of_gateway(&self, mut caller: Caller, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        caller.chat = self.chat(headers)?;
        caller.message = self.message(headers)?;
        caller.client.gateway = true;
        Ok(caller)
    }

    fn signed_user(&self, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        let header = &self.config.header_user_jwt;
        let signed = self.signed(headers)?;
        let signed = signed.ok_or_else(|| IdentityError::Unsigned {
            header: header.clone(),
        })?;
        let plain = self.named_user(headers)?;
        if plain.is_some_and(|plain| plain != signed.user) {
            return Err(IdentityError::TwoUsers {
                header: self.config.header_user_id.clone(),
                other: header.clone(),
            });
        }
        let mut caller = Caller::known(signed.user.clone(), Chat::default());
        signed.describe(&mut caller);
        Ok(caller)
    }

    fn plain_user(&self, headers: &HeaderMap) -> Result<Caller, IdentityError> {
        let user = self
            .named_user(headers)?
            .ok_or_else(|| IdentityError::NoUser {
                header: self.config.header_user_id.clone(),
            })?;
        let mut caller = Caller::known(user, Chat::default());
        caller.name = personal(headers, &self.config.header_user_name, true)?;
        caller.email = personal(headers, &self.config.header_user_email, false)?;
        if let Some(text) = single(headers, &self.config.header_user_role)? {
            caller.role = role(text).ok_or(IdentityError::Pending)?;
        }
        Ok(caller)
    }

    fn principal_headers(&self, headers: &HeaderMap) -> Result<PrincipalHeaders, IdentityError> {
        let signed = self.signed(headers)?;
        Ok(PrincipalHeaders {
            user: self.named_user(headers)?,
            signed,
            chat: self.chat(headers)?,
            message: self.message(headers)?,
        })
    }

    /// The user that the headers name, which nothing proves; two headers must agree.
    pub(super) fn named_user(&self, headers: &HeaderMap) -> Result<Option<UserId>, IdentityError> {
        let read = |name: &HeaderName| {
            let text = filled(headers, name)?;
            text.map(UserId::parse)
                .transpose()
                .map_err(IdentityError::User)
        };
        match (read(&self.config.header_user_id)?, read(&X_USER_ID)?) {
            (Some(one), Some(other)) if one != other => Err(IdentityError::TwoUsers {
                header: self.config.header_user_id.clone(),
                other: X_USER_ID,
            }),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// The groups that the gateway names: ids, and names if there is one for each id.
    fn group_claims(&self, headers: &HeaderMap) -> Result<Vec<GroupClaim>, IdentityError> {
        if self.config.core.groups != GroupSource::Headers {
            return Ok(Vec::new());
        }
        let header = &self.config.header_group_ids;
        let ids = list(headers, header)?;
        let given = list(headers, &self.config.header_group_names)?;
        // A comma in a name that was not encoded makes two names: then none is certain.
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
        for name in [&self.config.header_chat_id, &X_SESSION_ID] {
            if let Some(id) = identifier(headers, name)? {
                return Ok(Chat::new(id));
            }
        }
        Ok(Chat::default())
    }

    fn message(&self, headers: &HeaderMap) -> Result<Option<String>, IdentityError> {
        Ok(identifier(headers, &self.config.header_message_id)?.map(str::to_owned))
    }
}

impl PrincipalHeaders {
    /// The caller whom the credential names. Headers that name another user are refused.
    fn caller(&self, principal: Principal) -> Result<Caller, IdentityError> {
        let signed = self.signed.as_ref().map(|signed| &signed.user);
        let mut named = [self.user.as_ref(), signed].into_iter().flatten();
        if named.any(|named| *named != principal.user) {
            return Err(IdentityError::NotItsUser);
        }
        let mut caller = Caller::known(principal.user.clone(), self.chat.clone());
        principal.describe(&mut caller);
        // Only an application in which a model writes names a message.
        caller.client.gateway = self.message.is_some();
        caller.message.clone_from(&self.message);
        Ok(caller)
    }

    /// The caller whom a credential of this server stands for.
    fn caller_of(&self, principal: Principal) -> Result<Caller, IdentityError> {
        let mut caller = self.caller(principal)?;
        // The header is not authenticated, and status lines may use an administrator's key: it names the
        // answer in the list of changes, and nothing else.
        if let Some(answer) = caller.message.take() {
            let _ = caller.call_id.set(answer);
        }
        Ok(caller)
    }
}

/// Returns `true` if a credential is one of these keys. All are compared, even after a match.
fn is_among(keys: &[[u8; 32]], secret: &Secret) -> bool {
    let given = digest(secret.reveal());
    let keys = keys.iter();
    let found = keys.fold(Choice::from(0), |found, key| found | key.ct_eq(&given));
    found.into()
}

/// Returns the digests of the keys, without the placeholder of a key that has not been generated.
fn digests(keys: &[Secret]) -> Vec<[u8; 32]> {
    let keys = keys.iter().filter(|key| key.reveal() != AUTO);
    keys.map(|key| digest(key.reveal())).collect()
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}
