//! Processes that share the data of a registry on PostgreSQL, and how live ones know dead ones.
//!
//! An instance renews its sign of life again and again, and counts as dead if it did not for the length of a
//! lease: by the clock of the database, so that no two machines need the same time. The instance that notices
//! this removes the dead one from the table and marks its intents in one transaction. From then on no change
//! of the dead instance can become final, even if it only slept: the statement that ends a change needs its
//! intent unmarked.
//!
//! If the registry is a file, its processes are on one machine, and file locks tell which of them live.
//!
//! One instance has the background processes and the shells of a user: the first that starts one has all of
//! them, until it has none left or ends.

use std::time::Duration;

use super::database::{Database, Executor, Statements};
use super::{Registry, Result, write_leases};

/// The present, by the clock of the database: milliseconds of Unix time.
const NOW: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The name under which those wait for each other who enter or take out instances.
const TABLE: &str = "instances";

/// A process that begins to work on the data.
#[derive(Clone, Copy, Debug)]
pub struct NewInstance<'a> {
    /// Its name, which no other one ever has.
    pub name: &'a str,
    /// Its label for people.
    pub label: &'a str,
    /// An identifier that is unique among the processes of its machine.
    pub process: &'a str,
}

impl Registry {
    /// Returns `true` if several machines may share this registry, so that it records who may write.
    #[must_use]
    pub fn holds_leases(&self) -> bool {
        matches!(self.database, Database::Postgres(_))
    }

    /// Enters an instance, which lives for the length of a lease.
    pub fn enter_instance(&self, new: &NewInstance<'_>, lease: Duration) -> Result<()> {
        self.run(
            &format!(
                "INSERT INTO instances (name, label, process, started_at, alive_until)
                 VALUES (?1, ?2, ?3, {NOW}, {NOW} + ?4)"
            ),
            (new.name, new.label, new.process, milliseconds(lease)),
        )
    }

    /// Says that an instance lives for the length of a lease from now on. Returns `false` if others took
    /// it for dead meanwhile: then it is for good.
    pub fn renew_instance(&self, name: &str, lease: Duration) -> Result<bool> {
        let renewed = self.execute_unflushed(
            &format!("UPDATE instances SET alive_until = {NOW} + ?2 WHERE name = ?1"),
            (name, milliseconds(lease)),
        )?;
        Ok(renewed > 0)
    }

    /// Returns the names of all instances that nobody took for dead.
    pub fn live_instances(&self) -> Result<Vec<String>> {
        self.all("SELECT name FROM instances ORDER BY name", ())
    }

    /// Takes an instance out that ends, with all that it may write.
    pub fn leave_instance(&self, name: &str) -> Result<()> {
        self.transact(&[TABLE], |transaction| take_out(transaction, name))
    }

    /// Takes out the instances whose time is over, or of which `is_gone` knows by what was entered as
    /// their process. Returns the tenants in which they left something unfinished.
    pub fn reap_instances(&self, is_gone: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        if dead_instances(self, &is_gone)?.is_empty() {
            return Ok(Vec::new());
        }
        self.transact(&[TABLE], |transaction| {
            // An instance may have renewed its lease since.
            let mut tenants = Vec::new();
            for name in dead_instances(transaction, &is_gone)? {
                let left = "SELECT DISTINCT home FROM intents WHERE instance = ?1";
                let left: Vec<String> = transaction.all(left, [&name])?;
                tenants.extend(left);
                take_out(transaction, &name)?;
            }
            tenants.sort_unstable();
            tenants.dedup();
            Ok(tenants)
        })
    }

    /// Marks the unfinished changes of a process that is gone.
    pub fn orphan_instance(&self, instance: &str) -> Result<()> {
        orphan(self, instance)
    }
}

fn dead_instances(
    statements: &impl Statements,
    is_gone: &impl Fn(&str) -> bool,
) -> Result<Vec<String>> {
    let all: Vec<(String, String, bool)> = statements.all(
        &format!("SELECT name, process, alive_until < {NOW} FROM instances"),
        (),
    )?;
    let dead = all
        .into_iter()
        .filter(|(_, process, is_over)| *is_over || is_gone(process));
    Ok(dead.map(|(name, ..)| name).collect())
}

/// Takes an instance out. Another one repairs its unfinished changes.
fn take_out(transaction: &Executor<'_>, name: &str) -> Result<()> {
    transaction.run("DELETE FROM instances WHERE name = ?1", [name])?;
    orphan(transaction, name)?;
    transaction.run("DELETE FROM terminal_hosts WHERE instance = ?1", [name])?;
    write_leases::forget(transaction, name)
}

/// Marks what an instance had under way.
fn orphan(statements: &impl Statements, instance: &str) -> Result<()> {
    ["statements", "intents"].into_iter().try_for_each(|table| {
        let mark = format!("UPDATE {table} SET instance = '' WHERE instance = ?1");
        statements.run(&mark, [instance])
    })
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// The instance that has the processes of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalHost {
    /// Its name.
    pub instance: String,
    /// Its address, as `host:port`.
    pub address: String,
}

/// State of a user's processes, as the registry knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalHosting {
    /// The instance that has them; `None` if there is none.
    pub host: Option<TerminalHost>,
    /// A number that changes with the instances that live, and makes observations of their processes
    /// invalid.
    pub members: i64,
}

impl Registry {
    /// Enters the address at which the others reach an instance.
    pub fn set_instance_address(&self, name: &str, address: &str) -> Result<()> {
        let set = "UPDATE instances SET address = ?2 WHERE name = ?1";
        self.run(set, [name, address])
    }

    /// Returns the address of an instance that lives.
    pub fn instance_address(&self, name: &str) -> Result<Option<String>> {
        let address = "SELECT address FROM instances WHERE name = ?1 AND address <> ''";
        self.first(address, [name])
    }

    /// Returns the instance that has the processes of a user.
    pub fn terminal_hosting(&self, tenant: &str) -> Result<TerminalHosting> {
        hosting(self, tenant)
    }

    /// Gives an instance the processes of a user, unless another one that lives has them; returns the
    /// one that has them then.
    pub fn claim_terminal(&self, tenant: &str, instance: &str) -> Result<TerminalHosting> {
        let connection = self.connection()?;
        connection.run(
            "INSERT INTO terminal_hosts (tenant, instance) VALUES (?1, ?2)
             ON CONFLICT (tenant) DO UPDATE SET instance = excluded.instance
             WHERE NOT EXISTS (
                 SELECT 1 FROM instances WHERE instances.name = terminal_hosts.instance
             )",
            [tenant, instance],
        )?;
        hosting(&connection, tenant)
    }

    /// Enters that an instance has no processes of a user any more.
    pub fn release_terminal(&self, tenant: &str, instance: &str) -> Result<()> {
        self.run(
            "DELETE FROM terminal_hosts WHERE tenant = ?1 AND instance = ?2",
            [tenant, instance],
        )
    }
}

fn hosting(statements: &impl Statements, tenant: &str) -> Result<TerminalHosting> {
    let (instance, address, members): (Option<String>, Option<String>, i64) = statements.value(
        "SELECT host.name, host.address,
                (SELECT coalesce(CAST(sum(number) AS BIGINT), 0) FROM instances)
         FROM (SELECT 1) AS asked
         LEFT JOIN terminal_hosts ON terminal_hosts.tenant = ?1
         LEFT JOIN instances AS host ON host.name = terminal_hosts.instance",
        [tenant],
    )?;
    Ok(TerminalHosting {
        host: instance.map(|instance| TerminalHost {
            instance,
            address: address.unwrap_or_default(),
        }),
        members,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{expire_instance, intent, on_each_database};
    use crate::{LeaseNotice, RegistryError};
    use fileshed_types::timings::{minutes, seconds};

    const LONG: Duration = minutes(1);
    const PATIENCE: Duration = seconds(20);

    fn with_instances(test: impl Fn(&Registry)) {
        on_each_database(|registry| {
            if registry.holds_leases() {
                for name in ["ada", "bob"] {
                    enter(registry, name, LONG);
                }
                test(registry);
            }
        });
    }

    fn enter(registry: &Registry, name: &str, lease: Duration) {
        let new = NewInstance {
            name,
            label: "",
            process: name,
        };
        registry.enter_instance(&new, lease).expect("entered");
    }

    #[test]
    fn who_is_taken_for_dead_ends_nothing_any_more() {
        with_instances(|registry| {
            let under_way = registry.begin(intent("ada")).expect("begun");
            assert_eq!(
                registry.reap_instances(|_| false).expect("looked"),
                Vec::<String>::new()
            );
            expire_instance(registry, "ada");
            let left = registry.reap_instances(|_| false).expect("looked");
            assert_eq!(left, ["users/ada"]);
            assert_eq!(registry.live_instances().expect("listed"), ["bob"]);
            assert!(!registry.renew_instance("ada", LONG).expect("asked"));
            let ended = registry.commit(under_way);
            assert!(matches!(ended, Err(RegistryError::TakenOver)), "{ended:?}");
            let orphan = registry.orphan_of("users/ada", intent("ada").zone);
            assert!(orphan.expect("asked").is_some());
        });
    }

    #[test]
    fn whose_process_is_gone_need_not_be_waited_for() {
        with_instances(|registry| {
            let _under_way = registry.begin(intent("ada")).expect("begun");
            let left = registry.reap_instances(|process| process == "ada");
            assert_eq!(left.expect("taken out"), ["users/ada"]);
            assert_eq!(registry.live_instances().expect("listed"), ["bob"]);
        });
    }

    #[test]
    fn a_place_goes_to_those_who_wait_in_their_order() {
        with_instances(|registry| {
            enter(registry, "eve", LONG);
            let take = |who| registry.take_lease("home/storage", who).expect("asked");
            let mut heard =
                ["ada", "bob", "eve"].map(|who| registry.lease_notices(who).expect("hears"));
            let mut next =
                |who: usize| heard[who].next(PATIENCE).expect("heard").expect("a notice");
            let place = || "home/storage".to_owned();
            assert!(take("ada") && take("ada"));
            assert!(registry.take_lease("home/uploads", "bob").expect("asked"));
            assert!(!take("bob") && !take("eve"));
            assert_eq!(next(0), LeaseNotice::Wanted(place()));
            assert_eq!(registry.wanted_leases("ada").expect("asked"), [place()]);
            registry.give_lease(&place(), "ada").expect("given");
            assert_eq!(next(1), LeaseNotice::Granted(place()));
            assert_eq!(next(1), LeaseNotice::Wanted(place()));
            assert!(take("bob") && !take("ada"));
            // A caller that stopped waiting is skipped.
            registry.stop_waiting(&place(), "eve").expect("gone");
            registry.give_lease(&place(), "bob").expect("given");
            assert!(take("ada") && !take("bob"));
            registry.leave_instance("ada").expect("left");
            assert_eq!(next(2), LeaseNotice::Freed);
            assert!(take("bob"));
            assert_eq!(
                registry.wanted_leases("bob").expect("asked"),
                Vec::<String>::new()
            );
        });
    }

    const TENANT: &str = "users/emmy";

    fn host(registry: &Registry) -> Option<String> {
        let hosting = registry.terminal_hosting(TENANT).expect("asked");
        hosting.host.map(|host| host.instance)
    }

    fn claim(registry: &Registry, instance: &str) -> Option<TerminalHost> {
        let hosting = registry.claim_terminal(TENANT, instance);
        hosting.expect("asked").host
    }

    #[test]
    fn the_first_has_the_processes_of_a_user_until_it_has_none_or_is_gone() {
        on_each_database(|registry| {
            if !registry.holds_leases() {
                return;
            }
            for name in ["ada", "bob"] {
                let new = NewInstance {
                    name,
                    label: "",
                    process: name,
                };
                let lease = fileshed_types::timings::minutes(1);
                registry.enter_instance(&new, lease).expect("entered");
            }
            registry
                .set_instance_address("ada", "ada:8000")
                .expect("said");
            assert_eq!(host(registry), None);
            let both = registry.terminal_hosting(TENANT).expect("asked").members;
            let ada = Some(TerminalHost {
                instance: "ada".to_owned(),
                address: "ada:8000".to_owned(),
            });
            assert_eq!(claim(registry, "ada"), ada);
            assert_eq!(claim(registry, "bob"), ada);
            registry.release_terminal(TENANT, "bob").expect("asked");
            assert_eq!(host(registry).as_deref(), Some("ada"));
            registry.release_terminal(TENANT, "ada").expect("asked");
            assert_eq!(host(registry), None);
            assert_eq!(claim(registry, "ada"), ada);
            registry.leave_instance("ada").expect("left");
            assert_eq!(host(registry), None);
            assert_eq!(registry.instance_address("ada").expect("asked"), None);
            // One that was gone already when it asked has nothing.
            assert_eq!(claim(registry, "ada"), None);
            let bob = claim(registry, "bob").map(|host| host.instance);
            assert_eq!(bob.as_deref(), Some("bob"));
            let one = registry.terminal_hosting(TENANT).expect("asked").members;
            assert_ne!(one, both);
        });
    }
}
