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

use super::Shed;

impl Shed {
    /// Repairs and measures what needs it. Costs two look-ups when nothing does, and a look into
    /// staging the first time: what was staged without a change has no intent that tells of it.
    pub(super) fn make_ready(&self, home: &Home) -> Result<(), Error> {
        if !self.visited().contains(&home.key) {
            if let Err(error) = self.sweep(home) {
                // Only space is lost.
                tracing::warn!(%error, "what a dead process staged is still there");
            }
            self.visited().insert(home.key.clone());
        }
        for orphan in self.ledger.orphans(&home.key)? {
            self.repair(home, &orphan)?;
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
        if zone.is_versioned() {
            let base = home.root.subdirectory("Documents")?;
            let data = base.subdirectory("data")?;
            let author = Author {
                name: orphan.author_name.clone(),
                email: orphan.author_email.clone(),
            };
            History::open(&base, &data)?.capture(
                &format!("{} (recovered after an interruption)", orphan.operation),
                &author,
                self.clock.now(),
            )?;
        }
        self.measure(home, zone)?;
        self.sweep(home)?;
        self.ledger.repaired(&home.key, zone.as_str())?;
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
        let directory = match zone {
            ZoneName::Uploads => "Uploads",
            ZoneName::Storage => "Storage/data",
            ZoneName::Documents => "Documents/data",
            ZoneName::Group => "data",
        };
        let mut totals = Totals::default();
        if let Some(root) = home.root.existing_subdirectory(directory)? {
            let git = || root.entry(&ZonePath::root().join(".git")).ok();
            if zone.is_versioned() && git().is_some_and(|git| git.kind() == Kind::Directory) {
                adopt_history(home, &root);
            }
            totals = root.measure()?;
            // The pointer to the repository is the server's own file.
            if zone.is_versioned()
                && let Some(pointer) = git()
                && pointer.kind() == Kind::File
            {
                totals.bytes -= pointer.size();
                totals.files -= 1;
            }
        }
        self.ledger.measured(&home.key, zone.as_str(), totals)?;
        Ok(totals)
    }
}

/// Takes a repository out of the work tree that it was made in: it is no file of the user's, and
/// must not be counted as one. One that cannot be taken over stays where it is and counts.
fn adopt_history(home: &Home, data: &Root) {
    let adopted = home
        .root
        .subdirectory("Documents")
        .map_err(Error::from)
        .and_then(|base| Ok(History::open(&base, data)?));
    if let Err(error) = adopted {
        tracing::warn!(home = home.key, %error, "a repository could not be taken over");
    }
}
