//! Files of a zone without history that a command or a statement may replace where they lie: copied
//! before, and put into the bin when they did change.

use crate::change_request::Taken;
use fileshed_registry::{Change, Step};
use fileshed_storage::{DiskError, Entry, Kind, Staged, Stamp, Target, Totals};
use fileshed_types::Error;
use fileshed_types::settings::MEBIBYTE;
use fileshed_zones::zone::{Zone, ZonePath};

/// The largest file that is copied where the file system cannot share its blocks.
const COPIED_BYTES: u64 = 64 * MEBIBYTE;

/// A file that may be written, and what may get its name.
#[derive(Debug)]
pub struct ExpectedChange {
    /// Its path.
    pub path: ZonePath,
    /// The file that is moved there.
    pub moved: Option<ZonePath>,
}

/// The entry at a path: its inode, and of a file its state and first bytes.
#[derive(Debug, PartialEq, Eq)]
struct SeenFormer {
    inode: u64,
    state: Option<(Stamp, Vec<u8>)>,
}

/// A path before the change.
#[derive(Debug)]
struct Former {
    path: ZonePath,
    /// The number of leading segments that were there.
    existing: usize,
    seen: Option<SeenFormer>,
    copy: Option<Staged>,
    /// The file that is moved here, and its inode.
    moved: Option<(ZonePath, u64)>,
}

/// The paths before the change.
#[derive(Debug, Default)]
pub(crate) struct FormerFiles {
    files: Vec<Former>,
    /// `true` if the same answer may change them again without a step of the list.
    is_database: bool,
}

/// Statements of a program, which names no answer, count as one within so many seconds.
const ANSWER_SECONDS: i64 = 600;

impl Former {
    fn look(zone: &Zone<'_>, expected: ExpectedChange) -> Result<Self, DiskError> {
        let ExpectedChange { path, moved } = expected;
        // A program that moves something does not follow a link at its end.
        let found = match &moved {
            Some(_) => zone.data.entry(&path),
            None => zone.data.followed(&path),
        };
        let moved = moved.and_then(|from| {
            let entry = zone.data.entry(&from).ok()?;
            Some((entry.path().clone(), entry.stamp().inode()))
        });
        let entry = match found {
            Err(DiskError::NotFound { .. }) => {
                let vacancy = zone.data.vacancy(&path)?;
                return Ok(Self {
                    path: vacancy.path().clone(),
                    existing: vacancy.existing_segments(),
                    seen: None,
                    copy: None,
                    moved,
                });
            }
            found => found?,
        };
        let copy = copy_of(zone, &entry).unwrap_or_else(|error| {
            tracing::warn!(%error, "a file could not be copied before a command");
            None
        });
        Ok(Self {
            path: entry.path().clone(),
            existing: entry.path().segments().count().saturating_sub(1),
            seen: Some(seen(&entry)?),
            copy,
            moved,
        })
    }
}

impl FormerFiles {
    /// Looks at what may change, and copies it if there is a bin. Does nothing in a zone with history.
    pub(crate) fn look(zone: &Zone<'_>, expected: Vec<ExpectedChange>) -> Self {
        let mut files: Vec<Former> = Vec::new();
        if zone.name.is_versioned() {
            return Self::default();
        }
        for expected in expected {
            match Former::look(zone, expected) {
                Ok(file)
                    if file.path.is_root() || files.iter().any(|one| one.path == file.path) => {}
                Ok(file) => files.push(file),
                // The program will say so.
                Err(error) => {
                    tracing::debug!(%error, "a file could not be read before a command");
                }
            }
        }
        Self {
            files,
            is_database: false,
        }
    }

    /// The same for a database with its files, once an answer, however many statements that has.
    pub(crate) fn of_database(
        zone: &Zone<'_>,
        change: &Change,
        paths: &[ZonePath],
    ) -> Result<Self, Error> {
        if zone.name.is_versioned() {
            return Ok(Self::default());
        }
        let since = match zone.caller.message {
            Some(_) => i64::MAX,
            None => change.changed_at.saturating_sub(ANSWER_SECONDS),
        };
        let mut expected = Vec::new();
        for path in paths {
            let registry = &zone.store.registry;
            if !registry.has_former(change, path.as_str(), since)? {
                let (path, moved) = (path.clone(), None);
                expected.push(ExpectedChange { path, moved });
            }
        }
        Ok(Self {
            is_database: true,
            ..Self::look(zone, expected)
        })
    }

    /// Returns `true` for the files of a database.
    pub(crate) fn is_database(&self) -> bool {
        self.is_database
    }

    /// Puts what did change into the bin; returns the steps, and files that changed and are gone. The
    /// caller has the write lock.
    pub(crate) fn enter(self, zone: &Zone<'_>) -> Result<(Vec<Step>, Vec<ZonePath>), Error> {
        let (mut steps, mut lost) = (Vec::new(), Vec::new());
        for file in self.files {
            let now = zone.data.existing_entry(&file.path)?;
            let now = now.as_ref().map(seen).transpose()?;
            if now == file.seen {
                continue;
            }
            let has_come = |(from, inode): &(ZonePath, u64)| {
                let is_here = now.as_ref().is_some_and(|now| now.inode == *inode);
                is_here && matches!(zone.data.existing_entry(from), Ok(None))
            };
            let moved = file.moved.filter(has_come);
            let state = now.as_ref().filter(|_| !self.is_database);
            let state = state.and_then(|now| Some(now.state.as_ref()?.0.content()));
            let path = file.path.as_str().to_owned();
            if let Some(seen) = &file.seen {
                if seen.state.is_none() && now.is_some() {
                    continue;
                }
                let is_replaced = now.is_some() && moved.is_none();
                let copy = file.copy;
                let kept = copy.map(|copy| keep(zone, &file.path, copy, is_replaced));
                let kept = kept.transpose().unwrap_or_else(|error| {
                    tracing::warn!(%error, "files that a command replaced could not be kept");
                    None
                });
                let kept = kept.flatten();
                let has_bin = zone.store.settings.bin_days.is_some();
                if has_bin && kept.is_none() && seen.state.is_some() {
                    lost.push(file.path);
                }
                let path = path.clone();
                steps.push(if is_replaced {
                    Step::Replaced {
                        path,
                        state,
                        from_bin: None,
                        kept,
                    }
                } else {
                    Step::Removed { path, kept }
                });
            }
            match (moved, file.seen.is_some()) {
                (Some((from, _)), _) => steps.push(Step::Moved {
                    from: from.as_str().to_owned(),
                    to: path,
                    existing: file.existing,
                }),
                (None, false) => steps.push(Step::Made {
                    from_bin: None,
                    path,
                    existing: file.existing,
                    state,
                }),
                (None, true) => {}
            }
        }
        Ok((steps, lost))
    }
}

fn seen(entry: &Entry) -> Result<SeenFormer, DiskError> {
    let is_file = entry.kind() == Kind::File;
    let state = is_file.then(|| entry.state_and_beginning()).transpose()?;
    let inode = entry.stamp().inode();
    Ok(SeenFormer { inode, state })
}

/// Copies a file if the bin may keep it.
fn copy_of(zone: &Zone<'_>, entry: &Entry) -> Result<Option<Staged>, Error> {
    let store = zone.store;
    let fits = || {
        let used = store.used_without_bin(&zone.tenant)?;
        Ok::<_, Error>(used.saturating_add(entry.size()) <= zone.tenant.limit)
    };
    let has_bin = store.settings.bin_days.is_some() && !store.reserve.is_needed();
    if entry.kind() != Kind::File || !has_bin || !fits()? {
        return Ok(None);
    }
    Ok(store.staging(&zone.tenant)?.copy_of(entry, COPIED_BYTES)?)
}

/// Puts a copy into the bin as what was at `path`; returns its id there.
fn keep(
    zone: &Zone<'_>,
    path: &ZonePath,
    copy: Staged,
    is_replaced: bool,
) -> Result<Option<String>, Error> {
    let Some(days) = zone.store.settings.bin_days else {
        return Ok(None);
    };
    let taken = Taken {
        path: path.clone(),
        is_directory: false,
        inode: 0,
        totals: Totals {
            bytes: copy.size()?,
            files: 1,
        },
        is_replaced,
    };
    let row = taken.row_in_bin(zone, days.get())?;
    let registry = &zone.store.registry;
    registry.announce_to_bin(&row)?;
    let place = zone
        .tenant
        .bin()?
        .vacancy(&ZonePath::found(row.id.clone()))?;
    copy.install(Target::Vacancy(place))?.keep();
    registry.settle_in_bin(&row, true)?;
    Ok(Some(row.id))
}
