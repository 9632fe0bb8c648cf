//! Space that zones hold, as rows.

use super::Result;
use super::database::Statements;
use super::rows::row;
use fileshed_storage::Totals;

row! {
    /// Space of one zone.
    pub struct Usage in "usage" {
        /// The zone's name.
        zone: String = "zone",
        /// Its bytes and files.
        totals: Totals = "bytes, files",
    }
}

/// Lets a zone hold more or less; never less than nothing.
pub(super) const GROW: &str = "UPDATE usage SET
     bytes = CASE WHEN bytes + ?3 < 0 THEN 0 ELSE bytes + ?3 END,
     files = CASE WHEN files + ?4 < 0 THEN 0 ELSE files + ?4 END
     WHERE home = ?1 AND zone = ?2";

/// Returns the bytes and files of all zones of a tenant, with its bin and the space reserved for uploads.
pub(super) fn held(statements: &impl Statements, tenant: &str) -> Result<Totals> {
    statements.value(
        "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT), CAST(coalesce(sum(files), 0) AS BIGINT)
         FROM usage WHERE home = ?1",
        [tenant],
    )
}
