//! A program beside a later one, on the same tables.

use std::sync::mpsc;
use std::thread;

use fileshed_types::timings::{milliseconds, minutes};
use fileshed_types::{Clock, Scope, UserId};

use super::*;
use crate::tests::{in_a_file, on_each_database};
use crate::{CopyError, Registry, Tokens};

const ADDS: &str = "ALTER TABLE tokens ADD COLUMN colour TEXT;
    CREATE TABLE colours (name TEXT PRIMARY KEY)";

/// Applies these migrations after those that there are; the number of the last one that there is.
fn apply_later(registry: &Registry, later: &[&str]) -> i64 {
    let (first, texts) = known(registry);
    apply(registry, first, &[texts, later].concat()).expect("applied");
    first + texts.len() as i64 - 1
}

fn make_a_token(registry: &Registry) {
    let (clock, alice) = (Clock::default(), UserId::parse("alice").expect("a name"));
    let made = Tokens::new(registry, &clock).create(&alice, Scope::Write, None, "ci");
    made.expect("made");
}

#[test]
fn what_was_only_added_to_is_used_as_before() {
    on_each_database(|registry| {
        apply_later(registry, &[ADDS]);
        migrate(registry).expect("an older program begins");
        make_a_token(registry);
    });
}

#[test]
fn what_takes_something_away_names_who_can_do_without() {
    on_each_database(|registry| {
        let known = apply_later(registry, &[ADDS]);
        let takes = format!("-- Oldest server: {}\nDROP TABLE colours", known + 1);
        apply_later(registry, &[ADDS, &takes]);
        let older = migrate(registry).expect_err("too old");
        let said = older.to_string();
        for number in [known, known + 1, known + 2] {
            assert!(
                said.contains(&format!("version {number}"))
                    || said.contains(&format!("versions up to {number}")),
                "{said}"
            );
        }
        // A server that knows the added migration can do without the table.
        let (first, texts) = super::known(registry);
        apply(registry, first, &[texts, &[ADDS]].concat()).expect("new enough");
    });
}

#[test]
fn what_is_not_known_is_not_copied() {
    on_each_database(|registry| {
        apply_later(registry, &[ADDS]);
        let (_directory, target) = in_a_file();
        let copied = registry.copy_to(&target);
        assert!(
            matches!(
                copied,
                Err(CopyError::Registry(RegistryError::Newer { .. }))
            ),
            "{copied:?}"
        );
    });
}

/// A table that is in use is changed when it is free, and nobody waits for that meanwhile.
#[test]
fn a_migration_lets_others_pass() {
    on_each_database(|registry| {
        if matches!(registry.database, Database::Sqlite { .. }) {
            return;
        }
        let (looks, has_looked) = mpsc::channel();
        let (ends, may_end) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let uses = scope.spawn(move || {
                registry.transact(&[], |transaction| {
                    let tokens: i64 = transaction.value("SELECT count(*) FROM tokens", ())?;
                    looks.send(tokens).expect("heard");
                    may_end.recv().expect("told");
                    Ok::<_, RegistryError>(tokens)
                })
            });
            has_looked.recv().expect("it looks");
            let migrates = scope.spawn(|| apply_later(registry, &[ADDS]));
            wait_for_a_table(registry);
            make_a_token(registry);
            ends.send(()).expect("told");
            uses.join().expect("ended").expect("nobody cut it off");
            migrates.join().expect("applied");
        });
        make_a_token(registry);
    });
}

fn wait_for_a_table(registry: &Registry) {
    let waits =
        "SELECT count(*) FROM pg_catalog.pg_locks JOIN pg_catalog.pg_database d ON d.oid = database
         WHERE datname = current_database() AND NOT granted AND mode = 'AccessExclusiveLock'";
    let deadline = Clock::SYSTEM.instant() + minutes(5);
    loop {
        let connection = registry.connection().expect("a connection");
        let waiting: i64 = connection.value(waits, ()).expect("locks");
        if waiting > 0 {
            return;
        }
        assert!(!Clock::SYSTEM.is_past(deadline), "nobody waits");
        Clock::SYSTEM.sleep(milliseconds(5));
    }
}
