//! Files of a zone without history that a command or a statement may replace where they lie: copied
//! before, and put into the bin when they did change.

use crate::bin::row_in_bin;
use crate::change_request::Taken;
use fileshed_registry::Step;
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
    /// What is moved there.
    pub moved: Option<ZonePath>,
}

/// What is at a path: its number, and of a file its state and first bytes.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    inode: u64,
    state: Option<(Stamp, Vec<u8>)>,
}

/// A path before the change.
#[derive(Debug)]
struct Former {
    path: ZonePath,
    /// The number of leading segments that were there.
    existing: usize,
    seen: Option<Seen>,
    copy: Option<Staged>,
    /// What is moved here, and its number.
    moved: Option<(ZonePath, u64)>,
}

/// The paths before the change.
#[derive(Debug, Default)]
pub(crate) struct FormerFiles(Vec<Former>);

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
            tracing::warn!(%error, "a file is not kept before a command");
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
            return Self(files);
        }
        for expected in expected {
            match Former::look(zone, expected) {
                Ok(file)
                    if file.path.is_root() || files.iter().any(|one| one.path == file.path) => {}
                Ok(file) => files.push(file),
                // The program will say so.
                Err(error) => {
                    tracing::debug!(%error, "a file cannot be looked at before a command")
                }
            }
        }
        Self(files)
    }

    /// Puts what did change into the bin; returns the steps, and files that changed and are gone. The
    /// steps say how the files are now if `is_all`: if nothing of the same answer changes them after
    /// this without a step. The caller has the write lock.
    pub(crate) fn enter(
        self,
        zone: &Zone<'_>,
        is_all: bool,
    ) -> Result<(Vec<Step>, Vec<ZonePath>), Error> {
        let (mut steps, mut lost) = (Vec::new(), Vec::new());
        for file in self.0 {
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
            let state = now.as_ref().filter(|_| is_all);
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
                    tracing::warn!(%error, "what a command replaced is not kept");
                    None
                });
                let kept = kept.flatten();
                let has_bin = zone.store.settings.bin_days.is_some();
                if has_bin && kept.is_none() && seen.state.is_some() {
                    lost.push(file.path);
                }
                let path = path.clone();
                steps.push(match is_replaced {
                    true => Step::Replaced {
                        path,
                        state,
                        from_bin: None,
                        kept,
                    },
                    false => Step::Removed { path, kept },
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

fn seen(entry: &Entry) -> Result<Seen, DiskError> {
    let is_file = entry.kind() == Kind::File;
    let state = is_file.then(|| entry.state_and_beginning()).transpose()?;
    let inode = entry.stamp().inode();
    Ok(Seen { inode, state })
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
    let row = row_in_bin(zone, &taken, days.get())?;
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
