//! Admission control: how many calls run at once, and how much memory their bodies and answers use.
//!
//! Both are shared fairly between users. A call gets its permit before its body is read and keeps it
//! until its answer has been written out. One mebibyte of body and answer comes with the permit;
//! what is beyond is counted against a budget.

use std::sync::Arc;
use std::time::Duration;

use fileshed_core::cancellation::Cancellation;
use fileshed_core::fair::{CallSlot, FairSemaphore, Full, Grant, Shares};
use fileshed_core::limiter::{Limiter, Pool};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Clock, Mutex, diagnostics};
use tokio::sync::oneshot;

use super::timer;
use crate::config::Config;

/// After how many seconds a call may come back that got no permit.
const COME_BACK: u64 = 5;
/// Bytes of body and answer that come with each permit.
const INCLUDED_BYTES: u64 = MEBIBYTE;
/// Calls of all users that may wait for a zone, with the first few of each user.
pub(super) const MOST_WAITING: u64 = 512;
/// Subscriptions of one user.
pub(super) const SUBSCRIPTIONS_PER_USER: u64 = 8;

/// The pools of the surfaces.
#[derive(Debug)]
pub(super) struct Admission {
    calls: FairSemaphore,
    bytes: FairSemaphore,
    /// Waits without a place among the calls that run.
    waits: FairSemaphore,
    /// Credentials that are looked up in the registry: each takes a moment and a thread.
    lookups: FairSemaphore,
    /// Sockets of shells whose clients have not said who they are.
    pub(super) handshakes: FairSemaphore,
    /// Streams that tell of changes.
    pub(super) subscriptions: FairSemaphore,
    /// Looks for changes.
    pub(super) looks: FairSemaphore,
    /// Slow refusals of wrong credentials, by the address that sent them.
    pub(super) refusals: FairSemaphore,
    /// Passwords of links that are checked or wait for it: one of a link and an address at a time.
    pub(super) guessers: FairSemaphore,
    /// Passwords of links that are checked: one of a link at a time, because each takes 7 MiB.
    pub(super) guesses: FairSemaphore,
    /// The same from browsers that had the password before, which strangers must not delay.
    pub(super) known_guesses: FairSemaphore,
    /// Looks at what links lead to, which slow downloads must not delay.
    link_looks: FairSemaphore,
    /// Time for which a call waits for its permit.
    patience: Duration,
}

/// The right to run one call. Dropping it frees its place and its bytes.
#[derive(Debug)]
pub(super) struct CallPermit {
    place: CallSlot,
    bytes: FairSemaphore,
    patience: Duration,
    user: String,
    /// Its share of the budget.
    held: Option<Grant>,
}

/// The place of a permit that one part of a request leaves for another.
pub(super) type PermitSlot = Arc<Mutex<Option<CallPermit>>>;

impl Admission {
    pub(super) fn new(config: &Config, limiter: &Limiter) -> Self {
        let largest = config.max_body_mb.saturating_mul(MEBIBYTE);
        // Calls that wait for a zone, each in a thread; more are refused.
        let calls = Shares {
            aside_per_user: 64,
            aside_total: 256,
            aside_most: MOST_WAITING,
            ..Shares::dynamic(config.max_concurrent_calls)
        };
        let bytes = largest.saturating_mul(2).saturating_add(64 * MEBIBYTE);
        let subscriptions = Shares::fixed(SUBSCRIPTIONS_PER_USER, 256);
        Self {
            calls: limiter.open(Pool::Calls, calls),
            bytes: limiter.open(Pool::Bytes, Shares::dynamic(bytes)),
            waits: limiter.open(Pool::Waits, Shares::fixed(64, 1024)),
            lookups: limiter.open(Pool::Lookups, Shares::dynamic(16)),
            handshakes: limiter.open(Pool::Handshakes, Shares::dynamic(128)),
            subscriptions: limiter.open(Pool::Subscriptions, subscriptions),
            looks: limiter.open(Pool::Looks, Shares::dynamic(4)),
            refusals: limiter.open(Pool::Refusals, Shares::fixed(8, 64)),
            guessers: limiter.open(Pool::LinkGuessers, Shares::fixed(1, 256)),
            guesses: limiter.open(Pool::LinkGuesses, Shares::fixed(1, 16)),
            known_guesses: limiter.open(Pool::KnownLinkGuesses, Shares::fixed(1, 16)),
            link_looks: limiter.open(Pool::LinkLooks, Shares::fixed(4, 16)),
            patience: config.core.timings.calls.permit,
        }
    }

    /// Takes the right to wait without a place among the calls that run.
    pub(super) fn wait_permit(&self, user: &str) -> Result<Grant, AdmissionError> {
        Ok(self.waits.try_take(user)?)
    }

    /// Waits for the right to look up a credential in the registry.
    pub(super) async fn lookup(&self, who: &str) -> Result<Grant, AdmissionError> {
        Ok(wait(&self.lookups, who, 1, self.patience).await?)
    }

    /// Waits for the right to look at what a link of a user leads to.
    pub(super) async fn link_look(&self, user: &str) -> Result<Grant, AdmissionError> {
        let look = wait(&self.link_looks, user, 1, self.patience).await;
        // The visitors of a link share its maker's permits.
        look.map_err(|_| AdmissionError::Server)
    }

    /// Waits for the permit to run one call.
    pub(super) async fn admit(&self, user: &str) -> Result<CallPermit, AdmissionError> {
        let grant = wait(&self.calls, user, 1, self.patience).await?;
        Ok(CallPermit {
            place: CallSlot::new(grant),
            bytes: self.bytes.clone(),
            patience: self.patience,
            user: user.to_owned(),
            held: None,
        })
    }
}

impl CallPermit {
    /// By which clock the client is waited for.
    pub(super) fn clock(&self) -> &Clock {
        self.bytes.clock()
    }

    /// The place, for the core.
    pub(super) fn place(&self) -> CallSlot {
        self.place.clone()
    }

    /// Returns the bytes to reserve so that the call may hold `bytes`.
    fn missing(&self, bytes: u64) -> u64 {
        let held = self.held.as_ref().map_or(0, Grant::amount);
        bytes.saturating_sub(INCLUDED_BYTES).saturating_sub(held)
    }

    fn add(&mut self, grant: Grant) {
        match &mut self.held {
            Some(held) => held.join(grant),
            none => *none = Some(grant),
        }
    }

    /// Waits until it may hold `bytes` in all.
    pub(super) async fn reserve(&mut self, bytes: u64) -> Result<(), AdmissionError> {
        let missing = self.missing(bytes);
        if missing > 0 {
            let grant = wait(&self.bytes, &self.user, missing, self.patience).await?;
            self.add(grant);
        }
        Ok(())
    }

    /// [`Self::reserve`] for a thread that may block.
    pub(super) fn reserve_blocking(
        &mut self,
        bytes: u64,
        cancellation: &Cancellation,
    ) -> Result<(), AdmissionError> {
        let missing = self.missing(bytes);
        if missing > 0 {
            let grant = self
                .bytes
                .take_many(&self.user, missing, self.patience, cancellation)?;
            self.add(grant);
        }
        Ok(())
    }

    /// Sets how many bytes it holds, whatever it reserved.
    pub(super) fn set_held(&mut self, bytes: u64) {
        let bytes = bytes.saturating_sub(INCLUDED_BYTES);
        match &mut self.held {
            Some(held) if held.amount() != bytes => held.resize(bytes),
            None if bytes > 0 => self.held = Some(self.bytes.force(&self.user, bytes)),
            _ => {}
        }
    }
}

/// Waits for permits without blocking.
pub(super) async fn wait(
    places: &FairSemaphore,
    user: &str,
    amount: u64,
    patience: Duration,
) -> Result<Grant, Full> {
    let (sender, granted) = oneshot::channel();
    // If nobody receives the grant any more, it is dropped and thereby released.
    let wake = move |grant| drop(sender.send(grant));
    match places.request(user, amount, Box::new(wake)) {
        Ok(grant) => Ok(grant),
        Err(waiting) => {
            let granted = timer::within(places.clock(), patience, granted).await;
            drop(waiting);
            match granted {
                Some(Ok(grant)) => Ok(grant),
                _ => Err(places.full(user)),
            }
        }
    }
}

diagnostics! {
    /// There was no permit, or no memory, in time.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    pub(super) enum AdmissionError {
        /// The user has reached the limit of one user.
        #[error("you have the maximum number of calls in progress")]
        User => {
            code: Busy,
            hint: "call again in a few seconds",
            details: { "scope": "user" },
            retry_after: COME_BACK,
        },
        /// The server has reached its limit.
        #[error("the server is busy")]
        Server => {
            code: Busy,
            hint: "call again in a few seconds",
            details: { "scope": "server" },
            retry_after: COME_BACK,
        },
    }
}

impl From<Full> for AdmissionError {
    fn from(full: Full) -> Self {
        match full {
            Full::User => Self::User,
            Full::All => Self::Server,
        }
    }
}
