//! Properties that programs keep with files over WebDAV: XML that means nothing here.

use rusqlite::{Connection, Transaction};

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
fn knows(connection: &Connection, place: FilePlace<'_>) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM dead_properties WHERE home = ?1 AND zone = ?2)",
    )?;
    statement.query_row((place.tenant, place.zone), |row| row.get(0))
}

/// Bytes of the rows that a condition finds.
fn size(
    transaction: &Transaction<'_>,
    condition: &str,
    values: impl rusqlite::Params,
) -> rusqlite::Result<i64> {
    let sum = format!(
        "SELECT coalesce(sum(length(namespace) + length(name) + length(xml) + {OVERHEAD}), 0)
         FROM dead_properties WHERE {condition}"
    );
    transaction.query_row(&sum, values, |row| row.get(0))
}

const AT_OR_BELOW: &str = "home = ?1 AND zone = ?2
     AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')";

impl Registry {
    /// Whether anything is kept with files of a zone.
    pub fn knows_dead_properties(&self, place: FilePlace<'_>) -> Result<bool, RegistryError> {
        Ok(knows(&self.connection(), place)?)
    }

    /// The properties of a file or directory.
    pub fn dead_properties(
        &self,
        place: FilePlace<'_>,
    ) -> Result<Vec<DeadProperty>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(
            "SELECT namespace, name, xml FROM dead_properties
             WHERE home = ?1 AND zone = ?2 AND path = ?3 ORDER BY namespace, name",
        )?;
        let rows = statement.query_map((place.tenant, place.zone, place.path), |row| {
            Ok(DeadProperty {
                namespace: row.get(0)?,
                name: row.get(1)?,
                xml: row.get(2)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Makes all changes in their order, or none where there would be too much; whether they are made.
    pub fn change_dead_properties(
        &self,
        place: FilePlace<'_>,
        changes: &[PropertyChange],
    ) -> Result<bool, RegistryError> {
        let (tenant, zone, path) = (place.tenant, place.zone, place.path);
        let done =
            self.transact(|transaction| {
                for change in changes {
                    match change {
                    PropertyChange::Set(property) => transaction.execute(
                        "INSERT OR REPLACE INTO dead_properties
                         (home, zone, path, namespace, name, xml) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
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
        let connection = self.connection();
        if knows(&connection, place)? {
            let forget = format!("DELETE FROM dead_properties WHERE {AT_OR_BELOW}");
            connection.execute(&forget, (place.tenant, place.zone, place.path))?;
        }
        Ok(())
    }

    /// Keeps the properties of what moved, and of all below, under its new path.
    pub fn move_dead_properties(&self, from: FilePlace<'_>, to: &str) -> Result<(), RegistryError> {
        let connection = self.connection();
        if knows(&connection, from)? {
            let follow = format!(
                "UPDATE OR REPLACE dead_properties
                 SET path = ?4 || substr(path, length(?3) + 1) WHERE {AT_OR_BELOW}"
            );
            connection.execute(&follow, (from.tenant, from.zone, from.path, to))?;
        }
        Ok(())
    }

    /// Gives what was copied the properties of what it was copied from, with all below, as far as
    /// there is space for them.
    pub fn copy_dead_properties(
        &self,
        from: FilePlace<'_>,
        to: FilePlace<'_>,
    ) -> Result<(), RegistryError> {
        if !knows(&self.connection(), from)? {
            return Ok(());
        }
        self.transact(|transaction| {
            let copied = size(
                transaction,
                AT_OR_BELOW,
                (from.tenant, from.zone, from.path),
            )?;
            if size(transaction, "home = ?1", [to.tenant])? + copied > TENANT_MAX_BYTES {
                return Ok(());
            }
            let copy = format!(
                "INSERT OR REPLACE INTO dead_properties (home, zone, path, namespace, name, xml)
                 SELECT ?4, ?5, ?6 || substr(path, length(?3) + 1), namespace, name, xml
                 FROM dead_properties WHERE {AT_OR_BELOW}"
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

/// Why changes were not made.
enum Stopped {
    TooMuch,
    Failed(rusqlite::Error),
}

impl From<rusqlite::Error> for Stopped {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error)
    }
}
