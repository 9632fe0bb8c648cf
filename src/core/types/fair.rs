//! Places that users share fairly.
//!
//! A call waits while all places are taken. A place that becomes free goes to the next user in a round
//! robin, however many calls each user has waiting. Even a single user gets only a part, so that a later
//! user finds a place. The part is either a fixed number, or as many places as are still free (dynamic
//! thresholds, Choudhury and Hahne 1998: beside one such user half stays free, beside two a third).

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::cancellation::Cancellation;
use crate::{Clock, Mutex, Timings};

/// Interval at which a waiting thread checks that its caller is still there.
const ATTENTION: Duration = Timings::STANDARD.calls.attention;

/// Waiting calls of one user that a full server still keeps.
const ASIDE_ALWAYS: u64 = 4;

/// Limits on the places.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// All places.
    pub total: u64,
    /// Most that one user holds.
    pub per_user: u64,
    /// Nobody holds more than are still free.
    pub dynamic: bool,
    /// Calls of one user that may have set their place aside; more of them are not let in.
    pub aside_per_user: u64,
    /// Calls of all users that may have set their place aside, beside the first few of each user.
    pub aside_total: u64,
    /// The same with those: each keeps a thread, of which there are no more.
    pub aside_most: u64,
}

impl Shares {
    /// Limits each user, and all users together, to fixed numbers.
    pub const fn fixed(per_user: u64, total: u64) -> Self {
        Self {
            total,
            per_user,
            dynamic: false,
            aside_per_user: u64::MAX,
            aside_total: u64::MAX,
            aside_most: u64::MAX,
        }
    }

    /// Limits a user to as many places as stay free for others.
    pub const fn dynamic(total: u64) -> Self {
        Self {
            dynamic: true,
            ..Self::fixed(total, total)
        }
    }

    /// Returns the most that one user holds while nobody else does.
    pub fn of_one(&self) -> u64 {
        if self.dynamic {
            self.per_user.min(self.total.div_ceil(2))
        } else {
            self.per_user
        }
    }
}

/// Why a place is not to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The user holds as many as one user may.
    User,
    /// All are taken.
    All,
}

/// The number of places that are taken, and of calls that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Places that are taken.
    pub held: u64,
    /// Calls that wait for one.
    pub waiting: u64,
    /// All places.
    pub total: u64,
}

/// A counting semaphore that is fair to users.
#[derive(Clone)]
pub struct FairSemaphore {
    state: Arc<Mutex<LimiterState>>,
    clock: Clock,
}

impl fmt::Debug for FairSemaphore {
    /// Hides the names of the users who wait.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FairSemaphore")
            .field("held", &self.state.lock().held)
            .finish_non_exhaustive()
    }
}

struct LimiterState {
    shares: Shares,
    held: u64,
    aside: u64,
    lanes: HashMap<String, Lane>,
    /// Users with somebody waiting, the next one first.
    order: VecDeque<String>,
    tickets: u64,
}

#[derive(Default)]
struct Lane {
    held: u64,
    aside: u64,
    waiting: VecDeque<Waiter>,
}

struct Waiter {
    ticket: u64,
    amount: u64,
    wake: GrantCallback,
}

/// Receives places that have become free. If it drops them, the next waiting call gets them.
pub type GrantCallback = Box<dyn FnOnce(Grant) + Send>;

/// Places that a user holds. When it is dropped, they are free.
#[derive(Debug)]
pub struct Grant {
    semaphore: FairSemaphore,
    user: String,
    amount: u64,
    aside: bool,
}

/// A place in the queue. Dropped, it is gone.
#[derive(Debug)]
#[must_use = "who does not hold its place in the queue does not wait"]
pub struct Waiting {
    semaphore: FairSemaphore,
    user: String,
    ticket: u64,
}

impl FairSemaphore {
    /// Creates a semaphore with all places free. `clock` measures the waiting times.
    pub(crate) fn new(shares: Shares, clock: &Clock) -> Self {
        let state = LimiterState {
            shares,
            held: 0,
            aside: 0,
            lanes: HashMap::new(),
            order: VecDeque::new(),
            tickets: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            clock: clock.clone(),
        }
    }

    /// Returns the clock that measures the waiting times.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Takes so many places now, or waits for them: `wake` gets them then.
    pub fn request(&self, user: &str, amount: u64, wake: GrantCallback) -> Result<Grant, Waiting> {
        let mut state = self.state.lock();
        let amount = amount.min(state.shares.total);
        let waits = !state.lane(user).waiting.is_empty();
        if !waits && state.fits(user, amount).is_ok() {
            return Ok(state.grant(self, user, amount));
        }
        state.tickets += 1;
        let ticket = state.tickets;
        if !waits {
            state.order.push_back(user.to_owned());
        }
        state.lane(user).waiting.push_back(Waiter {
            ticket,
            amount,
            wake,
        });
        Err(Waiting {
            semaphore: self.clone(),
            user: user.to_owned(),
            ticket,
        })
    }

    /// Takes one place if one is free for this user now.
    pub fn try_take(&self, user: &str) -> Result<Grant, Full> {
        let mut state = self.state.lock();
        state.fits(user, 1)?;
        Ok(state.grant(self, user, 1))
    }

    pub(crate) fn set_shares(&self, shares: Shares) {
        self.change(|state| state.shares = shares);
    }

    /// Takes one place; blocks for at most `patience`. Fails if there is none by then or the caller goes
    /// away.
    pub fn take(
        &self,
        user: &str,
        patience: Duration,
        cancellation: &Cancellation,
    ) -> Result<Grant, Full> {
        self.take_many(user, 1, patience, cancellation)
    }

    /// Takes several places at once.
    pub fn take_many(
        &self,
        user: &str,
        amount: u64,
        patience: Duration,
        cancellation: &Cancellation,
    ) -> Result<Grant, Full> {
        let deadline = self.clock.instant() + patience;
        let (sender, granted) = mpsc::sync_channel(1);
        // If nobody receives the grant any more, it is dropped, which frees its place.
        let wake = move |grant| drop(sender.try_send(grant));
        let _waiting = match self.request(user, amount, Box::new(wake)) {
            Ok(grant) => return Ok(grant),
            Err(waiting) => waiting,
        };
        loop {
            let left = self.clock.left(deadline);
            if let Ok(grant) = self.clock.receive(&granted, left.min(ATTENTION)) {
                return Ok(grant);
            }
            if left.is_zero() || cancellation.is_cancelled() {
                return Err(self.full(user));
            }
        }
    }

    /// Takes so many places at once, even more than there are, because what needs them exists already.
    #[must_use]
    pub fn force(&self, user: &str, amount: u64) -> Grant {
        self.state.lock().grant(self, user, amount)
    }

    /// Returns the reason why a user gets no place now.
    pub fn full(&self, user: &str) -> Full {
        let state = self.state.lock();
        state.fits(user, 1).err().unwrap_or(Full::All)
    }

    /// Calls of this user that wait.
    pub fn waiting_of(&self, user: &str) -> usize {
        let state = self.state.lock();
        state.lanes.get(user).map_or(0, |lane| lane.waiting.len())
    }

    /// Returns the occupancy now.
    pub fn occupancy(&self) -> Occupancy {
        let state = self.state.lock();
        let waiting = state.lanes.values().map(|lane| lane.waiting.len() as u64);
        Occupancy {
            held: state.held,
            waiting: waiting.sum(),
            total: state.shares.total,
        }
    }

    /// Changes what is held, and hands on what became free.
    fn change<T>(&self, change: impl FnOnce(&mut LimiterState) -> T) -> T {
        let mut state = self.state.lock();
        let changed = change(&mut state);
        let granted = state.hand_on(self);
        drop(state);
        for (wake, grant) in granted {
            wake(grant);
        }
        changed
    }
}

impl LimiterState {
    fn fits(&self, user: &str, amount: u64) -> Result<(), Full> {
        let shares = &self.shares;
        let (held, aside) = self
            .lanes
            .get(user)
            .map_or((0, 0), |lane| (lane.held, lane.aside));
        let free = shares.total.saturating_sub(self.held);
        if held + amount > shares.per_user || aside >= shares.aside_per_user {
            return Err(Full::User);
        }
        if amount > free {
            return Err(Full::All);
        }
        if shares.dynamic && held + amount > free {
            return Err(Full::User);
        }
        Ok(())
    }

    fn grant(&mut self, semaphore: &FairSemaphore, user: &str, amount: u64) -> Grant {
        self.shift(user, amount as i64, 0);
        Grant {
            semaphore: semaphore.clone(),
            user: user.to_owned(),
            amount,
            aside: false,
        }
    }

    fn lane(&mut self, user: &str) -> &mut Lane {
        self.lanes.entry(user.to_owned()).or_default()
    }

    /// Adds to what a user holds, and to what the user has set aside.
    fn shift(&mut self, user: &str, held: i64, aside: i64) {
        let lane = self.lane(user);
        lane.held = lane.held.saturating_add_signed(held);
        lane.aside = lane.aside.saturating_add_signed(aside);
        self.held = self.held.saturating_add_signed(held);
        self.aside = self.aside.saturating_add_signed(aside);
    }

    fn forget_if_idle(&mut self, user: &str) {
        let is_idle = |lane: &Lane| lane.held == 0 && lane.aside == 0 && lane.waiting.is_empty();
        if self.lanes.get(user).is_some_and(is_idle) {
            self.lanes.remove(user);
        }
    }

    /// Gives free places to waiting calls, one after the other.
    fn hand_on(&mut self, semaphore: &FairSemaphore) -> Vec<(GrantCallback, Grant)> {
        let mut granted = Vec::new();
        let mut passed_over = 0;
        while passed_over < self.order.len() {
            let Some(user) = self.order.pop_front() else {
                break;
            };
            let next = self.lane(&user).waiting.front();
            let Some(amount) = next.map(|waiter| waiter.amount) else {
                continue;
            };
            match self.fits(&user, amount) {
                Ok(()) => {
                    let waiter = self.lane(&user).waiting.pop_front();
                    if let Some(waiter) = waiter {
                        granted.push((waiter.wake, self.grant(semaphore, &user, amount)));
                    }
                    if !self.lane(&user).waiting.is_empty() {
                        self.order.push_back(user);
                    }
                    passed_over = 0;
                }
                Err(Full::User) => {
                    self.order.push_back(user);
                    passed_over += 1;
                }
                Err(Full::All) => {
                    self.order.push_front(user);
                    break;
                }
            }
        }
        granted
    }
}

impl Grant {
    /// Returns the user who holds it.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the number of places.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Adds the places of another grant of the same user.
    pub fn join(&mut self, mut other: Self) {
        self.amount += std::mem::take(&mut other.amount);
    }

    /// Changes the number of places at once, even to more than there are, because what needs them exists
    /// already.
    pub fn resize(&mut self, amount: u64) {
        let before = std::mem::replace(&mut self.amount, amount);
        let more = amount as i64 - before as i64;
        self.semaphore
            .change(|state| state.shift(&self.user, more, 0));
    }

    /// Gives the places to other users until they are needed again. Returns `false` if too many grants
    /// are set aside: each keeps a thread busy.
    fn set_aside(&mut self) -> bool {
        let amount = self.amount as i64;
        self.aside = self.semaphore.change(|state| {
            let is_full = state.aside >= state.shares.aside_total;
            let is_at_end = state.aside >= state.shares.aside_most;
            if is_at_end || is_full && state.lane(&self.user).aside >= ASIDE_ALWAYS {
                return false;
            }
            state.shift(&self.user, -amount, amount);
            true
        });
        self.aside
    }

    /// Takes the places back at once. Their user may hold what others wait for, and so must not wait for
    /// them.
    fn take_up(&mut self) {
        if std::mem::take(&mut self.aside) {
            let amount = self.amount as i64;
            self.semaphore
                .change(|state| state.shift(&self.user, amount, -amount));
        }
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.take_up();
        if self.amount > 0 {
            self.resize(0);
        }
        let mut state = self.semaphore.state.lock();
        state.forget_if_idle(&self.user);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.semaphore.state.lock();
        let lane = state.lane(&self.user);
        let at = lane
            .waiting
            .iter()
            .position(|waiter| waiter.ticket == self.ticket);
        let gone = at.and_then(|at| lane.waiting.remove(at));
        if lane.waiting.is_empty() {
            state.order.retain(|user| *user != self.user);
        }
        state.forget_if_idle(&self.user);
        drop(state);
        // Dropping its callback may drop a grant, which takes the lock.
        drop(gone);
        self.semaphore.change(|_| {});
    }
}

/// The place of a call among those that run. While the call waits for another one, it gives the place to
/// other calls.
#[derive(Clone, Debug, Default)]
#[must_use = "dropped, it gives the place back"]
pub struct CallSlot(Option<Arc<Mutex<Grant>>>);

impl CallSlot {
    /// Creates a place that is given back when the last copy is dropped.
    pub fn new(grant: Grant) -> Self {
        Self(Some(Arc::new(Mutex::new(grant))))
    }

    /// Waits without holding the place. `None`, without waiting, if too many calls wait already.
    pub fn while_waiting<T>(&self, wait: impl FnOnce() -> T) -> Option<T> {
        let Some(grant) = &self.0 else {
            return Some(wait());
        };
        let lock = || grant.lock();
        if !lock().set_aside() {
            return None;
        }
        let waited = wait();
        lock().take_up();
        Some(waited)
    }
}

#[cfg(test)]
mod tests;
