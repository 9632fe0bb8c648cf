//! Directories of data, and moves of tenants from one to another.

use super::database::{DatabaseError, Statements};
use super::placements::occupants;
use super::{Intent, Placement, Registry, RegistryError, intents};

/// A directory of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeRow {
    /// What people call it.
    pub name: String,
    /// What it says itself that it is.
    pub identity: String,
}

/// How the end of a move went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Switch {
    /// The tenant lies there from now on.
    Done,
    /// It does not lie any more where it did.
    Elsewhere,
    /// These changes of it are under way.
    UnderWay(Vec<String>),
    /// These shells and processes have it open.
    Occupied(Vec<String>),
}

impl Registry {
    /// The directories of data that are known, by their names.
    pub fn volumes(&self) -> Result<Vec<VolumeRow>, RegistryError> {
        Ok(self.connection()?.all(
            "SELECT name, identity FROM volumes ORDER BY name",
            (),
            |row| {
                Ok(VolumeRow {
                    name: row.get(0)?,
                    identity: row.get(1)?,
                })
            },
        )?)
    }

    /// Enters a directory of data. False where its name is known already.
    pub fn add_volume(&self, volume: &VolumeRow) -> Result<bool, RegistryError> {
        let added = self.connection()?.execute(
            "INSERT INTO volumes (name, identity) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING",
            [volume.name.as_str(), volume.identity.as_str()],
        )?;
        Ok(added == 1)
    }

    /// Forgets a directory of data in which nobody lies.
    pub fn forget_volume(&self, name: &str) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "DELETE FROM volumes WHERE name = ?1
             AND NOT EXISTS (SELECT 1 FROM placements WHERE volume = ?1)",
            [name],
        )?;
        Ok(())
    }

    /// How many tenants lie in a directory of data.
    pub fn tenants_of_volume(&self, name: &str) -> Result<u64, RegistryError> {
        let count = "SELECT count(*) FROM placements WHERE volume = ?1";
        Ok(self.connection()?.value::<i64>(count, [name])? as u64)
    }

    /// Has a tenant lie in another volume, where nobody changes anything of it and nothing has it open.
    ///
    /// Who moves it has entered an intent of its own, which ends with that.
    pub fn switch(
        &self,
        (tenant, own): (&str, Intent),
        from: &Placement,
        to: &str,
        now: i64,
    ) -> Result<Switch, RegistryError> {
        self.transact(&[tenant], |transaction| {
            let under_way = changes(transaction, tenant, own)?;
            let occupants = occupants(transaction, tenant)?;
            if !occupants.is_empty() {
                return Ok(Switch::Occupied(occupants));
            }
            if !under_way.is_empty() {
                return Ok(Switch::UnderWay(under_way));
            }
            let switched = transaction.execute(
                "UPDATE placements SET volume = ?4, moves = moves + 1, placed_at = ?5
                 WHERE home = ?1 AND volume = ?2 AND moves = ?3",
                (tenant, from.volume.as_str(), from.moves, to, now),
            )?;
            if switched == 0 {
                return Ok(Switch::Elsewhere);
            }
            intents::end(transaction, own)?;
            Ok::<Switch, RegistryError>(Switch::Done)
        })
    }

    /// The changes of a tenant that are under way, by what makes them.
    pub fn changes_under_way(&self, tenant: &str) -> Result<Vec<String>, RegistryError> {
        Ok(changes(&self.connection()?, tenant, Intent(0))?)
    }
}

/// The changes of a tenant that are under way, but for one.
fn changes(
    statements: &impl Statements,
    tenant: &str,
    own: Intent,
) -> Result<Vec<String>, DatabaseError> {
    statements.all(
        "SELECT DISTINCT operation FROM intents WHERE home = ?1 AND id <> ?2
         UNION SELECT 'shed_sqlite' FROM statements WHERE home = ?1 ORDER BY 1",
        (tenant, own.0),
        |row| row.get(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewIntent;
    use crate::testing::{intent, on_each_database};

    const ADA: &str = "users/ada";

    fn command(moves: i64) -> NewIntent<'static> {
        NewIntent {
            operation: "shed_exec",
            ..intent("one", Some(moves))
        }
    }

    #[test]
    fn where_a_tenant_lies_is_decided_once() {
        on_each_database(|registry| {
            assert_eq!(registry.placement(ADA).expect("asked"), None);
            for volume in ["volume-2", "volume-1"] {
                registry.place(ADA, volume, 7).expect("placed");
            }
            let placement = registry.placement(ADA).expect("asked").expect("placed");
            assert_eq!(
                (placement.volume.as_str(), placement.moves),
                ("volume-2", 0)
            );
            let volume = VolumeRow {
                name: "volume-2".to_owned(),
                identity: "x".to_owned(),
            };
            assert!(registry.add_volume(&volume).expect("added"));
            assert!(!registry.add_volume(&volume).expect("known"));
            registry.forget_volume("volume-2").expect("asked");
            assert_eq!(registry.volumes().expect("asked"), [volume]);
        });
    }

    #[test]
    fn a_move_waits_for_changes_and_what_was_opened_before_enters_none_after() {
        on_each_database(|registry| {
            registry.place(ADA, "volume-1", 7).expect("placed");
            let from = registry.placement(ADA).expect("asked").expect("placed");
            let switch = || {
                let own = registry.begin(&command(0)).expect("begun");
                let switch = registry.switch((ADA, own), &from, "volume-2", 8);
                if !matches!(switch, Ok(Switch::Done)) {
                    registry.commit(own).expect("ended");
                }
                switch.expect("asked")
            };
            let change = registry.begin(&command(0)).expect("begun");
            assert_eq!(switch(), Switch::UnderWay(vec!["shed_exec".to_owned()]));
            registry.commit(change).expect("ended");
            let shell = registry.occupy((ADA, 0), "one", "a shell").expect("open");
            assert_eq!(switch(), Switch::Occupied(vec!["a shell".to_owned()]));
            registry.leave(shell).expect("left");
            let _of_the_dead = registry.occupy((ADA, 0), "two", "a shell").expect("open");
            registry.orphan_instance("two").expect("ended");
            let dead = registry.begin(&command(0)).expect("begun");
            registry.orphan_tenant(ADA).expect("marked");
            let ended = registry.switch((ADA, dead), &from, "volume-2", 8);
            assert!(matches!(ended, Err(RegistryError::TakenOver)), "{ended:?}");
            for orphan in registry.orphans(ADA).expect("asked") {
                registry.repaired(&orphan).expect("repaired");
            }
            assert_eq!(switch(), Switch::Done);
            let late = registry.begin(&command(0)).expect_err("of before");
            assert_eq!(late.code(), fileshed_types::Code::Busy);
            let late = registry.begin_all(&[command(0)]).expect_err("of before");
            assert_eq!(late.code(), fileshed_types::Code::Busy);
            let late = registry.occupy((ADA, 0), "one", "a shell");
            assert!(matches!(late, Err(RegistryError::Moved)), "{late:?}");
            let change = registry.begin(&command(1)).expect("of now");
            registry.commit(change).expect("ended");
        });
    }
}
