//! Zones of a caller, opened by name.

use std::sync::Arc;

use crate::store::{Store, group_key};
use crate::tenant::{DATA, TenantRoot};
use crate::zone::{SharedZone, Zone, ZoneError};
use fileshed_registry::{TenantState, Usage};
use fileshed_storage::Totals;
use fileshed_types::group::Group;
use fileshed_types::{Caller, Error, UserId, ZoneName};

/// Name, below a tenant's root, of an always empty directory that stands in for a missing one.
pub const NOTHING: &str = ".empty";

/// The directory of logs, below the tenant's root, and their name in the registry.
pub const LOGS: &str = "logs";

impl Store {
    /// Returns the caller's zone, ready to use. `zone` and `group` are the parameters of those names.
    pub fn zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: &str,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.open_zone(caller, ZoneName::parse_parameter("zone", zone)?, group)
    }

    /// Returns a zone of the caller, ready to use; that of `group`, by id or name, if it is a group's.
    pub fn open_zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: ZoneName,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        match zone {
            ZoneName::Group => self.group_zone(caller, group),
            personal => self.personal_zone(caller, personal),
        }
    }

    /// Returns one of the caller's own zones, ready to use. Uploads have the files that are attached to
    /// the conversation.
    pub fn personal_zone<'a>(
        &'a self,
        caller: &'a Caller,
        name: ZoneName,
    ) -> Result<Zone<'a>, Error> {
        if name == ZoneName::Uploads {
            self.hooks().bring_attachments(caller);
        }
        self.zone_as_it_is(caller, name)
    }

    /// Returns the tenant of the caller.
    pub fn tenant(&self, caller: &Caller) -> Result<TenantRoot, Error> {
        let (tenant, _) = self.tenant_for(caller, &self.tenant_key(caller)?)?;
        Ok(tenant)
    }

    /// Returns a tenant for a caller, who must be active, and the registry's rows on it.
    fn tenant_for(
        &self,
        caller: &Caller,
        key: &str,
    ) -> Result<(TenantRoot, Arc<TenantState>), Error> {
        let arrival = self.arrival(caller, key)?;
        self.meet(caller, arrival.standing.as_ref())?;
        let tenant = TenantRoot {
            place: caller.place.clone(),
            notes: caller.bin_notes.clone(),
            ..self.made_tenant(key, &arrival)?
        };
        Ok((tenant, arrival))
    }

    /// Returns the zone of one of the caller's groups, ready to use.
    pub fn group_zone<'a>(
        &'a self,
        caller: &'a Caller,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        let group = self.group(caller, group)?;
        caller.cancellation.trust().rely_on(&group.id);
        let (tenant, arrival) = self.tenant_for(caller, &group_key(&group))?;
        Ok(Zone {
            ready: self.hooks().make_ready(
                self,
                &tenant,
                ZoneName::Group,
                Some(&arrival.condition),
            ),
            store: self,
            caller,
            name: ZoneName::Group,
            base: tenant.root.try_clone()?,
            data: tenant.root.subdirectory(DATA)?,
            tenant,
            absent: false,
            group: Some(SharedZone {
                group,
                mode: self.settings.group_default_mode,
                asked: false,
            }),
        })
    }

    /// Returns one of the caller's own zones, without importing the files that are attached to the
    /// conversation.
    pub fn zone_as_it_is<'a>(
        &'a self,
        caller: &'a Caller,
        name: ZoneName,
    ) -> Result<Zone<'a>, Error> {
        let (tenant, arrival) = self.tenant_for(caller, &self.tenant_key(caller)?)?;
        let ready = self
            .hooks()
            .make_ready(self, &tenant, name, Some(&arrival.condition));
        let directory = name.directory().ok_or(ZoneError::NotPersonal)?;
        let (base, data, absent) = if name == ZoneName::Uploads {
            let place = self.uploads_of(caller);
            // A call that only reads creates no directory in each of many conversations.
            let (base, absent) = match tenant.root.existing_subdirectory(&place)? {
                Some(base) => (base, false),
                None => (tenant.root.subdirectory(NOTHING)?, true),
            };
            (base.try_clone()?, base, absent)
        } else {
            let base = tenant.root.subdirectory(directory)?;
            let data = base.subdirectory(DATA)?;
            (base, data, false)
        };
        Ok(Zone {
            store: self,
            caller,
            name,
            tenant,
            base,
            data,
            ready,
            absent,
            group: None,
        })
    }

    /// Returns the logs of the caller's lines, as a zone that can only be read.
    pub fn logs_zone<'a>(&'a self, caller: &'a Caller) -> Result<Zone<'a>, Error> {
        let tenant = self.tenant(caller)?;
        self.hooks().take_in_logs(&tenant)?;
        let logs = match tenant.root.existing_subdirectory(LOGS)? {
            Some(logs) => logs,
            None => tenant.root.subdirectory(NOTHING)?,
        };
        Ok(Zone {
            store: self,
            caller,
            name: ZoneName::Uploads,
            tenant,
            base: logs.try_clone()?,
            data: logs,
            ready: true,
            // It takes no attachments.
            absent: true,
            group: None,
        })
    }

    /// Returns the space of each of the caller's zones, and the bytes that they may hold together.
    pub fn usage(&self, caller: &Caller) -> Result<(Vec<Usage>, u64), Error> {
        let key = self.tenant_key(caller)?;
        let (tenant, arrival) = self.tenant_for(caller, &key)?;
        for &zone in tenant.zones {
            // One that cannot be repaired has the space that it had.
            let _as_it_was = self
                .hooks()
                .make_ready(self, &tenant, zone, Some(&arrival.condition));
        }
        let arrival = self.arrival(caller, &key)?;
        Ok((arrival.condition.usage.clone(), tenant.limit))
    }

    /// Returns the space of a group of the caller, as it was last counted, and the bytes that it may hold.
    pub fn group_usage(&self, group: &Group) -> Result<(Totals, u64), Error> {
        let key = group_key(group);
        let arrival = self.registry.arrival("", &key)?;
        let limit = arrival.quota.unwrap_or_else(|| self.usual_quota(&key));
        let zones = arrival.condition.usage.iter();
        let used = zones.fold(Totals::default(), |sum, zone| Totals {
            bytes: sum.bytes + zone.totals.bytes,
            files: sum.files + zone.totals.files,
        });
        Ok((used, limit))
    }

    /// Returns the state of a tenant to which a caller comes.
    fn arrival(&self, caller: &Caller, key: &str) -> Result<Arc<TenantState>, Error> {
        let user = caller.user.as_ref().map_or("", UserId::as_str);
        Ok(self.registry.arrival(user, key)?)
    }
}
