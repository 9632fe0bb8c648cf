//! A download that the proxy refused leaves the files as they were.
//!
//! wget opens the file that it will write before it asks for anything. What is empty afterwards
//! holds nothing that was fetched: it goes, or gets back what it held.

use super::outcome::CommandOutcome;
use crate::Error;
use crate::changes::OpenEndedPermit;
use crate::zone::{Zone, ZonePath};
use fileshed_rules::CommandPlan;
use fileshed_storage::{Kind, Staged};

/// The files that a command will empty first thing, each with a copy of what it held; none where
/// it was not there.
#[derive(Debug, Default)]
pub(super) struct Emptied(Vec<(ZonePath, Option<Staged>)>);

impl Emptied {
    /// Looks at what the arguments name, before the command runs.
    pub(super) fn before(zone: &Zone<'_>, plan: &CommandPlan) -> Result<Self, Error> {
        if !plan.network || plan.command != "wget" {
            return Ok(Self::default());
        }
        let mut files = Vec::new();
        for argument in plan.paths.iter().filter(|path| path.writes) {
            let Ok(path) = ZonePath::parse("args", &argument.text) else {
                continue;
            };
            match zone.data().entry(&path) {
                Ok(entry) if entry.kind() == Kind::File && entry.size() > 0 => {
                    let staging = zone.store.staging(&zone.tenant)?;
                    files.push((path, Some(staging.copy(entry.open()?)?)));
                }
                Err(error) if error.is_gone() => files.push((path, None)),
                _ => {}
            }
        }
        Ok(Self(files))
    }

    /// Puts back what a command emptied that got nothing.
    pub(super) fn after(
        self,
        zone: &Zone<'_>,
        outcome: CommandOutcome,
        permit: &OpenEndedPermit<'_>,
    ) -> Result<CommandOutcome, Error> {
        if !outcome.got_nothing() {
            return Ok(outcome);
        }
        for (path, held) in self.0 {
            let Ok(entry) = zone.data().entry(&path) else {
                continue;
            };
            if entry.kind() != Kind::File || entry.size() > 0 {
                continue;
            }
            match held {
                Some(held) => permit.install(held, zone.data().target(&path)?)?,
                None => permit.remove(&entry)?,
            }
        }
        Ok(outcome)
    }
}
