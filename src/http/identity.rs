//! Who calls, from the headers of a request.
//!
//! The credential decides and nothing else does: a personal token is its user, a service key makes
//! the caller a gateway whose user header is believed, and no credential is somebody only where
//! none is configured. What does not fit together is refused, never guessed. Credentials are
//! neither logged nor answered.

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use fileshed_core::directory::GroupId;
use fileshed_core::settings::GroupSource;
use fileshed_core::{Caller, Chat, Error, GroupClaim, Shed, UserId};
use percent_encoding::percent_decode_str;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use crate::config::{Config, Secret};

mod browser;
mod refusal;

pub use refusal::IdentityError;

/// Longest text in an identity header, in bytes, after decoding.
pub(super) const TEXT_MAX_BYTES: usize = 256;
/// Longest credential.
const CREDENTIAL_MAX_BYTES: usize = 1024;
/// What Open WebUI's terminal proxy sends.
const X_USER_ID: HeaderName = HeaderName::from_static("x-user-id");
const X_SESSION_ID: HeaderName = HeaderName::from_static("x-session-id");

/// What is believed, and from whom.
#[derive(Debug)]
pub struct Gate {
    /// Digests, so that a comparison tells nothing about the length of a key.
    keys: Vec<[u8; 32]>,
    user_id: HeaderName,
    user_name: HeaderName,
    user_email: HeaderName,
    chat_id: HeaderName,
    /// Ids and names of groups, where the gateway is asked for them.
    groups: Option<(HeaderName, HeaderName)>,
}

/// What a request claims about itself.
#[derive(Debug)]
pub enum Claim {
    /// Nothing more has to be looked up.
    Known(Caller),
    /// Somebody with a personal token, if there is such a token.
    Token {
        /// The credential.
        secret: Secret,
        /// The user that the headers name besides.
        named: Option<UserId>,
        /// The conversation.
        chat: Chat,
    },
}

impl Gate {
    /// The gate that `config` describes.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            keys: config
                .api_keys
                .iter()
                .map(|key| digest(key.reveal()))
                .collect(),
            user_id: config.header_user_id.clone(),
            user_name: config.header_user_name.clone(),
            user_email: config.header_user_email.clone(),
            chat_id: config.header_chat_id.clone(),
            groups: (config.core.groups == GroupSource::Headers).then(|| {
                let names = config.header_group_names.clone();
                (config.header_group_ids.clone(), names)
            }),
        }
    }

    /// Reads what a request claims; touches neither disk nor registry.
    pub fn claim(&self, request: &Parts) -> Result<Claim, IdentityError> {
        let headers = &request.headers;
        match credential(headers)? {
            None if self.keys.is_empty() => {
                browser::refuse_foreign_pages(request)?;
                Ok(Claim::Known(Caller::shared(self.chat(headers)?)))
            }
            None => Err(IdentityError::NoCredential),
            Some(secret) if self.is_service_key(&secret) => self.gateway(headers),
            Some(secret) => Ok(Claim::Token {
                secret,
                named: self.user(headers)?,
                chat: self.chat(headers)?,
            }),
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

    fn gateway(&self, headers: &HeaderMap) -> Result<Claim, IdentityError> {
        let user = self.user(headers)?.ok_or_else(|| IdentityError::NoUser {
            header: self.user_id.clone(),
        })?;
        let mut caller = Caller::known(user, self.chat(headers)?);
        caller.name = personal(headers, &self.user_name, true)?;
        caller.email = personal(headers, &self.user_email, false)?;
        caller.groups = self.group_claims(headers)?;
        Ok(Claim::Known(caller))
    }

    /// The user that the headers name, in one way or in two that agree.
    fn user(&self, headers: &HeaderMap) -> Result<Option<UserId>, IdentityError> {
        let read = |name: &HeaderName| {
            let text = single(headers, name)?;
            text.map(UserId::parse)
                .transpose()
                .map_err(IdentityError::User)
        };
        match (read(&self.user_id)?, read(&X_USER_ID)?) {
            (Some(one), Some(other)) if one != other => Err(IdentityError::TwoUsers {
                header: self.user_id.clone(),
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
            let text = single(headers, name)?.unwrap_or_default();
            if text.len() > TEXT_MAX_BYTES || text.chars().any(char::is_control) {
                return Err(IdentityError::Chat {
                    header: name.clone(),
                });
            }
            if !text.is_empty() {
                return Ok(Chat::new(text));
            }
        }
        Ok(Chat::default())
    }
}

impl Claim {
    /// Looks up what has to be; blocks.
    pub fn settle(self, shed: &Shed) -> Result<Caller, Error> {
        match self {
            Self::Known(caller) => Ok(caller),
            Self::Token {
                secret,
                named,
                chat,
            } => {
                let Some(token) = shed.tokens().verify(secret.reveal())? else {
                    return Err(IdentityError::WrongCredential.into());
                };
                if named.is_some_and(|named| named != token.user) {
                    return Err(IdentityError::NotItsUser.into());
                }
                Ok(Caller {
                    scope: token.scope,
                    ..Caller::known(token.user, chat)
                })
            }
        }
    }
}

fn credential(headers: &HeaderMap) -> Result<Option<Secret>, IdentityError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(_), Some(_)) => return Err(IdentityError::TwoCredentials),
        (Some(value), None) => value,
    };
    let (scheme, secret) = value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .ok_or(IdentityError::NoBearer)?;
    let secret = secret.trim();
    if !scheme.eq_ignore_ascii_case("bearer")
        || secret.is_empty()
        || secret.len() > CREDENTIAL_MAX_BYTES
        || !secret.bytes().all(|byte| byte.is_ascii_graphic())
    {
        return Err(IdentityError::NoBearer);
    }
    Ok(Some(Secret::new(secret)))
}

/// The value of a header that may be there once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, IdentityError> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => std::str::from_utf8(value.as_bytes())
            .map(Some)
            .map_err(|_| IdentityError::NotText {
                header: name.clone(),
            }),
        (Some(_), Some(_)) => Err(IdentityError::Repeated {
            header: name.clone(),
        }),
    }
}

/// Name or mail address: an empty one is none.
fn personal(
    headers: &HeaderMap,
    name: &HeaderName,
    encoded: bool,
) -> Result<Option<String>, IdentityError> {
    let refused = || IdentityError::NotText {
        header: name.clone(),
    };
    let text = single(headers, name)?.unwrap_or_default();
    let decoded = if encoded {
        let decoded = percent_decode_str(text).decode_utf8();
        decoded.map_err(|_| refused())?
    } else {
        text.into()
    };
    if decoded.len() > TEXT_MAX_BYTES || decoded.chars().any(char::is_control) {
        return Err(refused());
    }
    Ok(Some(decoded.into_owned()).filter(|text| !text.is_empty()))
}

/// A list in a header: comma-separated, each item percent-encoded where it has to be.
fn list(headers: &HeaderMap, name: &HeaderName) -> Result<Vec<String>, IdentityError> {
    let text = single(headers, name)?.unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|item| {
            let item = percent_decode_str(item.trim()).decode_utf8();
            item.ok()
                .filter(|item| item.len() <= TEXT_MAX_BYTES && !item.chars().any(char::is_control))
                .map(std::borrow::Cow::into_owned)
                .ok_or_else(|| IdentityError::NotText {
                    header: name.clone(),
                })
        })
        .collect()
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}
