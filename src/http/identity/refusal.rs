//! Why a caller is not let in.

use axum::http::HeaderName;
use fileshed_core::caller::CallerError;
use fileshed_core::{Code, Teach};
use serde_json::{Map, Value};

/// An identity that is missing, wrong, or contradicts itself. Never holds a credential.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Credentials are needed, none were sent.
    #[error("no credentials were sent")]
    NoCredential,
    /// Not `Bearer`, or nothing behind it.
    #[error("the header `authorization` is not `Bearer` with one token")]
    NoBearer,
    /// More than one.
    #[error("the header `authorization` was sent more than once")]
    TwoCredentials,
    /// Neither a service key nor a personal token that counts.
    #[error("the token is unknown, expired or revoked")]
    WrongCredential,
    /// A gateway that does not say for whom it calls.
    #[error("the service key is right, but no user is named")]
    NoUser {
        /// Where it could have.
        header: HeaderName,
    },
    /// The user id cannot be one.
    #[error(transparent)]
    User(CallerError),
    /// Two headers, two users.
    #[error("the headers `{header}` and `x-user-id` name different users")]
    TwoUsers {
        /// The first of them.
        header: HeaderName,
    },
    /// A personal token, with the name of somebody else beside it.
    #[error("the token belongs to another user than the headers name")]
    NotItsUser,
    /// The same header twice.
    #[error("the header `{header}` was sent more than once")]
    Repeated {
        /// Which one.
        header: HeaderName,
    },
    /// A header that is no short text.
    #[error("the header `{header}` is not a text of at most 256 bytes in UTF-8")]
    NotText {
        /// Which one.
        header: HeaderName,
    },
    /// A conversation that is no short text.
    #[error("the header `{header}` is not an identifier of at most 256 bytes")]
    Chat {
        /// Which one.
        header: HeaderName,
    },
    /// A group that cannot be one.
    #[error("the header `{header}` names a group whose id cannot name a directory")]
    Group {
        /// Which one.
        header: HeaderName,
    },
    /// A page of another site, in the browser of the person whose workspace this is.
    #[error("the request comes from a page of another site, or was meant for another server")]
    ForeignPage,
}

impl Teach for IdentityError {
    fn code(&self) -> Code {
        match self {
            Self::NoCredential | Self::NoBearer | Self::TwoCredentials | Self::WrongCredential => {
                Code::Unauthorized
            }
            Self::NoUser { .. }
            | Self::User(_)
            | Self::Repeated { .. }
            | Self::NotText { .. }
            | Self::Group { .. } => Code::InvalidUser,
            Self::TwoUsers { .. } | Self::NotItsUser | Self::ForeignPage => Code::AccessDenied,
            Self::Chat { .. } => Code::InvalidParameter,
        }
    }

    fn hint(&self) -> String {
        match self {
            Self::NoCredential | Self::NoBearer | Self::TwoCredentials | Self::WrongCredential => {
                "send one header `Authorization: Bearer <token>`; an administrator makes a token with `fileshed token create --user <id>`".to_owned()
            }
            Self::NoUser { header } => format!(
                "the gateway must send `{header}` with every call; in Open WebUI set ENABLE_FORWARD_USER_INFO_HEADERS=true"
            ),
            Self::User(error) => error.hint(),
            Self::TwoUsers { header } => format!("send `{header}` or `x-user-id`, or the same user in both"),
            Self::NotItsUser => "leave the user headers out: a personal token says who calls".to_owned(),
            Self::Repeated { header } | Self::NotText { header } | Self::Chat { header } => {
                format!("send `{header}` once, as a short text, or leave it out")
            }
            Self::Group { header } => format!(
                "send UUIDs in `{header}`, or ids of 1 to 64 of A-Z a-z 0-9 . _ -, comma-separated"
            ),
            Self::ForeignPage => {
                "call http://127.0.0.1 or http://localhost from a program or from the server's own page; for anything else configure `api_keys`".to_owned()
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        if let Self::NoUser { header }
        | Self::TwoUsers { header }
        | Self::Repeated { header }
        | Self::NotText { header }
        | Self::Group { header }
        | Self::Chat { header } = self
        {
            details.insert("header".to_owned(), header.as_str().into());
        }
        details
    }
}
