//! Space limits of a command: measured while it runs, judged when it is over.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use crate::space_in_use::SpaceEntry;
use crate::watched::Extent;
use crate::zone::Zone;
use crate::{Error, diagnostics};
use fileshed_rules::Growth;
use fileshed_storage::Totals;
use fileshed_types::hint::space;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;

/// The limits of one command that may make its zone larger.
pub(super) struct CommandSpace<'a> {
    zone: &'a Zone<'a>,
    command: &'static str,
    entry: SpaceEntry<'a>,
    /// It may begin with too much, as long as it adds nothing.
    may_be_over: bool,
    before: Extent,
    /// The reason why it had to stop.
    stopped_for: RefCell<Option<SpaceError>>,
    /// The directories before it, if the zone can be put back to its last commit.
    pub(super) directories: Option<HashSet<Box<[u8]>>>,
}

impl<'a> CommandSpace<'a> {
    /// Enters a command that may grow; `None` for one that can't. Fails if there are more directories
    /// than there may be, and it could make some.
    pub(super) fn begin(
        zone: &'a Zone<'a>,
        command: &'static str,
        growth: Growth,
        can_put_back: impl FnOnce() -> Result<bool, Error>,
    ) -> Result<Option<Rc<Self>>, Error> {
        if matches!(growth, Growth::Never | Growth::Removes) {
            return Ok(None);
        }
        let store = zone.store;
        let (tenant, name) = (zone.tenant.key.as_str(), zone.name());
        let before = store.watched().extent(tenant, name, &zone.data)?;
        let (count, limit) = (before.directories, store.settings().max_files);
        if count > limit {
            return Err(zone.explain(SpaceError::Directories { count, limit }.into()));
        }
        if growth == Growth::Directories {
            return Ok(None);
        }
        let watched = store.watched();
        let directories = can_put_back()?.then(|| watched.directories(tenant, name, &zone.data));
        Ok(Some(Rc::new(Self {
            zone,
            command,
            entry: store.space_in_use().enter(tenant, Some(name)),
            may_be_over: growth == Growth::Either,
            before,
            stopped_for: RefCell::default(),
            directories: directories.transpose()?,
        })))
    }

    /// Returns `true` if the command must stop for the space that it takes.
    pub(super) fn must_stop(&self) -> bool {
        let (tenant, name) = (&self.zone.tenant.key, self.zone.name());
        let watched = self.zone.store.watched();
        // What vanishes while it is measured is measured again soon.
        let Ok(now) = watched.extent(tenant, name, &self.zone.data) else {
            return false;
        };
        let Ok(Some(excess)) = self.excess_of(now) else {
            return false;
        };
        *self.stopped_for.borrow_mut() = Some(excess);
        true
    }

    /// The refusal of a command that leaves so much, or that was stopped on the way there.
    pub(super) fn excess(&self, totals: Totals) -> Result<Option<SpaceError>, Error> {
        let excess = self.excess_of(Extent {
            totals,
            ..self.before
        });
        Ok(excess?.or_else(|| self.stopped_for.borrow().clone()))
    }

    fn excess_of(&self, now: Extent) -> Result<Option<SpaceError>, Error> {
        let (zone, before) = (self.zone, self.before);
        self.entry.measured(now.totals.bytes);
        let usage = zone.store.usage_without_bin(&zone.tenant)?;
        let others = usage.iter().filter(|one| one.zone != zone.name().as_str());
        let files = now.totals.files + others.map(|one| one.totals.files).sum::<u64>();
        // Others may have written what was there before, so it excuses only who may begin with too much.
        let is_to_blame = |now, before| !self.may_be_over || now > before;
        let most = zone.store.settings().max_files;
        let too_many = |what, count| SpaceError::TooMany {
            command: self.command.to_owned(),
            what,
            count,
            limit: most,
            undone: false,
        };
        if now.directories > most && is_to_blame(now.directories, before.directories) {
            return Ok(Some(too_many("directories", now.directories)));
        }
        if files > most && is_to_blame(now.totals.files, before.totals.files) {
            return Ok(Some(too_many("files", files)));
        }
        let (beside, limit) = (self.entry.beside(&usage), zone.tenant.limit);
        let used = beside + now.totals.bytes;
        let is_over = used > limit && is_to_blame(now.totals.bytes, before.totals.bytes);
        Ok(is_over.then(|| SpaceError::Overflow {
            command: self.command.to_owned(),
            before: beside + before.totals.bytes,
            used,
            limit,
            undone: false,
        }))
    }
}

impl SpaceError {
    /// The same, of a zone that is as it was before.
    pub(super) fn undone(mut self) -> Self {
        if let Self::Overflow { undone, .. } | Self::TooMany { undone, .. } = &mut self {
            *undone = true;
        }
        self
    }
}

diagnostics! {
    /// A command that takes more space than there is.
    #[derive(Clone, Debug, thiserror::Error)]
    pub(super) enum SpaceError {
        /// It wrote more than the quota leaves.
        #[error("`{command}` was stopped for the quota: {} were used, {} are allowed, it came to {}{}",
            human_size(*before), human_size(*limit), human_size(*used),
            if *undone { "; what it did is undone" } else { "; what it wrote stays" })]
        Overflow {
            /// The command.
            command: String,
            /// Bytes in use before.
            before: u64 = 990 * MEBIBYTE,
            /// Bytes in use when it ended.
            used: u64 = 1010 * MEBIBYTE,
            /// Bytes allowed.
            limit: u64 = 1000 * MEBIBYTE,
            /// `true` if the zone is as it was before.
            undone: bool,
        } => {
            code: QuotaExceeded,
            hint: space(),
            details: {
                "command": command, "used_bytes": before, "reached_bytes": used,
                "quota_bytes": limit, "quota_mb": limit / MEBIBYTE, "undone": undone
            },
        },
        /// It made more files or directories than there may be.
        #[error("`{command}` made too many {what}: {count}, {limit} are allowed (max_files){}",
            if *undone { "; what it did is undone" } else { "; what it made stays" })]
        TooMany {
            /// The command.
            command: String,
            /// Files or directories.
            what: &'static str => ["files", "directories"],
            /// How many it came to.
            count: u64 = 100_001,
            /// How many are allowed.
            limit: u64 = 100_000,
            /// `true` if the zone is as it was before.
            undone: bool,
        } => {
            code: QuotaExceeded,
            hint: "delete files with shed_delete; shed_zip packs many small ones into one",
            details: { "command": command, (*what): count, "max_files": limit, "undone": undone },
        },
        /// There are more directories than there may be, and it could make some.
        #[error("there are {count} directories in this zone, {limit} are allowed (max_files)")]
        Directories {
            /// How many there are.
            count: u64 = 100_001,
            /// How many are allowed.
            limit: u64 = 100_000,
        } => {
            code: QuotaExceeded,
            hint: "remove directories with shed_delete",
            details: { "directories": count, "max_files": limit },
        },
    }
}
