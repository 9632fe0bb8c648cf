//! Into the bin and out of it: one rename each, and the space goes along.
//!
//! The row of what moves is there before the rename and after it, so whatever dies in between, the
//! repair of the zone sees by the place of the files whether the rename happened.

use crate::change_request::ChangeRequest;
use crate::permit::{BinMove, DiskEffect, Permit, Writer, ZoneChange};
use fileshed_registry::BinRow;
use fileshed_storage::{DiskError, Entry, Kind, Renamed, Vacancy};
use fileshed_types::{Error, random};
use fileshed_zones::chats::DAY_SECONDS;
use fileshed_zones::zone::{Zone, ZonePath};

impl Writer<'_> {
    /// Deletes an entry of the zone, with everything below it: into the bin, if there is one. The only
    /// way in which something is deleted that a person or a model names. Returns `true` if it is in
    /// the bin. Without a `message`, history has the default.
    pub fn delete(self, entry: &Entry, message: Option<&str>) -> Result<bool, Error> {
        let zone = self.zone();
        let default = format!("Delete {}", entry.path());
        let Some(row) = row_in_bin(zone, entry)? else {
            self.remove(entry)?.commit(message, &default)?;
            return Ok(false);
        };
        let id = row.id.clone();
        let permit = self.guard(ChangeRequest::discard(entry))?;
        permit.discard(entry, row)?.commit(message, &default)?;
        let gone = match zone.store.relieve_disk(&zone.tenant) {
            Ok(gone) => gone,
            Err(error) => {
                tracing::warn!(%error, "the bin takes space on a full disk");
                Vec::new()
            }
        };
        Ok(gone.iter().all(|row| row.id != id))
    }
}

/// Returns the row of an entry that goes into the bin; `None` if there is no bin. Files
/// with a history come back from that.
fn row_in_bin(zone: &Zone<'_>, entry: &Entry) -> Result<Option<BinRow>, Error> {
    let Some(days) = zone.store.settings.bin_days else {
        return Ok(None);
    };
    if zone.name.is_versioned() || entry.kind() == Kind::Special {
        return Ok(None);
    }
    // There is nothing in it yet, and no space for it either.
    if let Err(DiskError::Full) = zone.tenant.bin() {
        return Ok(None);
    }
    let deleted_at = zone.store.clock.now().as_second();
    let days = i64::try_from(days.get()).unwrap_or(i64::MAX);
    Ok(Some(BinRow {
        id: hex::encode(random::bytes::<16>()?),
        tenant: zone.tenant.key.clone(),
        zone: zone.name.as_str().to_owned(),
        path: entry.path().as_str().to_owned(),
        is_directory: entry.kind() == Kind::Directory,
        totals: zone.totals(entry)?,
        chat: zone.caller.chat.as_str().to_owned(),
        deleted_at,
        ends_at: deleted_at.saturating_add(days.saturating_mul(DAY_SECONDS)),
    }))
}

impl<'a> Permit<'a> {
    /// Moves an entry into the bin.
    fn discard(mut self, entry: &Entry, row: BinRow) -> Result<ZoneChange<'a>, Error> {
        let zone = self.zone();
        zone.store.registry.announce_to_bin(&row)?;
        let name = row.id.clone();
        self.bin_move = Some(BinMove::Into(row));
        let bin = zone.tenant.bin()?;
        self.carry_out(|staging| {
            Renamed::out_of_zone(entry, (&bin, &name), staging).map(DiskEffect::Renamed)
        })
    }
}

impl<'a> Writer<'a> {
    /// Moves what is in the bin to a free name of the zone; `None` if somebody else took it out
    /// meanwhile.
    pub(crate) fn bring_back(
        self,
        mut row: BinRow,
        vacancy: Vacancy,
    ) -> Result<Option<ZoneChange<'a>>, Error> {
        let mut permit = self.guard(ChangeRequest::bring_back(&vacancy))?;
        let zone = permit.zone();
        if !zone.store.registry.announce_from_bin(&row)? {
            return Ok(None);
        }
        let name = ZonePath::found(row.id.clone());
        vacancy.path().as_str().clone_into(&mut row.path);
        permit.bin_move = Some(BinMove::OutOf(row.clone()));
        let bin = zone.tenant.bin()?;
        let entry = bin
            .existing_entry(&name)
            .map_err(|error| permit.explain(error))?;
        let Some(entry) = entry else {
            return Ok(None);
        };
        // A command that held it open may have gone on writing.
        row.totals = bin.totals(&entry)?;
        permit.bin_move = Some(BinMove::OutOf(row));
        permit.expect_alive()?;
        match Renamed::new(&entry, vacancy, permit.staging()) {
            Ok(effect) => Ok(Some(permit.change(DiskEffect::Renamed(effect)))),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(permit.explain(error)),
        }
    }
}
