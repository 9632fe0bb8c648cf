//! Changes whose end the registry did not take, because it did not answer.

use std::sync::{Mutex, PoisonError};

use fileshed_registry::Intent;

/// Changes that are not marked for repair yet, with their tenants.
#[derive(Debug, Default)]
pub(crate) struct Unfinished(Mutex<Vec<(String, Intent)>>);

impl Unfinished {
    /// Remembers a change.
    pub(crate) fn add(&self, tenant: String, intent: Intent) {
        let mut changes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        changes.push((tenant, intent));
    }

    /// What was remembered, for who marks it.
    pub(crate) fn take(&self) -> Vec<(String, Intent)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
