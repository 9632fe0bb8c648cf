//! Entry points to the write lock of a zone, by kind of change.

use std::time::Duration;

use super::Writer;
use crate::Error;
use crate::write_lock::WriteLock;
use crate::zone::Zone;

impl<'a> Zone<'a> {
    /// Takes the write lock, to change the zone. `operation` is the name for history and logs.
    pub fn writer(&'a self, operation: &'static str) -> Result<Writer<'a>, Error> {
        self.expect_writable()?;
        Writer::new(self, operation)
    }

    /// Takes the write lock, to delete: the one change that uploads allow.
    pub fn remover(&'a self, operation: &'static str) -> Result<Writer<'a>, Error> {
        self.store.reserve().release();
        Writer::new(self, operation)
    }

    /// Takes the write lock, to store what a person brings: the only way into uploads.
    pub(crate) fn receiver(&'a self, operation: &'static str) -> Result<Writer<'a>, Error> {
        Writer::new(self, operation)
    }

    /// Waits for the write lock, which keeps everybody else from changing the zone. The zone is
    /// repaired first if it has to be.
    pub(crate) fn hold(&self) -> Result<WriteLock<'a>, Error> {
        self.hold_within(self.store.settings().timings.calls.write_lock)
    }

    /// The same, with another patience.
    pub(crate) fn hold_within(&self, patience: Duration) -> Result<WriteLock<'a>, Error> {
        if !self.ready {
            let ready = self.store.try_make_ready(&self.tenant, self.name, None);
            ready.map_err(|error| self.explain(error))?;
        }
        let store = self.store;
        let write_lock = store.write_lock_within(&self.tenant, self.name, patience)?;
        if self.group.is_some() {
            self.store.reap_dead_instances(&self.tenant, &write_lock)?;
        }
        Ok(write_lock)
    }
}
