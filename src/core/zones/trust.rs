//! Trust of a call, and the end of its work when the trust ends: the one place that checks if the grounds
//! still hold on which the call was admitted.
//!
//! Every call gets a [`Trust`], which all shares that it begins: commands, shells, background processes,
//! bodies of answers and uploads, subscriptions. While any of them lasts, a thread asks the registry and
//! the directory of groups from time to time. Facts that only the caller's own headers tell are
//! checked with the next call.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::store::Store;
use fileshed_storage::DiskError;
use fileshed_types::group::GroupId;
use fileshed_types::settings::GroupSource;
pub use fileshed_types::trust::{Grounds, Revocation, Trust};
use fileshed_types::{Caller, Chat, Clock, Error, UserId, cancellation};

impl Store {
    /// Ties all work that this call begins to the trust in its caller. Does nothing in shared mode,
    /// which has no users.
    pub fn begin_trust(self: &Arc<Self>, caller: &mut Caller) -> Result<(), Error> {
        let Some(user) = &caller.user else {
            return Ok(());
        };
        let trust = Trust::on(Grounds {
            user: user.clone(),
            token: caller.token.clone(),
            session: caller.session.clone(),
            began: self.clock.now().as_second(),
        });
        self.trusts.add(&trust, || {
            let look = self.settings.timings.calls.trust;
            let (store, clock) = (Arc::downgrade(self), self.clock.clone());
            let thread = std::thread::Builder::new().name("trust".to_owned());
            let watched = thread.spawn(move || watch(&store, &clock, look));
            watched.map(|_thread| ()).map_err(DiskError::server)
        })?;
        caller.cancellation = cancellation::Cancellation::with(trust);
        Ok(())
    }

    /// Ends what has no grounds any more.
    fn end_untrusted(&self, live: &[Trust]) {
        let mut known = KnownUsers::default();
        for trust in live {
            // Most calls are over before the second look.
            let Some(grounds) = trust.grounds() else {
                continue;
            };
            if !trust.was_seen() || trust.ended().is_some() {
                continue;
            }
            if let Some(reason) = self.revocation(grounds, &trust.groups(), &mut known) {
                tracing::info!(%reason, "the running work of a user was ended");
                trust.end(reason);
            }
        }
    }

    /// Returns the reason why these grounds do not hold any more; `None` if they do, or if that cannot
    /// be checked now.
    fn revocation(
        &self,
        grounds: &Grounds,
        groups: &[GroupId],
        known: &mut KnownUsers,
    ) -> Option<Revocation> {
        let user = known.entry(grounds.user.clone());
        let user = user.or_insert_with(|| KnownUser {
            revocation: self.account_revocation(&grounds.user),
            ended_at: self
                .registry
                .user_ended_at(grounds.user.as_str())
                .ok()
                .flatten(),
            groups: OnceCell::new(),
        });
        if let Some(reason) = user.revocation {
            return Some(reason);
        }
        if user.ended_at.is_some_and(|ended| grounds.began <= ended) {
            return Some(Revocation::Ended);
        }
        let is_over = |works: Result<bool, Error>| works.is_ok_and(|works| !works);
        if let Some(token) = &grounds.token
            && is_over(self.tokens().works(token))
        {
            return Some(Revocation::Token);
        }
        if let Some(session) = &grounds.session
            && is_over(self.page_sessions().works(session.reveal()))
        {
            return Some(Revocation::Session);
        }
        if groups.is_empty() {
            return None;
        }
        let own = user.groups.get_or_init(|| self.groups_of(&grounds.user));
        let own = own.as_ref()?;
        let is_out = groups.iter().any(|group| !own.contains(group));
        is_out.then_some(Revocation::Membership)
    }

    /// Returns the reason why the trust in a user has ended, if it has.
    fn account_revocation(&self, user: &UserId) -> Option<Revocation> {
        let standing = self.registry.standing(user.as_str());
        // A row that cannot be read now is read the next time.
        let standing = standing.ok().flatten();
        if standing.is_some_and(|standing| standing.suspended_at.is_some()) {
            Some(Revocation::Suspended)
        } else {
            self.is_gone(user).then_some(Revocation::Account)
        }
    }

    /// Returns the groups of a user, if the group directory can be asked without the user.
    fn groups_of(&self, user: &UserId) -> Option<Vec<GroupId>> {
        if self.settings.groups == GroupSource::Headers {
            return None;
        }
        let caller = Caller::known(user.clone(), Chat::default());
        let groups = self.asked_groups(&caller).ok()?;
        Some(groups.into_iter().map(|group| group.id).collect())
    }
}

/// The users that were looked up in one round of checks.
type KnownUsers = HashMap<UserId, KnownUser>;

struct KnownUser {
    revocation: Option<Revocation>,
    ended_at: Option<i64>,
    groups: OnceCell<Option<Vec<GroupId>>>,
}

fn watch(store: &Weak<Store>, clock: &Clock, look: Duration) {
    loop {
        clock.sleep(look);
        let Some(store) = store.upgrade() else { return };
        let live = store.trusts.live();
        if live.is_empty() {
            return;
        }
        store.end_untrusted(&live);
    }
}
