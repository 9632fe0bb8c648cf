//! A command on the working copy of a locked edit: of what it leaves, no more stays than fits.

use super::space::SpaceError;
use crate::zone::Zone;
use crate::{Error, ZonePath};
use fileshed_storage::{Root, Staged, Totals};

impl<'a> Zone<'a> {
    /// Lets a working copy be changed: `copy`, which is alone in `directory`.
    pub(crate) fn open_ended_edit(
        &'a self,
        directory: &'a Root,
        copy: &'a ZonePath,
    ) -> Result<OpenEndedEdit<'a>, Error> {
        let file = directory.followed(copy)?.open()?;
        Ok(OpenEndedEdit {
            zone: self,
            directory,
            copy,
            content: self.store.staging(&self.tenant)?.copy(file)?,
            there: directory.measure()?.bytes,
            used: self.store.used_without_bin(&self.tenant)?,
        })
    }
}

/// The right to change the working copy of the caller's own locked edit. Its lock keeps everybody
/// else off it, so it needs no other.
pub(crate) struct OpenEndedEdit<'a> {
    zone: &'a Zone<'a>,
    directory: &'a Root,
    copy: &'a ZonePath,
    /// Its content.
    content: Staged,
    /// Bytes in its directory.
    there: u64,
    /// Bytes in the whole tenant.
    used: u64,
}

/// What the tenant would hold with what is in the directory now, where that is too much.
fn is_over(zone: &Zone<'_>, directory: &Root, there: u64, used: u64) -> Option<u64> {
    // What vanishes while it is measured is measured again soon.
    let now = directory.measure().ok()?.bytes;
    let holds = used.saturating_sub(there) + now;
    (now > there && holds > zone.tenant.limit).then_some(holds)
}

impl<'a> OpenEndedEdit<'a> {
    /// Says, whenever it is asked, whether the change must stop for the space that it takes.
    pub(crate) fn must_stop(&self) -> impl Fn() -> bool + use<'a> {
        let (zone, directory, there, used) = (self.zone, self.directory, self.there, self.used);
        move || is_over(zone, directory, there, used).is_some()
    }

    /// The change is over, or was `stopped` for its space: what it left is entered. Gives the
    /// refusal where it was put back.
    pub(crate) fn finish(self, command: &str, stopped: bool) -> Result<Option<Error>, Error> {
        let zone = self.zone;
        let refused = self.judge(command, stopped)?;
        zone.store.measure_edits(&zone.tenant, zone.name())?;
        zone.store.make_space(&zone.tenant, Totals::default())?;
        Ok(refused)
    }

    /// Puts the copy back where a command made more of it than fits, and says why.
    fn judge(self, command: &str, stopped: bool) -> Result<Option<Error>, Error> {
        let holds = is_over(self.zone, self.directory, self.there, self.used);
        if !stopped && holds.is_none() {
            return Ok(None);
        }
        let error = SpaceError::Overflow {
            command: command.to_owned(),
            before: self.used,
            used: holds.unwrap_or(self.used),
            limit: self.zone.tenant.limit,
            undone: true,
        };
        self.put_back()?;
        Ok(Some(error.into()))
    }

    fn put_back(self) -> Result<(), Error> {
        let staging = self.zone.store.staging(&self.zone.tenant)?;
        for found in self.directory.list(&ZonePath::root())? {
            if found.path != *self.copy {
                let entry = self.directory.entry(&found.path)?;
                staging.remove(&entry)?.keep()?;
            }
        }
        let target = self.directory.target(self.copy)?;
        self.content.install(target)?.keep();
        Ok(())
    }
}
