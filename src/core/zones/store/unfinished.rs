//! Changes whose end the registry did not take, because it did not answer.

use super::Store;
use fileshed_registry::Intent;
use fileshed_types::Mutex;

/// Changes that are not marked for repair yet, with their tenants.
#[derive(Debug, Default)]
pub(super) struct Unfinished(Mutex<Vec<(String, Intent)>>);

impl Unfinished {
    /// Remembers a change.
    fn add(&self, tenant: String, intent: Intent) {
        let mut changes = self.0.lock();
        changes.push((tenant, intent));
    }

    /// What was remembered, for who marks it.
    fn take(&self) -> Vec<(String, Intent)> {
        std::mem::take(&mut *self.0.lock())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "changes of permits that are gone are marked here"
)]
impl Store {
    /// Marks a change for repair: now, or as soon as the registry answers.
    pub fn leave_to_repair(&self, tenant: &str, intent: Intent) {
        if self.registry.orphan(intent).is_err() {
            self.unfinished.add(tenant.to_owned(), intent);
        }
    }

    /// Marks what could not be marked before, as far as the registry answers; gives the tenants.
    pub fn mark_unfinished(&self) -> Vec<String> {
        let (mut tenants, mut answers) = (Vec::new(), true);
        for (tenant, intent) in self.unfinished.take() {
            answers = answers && self.registry.orphan(intent).is_ok();
            if answers {
                tenants.push(tenant);
            } else {
                self.unfinished.add(tenant, intent);
            }
        }
        tenants
    }
}
