//! Several renames that count as one.
//!
//! Where one rename is not enough, what goes where is written down before the first one. Whoever
//! finds the journal of a process that is gone undoes what it did, so that all of it happened or
//! nothing. Removing the journal makes the change final.
//!
//! A step is known to have happened by the inode that it moved: it is where the step took it.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::append::Addition;
use super::note::{below_home, forget, home_of, parent_of, write_note};
use super::{Place, make_directories, remove_tree, report};
use crate::handle::{clone_handle, stat_at};
use crate::kind::kind_of;
use crate::{DiskError, Entry, Kind, Root, Staging, rights};
use fileshed_types::zone::ZonePath;

/// Names that are tried for what cannot go back under its own.
const NEIGHBOURS: u32 = 1000;

/// One rename. Places are below the directory that holds staging and zones.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Step {
    /// Whether both places change what they hold; else the second one is free before.
    pub(super) exchange: bool,
    /// What moves.
    pub(super) inode: u64,
    pub(super) from: String,
    pub(super) to: String,
}

/// Renames under way, or done and not final. Dropped without [`Journal::keep`], all is as it was.
#[derive(Debug)]
pub struct Journal {
    staging: Staging,
    home: Root,
    name: String,
    steps: Vec<Step>,
    /// What the steps leave behind in staging.
    rest: String,
    kept: bool,
}

/// A step that could not be taken: its number and why.
type Stopped = (usize, Errno);

impl Journal {
    /// Writes down the steps. `rest` is the name in staging that is removed in the end.
    pub(super) fn write(
        staging: &Staging,
        rest: String,
        steps: Vec<Step>,
    ) -> Result<Self, DiskError> {
        let text = serde_json::to_vec(&steps).map_err(DiskError::server)?;
        Ok(Self {
            home: home_of(staging)?,
            name: write_note(staging, &text)?,
            steps,
            rest,
            kept: false,
            staging: staging.try_clone()?,
        })
    }

    /// Takes all steps.
    pub(super) fn carry_out(&self) -> Result<(), Stopped> {
        for (number, step) in self.steps.iter().enumerate() {
            step.take(&self.home).map_err(|error| (number, error))?;
        }
        Ok(())
    }

    /// Takes the first steps only, as a process that is killed; how many.
    #[cfg(test)]
    pub(crate) fn take_some(&self, steps: usize) -> usize {
        let taken = self.steps.iter().take(steps);
        taken.filter(|step| step.take(&self.home).is_ok()).count()
    }

    /// Makes the change final.
    pub fn keep(mut self) -> Result<(), DiskError> {
        self.kept = true;
        self.forget()?;
        remove_tree(&self.staging.directory, &self.rest)
    }

    fn forget(&self) -> Result<(), DiskError> {
        forget(&self.staging, &self.name)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // What cannot be undone now is undone when this process is gone.
        let undone = undo(&self.home, &self.steps).and_then(|()| self.forget());
        report(&undone);
        if undone.is_ok() {
            report(&remove_tree(&self.staging.directory, &self.rest));
        }
    }
}

impl Staging {
    /// Moves `entry` to the place of `target`, which goes when the change is final.
    pub fn supplant(&self, entry: &Entry, target: &Entry) -> Result<Journal, DiskError> {
        let gone = || DiskError::NotFound {
            path: entry.path().clone(),
        };
        let inode = entry.place().stat()?.ok_or_else(gone)?.st_ino;
        let name = self.fresh_name();
        let beside = Place::new(
            clone_handle(&self.directory)?,
            name.clone(),
            ZonePath::root(),
        );
        let waiting = below_home(self, &beside)?;
        let steps = vec![
            Step {
                exchange: false,
                inode,
                from: below_home(self, entry.place())?,
                to: waiting.clone(),
            },
            Step {
                exchange: true,
                inode,
                from: waiting,
                to: below_home(self, target.place())?,
            },
        ];
        let journal = Journal::write(self, name, steps)?;
        journal.carry_out().map_err(|(number, error)| {
            let path = [entry.path(), target.path()][number];
            DiskError::of("move", path, error)
        })?;
        // A command that runs meanwhile may have put a directory there: it goes back whole.
        let old = beside.stat()?.map(|stat| kind_of(&stat));
        if old == Some(Kind::Directory) && target.kind() != Kind::Directory {
            return Err(DiskError::NotAFile {
                path: target.path().clone(),
                found: Kind::Directory.describe(),
            });
        }
        Ok(journal)
    }

    /// Undoes what the process that wrote this journal did.
    pub fn roll_back(&self, journal: &str) -> Result<(), DiskError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut text = Vec::new();
        match rustix::fs::openat(&self.directory, journal, flags, Mode::empty()) {
            Ok(file) => File::from(file)
                .read_to_end(&mut text)
                .map_err(DiskError::server)?,
            // Somebody else was here first.
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(DiskError::server(error)),
        };
        let home = home_of(self)?;
        if let Some(addition) = Addition::read(&text) {
            addition.undo(&home)?;
        } else {
            // Written in part: no step was taken.
            let steps: Vec<Step> = serde_json::from_slice(&text).unwrap_or_default();
            undo(&home, &steps)?;
        }
        forget(self, journal)
    }
}

/// Undoes the steps that were taken, the last one first.
fn undo(home: &Root, steps: &[Step]) -> Result<(), DiskError> {
    for step in steps.iter().rev() {
        step.undo(home)?;
    }
    Ok(())
}

impl Step {
    fn take(&self, home: &Root) -> Result<(), Errno> {
        let flags = if self.exchange {
            RenameFlags::EXCHANGE
        } else {
            RenameFlags::NOREPLACE
        };
        let (from, from_name) = parent_of(home, &self.from)?;
        let (to, to_name) = parent_of(home, &self.to)?;
        rights::rename((&from, from_name), (&to, to_name), flags)
    }

    fn undo(&self, home: &Root) -> Result<(), DiskError> {
        let path = || ZonePath::found(self.to.clone());
        let (to, to_name) = match parent_of(home, &self.to) {
            Ok(found) => found,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(error) => return Err(DiskError::of("undo", &path(), error)),
        };
        let there = stat_at(&to, to_name, &path())?;
        if there.is_none_or(|stat| stat.st_ino != self.inode) {
            return Ok(());
        }
        if self.exchange {
            let (from, from_name) = parent_of(home, &self.from)
                .map_err(|error| DiskError::of("undo", &path(), error))?;
            match rights::rename((&to, to_name), (&from, from_name), RenameFlags::EXCHANGE) {
                Ok(()) => return Ok(()),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(DiskError::of("undo", &path(), error)),
            }
        }
        self.put_back(home, &to, to_name)
    }

    /// Moves back what was moved. Where somebody took its name meanwhile, it gets another one
    /// beside: nothing is lost.
    fn put_back(&self, home: &Root, to: &OwnedFd, to_name: &str) -> Result<(), DiskError> {
        let own = ZonePath::found(self.from.clone());
        let above = own.parent().unwrap_or_else(ZonePath::root);
        let name = own.name().unwrap_or_default();
        for number in 0..NEIGHBOURS {
            let place = match number {
                0 => own.clone(),
                1 => above.join(&format!("{name} (recovered)")),
                number => above.join(&format!("{name} (recovered {number})")),
            };
            let vacancy = match home.vacancy_as_named(&place) {
                Ok(vacancy) => vacancy,
                Err(DiskError::Exists { .. }) => continue,
                Err(error) => return Err(error),
            };
            let (free, _made) = make_directories(vacancy)?;
            let flags = RenameFlags::NOREPLACE;
            match rights::rename((to, to_name), (&free.parent, &free.name), flags) {
                Err(Errno::EXIST) => {}
                other => return other.map_err(|error| DiskError::of("undo", &own, error)),
            }
        }
        Err(DiskError::Exists { path: own })
    }
}
