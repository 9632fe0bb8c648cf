//! Repairs of what other instances left when they died.
//!
//! The next call for a zone finds what a dead process left unfinished there, and ends it. Where several
//! instances have the data, somebody may wait for exactly that at another one, so the first that notices
//! a death does not wait for a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::process::{Signal, getpid, kill_process};

use crate::store::Store;
use crate::{Error, ZonePath};
use fileshed_storage::DiskError;

/// The thread that takes over. It stops when this is dropped.
#[derive(Debug)]
pub struct Takeover {
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Takeover {
    /// Starts the thread, where several instances may have the data. A process that others took for dead
    /// is told to end, as an administrator would tell it.
    pub fn start(store: &Arc<Store>) -> Result<Self, Error> {
        let stopping = Arc::new(AtomicBool::new(false));
        let mut thread = None;
        if store.shares_data() {
            let (store, stopping) = (Arc::clone(store), Arc::clone(&stopping));
            let started = std::thread::Builder::new()
                .name("takeover".to_owned())
                .spawn(move || work(&store, &stopping));
            thread =
                Some(started.map_err(|error| DiskError::of("lock", &ZonePath::root(), error))?);
        }
        Ok(Self { stopping, thread })
    }
}

impl Drop for Takeover {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn work(store: &Store, stopping: &AtomicBool) {
    while !stopping.load(Ordering::Acquire) {
        let mut left = store
            .tenants_left(store.settings().timings.instances.takeover)
            .unwrap_or_default();
        left.extend(store.mark_unfinished());
        for tenant in left {
            if let Err(error) = store.make_tenant_ready(&tenant) {
                tracing::error!(tenant, %error, "what another server left is not repaired");
            }
        }
        if store.is_taken_for_dead() {
            let _asked = kill_process(getpid(), Signal::TERM);
            return;
        }
    }
}

impl Store {
    /// Repairs every zone of a tenant that needs it.
    fn make_tenant_ready(&self, key: &str) -> Result<(), Error> {
        if let Some(tenant) = self.existing_tenant(key)? {
            for zone in tenant.zones {
                self.make_ready(&tenant, *zone, None);
            }
        }
        Ok(())
    }
}
