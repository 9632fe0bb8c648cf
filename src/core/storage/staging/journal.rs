//! Several renames that count as one.
//!
//! If one rename is not enough, all renames are written down before the first one. A process that finds
//! the journal of a dead process undoes its renames, so that either all of them happened or none.
//! Removing the journal makes the change final.
//!
//! A step has happened if the inode that it moves is at the step's target. If the file system needs
//! several calls for a step, an interrupted step is known by the entry that is set aside, or by a file
//! that has both names.

use std::fs::File;
use std::io::{Read, Write as _};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::append::Appendable;
use super::{ENDING, Place, StagedName, report};
use crate::handle::{create_at, if_there, open_at};
use crate::rename;
use crate::{DiskError, Entry, Kind, Root, Staging};
use fileshed_types::zone::ZonePath;

/// Names that are tried for an entry that cannot go back to its own.
const NEIGHBOURS: u32 = 1000;

/// One rename. Places are below the directory that holds staging and zones.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RenameStep {
    /// `true` if both paths exchange their entries; else the second path is free before.
    pub(super) exchange: bool,
    /// The inode that moves.
    pub(super) inode: u64,
    pub(super) from: String,
    pub(super) to: String,
}

/// A change as it is written down.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Noted {
    Addition(Appendable),
    Renames(Vec<RenameStep>),
}

/// A change that is under way, or made but not final. When it is dropped without [`Journal::keep`], the
/// change is undone.
#[derive(Debug)]
pub struct Journal {
    staging: Staging,
    home: Root,
    name: String,
    noted: Noted,
    /// The path at which a step may set an entry aside.
    aside: String,
    /// The staged names that the steps leave behind.
    rest: Vec<StagedName>,
    kept: bool,
}

/// An addition to a file that is not final. When it is dropped without [`Journal::keep`], the file has
/// its former length.
pub type Appended = Journal;

/// A step that failed: its number and the reason.
type StoppedStep = (usize, Errno);

impl Journal {
    /// Writes down a change, which is on disk when this returns. `rest` is removed in the end.
    pub(super) fn write(
        staging: &Staging,
        noted: Noted,
        rest: Vec<StagedName>,
    ) -> Result<Self, DiskError> {
        let text = serde_json::to_vec(&noted).map_err(DiskError::server)?;
        let name = format!("{}{ENDING}", staging.fresh_name());
        let (home, aside) = (staging.home()?, aside_of(staging, &name)?);
        let mode = Mode::RUSR | Mode::WUSR;
        let mut file = create_at(&staging.directory, &*name, mode).map_err(DiskError::server)?;
        let journal = Self {
            staging: staging.clone(),
            home,
            name,
            noted,
            aside,
            rest,
            kept: false,
        };
        let written = file.write_all(&text).and_then(|()| file.sync_all());
        written.map_err(DiskError::server)?;
        Ok(journal)
    }

    /// Makes the change.
    pub(super) fn carry_out(&self) -> Result<(), StoppedStep> {
        let steps = match &self.noted {
            Noted::Addition(addition) => {
                let errno = |error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
                return addition.append().map_err(|error| (0, errno(error)));
            }
            Noted::Renames(steps) => steps,
        };
        for (number, step) in steps.iter().enumerate() {
            self.take(number, step).map_err(|error| (number, error))?;
        }
        Ok(())
    }

    fn take(&self, number: usize, step: &RenameStep) -> Result<(), Errno> {
        let (from, to) = (self.place(&step.from)?, self.place(&step.to)?);
        if step.exchange {
            let aside = self.place(&aside_at(&self.aside, number))?;
            rename::exchange(from.as_name(), to.as_name(), aside.as_name())
        } else {
            rename::to_free(from.as_name(), to.as_name())
        }
    }

    /// Returns the place of a path of its steps. Staging is open already.
    fn place(&self, path: &str) -> Result<Place, Errno> {
        match (path.rsplit_once('/'), self.aside.rsplit_once('/')) {
            (Some((above, name)), Some((staging, _))) if above == staging => {
                Ok(self.staging.place(name.to_owned()))
            }
            _ => self.home.place(path),
        }
    }

    /// Takes the first steps only, as a process that is killed. Returns the number of steps taken.
    #[cfg(test)]
    pub(crate) fn take_some(&self, steps: usize) -> usize {
        let Noted::Renames(all) = &self.noted else {
            return 0;
        };
        let taken = all.iter().take(steps).enumerate();
        taken
            .filter(|(number, step)| self.take(*number, step).is_ok())
            .count()
    }

    /// Makes the change final. It stands even if this fails.
    pub fn keep(mut self) -> Result<(), DiskError> {
        self.kept = true;
        forget(&self.staging, &self.name)
    }

    /// Makes the change final, or undoes it if that fails.
    pub(super) fn keep_or_undo(mut self) -> Result<(), DiskError> {
        forget(&self.staging, &self.name)?;
        self.kept = true;
        Ok(())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        // If undoing fails now, another process does it when this one is gone.
        let undone = self.noted.undo(&self.home, &self.aside);
        let undone = undone.and_then(|()| forget(&self.staging, &self.name));
        report(&undone);
        if undone.is_err() {
            self.rest.drain(..).for_each(StagedName::leave);
        }
    }
}

impl Staging {
    /// Writes to the end of a file.
    pub fn append(&self, file: Appendable, path: &ZonePath) -> Result<Appended, DiskError> {
        let journal = Journal::write(self, Noted::Addition(file), Vec::new())?;
        journal
            .carry_out()
            .map_err(|(_, error)| DiskError::of("write", path, error))?;
        Ok(journal)
    }

    /// Moves `entry` to the place of `target`, which goes when the change is final, or to `kept`, which
    /// is relative to the tenant root.
    pub fn supplant(
        &self,
        entry: &Entry,
        target: &Entry,
        kept: Option<String>,
    ) -> Result<Journal, DiskError> {
        self.supplant_all(&[(entry, target, kept)])
    }

    /// Does the same with several entries: all of them, or none.
    pub fn supplant_all(
        &self,
        moves: &[(&Entry, &Entry, Option<String>)],
    ) -> Result<Journal, DiskError> {
        let gone = |entry: &Entry| DiskError::NotFound {
            path: entry.path().clone(),
        };
        let (mut steps, mut rest, mut olds) = (Vec::new(), Vec::new(), Vec::new());
        let (mut paths, home) = (Vec::new(), self.home_path()?);
        for (entry, target, kept) in moves {
            let inode = entry.inode()?.ok_or_else(|| gone(entry))?;
            let beside = self.place(self.fresh_name());
            let waiting = beside.below(&home)?;
            steps.push(RenameStep {
                exchange: false,
                inode,
                from: entry.place().below(&home)?,
                to: waiting.clone(),
            });
            steps.push(RenameStep {
                exchange: true,
                inode,
                from: waiting.clone(),
                to: target.place().below(&home)?,
            });
            paths.extend([entry.path(), target.path()]);
            if let Some(kept) = kept {
                steps.push(RenameStep {
                    exchange: false,
                    inode: target.inode()?.ok_or_else(|| gone(target))?,
                    from: waiting.clone(),
                    to: kept.clone(),
                });
                paths.push(target.path());
            }
            olds.push((target, kept.clone().unwrap_or(waiting)));
            rest.push(StagedName::new(beside));
        }
        let journal = Journal::write(self, Noted::Renames(steps), rest)?;
        journal
            .carry_out()
            .map_err(|(number, error)| DiskError::of("move", paths[number], error))?;
        for (target, old) in olds {
            // A command that runs meanwhile may have put a directory there: it goes back whole.
            let old = journal.place(&old).map_err(DiskError::server)?;
            if old.is_directory()? && target.kind() != Kind::Directory {
                return Err(DiskError::not_a_file(target.path(), Kind::Directory));
            }
        }
        Ok(journal)
    }

    /// Undoes what the process that wrote this journal did.
    pub fn roll_back(&self, journal: &str) -> Result<(), DiskError> {
        let opened = open_at(&self.directory, journal, OFlags::RDONLY);
        let Some(file) = if_there(opened).map_err(DiskError::server)? else {
            // Somebody else was here first.
            return Ok(());
        };
        let mut text = Vec::new();
        File::from(file)
            .read_to_end(&mut text)
            .map_err(DiskError::server)?;
        // Of one that was written in part, no step was taken.
        let noted = serde_json::from_slice(&text).unwrap_or(Noted::Renames(Vec::new()));
        noted.undo(&self.home()?, &aside_of(self, journal)?)?;
        forget(self, journal)
    }
}

/// Returns the path, below the directory that holds staging, at which the steps of a journal may set an
/// entry aside.
fn aside_of(staging: &Staging, journal: &str) -> Result<String, DiskError> {
    staging.below_home(&staging.place(format!("{journal}.aside")))
}

/// The same for one step: an interrupted step is known by it. The first two share the name that journals of
/// earlier releases have for all of their steps.
fn aside_at(aside: &str, number: usize) -> String {
    match number {
        0 | 1 => aside.to_owned(),
        number => format!("{aside}.{number}"),
    }
}

fn forget(staging: &Staging, journal: &str) -> Result<(), DiskError> {
    let gone = rustix::fs::unlinkat(&staging.directory, journal, AtFlags::empty());
    if_there(gone).map(drop).map_err(DiskError::server)
}

impl Noted {
    /// Undoes the change, the last step first.
    fn undo(&self, home: &Root, aside: &str) -> Result<(), DiskError> {
        match self {
            Self::Addition(addition) => addition.undo(home),
            Self::Renames(steps) => {
                let mut steps = steps.iter().enumerate().rev();
                steps.try_for_each(|(number, step)| step.undo(home, &aside_at(aside, number)))
            }
        }
    }
}

impl RenameStep {
    fn undo(&self, home: &Root, aside: &str) -> Result<(), DiskError> {
        let fail = |error| DiskError::of("undo", &ZonePath::found(self.to.clone()), error);
        let to = match home.place(&self.to) {
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
        let aside = home.place(aside).map_err(fail)?;
        if aside.inode()?.is_none() {
            let Some(to) = arrived else {
                return Ok(());
            };
            let from = home.place(&self.from).map_err(fail)?;
            match rename::exchange_in_one_call(to.as_name(), from.as_name()) {
                Ok(true) => return Ok(()),
                // The replaced entry is gone.
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
            let from = home.place(&self.from).map_err(fail)?;
            if !to.is_directory()? && !aside.is_directory()? {
                // So that the name always has one of the two.
                if from.inode()? != Some(self.inode) {
                    rename::link(to.as_name(), from.as_name()).map_err(fail)?;
                }
                return rename::rename(aside.as_name(), to.as_name()).map_err(fail);
            }
            rename::to_free(to.as_name(), from.as_name()).map_err(fail)?;
        }
        match home.place(&self.to) {
            // It was linked aside, and nothing more.
            Ok(to) if rename::is_same(to.as_name(), aside.as_name()) => aside.unlink(),
            _ => aside.put_back(home, &self.to),
        }
    }

    /// Moves back what has its new name, and maybe its old one too.
    fn take_back(&self, home: &Root, to: &Place) -> Result<(), DiskError> {
        match home.place(&self.from) {
            Ok(from) if rename::is_same(from.as_name(), to.as_name()) => to.unlink(),
            _ => to.put_back(home, &self.from),
        }
    }
}

impl Place {
    fn unlink(&self) -> Result<(), DiskError> {
        rustix::fs::unlinkat(&self.parent, &*self.name, AtFlags::empty())
            .map_err(|error| DiskError::of("undo", &ZonePath::root(), error))
    }

    /// Moves it to its former name. If that was taken meanwhile, it gets another one beside, so that
    /// nothing is lost.
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
            let (free, _made) = vacancy.make_directories()?;
            match rename::to_free(self.as_name(), (&free.parent, &free.name)) {
                Err(Errno::EXIST) => {}
                other => return other.map_err(|error| DiskError::of("undo", &own, error)),
            }
        }
        Err(DiskError::Exists { path: own })
    }
}
