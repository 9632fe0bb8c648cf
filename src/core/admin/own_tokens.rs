//! Personal tokens that people make for their own programs, and take back.
//!
//! A token outlives the session in which it is made. So a session that was itself begun with a token
//! makes none: a token that ends, or that somebody found, must not make one that stays. Neither does a
//! session that a link of an operation began: a model may have made the link.

use jiff::Timestamp;

use crate::admin::Admin;
use fileshed_registry::{NewToken, Token};
use fileshed_types::{Caller, Error, Scope, UserId, diagnostics, timings};

/// Tokens of one user that work at once, of those that people make.
const TOKENS_MAX: usize = 50;

/// Characters of what a token is called.
const LABEL_MAX: usize = 100;

/// Days after which a token ends, at most: ten years.
const DAYS_MAX: u32 = 3650;

/// A token that somebody wants.
#[derive(Clone, Copy, Debug)]
pub struct WantedToken<'a> {
    /// Purpose of the token.
    pub label: &'a str,
    /// Access that it grants.
    pub scope: Scope,
    /// Days after which it ends; never without.
    pub days: Option<u32>,
}

impl Admin {
    /// The caller's tokens that work, oldest first.
    pub fn own_tokens(&self, caller: &Caller) -> Result<Vec<Token>, Error> {
        self.store.tokens().of_user(self.owner(caller)?)
    }

    /// `true` if the caller may make tokens: a user who signed in neither with a token nor with a link of
    /// an operation.
    pub fn may_make_tokens(&self, caller: &Caller) -> bool {
        caller.user.is_some() && caller.token.is_none() && !caller.delegated
    }

    /// Makes a token of the caller.
    pub fn create_own_token(
        &self,
        caller: &Caller,
        wanted: &WantedToken<'_>,
    ) -> Result<NewToken, Error> {
        let user = self.owner(caller)?;
        if !self.may_make_tokens(caller) {
            // A model may have made the link; a token would outlive itself.
            let origin = if caller.delegated {
                "a link in a chat"
            } else {
                "a personal token"
            };
            return Err(OwnTokenError::Session(origin).into());
        }
        let label = wanted.label.trim();
        let length = label.chars().count();
        if length == 0 || length > LABEL_MAX || label.chars().any(char::is_control) {
            return Err(OwnTokenError::Label { length }.into());
        }
        let expires_at = wanted.days.map(|days| self.in_days(days)).transpose()?;
        if self.store.tokens().of_user(user)?.len() >= TOKENS_MAX {
            return Err(OwnTokenError::TooMany.into());
        }
        let tokens = self.store.tokens();
        tokens.create(user, wanted.scope, expires_at, label)
    }

    /// Ends a token of the caller, and the sessions that were begun with it.
    pub fn revoke_own_token(&self, caller: &Caller, id: &str) -> Result<(), Error> {
        if self.store.tokens().revoke_of(self.owner(caller)?, id)? {
            Ok(())
        } else {
            Err(OwnTokenError::Unknown { id: id.to_owned() }.into())
        }
    }

    /// Returns the user whose tokens a call is about; fails if this server does not serve that user.
    fn owner<'c>(&self, caller: &'c Caller) -> Result<&'c UserId, Error> {
        let user = caller.user.as_ref().ok_or(OwnTokenError::Shared)?;
        self.store.expect_active(caller)?;
        Ok(user)
    }

    fn in_days(&self, days: u32) -> Result<Timestamp, OwnTokenError> {
        let span = timings::hours(u64::from(days) * 24);
        let end = self.store.clock.now().checked_add(span).ok();
        end.filter(|_| (1..=DAYS_MAX).contains(&days))
            .ok_or(OwnTokenError::Days { days })
    }
}

diagnostics! {
    /// Why somebody's token is not made or not ended.
    #[derive(Debug, thiserror::Error)]
    enum OwnTokenError {
        /// There are no users.
        #[error("tokens are not needed: this server has one workspace, for this machine")]
        Shared => {
            code: AccessDenied,
            hint: "call without credentials",
        },
        /// The session was begun with less than the rights of its user.
        #[error("a session from {0} cannot create tokens")]
        Session(origin: &'static str => ["a link in a chat", "a personal token"]) => {
            code: AccessDenied,
            hint: "sign in with the provider or with an administrator's link, or ask an \
                administrator for a token",
        },
        /// The caller has as many as anybody may have.
        #[error("there are {TOKENS_MAX} tokens already")]
        TooMany => {
            code: QuotaExceeded,
            hint: "end a token that no program uses",
            details: { "max": TOKENS_MAX },
        },
        /// The label is missing, too long, or has line breaks.
        #[error("`label` has {length} characters; 1 to {LABEL_MAX} on one line are allowed")]
        Label {
            /// Characters that were sent.
            length: usize = 101,
        } => {
            code: InvalidParameter,
            hint: "say in a few words which program the token is for",
            details: { "parameter": "label", "max": LABEL_MAX },
        },
        /// It would end too late, or at once.
        #[error("`days` is {days}; 1 to {DAYS_MAX} are allowed")]
        Days {
            /// The number received.
            days: u32 = 0,
        } => {
            code: InvalidParameter,
            hint: "leave `days` out for a token that does not end by itself",
            details: { "parameter": "days", "max": DAYS_MAX },
        },
        /// No such token of the caller works.
        #[error("there is no token `{id}`")]
        Unknown {
            /// The id received.
            id: String = "0123456789ab".into(),
        } => {
            code: InvalidParameter,
            hint: "load the list of your tokens again",
            details: { "parameter": "id", "id": id },
        },
    }
}
