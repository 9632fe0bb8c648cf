//! Journals beside a database, and the decision to play them into it.
//!
//! SQLite takes a journal or a log that lies beside a database for its own, wherever it comes from:
//! out of an archive, from another member, from whoever made it to change what the database says.
//! So it is played only where a statement of this server left it: a [`Statement`] is entered in the
//! registry before anything can be written, only while nothing foreign is there, and goes when it
//! left nothing. After a crash the entry says whose the journal is.

use super::child::recover;
use crate::runs::Runs;
use fileshed_registry::StatementId;
use fileshed_storage::{DiskError, Kind, Root};
use fileshed_types::{Error, Hint, NextCall, diagnostics};
use fileshed_zones::zone::{Zone, ZonePath};

/// The byte that a process locks which is about to change a database
/// (`RESERVED_BYTE`, <https://sqlite.org/src/file?name=src/os.h>).
const RESERVED: u64 = 0x4000_0001;

/// The byte of the index of a log that every process locks which has the database open
/// (`UNIX_SHM_DMS`, <https://sqlite.org/src/file?name=src/os_unix.c>).
const OPEN_WITH_LOG: u64 = 128;

/// Returns the journals and logs that SQLite would apply to the database, or could not read.
fn live(data: &Root, database: &ZonePath) -> Result<Vec<ZonePath>, DiskError> {
    let mut found = Vec::new();
    for path in database.journals() {
        if unless_gone(is_live(data, &path))? {
            found.push(path);
        }
    }
    Ok(found)
}

/// A journal whose first byte is zero is finished, and an index of a log is made anew.
fn is_live(data: &Root, path: &ZonePath) -> Result<bool, DiskError> {
    let entry = data.entry(path)?;
    Ok(match entry.kind() {
        Kind::File if path.as_str().ends_with("-shm") => false,
        Kind::File if path.as_str().ends_with("-journal") => {
            entry.size() > 0 && !entry.begins_with(&[0])?
        }
        Kind::File => entry.size() > 0,
        Kind::Directory | Kind::Symlink | Kind::Special => true,
    })
}

/// Returns `true` if another process has the database open for changes at the moment.
fn is_in_use(data: &Root, database: &ZonePath) -> Result<bool, DiskError> {
    let is_locked = |path: &ZonePath, at| {
        let entry = data.entry(path)?;
        Ok(entry.kind() == Kind::File && entry.is_locked(at)?)
    };
    let index = database.journals().last();
    Ok(unless_gone(is_locked(database, RESERVED))?
        || index.map_or(Ok(false), |index| {
            unless_gone(is_locked(&index, OPEN_WITH_LOG))
        })?)
}

/// Returns `false` instead of an error if the file disappeared during the check, as a journal does when
/// another process ends its change.
fn unless_gone(said: Result<bool, DiskError>) -> Result<bool, DiskError> {
    match said {
        Err(error) if error.is_gone() => Ok(false),
        said => said,
    }
}

/// Returns the journals beside a database that no statement of this server and no other process accounts for.
pub(super) fn foreign(zone: &Zone<'_>, database: &ZonePath) -> Result<Vec<ZonePath>, Error> {
    let found = live(&zone.data, database).map_err(|error| zone.explain_disk(error))?;
    if found.is_empty()
        || zone
            .store
            .registry
            .statements_on(zone.place(database.as_str()))?
            > 0
        || is_in_use(&zone.data, database)?
    {
        return Ok(Vec::new());
    }
    Ok(found)
}

/// Fails where something foreign lies beside a database.
pub(super) fn expect_none(zone: &Zone<'_>, database: &ZonePath) -> Result<(), Error> {
    refuse(zone, database, foreign(zone, database)?)
}

/// Fails where a program that only reads would take in what lies beside a database.
pub(crate) fn expect_alone(zone: &Zone<'_>, database: &ZonePath) -> Result<(), Error> {
    let found = live(&zone.data, database).map_err(|error| zone.explain_disk(error))?;
    refuse(zone, database, found)
}

fn refuse(zone: &Zone<'_>, database: &ZonePath, beside: Vec<ZonePath>) -> Result<(), Error> {
    if beside.is_empty() {
        return Ok(());
    }
    let error = ForeignJournal {
        path: database.as_str().to_owned(),
        beside: beside
            .into_iter()
            .map(|path| path.as_str().to_owned())
            .collect(),
        is_kept: !zone.name.is_writable(),
        is_there: zone.data.entry(database).is_ok(),
    };
    Err(zone.explain(error.into()))
}

/// A statement that may change a database where it lies.
#[derive(Debug)]
#[must_use = "what a statement leaves is put right at its end"]
pub(crate) struct Statement<'a> {
    zone: &'a Zone<'a>,
    database: ZonePath,
    id: Option<StatementId>,
}

impl<'a> Statement<'a> {
    /// Enters a statement, unless something foreign lies beside the database.
    pub(crate) fn begin(zone: &'a Zone<'a>, database: &ZonePath) -> Result<Self, Error> {
        expect_none(zone, database)?;
        let id = zone
            .store
            .registry
            .begin_statement(zone.place(database.as_str()), &zone.store.instance.name)?;
        Ok(Self {
            zone,
            database: database.clone(),
            id: Some(id),
        })
    }

    /// Ends the statement. An unfinished change of it is rolled back.
    pub(crate) fn end(mut self, runs: &Runs) -> Result<(), Error> {
        let place = self.zone.place(self.database.as_str());
        let registry = &self.zone.store.registry;
        let only_one = || Ok::<_, Error>(registry.statements_under_way(place)? == 1);
        if self.left_something()? && only_one()? {
            let recovered = recover(runs, self.zone, &self.database);
            tracing::warn!(
                recovered = recovered.is_ok(),
                "a change of a database was interrupted"
            );
        }
        if !self.left_something()? {
            registry.forget_cut_off(place)?;
        } else if only_one()? {
            return Ok(());
        }
        if let Some(id) = self.id.take() {
            registry.end_statement(id)?;
        }
        Ok(())
    }

    fn left_something(&self) -> Result<bool, DiskError> {
        Ok(!live(&self.zone.data, &self.database)?.is_empty())
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let registry = &self.zone.store.registry;
        let ended = match self.left_something() {
            Ok(false) => registry.end_statement(id),
            // The next statement, or the repair after a restart, rolls it back.
            Ok(true) | Err(_) => registry.cut_off_statement(id),
        };
        if let Err(error) = ended {
            tracing::error!(%error, "a finished statement is still in the registry");
        }
    }
}

/// Rolls back what a dead process left in the middle of a change of `database`; nothing may be left
/// of it afterwards but what is done.
pub(super) fn put_right(runs: &Runs, zone: &Zone<'_>, database: &ZonePath) -> Result<(), Error> {
    if !live(&zone.data, database)?.is_empty() {
        recover(runs, zone, database)?;
    }
    if live(&zone.data, database)?.is_empty() {
        let place = zone.place(database.as_str());
        zone.store.registry.forget_cut_off(place)?;
    }
    Ok(())
}

diagnostics! {
    /// Something beside a database that would change it.
    #[derive(Debug, thiserror::Error)]
    #[error(
        "`{}` is beside `{path}` and does not come from a statement of this server: SQLite would \
         apply it to the database",
        beside.join("`, `")
    )]
    pub struct ForeignJournal {
        path: String = "a.db".to_owned(),
        beside: Vec<String> = vec!["a.db-wal".to_owned()],
        /// `true` if the zone is read-only, so that the caller cannot delete it.
        is_kept: bool => [false, false, true],
        /// `true` if the database itself exists.
        is_there: bool => [false, true, true],
    } => {
        code: InvalidFormat,
        hint: around(path, beside, *is_kept, *is_there),
        details: { "path": path, "beside": beside },
    }
}

/// To read the database without what is beside it, or to take that away.
fn around(path: &str, beside: &[String], is_kept: bool, is_there: bool) -> Hint {
    let read = NextCall::here("shed_sqlite")
        .with("path", path)
        .with("query", "SELECT name FROM sqlite_schema");
    let delete = |path: &str| NextCall::here("shed_delete").with("path", path);
    match beside.first() {
        Some(first) if !is_there => Hint::from(delete(first)).say(" removes it permanently"),
        Some(first) if !is_kept => Hint::from(read)
            .say(" reads the database without it")
            .or("")
            .call(delete(first))
            .say(" removes it permanently"),
        _ => Hint::from(read).say(" reads a private copy"),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes files as others do")]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_journal_that_goes_while_it_is_looked_at_is_none() {
        let directory = tempfile::TempDir::new().expect("a directory");
        let data = Root::open_ambient(directory.path()).expect("opens");
        let database = ZonePath::parse("path", "a.db").expect("a path");
        std::fs::write(directory.path().join("a.db"), "").expect("written");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for name in ["a.db-journal", "a.db-shm"] {
                let (file, is_over) = (directory.path().join(name), &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        std::fs::write(&file, "x").expect("written");
                        std::fs::remove_file(&file).expect("removed");
                    }
                });
            }
            let looks: Vec<_> = (0..20_000)
                .map(|_| (live(&data, &database), is_in_use(&data, &database)))
                .collect();
            is_over.store(true, Ordering::Relaxed);
            for (live, is_in_use) in looks {
                assert!(live.expect("looked").len() <= 1);
                assert!(!is_in_use.expect("looked"));
            }
        });
    }
}
