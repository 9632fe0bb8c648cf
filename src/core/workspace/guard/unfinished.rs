//! Changes that may have happened and could not be entered: the next access repairs their zones.

use crate::Store;
use fileshed_registry::Intent;

impl Store {
    /// Marks a change for repair: now, or as soon as the registry answers.
    pub(crate) fn leave_to_repair(&self, tenant: &str, intent: Intent) {
        if self.registry().orphan(intent).is_err() {
            self.unfinished().add(tenant.to_owned(), intent);
        }
    }

    /// Marks what could not be marked before, as far as the registry answers; gives the tenants.
    pub(crate) fn mark_unfinished(&self) -> Vec<String> {
        let (mut tenants, mut answers) = (Vec::new(), true);
        for (tenant, intent) in self.unfinished().take() {
            answers = answers && self.registry().orphan(intent).is_ok();
            if answers {
                tenants.push(tenant);
            } else {
                self.unfinished().add(tenant, intent);
            }
        }
        tenants
    }
}
