//! Statements that may be changing a database of a user, and those that were cut off.
//!
//! They are no intents: an intent is forgotten when its zone is repaired, but a statement that was cut off
//! is remembered until its database is rolled back, which may fail for as long as there is no space for it.
//! As intents they would keep their zone unfinished meanwhile, and servers of earlier versions that share
//! the registry would forget them with the zone.

use super::database::Statements as _;
use super::{FilePlace, Registry, Result};

/// A statement under way.
#[derive(Clone, Copy, Debug)]
pub struct StatementId(i64);

impl Registry {
    /// Enters a statement on the database at a place.
    pub fn begin_statement(&self, place: FilePlace<'_>, instance: &str) -> Result<StatementId> {
        let id = self.value(
            "INSERT INTO statements (home, zone, path, instance) VALUES (?1, ?2, ?3, ?4)
             RETURNING id",
            [place.tenant, place.zone, place.path, instance],
        )?;
        Ok(StatementId(id))
    }

    /// Returns the number of statements on this database that are under way or were cut off.
    pub fn statements_on(&self, place: FilePlace<'_>) -> Result<i64> {
        self.value(
            "SELECT count(*) FROM statements WHERE home = ?1 AND zone = ?2 AND path = ?3",
            place,
        )
    }

    /// Returns the number of them that are under way.
    pub fn statements_under_way(&self, place: FilePlace<'_>) -> Result<i64> {
        self.value(
            "SELECT count(*) FROM statements
             WHERE home = ?1 AND zone = ?2 AND path = ?3 AND instance <> ''",
            place,
        )
    }

    /// Forgets a statement that is over.
    pub fn end_statement(&self, id: StatementId) -> Result<()> {
        self.run("DELETE FROM statements WHERE id = ?1", [id.0])
    }

    /// Enters that a statement was cut off, and that its files are still there.
    pub fn cut_off_statement(&self, id: StatementId) -> Result<()> {
        self.run("UPDATE statements SET instance = '' WHERE id = ?1", [id.0])
    }

    /// Forgets statements that were cut off, once their files are put right.
    pub fn forget_cut_off(&self, place: FilePlace<'_>) -> Result<()> {
        self.run(
            "DELETE FROM statements
             WHERE home = ?1 AND zone = ?2 AND path = ?3 AND instance = ''",
            place,
        )
    }

    /// Returns the databases of a zone whose statements were cut off.
    pub fn cut_off_databases(&self, tenant: &str, zone: &str) -> Result<Vec<String>> {
        self.all(
            "SELECT DISTINCT path FROM statements WHERE home = ?1 AND zone = ?2 AND instance = ''",
            [tenant, zone],
        )
    }
}
