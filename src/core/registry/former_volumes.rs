//! Volumes of version 0.1.0: rows of then say where its tenants lie.

use super::database::Statements as _;
use super::{Registry, RegistryError};

/// The volume in which the registry is.
pub const FIRST_VOLUME: &str = "volume-1";

impl Registry {
    /// Returns the number of tenants in other volumes than the first.
    pub fn tenants_in_other_volumes(&self) -> Result<u64, RegistryError> {
        let count = "SELECT count(*) FROM placements WHERE volume <> ?1";
        let count: i64 = self.connection()?.value(count, [FIRST_VOLUME])?;
        Ok(count.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::on_each_database;

    #[test]
    fn who_lies_in_another_volume_is_counted() {
        on_each_database(|registry| {
            let place = |tenant: &str, volume: &str| {
                let row =
                    "INSERT INTO placements (home, volume, moves, placed_at) VALUES (?1, ?2, 0, 7)";
                let placed = registry
                    .connection()
                    .expect("a connection")
                    .execute(row, [tenant, volume]);
                placed.expect("placed");
                registry.tenants_in_other_volumes().expect("counted")
            };
            assert_eq!(place("users/ada", FIRST_VOLUME), 0);
            assert_eq!(place("users/bob", "volume-2"), 1);
            assert_eq!(place("groups/c", "volume-3"), 2);
        });
    }
}
