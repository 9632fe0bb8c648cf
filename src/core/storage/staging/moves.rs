//! Moves between zones and staging, each of them whole or not at all.
//!
//! Where the file system needs several calls for one (see `rename`), what is about to happen is written
//! down as a journal of one step.

use rustix::io::Errno;

use super::journal::{Journal, RenameStep};
use super::note::below_home;
use super::{Place, Staging};
use crate::DiskError;
use crate::handle::clone_handle;
use crate::rename::{self, NamedIn};
use fileshed_types::zone::ZonePath;

impl Place {
    pub(super) fn as_name(&self) -> NamedIn<'_> {
        (&self.parent, &self.name)
    }
}

impl Staging {
    /// What has this name here.
    pub(super) fn place(&self, name: String) -> Result<Place, DiskError> {
        Ok(Place::new(
            clone_handle(&self.directory)?,
            name,
            ZonePath::root(),
        ))
    }

    /// Takes something in from where it is, under a name that nothing else has.
    pub(super) fn take_in(&self, from: &Place, action: &'static str) -> Result<Place, DiskError> {
        let to = self.place(self.fresh_name())?;
        rename::rename(from.as_name(), to.as_name())
            .map_err(|error| failed(action, from, &to, error))?;
        Ok(to)
    }

    /// Moves something to a name that is free.
    pub(super) fn move_to_free(
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
    pub(super) fn exchange(
        &self,
        staged: &Place,
        with: &Place,
        action: &'static str,
    ) -> Result<(), DiskError> {
        let aside = format!("{}.aside", staged.name);
        let aside = (&self.directory, &*aside);
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
            inode: from.stat()?.ok_or_else(|| fail(Errno::NOENT))?.st_ino,
            from: below_home(self, from)?,
            to: below_home(self, to)?,
        };
        Journal::write(self, None, vec![step])?
            .take_at_once()?
            .map_err(fail)
    }
}

/// Moves something that is staged to a free name of a zone. Cut off, it is there, and what is left in
/// staging is swept.
pub(super) fn move_out(from: &Place, to: &Place, action: &'static str) -> Result<(), DiskError> {
    rename::to_free(from.as_name(), to.as_name()).map_err(|error| failed(action, from, to, error))
}

pub(super) fn failed(action: &'static str, from: &Place, to: &Place, error: Errno) -> DiskError {
    match error {
        Errno::INVAL => DiskError::IntoItself {
            path: from.path.clone(),
        },
        Errno::NOENT => DiskError::NotFound {
            path: from.path.clone(),
        },
        error => DiskError::of(action, &to.path, error),
    }
}
