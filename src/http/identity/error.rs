//! Why a request is not authenticated.

use std::time::Duration;

use axum::http::HeaderName;
use fileshed_core::caller::CallerError;
use fileshed_core::{Code, Diagnostic, Hint};
use serde_json::{Map, Value};

use super::JwtError;

/// How long a call waits until its question can be asked.
pub(super) const LOOKUP_WAIT: Duration = Duration::from_secs(5);

/// Which credentials this server accepts besides personal tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedCredentials {
    /// Service keys.
    pub key: bool,
    /// Sessions of Open WebUI.
    pub session: bool,
}

/// An identity that is missing, wrong or contradictory. It never holds a credential.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Credentials are needed, none were sent.
    #[error("no credentials were sent")]
    NoCredential(AcceptedCredentials),
    /// Not `Bearer`, or nothing behind it.
    #[error("the header `authorization` is not `Bearer` with one token")]
    NoBearer(AcceptedCredentials),
    /// More than one.
    #[error("the header `authorization` was sent more than once")]
    TwoCredentials(AcceptedCredentials),
    /// No service key, and no other credential that counts.
    #[error("the token is unknown, expired or revoked")]
    WrongCredential(AcceptedCredentials),
    /// A key of Open WebUI, which only Open WebUI knows.
    #[error("the token is neither a session nor one that this server made")]
    NotChecked,
    /// Too many credentials are being asked about.
    #[error("the server is busy asking Open WebUI who calls")]
    Busy,
    /// A user whom no administrator has let in.
    #[error("the account is not active yet")]
    Pending,
    /// A gateway that does not say for whom it calls.
    #[error("the service key is right, but no user is named")]
    NoUser {
        /// Where it could have.
        header: HeaderName,
    },
    /// A gateway whose users are signed, without a signed one.
    #[error("the service key is right, but no signed user is named")]
    Unsigned {
        /// Where it could have.
        header: HeaderName,
    },
    /// A signed user that does not count.
    #[error("the token in the header `{header}` {cause}")]
    WronglySigned {
        /// Which one.
        header: HeaderName,
        /// Why not.
        cause: JwtError,
    },
    /// The user id cannot be one.
    #[error(transparent)]
    User(CallerError),
    /// Two headers, two users.
    #[error("the headers `{header}` and `{other}` name different users")]
    TwoUsers {
        /// The first of them.
        header: HeaderName,
        /// The second of them.
        other: HeaderName,
    },
    /// A user's own token, with the name of somebody else beside it.
    #[error("the token belongs to another user than the headers name")]
    NotItsUser,
    /// The same header twice.
    #[error("the header `{header}` was sent more than once")]
    Repeated {
        /// Which one.
        header: HeaderName,
    },
    /// A template of a connection's own header that was sent as it stands.
    #[error("the header `{header}` holds a template that was not filled in")]
    Unfilled {
        /// Which one.
        header: HeaderName,
    },
    /// A header that is no short text.
    #[error("the header `{header}` is not a text of at most 256 bytes in UTF-8")]
    NotText {
        /// Which one.
        header: HeaderName,
    },
    /// A conversation or message that is no short text.
    #[error("the header `{header}` is not an identifier of at most 256 bytes")]
    Identifier {
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

impl Diagnostic for IdentityError {
    fn code(&self) -> Code {
        match self {
            Self::NoCredential(_)
            | Self::NoBearer(_)
            | Self::TwoCredentials(_)
            | Self::WrongCredential(_)
            | Self::NotChecked => Code::Unauthorized,
            Self::NoUser { .. }
            | Self::Unsigned { .. }
            | Self::WronglySigned { .. }
            | Self::User(_)
            | Self::Repeated { .. }
            | Self::NotText { .. }
            | Self::Unfilled { .. }
            | Self::Group { .. } => Code::InvalidUser,
            Self::TwoUsers { .. } | Self::NotItsUser | Self::Pending | Self::ForeignPage => {
                Code::AccessDenied
            }
            Self::Busy => Code::Busy,
            Self::Identifier { .. } => Code::InvalidParameter,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::NoCredential(accepted)
            | Self::NoBearer(accepted)
            | Self::TwoCredentials(accepted)
            | Self::WrongCredential(accepted) => accepted.hint().into(),
            Self::NotChecked => {
                "sign in to Open WebUI anew if this is a session; for keys of Open WebUI an administrator must set `openwebui_api_url`".into()
            }
            Self::Busy => "call again in a few seconds".into(),
            Self::Pending => {
                "tell the user that an administrator of Open WebUI must activate the account"
                    .into()
            }
            Self::Unsigned { header } => format!(
                "the gateway must send `{header}` with every call; in Open WebUI set ENABLE_FORWARD_USER_INFO_HEADERS=true, and FORWARD_USER_INFO_HEADER_JWT_SECRET to the value of `forward_jwt_secret`"
            ).into(),
            Self::WronglySigned { header, .. } => format!(
                "send `{header}` as Open WebUI makes it, with FORWARD_USER_INFO_HEADER_JWT_SECRET equal to `forward_jwt_secret`"
            ).into(),
            Self::NoUser { header } => format!(
                "the gateway must send `{header}` with every call; in Open WebUI set ENABLE_FORWARD_USER_INFO_HEADERS=true"
            ).into(),
            Self::User(error) => error.hint(),
            Self::TwoUsers { header, other } => {
                format!("send `{header}` or `{other}`, or the same user in both").into()
            }
            Self::NotItsUser => "leave the user headers out: the token says who calls".into(),
            Self::Repeated { header } | Self::NotText { header } | Self::Identifier { header } => {
                format!("send `{header}` once, as a short text, or leave it out").into()
            }
            Self::Unfilled { header } => format!(
                "take `{header}` out of the connection: this Open WebUI does not know the template; groups can be asked for instead, with the setting groups = \"openwebui\""
            ).into(),
            Self::Group { header } => format!(
                "send UUIDs in `{header}`, or ids of 1 to 64 of A-Z a-z 0-9 . _ -, comma-separated"
            ).into(),
            Self::ForeignPage => {
                "call http://127.0.0.1 or http://localhost from a program or from the server's own page; for anything else configure `api_keys`, or `cors_origins` for pages of another site".into()
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        if let Self::NoUser { header }
        | Self::Unsigned { header }
        | Self::WronglySigned { header, .. }
        | Self::TwoUsers { header, .. }
        | Self::Repeated { header }
        | Self::NotText { header }
        | Self::Unfilled { header }
        | Self::Group { header }
        | Self::Identifier { header } = self
        {
            details.insert("header".to_owned(), header.as_str().into());
        }
        if matches!(self, Self::Busy) {
            details.insert("scope".to_owned(), "server".into());
        }
        details
    }

    fn retry_after(&self) -> Option<u64> {
        matches!(self, Self::Busy).then_some(LOOKUP_WAIT.as_secs())
    }
}

impl AcceptedCredentials {
    fn hint(self) -> String {
        let mut hint = "send one header `Authorization: Bearer <token>`; ".to_owned();
        if self.session {
            hint.push_str("in Open WebUI set the connection's authentication to `session`; ");
        }
        if self.key {
            hint.push_str("a gateway sends one of `api_keys`; ");
        }
        hint + "an administrator makes a token with `fileshed token create --user <id>`"
    }
}
