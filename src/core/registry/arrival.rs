//! The state of a tenant that a call needs before it opens anything: in one statement, because each is a
//! round trip if the registry is on another machine.

use std::sync::Arc;

use super::database::{Connection, DatabaseError, Statements as _};
use super::intents::{Condition, Usage};
use super::users::Standing;
use super::{Registry, RegistryError};
use fileshed_storage::Totals;

/// What is written down of a user and of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The user, if known.
    pub standing: Option<Standing>,
    /// Bytes that the tenant may hold, if an administrator gave it a quota of its own.
    pub quota: Option<u64>,
    /// What is known of its zones.
    pub condition: Condition,
}

/// One row for each zone that was measured, or one without.
const ARRIVAL: &str = "SELECT users.name, users.suspended_at, tenant_quotas.bytes,
     EXISTS (SELECT 1 FROM intents WHERE home = ?2 AND instance = ''),
     usage.zone, coalesce(usage.bytes, 0), coalesce(usage.files, 0)
     FROM (SELECT 1) AS one
     LEFT JOIN users ON users.id = ?1
     LEFT JOIN tenant_quotas ON tenant_quotas.home = ?2
     LEFT JOIN usage ON usage.home = ?2";

/// A row of [`ARRIVAL`]: name, suspension, quota, whether something is unfinished, a zone and its totals.
type ArrivalRow = (
    Option<String>,
    Option<i64>,
    Option<u64>,
    bool,
    Option<String>,
    Totals,
);

impl Registry {
    /// Returns the records about `user`, who comes to `tenant`; a user whose id is empty has none.
    pub fn arrival(&self, user: &str, tenant: &str) -> Result<Arc<Arrival>, RegistryError> {
        self.answer(ARRIVAL, [user, tenant], ask)
    }

    /// Returns the same on the connection that no writer ever has. Fails if it would have to wait.
    pub fn arrival_at_once(&self, user: &str, tenant: &str) -> Result<Arc<Arrival>, RegistryError> {
        self.answer_at_once(ARRIVAL, [user, tenant], ask)
    }
}

fn ask(
    connection: &Connection<'_>,
    statement: &'static str,
    values: [&str; 2],
) -> Result<Arc<Arrival>, RegistryError> {
    let rows: Vec<ArrivalRow> = connection.all(statement, values)?;
    let (name, suspended_at, quota, is_unfinished, ..) =
        rows.first().cloned().ok_or(DatabaseError::NoRow)?;
    let zones = rows.into_iter().filter_map(|(.., zone, totals)| {
        let zone = zone?;
        Some(Usage { zone, totals })
    });
    Ok(Arc::new(Arrival {
        standing: name.map(|name| Standing { name, suspended_at }),
        quota,
        condition: Condition {
            usage: zones.collect(),
            is_unfinished,
        },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{in_a_file, on_each_database};
    use fileshed_storage::Totals;

    #[test]
    fn one_statement_tells_what_several_tell() {
        on_each_database(|registry| {
            let ask = |user, tenant| {
                let arrival = registry.arrival(user, tenant).expect("asked");
                Arc::unwrap_or_clone(arrival)
            };
            let stranger = ask("ada", "users/ada");
            assert_eq!(
                stranger,
                Arrival {
                    standing: None,
                    quota: None,
                    condition: Condition {
                        usage: Vec::new(),
                        is_unfinished: false,
                    },
                }
            );
            registry.meet("ada", "", 1).expect("met");
            registry.suspend("ada", 2).expect("suspended");
            let quota = Some(5);
            registry
                .set_tenant_quota("users/ada", quota, 3)
                .expect("set");
            for (zone, bytes) in [("storage", 1), ("documents", 2)] {
                let totals = Totals { bytes, files: 1 };
                let measured = registry.measured("users/ada", zone, totals);
                measured.expect("measured");
            }
            let known = Arrival {
                standing: registry.standing("ada").expect("asked"),
                quota,
                condition: Condition {
                    usage: registry.usage("users/ada").expect("asked"),
                    is_unfinished: false,
                },
            };
            assert!(known.standing.is_some());
            assert_eq!(known.condition.usage.len(), 2);
            assert_eq!(ask("ada", "users/ada"), known);
            assert_eq!(ask("", "users/ada").standing, None);
            assert_eq!(ask("bob", "groups/a"), stranger);
        });
    }

    /// What is said where nobody may wait.
    fn at_once(registry: &Registry, user: &str) -> Arrival {
        let arrival = registry.arrival_at_once(user, "users/ada");
        Arc::unwrap_or_clone(arrival.expect("asked"))
    }

    fn known_as(name: &str, suspended_at: Option<i64>) -> Standing {
        let name = name.to_owned();
        Standing { name, suspended_at }
    }

    #[test]
    fn whoever_reads_does_not_wait_for_the_other_connection() {
        let (_directory, registry) = in_a_file();
        assert_eq!(at_once(&registry, "ada").standing, None);
        registry.meet("ada", "Ada", 1).expect("met");
        registry.suspend("ada", 2).expect("suspended");
        let zones = ["storage", "storage/edits"];
        for (number, zone) in zones.into_iter().enumerate() {
            assert_eq!(at_once(&registry, "ada").condition.usage.len(), number);
            let measured = registry.measured("users/ada", zone, Totals::default());
            measured.expect("measured");
        }
        // Held by who writes, and by nobody else.
        let _writer = registry.connection();
        let arrival = at_once(&registry, "ada");
        assert_eq!(arrival.standing, Some(known_as("Ada", Some(2))));
        assert!(!arrival.condition.is_unfinished);
        let mut measured: Vec<_> = arrival
            .condition
            .usage
            .into_iter()
            .map(|of| of.zone)
            .collect();
        measured.sort();
        assert_eq!(measured, zones);
        assert_eq!(at_once(&registry, "bob").standing, None);
        let kept = registry.working_directory_at_once("users/ada", "chat");
        assert_eq!(kept.expect("asked"), None);
    }
}
