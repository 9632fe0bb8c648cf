//! The identifier of a user.

use crate::diagnostics;
use crate::identifier::is_placeholder;

/// Longest user identifier that is taken, in bytes.
pub const USER_ID_MAX_BYTES: usize = 256;

/// A user identifier as the identity source spells it: opaque, never a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserId(String);

impl UserId {
    /// Takes an identifier of 1 to 256 bytes without control characters or blanks at its ends,
    /// which is no [placeholder](is_placeholder).
    pub fn parse(text: &str) -> Result<Self, CallerError> {
        if text.is_empty() {
            return Err(CallerError::EmptyUser);
        }
        if text.len() > USER_ID_MAX_BYTES {
            return Err(CallerError::LongUser(text.len()));
        }
        if text.trim() != text || text.chars().any(char::is_control) {
            return Err(CallerError::OddUser);
        }
        if is_placeholder(text) {
            return Err(CallerError::NoValue(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the identifier as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

diagnostics! {
    /// An identity that cannot be used.
    #[derive(Debug, thiserror::Error)]
    pub enum CallerError {
        /// No identifier at all.
        #[error("the user id is empty")]
        EmptyUser => {
            code: InvalidUser,
            hint: ONE_USER,
        },
        /// Too long to be an identifier.
        #[error("the user id has {0} bytes; the limit is {USER_ID_MAX_BYTES}")]
        LongUser(bytes: usize) => {
            code: InvalidUser,
            hint: ONE_USER,
        },
        /// Control characters, or blanks at the ends.
        #[error("the user id has control characters, or blanks at its ends")]
        OddUser => {
            code: InvalidUser,
            hint: ONE_USER,
        },
        /// A placeholder: every user would share it.
        #[error("the user id is `{0}`, a placeholder that was not filled in")]
        NoValue(given: String = "{{USER_ID}}".into()) => {
            code: InvalidUser,
            hint: "the client must fill in the id of its user; in Open WebUI set \
                ENABLE_FORWARD_USER_INFO_HEADERS=true and take headers with templates for the user out of \
                the connection",
        },
        /// An identifier that cannot be a directory name, as plain namespaces need.
        #[error("the user id cannot name a directory")]
        NotPlain => {
            code: InvalidUser,
            hint: "with namespace = \"plain\" a user id is a UUID or 1 to 64 of A-Z a-z 0-9 . _ - not \
                beginning with a dot",
        },
    }
}

/// An identity as it may be sent.
const ONE_USER: &str =
    "send one user id, for instance X-OpenWebUI-User-Id: 8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
