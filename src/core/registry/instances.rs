//! Processes that share the data of a registry on PostgreSQL, and how live ones know dead ones.
//!
//! An instance says again and again that it lives, and is taken for dead when it did not for the length of
//! a lease: by the clock of the database, so that no two machines need the same time. Whoever finds that
//! takes it out of the table and marks its intents in one transaction. From then on no change of it can
//! become final, should it only have slept: the statement that ends a change needs its intent unmarked.
//!
//! Where the registry is a file, its processes are on one machine, and locks on files say the same.

use std::time::Duration;

use super::database::{Database, Engine, Statements};
use super::{Registry, RegistryError, terminal_hosts, write_leases};

/// The present, by the clock of the database: milliseconds of Unix time.
const NOW: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";

/// The name under which those wait for each other who enter or take out instances.
const TABLE: &str = "instances";

/// A process that begins to work on the data.
#[derive(Clone, Copy, Debug)]
pub struct NewInstance<'a> {
    /// Its name, which no other one ever has.
    pub name: &'a str,
    /// What people call it.
    pub label: &'a str,
    /// What tells it from other processes of its machine.
    pub process: &'a str,
}

impl Registry {
    /// Whether several machines may have this registry, so that who may write is entered in it.
    #[must_use]
    pub fn holds_leases(&self) -> bool {
        matches!(self.database, Database::Postgres(_))
    }

    /// Enters an instance, which lives for the length of a lease.
    pub fn enter_instance(
        &self,
        new: &NewInstance<'_>,
        lease: Duration,
    ) -> Result<(), RegistryError> {
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
    pub fn renew_instance(&self, name: &str, lease: Duration) -> Result<bool, RegistryError> {
        let renewed = self.execute_unflushed(
            &format!("UPDATE instances SET alive_until = {NOW} + ?2 WHERE name = ?1"),
            (name, milliseconds(lease)),
        )?;
        Ok(renewed > 0)
    }

    /// Returns the names of all instances that nobody took for dead.
    pub fn live_instances(&self) -> Result<Vec<String>, RegistryError> {
        self.all("SELECT name FROM instances ORDER BY name", ())
    }

    /// Takes an instance out that ends, with all that it may write.
    pub fn leave_instance(&self, name: &str) -> Result<(), RegistryError> {
        self.transact(&[TABLE], |transaction| take_out(transaction, name))
    }

    /// Takes out the instances whose time is over, or of which `is_gone` knows by what was entered as
    /// their process. Returns the tenants in which they left something unfinished.
    pub fn reap_instances(
        &self,
        is_gone: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, RegistryError> {
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
    pub fn orphan_instance(&self, instance: &str) -> Result<(), RegistryError> {
        orphan(self, instance)
    }
}

fn dead_instances(
    statements: &impl Statements,
    is_gone: &impl Fn(&str) -> bool,
) -> Result<Vec<String>, RegistryError> {
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
fn take_out(transaction: &Engine<'_>, name: &str) -> Result<(), RegistryError> {
    transaction.run("DELETE FROM instances WHERE name = ?1", [name])?;
    orphan(transaction, name)?;
    terminal_hosts::forget(transaction, name)?;
    write_leases::forget(transaction, name)
}

/// Marks what an instance had under way.
fn orphan(statements: &impl Statements, instance: &str) -> Result<(), RegistryError> {
    ["statements", "intents"].into_iter().try_for_each(|table| {
        let mark = format!("UPDATE {table} SET instance = '' WHERE instance = ?1");
        statements.run(&mark, [instance])
    })
}

fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LeaseNotice;
    use crate::testing::{expire_instance, intent, on_each_database};
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
            let under_way = registry.begin(&intent("ada")).expect("begun");
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
            assert_eq!(registry.orphans("users/ada").expect("there").len(), 1);
        });
    }

    #[test]
    fn whose_process_is_gone_need_not_be_waited_for() {
        with_instances(|registry| {
            let _under_way = registry.begin(&intent("ada")).expect("begun");
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
            // Who waits no more is passed over.
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
}
