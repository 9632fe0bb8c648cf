//! How much space a command may take: watched while it runs, judged when it is over.

use std::rc::Rc;

use crate::running::{Growing, SpaceLimits};
use crate::zone::Zone;
use crate::{Error, diagnostics};
use fileshed_storage::Totals;
use fileshed_types::hint::space;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;

/// What a command did to the space of its tenant.
pub(super) struct Space<'a> {
    pub(super) zone: &'a Zone<'a>,
    pub(super) command: &'a str,
    pub(super) growing: Option<&'a Growing<'a>>,
    /// Whether it was stopped for it.
    pub(super) stopped: bool,
}

impl<'a> Space<'a> {
    /// What the other zones of the tenant hold. The bin makes way, when the command is over.
    pub(super) fn beside(&self) -> Result<Totals, Error> {
        let usage = self.zone.store.usage_without_bin(&self.zone.tenant)?;
        let own = self.zone.name().as_str();
        let others = usage.iter().filter(|usage| usage.zone != own);
        Ok(others.fold(Totals::default(), |sum, usage| Totals {
            bytes: sum.bytes + usage.totals.bytes,
            files: sum.files + usage.totals.files,
        }))
    }

    /// The refusal of a command that leaves so much in its zone, where that is too much and more
    /// than before, or where it was stopped on the way there.
    pub(super) fn excess(&self, totals: Totals, undone: bool) -> Option<(&'a Growing<'a>, Error)> {
        let growing = self.growing?;
        let limit = self.zone.tenant.limit;
        let beside = self.beside().ok()?;
        let most = self.zone.store.settings().max_files;
        // The pointer to the repository is no file of the user's.
        let own = u64::from(self.zone.name().is_versioned());
        let files_before = growing.before().files.saturating_sub(own);
        let directories = growing.too_many_directories(most);
        let files = beside.files + totals.files;
        let too_many = if directories.is_some() {
            directories.map(|count| ("directories", count))
        } else {
            (files > most && growing.is_to_blame(totals.files, files_before))
                .then_some(("files", files))
        };
        if let Some((what, count)) = too_many {
            let refused = SpaceError::TooMany {
                command: self.command.to_owned(),
                what,
                count,
                limit: most,
                undone,
            };
            return Some((growing, refused.into()));
        }
        let beside = beside.bytes;
        let (before, used) = (growing.before().bytes, totals.bytes);
        let is_over = beside + used > limit && growing.is_to_blame(used, before);
        (is_over || self.stopped || growing.is_undone()).then(|| {
            let refused = SpaceError::Overflow {
                command: self.command.to_owned(),
                before: beside + before,
                used: beside + used,
                limit,
                undone,
            };
            (growing, refused.into())
        })
    }
}

/// Whether a command that takes space in `zone` must stop.
pub(super) fn is_over(zone: &Zone<'_>, growing: &Rc<Growing<'_>>) -> bool {
    let limits = SpaceLimits {
        bytes: zone.tenant.limit,
        files: zone.store.settings().max_files,
        // The pointer to the repository is no file of the user's.
        own_files: u64::from(zone.name().is_versioned()),
    };
    match zone.store.usage_without_bin(&zone.tenant) {
        Ok(usage) => growing.is_over(zone.data(), &usage, limits),
        Err(_) => growing.is_undone(),
    }
}

diagnostics! {
    /// A command that takes more space than there is.
    #[derive(Debug, thiserror::Error)]
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
            /// Whether the zone is as it was.
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
            /// Whether the zone is as it was.
            undone: bool,
        } => {
            code: QuotaExceeded,
            hint: "delete files with shed_delete; shed_zip packs many small ones into one",
            details: { "command": command, (*what): count, "max_files": limit, "undone": undone },
        },
        /// It ran beside one of another server that was undone.
        #[error("another command exceeded the quota in this zone and was undone; \
            what `{command}` wrote before may be gone with it")]
        WithAnother {
            /// The command.
            command: &'static str = "mv",
        } => {
            code: QuotaExceeded,
            hint: "look with shed_tree at what is there, then run it again",
            details: { "command": command, "undone": false },
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
