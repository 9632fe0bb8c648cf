//! Hooks: what opening a zone asks of the crates above this one.

use std::fmt::Debug;

use super::Store;
use crate::tenant::TenantRoot;
use fileshed_registry::TenantCondition;
use fileshed_types::{Caller, Error, ZoneName};

/// Work of the crates above. The front door hands it to the store, once both are there; without it
/// a zone can only be read.
pub trait Hooks: Debug + Send + Sync {
    /// Repairs and measures what needs it in a zone. Returns `true` if the zone can be changed.
    fn make_ready(
        &self,
        _store: &Store,
        _tenant: &TenantRoot,
        _zone: ZoneName,
        _known: Option<&TenantCondition>,
    ) -> bool {
        false
    }

    /// Brings what is attached to the caller's conversation into its uploads.
    fn bring_attachments(&self, _caller: &Caller) {}

    /// Brings the waiting files whose paths `is_named` names into the caller's conversation. Returns
    /// `true` if any came.
    fn claim_waiting(&self, _caller: &Caller, _is_named: &dyn Fn(&str) -> bool) -> bool {
        false
    }

    /// Takes in the logs of lines that an earlier process of the server ran for a tenant.
    fn take_in_logs(&self, _tenant: &TenantRoot) -> Result<(), Error> {
        Ok(())
    }

    /// Rolls back what dead processes left half done in the databases of a zone.
    fn recover_databases(&self, _tenant: &TenantRoot, _zone: ZoneName) -> Result<(), Error> {
        Ok(())
    }

    /// Returns `true` for a command that is whitelisted and not installed.
    fn lacks_command(&self, _command: &str) -> bool {
        false
    }
}

/// Hooks of a store that has none yet.
#[derive(Debug)]
pub(super) struct NoHooks;

impl Hooks for NoHooks {}
