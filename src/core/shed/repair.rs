//! Making a zone ready: measured, and free of what a crash left half done.
//!
//! Only the zone that is asked for is repaired, and only changes need that: one that cannot be
//! repaired is still read, and the other zones of its home go on.
//!
//! A change that was acknowledged is final before its answer leaves. One that was not may have
//! happened on disk while its process died: its content is whole (staging sees to that), so in a
//! versioned zone it becomes a commit of its author, and space is measured afresh.

use crate::Error;
use crate::disk::{DiskError, Kind, Root, Totals};
use crate::guard::Stand;
use crate::guard::queue::Turn;
use crate::history::{Author, History, Position};
use crate::ledger::{Act, Deed, Orphan, Ownership as _};
use crate::lockedit::EDITZONE;
use crate::zone::{Home, Zone, ZoneName, ZonePath};

use super::{DATA, Shed};

impl Shed {
    /// Repairs and measures what needs it in one zone, and says whether that is done. What cannot
    /// be repaired can still be read; it is tried again before the next change. Costs two look-ups
    /// when there is nothing to do, and a look into staging the first time: what was staged
    /// without a change has no intent that tells of it.
    pub(super) fn make_ready(&self, home: &Home, zone: ZoneName) -> bool {
        let outcome = self.try_make_ready(home, zone);
        if let Err(error) = &outcome {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let (home, zone) = (&home.key, zone.as_str());
            tracing::error!(home, zone, %error, cause, "a zone could not be repaired");
        }
        outcome.is_ok()
    }

    /// The same; fails where it cannot be done.
    pub(crate) fn try_make_ready(&self, home: &Home, zone: ZoneName) -> Result<(), Error> {
        let undone = self.tidy(home);
        let orphan_of_zone = || -> Result<Option<Orphan>, Error> {
            let orphans = self.ledger.orphans(&home.key)?.into_iter();
            Ok(orphans
                .into_iter()
                .find(|orphan| orphan.zone == zone.as_str()))
        };
        if let Some(mut orphan) = orphan_of_zone()? {
            // The zones of a journal have orphans: the others need not wait for it.
            undone?;
            loop {
                self.roll_back(home)?;
                self.repair(home, &orphan)?;
                match orphan_of_zone()? {
                    Some(next) => orphan = next,
                    None => break,
                }
            }
        }
        self.measure_first(home, zone)?;
        for &other in home.zones.iter().filter(|other| **other != zone) {
            if let Err(error) = self.measure_first(home, other) {
                let (home, zone) = (&home.key, other.as_str());
                tracing::warn!(home, zone, %error, "a zone could not be measured");
            }
        }
        Ok(())
    }

    /// Undoes and removes what dead processes left in staging, once.
    fn tidy(&self, home: &Home) -> Result<(), Error> {
        if self.visited().contains(&home.key) {
            return Ok(());
        }
        self.roll_back(home)?;
        if let Err(error) = self.sweep(home) {
            // Only space is lost.
            tracing::warn!(%error, "what a dead process staged is still there");
        }
        self.visited().insert(home.key.clone());
        Ok(())
    }

    /// Measures a zone that never was.
    fn measure_first(&self, home: &Home, zone: ZoneName) -> Result<(), Error> {
        let is_measured = || -> Result<bool, Error> {
            let measured = self.ledger.usage(&home.key)?;
            let has = |name| measured.iter().any(|usage| usage.zone == name);
            Ok(has(zone.as_str()) && (has(zone.edits()) || !zone.is_writable()))
        };
        if !is_measured()? {
            let _turn = self.turn(home, zone)?;
            if !is_measured()? {
                self.measure(home, zone)?;
                self.measure_edits(home, zone)?;
            }
        }
        Ok(())
    }

    /// Ends what was left behind in a group since it was made ready. The caller has the group's
    /// turn, so a change that is still in the registry is under way no more: its process is dead,
    /// or could not reach the registry.
    pub(crate) fn bury_the_dead(&self, home: &Home, turn: &Turn<'_>) -> Result<(), Error> {
        if !self.ledger.has_intents(&home.key)? {
            return Ok(());
        }
        self.instance.bury_the_dead(&self.ledger)?;
        self.ledger.abandon_home(&home.key)?;
        self.undo_journals(home)?;
        for orphan in self.ledger.orphans(&home.key)? {
            self.repair_in_turn(home, &orphan, turn)?;
        }
        Ok(())
    }

    /// Undoes changes of several renames that dead processes did not end.
    fn roll_back(&self, home: &Home) -> Result<(), Error> {
        if self
            .staging(home)?
            .journals(|| self.instance.living())?
            .is_empty()
        {
            return Ok(());
        }
        let mut turns = Vec::new();
        for zone in home.zones {
            turns.push(self.turn(home, *zone)?);
        }
        self.undo_journals(home)
    }

    /// The caller has the turns of all zones.
    fn undo_journals(&self, home: &Home) -> Result<(), Error> {
        let staging = self.staging(home)?;
        for journal in staging.journals(|| self.instance.living())? {
            staging.roll_back(&journal)?;
            tracing::warn!(home = home.key, "undid a change that was interrupted");
        }
        Ok(())
    }

    /// Removes what dead processes staged.
    fn sweep(&self, home: &Home) -> Result<(), Error> {
        Ok(self.staging(home)?.sweep(|| self.instance.living())?)
    }

    fn repair(&self, home: &Home, orphan: &Orphan) -> Result<(), Error> {
        let turn = self.turn(home, ZoneName::parse(&orphan.zone)?)?;
        if self.ledger.orphans(&home.key)?.contains(orphan) {
            self.repair_in_turn(home, orphan, &turn)?;
        }
        Ok(())
    }

    fn repair_in_turn(&self, home: &Home, orphan: &Orphan, _turn: &Turn<'_>) -> Result<(), Error> {
        let zone = ZoneName::parse(&orphan.zone)?;
        self.put_databases_right(home, zone)?;
        if zone.is_versioned()
            && let Some(base) = home.existing_base(zone)?
        {
            let data = base.subdirectory(DATA)?;
            let author = Author {
                name: orphan.author_name.clone(),
                email: orphan.author_email.clone(),
            };
            let message = format!("{} (recovered after an interruption)", orphan.operation);
            if let Some(group) = home.group() {
                self.repair_ownership(
                    &Stand {
                        shed: self,
                        home: &home.key,
                        group,
                        group_name: group,
                        base: &base,
                        data: &data,
                        staging: self.staging(home)?,
                    },
                    orphan,
                    &message,
                    &author,
                )?;
            }
            let now = self.clock.now();
            History::work(&base, &data, now, |history| {
                history.capture(&message, &author, now)
            })?;
        }
        self.measure(home, zone)?;
        self.measure_edits(home, zone)?;
        self.sweep(home)?;
        self.ledger.repaired(orphan)?;
        tracing::warn!(
            home = home.key,
            zone = zone.as_str(),
            operation = orphan.operation,
            "repaired a zone after an interruption"
        );
        Ok(())
    }

    /// Enters what interrupted changes did to ownership, as far as it is on disk. A command is
    /// judged as if it had ended.
    fn repair_ownership(
        &self,
        stand: &Stand<'_>,
        orphan: &Orphan,
        message: &str,
        author: &Author,
    ) -> Result<(), Error> {
        for deed in self.ledger.deeds(orphan)? {
            let done = match &deed.act {
                Act::Command { reference, commit } => {
                    let start = Position {
                        reference: reference.clone(),
                        commit: commit.clone(),
                    };
                    let now = self.clock.now();
                    let verdict = stand.judge(&deed, &start, message, author, now, None)?;
                    if verdict.refused.is_some() {
                        tracing::warn!(home = stand.home, "put back what a command did");
                    }
                    verdict.deed
                }
                _ => happened(stand.data, deed)?,
            };
            if let Some(deed) = done {
                self.ledger.execute(stand.group, &deed)?;
            }
        }
        Ok(())
    }

    /// Measures the working copies of a zone, of which there are as many as open edits, and enters
    /// the result. Gives their bytes.
    pub(crate) fn measure_edits(&self, home: &Home, zone: ZoneName) -> Result<u64, Error> {
        if !zone.is_writable() {
            return Ok(0);
        }
        let base = home.existing_base(zone)?;
        let copies = base.map(|base| base.existing_subdirectory(EDITZONE));
        let totals = match copies.transpose()?.flatten() {
            Some(copies) => copies.measure()?,
            None => Totals::default(),
        };
        self.ledger.measured(&home.key, zone.edits(), totals)?;
        Ok(totals.bytes)
    }

    /// Enters what the working copies of a zone hold.
    pub(crate) fn edits_hold(&self, zone: &Zone<'_>, bytes: u64) -> Result<(), Error> {
        let totals = Totals { bytes, files: 0 };
        let (home, name) = (&zone.home.key, zone.name.edits());
        Ok(self.ledger.measured(home, name, totals)?)
    }

    /// Measures a zone and enters the result. The caller has its turn, or nobody else can write.
    pub(crate) fn measure(&self, home: &Home, zone: ZoneName) -> Result<Totals, Error> {
        let totals = match home.existing_base(zone)? {
            None => Totals::default(),
            Some(base) if zone.is_versioned() => measure_versioned(home, &base)?,
            Some(base) if zone == ZoneName::Uploads => base.measure()?,
            Some(base) => match base.existing_subdirectory(DATA)? {
                Some(data) => data.measure()?,
                None => Totals::default(),
            },
        };
        self.ledger.measured(&home.key, zone.as_str(), totals)?;
        Ok(totals)
    }
}

/// What of a deed is on disk.
fn happened(data: &Root, mut deed: Deed) -> Result<Option<Deed>, DiskError> {
    let there = |path: &str| match data.entry_as_named(&ZonePath::found(path.to_owned())) {
        Ok(entry) => Ok(Some(entry)),
        Err(error) if error.is_gone() => Ok(None),
        Err(error) => Err(error),
    };
    let did = match &mut deed.act {
        Act::Touch { files } | Act::Add { files } => {
            let mut found = Vec::new();
            for path in files.drain(..) {
                if there(&path)?.is_some() {
                    found.push(path);
                }
            }
            *files = found;
            true
        }
        Act::Arrive { at, inode, .. } => match there(at)? {
            Some(entry) => entry.inode()? == Some(*inode),
            None => false,
        },
        Act::Remove { at } => there(at)?.is_none(),
        Act::Move { from, to } => there(from)?.is_none() && there(to)?.is_some(),
        Act::Found { .. } => true,
        Act::Command { .. } => false,
    };
    Ok(did.then_some(deed))
}

/// A repository in the work tree that it was made in is taken out first: it is no file of the
/// user's. One that cannot be taken over stays where it is and counts. The pointer that stands for
/// a repository is the server's own file.
fn measure_versioned(home: &Home, base: &Root) -> Result<Totals, Error> {
    let Some(data) = base.existing_subdirectory(DATA)? else {
        return Ok(Totals::default());
    };
    let git = || data.entry(&ZonePath::root().join(".git")).ok();
    if git().is_some_and(|git| git.kind() == Kind::Directory)
        && let Err(error) = History::open(base, &data)
    {
        tracing::warn!(home = home.key, %error, "a repository could not be taken over");
    }
    let mut totals = data.measure()?;
    if let Some(pointer) = git().filter(|git| git.kind() == Kind::File) {
        totals.bytes -= pointer.size();
        totals.files -= 1;
    }
    Ok(totals)
}
