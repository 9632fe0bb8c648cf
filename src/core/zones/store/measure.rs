//! Sizes of zones, measured on disk and recorded in the registry.

use super::Store;
use crate::tenant::{DATA, EDITZONE, TenantRoot};
use fileshed_history::History;
use fileshed_storage::{DiskError, Kind, Root, Totals};
use fileshed_types::{Error, ZoneName, ZonePath};

impl Store {
    /// Measures the working copies of a zone, of which there are as many as open edits, and records the
    /// result. Returns their bytes.
    pub fn measure_edits(&self, tenant: &TenantRoot, zone: ZoneName) -> Result<u64, Error> {
        if !zone.is_writable() {
            return Ok(0);
        }
        let base = tenant.existing_base(zone)?;
        let copies = base.map(|base| base.existing_subdirectory(EDITZONE));
        let totals = totals_of(copies.transpose()?.flatten())?;
        self.registry.measured(&tenant.key, zone.edits(), totals)?;
        Ok(totals.bytes)
    }

    /// Records the size of a zone's working copies.
    pub fn edits_hold(&self, tenant: &TenantRoot, zone: ZoneName, bytes: u64) -> Result<(), Error> {
        let totals = Totals { bytes, files: 0 };
        Ok(self.registry.measured(&tenant.key, zone.edits(), totals)?)
    }

    /// Measures a zone and records the result. The caller holds its write lock, or nobody else can write.
    pub fn measure(&self, tenant: &TenantRoot, zone: ZoneName) -> Result<Totals, Error> {
        let totals = match tenant.existing_base(zone)? {
            None => Totals::default(),
            Some(base) if zone.is_versioned() => measure_versioned(tenant, &base)?,
            Some(base) if zone == ZoneName::Uploads => base.measure()?,
            Some(base) => totals_of(base.existing_subdirectory(DATA)?)?,
        };
        self.registry.measured(&tenant.key, zone.as_str(), totals)?;
        Ok(totals)
    }
}

fn totals_of(directory: Option<Root>) -> Result<Totals, DiskError> {
    directory.map_or_else(|| Ok(Totals::default()), |found| found.measure())
}

/// Measures the files of a versioned zone. A repository inside the work tree is moved out first, because
/// it is no file of the user's; one that cannot be moved stays and counts. The file that points to a
/// repository belongs to the server and does not count.
fn measure_versioned(tenant: &TenantRoot, base: &Root) -> Result<Totals, Error> {
    let Some(data) = base.existing_subdirectory(DATA)? else {
        return Ok(Totals::default());
    };
    let git = || data.entry(&ZonePath::root().join(".git")).ok();
    if git().is_some_and(|git| git.kind() == Kind::Directory)
        && let Err(error) = History::open(base, &data)
    {
        tracing::warn!(tenant = tenant.key, %error, "a repository could not be taken over");
    }
    let mut totals = data.measure()?;
    if let Some(pointer) = git().filter(|git| git.kind() == Kind::File) {
        totals.bytes -= pointer.size();
        totals.files -= 1;
    }
    Ok(totals)
}
