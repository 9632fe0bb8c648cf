//! Properties that programs keep with files over WebDAV: XML that means nothing here.

use super::database::{DatabaseError, Statements, Transaction, Values};

use super::{FilePlace, Registry, RegistryError};

/// Bytes of all properties of one file.
const FILE_MAX_BYTES: i64 = 64 * 1024;

/// Bytes of all properties of one tenant.
const TENANT_MAX_BYTES: i64 = 4 * 1024 * 1024;

/// What a row takes besides its texts.
const OVERHEAD: i64 = 64;

/// One property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadProperty {
    /// The namespace of its element; empty for none.
    pub namespace: String,
    /// The local name of its element.
    pub name: String,
    /// The whole element.
    pub xml: Vec<u8>,
}

/// What happens to one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyChange {
    /// It gets this value.
    Set(DeadProperty),
    /// It goes: namespace and name.
    Remove(String, String),
}

/// Whether anything is kept of a zone: most have nothing.
fn knows(statements: &impl Statements, place: FilePlace<'_>) -> Result<bool, DatabaseError> {
    statements.value(
        "SELECT EXISTS (SELECT 1 FROM dead_properties WHERE home = ?1 AND zone = ?2)",
        (place.tenant, place.zone),
    )
}

/// Bytes of the rows that a condition finds.
fn size(
    transaction: &Transaction<'_>,
    condition: &str,
    values: impl Values,
) -> Result<i64, DatabaseError> {
    let sum = format!(
        "SELECT CAST(coalesce(sum(length(namespace) + length(name) + length(xml) + {OVERHEAD}), 0)
         AS BIGINT)
         FROM dead_properties WHERE {condition}"
    );
    transaction.value(&sum, values)
}

const AT_OR_BELOW: &str = "home = ?1 AND zone = ?2
     AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')";

impl Registry {
    /// Whether anything is kept with files of a zone.
    pub fn knows_dead_properties(&self, place: FilePlace<'_>) -> Result<bool, RegistryError> {
        Ok(knows(&self.connection()?, place)?)
    }

    /// The properties of a file or directory.
    pub fn dead_properties(
        &self,
        place: FilePlace<'_>,
    ) -> Result<Vec<DeadProperty>, RegistryError> {
        Ok(self.connection()?.all(
            "SELECT namespace, name, xml FROM dead_properties
             WHERE home = ?1 AND zone = ?2 AND path = ?3 ORDER BY namespace, name",
            (place.tenant, place.zone, place.path),
            |row| {
                Ok(DeadProperty {
                    namespace: row.get(0)?,
                    name: row.get(1)?,
                    xml: row.get(2)?,
                })
            },
        )?)
    }

    /// Makes all changes in their order, or none where there would be too much; whether they are made.
    pub fn change_dead_properties(
        &self,
        place: FilePlace<'_>,
        changes: &[PropertyChange],
    ) -> Result<bool, RegistryError> {
        let (tenant, zone, path) = (place.tenant, place.zone, place.path);
        let done =
            self.transact(&[tenant], |transaction| {
                for change in changes {
                    match change {
                    PropertyChange::Set(property) => transaction.execute(
                        "INSERT INTO dead_properties
                         (home, zone, path, namespace, name, xml) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                         ON CONFLICT (home, zone, path, namespace, name)
                         DO UPDATE SET xml = excluded.xml",
                        (tenant, zone, path, &property.namespace, &property.name, &property.xml),
                    )?,
                    PropertyChange::Remove(namespace, name) => transaction.execute(
                        "DELETE FROM dead_properties WHERE home = ?1 AND zone = ?2 AND path = ?3
                         AND namespace = ?4 AND name = ?5",
                        (tenant, zone, path, namespace, name),
                    )?,
                };
                }
                let of_file = "home = ?1 AND zone = ?2 AND path = ?3";
                if size(transaction, of_file, (tenant, zone, path))? > FILE_MAX_BYTES
                    || size(transaction, "home = ?1", [tenant])? > TENANT_MAX_BYTES
                {
                    // Rolled back.
                    return Err(Stopped::TooMuch);
                }
                Ok(())
            });
        match done {
            Ok(()) => Ok(true),
            Err(Stopped::TooMuch) => Ok(false),
            Err(Stopped::Failed(error)) => Err(error.into()),
        }
    }

    /// Forgets the properties of what went, and of all below.
    pub fn forget_dead_properties(&self, place: FilePlace<'_>) -> Result<(), RegistryError> {
        let connection = self.connection()?;
        if knows(&connection, place)? {
            let forget = format!("DELETE FROM dead_properties WHERE {AT_OR_BELOW}");
            connection.execute(&forget, (place.tenant, place.zone, place.path))?;
        }
        Ok(())
    }

    /// Keeps the properties of what moved, and of all below, under its new path.
    pub fn move_dead_properties(&self, from: FilePlace<'_>, to: &str) -> Result<(), RegistryError> {
        if !knows(&self.connection()?, from)? {
            return Ok(());
        }
        let to = FilePlace { path: to, ..from };
        self.transact(&[from.tenant], |transaction| {
            Ok(follow(transaction, from, to)?)
        })
    }

    /// Gives what was copied the properties of what it was copied from, with all below, as far as
    /// there is space for them.
    pub fn copy_dead_properties(
        &self,
        from: FilePlace<'_>,
        to: FilePlace<'_>,
    ) -> Result<(), RegistryError> {
        if !knows(&self.connection()?, from)? {
            return Ok(());
        }
        self.transact(&[to.tenant], |transaction| {
            let copied = size(
                transaction,
                AT_OR_BELOW,
                (from.tenant, from.zone, from.path),
            )?;
            if size(transaction, "home = ?1", [to.tenant])? + copied > TENANT_MAX_BYTES {
                return Ok(());
            }
            let copy = format!(
                "INSERT INTO dead_properties (home, zone, path, namespace, name, xml)
                 SELECT CAST(?4 AS TEXT), CAST(?5 AS TEXT), ?6 || substr(path, length(?3) + 1),
                 namespace, name, xml FROM dead_properties WHERE {AT_OR_BELOW}
                 ON CONFLICT (home, zone, path, namespace, name) DO UPDATE SET xml = excluded.xml"
            );
            transaction.execute(
                &copy,
                (
                    from.tenant,
                    from.zone,
                    from.path,
                    to.tenant,
                    to.zone,
                    to.path,
                ),
            )?;
            Ok(())
        })
    }
}

/// Keeps the properties of what moved within a tenant, and of all below, under its new place.
pub(super) fn follow(
    transaction: &Transaction<'_>,
    from: FilePlace<'_>,
    to: FilePlace<'_>,
) -> Result<(), DatabaseError> {
    if (from.zone, from.path) == (to.zone, to.path) {
        return Ok(());
    }
    let values = (from.tenant, from.zone, from.path, to.zone, to.path);
    // What was kept of something else at the new place gives way to what comes.
    transaction.execute(
        "DELETE FROM dead_properties WHERE home = ?1 AND zone = ?4
         AND (path = ?5 OR substr(path, 1, length(?5) + 1) = ?5 || '/')
         AND EXISTS (SELECT 1 FROM dead_properties AS source
             WHERE source.home = ?1 AND source.zone = ?2
             AND source.path = ?3 || substr(dead_properties.path, length(?5) + 1)
             AND source.namespace = dead_properties.namespace
             AND source.name = dead_properties.name)",
        values,
    )?;
    transaction.execute(
        &format!(
            "UPDATE dead_properties SET zone = ?4, path = ?5 || substr(path, length(?3) + 1)
             WHERE {AT_OR_BELOW}"
        ),
        values,
    )?;
    Ok(())
}

/// Why changes were not made.
enum Stopped {
    TooMuch,
    Failed(DatabaseError),
}

impl From<DatabaseError> for Stopped {
    fn from(error: DatabaseError) -> Self {
        Self::Failed(error)
    }
}
