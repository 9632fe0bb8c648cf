//! Write leases of this process, if several machines share the data: rows of the registry.
//!
//! A process that has a place keeps it while nobody else wants it, so that one that works alone asks once.
//! It renews its lease all the time; if it could not for a while, it stops by its own clock, before others
//! take over by the clock of the database. A process that slept meanwhile cannot commit: its staged files
//! are gone, and its intents are not its own any more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::process_identity::{self, ProcessIdentity};
use fileshed_registry::{LeaseNotice, LeaseNotices, NewInstance, Registry, RegistryError};
use fileshed_storage::{DiskError, Root};
use fileshed_types::timings::InstanceTimings;
use fileshed_types::{Background, Clock, Error, Mutex, Settings, StopSign, ZonePath};

/// Connections for the leases alone, so that calls cannot keep this process from renewing its lease.
const CONNECTIONS: u64 = 4;

/// The leases of this process.
#[derive(Debug)]
pub(crate) struct WriteLeases {
    pub(crate) shared: Arc<LeaseKeeper>,
    thread: Option<Background>,
}

#[derive(Debug)]
pub(crate) struct LeaseKeeper {
    pub(crate) registry: Registry,
    name: String,
    /// Its name for people.
    label: String,
    process: ProcessIdentity,
    /// By the clock that also runs while the machine sleeps, in milliseconds.
    alive_until: AtomicU64,
    pub(crate) taken_for_dead: AtomicBool,
    state: Mutex<LeaseState>,
    changed: Condvar,
    clock: Clock,
    timings: InstanceTimings,
}

#[derive(Debug, Default)]
struct LeaseState {
    places: HashMap<String, PlaceState>,
    /// Counts notices. A waiting thread compares the count to see that one came.
    notices: u64,
    /// Tenants in which dead processes left something unfinished.
    left: Vec<String>,
}

/// The state of a place in this process.
#[derive(Debug)]
enum PlaceState {
    /// A thread waits for it or writes in it; `wanted` if other processes wait for it.
    Used { wanted: bool },
    /// Held, but not in use.
    Idle { since: Instant },
    /// It is being given back. Threads wait until that is done, or a new lease would be given back with it.
    Leaving,
}

/// The right to write in one place, against other processes.
#[derive(Debug)]
pub(crate) struct WriteLease {
    shared: Arc<LeaseKeeper>,
    place: String,
}

impl WriteLeases {
    /// Registers this process, and starts to renew its lease.
    pub(crate) fn start(
        data: &Root,
        settings: &Settings,
        clock: &Clock,
        name: &str,
    ) -> Result<Self, Error> {
        let settings = Settings {
            registry_connections: CONNECTIONS,
            ..settings.clone()
        };
        let shared = Arc::new(LeaseKeeper {
            registry: Registry::open(data, &settings)?,
            name: name.to_owned(),
            label: match settings.instance_name.as_str() {
                "" => process_identity::host_name(),
                label => label.to_owned(),
            },
            process: process_identity::own(),
            alive_until: AtomicU64::new(0),
            taken_for_dead: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
            clock: clock.clone(),
            timings: settings.timings.instances.clone(),
        });
        shared.enter()?;
        let keeper = Arc::clone(&shared);
        let thread = Background::start("leases", move |stop| keeper.work(stop));
        let fail = |error| DiskError::of("lock", &ZonePath::root(), error);
        Ok(Self {
            shared,
            thread: Some(thread.map_err(fail)?),
        })
    }

    /// Takes a place that this process holds and no other process waits for.
    pub(crate) fn take_at_hand(&self, place: &str) -> Result<Option<WriteLease>, Error> {
        let mut state = self.shared.state.lock();
        let Some(at_hand @ PlaceState::Idle { .. }) = state.places.get_mut(place) else {
            return Ok(None);
        };
        self.shared.expect_alive()?;
        *at_hand = PlaceState::Used { wanted: false };
        Ok(Some(self.lease(place)))
    }

    fn lease(&self, place: &str) -> WriteLease {
        WriteLease {
            shared: Arc::clone(&self.shared),
            place: place.to_owned(),
        }
    }

    /// Waits for a place until a moment; `None` if that passed. No two threads of this process may wait
    /// for the same place at the same time.
    pub(crate) fn take(&self, place: &str, until: Instant) -> Result<Option<WriteLease>, Error> {
        if let Some(lease) = self.take_at_hand(place)? {
            return Ok(Some(lease));
        }
        let shared = &self.shared;
        if !shared.reserve(place, until) {
            return Ok(None);
        }
        let taken = shared.line_up(place, until);
        if !matches!(taken, Ok(true)) {
            shared.state.lock().places.remove(place);
        }
        Ok(taken?.then(|| self.lease(place)))
    }

    /// Returns the tenants in which dead processes left a change unfinished; waits a moment for the first.
    pub(crate) fn tenants_left(&self, patience: Duration) -> Vec<String> {
        let shared = &self.shared;
        let deadline = shared.clock.instant() + patience;
        let waits = |state: &mut LeaseState| {
            state.left.is_empty() && !shared.taken_for_dead.load(Ordering::Acquire)
        };
        let mut state =
            shared
                .clock
                .wait_while(&shared.changed, shared.state.lock(), deadline, waits);
        std::mem::take(&mut state.left)
    }
}

impl Drop for WriteLeases {
    fn drop(&mut self) {
        // The thread ends first.
        self.thread = None;
        if let Err(error) = self.shared.registry.leave_instance(&self.shared.name) {
            tracing::warn!(
                %error,
                "this server could not be removed from the registry: other servers wait for its \
                 zones"
            );
        }
    }
}

impl Drop for WriteLease {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        let Some(place) = state.places.get_mut(&self.place) else {
            return;
        };
        if matches!(place, PlaceState::Used { wanted: true }) {
            *place = PlaceState::Leaving;
            drop(state);
            self.shared.leave(&self.place);
        } else {
            *place = PlaceState::Idle {
                since: self.shared.clock.instant(),
            };
        }
    }
}

impl LeaseKeeper {
    fn enter(&self) -> Result<(), Error> {
        self.reap()?;
        let begun = now();
        let new = NewInstance {
            name: &self.name,
            label: &self.label,
            process: self.process.as_str(),
        };
        self.registry.enter_instance(&new, self.timings.lease)?;
        self.lives_from(begun);
        Ok(())
    }

    fn lives_from(&self, begun: u64) {
        let until = begun.saturating_add(self.timings.trusted.as_millis() as u64);
        self.alive_until.store(until, Ordering::Release);
    }

    /// Fails if others may have taken this process for dead.
    pub(crate) fn expect_alive(&self) -> Result<(), Error> {
        if now() < self.alive_until.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(RegistryError::TakenOver.into())
    }

    /// Reserves a place, so that it is not given away before it is used. Waits while it is being given
    /// back; returns `false` if that takes too long.
    fn reserve(&self, place: &str, until: Instant) -> bool {
        let is_leaving =
            |state: &mut LeaseState| matches!(state.places.get(place), Some(PlaceState::Leaving));
        let mut state = self
            .clock
            .wait_while(&self.changed, self.state.lock(), until, is_leaving);
        if is_leaving(&mut state) {
            return false;
        }
        let reserved = PlaceState::Used { wanted: false };
        state.places.insert(place.to_owned(), reserved);
        true
    }

    /// Requests a place from the registry, and waits for it. Returns `true` if it came in time.
    fn line_up(&self, place: &str, until: Instant) -> Result<bool, Error> {
        loop {
            self.expect_alive()?;
            let told = self.state.lock().notices;
            if self.registry.take_lease(place, &self.name)? {
                self.expect_alive()?;
                return Ok(true);
            }
            if self.clock.is_past(until) {
                self.registry.stop_waiting(place, &self.name)?;
                return Ok(false);
            }
            let recheck = until.min(self.clock.instant() + self.timings.recheck);
            let waited =
                self.clock
                    .wait_while(&self.changed, self.state.lock(), recheck, |state| {
                        state.notices == told
                    });
            drop(waited);
        }
    }

    /// Gives back a place that is leaving.
    fn leave(&self, place: &str) {
        if let Err(error) = self.registry.give_lease(place, &self.name) {
            // It is given when the next round finds that others wait for it.
            tracing::warn!(%error, "a write lease could not be released yet");
        }
        self.state.lock().places.remove(place);
        self.changed.notify_all();
    }

    /// Hands a place over to other processes that wait for it, as soon as no thread here writes in it.
    fn hand_over(&self, place: &str) {
        let mut state = self.state.lock();
        match state.places.get_mut(place) {
            Some(PlaceState::Used { wanted }) => *wanted = true,
            Some(PlaceState::Leaving) => {}
            Some(PlaceState::Idle { .. }) | None => {
                state.places.insert(place.to_owned(), PlaceState::Leaving);
                drop(state);
                self.leave(place);
            }
        }
    }

    fn work(&self, stop: &StopSign) {
        let mut notices: Option<LeaseNotices> = None;
        let mut due = self.clock.instant();
        while !stop.is_given() {
            if self.clock.is_past(due) {
                due = self.clock.instant() + self.timings.round;
                self.round();
            }
            let heard = match &mut notices {
                Some(notices) => notices.next(self.timings.listening),
                None => match self.registry.lease_notices(&self.name) {
                    Ok(begun) => {
                        notices = Some(begun);
                        // Notices from before this subscription are lost, so a round is due now.
                        due = self.clock.instant();
                        Ok(None)
                    }
                    Err(error) => Err(error),
                },
            };
            match heard {
                Ok(None) => {}
                Ok(Some(LeaseNotice::Wanted(place))) => self.hand_over(&place),
                Ok(Some(LeaseNotice::Granted(_) | LeaseNotice::Freed)) => self.tell(),
                Err(error) => {
                    tracing::debug!(%error, "the registry did not answer");
                    notices = None;
                    self.clock.sleep(self.timings.listening);
                }
            }
        }
    }

    fn tell(&self) {
        self.state.lock().notices += 1;
        self.changed.notify_all();
    }

    /// Renews the lease of this process, removes dead processes, and gives back places that it does not need.
    fn round(&self) {
        let begun = now();
        match self.registry.renew_instance(&self.name, self.timings.lease) {
            Ok(true) => self.lives_from(begun),
            Ok(false) => {
                self.alive_until.store(0, Ordering::Release);
                if !self.taken_for_dead.swap(true, Ordering::AcqRel) {
                    tracing::error!(
                        "this server stood still for too long: other servers took over its work"
                    );
                }
                self.changed.notify_all();
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the registry could not be told that this server is alive");
                return;
            }
        }
        let tidied = self.reap().and_then(|()| {
            for place in self.registry.wanted_leases(&self.name)? {
                self.hand_over(&place);
            }
            Ok(())
        });
        if let Err(error) = tidied {
            tracing::warn!(%error, "the unfinished changes of other servers could not be read");
        }
        let is_idle = |place: &PlaceState| match place {
            PlaceState::Idle { since } => self.clock.elapsed(*since) > self.timings.idle,
            _ => false,
        };
        let state = self.state.lock();
        let idle = state.places.iter().filter(|(_, place)| is_idle(place));
        let idle: Vec<String> = idle.map(|(name, _)| name.clone()).collect();
        drop(state);
        for place in idle {
            self.hand_over(&place);
        }
    }

    pub(crate) fn reap(&self) -> Result<(), RegistryError> {
        let left = self
            .registry
            .reap_instances(|process| self.process.knows_the_end_of(process))?;
        if !left.is_empty() {
            self.state.lock().left.extend(left);
            self.tell();
        }
        Ok(())
    }
}

fn now() -> u64 {
    let time = clock_gettime(ClockId::Boottime);
    (time.tv_sec as u64) * 1000 + (time.tv_nsec as u64) / 1_000_000
}

#[cfg(test)]
mod tests;
