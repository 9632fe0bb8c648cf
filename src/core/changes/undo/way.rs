//! The ways back from the steps of a zone without history, and what each does on disk.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::Arc;

use fileshed_registry::BinRow;
use fileshed_storage::{ContentState, DiskError, Target, Totals};
use fileshed_types::{Caller, Chat, Error, ZoneName};
use fileshed_zones::zone::{Zone, ZonePath};

use super::{KeptReason, OPERATION, UndoError, UndoOutcome};
use crate::{cross_zone, receiver};

/// The way back from one step.
pub(super) enum Way {
    /// It goes into the bin, under this id, with directories above it that are empty then, beyond this depth.
    Discard(ZonePath, usize, Option<String>),
    /// The entry in the bin and what is at the path, which gets this id there, change places.
    Swap(ZonePath, BinRow, Option<String>),
    /// The entry in the bin comes back.
    BringBack(ZonePath, BinRow),
    /// It gets its former name; directories above it go as above.
    Rename(ZonePath, ZonePath, usize),
    /// It goes back to another zone; directories above it go as above.
    Send(ZonePath, usize, ZoneName, ZonePath, String),
    /// It gets this content, which also takes these older changes back as a whole.
    Rewrite(ZonePath, Arc<[u8]>, Vec<i64>),
    /// It loses the bytes between these two; if the rest is all that it had before, its content is of this time.
    Shorten(ZonePath, u64, u64, Option<i64>),
    /// It stays.
    Stay(ZonePath, KeptReason),
}

impl Way {
    /// Returns the path that it is about, and the outcome there.
    pub(super) fn outcome(&self) -> (ZonePath, UndoOutcome) {
        let (path, outcome) = match self {
            Self::Discard(path, ..) => (path, UndoOutcome::Removed),
            Self::Swap(path, ..) | Self::BringBack(path, _) | Self::Shorten(path, ..) => {
                (path, UndoOutcome::Restored)
            }
            Self::Rename(_, path, _) | Self::Send(path, ..) => (path, UndoOutcome::MovedBack),
            Self::Rewrite(path, ..) => (path, UndoOutcome::Merged),
            Self::Stay(path, reason) => (path, UndoOutcome::Kept(*reason)),
        };
        (path.clone(), outcome)
    }

    /// Returns the paths in the zone that it changes.
    pub(super) fn places(&self) -> impl Iterator<Item = &ZonePath> {
        let (path, other) = match self {
            Self::Rename(path, back, _) => (path, Some(back)),
            Self::Discard(path, ..)
            | Self::Swap(path, ..)
            | Self::BringBack(path, _)
            | Self::Send(path, ..)
            | Self::Rewrite(path, ..)
            | Self::Shorten(path, ..)
            | Self::Stay(path, _) => (path, None),
        };
        std::iter::once(path).chain(other)
    }

    /// Returns the older changes that it takes back, too, as a whole.
    pub(super) fn older(&self) -> &[i64] {
        match self {
            Self::Rewrite(_, _, older) => older,
            _ => &[],
        }
    }

    /// Takes the step back.
    pub(super) fn go(&self, zone: &Zone<'_>, seen: Option<ContentState>) -> Result<(), Error> {
        let writer = receiver(zone, OPERATION)?.keeping();
        let gone = || Error::from(UndoError::Nothing);
        expect_unchanged(zone, &self.outcome().0, seen)?;
        match self {
            Self::Stay(..) => {}
            Self::Discard(path, existing, id) => {
                let entry = zone.data.entry_as_named(path)?;
                writer.binning_as(path, id.as_ref()).delete(&entry, None)?;
                remove_empty(zone, path, *existing)?;
            }
            Self::Swap(path, row, id) => {
                let entry = zone.data.entry_as_named(path)?;
                let writer = writer.binning_as(path, id.as_ref());
                let change = writer.swap_with_bin(vec![(row.clone(), entry)])?;
                change.ok_or_else(gone)?.commit(None, OPERATION)?;
            }
            Self::BringBack(path, row) => {
                let vacancy = zone.data.vacancy_as_named(path)?;
                let change = writer.bring_back(row.clone(), vacancy)?.ok_or_else(gone)?;
                change.commit(None, OPERATION)?;
            }
            Self::Rename(path, back, existing) => {
                let entry = zone.data.entry_as_named(path)?;
                let vacancy = zone.data.vacancy_as_named(back)?;
                writer.rename(&entry, vacancy)?.commit(None, OPERATION)?;
                remove_empty(zone, path, *existing)?;
            }
            Self::Send(path, existing, to, back, chat) => {
                drop(writer);
                let caller = back_to(zone, *to, chat);
                let to = zone.store.zone_as_it_is(&caller, *to)?.made()?;
                let writers = cross_zone::writers_unasked(zone, &to, OPERATION)?;
                let entry = zone.data.entry_as_named(path)?;
                let weight = zone.data.weigh(&entry, |_| false)?;
                let target = Target::Vacancy(to.data.vacancy_as_named(back)?);
                cross_zone::relocate(writers, &entry, &weight, (target, Totals::default()))?
                    .commit(None, OPERATION)?;
                remove_empty(zone, path, *existing)?;
            }
            Self::Rewrite(path, content, _) => {
                let staged = zone.stage(content)?;
                let target = Target::Entry(zone.data.entry_as_named(path)?);
                writer.write(staged, target, None, OPERATION)?;
            }
            Self::Shorten(path, before, after, modified) => {
                let entry = zone.data.entry_as_named(path)?;
                let fail = |error| DiskError::of("read", path, error);
                let mut file = entry.open()?;
                let mut staged = zone.stage(&[])?;
                let mut head = (&mut file).take(*before);
                std::io::copy(&mut head, staged.file()).map_err(fail)?;
                file.seek(SeekFrom::Start(*after)).map_err(fail)?;
                std::io::copy(&mut file, staged.file()).map_err(fail)?;
                staged.file().flush().map_err(fail)?;
                if let Some(modified) = modified {
                    staged.set_modified(*modified).map_err(fail)?;
                }
                writer.write(staged, Target::Entry(entry), None, OPERATION)?;
            }
        }
        Ok(())
    }
}

/// Gives all files that are swapped their former contents, in one change.
pub(super) fn swap_together(
    zone: &Zone<'_>,
    swaps: &[(&Way, Option<ContentState>)],
) -> Result<(), Error> {
    let mut writer = receiver(zone, OPERATION)?.keeping();
    let gone = || Error::from(UndoError::Nothing);
    let mut pairs = Vec::new();
    for (way, seen) in swaps {
        let Way::Swap(path, row, id) = way else {
            return Err(gone());
        };
        expect_unchanged(zone, path, *seen)?;
        writer = writer.binning_as(path, id.as_ref());
        pairs.push((row.clone(), zone.data.entry_as_named(path)?));
    }
    let change = writer.swap_with_bin(pairs)?.ok_or_else(gone)?;
    change.commit(None, OPERATION)?;
    Ok(())
}

/// Fails if somebody changed a file since it was judged.
fn expect_unchanged(
    zone: &Zone<'_>,
    path: &ZonePath,
    seen: Option<ContentState>,
) -> Result<(), Error> {
    let Some(seen) = seen else {
        return Ok(());
    };
    let there = zone.data.existing_entry(path)?;
    if there.map(|entry| entry.stamp().content()) == Some(seen) {
        Ok(())
    } else {
        Err(UndoError::Nothing.into())
    }
}

/// The caller for the zone that something came from: each conversation has uploads of its own.
pub(super) fn back_to(zone: &Zone<'_>, to: ZoneName, chat: &str) -> Caller {
    Caller {
        chat: match to {
            ZoneName::Uploads => Chat::new(chat),
            _ => zone.caller.chat.clone(),
        },
        ..zone.caller.clone()
    }
}

/// Removes the directories above a path that are empty, but for the first ones.
fn remove_empty(zone: &Zone<'_>, path: &ZonePath, existing: usize) -> Result<(), Error> {
    let above = std::iter::successors(path.parent(), ZonePath::parent);
    for directory in above.take_while(|above| above.segments().count() > existing) {
        let entry = zone.data.existing_entry(&directory)?;
        if !entry.map_or(Ok(false), |entry| entry.remove_if_empty())? {
            break;
        }
    }
    Ok(())
}
