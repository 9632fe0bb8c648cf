//! `shed_maintenance`: clean up after locked edits that nobody ended.

use fileshed_core::lockedit::{self, Cleaned};
use fileshed_core::{Caller, Code, Error, Shed, Zone, ZoneName, sharing};
use serde::Serialize;
use utoipa::ToSchema;

use super::vocabulary::Nothing;
use super::{Operation, Reply};

/// See the module.
pub struct Maintenance;

/// What was found and cleaned.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Files whose locked edit was too old: unlocked.
    expired_locks: Vec<String>,
    /// Files whose locked edit had lost its working copy: unlocked.
    corrupted_locks: Vec<String>,
    /// Zones with working copies that no lock names: removed.
    orphan_editzones: Vec<String>,
    /// Ownership records of files that are gone: removed.
    orphan_ownerships: Vec<String>,
}

impl Operation for Maintenance {
    const ID: &str = "shed_maintenance";
    const SUMMARY: &str = "Clean up expired locks";
    const DOC: &str = "Release expired and broken locks of your zones and groups.";
    const ERRORS: &[Code] = &[];
    const EXAMPLES: &[&str] = &["{}"];
    type Request = Nothing;
    type Response = Response;

    fn run(shed: &Shed, caller: &Caller, _request: Nothing) -> Result<Reply<Response>, Error> {
        let mut response = Response::default();
        for name in [ZoneName::Storage, ZoneName::Documents] {
            response.clean(&shed.personal_zone(caller, name)?, name.as_str())?;
        }
        let groups = match caller.user {
            Some(_) => shed.groups(caller)?,
            None => Vec::new(),
        };
        for group in groups {
            let zone = shed.group_zone(caller, Some(group.id.as_str()))?;
            let place = format!("group {}", group.name);
            response.clean(&zone, &place)?;
            let gone = sharing::clean(&zone)?.into_iter();
            response
                .orphan_ownerships
                .extend(gone.map(|path| format!("{place}/{path}")));
        }
        let cleaned = response.expired_locks.len()
            + response.corrupted_locks.len()
            + response.orphan_editzones.len()
            + response.orphan_ownerships.len();
        let message = match cleaned {
            0 => "Nothing to clean".to_owned(),
            _ => "Cleaned up".to_owned(),
        };
        Ok(Reply::new(response, message))
    }
}

impl Response {
    /// Cleans one zone, which answers call `place`.
    fn clean(&mut self, zone: &Zone<'_>, place: &str) -> Result<(), Error> {
        let Cleaned {
            expired_locks,
            corrupted_locks,
            orphan_copies,
        } = lockedit::clean(zone)?;
        let named = |path: String| format!("{place}/{path}");
        self.expired_locks
            .extend(expired_locks.into_iter().map(named));
        self.corrupted_locks
            .extend(corrupted_locks.into_iter().map(named));
        if orphan_copies > 0 {
            self.orphan_editzones
                .push(format!("{place} ({orphan_copies})"));
        }
        Ok(())
    }
}
