//! Bin: deleted entries that may come back, and their space.
//!
//! Its space stands with that of the zones, in a row of its own, so every question about
//! space counts it. The space of an entry moves from one row to the other in the transaction that ends
//! the change: the sum is the same before and after.

use super::database::{Executor, Statements};
use super::intents::{GROW, Intent, end, held};
use super::rows::{Entity as _, row};
use super::{FilePlace, Registry, Result, path_rows};
use fileshed_storage::Totals;

/// The name of a tenant's bin among its zones.
pub const BIN: &str = "bin";

row! {
    /// Something that was deleted and may come back.
    pub struct BinRow in "bin" {
        /// Its id, and its name in the bin.
        id: String = "id",
        /// The key of the tenant.
        tenant: String = "home",
        /// The zone that it was deleted in.
        zone: String = "zone",
        /// Its path in the zone.
        path: String = "path",
        /// `true` if it is a directory.
        is_directory: bool = "is_directory",
        /// Its bytes and files.
        totals: Totals = "bytes, files",
        /// The conversation that deleted it.
        chat: String = "chat",
        /// When it was deleted, in seconds since 1970.
        deleted_at: i64 = "deleted_at",
        /// When it ends, in seconds since 1970.
        ends_at: i64 = "ends_at",
    }
}

impl BinRow {
    fn zone_place(&self) -> FilePlace<'_> {
        FilePlace {
            tenant: &self.tenant,
            zone: &self.zone,
            path: &self.path,
        }
    }

    fn bin_place(&self) -> FilePlace<'_> {
        FilePlace {
            tenant: &self.tenant,
            zone: BIN,
            path: &self.id,
        }
    }
}

impl Registry {
    /// Enters what is about to go into the bin.
    pub fn announce_to_bin(&self, row: &BinRow) -> Result<()> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            row.insert(transaction, (&["state"], "arriving"), "")
                .map(drop)
        })
    }

    /// Ends the change: it is in the bin, and so is its space.
    pub fn commit_into_bin(&self, intent: Intent, row: &BinRow) -> Result<()> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            settle(transaction, row, true)?;
            grow(transaction, row, -1)?;
            path_rows::follow(transaction, row.zone_place(), row.bin_place())?;
            end(transaction, intent)
        })
    }

    /// Enters that it is about to come out of the bin; returns `false` if it is there no more.
    pub fn announce_from_bin(&self, row: &BinRow) -> Result<bool> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            transaction.changes(
                "UPDATE bin SET state = 'leaving' WHERE id = ?1 AND state = 'kept'",
                [&row.id],
            )
        })
    }

    /// Ends the change: it is back at the path that the row has now, and so is its space.
    pub fn commit_from_bin(&self, intent: Intent, row: &BinRow) -> Result<()> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            settle(transaction, row, false)?;
            grow(transaction, row, 1)?;
            path_rows::follow(transaction, row.bin_place(), row.zone_place())?;
            end(transaction, intent)
        })
    }

    /// Ends the move of an entry: it is in the bin, or it is not.
    pub fn settle_in_bin(&self, row: &BinRow, is_there: bool) -> Result<()> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            settle(transaction, row, is_there)
        })
    }

    /// Returns the entries in the bin of a tenant, the last deleted first.
    pub fn in_bin(&self, tenant: &str) -> Result<Vec<BinRow>> {
        let condition = "WHERE home = ?1 AND state = 'kept' ORDER BY number DESC";
        BinRow::all(self, condition, [tenant])
    }

    /// Returns the entries of a zone that are on their way into the bin or out of it.
    pub fn unsettled_in_bin(&self, tenant: &str, zone: &str) -> Result<Vec<BinRow>> {
        let condition = "WHERE home = ?1 AND zone = ?2 AND state <> 'kept'";
        BinRow::all(self, condition, [tenant, zone])
    }

    /// Returns what came into the bin of a tenant at this second or after it.
    pub fn in_bin_since(&self, tenant: &str, since: i64) -> Result<Vec<BinRow>> {
        let condition = "WHERE home = ?1 AND deleted_at >= ?2 AND state = 'kept'";
        BinRow::all(self, condition, (tenant, since))
    }

    /// Enters what an entry of the bin holds by now.
    pub fn measured_in_bin(&self, row: &BinRow) -> Result<()> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            let measured = "UPDATE bin SET bytes = ?2, files = ?3 WHERE id = ?1";
            let (bytes, files) = (row.totals.bytes as i64, row.totals.files as i64);
            transaction.run(measured, (&row.id, bytes, files))?;
            enter_bin(transaction, &row.tenant)
        })
    }

    /// Returns the names of everything that a bin has or may have.
    pub fn names_in_bin(&self, tenant: &str) -> Result<Vec<String>> {
        self.all("SELECT id FROM bin WHERE home = ?1", [tenant])
    }

    /// Returns what ended at this second or before it.
    pub fn expired_in_bin(&self, now: i64) -> Result<Vec<BinRow>> {
        let condition = "WHERE ends_at <= ?1 AND state = 'kept' ORDER BY number";
        BinRow::all(self, condition, [now])
    }

    /// Takes these out of the bin of a tenant for good; returns those that were there. Their files go
    /// next.
    pub fn forget_in_bin(&self, tenant: &str, given: &[BinRow]) -> Result<Vec<BinRow>> {
        self.transact(&[tenant], |transaction| forget(transaction, tenant, given))
    }

    /// Takes the oldest entries out of the bin of a tenant until so much more fits. Takes none if it
    /// fits already, or if all of them would not be enough.
    pub fn make_space_in_bin(
        &self,
        tenant: &str,
        needed: Totals,
        most: Totals,
    ) -> Result<Vec<BinRow>> {
        let has_rows = "SELECT EXISTS (SELECT 1 FROM bin WHERE home = ?1)";
        if !self.value::<bool>(has_rows, [tenant])? {
            return Ok(Vec::new());
        }
        self.transact(&[tenant], |transaction| {
            let used = held(transaction, tenant)?;
            let over = |used: u64, needed, most| used.saturating_add(needed).saturating_sub(most);
            let mut over = Totals {
                bytes: over(used.bytes, needed.bytes, most.bytes),
                files: over(used.files, needed.files, most.files),
            };
            let condition = "WHERE home = ?1 AND state = 'kept' ORDER BY number";
            let mut gone = Vec::new();
            for row in BinRow::all(transaction, condition, [tenant])? {
                if over == Totals::default() {
                    break;
                }
                over.bytes = over.bytes.saturating_sub(row.totals.bytes);
                over.files = over.files.saturating_sub(row.totals.files);
                gone.push(row);
            }
            if over == Totals::default() {
                forget(transaction, tenant, &gone)
            } else {
                Ok(Vec::new())
            }
        })
    }
}

/// Enters that it is in the bin, or that it is not.
fn settle(transaction: &Executor<'_>, row: &BinRow, is_there: bool) -> Result<()> {
    let settle = if is_there {
        "UPDATE bin SET state = 'kept' WHERE id = ?1"
    } else {
        "DELETE FROM bin WHERE id = ?1"
    };
    transaction.run(settle, [&row.id])?;
    enter_bin(transaction, &row.tenant)
}

fn forget(transaction: &Executor<'_>, tenant: &str, given: &[BinRow]) -> Result<Vec<BinRow>> {
    let mut gone = Vec::new();
    for row in given {
        let forget = "DELETE FROM bin WHERE id = ?1 AND state = 'kept'";
        if transaction.changes(forget, [&row.id])? {
            path_rows::forget(transaction, row.bin_place())?;
            gone.push(row.clone());
        }
    }
    if !gone.is_empty() {
        enter_bin(transaction, tenant)?;
    }
    Ok(gone)
}

/// Enters what the bin of a tenant holds beside the space of its zones.
fn enter_bin(transaction: &Executor<'_>, tenant: &str) -> Result<()> {
    transaction.run(
        "INSERT INTO usage (home, zone, bytes, files)
         SELECT ?1, ?2, coalesce(sum(bytes), 0), coalesce(sum(files), 0) FROM bin
         WHERE home = ?1 AND state <> 'arriving'
         ON CONFLICT (home, zone) DO UPDATE SET bytes = excluded.bytes, files = excluded.files",
        [tenant, BIN],
    )
}

/// Adds what a row holds to its zone, or takes it away.
fn grow(transaction: &Executor<'_>, row: &BinRow, sign: i64) -> Result<()> {
    let (bytes, files) = (row.totals.bytes as i64, row.totals.files as i64);
    transaction.run(GROW, (&row.tenant, &row.zone, sign * bytes, sign * files))
}
