//! Statements that may be changing a database of a user, and those that were cut off.

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
        let connection = self.connection();
        connection
            .prepare_cached(
                "INSERT INTO statements (home, zone, path, instance) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((place.tenant, place.zone, place.path, instance))?;
        Ok(StatementId(connection.last_insert_rowid()))
    }

    /// How many statements on this database are under way or were cut off.
    pub fn statements_on(&self, place: DatabasePlace<'_>) -> Result<i64, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT count(*) FROM statements WHERE home = ?1 AND zone = ?2 AND path = ?3",
        )?;
        Ok(statement.query_row((place.tenant, place.zone, place.path), |row| row.get(0))?)
    }

    /// How many of them are under way.
    pub fn statements_under_way(&self, place: DatabasePlace<'_>) -> Result<i64, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT count(*) FROM statements
             WHERE home = ?1 AND zone = ?2 AND path = ?3 AND instance <> ''",
        )?;
        Ok(statement.query_row((place.tenant, place.zone, place.path), |row| row.get(0))?)
    }

    /// A statement is over.
    pub fn end_statement(&self, id: StatementId) -> Result<(), RegistryError> {
        self.connection()
            .prepare_cached("DELETE FROM statements WHERE id = ?1")?
            .execute([id.0])?;
        Ok(())
    }

    /// A statement was cut off, and what it left is still there.
    pub fn cut_off_statement(&self, id: StatementId) -> Result<(), RegistryError> {
        self.connection()
            .prepare_cached("UPDATE statements SET instance = '' WHERE id = ?1")?
            .execute([id.0])?;
        Ok(())
    }

    /// What statements left that were cut off is put right.
    pub fn forget_cut_off(&self, place: DatabasePlace<'_>) -> Result<(), RegistryError> {
        self.connection()
            .prepare_cached(
                "DELETE FROM statements
                 WHERE home = ?1 AND zone = ?2 AND path = ?3 AND instance = ''",
            )?
            .execute((place.tenant, place.zone, place.path))?;
        Ok(())
    }

    /// The databases of a zone whose statements were cut off.
    pub fn cut_off_databases(
        &self,
        tenant: &str,
        zone: &str,
    ) -> Result<Vec<String>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT DISTINCT path FROM statements
             WHERE home = ?1 AND zone = ?2 AND instance = ''",
        )?;
        let rows = statement.query_map((tenant, zone), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
