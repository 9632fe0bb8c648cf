//! Effect of a rename, and its undoing.

use super::moves::{failed, move_out};
use super::parents::{make_directories, remove_made};
use super::{Removals, Staging, remove_tree, report};
use crate::entry::Place;
use crate::{DiskError, Entry, Kind, Root, Target, Vacancy, rename};

/// Something that has its name, while what had it before still exists. Dropped without
/// [`Installed::keep`], the old state comes back.
#[derive(Debug)]
pub struct Installed {
    at: Place,
    /// Where it was staged, and what it replaced is; nothing when that was given away.
    old: Option<Place>,
    staging: Staging,
    replaced: bool,
    made: Vec<Place>,
    kept: bool,
}

impl Installed {
    /// Gives what is staged under the name `staged` the name of `target`.
    pub(super) fn new(staging: &Staging, staged: &str, target: Target) -> Result<Self, DiskError> {
        let replaced = target.entry().map(Entry::kind);
        let (at, made) = match target {
            Target::Entry(entry) => (entry.place().clone(), Vec::new()),
            Target::Vacancy(vacancy) => make_directories(vacancy)?,
        };
        let old = staging.place(staged.to_owned())?;
        let moved = match replaced {
            Some(_) => staging.exchange(&old, &at, "write"),
            None => move_out(&old, &at, "write"),
        };
        if let Err(error) = moved {
            remove_made(&made);
            return Err(error);
        }
        // A command that runs meanwhile may have put a directory there: it goes back whole.
        if old.is_directory()? && replaced != Some(Kind::Directory) {
            report(&staging.exchange(&old, &at, "undo"));
            return Err(DiskError::NotAFile {
                path: at.path.clone(),
                found: Kind::Directory.describe(),
            });
        }
        Ok(Self {
            at,
            old: Some(old),
            staging: staging.try_clone()?,
            replaced: replaced.is_some(),
            made,
            kept: false,
        })
    }

    /// Whether something had the name before.
    #[must_use]
    pub fn has_replaced(&self) -> bool {
        self.replaced
    }

    /// Makes the change final.
    pub fn keep(self) {
        drop(self.keep_displaced());
    }

    /// Makes the change final, and gives what it replaced, which nobody sees any more.
    pub fn keep_displaced(mut self) -> Option<Displaced> {
        self.kept = true;
        let old = self.old.take();
        old.filter(|_| self.replaced).map(Displaced)
    }
}

/// What something else has the name of. Dropped, it is gone.
#[derive(Debug)]
#[must_use = "it is removed when it is dropped"]
pub struct Displaced(Place);

impl Drop for Displaced {
    fn drop(&mut self) {
        report(&remove_tree(&self.0.parent, &self.0.name));
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let (Some(old), false) = (&self.old, self.kept) else {
            return;
        };
        let at = &self.at;
        let back = if self.replaced {
            // Where a command took the new one away meanwhile, the old one still comes back.
            let exchanged = self.staging.exchange(old, at, "undo");
            exchanged.or_else(|_| move_out(old, at, "undo"))
        } else {
            rename::rename(at.as_name(), old.as_name())
                .map_err(|error| failed("undo", at, old, error))
        };
        report(&back);
        report(&remove_tree(&old.parent, &old.name));
        remove_made(&self.made);
    }
}

impl Staging {
    /// Takes an entry out of its zone.
    pub fn remove(&self, entry: &Entry) -> Result<Removed, DiskError> {
        let from = entry.place().clone();
        let to = self.take_in(&from, "remove")?;
        Ok(Removed {
            from,
            to,
            removals: self.removals.clone(),
            kept: false,
        })
    }
}

/// Something that left its zone and still exists beside it.
#[derive(Debug)]
pub struct Removed {
    from: Place,
    to: Place,
    removals: Removals,
    kept: bool,
}

impl Removed {
    /// Makes the removal final.
    pub fn keep(mut self) -> Result<(), DiskError> {
        self.kept = true;
        self.removals.remove(&self.to.parent, &self.to.name)
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        if !self.kept {
            report(&move_out(&self.to, &self.from, "undo"));
        }
    }
}

/// Something that moved inside its zone, or between its zone and the bin.
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
        let (to, made) = make_directories(vacancy)?;
        if let Err(error) = staging.move_to_free(&from, &to, "rename") {
            remove_made(&made);
            return Err(error);
        }
        Ok(Self {
            from,
            to,
            staging: staging.try_clone()?,
            made,
            kept: false,
        })
    }

    /// Moves `entry` out of its zone, into a directory beside it, to a name that nothing ever had
    /// there.
    pub fn out_of_zone(
        entry: &Entry,
        (directory, name): (&Root, &str),
        staging: &Staging,
    ) -> Result<Self, DiskError> {
        let from = entry.place().clone();
        let to = Place::new(
            directory.try_clone()?.into_handle(),
            name.to_owned(),
            from.path.clone(),
        );
        rename::rename(from.as_name(), to.as_name())
            .map_err(|error| failed("remove", &from, &to, error))?;
        Ok(Self {
            from,
            to,
            staging: staging.try_clone()?,
            made: Vec::new(),
            kept: false,
        })
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

    /// Gives this the name of `taken`, which is gone then.
    pub fn replace(&self, taken: &Self) -> Result<(), DiskError> {
        let (from, to) = (self.place(), taken.place());
        rename::rename(from.as_name(), to.as_name())
            .map_err(|error| failed("replace", from, to, error))
    }
}

impl Vacancy {
    /// Makes a symbolic link here that says `target`.
    pub fn make_link(self, target: &[u8]) -> Result<(), DiskError> {
        let (place, _made) = make_directories(self)?;
        rustix::fs::symlinkat(target, &place.parent, &*place.name)
            .map_err(|error| DiskError::of("create", &place.path, error))
    }
}
