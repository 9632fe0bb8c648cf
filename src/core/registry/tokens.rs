//! Personal tokens: 256 random bits that stand for one user.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::database::{Lenient, Statements, ToRow};
use super::rows::{Entity as _, row};
use super::{Registry, Result};
use fileshed_types::{Clock, Error, Role, Scope, UserId, random};

/// Every secret begins with it, so that a leaked one is recognised.
const PREFIX: &str = "shed_";

/// The condition for a token that works at the Unix second `?2`.
pub(super) const WORKS: &str = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?2)";

/// The personal tokens of one registry.
#[derive(Debug)]
pub struct Tokens<'a> {
    registry: &'a Registry,
    clock: &'a Clock,
}

/// A token at the only moment when its secret is known.
#[derive(Debug)]
pub struct NewToken {
    /// For `revoke`.
    pub id: String,
    /// The secret that the client sends.
    pub secret: String,
}

row! {
    /// A token as it is kept.
    pub struct Token in "tokens" {
        /// For `revoke`.
        id: String = "id",
        /// Whom it stands for.
        user: UserId = "user_id",
        /// The calls that it allows.
        scope: Scope = "scope",
        /// Its rights beyond the workspace of its user.
        role: Role = "CASE administers WHEN 1 THEN 'admin' ELSE 'user' END",
        /// Its label for people.
        label: String = "label",
        /// When it was made.
        created_at: Timestamp = "created_at",
        /// When it ends by itself.
        expires_at: Option<Timestamp> = "expires_at",
        /// `true` if it was revoked.
        revoked: bool = "revoked_at IS NOT NULL",
    }
}

impl Token {
    /// The name of what it allows: `read`, `write` or `admin`.
    #[must_use]
    pub fn scope_name(&self) -> &'static str {
        match self.role {
            Role::Admin => Role::Admin.as_str(),
            Role::User => self.scope.as_str(),
        }
    }
}

impl<'a> Tokens<'a> {
    /// The tokens of `registry`, at the time that `clock` tells.
    pub fn new(registry: &'a Registry, clock: &'a Clock) -> Self {
        Self { registry, clock }
    }

    /// Makes a token.
    pub fn create(
        &self,
        user: &UserId,
        scope: Scope,
        expires_at: Option<Timestamp>,
        label: &str,
    ) -> Result<NewToken, Error> {
        self.create_with_role(user, (scope, Role::User), expires_at, label)
    }

    /// Makes a token that may allow more than the workspace of its user.
    pub fn create_with_role(
        &self,
        user: &UserId,
        (scope, role): (Scope, Role),
        expires_at: Option<Timestamp>,
        label: &str,
    ) -> Result<NewToken, Error> {
        let secret = format!("{PREFIX}{}", secret()?);
        let id = hex::encode(random::bytes::<6>()?);
        self.registry.run(
            "INSERT INTO tokens (id, hash, user_id, scope, label, created_at, expires_at,
                 administers) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                &id,
                hash(&secret),
                user.as_str(),
                scope.as_str(),
                label,
                self.clock.now().as_second(),
                expires_at.map(Timestamp::as_second),
                role == Role::Admin,
            ),
        )?;
        Ok(NewToken { id, secret })
    }

    /// All tokens, oldest first.
    pub fn list(&self) -> Result<Vec<Token>, Error> {
        Ok(select(self.registry, "ORDER BY created_at, id", ())?)
    }

    /// The tokens of a user that work, oldest first.
    pub fn of_user(&self, user: &UserId) -> Result<Vec<Token>, Error> {
        let condition = format!("WHERE user_id = ?1 AND {WORKS} ORDER BY created_at, id");
        let values = (user.as_str(), self.clock.now().as_second());
        Ok(select(self.registry, &condition, values)?)
    }

    /// Ends a token; false where there is none of that id that still lives.
    pub fn revoke(&self, id: &str) -> Result<bool, Error> {
        Ok(self.end(id, None)?)
    }

    /// Ends a token of a user; false where that user has none of that id that still lives.
    pub fn revoke_of(&self, user: &UserId, id: &str) -> Result<bool, Error> {
        Ok(self.end(id, Some(user))?)
    }

    fn end(&self, id: &str, user: Option<&UserId>) -> Result<bool> {
        self.registry.changes(
            "UPDATE tokens SET revoked_at = ?2
             WHERE id = ?1 AND revoked_at IS NULL AND user_id = coalesce(?3, user_id)",
            (id, self.clock.now().as_second(), user.map(UserId::as_str)),
        )
    }

    /// `true` if the token of this id works.
    pub fn works(&self, id: &str) -> Result<bool, Error> {
        let values = (id, self.clock.now().as_second());
        Ok(!select(self.registry, &format!("WHERE id = ?1 AND {WORKS}"), values)?.is_empty())
    }

    /// The token of this secret; nothing for an unknown, expired or revoked one. The lookup is by
    /// hash, so its time tells nothing about the secret.
    pub fn verify(&self, secret: &str) -> Result<Option<Token>, Error> {
        Ok(self.verify_with(self.registry, secret)?)
    }

    /// [`Self::verify`] for who cannot wait: fails where it would have to.
    pub fn verify_at_once(&self, secret: &str) -> Result<Option<Token>, Error> {
        Ok(self.verify_with(&self.registry.reader()?, secret)?)
    }

    fn verify_with(&self, statements: &impl Statements, secret: &str) -> Result<Option<Token>> {
        if !secret.starts_with(PREFIX) {
            return Ok(None);
        }
        let values = (hash(secret), self.clock.now().as_second());
        Ok(select(statements, &format!("WHERE hash = ?1 AND {WORKS}"), values)?.pop())
    }
}

/// Returns the tokens that a condition finds.
fn select(statements: &impl Statements, condition: &str, values: impl ToRow) -> Result<Vec<Token>> {
    let found: Vec<Lenient<Token>> = statements.all(&Token::select(condition), values)?;
    Ok(found.into_iter().filter_map(|row| row.0).collect())
}

/// A new secret: 256 random bits as text.
pub(super) fn secret() -> Result<String, Error> {
    Ok(URL_SAFE_NO_PAD.encode(random::bytes::<32>()?))
}

/// Returns the hash of a secret, which is stored in its place.
pub(super) fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_each_database;

    #[test]
    fn a_token_lives_until_it_expires_or_is_revoked() {
        on_each_database(|registry| {
            let clock = Clock::movable();
            let tokens = Tokens::new(registry, &clock);
            let alice = UserId::parse("alice").expect("a name");
            let soon = clock.now() + fileshed_types::timings::seconds(60);
            let short = tokens
                .create(&alice, Scope::Read, Some(soon), "")
                .expect("made");
            let long = tokens
                .create(&alice, Scope::Write, None, "ci")
                .expect("made");
            let lives = |secret: &str| tokens.verify(secret).expect("read").is_some();
            assert!(lives(&short.secret) && lives(&long.secret));
            assert!(!lives("shed_x") && !lives(""));
            clock.advance(61);
            assert!(!lives(&short.secret) && lives(&long.secret));
            assert!(tokens.revoke(&long.id).expect("revoked"));
            assert!(!tokens.revoke(&long.id).expect("asked again"));
            assert!(!lives(&long.secret));
            let bob = UserId::parse("bob").expect("a name");
            let of_bob = tokens.create(&bob, Scope::Write, None, "").expect("made");
            let ids = |user| {
                let tokens = tokens.of_user(user).expect("listed").into_iter();
                tokens.map(|token| token.id).collect::<Vec<_>>()
            };
            assert_eq!((ids(&alice), ids(&bob)), (vec![], vec![of_bob.id.clone()]));
            assert!(!tokens.revoke_of(&alice, &of_bob.id).expect("asked"));
            assert!(lives(&of_bob.secret));
            assert!(tokens.revoke_of(&bob, &of_bob.id).expect("revoked"));
            assert_eq!(ids(&bob), Vec::<String>::new());
            let kept = tokens.list().expect("listed");
            assert_eq!(kept.iter().filter(|token| token.revoked).count(), 2);
            assert_eq!(kept.len(), 3);
        });
    }
}
