//! Who may read where, as the registry last said.

use std::collections::HashMap;
use std::sync::Arc;

use super::wal_index::DatabaseState;

/// Tenants whose answers are kept at most.
const MOST: usize = 4096;

/// Whether somebody may read in a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What the user was called last; nothing where the user was never here.
    pub name: Option<String>,
    /// Whether an administrator suspended the account.
    pub is_suspended: bool,
    /// Whether the zone was measured, with its working copies, and nothing in it is to be repaired.
    pub is_whole: bool,
    /// The volume in which the tenant lies, where that is written down.
    pub volume: Option<String>,
}

/// Answers that hold as long as the database is in one state.
#[derive(Debug, Default)]
pub(super) struct KnownAccesses {
    pub(super) state: Option<DatabaseState>,
    of_tenants: HashMap<String, Vec<KnownAccess>>,
}

/// An answer, and what was asked.
#[derive(Debug)]
pub(super) struct KnownAccess {
    pub(super) user: String,
    pub(super) zones: [String; 2],
    pub(super) access: Arc<Access>,
}

impl KnownAccesses {
    pub(super) fn find(&self, user: &str, tenant: &str, zones: [&str; 2]) -> Option<Arc<Access>> {
        let mut known = self.of_tenants.get(tenant)?.iter();
        let found = known.find(|one| one.user == user && one.zones == zones)?;
        Some(Arc::clone(&found.access))
    }

    /// Keeps an answer that was found after the database had been in this state.
    pub(super) fn keep(&mut self, state: DatabaseState, tenant: &str, known: KnownAccess) {
        if self.state != Some(state) || self.of_tenants.len() >= MOST {
            self.of_tenants.clear();
            self.state = Some(state);
        }
        let known_of_tenant = self.of_tenants.entry(tenant.to_owned()).or_default();
        // Of one tenant there are as many as zones, and users who have it.
        if known_of_tenant.len() < MOST {
            known_of_tenant.push(known);
        }
    }
}
