//! Links that sign a browser in: once, and for a few minutes.

use std::time::Duration;

use jiff::Timestamp;

use super::database::{Statements as _, ToValue as _, Value};
use super::principal::{Principal, READ_COLUMNS, TOKEN_WORKS};
use super::tokens::{hash, secret};
use super::{Registry, RegistryError};
use fileshed_types::{Clock, Error, Timings};

/// How long a link works.
const LIFE: Duration = Timings::STANDARD.sign_in.link;

/// Links of one user that work at once; a further one ends the oldest.
const LINKS_MAX: i64 = 10;

/// The sign-in links of one registry.
#[derive(Debug)]
pub struct SignInLinks<'a> {
    registry: &'a Registry,
    clock: &'a Clock,
}

/// A link at the only moment when its secret is known.
#[derive(Debug)]
pub struct NewSignInLink {
    /// What its address ends in.
    pub secret: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

impl<'a> SignInLinks<'a> {
    /// The links of `registry`, at the time that `clock` tells.
    pub fn new(registry: &'a Registry, clock: &'a Clock) -> Self {
        Self { registry, clock }
    }

    /// Makes a link and forgets those that have ended by themselves.
    pub fn create(&self, principal: &Principal) -> Result<NewSignInLink, Error> {
        let secret = secret()?;
        let now = self.clock.now();
        let expires_at = now.checked_add(LIFE).unwrap_or(Timestamp::MAX);
        let (user, digest) = (principal.user.as_str(), hash(&secret));
        self.registry.transact(&[user], |transaction| {
            transaction.run(
                "DELETE FROM sign_in_links WHERE expires_at <= ?1",
                [now.as_second()],
            )?;
            transaction.run(
                "DELETE FROM sign_in_links WHERE user_id = ?1 AND digest NOT IN (
                 SELECT digest FROM sign_in_links WHERE user_id = ?1
                 ORDER BY expires_at DESC LIMIT ?2)",
                (user, LINKS_MAX - 1),
            )?;
            let ends = Value::Integer(expires_at.as_second());
            let link = [("digest", digest.to_value()), ("expires_at", ends)];
            principal.insert(transaction, "sign_in_links", &link)
        })?;
        Ok(NewSignInLink { secret, expires_at })
    }

    /// Returns the principal that the link with this secret would sign in; it is not used up.
    pub fn look(&self, secret: &str) -> Result<Option<Principal>, RegistryError> {
        self.read(
            &format!("SELECT {READ_COLUMNS} FROM sign_in_links WHERE digest = ?1 AND expires_at > ?2 AND {TOKEN_WORKS}"),
            secret,
        )
    }

    /// Returns the principal that the link with this secret signs in. It is used up: of several requests
    /// at once, one gets an answer.
    pub fn redeem(&self, secret: &str) -> Result<Option<Principal>, RegistryError> {
        self.read(
            &format!("DELETE FROM sign_in_links WHERE digest = ?1 AND expires_at > ?2 AND {TOKEN_WORKS} RETURNING {READ_COLUMNS}"),
            secret,
        )
    }

    fn read(&self, statement: &str, secret: &str) -> Result<Option<Principal>, RegistryError> {
        let now = self.clock.now().as_second();
        let found: Option<Option<Principal>> =
            self.registry.first(statement, (hash(secret), now))?;
        Ok(found.flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::on_each_database;
    use fileshed_types::UserId;

    #[test]
    fn a_link_works_once_and_not_for_long() {
        on_each_database(|registry| {
            let clock = Clock::movable();
            let links = SignInLinks::new(registry, &clock);
            let alice = Principal::of(UserId::parse("alice").expect("an id"));
            let create = || links.create(&alice).expect("made").secret;
            let redeem = |secret: &str| links.redeem(secret).expect("read");

            let link = create();
            assert_eq!(links.look(&link).expect("read"), Some(alice.clone()));
            assert_eq!(redeem(&link), Some(alice.clone()));
            assert_eq!(redeem(&link), None);

            let late = create();
            // The clock goes on by itself, too.
            clock.advance(LIFE.as_secs() as i64 - 60);
            assert!(links.look(&late).expect("read").is_some());
            clock.advance(60);
            assert_eq!(redeem(&late), None);

            let all: Vec<String> = (0..=LINKS_MAX)
                .map(|_| {
                    clock.advance(1);
                    create()
                })
                .collect();
            assert_eq!(redeem(&all[0]), None, "one too many");
            assert!(all[1..].iter().all(|link| redeem(link).is_some()));
        });
    }
}
