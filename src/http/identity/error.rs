//! Why a request is not authenticated.

use axum::http::HeaderName;
use fileshed_core::caller::CallerError;
use fileshed_core::diagnostics;

use super::{JwtError, X_USER_ID};

/// Which credentials this server accepts besides personal tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedCredentials {
    /// Service keys.
    pub key: bool,
    /// Sessions of Open WebUI.
    pub session: bool,
    /// Keys of terminals.
    pub terminal_key: bool,
}

diagnostics! {
    /// An identity that is missing, wrong or contradictory. It never holds a credential.
    #[derive(Debug, thiserror::Error)]
    pub enum IdentityError {
        /// Credentials are needed, none were sent.
        #[error("no credentials were sent")]
        NoCredential(wanted: AcceptedCredentials = AcceptedCredentials { key: true, session: true, terminal_key: false }) => {
            code: Unauthorized,
            hint: wanted.hint(),
        },
        /// Not `Bearer`, or nothing behind it.
        #[error("the header `authorization` is not `Bearer` with one token")]
        NoBearer(wanted: AcceptedCredentials = AcceptedCredentials { key: true, session: true, terminal_key: false }) => {
            code: Unauthorized,
            hint: wanted.hint(),
        },
        /// More than one.
        #[error("the header `authorization` was sent more than once")]
        TwoCredentials(wanted: AcceptedCredentials = AcceptedCredentials { key: true, session: true, terminal_key: false }) => {
            code: Unauthorized,
            hint: wanted.hint(),
        },
        /// No service key, and no other credential that counts.
        #[error("the token is unknown, expired or revoked")]
        WrongCredential(wanted: AcceptedCredentials = AcceptedCredentials { key: true, session: true, terminal_key: false }) => {
            code: Unauthorized,
            hint: wanted.hint(),
        },
        /// A key of Open WebUI, which only Open WebUI knows.
        #[error("the token is neither a session nor one that this server made")]
        NotChecked => {
            code: Unauthorized,
            hint: "sign in to Open WebUI again if this is a session; for keys of Open WebUI an \
                   administrator must set `openwebui_api_url`",
        },
        /// Too many credentials are being asked about.
        #[error("the server has too many requests to Open WebUI in progress")]
        Busy => {
            code: Busy,
            hint: "call again in a few seconds",
            details: { "scope": "server" },
            retry_after: 5_u64,
        },
        /// A user whom no administrator has let in.
        #[error("the account is not active yet")]
        Pending => {
            code: AccessDenied,
            hint: "tell the user that an administrator of Open WebUI must activate the account",
        },
        /// A gateway that does not say for whom it calls.
        #[error("the service key is right, but no user is named")]
        NoUser {
            /// The header that should name the user.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-id"),
        } => {
            code: InvalidUser,
            hint: format!(
                "the gateway must send `{header}` with every call; in Open WebUI set \
                 ENABLE_FORWARD_USER_INFO_HEADERS=true"
            ),
            details: { "header": header.as_str() },
        },
        /// A terminal connection that does not say for whom it calls.
        #[error("the key is right, but the header `x-user-id` names no user")]
        NoTerminalUser => {
            code: InvalidUser,
            hint: "send the header `X-User-Id` with every call, as a terminal connection of Open \
                WebUI does",
            details: { "header": X_USER_ID.as_str() },
        },
        /// A service key where only the header of the proxy names the user.
        #[error("with this key the header `x-user-id` does not identify the user of a terminal")]
        NotForTerminals => {
            code: AccessDenied,
            hint: "set a key of `terminal_api_keys` in the terminal connection, or its \
                authentication to `session`: keys of `api_keys` are for tool servers",
            details: { "header": X_USER_ID.as_str() },
        },
        /// A gateway whose users are signed, without a signed one.
        #[error("the service key is right, but no signed user is named")]
        Unsigned {
            /// The header that should name the user.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-jwt"),
        } => {
            code: InvalidUser,
            hint: format!(
                "the gateway must send `{header}` with every call; in Open WebUI set \
                 ENABLE_FORWARD_USER_INFO_HEADERS=true, and FORWARD_USER_INFO_HEADER_JWT_SECRET to the \
                 value of `forward_jwt_secret`"
            ),
            details: { "header": header.as_str() },
        },
        /// A signed user whose token is not accepted.
        #[error("the token in the header `{header}` {cause}")]
        WronglySigned {
            /// The header.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-jwt"),
            /// Why not.
            cause: JwtError = JwtError::NoToken,
        } => {
            code: InvalidUser,
            hint: format!(
                "send `{header}` as Open WebUI makes it, with FORWARD_USER_INFO_HEADER_JWT_SECRET equal \
                 to `forward_jwt_secret`"
            ),
            details: { "header": header.as_str() },
        },
        /// The user id cannot be one.
        #[error(transparent)]
        User(error: CallerError = CallerError::EmptyUser) => {
            code: InvalidUser,
            hint: error.hint(),
        },
        /// Two headers, two users.
        #[error("the headers `{header}` and `{other}` name different users")]
        TwoUsers {
            /// The first of them.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-id"),
            /// The second of them.
            other: HeaderName = HeaderName::from_static("x-openwebui-user-email"),
        } => {
            code: AccessDenied,
            hint: format!("send `{header}` or `{other}`, or the same user in both"),
            details: { "header": header.as_str() },
        },
        /// A user's own token, with the name of somebody else beside it.
        #[error("the token belongs to a different user than the one in the headers")]
        NotItsUser => {
            code: AccessDenied,
            hint: "leave the user headers out: the token identifies the user",
        },
        /// The same header twice.
        #[error("the header `{header}` was sent more than once")]
        Repeated {
            /// The header.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-id"),
        } => {
            code: InvalidUser,
            hint: once(header),
            details: { "header": header.as_str() },
        },
        /// A template of a connection's own header that was sent as it stands.
        #[error("the header `{header}` holds a template that was not filled in")]
        Unfilled {
            /// The header.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-id"),
        } => {
            code: InvalidUser,
            hint: format!(
                "take `{header}` out of the connection: this Open WebUI does not know the template; groups \
                 can be asked for instead, with the setting groups = \"openwebui\""
            ),
            details: { "header": header.as_str() },
        },
        /// A header that is no short text.
        #[error("the header `{header}` is not a text of at most 256 bytes in UTF-8")]
        NotText {
            /// The header.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-id"),
        } => {
            code: InvalidUser,
            hint: once(header),
            details: { "header": header.as_str() },
        },
        /// A conversation or message that is no short text.
        #[error("the header `{header}` is not an identifier of at most 256 bytes")]
        Identifier {
            /// The header.
            header: HeaderName = HeaderName::from_static("x-openwebui-chat-id"),
        } => {
            code: InvalidParameter,
            hint: once(header),
            details: { "header": header.as_str() },
        },
        /// A group that cannot be one.
        #[error("the header `{header}` names a group whose id cannot name a directory")]
        Group {
            /// The header.
            header: HeaderName = HeaderName::from_static("x-openwebui-user-group-ids"),
        } => {
            code: InvalidUser,
            hint: format!(
                "send UUIDs in `{header}`, or ids of 1 to 64 of A-Z a-z 0-9 . _ -, comma-separated"
            ),
            details: { "header": header.as_str() },
        },
        /// A page of another site, in the browser of the person whose workspace this is.
        #[error("the request comes from a page of another site, or is for another server")]
        ForeignPage => {
            code: AccessDenied,
            hint: "call http://127.0.0.1 or http://localhost from a program or from the server's own page; for \
                other clients set `api_keys`, for pages of another site `cors_origins`",
        },
        /// A cookie that the page of another site makes a browser send.
        #[error("the request comes from a page of another site")]
        OtherPage => {
            code: AccessDenied,
            hint: "open the page of this server itself; programs send a personal token",
        },
        /// A session on the page that is over.
        #[error("the session is unknown or has ended")]
        SessionEnded => {
            code: Unauthorized,
            hint: "sign in again on the page of this server",
        },
        /// A page of a site that nobody listed.
        #[error("the request comes from a page of another site")]
        UnlistedPage => {
            code: AccessDenied,
            hint: "call from a program; for a page an administrator must list its site in `cors_origins`",
        },
    }
}

fn once(header: &HeaderName) -> String {
    format!("send `{header}` once, as a short text, or leave it out")
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
        if self.terminal_key {
            hint.push_str("Open WebUI's terminal connection has one of `terminal_api_keys`; ");
        }
        hint + "an administrator makes a token with `fileshed token create --user <id>`"
    }
}
