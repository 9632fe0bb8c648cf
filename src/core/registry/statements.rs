//! Statements that may be changing a database of a user, and those that were cut off.

use super::database::Statements as _;
use super::{Registry, RegistryError};

/// A statement under way.
#[derive(Clone, Copy, Debug)]
pub struct StatementId(i64);

/// The database of a statement: tenant, zone, path.
#[derive(Clone, Copy, Debug)]
pub struct DatabasePlace<'a> {
    /// The key of the tenant.
    pub tenant: &'a str,
    /// The zone, by its name in the registry.
    pub zone: &'a str,
    /// The path of the file in the zone.
    pub path: &'a str,
}

impl Registry {
    /// A statement begins.
    pub fn begin_statement(
        &self,
        place: DatabasePlace<'_>,
        instance: &str,
    ) -> Result<StatementId, RegistryError> {
        let id = self.connection()?.value(
            "INSERT INTO statements (home, zone, path, instance) VALUES (?1, ?2, ?3, ?4)
             RETURNING id",
            (place.tenant, place.zone, place.path, instance),
        )?;
        Ok(StatementId(id))
    }

    /// How many statements on this database are under way or were cut off.
    pub fn statements_on(&self, place: DatabasePlace<'_>) -> Result<i64, RegistryError> {
        Ok(self.connection()?.value(
            "SELECT count(*) FROM statements WHERE home = ?1 AND zone = ?2 AND path = ?3",
            (place.tenant, place.zone, place.path),
        )?)
    }

    /// How many of them are under way.
    pub fn statements_under_way(&self, place: DatabasePlace<'_>) -> Result<i64, RegistryError> {
        Ok(self.connection()?.value(
            "SELECT count(*) FROM statements
             WHERE home = ?1 AND zone = ?2 AND path = ?3 AND instance <> ''",
            (place.tenant, place.zone, place.path),
        )?)
    }

    /// A statement is over.
    pub fn end_statement(&self, id: StatementId) -> Result<(), RegistryError> {
        self.connection()?
            .execute("DELETE FROM statements WHERE id = ?1", [id.0])?;
        Ok(())
    }

    /// A statement was cut off, and what it left is still there.
    pub fn cut_off_statement(&self, id: StatementId) -> Result<(), RegistryError> {
        self.connection()?
            .execute("UPDATE statements SET instance = '' WHERE id = ?1", [id.0])?;
        Ok(())
    }

    /// What statements left that were cut off is put right.
    pub fn forget_cut_off(&self, place: DatabasePlace<'_>) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "DELETE FROM statements
                 WHERE home = ?1 AND zone = ?2 AND path = ?3 AND instance = ''",
            (place.tenant, place.zone, place.path),
        )?;
        Ok(())
    }

    /// The databases of a zone whose statements were cut off.
    pub fn cut_off_databases(
        &self,
        tenant: &str,
        zone: &str,
    ) -> Result<Vec<String>, RegistryError> {
        Ok(self.connection()?.all(
            "SELECT DISTINCT path FROM statements
             WHERE home = ?1 AND zone = ?2 AND instance = ''",
            (tenant, zone),
            |row| row.get(0),
        )?)
    }
}
