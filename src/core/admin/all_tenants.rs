//! Maintenance of all tenants, for administrators.
//!
//! It answers with numbers and nothing else: whose a file is, what it is called, even that a group
//! exists, is none of an administrator's business. One tenant is open at a time, and only a zone in
//! which something may be left is made ready.

use std::collections::HashSet;

use crate::admin::Admin;
use fileshed_changes::lockedit::{self, Cleaned};
use fileshed_changes::{bin, repair, sharing};
use fileshed_storage::Root;
use fileshed_types::caller::Role;
use fileshed_types::group::{Group, GroupId};
use fileshed_types::{Caller, Error, Hint, Repeat, ZoneName, ZonePath, diagnostics};
use fileshed_zones::store::{GROUPS, USERS};
use fileshed_zones::tenant::{DATA, EDITZONE, TenantRoot};
use fileshed_zones::zone::{SharedZone, Zone, expect_write_scope};
use serde::Serialize;

/// Totals of a cleanup of all other tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct CleanupCounts {
    /// Users whose zones were looked at.
    pub users: u64,
    /// Groups that were looked at.
    pub groups: u64,
    /// Locked edits that were too old: ended.
    pub expired_locks: u64,
    /// Locked edits that had lost their working copy: ended.
    pub corrupted_locks: u64,
    /// Zones with working copies that no lock names: removed.
    pub orphan_editzones: u64,
    /// Ownership records of files that are gone: removed.
    pub orphan_ownerships: u64,
    /// Chats whose uploads had ended, your own too: removed.
    pub ended_uploads: u64,
    /// Deletions that were in the bin for long enough, your own too: removed.
    pub ended_deletions: u64,
    /// Users and groups whose cleanup failed; the log has the cause.
    pub failed: u64,
}

impl Admin {
    /// Cleans the zones of all users and groups but the caller's own.
    pub fn clean_others(&self, caller: &Caller) -> Result<CleanupCounts, Error> {
        if caller.role != Role::Admin {
            return Err(NotAdministrator.into());
        }
        expect_write_scope(caller)?;
        let own = self.own_tenants(caller)?;
        let mut numbers = CleanupCounts::default();
        for parent in [USERS, GROUPS] {
            for key in self.store.tenants_below(parent)? {
                if caller.cancellation.is_cancelled() {
                    return Ok(numbers);
                }
                if own.contains(&key) {
                    continue;
                }
                match parent {
                    USERS => numbers.users += 1,
                    _ => numbers.groups += 1,
                }
                if let Err(error) = self.clean_tenant(caller, &key, &mut numbers) {
                    numbers.failed += 1;
                    tracing::warn!(tenant = key, %error, "a tenant could not be cleaned up");
                }
            }
        }
        self.release_locks_of_nobody(&mut numbers)?;
        let goes_on = || !caller.cancellation.is_cancelled();
        numbers.ended_uploads =
            self.end_old_uploads(&goes_on)? + self.end_uploads_of_gone_chats(&goes_on)?;
        numbers.ended_deletions = bin::end_deletions(&self.store, &goes_on)?;
        Ok(numbers)
    }

    fn own_tenants(&self, caller: &Caller) -> Result<HashSet<String>, Error> {
        let groups = self.store.known_groups(caller)?.unwrap_or_default();
        let groups = groups.into_iter();
        let mut own: HashSet<String> = groups
            .map(|group| format!("{GROUPS}/{}", group.id.as_str()))
            .collect();
        own.insert(self.store.tenant_key(caller)?);
        Ok(own)
    }

    fn clean_tenant(
        &self,
        caller: &Caller,
        key: &str,
        numbers: &mut CleanupCounts,
    ) -> Result<(), Error> {
        let Some(tenant) = self.store.existing_tenant(key)? else {
            return Ok(());
        };
        let tenant = TenantRoot {
            place: caller.place.clone(),
            ..tenant
        };
        let group = tenant.group().map(str::to_owned);
        let has_records = match &group {
            Some(group) => !self.store.registry.records(group)?.is_empty(),
            None => false,
        };
        for &name in tenant.zones.iter().filter(|name| name.is_writable()) {
            let base = tenant.existing_base(name)?;
            if !has_records && !self.may_be_left(key, name, base.as_ref())? {
                continue;
            }
            let zone = self.foreign_zone(caller, &tenant, name)?;
            numbers.count(&lockedit::clean(&zone)?);
            if has_records {
                numbers.orphan_ownerships += sharing::clean(&zone)?.len() as u64;
            }
        }
        Ok(())
    }

    /// A zone of somebody else, for work that shows nothing of its files.
    pub(crate) fn foreign_zone<'a>(
        &'a self,
        caller: &'a Caller,
        tenant: &TenantRoot,
        name: ZoneName,
    ) -> Result<Zone<'a>, Error> {
        let ready = repair::make_ready(&self.store, tenant, name, None);
        let base = match (tenant.existing_base(name)?, name.directory()) {
            (Some(base), _) => base,
            (None, directory) => tenant.root.subdirectory(directory.unwrap_or_default())?,
        };
        Ok(Zone {
            store: &self.store,
            caller,
            name,
            tenant: tenant.try_clone()?,
            data: base.subdirectory(DATA)?,
            base,
            ready,
            absent: false,
            group: tenant.group().map(|id| self.unnamed(id)).transpose()?,
        })
    }

    /// Returns `true` if there is a lock, or a working copy.
    fn may_be_left(&self, key: &str, name: ZoneName, base: Option<&Root>) -> Result<bool, Error> {
        if !self.store.registry.locks(key, name.as_str())?.is_empty() {
            return Ok(true);
        }
        let copies = base.map(|base| base.existing_subdirectory(EDITZONE));
        Ok(match copies.transpose()?.flatten() {
            Some(copies) => !copies.list(&ZonePath::root())?.is_empty(),
            None => false,
        })
    }

    /// A group as its directory knows it: its name is of no use here.
    fn unnamed(&self, id: &str) -> Result<SharedZone, Error> {
        Ok(SharedZone {
            group: Group {
                id: GroupId::parse(id)?,
                name: id.to_owned(),
                description: String::new(),
                member_count: 0,
            },
            mode: self.store.settings.group_default_mode,
            asked: false,
        })
    }

    /// Locks of tenants that somebody removed from the disk.
    fn release_locks_of_nobody(&self, numbers: &mut CleanupCounts) -> Result<(), Error> {
        for (tenant, zone) in self.store.registry.locked_zones()? {
            if self.store.has_tenant(&tenant)? {
                continue;
            }
            for lock in self.store.registry.locks(&tenant, &zone)? {
                if self.store.registry.release_lock(&lock)? {
                    numbers.corrupted_locks += 1;
                }
            }
        }
        Ok(())
    }
}

impl CleanupCounts {
    /// Returns `true` if nothing was cleaned.
    pub fn is_empty(&self) -> bool {
        let found = self.expired_locks
            + self.corrupted_locks
            + self.orphan_editzones
            + self.orphan_ownerships
            + self.ended_uploads
            + self.ended_deletions;
        found == 0
    }

    fn count(&mut self, cleaned: &Cleaned) {
        self.expired_locks += cleaned.expired_locks.len() as u64;
        self.corrupted_locks += cleaned.corrupted_locks.len() as u64;
        self.orphan_editzones += u64::from(cleaned.orphan_copies > 0);
    }
}

diagnostics! {
    /// Somebody who may clean up only for themselves.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `all`: only administrators clean up for everybody")]
    pub struct NotAdministrator => {
        code: AccessDenied,
        hint: Hint::from(Repeat::without("all")).say(" for your own zones and groups"),
        details: { "parameter": "all" },
    }
}
