//! Sessions on the page and the links that begin one: 256 random bits that stand for an account.
//!
//! A session ends after a time, after a time without calls, when it is signed out, with the personal
//! token that it was made with, and with its user. A link signs a browser in once, within a few minutes.

use std::time::Duration;

use jiff::Timestamp;

use super::database::{Lenient, Statements as _, ToRow};
use super::rows::{Entity as _, insertion, row};
use super::tokens::{WORKS, hash, secret};
use super::{Registry, Result};
use fileshed_types::{Caller, Clock, Error, Role, Scope, Timings, UserId};

/// Returns the condition for the row of the secret with the hash `?1`, at the Unix second `?2`: it has not
/// expired, and the personal token behind it still works.
fn works() -> String {
    format!(
        "WHERE digest = ?1 AND expires_at > ?2
         AND (token_id IS NULL OR token_id IN (SELECT id FROM tokens WHERE {WORKS}))"
    )
}

row! {
    /// A user who signed in, with what the credential allowed that was shown for it.
    pub struct Principal in "page_sessions" {
        /// The user.
        user: UserId = "user_id",
        /// Display name.
        name: Option<String> = "name",
        /// Mail address.
        email: Option<String> = "email",
        /// The user's rights beyond the own workspace.
        role: Role = "role",
        /// The calls that the credential allows.
        scope: Scope = "scope",
        /// The id of the personal token behind it: what was made with a token ends with it.
        token: Option<String> = "token_id",
        /// Unix seconds from which the role is that of a user, until its source is asked again; `None` if
        /// it lasts as long as the session.
        role_ends_at: Option<i64> = "role_ends_at",
        /// `true` if a link of an operation began the session, which a model may have made: such a session
        /// makes no tokens.
        delegated: bool = "delegated",
    }
}

impl Principal {
    /// A user of whom nothing else is known.
    #[must_use]
    pub fn of(user: UserId) -> Self {
        Self {
            user,
            name: None,
            email: None,
            role: Role::User,
            scope: Scope::Write,
            token: None,
            role_ends_at: None,
            delegated: false,
        }
    }

    /// The caller of an operation, for a link that others may get hold of: without the role of an
    /// administrator and without the right to make tokens. Nobody in shared mode.
    #[must_use]
    pub fn delegated_by(caller: &Caller) -> Option<Self> {
        Some(Self {
            name: caller.name.clone(),
            email: caller.email.clone(),
            scope: caller.scope,
            token: caller.token.clone(),
            delegated: true,
            ..Self::of(caller.user.clone()?)
        })
    }

    /// Returns what it is at a Unix second: a role that has ended is that of a user.
    fn at(self, now: i64) -> Self {
        match self.role_ends_at {
            Some(end) if end <= now => Self {
                role: Role::User,
                ..self
            },
            _ => self,
        }
    }

    /// Says of a caller what is known of the same user.
    pub fn describe(self, caller: &mut Caller) {
        caller.name = self.name;
        caller.email = self.email;
        caller.role = self.role;
        caller.scope = self.scope;
        caller.token = self.token;
        caller.delegated = self.delegated;
    }
}

/// A table of secrets that stand for a principal, by their hashes.
struct SecretTable {
    name: &'static str,
    /// Rows of one user at once; a further one takes the place of the last of them in `order`.
    most: i64,
    order: &'static str,
}

impl SecretTable {
    /// Makes a secret for a principal, with the values of `more` columns, and forgets those that `ended`
    /// finds.
    fn create(
        &self,
        registry: &Registry,
        principal: &Principal,
        (names, more): (&[&'static str], impl ToRow),
        (ended, moments): (&str, impl ToRow),
    ) -> Result<String, Error> {
        let Self { name, most, order } = self;
        let secret = secret()?;
        let user = principal.user.as_str();
        let columns = [&["digest"], Principal::COLUMNS, names].concat();
        let row = (hash(&secret), principal, more);
        let insert = insertion(name, &columns.join(", "), row.values().len(), "");
        registry.transact(&[user], |transaction| {
            transaction.run(&format!("DELETE FROM {name} WHERE {ended}"), moments)?;
            transaction.run(
                &format!(
                    "DELETE FROM {name} WHERE user_id = ?1 AND digest NOT IN (
                     SELECT digest FROM {name} WHERE user_id = ?1 ORDER BY {order} LIMIT ?2)"
                ),
                (user, most - 1),
            )?;
            transaction.run(&insert, row)
        })?;
        Ok(secret)
    }
}

/// Browsers in which users are signed in.
const SESSIONS: SecretTable = SecretTable {
    name: "page_sessions",
    most: 20,
    order: "used_at DESC, expires_at DESC",
};

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
        let now = self.clock.now().as_second();
        let ended = "expires_at <= ?1 OR used_at <= ?2";
        let moments = [now, self.idle_since(now)];
        let ends = now.saturating_add(self.life.seconds);
        let session: (&[&str], _) = (&["used_at", "expires_at"], [now, ends]);
        SESSIONS.create(self.registry, principal, session, (ended, moments))
    }

    /// Returns the principal of the session with this secret; `None` if it is unknown or has ended. The
    /// lookup is by hash, so its time tells nothing about the secret.
    pub fn verify(&self, secret: &str) -> Result<Option<Principal>> {
        let digest = hash(secret);
        let now = self.clock.now().as_second();
        let columns = Principal::COLUMNS.join(", ");
        let found: Option<(i64, Lenient<Principal>)> = self.registry.first(
            &format!(
                "SELECT used_at, {columns} FROM page_sessions {} AND used_at > ?3",
                works()
            ),
            (&digest, now, self.idle_since(now)),
        )?;
        let Some((used_at, Lenient(principal))) = found else {
            return Ok(None);
        };
        if now.saturating_sub(used_at) >= MARK_SECONDS {
            let mark = "UPDATE page_sessions SET used_at = ?2 WHERE digest = ?1";
            self.registry.run(mark, (digest, now))?;
        }
        Ok(principal.map(|principal| principal.at(now)))
    }

    /// Returns `true` if somebody is signed in with this secret. It does not count as a use.
    pub fn works(&self, secret: &str) -> Result<bool, Error> {
        let works = format!("SELECT EXISTS (SELECT 1 FROM page_sessions {})", works());
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

/// Lifetime of a link.
const LIFE: Duration = Timings::STANDARD.sign_in.link;

/// Links that sign a browser in.
const LINKS: SecretTable = SecretTable {
    name: "sign_in_links",
    most: 10,
    order: "expires_at DESC",
};

/// The sign-in links of one registry.
#[derive(Debug)]
pub struct SignInLinks<'a> {
    registry: &'a Registry,
    clock: &'a Clock,
}

/// A link at the only moment when its secret is known.
#[derive(Debug)]
pub struct NewSignInLink {
    /// The last part of its URL.
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
        let now = self.clock.now();
        let expires_at = now.checked_add(LIFE).unwrap_or(Timestamp::MAX);
        let link: (&[&str], _) = (&["expires_at"], expires_at.as_second());
        let ended = ("expires_at <= ?1", [now.as_second()]);
        let secret = LINKS.create(self.registry, principal, link, ended)?;
        Ok(NewSignInLink { secret, expires_at })
    }

    /// Returns the principal that the link with this secret would sign in; it is not used up.
    pub fn look(&self, secret: &str) -> Result<Option<Principal>> {
        let columns = Principal::COLUMNS.join(", ");
        let look = format!("SELECT {columns} FROM sign_in_links {}", works());
        self.read(&look, secret)
    }

    /// Returns the principal that the link with this secret signs in. It is used up: of several requests
    /// at once, one gets an answer.
    pub fn redeem(&self, secret: &str) -> Result<Option<Principal>> {
        let columns = Principal::COLUMNS.join(", ");
        let take = format!("DELETE FROM sign_in_links {} RETURNING {columns}", works());
        self.read(&take, secret)
    }

    fn read(&self, statement: &str, secret: &str) -> Result<Option<Principal>> {
        let now = self.clock.now().as_second();
        let found: Option<Lenient<Principal>> =
            self.registry.first(statement, (hash(secret), now))?;
        Ok(found.and_then(|row| Some(row.0?.at(now))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tokens;
    use crate::tests::on_each_database;

    const PERIOD: SessionLife = SessionLife {
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
            let sessions = PageSessions::new(registry, &clock, PERIOD);
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
            let sessions = PageSessions::new(registry, &clock, PERIOD);
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
            let sessions = PageSessions::new(registry, &clock, PERIOD);
            let (alice, bob) = (user("alice"), user("bob"));
            let other = sessions.create(&bob).expect("made");
            let all: Vec<String> = (0..=SESSIONS.most)
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

    #[test]
    fn a_link_works_once_and_not_for_long() {
        on_each_database(|registry| {
            let clock = Clock::movable();
            let links = SignInLinks::new(registry, &clock);
            let alice = user("alice");
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

            let all: Vec<String> = (0..=LINKS.most)
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
