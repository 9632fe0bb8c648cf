//! Repairs of unfinished work after the death of other instances.
//!
//! The next call for a zone finds the unfinished work of a dead process there and completes or undoes it.
//! With several instances on the same data, a client of another one may be waiting for exactly that repair,
//! so the first instance that notices a death repairs without waiting for a call.

use rustix::process::{Signal, getpid, kill_process};

use crate::admin::Admin;
use fileshed_changes::repair;
use fileshed_storage::DiskError;
use fileshed_types::{Background, Error, StopSign};

impl Admin {
    /// Starts the thread that repairs what dead instances left, where several may have the data. A
    /// process that others took for dead is told to end, as an administrator would tell it.
    pub fn start_instance_recovery(&self) -> Result<Option<Background>, Error> {
        if !self.store.registry.holds_leases() {
            return Ok(None);
        }
        let admin = self.clone();
        let started = Background::start("recovery", move |stop| admin.recover(stop));
        Ok(Some(started.map_err(DiskError::server)?))
    }

    fn recover(&self, stop: &StopSign) {
        let store = &self.store;
        while !stop.is_given() {
            let mut left = store
                .tenants_left(store.settings.timings.instances.recovery)
                .unwrap_or_default();
            left.extend(store.mark_unfinished());
            for tenant in left {
                if let Err(error) = self.make_tenant_ready(&tenant) {
                    tracing::error!(
                        tenant, %error,
                        "unfinished changes of another server were not repaired"
                    );
                }
            }
            if store.is_taken_for_dead() {
                let _asked = kill_process(getpid(), Signal::TERM);
                return;
            }
        }
    }

    /// Repairs every zone of a tenant that needs it.
    fn make_tenant_ready(&self, key: &str) -> Result<(), Error> {
        if let Some(tenant) = self.store.existing_tenant(key)? {
            for zone in tenant.zones {
                repair::make_ready(&self.store, &tenant, *zone, None);
            }
        }
        Ok(())
    }
}
