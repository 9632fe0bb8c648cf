//! Users who may do nothing any more: what runs for them ends, in the background and in their
//! shells.
//!
//! Their calls are refused by themselves; what outlives a call has to be looked at from time to time.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::background::OutputStream;
use crate::store::{Store, Suspended};
use crate::{Clock, Error, UserId, diagnostics};
use fileshed_storage::DiskError;

impl Store {
    /// Has somebody look, from now on until nothing runs any more. To be called when something has
    /// been entered that runs.
    pub(super) fn watch_departures(self: &Arc<Self>) -> Result<(), Error> {
        let mut watched = self.background().watched();
        if !*watched {
            let look = self.settings().timings.processes.departures;
            let (store, clock) = (Arc::downgrade(self), self.clock().clone());
            let thread = std::thread::Builder::new().name("departures".to_owned());
            thread
                .spawn(move || watch(&store, &clock, look))
                .map_err(DiskError::server)?;
            *watched = true;
        }
        Ok(())
    }

    /// The users for whom something runs.
    fn present_users(&self) -> HashSet<UserId> {
        let processes = self.background().running();
        let processes = processes.iter().filter_map(|process| process.user());
        let mut users: HashSet<UserId> = processes.cloned().collect();
        users.extend(self.shells().users());
        users
    }

    fn runs_anything(&self) -> bool {
        self.background().running_everywhere() > 0 || !self.shells().is_empty()
    }

    /// Why nothing is done for a user any more; nothing where it is.
    fn departure(&self, user: &UserId) -> Option<Error> {
        let standing = self.registry().standing(user.as_str());
        // What cannot be read now is read the next time.
        let standing = standing.ok().flatten();
        if standing.is_some_and(|standing| standing.suspended_at.is_some()) {
            Some(Suspended.into())
        } else {
            self.is_gone(user).then(|| NoAccount.into())
        }
    }

    fn end_departed(&self) {
        for user in self.present_users() {
            let Some(reason) = self.departure(&user) else {
                continue;
            };
            tracing::info!(%reason, "what runs for a user is ended");
            for process in self.background().running() {
                if process.user() == Some(&user) {
                    let text = format!("ended: {}\n", reason.message());
                    process.wrote(OutputStream::Stderr, text, self.clock().seconds());
                    process.stop(true);
                }
            }
            self.shells().stop_those_of(&user, &reason);
        }
    }
}

fn watch(store: &Weak<Store>, clock: &Clock, look: Duration) {
    loop {
        clock.sleep(look);
        let Some(store) = store.upgrade() else { return };
        let mut watched = store.background().watched();
        if !store.runs_anything() {
            *watched = false;
            return;
        }
        drop(watched);
        store.end_departed();
    }
}

diagnostics! {
    /// A user whom the application that people chat in has no more.
    #[derive(Debug, thiserror::Error)]
    #[error("the account does not exist any more")]
    pub(crate) struct NoAccount => {
        code: AccessDenied,
        hint: "an administrator of Open WebUI has removed it",
    }
}
