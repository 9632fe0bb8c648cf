//! Bin: deleted entries that may come back, and their space.
//!
//! Its space stands with that of the zones, in a row of its own, so every question about
//! space counts it. The space of an entry moves from one row to the other in the transaction that ends
//! the change: the sum is the same before and after.

use super::database::{Executor, Statements};
use super::rows::{Entity as _, places, row};
use super::usage::{GROW, held};
use super::{FilePlace, Registry, Result, path_rows};
use fileshed_storage::Totals;

/// Rows that are read at once.
const AT_ONCE: u64 = 64;

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
        /// Its inode, if its name in the bin has something else before: 0 if not.
        inode: u64 = "inode",
        /// `true` if something took its place; it was not deleted.
        is_replaced: bool = "is_replaced",
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

    /// Returns its place, relative to the tenant root.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{BIN}/{}", self.id)
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
    /// Enters that entries are about to come out of the bin; returns `false`, and enters nothing, if one of them
    /// is there no more.
    pub fn announce_from_bin(&self, rows: &[BinRow]) -> Result<bool> {
        let tenants: Vec<&str> = rows.iter().map(|row| &*row.tenant).take(1).collect();
        self.transact_unflushed(&tenants, |transaction| {
            let is_there = "SELECT EXISTS (SELECT 1 FROM bin WHERE id = ?1 AND state = 'kept')";
            for row in rows {
                if !transaction.value::<bool>(is_there, [&row.id])? {
                    return Ok(false);
                }
            }
            let leave = "UPDATE bin SET state = 'leaving' WHERE id = ?1";
            for row in rows {
                transaction.run(leave, [&row.id])?;
            }
            Ok(true)
        })
    }

    /// Enters what is about to go into the bin.
    pub fn announce_to_bin(&self, row: &BinRow) -> Result<()> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            announce(transaction, std::slice::from_ref(row))
        })
    }

    /// Measures the bin of a tenant by its rows.
    pub fn measure_bin(&self, tenant: &str) -> Result<()> {
        measure(self, tenant)
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

    /// Returns those of these entries that are in the bin of a tenant.
    pub fn entries_in_bin(&self, tenant: &str, ids: &[&str]) -> Result<Vec<BinRow>> {
        let mut found = Vec::new();
        for ids in ids.chunks(AT_ONCE as usize) {
            let places = places(2, ids.len());
            let condition = format!("WHERE home = ?1 AND state = 'kept' AND id IN ({places})");
            found.extend(BinRow::all(self, &condition, (tenant, ids))?);
        }
        Ok(found)
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
            measure(transaction, &row.tenant)
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
            let condition = "WHERE home = ?1 AND state = 'kept' ORDER BY number LIMIT ?2 OFFSET ?3";
            let mut gone = Vec::new();
            'oldest: loop {
                let known = gone.len() as u64;
                let rows = BinRow::all(transaction, condition, (tenant, AT_ONCE, known))?;
                if rows.is_empty() {
                    break;
                }
                for row in rows {
                    if over == Totals::default() {
                        break 'oldest;
                    }
                    over.bytes = over.bytes.saturating_sub(row.totals.bytes);
                    over.files = over.files.saturating_sub(row.totals.files);
                    gone.push(row);
                }
            }
            if over == Totals::default() {
                forget(transaction, tenant, &gone)
            } else {
                Ok(Vec::new())
            }
        })
    }
}

/// Enters what is about to go into the bin.
pub(super) fn announce(transaction: &Executor<'_>, rows: &[BinRow]) -> Result<()> {
    rows.iter().try_for_each(|row| {
        row.insert(transaction, (&["state"], "arriving"), "")
            .map(drop)
    })
}

/// Enters that it is in the bin, and so is its space.
pub(super) fn arrived(transaction: &Executor<'_>, row: &BinRow) -> Result<()> {
    settle(transaction, row, true)?;
    grow(transaction, row, -1)?;
    if row.is_replaced {
        return Ok(());
    }
    path_rows::follow(transaction, row.zone_place(), row.bin_place())
}

/// Enters that it is back at the path that the row has now, and so is its space.
pub(super) fn left(transaction: &Executor<'_>, row: &BinRow) -> Result<()> {
    settle(transaction, row, false)?;
    grow(transaction, row, 1)?;
    if row.is_replaced {
        return Ok(());
    }
    path_rows::follow(transaction, row.bin_place(), row.zone_place())
}

/// Enters that it is in the bin, or that it is not.
fn settle(transaction: &Executor<'_>, row: &BinRow, is_there: bool) -> Result<()> {
    if is_there {
        let arrived =
            "UPDATE bin SET state = 'kept', inode = 0 WHERE id = ?1 AND state = 'arriving'";
        if transaction.changes(arrived, [&row.id])? {
            return hold(transaction, row, 1);
        }
        return transaction.run("UPDATE bin SET state = 'kept' WHERE id = ?1", [&row.id]);
    }
    let gone: Option<(String, Totals)> = transaction.first(
        "DELETE FROM bin WHERE id = ?1 RETURNING state, bytes, files",
        [&row.id],
    )?;
    match gone {
        Some((state, totals)) if state != "arriving" => hold(
            transaction,
            &BinRow {
                totals,
                ..row.clone()
            },
            -1,
        ),
        _ => Ok(()),
    }
}

fn forget(transaction: &Executor<'_>, tenant: &str, given: &[BinRow]) -> Result<Vec<BinRow>> {
    let mut gone = Vec::new();
    for row in given {
        let forget = "DELETE FROM bin WHERE id = ?1 AND home = ?2 AND state = 'kept'";
        if transaction.changes(forget, [&row.id, tenant])? {
            path_rows::forget(transaction, row.bin_place())?;
            hold(transaction, row, -1)?;
            gone.push(row.clone());
        }
    }
    Ok(gone)
}

/// Adds what a row holds to the space of the bin, or takes it away.
fn hold(transaction: &Executor<'_>, row: &BinRow, sign: i64) -> Result<()> {
    let (bytes, files) = (row.totals.bytes as i64, row.totals.files as i64);
    let (bytes, files) = (sign * bytes, sign * files);
    if transaction.changes(GROW, (&*row.tenant, BIN, bytes, files))? {
        return Ok(());
    }
    measure(transaction, &row.tenant)
}

/// Enters what the bin of a tenant holds beside the space of its zones, from all its rows.
fn measure(statements: &impl Statements, tenant: &str) -> Result<()> {
    statements.run(
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
