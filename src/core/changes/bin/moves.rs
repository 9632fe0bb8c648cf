//! Into the bin and out of it: one rename each, and the space goes along.
//!
//! The row of what moves is there before the rename and after it, so whatever dies in between, the
//! repair of the zone sees by the place of the files whether the rename happened.

use std::collections::HashMap;

use crate::change_request::ChangeRequest;
use crate::permit::{DiskEffect, Permit, Writer, ZoneChange};
use fileshed_registry::{BIN, BinRow, QuotaError, Step};
use fileshed_storage::{DiskError, Entry, Merge, Renamed, Totals, Vacancy};
use fileshed_types::Error;
use fileshed_zones::zone::ZonePath;

impl Writer<'_> {
    /// Deletes an entry of the zone, with everything below it: into the bin, if that keeps it. The only
    /// way in which something is deleted that a person or a model names. Returns `true` if it is in
    /// the bin. Without a `message`, history has the default.
    pub fn delete(self, entry: &Entry, message: Option<&str>) -> Result<bool, Error> {
        let zone = self.zone();
        let default = format!("Delete {}", entry.path());
        let permit = self.guard(ChangeRequest::remove(entry, zone.totals(entry)?))?;
        let Some(id) = permit.binned.first().map(|row| row.id.clone()) else {
            permit.remove(entry)?.commit(message, &default)?;
            return Ok(false);
        };
        permit.remove(entry)?.commit(message, &default)?;
        let gone = match zone.store.relieve_disk(&zone.tenant) {
            Ok(gone) => gone,
            Err(error) => {
                tracing::warn!(%error, "the bin could not be emptied on a full disk");
                Vec::new()
            }
        };
        Ok(gone.iter().all(|row| row.id != id))
    }
}

/// Room of a bin, in bytes or files.
struct Room {
    /// The most that it may hold beside the zones.
    most: u64,
    /// The part of it that is free.
    free: u64,
    /// The part of it that the entries of a change get.
    taken: u64,
}

impl Room {
    fn new(most: u64, used: u64) -> Self {
        let free = most.saturating_sub(used);
        Self {
            most,
            free,
            taken: 0,
        }
    }

    /// Returns `true` if an entry may come in: it takes no more than half of the room from others.
    fn has(&self, amount: u64) -> bool {
        self.taken.saturating_add(amount) <= self.most
            && amount <= self.free.max(self.most.div_ceil(2))
    }

    fn take(&mut self, amount: u64) {
        self.taken += amount;
        self.free = self.free.saturating_sub(amount);
    }
}

impl Permit<'_> {
    /// Chooses from what the change takes away the entries that the bin keeps: in a zone without
    /// history, and unless older ones would have to make way for something that takes half of its room.
    pub(crate) fn choose_for_bin(&mut self) -> Result<(), Error> {
        let zone = self.zone();
        if zone.name.is_versioned() {
            return Ok(());
        }
        let mut steps = std::mem::take(&mut self.request.steps);
        if let Some(days) = zone.store.settings.bin_days
            && !self.request.taken.is_empty()
            // There is nothing in it yet, and no space for it either.
            && !matches!(zone.tenant.bin(), Err(DiskError::Full))
        {
            let usage = zone.store.registry.usage(&zone.tenant.key)?;
            let rooms = |of: fn(Totals) -> u64, growth: i64, most: u64| {
                let total = |in_bin: bool| -> u64 {
                    let usage = usage.iter().filter(|usage| (usage.zone == BIN) == in_bin);
                    usage.map(|usage| of(usage.totals)).sum()
                };
                let live = total(false).saturating_add_signed(growth);
                Room::new(most.saturating_sub(live), total(true))
            };
            let mut bytes = rooms(|totals| totals.bytes, self.request.bytes, zone.tenant.limit);
            let most_files = zone.store.settings.max_files;
            let mut files = rooms(|totals| totals.files, self.request.files, most_files);
            for taken in &self.request.taken {
                let totals = taken.totals;
                if bytes.has(totals.bytes) && files.has(totals.files) {
                    bytes.take(totals.bytes);
                    files.take(totals.files);
                    let mut row = taken.row_in_bin(zone, days.get())?;
                    if let Some(id) = self.writer.bin_ids.remove(&row.path) {
                        row.id = id;
                    }
                    self.binned.push(row);
                }
            }
        }
        if self.writer.keeps && self.binned.len() < self.request.taken.len() {
            let needed = self
                .request
                .taken
                .iter()
                .map(|taken| taken.totals.bytes)
                .sum();
            let (used, limit) = (zone.store.used(&zone.tenant)?, zone.tenant.limit);
            return Err(zone.explain(
                QuotaError {
                    used,
                    needed,
                    limit,
                }
                .into(),
            ));
        }
        // Its space goes along when the change is done.
        self.count_binned(1);
        for step in &mut steps {
            if let Step::Replaced { path, kept, .. } | Step::Removed { path, kept } = step {
                let row = self.binned.iter().find(|row| row.path == *path);
                *kept = row.map(|row| row.id.clone());
            }
        }
        self.change.set_steps(&steps);
        Ok(())
    }

    /// Adds the space of what goes into the bin to that of the change, or takes it away.
    fn count_binned(&mut self, sign: i64) {
        for row in &self.binned {
            self.request.bytes += sign * row.totals.bytes as i64;
            self.request.files += sign * row.totals.files as i64;
        }
    }

    /// Lets what the change takes away go for good: others took the space that it had in the bin.
    /// Returns `false` if none of it goes into the bin anyway.
    pub(crate) fn give_up_bin(&mut self) -> bool {
        if self.writer.keeps {
            return false;
        }
        self.count_binned(-1);
        let had_any = !std::mem::take(&mut self.binned).is_empty();
        let mut steps = self.change.steps();
        for step in &mut steps {
            if let Step::Replaced { kept, .. } | Step::Removed { kept, .. } = step {
                *kept = None;
            }
        }
        self.change.set_steps(&steps);
        had_any
    }

    /// Notes for the answer what the change took away, and the bin does not keep.
    pub(crate) fn note_not_kept(&self) {
        let zone = self.zone();
        if zone.name.is_versioned() || zone.store.settings.bin_days.is_none() {
            return;
        }
        for taken in &self.request.taken {
            let path = taken.path.as_str();
            if !self.binned.iter().any(|row| row.path == path) {
                zone.caller.bin_notes.not_kept(path);
            }
        }
    }

    /// Has the files that a merge replaces go into the bin, if that keeps them.
    pub(crate) fn keep_replaced(&self, merge: &mut Merge) -> Result<(), Error> {
        if self.binned.is_empty() {
            return Ok(());
        }
        self.zone().tenant.bin()?;
        let places: HashMap<&str, String> = self
            .binned
            .iter()
            .map(|row| (&*row.path, row.place()))
            .collect();
        merge.keep(|path| places.get(path.as_str()).cloned());
        Ok(())
    }
}

impl<'a> Writer<'a> {
    /// Lets what is in the bin take the places of these entries, which go into the bin, all of them in one
    /// change; `None` if somebody else took one out meanwhile.
    pub(crate) fn swap_with_bin(
        self,
        swaps: Vec<(BinRow, Entry)>,
    ) -> Result<Option<ZoneChange<'a>>, Error> {
        let zone = self.zone();
        let bin = zone.tenant.bin()?;
        let (mut rows, mut formers, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        let mut request: Option<ChangeRequest> = None;
        for (mut row, entry) in swaps {
            let Some(former) = bin.existing_entry(&ZonePath::found(row.id.clone()))? else {
                return Ok(None);
            };
            row.totals = bin.totals(&former)?;
            let swap = ChangeRequest::swap(&entry, zone.totals(&entry)?, former.stamp());
            let swap = swap.out_of_bin(&row.id);
            request = Some(match request {
                Some(request) => request.and(swap),
                None => swap,
            });
            rows.push(row);
            formers.push(former);
            entries.push(entry);
        }
        let Some(request) = request else {
            return Ok(None);
        };
        let mut permit = self.guard(request)?;
        if !zone.store.registry.announce_from_bin(&rows)? {
            return Ok(None);
        }
        for (row, entry) in rows.iter_mut().zip(&entries) {
            entry.path().as_str().clone_into(&mut row.path);
        }
        permit.brought_back = rows;
        permit.expect_alive()?;
        let mut moves = Vec::new();
        for (former, entry) in formers.iter().zip(&entries) {
            moves.push((former, entry, permit.place_in_bin(entry.path())?));
        }
        let change =
            permit.carry_out(|staging| staging.supplant_all(&moves).map(DiskEffect::Several))?;
        Ok(Some(change))
    }

    /// Moves what is in the bin to a free name of the zone; `None` if somebody else took it out
    /// meanwhile.
    pub(crate) fn bring_back(
        self,
        mut row: BinRow,
        vacancy: Vacancy,
    ) -> Result<Option<ZoneChange<'a>>, Error> {
        let mut permit = self.guard(ChangeRequest::bring_back(&vacancy).out_of_bin(&row.id))?;
        let zone = permit.zone();
        let registry = &zone.store.registry;
        if !registry.announce_from_bin(std::slice::from_ref(&row))? {
            return Ok(None);
        }
        let name = ZonePath::found(row.id.clone());
        vacancy.path().as_str().clone_into(&mut row.path);
        permit.brought_back = vec![row.clone()];
        let bin = zone.tenant.bin()?;
        let entry = bin
            .existing_entry(&name)
            .map_err(|error| permit.explain(error))?;
        let Some(entry) = entry else {
            return Ok(None);
        };
        // A command that held it open may have gone on writing.
        row.totals = bin.totals(&entry)?;
        permit.brought_back = vec![row];
        permit.expect_alive()?;
        match Renamed::new(&entry, vacancy, permit.staging()) {
            Ok(effect) => Ok(Some(permit.change(DiskEffect::Renamed(effect)))),
            Err(error) if error.is_gone() => Ok(None),
            Err(error) => Err(permit.explain(error)),
        }
    }
}
