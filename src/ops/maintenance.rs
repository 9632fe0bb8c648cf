//! `shed_maintenance`: clean up after locked edits that nobody ended.

use fileshed_core::all_tenants::CleanupCounts;
use fileshed_core::lockedit::{self, Cleaned};
use fileshed_core::{Zone, sharing};

use super::prelude::*;

/// `shed_maintenance`
pub struct Maintenance;

/// Whose.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Administrators: all users
    #[serde(default)]
    all: bool,
}

/// The cleaned entries.
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
    /// Numbers of all other users and groups, if `all` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    others: Option<CleanupCounts>,
}

impl Operation for Maintenance {
    const ID: &str = "shed_maintenance";
    const SUMMARY: &str = "Clean up expired locks";
    const DOC: &str = "Release expired and broken locks of your zones and groups.";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = &[];
    const EXAMPLES: &[&str] = &["{}"];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Lines("expired_locks"),
        Keep::Lines("corrupted_locks"),
        Keep::Lines("orphan_editzones"),
        Keep::Lines("orphan_ownerships"),
        Keep::Unusual("others"),
    ];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let mut response = Response::default();
        // In shared mode there is nobody else.
        if request.all && caller.user.is_some() {
            response.others = Some(core.admin.clean_others(caller)?);
        }
        for name in [ZoneName::Storage, ZoneName::Documents] {
            response.clean(&core.store.personal_zone(caller, name)?, name.as_str())?;
        }
        let groups = core.store.known_groups(caller)?;
        let unknown = groups.is_none() && caller.user.is_some();
        for group in groups.unwrap_or_default() {
            let zone = core.store.group_zone(caller, Some(group.id.as_str()))?;
            let place = format!("group {}", group.name);
            response.clean(&zone, &place)?;
            let gone = sharing::clean(&zone)?.into_iter();
            response
                .orphan_ownerships
                .extend(gone.map(|path| format!("{place}/{path}")));
        }
        let done = if response.is_empty() {
            "Nothing to clean"
        } else {
            "Cleaned up"
        };
        let left = if unknown {
            "; your groups are not known now"
        } else {
            ""
        };
        Ok(Reply::new(response, format!("{done}{left}")))
    }
}

impl Response {
    fn is_empty(&self) -> bool {
        let lists = [
            &self.expired_locks,
            &self.corrupted_locks,
            &self.orphan_editzones,
            &self.orphan_ownerships,
        ];
        lists.iter().all(|list| list.is_empty())
            && self.others.as_ref().is_none_or(CleanupCounts::is_empty)
    }

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
