//! Changes whose end the registry did not take, because it did not answer.

use super::Store;
use fileshed_registry::Intent;
use fileshed_types::lock;

#[expect(
    clippy::disallowed_methods,
    reason = "changes of permits that are gone are marked here"
)]
impl Store {
    /// Marks a change for repair: now, or as soon as the registry answers.
    pub fn leave_to_repair(&self, tenant: &str, intent: Intent) {
        if self.registry.orphan(intent).is_err() {
            lock(&self.unfinished).push((tenant.to_owned(), intent));
        }
    }

    /// Marks what could not be marked before, as far as the registry answers; gives the tenants.
    pub fn mark_unfinished(&self) -> Vec<String> {
        let (mut tenants, mut answers) = (Vec::new(), true);
        let changes = std::mem::take(&mut *lock(&self.unfinished));
        for (tenant, intent) in changes {
            answers = answers && self.registry.orphan(intent).is_ok();
            if answers {
                tenants.push(tenant);
            } else {
                lock(&self.unfinished).push((tenant, intent));
            }
        }
        tenants
    }
}
