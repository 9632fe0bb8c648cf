//! Several renames that count as one.
//!
//! Where one rename is not enough, what goes where is written down before the first one. Whoever
//! finds the journal of a process that is gone undoes what it did, so that all of it happened or
//! nothing. Removing the journal makes the change final.
//!
//! A step is known to have happened by the inode that it moved: it is where the step took it. Where
//! the file system needs several calls for a step, one that was cut off is known by what stands
//! aside, or by a file that has both names.

use std::fs::File;
use std::io::Read;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::append::Addition;
use super::note::{aside_of, below_home, forget, home_of, parent_of, write_note};
use super::{Place, make_directories, remove_tree, report};
use crate::kind::kind_of;
use crate::rename;
use crate::{DiskError, Entry, Kind, Root, Staging};
use fileshed_types::zone::ZonePath;

/// Names that are tried for what cannot go back under its own.
const NEIGHBOURS: u32 = 1000;

/// One rename. Places are below the directory that holds staging and zones.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RenameStep {
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
    steps: Vec<RenameStep>,
    /// Where a step may put something aside.
    aside: String,
    /// What the steps leave behind in staging.
    rest: Option<String>,
    kept: bool,
}

/// A step that could not be taken: its number and why.
type StoppedStep = (usize, Errno);

impl Journal {
    /// Writes down the steps. `rest` is the name in staging that is removed in the end.
    pub(super) fn write(
        staging: &Staging,
        rest: Option<String>,
        steps: Vec<RenameStep>,
    ) -> Result<Self, DiskError> {
        let text = serde_json::to_vec(&steps).map_err(DiskError::server)?;
        let name = write_note(staging, &text)?;
        Ok(Self {
            home: home_of(staging)?,
            aside: aside_of(staging, &name)?,
            name,
            steps,
            rest,
            kept: false,
            staging: staging.try_clone()?,
        })
    }

    /// Takes all steps.
    pub(super) fn carry_out(&self) -> Result<(), StoppedStep> {
        for (number, step) in self.steps.iter().enumerate() {
            step.take(&self.home, &self.aside)
                .map_err(|error| (number, error))?;
        }
        Ok(())
    }

    /// Takes the first steps only, as a process that is killed; how many.
    #[cfg(test)]
    pub(crate) fn take_some(&self, steps: usize) -> usize {
        let taken = self.steps.iter().take(steps);
        taken
            .filter(|step| step.take(&self.home, &self.aside).is_ok())
            .count()
    }

    /// Makes the change final.
    pub fn keep(mut self) -> Result<(), DiskError> {
        self.kept = true;
        self.forget()?;
        self.remove_rest()
    }

    /// Takes the steps and makes the change final; or nothing is changed.
    pub(super) fn take_at_once(mut self) -> Result<Result<(), Errno>, DiskError> {
        if let Err((_, error)) = self.carry_out() {
            return Ok(Err(error));
        }
        self.forget()?;
        self.kept = true;
        self.remove_rest()?;
        Ok(Ok(()))
    }

    fn remove_rest(&self) -> Result<(), DiskError> {
        match &self.rest {
            Some(rest) => remove_tree(&self.staging.directory, rest),
            None => Ok(()),
        }
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
        let undone = undo(&self.home, &self.steps, &self.aside).and_then(|()| self.forget());
        report(&undone);
        if undone.is_ok() {
            report(&self.remove_rest());
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
        let beside = self.place(name.clone())?;
        let waiting = below_home(self, &beside)?;
        let steps = vec![
            RenameStep {
                exchange: false,
                inode,
                from: below_home(self, entry.place())?,
                to: waiting.clone(),
            },
            RenameStep {
                exchange: true,
                inode,
                from: waiting,
                to: below_home(self, target.place())?,
            },
        ];
        let journal = Journal::write(self, Some(name), steps)?;
        journal.carry_out().map_err(|(number, error)| {
            let path = [entry.path(), target.path()][number];
            DiskError::of("move", path, error)
        })?;
        // A command that runs meanwhile may have put a directory there: it goes back whole.
        if beside.is_directory()? && target.kind() != Kind::Directory {
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
            let steps: Vec<RenameStep> = serde_json::from_slice(&text).unwrap_or_default();
            undo(&home, &steps, &aside_of(self, journal)?)?;
        }
        forget(self, journal)
    }
}

/// Undoes the steps that were taken, the last one first.
fn undo(home: &Root, steps: &[RenameStep], aside: &str) -> Result<(), DiskError> {
    for step in steps.iter().rev() {
        step.undo(home, aside)?;
    }
    Ok(())
}

impl RenameStep {
    fn take(&self, home: &Root, aside: &str) -> Result<(), Errno> {
        let (from, to) = (opened(home, &self.from)?, opened(home, &self.to)?);
        if self.exchange {
            let aside = opened(home, aside)?;
            rename::exchange(from.as_name(), to.as_name(), aside.as_name())
        } else {
            rename::to_free(from.as_name(), to.as_name())
        }
    }

    fn undo(&self, home: &Root, aside: &str) -> Result<(), DiskError> {
        let fail = |error| DiskError::of("undo", &ZonePath::found(self.to.clone()), error);
        let to = match opened(home, &self.to) {
            Ok(to) => Some(to),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            Err(error) => return Err(fail(error)),
        };
        let arrived = match &to {
            Some(to) if to.inode()? == Some(self.inode) => Some(to),
            _ => None,
        };
        if !self.exchange {
            return match arrived {
                Some(to) => self.take_back(home, to),
                None => Ok(()),
            };
        }
        let aside = opened(home, aside).map_err(fail)?;
        if aside.inode()?.is_none() {
            let Some(to) = arrived else {
                return Ok(());
            };
            let from = opened(home, &self.from).map_err(fail)?;
            match rename::exchange_in_one_call(to.as_name(), from.as_name()) {
                Ok(true) => return Ok(()),
                // What it replaced is gone.
                Err(Errno::NOENT) => return to.put_back(home, &self.from),
                Err(error) => return Err(fail(error)),
                Ok(false) => rename::rename(from.as_name(), aside.as_name()).map_err(fail)?,
            }
        }
        self.undo_from_aside(home, arrived, &aside)
    }

    /// Undoes an exchange while what was replaced is aside. Cut off, it can be done again.
    fn undo_from_aside(
        &self,
        home: &Root,
        arrived: Option<&Place>,
        aside: &Place,
    ) -> Result<(), DiskError> {
        let fail = |error| DiskError::of("undo", &ZonePath::found(self.to.clone()), error);
        if let Some(to) = arrived {
            let from = opened(home, &self.from).map_err(fail)?;
            if !to.is_directory()? && !aside.is_directory()? {
                // So that the name always has one of the two.
                if from.inode()? != Some(self.inode) {
                    rename::link(to.as_name(), from.as_name()).map_err(fail)?;
                }
                return rename::rename(aside.as_name(), to.as_name()).map_err(fail);
            }
            rename::to_free(to.as_name(), from.as_name()).map_err(fail)?;
        }
        match opened(home, &self.to) {
            // It was linked aside, and nothing more.
            Ok(to) if rename::is_same(to.as_name(), aside.as_name()) => aside.unlink(),
            _ => aside.put_back(home, &self.to),
        }
    }

    /// Moves back what has its new name, and maybe its old one too.
    fn take_back(&self, home: &Root, to: &Place) -> Result<(), DiskError> {
        match opened(home, &self.from) {
            Ok(from) if rename::is_same(from.as_name(), to.as_name()) => to.unlink(),
            _ => to.put_back(home, &self.from),
        }
    }
}

/// Returns a name below the directory that holds staging, in its open directory.
fn opened(home: &Root, place: &str) -> Result<Place, Errno> {
    let (parent, name) = parent_of(home, place)?;
    Ok(Place::new(parent, name.to_owned(), ZonePath::root()))
}

impl Place {
    fn inode(&self) -> Result<Option<u64>, DiskError> {
        Ok(self.stat()?.map(|stat| stat.st_ino))
    }

    pub(super) fn is_directory(&self) -> Result<bool, DiskError> {
        Ok(self
            .stat()?
            .is_some_and(|stat| kind_of(&stat) == Kind::Directory))
    }

    fn unlink(&self) -> Result<(), DiskError> {
        rustix::fs::unlinkat(&self.parent, &*self.name, AtFlags::empty())
            .map_err(|error| DiskError::of("undo", &ZonePath::root(), error))
    }

    /// Moves it to the name that it had. Where somebody took that meanwhile, it gets another
    /// one beside: nothing is lost.
    fn put_back(&self, home: &Root, name: &str) -> Result<(), DiskError> {
        let own = ZonePath::found(name.to_owned());
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
            match rename::to_free(self.as_name(), (&free.parent, &free.name)) {
                Err(Errno::EXIST) => {}
                other => return other.map_err(|error| DiskError::of("undo", &own, error)),
            }
        }
        Err(DiskError::Exists { path: own })
    }
}
