//! The state of a tenant that a call needs before it opens anything: in one statement, because each is a
//! round trip if the registry is on another machine.
//!
//! The answers that every call needs first hardly ever change, so they are kept until anybody changes
//! anything. SQLite tells the connection that reads whether any other connection or process has committed
//! since (`PRAGMA data_version`), so a kept answer is as new as one that is asked for. On PostgreSQL nothing
//! is kept.

use std::sync::Arc;

use super::database::{Connection, Statements as _};
use super::intents::TenantCondition;
use super::usage::Usage;
use super::users::Standing;
use super::{Registry, RegistryError, Result};
use fileshed_storage::Totals;

/// State of a user and of a tenant in the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantState {
    /// The user, if known.
    pub standing: Option<Standing>,
    /// Bytes that the tenant may hold, if an administrator gave it a quota of its own.
    pub quota: Option<u64>,
    /// State of its zones.
    pub condition: TenantCondition,
}

/// One row for each zone that was measured, or one without.
const ARRIVAL: &str = "SELECT users.name, users.suspended_at, tenant_quotas.bytes,
     EXISTS (SELECT 1 FROM intents WHERE home = ?2 AND instance = ''),
     usage.zone, coalesce(usage.bytes, 0), coalesce(usage.files, 0)
     FROM (SELECT 1) AS one
     LEFT JOIN users ON users.id = ?1
     LEFT JOIN tenant_quotas ON tenant_quotas.home = ?2
     LEFT JOIN usage ON usage.home = ?2";

impl Registry {
    /// Returns the records about `user`, who comes to `tenant`; a user whose id is empty has none.
    pub fn arrival(&self, user: &str, tenant: &str) -> Result<Arc<TenantState>> {
        self.answer(ARRIVAL, [user, tenant], ask)
    }

    /// Returns the same on the connection that no writer ever has. Fails if it would have to wait.
    pub fn arrival_at_once(&self, user: &str, tenant: &str) -> Result<Arc<TenantState>> {
        self.answer_at_once(ARRIVAL, [user, tenant], ask)
    }
}

fn ask(
    connection: &Connection<'_>,
    statement: &'static str,
    values: [&str; 2],
) -> Result<Arc<TenantState>> {
    let mut arrival = None;
    for mut row in connection.query(statement, values)? {
        let (name, suspended_at): (Option<String>, _) = row.next()?;
        let (quota, is_unfinished) = row.next()?;
        let (zone, totals): (Option<String>, Totals) = row.next()?;
        let arrival = arrival.get_or_insert_with(|| TenantState {
            standing: name.map(|name| Standing { name, suspended_at }),
            quota,
            condition: TenantCondition {
                usage: Vec::new(),
                is_unfinished,
            },
        });
        let usage = zone.map(|zone| Usage { zone, totals });
        arrival.condition.usage.extend(usage);
    }
    let arrival = arrival.map(Arc::new);
    arrival.ok_or_else(|| RegistryError::failed("there is no row"))
}

/// Answers that are kept at most.
const ANSWERS_MAX: usize = 4096;

impl Registry {
    /// Returns the answer to `statement` with these values: as it is kept, or as `ask` finds it.
    pub(super) fn answer<T: Clone + Send + Sync + 'static>(
        &self,
        statement: &'static str,
        values: [&str; 2],
        ask: impl Fn(&Connection<'_>, &'static str, [&str; 2]) -> Result<T>,
    ) -> Result<T> {
        self.answer_at_once(statement, values, &ask)
            .or_else(|_| ask(&self.connection()?, statement, values))
    }

    /// The same on the connection that no writer ever has. Does not wait: fails where it would have to.
    pub(super) fn answer_at_once<T: Clone + Send + Sync + 'static>(
        &self,
        statement: &'static str,
        values: [&str; 2],
        ask: impl Fn(&Connection<'_>, &'static str, [&str; 2]) -> Result<T>,
    ) -> Result<T> {
        let reader = self.reader()?;
        // The version comes before the answer: a change in between makes the answer useless, not wrong.
        let version: i64 = reader.value("PRAGMA data_version", ())?;
        let mut kept = self.kept.lock();
        if kept.version != version || kept.answers.len() >= ANSWERS_MAX {
            kept.answers.clear();
            kept.version = version;
        }
        let key = (statement, values.map(str::to_owned));
        let known = kept.answers.get(&key);
        if let Some(answer) = known.and_then(|answer| answer.downcast_ref::<T>()) {
            return Ok(answer.clone());
        }
        let answer = ask(&reader, statement, values)?;
        kept.answers.insert(key, Arc::new(answer.clone()));
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    use crate::tests::{in_a_file, on_each_database, open_again};
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
                TenantState {
                    standing: None,
                    quota: None,
                    condition: TenantCondition {
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
            let known = TenantState {
                standing: registry.standing("ada").expect("asked"),
                quota,
                condition: TenantCondition {
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

    /// Returns the state as a caller reads it that may not wait.
    fn at_once(registry: &Registry, user: &str) -> TenantState {
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

    #[test]
    fn an_answer_is_kept_until_anybody_changes_anything() {
        let (directory, registry) = in_a_file();
        let asked = Cell::new(0);
        let ask = || {
            let count = registry.answer_at_once("how often", ["", ""], |_, _, _| {
                asked.set(asked.get() + 1);
                Ok(asked.get())
            });
            count.expect("asked")
        };
        assert_eq!((ask(), ask()), (1, 1));
        registry.meet("ada", "Ada", 1).expect("met");
        assert_eq!((ask(), ask()), (2, 2));
        // A connection of its own, as other processes have.
        let other = open_again(&directory);
        let first = ask();
        for number in 0..100 {
            assert!(other.suspend("ada", 2).expect("suspended"));
            assert_eq!(ask(), first + 2 * number + 1);
            assert!(other.resume("ada").expect("resumed"));
            assert_eq!(ask(), first + 2 * number + 2);
            assert_eq!(ask(), first + 2 * number + 2);
        }
        // A change that is not committed is none.
        let _writer = other.connection();
        assert_eq!(ask(), first + 200);
    }
}
