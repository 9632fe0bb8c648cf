//! Write leases of zones across machines: rows of a registry on PostgreSQL.
//!
//! An instance that has a place keeps it until another one wants it, so that one that writes alone
//! asks once. An instance that wants it waits in a queue of the table, and gets a notification when the
//! place is handed on to it.

use std::time::Duration;

use super::database::{Executor, Notifications, Statements as _};
use super::{Registry, Result};

/// A message to an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseNotice {
    /// Somebody waits for a place that it has.
    Wanted(String),
    /// It has a place now, or may ask again.
    Granted(String),
    /// Some places are free: one who had them is gone.
    Freed,
}

impl LeaseNotice {
    fn written(&self) -> String {
        match self {
            Self::Wanted(place) => format!("wanted {place}"),
            Self::Granted(place) => format!("granted {place}"),
            Self::Freed => "freed".to_owned(),
        }
    }

    fn read(text: &str) -> Option<Self> {
        match text.split_once(' ') {
            Some(("wanted", place)) => Some(Self::Wanted(place.to_owned())),
            Some(("granted", place)) => Some(Self::Granted(place.to_owned())),
            _ => (text == "freed").then_some(Self::Freed),
        }
    }
}

/// Returns the name of the channel of an instance.
fn channel(instance: &str) -> String {
    format!("fileshed_{instance}")
}

/// Messages to an instance, as they come.
pub struct LeaseNotices(Notifications);

impl std::fmt::Debug for LeaseNotices {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("LeaseNotices")
            .finish_non_exhaustive()
    }
}

impl LeaseNotices {
    /// The next one that comes within this time.
    pub fn next(&mut self, patience: Duration) -> Result<Option<LeaseNotice>> {
        let text = self.0.next(patience)?;
        Ok(text.and_then(|text| LeaseNotice::read(&text)))
    }
}

impl Registry {
    /// Begins to hear what an instance is told.
    pub fn lease_notices(&self, instance: &str) -> Result<LeaseNotices> {
        Ok(LeaseNotices(self.listen(&channel(instance))?))
    }

    /// Takes a place for an instance, or lines up for it. Returns `true` if the instance has it.
    pub fn take_lease(&self, place: &str, instance: &str) -> Result<bool> {
        self.transact_unflushed(&[&name(place)], |transaction| {
            transaction.run(
                "INSERT INTO write_leases (place, instance) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                [place, instance],
            )?;
            let holder = "SELECT instance FROM write_leases WHERE place = ?1";
            let holder: String = transaction.value(holder, [place])?;
            if holder == instance {
                stop_waiting(transaction, place, instance)?;
                return Ok(true);
            }
            transaction.run(
                "INSERT INTO waiting_for_leases (place, instance) VALUES (?1, ?2)
                 ON CONFLICT DO NOTHING",
                [place, instance],
            )?;
            notify(transaction, &holder, &LeaseNotice::Wanted(place.to_owned()))?;
            Ok(false)
        })
    }

    /// Stops waiting; gives back what came at the last moment.
    pub fn stop_waiting(&self, place: &str, instance: &str) -> Result<()> {
        self.give(place, instance, true)
    }

    /// Hands a place on to the first who waits, or frees it.
    pub fn give_lease(&self, place: &str, instance: &str) -> Result<()> {
        self.give(place, instance, false)
    }

    fn give(&self, place: &str, instance: &str, waits: bool) -> Result<()> {
        self.transact_unflushed(&[&name(place)], |transaction| {
            if waits {
                stop_waiting(transaction, place, instance)?;
            }
            let give = "DELETE FROM write_leases WHERE place = ?1 AND instance = ?2";
            if transaction.changes(give, [place, instance])? {
                hand_on(transaction, place)?;
            }
            Ok(())
        })
    }

    /// Returns the places that an instance has and others wait for.
    pub fn wanted_leases(&self, instance: &str) -> Result<Vec<String>> {
        self.all(
            "SELECT DISTINCT held.place FROM write_leases AS held
             JOIN waiting_for_leases AS waiting ON waiting.place = held.place
             WHERE held.instance = ?1 AND waiting.instance <> ?1",
            [instance],
        )
    }
}

/// Returns the name under which those wait for each other who change who has a place.
fn name(place: &str) -> String {
    format!("lease {place}")
}

fn stop_waiting(transaction: &Executor<'_>, place: &str, instance: &str) -> Result<()> {
    let stop = "DELETE FROM waiting_for_leases WHERE place = ?1 AND instance = ?2";
    transaction.run(stop, [place, instance])
}

/// Gives a free place to the first who waits, who is told if more do.
fn hand_on(transaction: &Executor<'_>, place: &str) -> Result<()> {
    let waiting = "SELECT instance FROM waiting_for_leases WHERE place = ?1 ORDER BY ticket";
    let waiting: Vec<String> = transaction.all(waiting, [place])?;
    let Some(next) = waiting.first() else {
        return Ok(());
    };
    stop_waiting(transaction, place, next)?;
    let give = "INSERT INTO write_leases (place, instance) VALUES (?1, ?2)";
    transaction.run(give, [place, next])?;
    notify(transaction, next, &LeaseNotice::Granted(place.to_owned()))?;
    if waiting.len() > 1 {
        notify(transaction, next, &LeaseNotice::Wanted(place.to_owned()))?;
    }
    Ok(())
}

/// Frees all places of an instance that is gone, and tells those who live.
pub(super) fn forget(transaction: &Executor<'_>, instance: &str) -> Result<()> {
    transaction.run(
        "DELETE FROM waiting_for_leases WHERE instance = ?1",
        [instance],
    )?;
    if transaction.changes("DELETE FROM write_leases WHERE instance = ?1", [instance])? {
        let living: Vec<String> = transaction.all("SELECT name FROM instances", ())?;
        for name in living {
            notify(transaction, &name, &LeaseNotice::Freed)?;
        }
    }
    Ok(())
}

fn notify(transaction: &Executor<'_>, instance: &str, notice: &LeaseNotice) -> Result<()> {
    let told = "SELECT count(pg_notify(?1, ?2))";
    let values = (channel(instance), notice.written());
    transaction.value::<i64>(told, values).map(drop)
}
