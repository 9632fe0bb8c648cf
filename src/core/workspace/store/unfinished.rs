//! Changes whose end the registry did not take, because it did not answer: they are marked for repair as
//! soon as it does.

use std::sync::{Mutex, PoisonError};

use super::Store;
use fileshed_registry::Intent;

/// Changes that are not marked yet, with their tenants.
#[derive(Debug, Default)]
pub(super) struct Unfinished(Mutex<Vec<(String, Intent)>>);

impl Store {
    /// A change may have happened and could not be entered: the next access repairs its zone.
    pub(crate) fn leave_to_repair(&self, tenant: &str, intent: Intent) {
        if self.registry().orphan(intent).is_err() {
            let mut unfinished = self
                .unfinished
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            unfinished.push((tenant.to_owned(), intent));
        }
    }

    /// Marks what could not be marked before; gives the tenants.
    pub(crate) fn mark_unfinished(&self) -> Vec<String> {
        let all = || {
            self.unfinished
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let unfinished = std::mem::take(&mut *all());
        let mut tenants = Vec::new();
        for (tenant, intent) in unfinished {
            if self.registry().orphan(intent).is_ok() {
                tenants.push(tenant);
            } else {
                all().push((tenant, intent));
            }
        }
        tenants
    }
}
