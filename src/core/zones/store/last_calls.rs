//! Times of the last calls of users. A call only notes its time in memory; once a minute a thread records
//! the notes, so a server that is killed forgets at most that minute.

use std::collections::HashMap;
use std::sync::Arc;

use super::{SHARED, Store};
use fileshed_storage::DiskError;
use fileshed_types::{Background, Caller, Error, Mutex, UserId};

/// Unix seconds of calls that are not recorded yet, by user.
#[derive(Debug, Default)]
pub(super) struct LastCalls(Mutex<HashMap<Option<UserId>, i64>>);

impl LastCalls {
    fn note(&self, user: Option<&UserId>, now: i64) {
        let mut known = self.0.lock();
        let last = known.entry(user.cloned()).or_default();
        *last = now.max(*last);
    }

    fn noted(&self) -> HashMap<Option<UserId>, i64> {
        self.0.lock().clone()
    }

    /// Forgets what is recorded by now.
    fn forget(&self, recorded: &HashMap<Option<UserId>, i64>) {
        let mut known = self.0.lock();
        known.retain(|user, at| recorded.get(user).is_none_or(|old| *at > *old));
    }
}

impl Store {
    /// Starts the thread that records the last calls, at intervals and once more at its end.
    pub fn start_recording_calls(self: &Arc<Self>) -> Result<Background, Error> {
        let store = Arc::clone(self);
        let started = Background::start("last calls", move |stop| {
            let pause = store.settings.timings.rounds.last_calls;
            let mut goes_on = true;
            while goes_on {
                goes_on = !stop.is_given_within(&store.clock, pause);
                if let Err(error) = store.record_calls() {
                    tracing::warn!(%error, "the times of last calls could not be recorded");
                }
            }
        });
        Ok(started.map_err(DiskError::server)?)
    }

    /// Notes that somebody calls.
    pub fn called(&self, caller: &Caller) {
        let now = self.clock.now().as_second();
        self.last_calls.note(caller.user.as_ref(), now);
    }

    /// Returns the times of the tenants' last calls, in Unix seconds.
    pub fn last_calls(&self) -> Result<HashMap<String, i64>, Error> {
        let mut calls = self.registry.recorded_calls()?;
        for (user, at) in self.last_calls.noted() {
            if let Some(tenant) = self.tenant_that_called(user.as_ref()) {
                let last = calls.entry(tenant).or_insert(at);
                *last = (*last).max(at);
            }
        }
        Ok(calls)
    }

    fn record_calls(&self) -> Result<(), Error> {
        let noted = self.last_calls.noted();
        let calls: Vec<(String, i64)> = noted
            .iter()
            .filter_map(|(user, at)| Some((self.tenant_that_called(user.as_ref())?, *at)))
            .collect();
        if !calls.is_empty() {
            let calls = calls.iter().map(|(tenant, at)| (tenant.as_str(), *at));
            self.registry.record_calls(calls)?;
        }
        self.last_calls.forget(&noted);
        Ok(())
    }

    fn tenant_that_called(&self, user: Option<&UserId>) -> Option<String> {
        match user {
            None => Some(SHARED.to_owned()),
            Some(user) => self.tenant_of_user(user).ok(),
        }
    }
}
