//! Properties that programs keep with files over WebDAV: XML that means nothing here.

use super::database::{DatabaseError, Statements as _, Transaction, Values};
use super::path_rows::{AT_OR_BELOW, PathTable};
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

impl Registry {
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

    /// Gives what was copied the properties of what it was copied from, with all below, as far as
    /// there is space for them.
    pub fn copy_dead_properties(
        &self,
        from: FilePlace<'_>,
        to: FilePlace<'_>,
    ) -> Result<(), RegistryError> {
        if !self.has_rows(PathTable::DeadProperties, from.tenant, from.zone)? {
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
