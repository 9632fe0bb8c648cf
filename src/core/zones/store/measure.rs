//! What a zone holds, measured on disk and entered in the registry.

use super::Store;
use crate::tenant::{DATA, EDITZONE, TenantRoot};
use fileshed_history::History;
use fileshed_storage::{DiskError, Kind, Root, Totals};
use fileshed_types::{Error, ZoneName, ZonePath};

impl Store {
    /// Measures the working copies of a zone, of which there are as many as open edits, and enters
    /// the result. Gives their bytes.
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

    /// Enters what the working copies of a zone hold.
    pub fn edits_hold(&self, tenant: &TenantRoot, zone: ZoneName, bytes: u64) -> Result<(), Error> {
        let totals = Totals { bytes, files: 0 };
        Ok(self.registry.measured(&tenant.key, zone.edits(), totals)?)
    }

    /// Measures a zone and enters the result. The caller has its write lock, or nobody else can write.
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

/// A repository in the work tree that it was made in is taken out first: it is no file of the
/// user's. One that cannot be taken over stays where it is and counts. The pointer that stands for
/// a repository is the server's own file.
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
