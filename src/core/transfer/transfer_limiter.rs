//! Limits on concurrent transfers of one user and of all, and on bytes that are arriving.
//!
//! A transfer waits for a moment while all permits are taken. Transfers through links have permits of their
//! own, so that they take neither all of the link's maker nor all of the server. A single link cannot take
//! all of them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use fileshed_types::fair::{FairSemaphore, Full, Grant, Shares};
use fileshed_types::limiter::{Limiter, Pool};
use fileshed_types::{Caller, Clock, Mutex, Settings, diagnostics};

/// Transfers that are under way.
#[derive(Clone, Debug)]
pub(crate) struct TransferLimiter {
    /// Bytes that uploads of a tenant hold beside what is stored, beyond what they will replace.
    arriving: Arc<Mutex<HashMap<String, TransferLane>>>,
    /// All transfers; those of a user in person and those of the user's links apart.
    all: TransferQueue,
    /// Those of all links, by their makers.
    of_links: TransferQueue,
    /// Those of each link.
    of_one_link: TransferQueue,
    /// Time for which a transfer waits for others to end.
    patience: Duration,
}

#[derive(Debug, Default)]
struct TransferLane {
    transfers: u64,
    bytes: u64,
}

/// A queue to stand in before a transfer.
#[derive(Clone, Debug)]
pub struct TransferQueue {
    /// Gives the place.
    pub places: FairSemaphore,
    shares: Shares,
}

impl TransferQueue {
    /// The failure of who got none.
    pub fn refusal(&self, full: Full) -> TransferBusyError {
        match full {
            Full::User => TransferBusyError::User {
                limit: self.shares.per_user,
            },
            Full::All => TransferBusyError::Server {
                limit: self.shares.total,
            },
        }
    }
}

impl TransferLimiter {
    pub(crate) fn new(settings: &Settings, limiter: &Limiter) -> Self {
        let (per_user, in_all) = (settings.transfer_max_per_user, settings.transfer_max_total);
        let queue = |pool, shares| TransferQueue {
            places: limiter.open(pool, shares),
            shares,
        };
        let half = |places: u64| places.div_ceil(2).max(1);
        Self {
            arriving: Arc::default(),
            all: queue(Pool::Transfers, Shares::fixed(per_user, in_all)),
            of_links: queue(Pool::LinkTransfers, Shares::fixed(per_user, half(in_all))),
            of_one_link: queue(
                Pool::OneLinkTransfers,
                Shares::fixed(half(per_user), u64::MAX),
            ),
            patience: settings.timings.calls.transfer,
        }
    }

    /// The queues of a transfer of `tenant`, one after the other, each with a user; with `link`, one
    /// that comes through this link of its.
    pub(crate) fn queues(&self, tenant: &str, link: Option<&str>) -> Vec<(TransferQueue, String)> {
        match link {
            None => vec![(self.all.clone(), tenant.to_owned())],
            Some(link) => vec![
                (self.of_one_link.clone(), link.to_owned()),
                (self.of_links.clone(), tenant.to_owned()),
                (self.all.clone(), format!("links of {tenant}")),
            ],
        }
    }

    /// Waits in the one queue of a user; blocks.
    pub(crate) fn wait(
        &self,
        tenant: &str,
        caller: &Caller,
    ) -> Result<TransferPermit, TransferBusyError> {
        let places = &self.all.places;
        let wait = || places.take(tenant, self.patience, &caller.cancellation);
        let grant = caller.place.while_waiting(wait).unwrap_or(Err(Full::All));
        let grant = grant.map_err(|full| self.all.refusal(full))?;
        Ok(self.transfer_permit(tenant, vec![grant]))
    }

    /// The right to move bytes of who has been given these places.
    pub(crate) fn transfer_permit(&self, tenant: &str, places: Vec<Grant>) -> TransferPermit {
        self.arriving
            .lock()
            .entry(tenant.to_owned())
            .or_default()
            .transfers += 1;
        TransferPermit {
            transfer_limiter: self.clone(),
            tenant: tenant.to_owned(),
            bytes: 0,
            replaces: 0,
            _places: places,
        }
    }
}

/// The right to move bytes for one tenant. Dropped, its place is free.
#[derive(Debug)]
pub struct TransferPermit {
    transfer_limiter: TransferLimiter,
    tenant: String,
    bytes: u64,
    replaces: u64,
    _places: Vec<Grant>,
}

impl TransferPermit {
    /// By which clock whoever takes the bytes is waited for.
    pub fn clock(&self) -> &Clock {
        self.transfer_limiter.all.places.clock()
    }

    /// This many bytes will be free again when the upload is done.
    pub(crate) fn replace(&mut self, bytes: u64) {
        self.change(|transfer_permit| transfer_permit.replaces += bytes);
    }

    /// This many more have come; gives what all uploads of the tenant hold now.
    pub(crate) fn grow(&mut self, bytes: u64) -> u64 {
        self.change(|transfer_permit| transfer_permit.bytes += bytes)
    }

    fn net(&self) -> u64 {
        self.bytes.saturating_sub(self.replaces)
    }

    fn change(&mut self, change: impl FnOnce(&mut Self)) -> u64 {
        let before = self.net();
        change(self);
        let after = self.net();
        let mut lanes = self.transfer_limiter.arriving.lock();
        let Some(lane) = lanes.get_mut(&self.tenant) else {
            return after;
        };
        lane.bytes = (lane.bytes + after).saturating_sub(before);
        lane.bytes
    }
}

impl Drop for TransferPermit {
    fn drop(&mut self) {
        let mut lanes = self.transfer_limiter.arriving.lock();
        if let Some(lane) = lanes.get_mut(&self.tenant) {
            lane.transfers -= 1;
            lane.bytes = lane.bytes.saturating_sub(self.net());
            if lane.transfers == 0 {
                lanes.remove(&self.tenant);
            }
        }
    }
}

diagnostics! {
    /// Too many transfers at once.
    #[derive(Debug, thiserror::Error)]
    pub enum TransferBusyError {
        /// Of one user.
        #[error("{limit} uploads and downloads are in progress, which is the maximum for one user")]
        User {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: AGAIN,
            details: { "scope": "user" },
            retry_after: 5,
        },
        /// On the server.
        #[error("the server has {limit} uploads and downloads in progress, which is its maximum")]
        Server {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: AGAIN,
            details: { "scope": "server" },
            retry_after: 5,
        },
    }
}

const AGAIN: &str = "wait until one of them is done and send the same request again";

#[cfg(test)]
mod tests {
    use super::*;

    fn transfer_limiter(per_user: u64, in_all: u64) -> TransferLimiter {
        let settings = Settings {
            transfer_max_per_user: per_user,
            transfer_max_total: in_all,
            ..Settings::new(".")
        };
        TransferLimiter::new(&settings, &Limiter::new(&Clock::SYSTEM))
    }

    /// A transfer that does not wait.
    fn begin(
        transfer_limiter: &TransferLimiter,
        tenant: &str,
        link: Option<&str>,
    ) -> Result<TransferPermit, TransferBusyError> {
        let mut grants = Vec::new();
        for (queue, who) in transfer_limiter.queues(tenant, link) {
            let grant = queue.places.take(
                &who,
                Duration::ZERO,
                &fileshed_types::cancellation::Cancellation::default(),
            );
            grants.push(grant.map_err(|full| queue.refusal(full))?);
        }
        Ok(transfer_limiter.transfer_permit(tenant, grants))
    }

    #[test]
    fn places_and_bytes_are_counted_and_given_back() {
        let transfer_limiter = transfer_limiter(2, 3);
        let mut one = begin(&transfer_limiter, "a", None).expect("free");
        let two = begin(&transfer_limiter, "a", None).expect("free");
        assert!(matches!(
            begin(&transfer_limiter, "a", None),
            Err(TransferBusyError::User { limit: 2 })
        ));
        let mut other = begin(&transfer_limiter, "b", None).expect("free");
        assert!(matches!(
            begin(&transfer_limiter, "c", None),
            Err(TransferBusyError::Server { limit: 3 })
        ));
        assert_eq!(one.grow(10), 10);
        assert_eq!(other.grow(1), 1);
        drop((one, two, other));
        let mut one = begin(&transfer_limiter, "a", None).expect("free again");
        one.replace(6);
        assert_eq!(one.grow(4), 0);
        assert_eq!(one.grow(4), 2);
        let mut second = begin(&transfer_limiter, "a", None).expect("free");
        assert_eq!(second.grow(5), 7);
        drop(one);
        assert_eq!(second.grow(0), 5);
    }

    #[test]
    fn a_link_leaves_places_to_other_links_to_its_maker_and_to_all() {
        let transfer_limiter = transfer_limiter(4, 12);
        let many = |tenant: &str, link: Option<&str>| {
            let mut held = Vec::new();
            while let Ok(transfer_permit) = begin(&transfer_limiter, tenant, link) {
                held.push(transfer_permit);
            }
            held
        };
        let one = many("a", Some("1"));
        assert_eq!(one.len(), 2, "half of what a user has");
        let others = many("a", Some("2"));
        let none = many("a", Some("3"));
        assert_eq!((others.len(), none.len()), (2, 0));
        let more: Vec<_> = ["b", "c"]
            .iter()
            .flat_map(|tenant| {
                [
                    many(tenant, Some(tenant)),
                    many(tenant, Some(&format!("{tenant}2"))),
                ]
            })
            .flatten()
            .collect();
        assert_eq!(more.len(), 2, "links have half of all");
        let own = many("a", None);
        assert_eq!(own.len(), 4, "the maker has all of the own places");
        drop(one);
        assert!(begin(&transfer_limiter, "a", Some("1")).is_ok());
    }
}
