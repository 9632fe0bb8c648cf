//! A download that the proxy refused leaves no file behind.
//!
//! Some tools open the file that they will write before they ask for anything. What was not there
//! before, and is empty afterwards, holds nothing that was fetched.

use super::child::Outcome;
use crate::Error;
use crate::disk::Kind;
use crate::policy::Plan;
use crate::zone::{Zone, ZonePath};

/// The files that a command may make and that were not there before it.
#[derive(Debug)]
pub(super) struct Missing(Vec<ZonePath>);

impl Missing {
    /// Looks at what the arguments of a command with network name as its own to write.
    pub(super) fn before(zone: &Zone<'_>, plan: &Plan) -> Self {
        let named = plan.paths.iter().filter(|path| plan.network && path.writes);
        Self(
            named
                .filter_map(|path| ZonePath::parse("args", &path.text).ok())
                .filter(|path| zone.data().entry(path).is_err_and(|error| error.is_gone()))
                .collect(),
        )
    }

    /// Takes away what a command made that got nothing.
    pub(super) fn after(self, zone: &Zone<'_>, outcome: Outcome) -> Result<Outcome, Error> {
        if !outcome.got_nothing() {
            return Ok(outcome);
        }
        let staging = zone.shed.staging(&zone.home)?;
        for path in self.0 {
            if let Ok(entry) = zone.data().entry(&path)
                && entry.kind() == Kind::File
                && entry.size() == 0
            {
                staging.remove(&entry)?.keep()?;
            }
        }
        Ok(outcome)
    }
}
