//! Cache of the groups that the last call of a user named, for calls that cannot name any.
//!
//! The proxy in front of the terminal passes no header of its own choice, so the groups
//! of its user come from another call of the same user. They are forgotten soon: a user who has left a
//! group must not see it for long.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use fileshed_types::{Clock, GroupClaim, Mutex, Settings, UserId};

/// Users who are remembered.
const USERS_MAX: usize = 10_000;

/// What the last calls of users named.
#[derive(Debug)]
pub struct GroupClaimCache {
    users: Mutex<HashMap<UserId, (Instant, Vec<GroupClaim>)>>,
    clock: Clock,
    /// How long what was named counts.
    counts: Duration,
}

impl GroupClaimCache {
    pub(crate) fn new(settings: &Settings, clock: &Clock) -> Self {
        Self {
            users: Mutex::default(),
            clock: clock.clone(),
            counts: settings.timings.rounds.group_claims,
        }
    }

    /// Remembers what a call named, an empty list too.
    pub fn remember(&self, user: &UserId, claims: &[GroupClaim]) {
        let mut users = self.users.lock();
        if users.len() >= USERS_MAX && !users.contains_key(user) {
            users.retain(|_, (at, _)| self.counts(*at));
            if users.len() >= USERS_MAX {
                return;
            }
        }
        users.insert(user.clone(), (self.clock.instant(), claims.to_vec()));
    }

    /// What the user's last call named; nothing where that is too long ago.
    pub(crate) fn recall(&self, user: &UserId) -> Option<Vec<GroupClaim>> {
        let users = self.users.lock();
        let (at, claims) = users.get(user)?;
        self.counts(*at).then(|| claims.clone())
    }

    fn counts(&self, at: Instant) -> bool {
        self.clock.elapsed(at) < self.counts
    }
}
