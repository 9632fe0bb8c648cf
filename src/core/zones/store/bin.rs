//! The bin of a tenant on disk: one directory beside its zones, where no path of a zone leads.
//!
//! What has no row in the registry is no more in the bin, so it goes by losing its row, and its files
//! after that. What a process did not get to is swept by the next one.

use std::sync::Arc;

use super::Store;
use crate::tenant::TenantRoot;
use fileshed_registry::{BIN, BinRow, Registry};
use fileshed_storage::{Entry, Relief, Reserve, Root, Staging, Totals};
use fileshed_types::{Code, Error, ZoneName, ZonePath};

impl Store {
    /// Empties the bin of a tenant, what was deleted first first, as far as so much more needs it.
    /// Whether that made the space: where all of it would not be enough, it stays.
    pub fn make_space(&self, tenant: &TenantRoot, needed: Totals) -> Result<bool, Error> {
        let most = Totals {
            bytes: tenant.limit,
            files: self.settings.max_files,
        };
        let gone = self.registry.make_space_in_bin(&tenant.key, needed, most)?;
        self.remove_binned(tenant, &gone)?;
        for row in &gone {
            tenant.notes.made_way(&row.path);
        }
        Ok(!gone.is_empty())
    }

    /// Enters something that may not fit; where only the bin is in its way, again once that made the
    /// space.
    pub fn making_space<T>(
        &self,
        tenant: &TenantRoot,
        needed: Totals,
        begin: impl Fn() -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.reserve.lacks(0) {
            // It needs a little for its rows, too.
            let _made = self.staging(tenant)?.relieve(0);
        }
        match begin() {
            Err(error)
                if error.code() == Code::QuotaExceeded && self.make_space(tenant, needed)? =>
            {
                begin()
            }
            done => done,
        }
    }

    /// Takes these out of the bin of a tenant for good; how many were there.
    pub fn end_in_bin(&self, tenant: &TenantRoot, rows: &[BinRow]) -> Result<u64, Error> {
        let gone = self.registry.forget_in_bin(&tenant.key, rows)?;
        self.remove_binned(tenant, &gone)?;
        Ok(gone.len() as u64)
    }

    /// Empties the bin of a tenant, what was deleted first first, until the disk is not full any
    /// more. Gives what went.
    pub fn relieve_disk(&self, tenant: &TenantRoot) -> Result<Vec<BinRow>, Error> {
        let mut gone = Vec::new();
        if !self.reserve.is_needed() {
            return Ok(gone);
        }
        let directory = tenant.root.subdirectory("staging")?;
        // At once, so that its space is seen.
        let staging = Staging::new(directory, &self.instance.name);
        let bin = tenant.bin()?;
        let mut rows = self.registry.in_bin(&tenant.key)?;
        while self.reserve.is_needed() {
            let Some(oldest) = rows.pop() else {
                break;
            };
            for row in self.registry.forget_in_bin(&tenant.key, &[oldest])? {
                remove_from(&staging, &bin, &row.id)?;
                tenant.notes.made_way(&row.path);
                gone.push(row);
            }
        }
        self.reserve.keep();
        Ok(gone)
    }

    /// Lets whoever writes on a full disk take its space from the bin of the tenant.
    pub(super) fn relief(&self, tenant: &TenantRoot) -> Relief {
        let (registry, reserve) = (Arc::clone(&self.registry), Arc::clone(&self.reserve));
        let (key, notes) = (tenant.key.clone(), tenant.notes.clone());
        Relief::new(move |staging, needed| {
            let relieved = relieve(&registry, &reserve, &key, (staging, needed), |row| {
                notes.made_way(&row.path);
            });
            relieved.unwrap_or_else(|error| {
                tracing::warn!(%error, "the bin takes space on a full disk");
                false
            })
        })
    }

    /// Removes what is in the bin without a row, and rows without a file: what a dead process or a
    /// power cut left.
    pub fn sweep_bin(&self, tenant: &TenantRoot) -> Result<(), Error> {
        // The rows come first: the file of each was put in before, so its directory is there by now.
        let rows = self.registry.in_bin(&tenant.key)?;
        let bin = tenant.root.existing_subdirectory(BIN)?;
        for row in &rows {
            let bin = bin.as_ref();
            let there = bin.map(|bin| bin.existing_entry(&ZonePath::found(row.id.clone())));
            if let None | Some(Ok(None)) = there {
                self.registry.settle_in_bin(row, false)?;
            }
        }
        let Some(bin) = bin else {
            return Ok(());
        };
        self.registry.measure_bin(&tenant.key)?;
        // Whoever puts something in enters its row first: what is seen now has one, or lost it.
        let there = bin.list(&ZonePath::root())?;
        let known = self.registry.names_in_bin(&tenant.key)?;
        let staging = self.staging(tenant)?;
        for found in there {
            let name = found.path.as_str();
            if !known.iter().any(|known| known == name) {
                remove_from(&staging, &bin, name)?;
            }
        }
        Ok(())
    }

    /// Enters of a move that was under way whether its files are in the bin.
    pub fn settle_bin_move(&self, tenant: &TenantRoot, row: &BinRow) -> Result<(), Error> {
        let bin = tenant.bin()?;
        let there = bin.existing_entry(&ZonePath::found(row.id.clone()))?;
        let is_it = |entry: &Entry| row.inode == 0 || entry.stamp().inode() == row.inode;
        let is_there = there.as_ref().is_some_and(is_it);
        self.registry.settle_in_bin(row, is_there)?;
        if there.is_some() && !is_there {
            // The content that was to take the place of the entry.
            remove_from(&self.staging(tenant)?, &bin, &row.id)?;
        }
        Ok(())
    }

    /// Enters what was under way between a zone and the bin when its process died. The caller has
    /// the zone's write lock.
    pub fn repair_bin(&self, tenant: &TenantRoot, zone: ZoneName) -> Result<(), Error> {
        let rows = self.registry.unsettled_in_bin(&tenant.key, zone.as_str());
        rows?
            .iter()
            .try_for_each(|row| self.settle_bin_move(tenant, row))
    }

    fn remove_binned(&self, tenant: &TenantRoot, rows: &[BinRow]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let (bin, staging) = (tenant.bin()?, self.staging(tenant)?);
        for row in rows {
            remove_from(&staging, &bin, &row.id)?;
        }
        Ok(())
    }
}

/// Empties the bin of a tenant, what was deleted first first, until so many bytes are free beside what
/// is kept for deletions; `told` gets what goes. Returns `false` if that makes no space; where
/// all of it would not be enough, it stays.
fn relieve(
    registry: &Registry,
    reserve: &Reserve,
    tenant: &str,
    (staging, needed): (&Staging, u64),
    told: impl Fn(&BinRow),
) -> Result<bool, Error> {
    let mut rows = registry.in_bin(tenant)?;
    let held: u64 = rows.iter().map(|row| row.totals.bytes).sum();
    let Some(bin) = staging.home()?.existing_subdirectory(BIN)? else {
        return Ok(false);
    };
    if reserve.lacks(needed.saturating_sub(held)) && held < needed {
        return Ok(false);
    }
    let staging = staging.plain();
    let mut has_freed = false;
    while let Some(oldest) = rows.pop() {
        let forget = || registry.forget_in_bin(tenant, std::slice::from_ref(&oldest));
        let gone = forget().or_else(|_| {
            reserve.release();
            forget()
        });
        for row in gone? {
            remove_from(&staging, &bin, &row.id)?;
            told(&row);
            has_freed = true;
        }
        if has_freed && reserve.restore() && !reserve.lacks(needed) {
            return Ok(true);
        }
    }
    Ok(has_freed && reserve.restore())
}

fn remove_from(staging: &Staging, bin: &Root, name: &str) -> Result<(), Error> {
    let Some(entry) = bin.existing_entry(&ZonePath::found(name.to_owned()))? else {
        return Ok(());
    };
    match staging.remove(&entry) {
        Ok(removed) => Ok(removed.keep()?),
        // Another process was here first.
        Err(error) if error.is_gone() => Ok(()),
        Err(error) => Err(error.into()),
    }
}
