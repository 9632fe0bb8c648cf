//! How many commands run at once: for one user, and in all.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::guard::BusyError;

/// Commands that are running.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    running: Mutex<HashMap<String, u64>>,
}

/// The right to run one command. Dropped, the slot is free.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    slots: &'a Slots,
    home: String,
}

impl Slots {
    pub(super) fn take(
        &self,
        home: &str,
        per_user: u64,
        in_all: u64,
    ) -> Result<Slot<'_>, BusyError> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.get(home).copied().unwrap_or_default() >= per_user {
            return Err(BusyError::User { limit: per_user });
        }
        if running.values().sum::<u64>() >= in_all {
            return Err(BusyError::Server { limit: in_all });
        }
        *running.entry(home.to_owned()).or_default() += 1;
        Ok(Slot {
            slots: self,
            home: home.to_owned(),
        })
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut running = self
            .slots
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.home) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.home);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_user_cannot_take_all_slots() {
        let slots = Slots::default();
        let first = slots.take("a", 1, 2).expect("free");
        assert!(matches!(
            slots.take("a", 1, 2),
            Err(BusyError::User { limit: 1 })
        ));
        let _second = slots.take("b", 1, 2).expect("free");
        assert!(matches!(
            slots.take("c", 1, 2),
            Err(BusyError::Server { limit: 2 })
        ));
        drop(first);
        assert!(slots.take("a", 1, 2).is_ok());
    }
}
