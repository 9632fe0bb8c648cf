//! What a call asks before it opens anything of a tenant: in one statement, because each is a round trip
//! where the registry is on another machine.

use super::database::{DatabaseError, Statements as _};
use super::placements::Placement;
use super::users::Standing;
use super::{Registry, RegistryError};

/// What is written down of a user and of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The user, if known.
    pub standing: Option<Standing>,
    /// Bytes that the tenant may hold, where an administrator gave it a quota of its own.
    pub quota: Option<u64>,
    /// Where the tenant lies, if that is written down.
    pub placement: Option<Placement>,
}

const ARRIVAL: &str = "SELECT users.name, users.suspended_at, tenant_quotas.bytes,
     placements.volume, placements.moves, placements.placed_at
     FROM (SELECT 1) AS one
     LEFT JOIN users ON users.id = ?1
     LEFT JOIN tenant_quotas ON tenant_quotas.home = ?2
     LEFT JOIN placements ON placements.home = ?2";

impl Registry {
    /// What is written down of `user`, who comes to `tenant`; nothing of a user whose id is empty.
    pub fn arrival(&self, user: &str, tenant: &str) -> Result<Arrival, RegistryError> {
        self.kept.answer(ARRIVAL, (tenant, &[user]), || {
            let arrival = self.connection()?.first(ARRIVAL, [user, tenant], |row| {
                let standing = match row.get::<Option<String>>(0)? {
                    Some(name) => Some(Standing {
                        name,
                        suspended_at: row.get(1)?,
                    }),
                    None => None,
                };
                let placement = match row.get::<Option<String>>(3)? {
                    Some(volume) => Some(Placement {
                        volume,
                        moves: row.get(4)?,
                        placed_at: row.get(5)?,
                    }),
                    None => None,
                };
                let quota: Option<i64> = row.get(2)?;
                Ok(Arrival {
                    standing,
                    quota: quota.map(|bytes| bytes as u64),
                    placement,
                })
            })?;
            Ok(arrival.ok_or(DatabaseError::NoRow)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::on_each_database;

    #[test]
    fn one_statement_tells_what_several_tell() {
        on_each_database(|registry| {
            let ask = |user, tenant| registry.arrival(user, tenant).expect("asked");
            let stranger = ask("ada", "users/ada");
            assert_eq!(
                stranger,
                Arrival {
                    standing: None,
                    quota: None,
                    placement: None,
                }
            );
            registry.meet("ada", "", 1).expect("met");
            registry.suspend("ada", 2).expect("suspended");
            let quota = Some(5);
            registry
                .set_tenant_quota("users/ada", quota, 3)
                .expect("set");
            registry.place("users/ada", "first", 4).expect("placed");
            let known = Arrival {
                standing: registry.standing("ada").expect("asked"),
                quota,
                placement: registry.placement("users/ada").expect("asked"),
            };
            assert!(known.standing.is_some() && known.placement.is_some());
            assert_eq!(ask("ada", "users/ada"), known);
            assert_eq!(ask("", "users/ada").standing, None);
            assert_eq!(ask("bob", "groups/a"), stranger);
        });
    }
}
