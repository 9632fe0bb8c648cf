//! Changes whose end the registry did not take, because it did not answer.

use super::Store;
use fileshed_registry::Intent;

#[expect(
    clippy::disallowed_methods,
    reason = "changes of permits that are gone are marked here"
)]
impl Store {
    /// Marks a change for repair: now, or as soon as the registry answers.
    pub fn leave_to_repair(&self, tenant: &str, intent: Intent) {
        if self.registry.orphan(intent).is_err() {
            self.unfinished.lock().push((tenant.to_owned(), intent));
        }
    }

    /// Marks what could not be marked before, as far as the registry answers; gives the tenants.
    pub fn mark_unfinished(&self) -> Vec<String> {
        let (mut tenants, mut answers) = (Vec::new(), true);
        let changes = std::mem::take(&mut *self.unfinished.lock());
        for (tenant, intent) in changes {
            answers = answers && self.registry.orphan(intent).is_ok();
            if answers {
                tenants.push(tenant);
            } else {
                self.unfinished.lock().push((tenant, intent));
            }
        }
        tenants
    }
}
