//! Properties that programs keep with files over WebDAV: XML that means nothing here.

use super::database::{Executor, Statements as _, ToRow};
use super::path_rows::{PathTable, at_or_below};
use super::rows::{Entity as _, row};
use super::{FilePlace, Registry, Result};

/// Bytes of all properties of one file.
const FILE_MAX_BYTES: i64 = 64 * 1024;

/// Bytes of all properties of one tenant.
const TENANT_MAX_BYTES: i64 = 4 * 1024 * 1024;

/// Bytes that a row takes besides its strings.
const OVERHEAD: i64 = 64;

/// The effect of a property that the file has already.
const REPLACE: &str =
    "ON CONFLICT (home, zone, path, namespace, name) DO UPDATE SET xml = excluded.xml";

row! {
    /// One property.
    pub struct DeadProperty in "dead_properties" {
        /// The namespace of its element; empty for none.
        namespace: String = "namespace",
        /// The local name of its element.
        name: String = "name",
        /// The whole element.
        xml: Vec<u8> = "xml",
    }
}

/// The change of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyChange {
    /// It gets this value.
    Set(DeadProperty),
    /// It goes: namespace and name.
    Remove(String, String),
}

/// Returns the bytes of the rows that a condition finds.
fn size(transaction: &Executor<'_>, condition: &str, values: impl ToRow) -> Result<i64> {
    let sum = format!(
        "SELECT CAST(coalesce(sum(length(namespace) + length(name) + length(xml) + {OVERHEAD}), 0)
         AS BIGINT)
         FROM dead_properties WHERE {condition}"
    );
    transaction.value(&sum, values)
}

impl Registry {
    /// Returns the properties of a file or directory.
    pub fn dead_properties(&self, place: FilePlace<'_>) -> Result<Vec<DeadProperty>> {
        let condition = "WHERE home = ?1 AND zone = ?2 AND path = ?3 ORDER BY namespace, name";
        DeadProperty::all(self, condition, place)
    }

    /// Makes all changes in their order; returns `false`, with nothing changed, if there would be too
    /// much.
    pub fn change_dead_properties(
        &self,
        place: FilePlace<'_>,
        changes: &[PropertyChange],
    ) -> Result<bool> {
        let FilePlace { tenant, zone, path } = place;
        // `None` rolls back what is too much.
        let done = self.transact(&[tenant], |transaction| {
            for change in changes {
                match change {
                    PropertyChange::Set(property) => {
                        let key: &[&str] = &["home", "zone", "path"];
                        property.insert(transaction, (key, place), REPLACE)?;
                    }
                    PropertyChange::Remove(namespace, name) => transaction.run(
                        "DELETE FROM dead_properties WHERE home = ?1 AND zone = ?2 AND path = ?3
                         AND namespace = ?4 AND name = ?5",
                        [tenant, zone, path, namespace, name],
                    )?,
                }
            }
            let of_file = "home = ?1 AND zone = ?2 AND path = ?3";
            let is_too_much = size(transaction, of_file, place)? > FILE_MAX_BYTES
                || size(transaction, "home = ?1", [tenant])? > TENANT_MAX_BYTES;
            if is_too_much { Err(None) } else { Ok(()) }
        });
        match done {
            Ok(()) => Ok(true),
            Err(None) => Ok(false),
            Err(Some(error)) => Err(error),
        }
    }

    /// Gives what was copied the properties of what it was copied from, with all below, as far as
    /// there is space for them.
    pub fn copy_dead_properties(&self, from: FilePlace<'_>, to: FilePlace<'_>) -> Result<()> {
        if !self.has_rows(PathTable::DeadProperties, from.tenant, from.zone)? {
            return Ok(());
        }
        let copied = at_or_below("path");
        self.transact(&[to.tenant], |transaction| {
            let size_of_copied = size(transaction, &copied, from)?;
            if size(transaction, "home = ?1", [to.tenant])? + size_of_copied > TENANT_MAX_BYTES {
                return Ok(());
            }
            let copy = format!(
                "INSERT INTO dead_properties (home, zone, path, namespace, name, xml)
                 SELECT CAST(?4 AS TEXT), CAST(?5 AS TEXT), ?6 || substr(path, length(?3) + 1),
                 namespace, name, xml FROM dead_properties WHERE {copied} {REPLACE}"
            );
            transaction.run(&copy, (from, to))
        })
    }
}
