//! Space that running commands take and that the registry does not count yet.
//!
//! Several commands of one user share what is left, because each measurement counts for all.

use std::sync::Arc;

use crate::live_list::LiveList;
use fileshed_registry::Usage;
use fileshed_types::{Mutex, ZoneName};

/// The last measurements of all commands of this process.
#[derive(Debug, Default)]
pub struct SpaceInUse(LiveList<Measurement>);

#[derive(Debug)]
struct Measurement {
    tenant: String,
    /// `None` outside the zones.
    zone: Option<ZoneName>,
    /// `None` until it is measured.
    bytes: Mutex<Option<u64>>,
}

/// One command that takes space, in a zone or outside of all. It is forgotten when it is dropped.
#[derive(Debug)]
pub struct SpaceEntry<'a> {
    all: &'a SpaceInUse,
    own: Arc<Measurement>,
}

impl SpaceInUse {
    /// Enters a command that takes space in a zone, or outside of all.
    pub fn enter(&self, tenant: &str, zone: Option<ZoneName>) -> SpaceEntry<'_> {
        let own = self.0.add(Measurement {
            tenant: tenant.to_owned(),
            zone,
            bytes: Mutex::default(),
        });
        SpaceEntry { all: self, own }
    }
}

impl SpaceEntry<'_> {
    /// Enters a measurement: of the zone, or of what this command takes outside.
    pub fn measured(&self, bytes: u64) {
        *self.own.bytes.lock() = Some(bytes);
    }

    /// Returns the bytes that all commands of the tenant take outside the zones.
    #[must_use]
    pub fn outside(&self) -> u64 {
        self.of(None).into_iter().sum()
    }

    /// Returns the bytes in the other zones of the tenant; `usage` is the registry's record.
    #[must_use]
    pub fn beside(&self, usage: &[Usage]) -> u64 {
        let own = self.own.zone.map(ZoneName::as_str);
        let others = usage
            .iter()
            .filter(|usage| own.is_none_or(|own| own != usage.zone));
        let bytes = others.map(|usage| {
            let measured = self.of(Some(&usage.zone)).into_iter().max();
            measured.unwrap_or(usage.totals.bytes)
        });
        bytes.sum()
    }

    fn of(&self, zone: Option<&str>) -> Vec<u64> {
        let mut all = self.all.0.all();
        all.retain(|one| one.tenant == self.own.tenant && one.zone.map(ZoneName::as_str) == zone);
        all.iter().filter_map(|one| *one.bytes.lock()).collect()
    }
}
