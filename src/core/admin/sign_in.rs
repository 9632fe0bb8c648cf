//! Signing in on the page of the server, without a password: whoever has shown a credential gets a
//! session, or a link that begins one elsewhere.

use jiff::Timestamp;

use crate::admin::Admin;
use fileshed_registry::{SignInLinks, Token};
use fileshed_types::{Caller, Chat, Error, Role};

pub use fileshed_registry::Principal;

/// A link that opens the page with all files of one user.
#[derive(Debug)]
pub struct SignInLink {
    /// URL that opens it.
    pub url: String,
    /// End of the link; `None` if it holds no secret, because nobody has to sign in.
    pub expires_at: Option<Timestamp>,
}

impl Admin {
    /// Makes a link that signs the caller of an operation in where it is opened. A model may have made
    /// the call, so the session has less than its user: no role of an administrator, and no right to
    /// make tokens. In shared mode it is the address of the page alone.
    pub fn create_sign_in_link(&self, caller: &Caller) -> Result<SignInLink, Error> {
        let Some(principal) = Principal::delegated_by(caller) else {
            return Ok(SignInLink {
                url: format!("{}/", self.store.public_url()),
                expires_at: None,
            });
        };
        self.sign_in_link_of(&principal)
    }

    /// Makes a link that signs a user in as whoever has the rights of this machine says.
    pub fn sign_in_link_of(&self, principal: &Principal) -> Result<SignInLink, Error> {
        let base = self.store.public_url();
        self.store
            .expect_active(&Caller::known(principal.user.clone(), Chat::default()))?;
        let link = self.sign_in_links().create(principal)?;
        Ok(SignInLink {
            url: format!("{base}/page/sign-in/{}", link.secret),
            expires_at: Some(link.expires_at),
        })
    }

    /// Returns the principal that the link with this secret would sign in, if it is valid.
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
        let token = self.store.tokens().verify(secret)?;
        Ok(self.unless_gone(token.map(principal_of)))
    }

    /// Returns the principal of a valid personal token without blocking; `None` if that would block, for
    /// instance because the chat host may have to be asked.
    pub fn principal_of_token_at_once(&self, secret: &str) -> Option<Principal> {
        if self.store.chat_host().is_some() {
            return None;
        }
        let token = self.store.tokens().verify_at_once(secret).ok()?;
        token.map(principal_of)
    }

    /// The one who is signed in with this secret, if the session lasts.
    pub fn principal_of_session(&self, secret: &str) -> Result<Option<Principal>, Error> {
        Ok(self.unless_gone(self.store.page_sessions().verify(secret)?))
    }

    /// `true` if the session of this secret had the role of an administrator, whose source must be asked
    /// again.
    pub fn is_role_lapsed(&self, secret: &str) -> Result<bool, Error> {
        let found = self.store.page_sessions().verify(secret)?;
        Ok(found.is_some_and(|found| found.role == Role::User && found.role_ends_at.is_some()))
    }

    fn sign_in_links(&self) -> SignInLinks<'_> {
        SignInLinks::new(&self.store.registry, &self.store.clock)
    }

    /// Nobody where the application that people chat in has the user no more, for whom nothing of
    /// this server works then.
    fn unless_gone(&self, found: Option<Principal>) -> Option<Principal> {
        found.filter(|principal| !self.store.is_gone(&principal.user))
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
