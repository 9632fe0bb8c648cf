//! What was deleted and may come back, and the space that it takes.
//!
//! Its space stands with that of the zones, in a row of its own, so everything that asks for space
//! knows of it. What goes into the bin or comes out of it moves from one row to the other in the
//! transaction that ends the change: the sum is the same before and after.

use super::database::{DatabaseError, Row, Statements, Transaction, Values};

use super::intents::{GROW, Intent, end, held};
use super::{FilePlace, Registry, RegistryError, path_rows};
use fileshed_storage::Totals;

/// Where the space of a tenant's bin stands among that of its zones.
pub const BIN: &str = "bin";

const COLUMNS: &str = "id, home, zone, path, is_directory, bytes, files, chat, deleted_at, ends_at";

/// Something that was deleted and may come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinRow {
    /// Its id, and its name in the bin.
    pub id: String,
    /// The key of the tenant.
    pub tenant: String,
    /// The zone that it was deleted in.
    pub zone: String,
    /// Where it was.
    pub path: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// What it holds.
    pub totals: Totals,
    /// The conversation that deleted it.
    pub chat: String,
    /// When it was deleted, in seconds since 1970.
    pub deleted_at: i64,
    /// When it ends, in seconds since 1970.
    pub ends_at: i64,
}

impl BinRow {
    fn read(row: &Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get(0)?,
            tenant: row.get(1)?,
            zone: row.get(2)?,
            path: row.get(3)?,
            is_directory: row.get(4)?,
            totals: Totals {
                bytes: row.get::<i64>(5)? as u64,
                files: row.get::<i64>(6)? as u64,
            },
            chat: row.get(7)?,
            deleted_at: row.get(8)?,
            ends_at: row.get(9)?,
        })
    }

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
    /// Says what is about to go into the bin.
    pub fn announce_to_bin(&self, row: &BinRow) -> Result<(), RegistryError> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            transaction.execute(
                &format!(
                    "INSERT INTO bin ({COLUMNS}, state)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'arriving')"
                ),
                (
                    &row.id,
                    &row.tenant,
                    &row.zone,
                    &row.path,
                    row.is_directory,
                    row.totals.bytes as i64,
                    row.totals.files as i64,
                    &row.chat,
                    row.deleted_at,
                    row.ends_at,
                ),
            )?;
            Ok(())
        })
    }

    /// It is in the bin, and so is its space: the change is done.
    pub fn commit_into_bin(&self, intent: Intent, row: &BinRow) -> Result<(), RegistryError> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            transaction.execute("UPDATE bin SET state = 'kept' WHERE id = ?1", [&row.id])?;
            enter_bin(transaction, &row.tenant)?;
            grow(transaction, row, -1)?;
            path_rows::follow(transaction, row.zone_place(), row.bin_place())?;
            Ok(end(transaction, intent)?)
        })
    }

    /// Says that it is about to come out of the bin; false where it is there no more.
    pub fn announce_from_bin(&self, row: &BinRow) -> Result<bool, RegistryError> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            let found = transaction.execute(
                "UPDATE bin SET state = 'leaving' WHERE id = ?1 AND state = 'kept'",
                [&row.id],
            )?;
            Ok(found > 0)
        })
    }

    /// It is back at the path that the row has now, and so is its space: the change is done.
    pub fn commit_from_bin(&self, intent: Intent, row: &BinRow) -> Result<(), RegistryError> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            transaction.execute("DELETE FROM bin WHERE id = ?1", [&row.id])?;
            enter_bin(transaction, &row.tenant)?;
            grow(transaction, row, 1)?;
            path_rows::follow(transaction, row.bin_place(), row.zone_place())?;
            Ok(end(transaction, intent)?)
        })
    }

    /// What was under way of this is over: it is in the bin, or it is not.
    pub fn settle_in_bin(&self, row: &BinRow, is_there: bool) -> Result<(), RegistryError> {
        self.transact_unflushed(&[&row.tenant], |transaction| {
            if is_there {
                transaction.execute("UPDATE bin SET state = 'kept' WHERE id = ?1", [&row.id])?;
            } else {
                transaction.execute("DELETE FROM bin WHERE id = ?1", [&row.id])?;
            }
            Ok(enter_bin(transaction, &row.tenant)?)
        })
    }

    /// What is in the bin of a tenant, what was deleted last first.
    pub fn in_bin(&self, tenant: &str) -> Result<Vec<BinRow>, RegistryError> {
        Ok(rows(
            &self.connection()?,
            "home = ?1 AND state = 'kept' ORDER BY number DESC",
            [tenant],
        )?)
    }

    /// What of a zone is under way into the bin or out of it.
    pub fn unsettled_in_bin(&self, tenant: &str, zone: &str) -> Result<Vec<BinRow>, RegistryError> {
        Ok(rows(
            &self.connection()?,
            "home = ?1 AND zone = ?2 AND state <> 'kept'",
            (tenant, zone),
        )?)
    }

    /// Everything that a bin has or may have, by the names there.
    pub fn names_in_bin(&self, tenant: &str) -> Result<Vec<String>, RegistryError> {
        Ok(self
            .connection()?
            .all("SELECT id FROM bin WHERE home = ?1", [tenant], |row| {
                row.get(0)
            })?)
    }

    /// What ended at this second or before it.
    pub fn expired_in_bin(&self, now: i64) -> Result<Vec<BinRow>, RegistryError> {
        Ok(rows(
            &self.connection()?,
            "ends_at <= ?1 AND state = 'kept' ORDER BY number",
            [now],
        )?)
    }

    /// Takes these out of the bin for good; gives those that were there. Their files go next.
    pub fn forget_in_bin(&self, given: &[BinRow]) -> Result<Vec<BinRow>, RegistryError> {
        let mut tenants: Vec<&str> = given.iter().map(|row| row.tenant.as_str()).collect();
        tenants.dedup();
        self.transact(&tenants, |transaction| Ok(forget(transaction, given)?))
    }

    /// Takes what was deleted first out of the bin of a tenant, as much as is needed for so much
    /// more; nothing where that fits, and where all of it would not be enough.
    pub fn make_space_in_bin(
        &self,
        tenant: &str,
        needed: Totals,
        most: Totals,
    ) -> Result<Vec<BinRow>, RegistryError> {
        let count: i64 = self
            .connection()?
            .value("SELECT count(*) FROM bin WHERE home = ?1", [tenant])?;
        if count == 0 {
            return Ok(Vec::new());
        }
        self.transact(&[tenant], |transaction| {
            let used = held(transaction, tenant)?;
            let mut over = Totals {
                bytes: used
                    .bytes
                    .saturating_add(needed.bytes)
                    .saturating_sub(most.bytes),
                files: used
                    .files
                    .saturating_add(needed.files)
                    .saturating_sub(most.files),
            };
            if over == Totals::default() {
                return Ok(Vec::new());
            }
            let all = rows(
                transaction,
                "home = ?1 AND state = 'kept' ORDER BY number",
                [tenant],
            )?;
            let mut gone = Vec::new();
            for row in all {
                if over == Totals::default() {
                    break;
                }
                over.bytes = over.bytes.saturating_sub(row.totals.bytes);
                over.files = over.files.saturating_sub(row.totals.files);
                gone.push(row);
            }
            if over == Totals::default() {
                Ok(forget(transaction, &gone)?)
            } else {
                Ok(Vec::new())
            }
        })
    }
}

fn rows(
    statements: &impl Statements,
    condition: &str,
    values: impl Values,
) -> Result<Vec<BinRow>, DatabaseError> {
    let select = format!("SELECT {COLUMNS} FROM bin WHERE {condition}");
    statements.all(&select, values, BinRow::read)
}

fn forget(transaction: &Transaction<'_>, given: &[BinRow]) -> Result<Vec<BinRow>, DatabaseError> {
    let mut gone = Vec::new();
    for row in given {
        let found = transaction.execute(
            "DELETE FROM bin WHERE id = ?1 AND state = 'kept'",
            [&row.id],
        )?;
        if found == 0 {
            continue;
        }
        path_rows::forget(transaction, row.bin_place())?;
        gone.push(row.clone());
    }
    let mut tenants: Vec<&str> = gone.iter().map(|row| row.tenant.as_str()).collect();
    tenants.sort_unstable();
    tenants.dedup();
    for tenant in tenants {
        enter_bin(transaction, tenant)?;
    }
    Ok(gone)
}

/// Enters what the bin of a tenant holds beside the space of its zones.
fn enter_bin(transaction: &Transaction<'_>, tenant: &str) -> Result<(), DatabaseError> {
    transaction.execute(
        "INSERT INTO usage (home, zone, bytes, files)
             SELECT ?1, ?2, coalesce(sum(bytes), 0), coalesce(sum(files), 0) FROM bin
             WHERE home = ?1 AND state <> 'arriving'
             ON CONFLICT (home, zone) DO UPDATE SET bytes = excluded.bytes, files = excluded.files",
        [tenant, BIN],
    )?;
    Ok(())
}

/// The zone of a row holds it, or no more.
fn grow(transaction: &Transaction<'_>, row: &BinRow, sign: i64) -> Result<(), DatabaseError> {
    transaction.execute(
        GROW,
        (
            &row.tenant,
            &row.zone,
            sign * row.totals.bytes as i64,
            sign * row.totals.files as i64,
        ),
    )?;
    Ok(())
}
