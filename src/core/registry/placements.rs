//! Where tenants lie, and what keeps them there.
//!
//! A row says where a tenant lies, from its first use on. A move is one change of that row, which counts
//! it: what was opened before is of an earlier count, and can enter no change any more.

use std::collections::HashMap;

use super::database::{DatabaseError, Row, Statements, Transaction};
use super::{Registry, RegistryError};

/// Where a tenant lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The name of the volume.
    pub volume: String,
    /// How often it was moved.
    pub moves: i64,
    /// When it came there, in Unix seconds.
    pub placed_at: i64,
}

impl Placement {
    /// What the columns of a row say, from this one on.
    pub(super) fn read(row: &Row<'_>, first: usize) -> Result<Self, DatabaseError> {
        Ok(Self {
            volume: row.get(first)?,
            moves: row.get(first + 1)?,
            placed_at: row.get(first + 2)?,
        })
    }
}

/// Something that has the directory of a tenant open as long as it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "who does not leave keeps the tenant from being moved"]
pub struct Occupant(i64);

impl Registry {
    /// Where a tenant lies, if that is written down.
    pub fn placement(&self, tenant: &str) -> Result<Option<Placement>, RegistryError> {
        Ok(self.connection()?.first(
            "SELECT volume, moves, placed_at FROM placements WHERE home = ?1",
            [tenant],
            |row| Placement::read(row, 0),
        )?)
    }

    /// Where all tenants lie of whom it is written down.
    pub fn placements(&self) -> Result<HashMap<String, Placement>, RegistryError> {
        Ok(self.connection()?.all(
            "SELECT home, volume, moves, placed_at FROM placements",
            (),
            |row| Ok((row.get(0)?, Placement::read(row, 1)?)),
        )?)
    }

    /// Writes down where a tenant lies, unless somebody did that before.
    pub fn place(&self, tenant: &str, volume: &str, now: i64) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "INSERT INTO placements (home, volume, moves, placed_at) VALUES (?1, ?2, 0, ?3)
             ON CONFLICT (home) DO NOTHING",
            (tenant, volume, now),
        )?;
        Ok(())
    }

    /// Enters a shell or a process that has the directory of a tenant open: `what` is what people call
    /// it. Fails where the tenant was moved since the directory was opened.
    pub fn occupy(
        &self,
        (tenant, moves): (&str, i64),
        instance: &str,
        what: &str,
    ) -> Result<Occupant, RegistryError> {
        Ok(self.transact(&[tenant], |transaction| {
            expect_unmoved(transaction, tenant, moves)?;
            let id = transaction.value(
                "INSERT INTO occupants (home, instance, what) VALUES (?1, ?2, ?3) RETURNING id",
                (tenant, instance, what),
            )?;
            Ok::<Occupant, DatabaseError>(Occupant(id))
        })?)
    }

    /// What has the directory of a tenant open.
    pub fn occupants(&self, tenant: &str) -> Result<Vec<String>, RegistryError> {
        Ok(occupants(&self.connection()?, tenant)?)
    }

    /// It has ended.
    pub fn leave(&self, occupant: Occupant) -> Result<(), RegistryError> {
        self.connection()?
            .execute("DELETE FROM occupants WHERE id = ?1", [occupant.0])?;
        Ok(())
    }
}

/// What has the directory of a tenant open.
pub(super) fn occupants(
    statements: &impl Statements,
    tenant: &str,
) -> Result<Vec<String>, DatabaseError> {
    let occupants = "SELECT DISTINCT what FROM occupants WHERE home = ?1 ORDER BY what";
    statements.all(occupants, [tenant], |row| row.get(0))
}

/// Forgets what a process had open that is gone.
pub(super) fn forget_occupants(
    statements: &impl Statements,
    instance: &str,
) -> Result<(), DatabaseError> {
    statements.execute("DELETE FROM occupants WHERE instance = ?1", [instance])?;
    Ok(())
}

/// Fails where a tenant was moved since its directory was opened.
pub(super) fn expect_unmoved(
    transaction: &Transaction<'_>,
    tenant: &str,
    moves: i64,
) -> Result<(), DatabaseError> {
    let now: Option<i64> = transaction.first(
        "SELECT moves FROM placements WHERE home = ?1",
        [tenant],
        |row| row.get(0),
    )?;
    match now {
        Some(now) if now != moves => Err(DatabaseError::Moved),
        _ => Ok(()),
    }
}
