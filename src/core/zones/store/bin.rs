//! The bin of a tenant on disk: one directory beside its zones, which no path of a zone can name.
//!
//! An entry without a row in the registry is no longer in the bin. So an entry leaves the bin by losing
//! its row, and its files are removed after that. The next process sweeps the files that a process did
//! not get to.

use std::sync::Arc;

use super::Store;
use crate::tenant::TenantRoot;
use fileshed_registry::{BIN, BinRow, Registry};
use fileshed_storage::{Entry, Relief, Reserve, Root, Staging, Totals};
use fileshed_types::{Code, Error, ZoneName, ZonePath};

impl Store {
    /// Deletes entries from the bin of a tenant, oldest first, until `needed` fits. Returns `true` if
    /// that made the space; if even an empty bin would not be enough, deletes none.
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

    /// Runs `begin`, which may exceed the quota. If it does and the bin can make the space, runs it again.
    pub fn making_space<T>(
        &self,
        tenant: &TenantRoot,
        needed: Totals,
        begin: impl Fn() -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.reserve.lacks(0) {
            // The rows need a little space, too.
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

    /// Removes these entries from the bin of a tenant for good. Returns the number of those that were there.
    pub fn end_in_bin(&self, tenant: &TenantRoot, rows: &[BinRow]) -> Result<u64, Error> {
        let gone = self.registry.forget_in_bin(&tenant.key, rows)?;
        self.remove_binned(tenant, &gone)?;
        Ok(gone.len() as u64)
    }

    /// Deletes entries from the bin of a tenant, oldest first, until the disk is not full any more.
    /// Returns their rows.
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

    /// Returns a handler that frees space in the bin of the tenant for a writer on a full disk.
    pub(super) fn relief(&self, tenant: &TenantRoot) -> Relief {
        let (registry, reserve) = (Arc::clone(&self.registry), Arc::clone(&self.reserve));
        let (key, notes) = (tenant.key.clone(), tenant.notes.clone());
        Relief::new(move |staging, needed| {
            let relieved = relieve(&registry, &reserve, &key, (staging, needed), |row| {
                notes.made_way(&row.path);
            });
            relieved.unwrap_or_else(|error| {
                tracing::warn!(%error, "the bin could not be emptied on a full disk");
                false
            })
        })
    }

    /// Removes files in the bin that have no row, and rows without files: remains of a dead process or a
    /// power cut.
    pub fn sweep_bin(&self, tenant: &TenantRoot) -> Result<(), Error> {
        // The rows are read before the bin is opened. The files of a settled row are in the bin already,
        // so its directory exists by now.
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
        // A writer inserts the row of an entry before its files. So an entry listed here has a row, or
        // has lost it.
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

    /// Records whether the files of an interrupted move are in the bin.
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

/// Deletes entries from the bin of a tenant, oldest first, until `needed` bytes are free beside those
/// that are kept for deletions; `told` gets each row. Returns `false` if that makes no space; if even an
/// empty bin would not be enough, deletes none.
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
