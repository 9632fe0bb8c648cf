//! What was deleted and may come back, and the space that it takes.
//!
//! Its space stands with that of the zones, in a row of its own, so everything that asks for space
//! knows of it. What goes into the bin or comes out of it moves from one row to the other in the
//! transaction that ends the change: the sum is the same before and after.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::intents::{Intent, end};
use super::{FilePlace, Registry, RegistryError};
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
    fn read(row: &Row<'_>) -> Result<Self, rusqlite::Error> {
        Ok(Self {
            id: row.get(0)?,
            tenant: row.get(1)?,
            zone: row.get(2)?,
            path: row.get(3)?,
            is_directory: row.get(4)?,
            totals: Totals {
                bytes: row.get::<_, i64>(5)? as u64,
                files: row.get::<_, i64>(6)? as u64,
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
        self.transact_unflushed(|transaction| {
            transaction
                .prepare_cached(&format!(
                    "INSERT INTO bin ({COLUMNS}, state)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'arriving')"
                ))?
                .execute(params![
                    row.id,
                    row.tenant,
                    row.zone,
                    row.path,
                    row.is_directory,
                    row.totals.bytes as i64,
                    row.totals.files as i64,
                    row.chat,
                    row.deleted_at,
                    row.ends_at,
                ])?;
            Ok(())
        })
    }

    /// It is in the bin, and so is its space: the change is done.
    pub fn commit_into_bin(&self, intent: Intent, row: &BinRow) -> Result<(), RegistryError> {
        self.transact_unflushed(|transaction| {
            transaction.execute("UPDATE bin SET state = 'kept' WHERE id = ?1", [&row.id])?;
            enter_bin(transaction, &row.tenant)?;
            grow(transaction, row, -1)?;
            carry(transaction, row.zone_place(), row.bin_place())?;
            Ok(end(transaction, intent)?)
        })
    }

    /// Says that it is about to come out of the bin; false where it is there no more.
    pub fn announce_from_bin(&self, row: &BinRow) -> Result<bool, RegistryError> {
        self.transact_unflushed(|transaction| {
            let found = transaction.execute(
                "UPDATE bin SET state = 'leaving' WHERE id = ?1 AND state = 'kept'",
                [&row.id],
            )?;
            Ok(found > 0)
        })
    }

    /// It is back at the path that the row has now, and so is its space: the change is done.
    pub fn commit_from_bin(&self, intent: Intent, row: &BinRow) -> Result<(), RegistryError> {
        self.transact_unflushed(|transaction| {
            transaction.execute("DELETE FROM bin WHERE id = ?1", [&row.id])?;
            enter_bin(transaction, &row.tenant)?;
            grow(transaction, row, 1)?;
            carry(transaction, row.bin_place(), row.zone_place())?;
            Ok(end(transaction, intent)?)
        })
    }

    /// What was under way of this is over: it is in the bin, or it is not.
    pub fn settle_in_bin(&self, row: &BinRow, is_there: bool) -> Result<(), RegistryError> {
        self.transact_unflushed(|transaction| {
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
        rows(
            &self.connection(),
            "home = ?1 AND state = 'kept' ORDER BY number DESC",
            [tenant],
        )
    }

    /// What of a zone is under way into the bin or out of it.
    pub fn unsettled_in_bin(&self, tenant: &str, zone: &str) -> Result<Vec<BinRow>, RegistryError> {
        rows(
            &self.connection(),
            "home = ?1 AND zone = ?2 AND state <> 'kept'",
            (tenant, zone),
        )
    }

    /// Everything that a bin has or may have, by the names there.
    pub fn names_in_bin(&self, tenant: &str) -> Result<Vec<String>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached("SELECT id FROM bin WHERE home = ?1")?;
        let names = statement.query_map([tenant], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// What ended at this second or before it.
    pub fn expired_in_bin(&self, now: i64) -> Result<Vec<BinRow>, RegistryError> {
        rows(
            &self.connection(),
            "ends_at <= ?1 AND state = 'kept' ORDER BY number",
            [now],
        )
    }

    /// Takes these out of the bin for good; gives those that were there. Their files go next.
    pub fn forget_in_bin(&self, given: &[BinRow]) -> Result<Vec<BinRow>, RegistryError> {
        self.transact(|transaction| Ok(forget(transaction, given)?))
    }

    /// Takes what was deleted first out of the bin of a tenant, as much as is needed for so much
    /// more; nothing where that fits, and where all of it would not be enough.
    pub fn make_space_in_bin(
        &self,
        tenant: &str,
        needed: Totals,
        most: Totals,
    ) -> Result<Vec<BinRow>, RegistryError> {
        let held: i64 = self
            .connection()
            .prepare_cached("SELECT count(*) FROM bin WHERE home = ?1")?
            .query_row([tenant], |row| row.get(0))?;
        if held == 0 {
            return Ok(Vec::new());
        }
        self.transact(|transaction| {
            let used = transaction.query_row(
                "SELECT coalesce(sum(bytes), 0), coalesce(sum(files), 0) FROM usage WHERE home = ?1",
                [tenant],
                |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64)),
            )?;
            let mut over = Totals {
                bytes: used.0.saturating_add(needed.bytes).saturating_sub(most.bytes),
                files: used.1.saturating_add(needed.files).saturating_sub(most.files),
            };
            if over == Totals::default() {
                return Ok(Vec::new());
            }
            let all = rows_within(
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
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<BinRow>, RegistryError> {
    Ok(rows_within(connection, condition, values)?)
}

fn rows_within(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<BinRow>> {
    let select = format!("SELECT {COLUMNS} FROM bin WHERE {condition}");
    let mut statement = connection.prepare_cached(&select)?;
    let rows = statement.query_map(values, BinRow::read)?;
    rows.collect()
}

fn forget(transaction: &Transaction<'_>, given: &[BinRow]) -> rusqlite::Result<Vec<BinRow>> {
    let mut gone = Vec::new();
    for row in given {
        let found = transaction
            .prepare_cached("DELETE FROM bin WHERE id = ?1 AND state = 'kept'")?
            .execute([&row.id])?;
        if found == 0 {
            continue;
        }
        let place = (&row.tenant, BIN, &row.id);
        transaction.execute(
            "DELETE FROM file_metadata WHERE home = ?1 AND zone = ?2 AND ((directory = '' AND name = ?3)
             OR directory = ?3 OR substr(directory, 1, length(?3) + 1) = ?3 || '/')",
            place,
        )?;
        transaction.execute(
            "DELETE FROM dead_properties WHERE home = ?1 AND zone = ?2
             AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')",
            place,
        )?;
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
fn enter_bin(transaction: &Transaction<'_>, tenant: &str) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO usage (home, zone, bytes, files)
             SELECT ?1, ?2, coalesce(sum(bytes), 0), coalesce(sum(files), 0) FROM bin
             WHERE home = ?1 AND state <> 'arriving'
             ON CONFLICT (home, zone) DO UPDATE SET bytes = excluded.bytes, files = excluded.files",
        )?
        .execute([tenant, BIN])?;
    Ok(())
}

/// The zone of a row holds it, or no more.
fn grow(transaction: &Transaction<'_>, row: &BinRow, sign: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE usage SET bytes = max(0, bytes + ?3), files = max(0, files + ?4)
             WHERE home = ?1 AND zone = ?2",
        )?
        .execute((
            &row.tenant,
            &row.zone,
            sign * row.totals.bytes as i64,
            sign * row.totals.files as i64,
        ))?;
    Ok(())
}

/// What is known of files goes with them into the bin and out of it.
fn carry(
    transaction: &Transaction<'_>,
    from: FilePlace<'_>,
    to: FilePlace<'_>,
) -> rusqlite::Result<()> {
    let (directory, name) = from.split();
    let (new_directory, new_name) = to.split();
    let known: Option<i64> = transaction
        .prepare_cached(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM file_metadata WHERE home = ?1 AND zone = ?2)
             OR EXISTS (SELECT 1 FROM dead_properties WHERE home = ?1 AND zone = ?2)",
        )?
        .query_row((from.tenant, from.zone), |row| row.get(0))
        .optional()?;
    if known.is_none() {
        return Ok(());
    }
    transaction.execute(
        "UPDATE OR REPLACE file_metadata SET zone = ?5, directory = ?6, name = ?7
         WHERE home = ?1 AND zone = ?2 AND directory = ?3 AND name = ?4",
        (
            from.tenant,
            from.zone,
            directory,
            name,
            to.zone,
            new_directory,
            new_name,
        ),
    )?;
    transaction.execute(
        "UPDATE OR REPLACE file_metadata
         SET zone = ?4, directory = ?5 || substr(directory, length(?3) + 1)
         WHERE home = ?1 AND zone = ?2
         AND (directory = ?3 OR substr(directory, 1, length(?3) + 1) = ?3 || '/')",
        (from.tenant, from.zone, from.path, to.zone, to.path),
    )?;
    transaction.execute(
        "UPDATE OR REPLACE dead_properties
         SET zone = ?4, path = ?5 || substr(path, length(?3) + 1)
         WHERE home = ?1 AND zone = ?2
         AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')",
        (from.tenant, from.zone, from.path, to.zone, to.path),
    )?;
    Ok(())
}
