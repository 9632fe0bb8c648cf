//! Signing in on the page of the server, without a password: whoever has shown a credential gets a
//! session, or a link that begins one elsewhere.

use jiff::Timestamp;

use crate::{Caller, Error, Store};
use fileshed_registry::{PageSessions, SessionLife, SignInLinks, Token};

pub use fileshed_registry::Principal;

const SECONDS_PER_HOUR: u64 = 3600;

/// A link that opens the page with all files of one user.
#[derive(Debug)]
pub struct SignInLink {
    /// Where it is opened.
    pub url: String,
    /// When it ends; nothing where it holds no secret, because nobody has to sign in.
    pub expires_at: Option<Timestamp>,
}

impl Store {
    /// Browsers that are signed in.
    #[must_use]
    pub fn page_sessions(&self) -> PageSessions<'_> {
        let seconds =
            |hours: u64| i64::try_from(hours.saturating_mul(SECONDS_PER_HOUR)).unwrap_or(i64::MAX);
        let life = SessionLife {
            seconds: seconds(self.settings().session_hours),
            idle_seconds: seconds(self.settings().session_idle_hours),
        };
        PageSessions::new(self.registry(), self.clock(), life)
    }

    /// Makes a link that signs the caller in where it is opened. In shared mode it is the address of
    /// the page alone.
    pub fn create_sign_in_link(&self, caller: &Caller) -> Result<SignInLink, Error> {
        let base = self.public_url();
        let Some(principal) = Principal::of_caller(caller) else {
            return Ok(SignInLink {
                url: format!("{base}/"),
                expires_at: None,
            });
        };
        self.expect_active(caller)?;
        let link = self.sign_in_links().create(&principal)?;
        Ok(SignInLink {
            url: format!("{base}/page/sign-in/{}", link.secret),
            expires_at: Some(link.expires_at),
        })
    }

    /// Whom the link with this secret would sign in, if it works.
    pub fn look_at_sign_in_link(&self, secret: &str) -> Result<Option<Principal>, Error> {
        Ok(self.unless_gone(self.sign_in_links().look(secret)?))
    }

    /// Uses a link up; the one whom it signs in, if it worked.
    pub fn redeem_sign_in_link(&self, secret: &str) -> Result<Option<Principal>, Error> {
        Ok(self.unless_gone(self.sign_in_links().redeem(secret)?))
    }

    /// The principal of a personal token, if it works: deleting an account in the application that
    /// people chat in ends its tokens here, too.
    pub fn principal_of_token(&self, secret: &str) -> Result<Option<Principal>, Error> {
        let token = self.tokens().verify(secret)?;
        Ok(self.unless_gone(token.map(principal_of)))
    }

    /// The principal of a personal token that works, found without blocking; nothing where that
    /// cannot be, as where an application that people chat in may have to be asked.
    #[must_use]
    pub fn principal_of_token_at_once(&self, secret: &str) -> Option<Principal> {
        if self.chat_host().is_some() {
            return None;
        }
        let token = self.tokens().verify_at_once(secret).ok()?;
        token.map(principal_of)
    }

    /// The one who is signed in with this secret, if the session lasts.
    pub fn principal_of_session(&self, secret: &str) -> Result<Option<Principal>, Error> {
        Ok(self.unless_gone(self.page_sessions().verify(secret)?))
    }

    fn sign_in_links(&self) -> SignInLinks<'_> {
        SignInLinks::new(self.registry(), self.clock())
    }

    /// Nobody where the application that people chat in has the user no more, for whom nothing of
    /// this server works then.
    fn unless_gone(&self, found: Option<Principal>) -> Option<Principal> {
        found.filter(|principal| !self.is_gone(&principal.user))
    }
}

fn principal_of(token: Token) -> Principal {
    Principal {
        scope: token.scope,
        role: token.role,
        token: Some(token.id),
        ..Principal::of(token.user)
    }
}
