//! Browsers that are signed in on the page: 256 random bits in a cookie that stand for one user.
//!
//! A session ends after a time, after a time without calls, when it is signed out, with the personal
//! token that it was made with, and with its user.

use super::database::{Statements as _, ToValue as _};
use super::principal::{Principal, READ_COLUMNS, TOKEN_WORKS};
use super::tokens::{hash, secret};
use super::{Registry, RegistryError};
use fileshed_types::{Clock, Error, UserId};

/// Browsers in which one user is signed in at once; a further one takes the place of the one that
/// was used longest ago.
const SESSIONS_MAX: i64 = 20;

/// Seconds within which a session is not marked as used again: else each read would be a write.
const MARK_SECONDS: i64 = 60;

/// When sessions end by themselves.
#[derive(Clone, Copy, Debug)]
pub struct SessionLife {
    /// Seconds from the sign-in.
    pub seconds: i64,
    /// Seconds from the last call.
    pub idle_seconds: i64,
}

/// The page sessions of one registry.
#[derive(Debug)]
pub struct PageSessions<'a> {
    registry: &'a Registry,
    clock: &'a Clock,
    life: SessionLife,
}

impl<'a> PageSessions<'a> {
    /// The sessions of `registry`, at the time that `clock` tells.
    pub fn new(registry: &'a Registry, clock: &'a Clock, life: SessionLife) -> Self {
        Self {
            registry,
            clock,
            life,
        }
    }

    /// Begins a session and forgets those that have ended by themselves; returns its secret.
    pub fn create(&self, principal: &Principal) -> Result<String, Error> {
        let secret = secret()?;
        let now = self.clock.now().as_second();
        let (user, digest) = (principal.user.as_str(), hash(&secret));
        self.registry.transact(&[user], |transaction| {
            transaction.run(
                "DELETE FROM page_sessions WHERE expires_at <= ?1 OR used_at <= ?2",
                [now, self.idle_since(now)],
            )?;
            let ends = now.saturating_add(self.life.seconds);
            let session = [
                ("digest", digest.to_value()),
                ("used_at", now.to_value()),
                ("expires_at", ends.to_value()),
            ];
            principal.insert(transaction, "page_sessions", &session)?;
            transaction.run(
                "DELETE FROM page_sessions WHERE user_id = ?1 AND digest NOT IN (
                 SELECT digest FROM page_sessions WHERE user_id = ?1
                 ORDER BY used_at DESC, expires_at DESC, digest = ?3 DESC LIMIT ?2)",
                (user, SESSIONS_MAX, &digest),
            )
        })?;
        Ok(secret)
    }

    /// Returns the principal of the session with this secret; `None` if it is unknown or has ended. The
    /// lookup is by hash, so its time tells nothing about the secret.
    pub fn verify(&self, secret: &str) -> Result<Option<Principal>, RegistryError> {
        let digest = hash(secret);
        let now = self.clock.now().as_second();
        let found: Option<(Option<Principal>, i64)> = self.registry.first(
            &format!(
                "SELECT {READ_COLUMNS}, used_at FROM page_sessions
                 WHERE digest = ?1 AND expires_at > ?2 AND used_at > ?3 AND {TOKEN_WORKS}"
            ),
            (&digest, now, self.idle_since(now)),
        )?;
        let Some((principal, used_at)) = found else {
            return Ok(None);
        };
        if now.saturating_sub(used_at) >= MARK_SECONDS {
            let mark = "UPDATE page_sessions SET used_at = ?2 WHERE digest = ?1";
            self.registry.run(mark, (digest, now))?;
        }
        Ok(principal)
    }

    /// Returns `true` if somebody is signed in with this secret. It does not count as a use.
    pub fn works(&self, secret: &str) -> Result<bool, Error> {
        let works = format!(
            "SELECT EXISTS (SELECT 1 FROM page_sessions
             WHERE digest = ?1 AND expires_at > ?2 AND {TOKEN_WORKS})"
        );
        let now = self.clock.now().as_second();
        Ok(self.registry.value(&works, (hash(secret), now))?)
    }

    /// Ends the session with this secret, if there is one.
    pub fn end(&self, secret: &str) -> Result<(), Error> {
        let end = "DELETE FROM page_sessions WHERE digest = ?1";
        Ok(self.registry.run(end, [hash(secret)])?)
    }

    /// Ends all sessions of a user, and the links that would begin one.
    pub fn end_all(&self, user: &UserId) -> Result<(), Error> {
        let user = user.as_str();
        self.registry.transact(&[user], |transaction| {
            transaction.run("DELETE FROM page_sessions WHERE user_id = ?1", [user])?;
            transaction.run("DELETE FROM sign_in_links WHERE user_id = ?1", [user])
        })?;
        Ok(())
    }

    /// A session that was used at this Unix second at the latest has ended.
    fn idle_since(&self, now: i64) -> i64 {
        now.saturating_sub(self.life.idle_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::on_each_database;
    use fileshed_types::Scope;

    use crate::{SignInLinks, Tokens};

    const LIFE: SessionLife = SessionLife {
        seconds: 10_000,
        idle_seconds: 1_000,
    };

    fn user(id: &str) -> Principal {
        Principal::of(UserId::parse(id).expect("an id"))
    }

    #[test]
    fn a_session_lives_as_long_as_it_is_used_and_no_longer_than_it_may() {
        on_each_database(|registry| {
            let clock = Clock::movable();
            let sessions = PageSessions::new(registry, &clock, LIFE);
            let alice = Principal {
                name: Some("Alice".to_owned()),
                ..user("alice")
            };
            let used = sessions.create(&alice).expect("made");
            let unused = sessions.create(&alice).expect("made");
            let who = |secret: &str| sessions.verify(secret).expect("read");
            for _ in 0..11 {
                assert_eq!(who(&used), Some(alice.clone()));
                clock.advance(900);
            }
            assert_eq!(who(&unused), None, "nobody used it");
            assert_eq!(who(&used), Some(alice));
            clock.advance(100);
            assert_eq!(who(&used), None, "its time is over");
            assert_eq!(who(""), None);
        });
    }

    #[test]
    fn what_was_made_with_a_token_ends_with_it() {
        on_each_database(|registry| {
            let clock = Clock::movable();
            let sessions = PageSessions::new(registry, &clock, LIFE);
            let links = SignInLinks::new(registry, &clock);
            let tokens = Tokens::new(registry, &clock);
            let alice = user("alice");
            let soon = clock.now() + fileshed_types::timings::seconds(200);
            for (expires_at, revoked) in [(Some(soon), false), (None, true)] {
                let token = tokens
                    .create(&alice.user, Scope::Read, expires_at, "")
                    .expect("made");
                let by_token = Principal {
                    scope: Scope::Read,
                    token: Some(token.id.clone()),
                    ..alice.clone()
                };
                let session = sessions.create(&by_token).expect("made");
                let link = links.create(&by_token).expect("made").secret;
                assert_eq!(sessions.verify(&session).expect("read"), Some(by_token));
                if revoked {
                    assert!(tokens.revoke(&token.id).expect("revoked"));
                } else {
                    clock.advance(201);
                }
                assert_eq!(sessions.verify(&session).expect("read"), None);
                assert_eq!(links.redeem(&link).expect("read"), None);
            }
        });
    }

    #[test]
    fn sessions_of_one_user_are_bounded_and_end_together() {
        on_each_database(|registry| {
            let clock = Clock::movable();
            let sessions = PageSessions::new(registry, &clock, LIFE);
            let (alice, bob) = (user("alice"), user("bob"));
            let other = sessions.create(&bob).expect("made");
            let all: Vec<String> = (0..=SESSIONS_MAX)
                .map(|_| {
                    clock.advance(1);
                    sessions.create(&alice).expect("made")
                })
                .collect();
            let lives = |secret: &String| sessions.verify(secret).expect("read").is_some();
            assert!(!lives(&all[0]) && all[1..].iter().all(lives));
            sessions.end(&all[1]).expect("ended");
            assert!(!lives(&all[1]) && lives(&all[2]));
            sessions.end_all(&alice.user).expect("ended");
            assert!(!all.iter().any(lives) && lives(&other));
        });
    }
}
