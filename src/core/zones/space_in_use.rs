//! Space that running commands take and that the registry does not count yet.
//!
//! Several commands of one user share what is left, because each measurement counts for all.

use std::collections::HashMap;

use fileshed_registry::Usage;
use fileshed_types::{Mutex, ZoneName};

/// The last measurements of all commands of this process.
#[derive(Debug, Default)]
pub struct SpaceInUse(Mutex<Measurements>);

#[derive(Debug, Default)]
struct Measurements {
    next: u64,
    all: HashMap<u64, Measurement>,
}

#[derive(Debug)]
struct Measurement {
    tenant: String,
    /// `None` outside the zones.
    zone: Option<ZoneName>,
    bytes: u64,
}

/// One command that takes space, in a zone or outside of all. It is forgotten when it is dropped.
#[derive(Debug)]
pub struct SpaceEntry<'a> {
    all: &'a SpaceInUse,
    number: u64,
    tenant: String,
    zone: Option<ZoneName>,
}

impl SpaceInUse {
    /// Enters a command that takes space in a zone, or outside of all.
    pub fn enter(&self, tenant: &str, zone: Option<ZoneName>) -> SpaceEntry<'_> {
        let mut state = self.0.lock();
        state.next += 1;
        SpaceEntry {
            all: self,
            number: state.next,
            tenant: tenant.to_owned(),
            zone,
        }
    }
}

impl SpaceEntry<'_> {
    /// Enters a measurement: of the zone, or of what this command takes outside.
    pub fn measured(&self, bytes: u64) {
        let measurement = Measurement {
            tenant: self.tenant.clone(),
            zone: self.zone,
            bytes,
        };
        let mut state = self.all.0.lock();
        state.all.insert(self.number, measurement);
    }

    /// Bytes that all commands of the tenant take outside the zones.
    #[must_use]
    pub fn outside(&self) -> u64 {
        self.of(|zone| zone.is_none()).into_iter().sum()
    }

    /// Bytes in the other zones of the tenant, of which `usage` is what the registry has.
    #[must_use]
    pub fn beside(&self, usage: &[Usage]) -> u64 {
        let others = usage
            .iter()
            .filter(|usage| self.zone.is_none_or(|own| own.as_str() != usage.zone));
        let bytes = others.map(|usage| {
            let measured = self.of(|zone| zone.is_some_and(|zone| zone.as_str() == usage.zone));
            measured.into_iter().max().unwrap_or(usage.totals.bytes)
        });
        bytes.sum()
    }

    fn of(&self, is_meant: impl Fn(Option<ZoneName>) -> bool) -> Vec<u64> {
        let state = self.all.0.lock();
        let own = state.all.values();
        let own = own.filter(|one| one.tenant == self.tenant && is_meant(one.zone));
        own.map(|one| one.bytes).collect()
    }
}

impl Drop for SpaceEntry<'_> {
    fn drop(&mut self) {
        self.all.0.lock().all.remove(&self.number);
    }
}
