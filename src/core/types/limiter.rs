//! The limiter of a server: a named pool of places for everything that is under way, or waited for,
//! at once.
//!
//! Each pool has a share per user, and only this module creates pools. So every bound works in the same
//! way, and none is a total alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fair::{FairSemaphore, Occupancy, Shares};
use crate::{Clock, Mutex};

/// Declares the pools, and the list of all of them.
macro_rules! pools {
    ($($(#[$about:meta])* $Pool:ident,)+) => {
        /// A pool of places.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Pool {
            $($(#[$about])* $Pool,)+
        }

        impl Pool {
            /// Every pool.
            pub const ALL: [Self; [$(Self::$Pool),+].len()] = [$(Self::$Pool),+];
        }
    };
}

pools! {
    /// Requests whose answers are not complete, by user, or by address until the user is known.
    Requests,
    /// Calls that run.
    Calls,
    /// Bytes of bodies and answers, beyond those that come with a call.
    Bytes,
    /// Calls that wait for a process, or for another server, and hold no place among those that run.
    Waits,
    /// Sockets of shells whose clients have not said who they are.
    Handshakes,
    /// Credentials that are looked up in the registry.
    Lookups,
    /// Sessions that Open WebUI is asked about.
    Sessions,
    /// The same for sessions whose signature is right, which forged ones must not delay.
    SignedSessions,
    /// Questions to the provider that people sign in with.
    SignIns,
    /// Streams that tell of changes of resources.
    Subscriptions,
    /// Looks for such changes.
    Looks,
    /// Refusals of wrong credentials, which are slow, by address.
    Refusals,
    /// Passwords of links that are checked or wait for it, by link and address.
    LinkGuessers,
    /// Passwords of links that are checked, by link.
    LinkGuesses,
    /// The same from browsers that had the password before.
    KnownLinkGuesses,
    /// Looks at what links lead to, by the links' makers.
    LinkLooks,
    /// Commands that run.
    Commands,
    /// Background processes.
    Processes,
    /// Lines of shells that run.
    Lines,
    /// Interactive shells.
    Shells,
    /// Uploads and downloads.
    Transfers,
    /// Those through links, by the links' makers.
    LinkTransfers,
    /// Those through one link, by link.
    OneLinkTransfers,
    /// Changes, one at a time, by zone.
    Writers,
}

/// All pools of a server.
#[derive(Clone, Debug)]
pub struct Limiter {
    pools: Arc<Mutex<BTreeMap<Pool, FairSemaphore>>>,
    clock: Clock,
}

impl Limiter {
    /// Creates a limiter without pools. `clock` measures the waiting times.
    pub fn new(clock: &Clock) -> Self {
        Self {
            pools: Arc::default(),
            clock: clock.clone(),
        }
    }

    /// Returns the clock by which callers wait.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns a pool, which has these shares from now on.
    pub fn open(&self, pool: Pool, shares: Shares) -> FairSemaphore {
        let mut pools = self.pools.lock();
        if let Some(found) = pools.get(&pool) {
            found.set_shares(shares);
            return found.clone();
        }
        let made = FairSemaphore::new(shares, &self.clock);
        pools.insert(pool, made.clone());
        made
    }

    /// Returns a pool; `None` if no part of the server uses it.
    pub fn get(&self, pool: Pool) -> Option<FairSemaphore> {
        self.pools.lock().get(&pool).cloned()
    }

    /// Returns how far a pool is taken.
    pub fn occupancy(&self, pool: Pool) -> Option<Occupancy> {
        self.get(pool).map(|places| places.occupancy())
    }
}
