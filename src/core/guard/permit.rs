//! Turn, permit, change: the only way to an effect.

mod in_place;

use serde_json::{Map, Value};

use super::lock;
use super::queue::Turn;
use crate::disk::{
    DiskError, Entry, Installed, Removed, Renamed, Staged, Staging, Target, Totals, Vacancy,
};
use crate::history::{Author, CommitId};
use crate::ledger::{Intent, Plan};
use crate::settings::MEBIBYTE;
use crate::zone::{Zone, ZonePath};
use crate::{Code, Error, Teach};

/// What a change touches and how much more space it takes.
#[derive(Debug, Default)]
#[must_use]
pub struct Needs {
    paths: Vec<ZonePath>,
    bytes: i64,
    files: i64,
    /// Size of the largest file that comes into being.
    largest: u64,
    /// The locked edit that this change ends; it is not in its own way.
    ends_lock: bool,
}

impl Needs {
    /// `target` gets `size` bytes.
    pub fn write(target: &Target, size: u64) -> Self {
        Self {
            paths: vec![target.path().clone()],
            bytes: size as i64 - target.size() as i64,
            files: i64::from(target.entry().is_none()),
            largest: size,
            ends_lock: false,
        }
    }

    /// `entry`, which holds `totals`, goes.
    pub fn remove(entry: &Entry, totals: Totals) -> Self {
        Self {
            paths: vec![entry.path().clone()],
            bytes: -(totals.bytes as i64),
            files: -(totals.files as i64),
            ..Self::default()
        }
    }

    /// `entry` gets the name of `vacancy`.
    pub fn rename(entry: &Entry, vacancy: &Vacancy) -> Self {
        Self {
            paths: vec![entry.path().clone(), vacancy.path().clone()],
            ..Self::default()
        }
    }

    /// Files that are changed where they lie, by as much as their end shows.
    pub(crate) fn in_place(paths: Vec<ZonePath>) -> Self {
        Self {
            paths,
            ..Self::default()
        }
    }

    /// The caller's own locked edit of the file ends with this change.
    pub fn ending_lock(mut self) -> Self {
        self.ends_lock = true;
        self
    }
}

/// The caller's turn in one zone.
#[derive(Debug)]
pub struct Writer<'a> {
    zone: &'a Zone<'a>,
    operation: &'static str,
    staging: Staging,
    _turn: Turn<'a>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(zone: &'a Zone<'a>, operation: &'static str) -> Result<Self, Error> {
        zone.expect_write_scope()?;
        Ok(Self {
            zone,
            operation,
            staging: zone.shed.staging(&zone.home)?,
            _turn: zone.turn()?,
        })
    }

    /// Where new content is prepared.
    #[must_use]
    pub fn staging(&self) -> &Staging {
        &self.staging
    }

    /// Asks everything that may forbid the change.
    pub fn guard(self, needs: Needs) -> Result<Permit<'a>, Error> {
        let zone = self.zone;
        let limit = zone.shed.settings().largest_file();
        if needs.largest > limit {
            return Err(SizeError {
                path: needs.paths.first().cloned().unwrap_or_else(ZonePath::root),
                size: needs.largest,
                limit,
            }
            .into());
        }
        if !needs.ends_lock {
            for path in &needs.paths {
                lock::check(zone, path)?;
            }
        }
        let author = zone.author();
        let plan = plan(zone, self.operation, &author, &needs);
        let intent = zone
            .shed
            .ledger()
            .begin(&plan)
            .map_err(|error| zone.explain(error))?;
        Ok(Permit {
            writer: self,
            needs,
            author,
            intent: Some(intent),
        })
    }
}

fn plan<'p>(zone: &'p Zone<'_>, operation: &'p str, author: &'p Author, needs: &Needs) -> Plan<'p> {
    Plan {
        home: &zone.home.key,
        zone: zone.name.as_str(),
        instance: zone.shed.instance(),
        operation,
        author_name: &author.name,
        author_email: &author.email,
        bytes: needs.bytes,
        files: needs.files,
        limit: zone.home.limit,
    }
}

/// The right to make one change. Dropped, its space is free again.
#[derive(Debug)]
#[must_use = "a permit is for one change"]
pub struct Permit<'a> {
    writer: Writer<'a>,
    needs: Needs,
    author: Author,
    intent: Option<Intent>,
}

impl<'a> Permit<'a> {
    /// Gives staged content its name.
    pub fn install(self, staged: Staged, target: Target) -> Result<Change<'a>, Error> {
        let effect = staged
            .install(target)
            .map_err(|error| self.explain(error))?;
        Ok(Change {
            effect: Effect::Installed(effect),
            permit: self,
        })
    }

    /// Removes an entry and everything below it.
    pub fn remove(self, entry: &Entry) -> Result<Change<'a>, Error> {
        let effect = self
            .writer
            .staging
            .remove(entry)
            .map_err(|error| self.explain(error))?;
        Ok(Change {
            effect: Effect::Removed(effect),
            permit: self,
        })
    }

    /// Gives an entry another name.
    pub fn rename(self, entry: &Entry, vacancy: Vacancy) -> Result<Change<'a>, Error> {
        let effect = Renamed::new(entry, vacancy).map_err(|error| self.explain(error))?;
        Ok(Change {
            effect: Effect::Renamed(effect),
            permit: self,
        })
    }

    fn explain(&self, error: DiskError) -> Error {
        self.writer.zone.explain(error.into())
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let Some(intent) = self.intent.take() else {
            return;
        };
        let zone = self.writer.zone;
        let plan = plan(zone, self.writer.operation, &self.author, &self.needs);
        if let Err(error) = zone.shed.ledger().withdraw(intent, &plan) {
            tracing::error!(%error, "a withdrawn change is still in the registry");
        }
    }
}

#[derive(Debug)]
enum Effect {
    Installed(Installed),
    Removed(Removed),
    Renamed(Renamed),
}

impl Effect {
    fn keep(self) -> Result<(), DiskError> {
        match self {
            Self::Installed(installed) => installed.keep(),
            Self::Removed(removed) => return removed.keep(),
            Self::Renamed(renamed) => renamed.keep(),
        }
        Ok(())
    }
}

/// A change that happened on disk and is not final. Dropped, it undoes itself.
#[derive(Debug)]
#[must_use = "a change that is not committed is undone"]
pub struct Change<'a> {
    // Dropped before the permit: first the files, then the space.
    effect: Effect,
    permit: Permit<'a>,
}

impl Change<'_> {
    /// Makes the change final: one commit where the zone has history, then the registry.
    /// `message` is the caller's commit message; empty means `default`.
    pub fn commit(self, message: Option<&str>, default: &str) -> Result<Option<CommitId>, Error> {
        let Self { effect, mut permit } = self;
        let zone = permit.writer.zone;
        let commit = if zone.name.is_versioned() {
            let message = message.filter(|text| !text.trim().is_empty());
            zone.history()?.commit_paths(
                &permit.needs.paths,
                message.unwrap_or(default),
                &permit.author,
                zone.shed.clock().now(),
            )?
        } else {
            None
        };
        if let Err(error) = effect.keep() {
            // The change stands; what it replaced is swept away with the next repair.
            tracing::warn!(%error, "what a change removed is still staged");
        }
        // On disk before the registry forgets it, where that is asked for.
        zone.shed.flusher().changed();
        if let Some(intent) = permit.intent.take()
            && let Err(error) = zone.shed.ledger().settle(intent)
        {
            tracing::error!(%error, "a finished change is still in the registry");
        }
        Ok(commit)
    }
}

/// A file that is larger than the server takes.
#[derive(Debug, thiserror::Error)]
#[error("`{path}` would have {size} bytes or more, a file may have {limit}")]
pub struct SizeError {
    /// The file.
    pub path: ZonePath,
    /// Its size in bytes.
    pub size: u64,
    /// The limit in bytes.
    pub limit: u64,
}

impl Teach for SizeError {
    fn code(&self) -> Code {
        Code::FileTooLarge
    }

    fn hint(&self) -> String {
        format!(
            "split the content into files of at most {} MB",
            self.limit / MEBIBYTE
        )
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        details.insert("path".to_owned(), self.path.display().into());
        details.insert("size_bytes".to_owned(), self.size.into());
        details.insert(
            "max_file_size_mb".to_owned(),
            (self.limit / MEBIBYTE).into(),
        );
        details
    }
}
