//! Kernel accounts of the owners of jobs: who has which at the time.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, Weak};

use fileshed_types::Mutex;

/// The first number. No distribution gives such numbers to people, services or containers
/// (<https://systemd.io/UIDS-GIDS/>).
const FIRST: u32 = 0x7800_0000;

/// Number of accounts that a server has.
const OF_SERVER: u32 = 1 << 14;

/// Servers of one machine have others, as far as chance goes.
const SERVERS: u64 = 1 << 12;

/// The accounts of one server.
#[derive(Debug)]
pub(super) struct KernelAccounts {
    first: u32,
    /// The owner of each account and its jobs, at its place. One whose jobs have ended is free.
    taken: Mutex<Vec<(String, Weak<()>)>>,
}

/// An account while a job of its owner has it.
#[derive(Debug)]
pub(super) struct LentAccount {
    pub(super) number: u32,
    /// Shared by the jobs of its owner.
    _jobs: Arc<()>,
}

impl KernelAccounts {
    pub(super) fn new() -> Self {
        let server = RandomState::new().build_hasher().finish() % SERVERS;
        Self {
            first: FIRST + server as u32 * OF_SERVER,
            taken: Mutex::default(),
        }
    }

    /// Lends the account of an owner: the one that it has for its other jobs, otherwise the first that is
    /// free. There is none if more owners have jobs than a server has accounts.
    pub(super) fn lend(&self, owner: &str) -> Option<LentAccount> {
        let mut taken = self.taken.lock();
        let is_free = |(_, jobs): &(String, Weak<()>)| jobs.strong_count() == 0;
        let own = taken.iter().position(|one| one.0 == owner && !is_free(one));
        let place = own.or_else(|| taken.iter().position(is_free));
        let place = place.unwrap_or(taken.len());
        let number = u32::try_from(place).ok().filter(|at| *at < OF_SERVER)?;
        if place == taken.len() {
            taken.push(Default::default());
        }
        let jobs = taken[place].1.upgrade().unwrap_or_default();
        taken[place] = (owner.to_owned(), Arc::downgrade(&jobs));
        Some(LentAccount {
            number: self.first + number,
            _jobs: jobs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_owners_never_have_the_same_account() {
        let accounts = KernelAccounts::new();
        let lend = |owner| accounts.lend(owner).expect("one is free");
        let (ada, bob) = (lend("ada"), lend("bob"));
        assert_ne!(ada.number, bob.number);
        let more = lend("ada");
        assert_eq!(more.number, ada.number);
        let number = ada.number;
        drop(ada);
        assert_ne!(lend("eve").number, number);
        drop(more);
        assert_eq!(lend("eve").number, number);
        // A job of which nobody knows whether it ended.
        let bobs = bob.number;
        std::mem::forget(bob);
        let others: Vec<_> = ["ada", "eve", "joe"].map(lend).into();
        assert!(others.iter().all(|other| other.number != bobs));
        assert_eq!(lend("bob").number, bobs);
    }

    #[test]
    fn numbers_are_nobody_elses() {
        let last = u64::from(FIRST) + SERVERS * u64::from(OF_SERVER);
        // There begin the numbers of files from other machines.
        assert!(last < 0x7FFE_0000);
        assert!(KernelAccounts::new().first >= FIRST);
    }
}
