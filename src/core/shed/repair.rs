//! Making a home ready: measured, and free of what a crash left half done.
//!
//! A change that was acknowledged is final before its answer leaves. One that was not may have
//! happened on disk while its process died: its content is whole (staging sees to that), so in a
//! versioned zone it becomes a commit of its author, and space is measured afresh.

use crate::Error;
use crate::disk::{Kind, Root, Totals};
use crate::history::{Author, History};
use crate::ledger::Orphan;
use crate::zone::{Home, ZoneName, ZonePath};

use super::{DATA, Shed};

impl Shed {
    /// Repairs and measures what needs it. Costs two look-ups when nothing does, and a look into
    /// staging the first time: what was staged without a change has no intent that tells of it.
    pub(super) fn make_ready(&self, home: &Home) -> Result<(), Error> {
        if !self.visited().contains(&home.key) {
            self.roll_back(home)?;
            if let Err(error) = self.sweep(home) {
                // Only space is lost.
                tracing::warn!(%error, "what a dead process staged is still there");
            }
            self.visited().insert(home.key.clone());
        }
        loop {
            let orphans = self.ledger.orphans(&home.key)?;
            if orphans.is_empty() {
                break;
            }
            self.roll_back(home)?;
            for orphan in orphans {
                self.repair(home, &orphan)?;
            }
        }
        let measured = self.ledger.usage(&home.key)?;
        for zone in ZoneName::PERSONAL {
            if measured.iter().any(|usage| usage.zone == zone.as_str()) {
                continue;
            }
            let _turn = self.turn(home, zone)?;
            let measured = self.ledger.usage(&home.key)?;
            if !measured.iter().any(|usage| usage.zone == zone.as_str()) {
                self.measure(home, zone)?;
            }
        }
        Ok(())
    }

    /// Undoes changes of several renames that dead processes did not end.
    fn roll_back(&self, home: &Home) -> Result<(), Error> {
        let staging = self.staging(home)?;
        let journals = || staging.journals(|| self.instance.living());
        if journals()?.is_empty() {
            return Ok(());
        }
        let mut turns = Vec::new();
        for zone in ZoneName::PERSONAL {
            turns.push(self.turn(home, zone)?);
        }
        for journal in journals()? {
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
        let zone = ZoneName::parse(&orphan.zone)?;
        let _turn = self.turn(home, zone)?;
        if !self.ledger.orphans(&home.key)?.contains(orphan) {
            return Ok(());
        }
        if zone.is_versioned()
            && let Some(base) = home.existing_base(zone)?
        {
            let author = Author {
                name: orphan.author_name.clone(),
                email: orphan.author_email.clone(),
            };
            History::open(&base, &base.subdirectory(DATA)?)?.capture(
                &format!("{} (recovered after an interruption)", orphan.operation),
                &author,
                self.clock.now(),
            )?;
        }
        self.measure(home, zone)?;
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
