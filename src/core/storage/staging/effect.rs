//! Moves between zones and staging, each of them whole or not at all, and each of them undone unless
//! it is made final.
//!
//! If the file system needs several calls for one move (see `rename`), the move is written down first,
//! as a journal of one step.

use std::path::Path;

use rustix::io::Errno;

use super::journal::{Journal, Noted, RenameStep};
use super::{Place, StagedName, Staging, report};
use crate::entry::remove_made;
use crate::handle::path_of;
use crate::rename::{self, NamedIn};
use crate::{DiskError, Entry, Kind, Root, Target, Vacancy};

impl Place {
    pub(super) fn as_name(&self) -> NamedIn<'_> {
        (&self.parent, &self.name)
    }

    /// Returns its path below a directory.
    pub(super) fn below(&self, directory: &Path) -> Result<String, DiskError> {
        let above = path_of(&self.parent).map_err(DiskError::server)?;
        let above = above.strip_prefix(directory).ok().and_then(Path::to_str);
        let path = above.map(|above| format!("{above}/{}", self.name));
        path.ok_or_else(|| DiskError::Escape {
            path: self.path.clone(),
        })
    }
}

/// Moves an entry to a name, and replaces the entry that had it.
fn move_onto(from: &Place, to: &Place, action: &'static str) -> Result<(), DiskError> {
    rename::rename(from.as_name(), to.as_name()).map_err(|error| failed(action, from, to, error))
}

/// Moves a staged entry to a free name of a zone. If the move is cut off, the entry has its new name,
/// and the rest in staging is swept.
fn move_out(from: &Place, to: &Place, action: &'static str) -> Result<(), DiskError> {
    rename::to_free(from.as_name(), to.as_name()).map_err(|error| failed(action, from, to, error))
}

fn failed(action: &'static str, from: &Place, to: &Place, error: Errno) -> DiskError {
    let path = from.path.clone();
    match error {
        Errno::INVAL => DiskError::IntoItself { path },
        Errno::NOENT => DiskError::NotFound { path },
        error => DiskError::of(action, &to.path, error),
    }
}

impl Staging {
    /// Moves an entry into staging, under a new name.
    pub(super) fn take_in(&self, from: &Place, action: &'static str) -> Result<Place, DiskError> {
        let to = self.place(self.fresh_name());
        move_onto(from, &to, action)?;
        Ok(to)
    }

    /// Moves an entry to a free name.
    fn move_to_free(
        &self,
        from: &Place,
        to: &Place,
        action: &'static str,
    ) -> Result<(), DiskError> {
        match rename::to_free_at_once(from.as_name(), to.as_name()) {
            Ok(true) => Ok(()),
            Ok(false) => self.take_step(from, to, false, action),
            Err(error) => Err(failed(action, from, to, error)),
        }
    }

    /// Lets something that is staged here and something in a zone change places.
    fn exchange(
        &self,
        staged: &Place,
        with: &Place,
        action: &'static str,
    ) -> Result<(), DiskError> {
        let aside = format!("{}.aside", staged.name);
        let aside = (&*self.directory, &*aside);
        match rename::exchange_at_once(staged.as_name(), with.as_name(), aside) {
            Ok(true) => Ok(()),
            Ok(false) => self.take_step(staged, with, true, action),
            Err(error) => Err(failed(action, staged, with, error)),
        }
    }

    fn take_step(
        &self,
        from: &Place,
        to: &Place,
        exchange: bool,
        action: &'static str,
    ) -> Result<(), DiskError> {
        let fail = |error| failed(action, from, to, error);
        let step = RenameStep {
            exchange,
            inode: from.inode()?.ok_or_else(|| fail(Errno::NOENT))?,
            from: self.below_home(from)?,
            to: self.below_home(to)?,
        };
        let journal = Journal::write(self, Noted::Renames(vec![step]), Vec::new())?;
        journal.carry_out().map_err(|(_, error)| fail(error))?;
        journal.keep_or_undo()
    }

    /// Takes an entry out of its zone.
    pub fn remove(&self, entry: &Entry) -> Result<Removed, DiskError> {
        let from = entry.place().clone();
        let to = self.take_in(&from, "remove")?;
        Ok(Removed(Renamed::new_at(from, to, self, Vec::new())))
    }
}

/// An installed entry, while the one that it replaced still exists. When it is dropped without
/// [`Installed::keep`], the old state comes back.
#[derive(Debug)]
pub struct Installed {
    at: Place,
    /// The staged name, which the replaced entry has now; `None` once it was given away.
    old: Option<StagedName>,
    staging: Staging,
    replaced: bool,
    /// `true` if the replaced entry stays where it is now.
    is_kept: bool,
    made: Vec<Place>,
}

/// A name in a directory beside the zones, for an entry that a change replaces or removes.
pub type KeepAs<'a> = (&'a Root, &'a str);

impl Installed {
    /// Gives the staged entry the name of `target`. The entry that had that name gets the name of `keep`.
    pub(super) fn new(
        staging: &Staging,
        mut staged: StagedName,
        target: Target,
        keep: Option<KeepAs<'_>>,
    ) -> Result<Self, DiskError> {
        let replaced = target.entry().map(Entry::kind);
        if let (Some(_), Some((directory, name))) = (replaced, keep) {
            let directory = directory.try_clone()?.into_handle();
            let beside = Place::new(directory, name.to_owned(), staged.place().path.clone());
            move_onto(staged.place(), &beside, "write")?;
            staged.moved(beside);
        }
        let (at, made) = match target {
            Target::Entry(entry) => (entry.place().clone(), Vec::new()),
            Target::Vacancy(vacancy) => vacancy.make_directories()?,
        };
        let old = staged.place();
        let moved = match replaced {
            Some(_) => staging.exchange(old, &at, "write"),
            None => move_out(old, &at, "write"),
        };
        moved.inspect_err(|_| remove_made(&made))?;
        // A command that runs meanwhile may have put a directory there: it goes back whole.
        if old.is_directory()? && replaced != Some(Kind::Directory) {
            let undone = staging.exchange(old, &at, "undo");
            report(&undone);
            if undone.is_err() {
                staged.leave();
            }
            return Err(DiskError::not_a_file(&at.path, Kind::Directory));
        }
        Ok(Self {
            at,
            old: Some(staged),
            staging: staging.clone(),
            replaced: replaced.is_some(),
            is_kept: replaced.is_some() && keep.is_some(),
            made,
        })
    }

    /// Returns `true` if the replaced entry is in staging now, where a sweep removes it.
    #[must_use]
    pub fn has_staged(&self) -> bool {
        self.replaced && !self.is_kept
    }

    /// Makes the change final.
    pub fn keep(self) {
        drop(self.keep_displaced());
    }

    /// Makes the change final, and returns the replaced entry, which is not visible any more.
    #[must_use]
    pub fn keep_displaced(mut self) -> Option<StagedName> {
        let old = self.old.take()?;
        if self.replaced && !self.is_kept {
            return Some(old);
        }
        old.leave();
        None
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let Some(old) = self.old.as_ref().map(StagedName::place) else {
            return;
        };
        let at = &self.at;
        report(&if self.replaced {
            // If a command took the new entry away meanwhile, the old one still comes back.
            let exchanged = self.staging.exchange(old, at, "undo");
            exchanged.or_else(|_| move_out(old, at, "undo"))
        } else {
            move_onto(at, old, "undo")
        });
        remove_made(&self.made);
    }
}

/// An entry that left its zone and still exists beside it. When it is dropped without [`Removed::keep`],
/// the entry comes back.
#[derive(Debug)]
pub struct Removed(Renamed);

impl Removed {
    /// Makes the removal final.
    pub fn keep(mut self) -> Result<(), DiskError> {
        self.0.kept = true;
        self.0.staging.removals.remove(&self.0.to)
    }
}

/// Something that moved inside its zone, or between its zone and the bin. Dropped without
/// [`Renamed::keep`], it moves back.
#[derive(Debug)]
pub struct Renamed {
    from: Place,
    to: Place,
    staging: Staging,
    made: Vec<Place>,
    kept: bool,
}

impl Renamed {
    /// Moves `entry` to `vacancy`.
    pub fn new(entry: &Entry, vacancy: Vacancy, staging: &Staging) -> Result<Self, DiskError> {
        let from = entry.place().clone();
        let (to, made) = vacancy.make_directories()?;
        let moved = staging.move_to_free(&from, &to, "rename");
        moved.inspect_err(|_| remove_made(&made))?;
        Ok(Self::new_at(from, to, staging, made))
    }

    /// Moves `entry` out of its zone, into a directory beside it, to a name that nothing ever had
    /// there.
    pub fn out_of_zone(
        entry: &Entry,
        (directory, name): KeepAs<'_>,
        staging: &Staging,
    ) -> Result<Self, DiskError> {
        let from = entry.place().clone();
        let directory = directory.try_clone()?.into_handle();
        let to = Place::new(directory, name.to_owned(), from.path.clone());
        move_onto(&from, &to, "remove")?;
        Ok(Self::new_at(from, to, staging, Vec::new()))
    }

    fn new_at(from: Place, to: Place, staging: &Staging, made: Vec<Place>) -> Self {
        Self {
            from,
            to,
            staging: staging.clone(),
            made,
            kept: false,
        }
    }

    /// Makes the move final.
    pub fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Renamed {
    fn drop(&mut self) {
        if !self.kept {
            report(&self.staging.move_to_free(&self.to, &self.from, "undo"));
            remove_made(&self.made);
        }
    }
}

impl Entry {
    /// Gives this the free name `vacancy`, at once and for good.
    pub fn rename(&self, vacancy: Vacancy, staging: &Staging) -> Result<(), DiskError> {
        Renamed::new(self, vacancy, staging).map(Renamed::keep)
    }

    /// Gives this the name of `taken`, and so replaces it.
    pub fn replace(&self, taken: &Self) -> Result<(), DiskError> {
        move_onto(self.place(), taken.place(), "replace")
    }
}

impl Vacancy {
    /// Creates a symbolic link to `target` here.
    pub fn make_link(self, target: &[u8]) -> Result<(), DiskError> {
        let (place, _made) = self.make_directories()?;
        rustix::fs::symlinkat(target, &place.parent, &*place.name)
            .map_err(|error| DiskError::of("create", &place.path, error))
    }
}
