//! Space limits of a command: measured while it runs, judged when it is over.
//!
//! The working copy of a locked edit has the same limits; of what a command leaves there, no more
//! stays than fits.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use fileshed_rules::Growth;
use fileshed_storage::{DiskError, Root, Staged, Totals};
use fileshed_types::hint::space;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::size::human_size;
use fileshed_types::{Error, diagnostics};
use fileshed_zones::space_in_use::SpaceEntry;
use fileshed_zones::watched::Extent;
use fileshed_zones::zone::{Zone, ZonePath};

/// The limits of one command that may make its zone, or a working copy, larger.
pub(crate) struct CommandSpace<'a> {
    zone: &'a Zone<'a>,
    command: &'static str,
    measured: Measured<'a>,
    /// It may begin with too much, as long as it adds nothing.
    may_be_over: bool,
    before: Extent,
    /// The reason why it had to stop.
    stopped_for: RefCell<Option<SpaceError>>,
    /// The directories before it, if the zone can be put back to its last commit.
    pub(crate) directories: Option<HashSet<Box<[u8]>>>,
}

/// The files that are measured for a command.
enum Measured<'a> {
    /// Its zone, together with all other commands of the tenant.
    Zone(SpaceEntry<'a>),
    /// The directory of a working copy, and the bytes that the tenant held beside it.
    Copy(&'a Root, u64),
}

impl<'a> CommandSpace<'a> {
    /// Enters a command that may grow; `None` for one that can't. Fails if there are more directories
    /// than there may be, and it could make some.
    pub(crate) fn begin(
        zone: &'a Zone<'a>,
        command: &'static str,
        growth: Growth,
        can_put_back: impl FnOnce() -> Result<bool, Error>,
    ) -> Result<Option<Rc<Self>>, Error> {
        if matches!(growth, Growth::Never | Growth::Removes) {
            return Ok(None);
        }
        let store = zone.store;
        let before = store.watched.extent(&zone.roots())?;
        let (count, limit) = (before.directories, store.settings.max_files);
        if count > limit {
            return Err(zone.explain(SpaceError::Directories { count, limit }.into()));
        }
        if growth == Growth::Directories {
            return Ok(None);
        }
        let directories = can_put_back()?.then(|| store.watched.directories(&zone.roots()));
        Ok(Some(Rc::new(Self {
            zone,
            command,
            measured: Measured::Zone(store.space_in_use.enter(&zone.tenant.key, Some(zone.name))),
            may_be_over: growth == Growth::Either,
            before,
            stopped_for: RefCell::default(),
            directories: directories.transpose()?,
        })))
    }

    /// Measures them.
    fn extent(&self) -> Result<Extent, DiskError> {
        match self.measured {
            Measured::Zone(_) => self.zone.store.watched.extent(&self.zone.roots()),
            Measured::Copy(directory, _) => extent_of_copy(directory),
        }
    }

    /// Returns `true` if the command must stop for the space that it takes.
    pub(crate) fn must_stop(&self) -> bool {
        // A file that vanishes meanwhile makes this fail; the next measurement is soon.
        let Ok(now) = self.extent() else {
            return false;
        };
        let Ok(Some(excess)) = self.excess_of(now) else {
            return false;
        };
        *self.stopped_for.borrow_mut() = Some(excess);
        true
    }

    /// The refusal of a command that leaves so much, or that was stopped on the way there.
    pub(crate) fn excess(&self, totals: Totals) -> Result<Option<SpaceError>, Error> {
        let excess = self.excess_of(Extent {
            totals,
            ..self.before
        });
        Ok(excess?.or_else(|| self.stopped_for.borrow().clone()))
    }

    fn excess_of(&self, now: Extent) -> Result<Option<SpaceError>, Error> {
        let (zone, before) = (self.zone, self.before);
        let entry = match &self.measured {
            Measured::Zone(entry) => entry,
            Measured::Copy(_, beside) => return Ok(self.overflow(now, *beside)),
        };
        entry.measured(now.totals.bytes);
        let usage = zone.store.usage_without_bin(&zone.tenant)?;
        let others = usage.iter().filter(|one| one.zone != zone.name.as_str());
        let files = now.totals.files + others.map(|one| one.totals.files).sum::<u64>();
        let is_to_blame = |now, before| self.is_to_blame(now, before);
        let most = zone.store.settings.max_files;
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
        Ok(self.overflow(now, entry.beside(&usage)))
    }

    /// Returns `true` if the command may be refused for a growth from `before` to `now`. Others may have
    /// written what was there before, so it excuses only a command that may begin with too much.
    fn is_to_blame(&self, now: u64, before: u64) -> bool {
        !self.may_be_over || now > before
    }

    /// The refusal of a command that leaves more bytes than fit, with those `beside` it.
    fn overflow(&self, now: Extent, beside: u64) -> Option<SpaceError> {
        let (now, before) = (now.totals.bytes, self.before.totals.bytes);
        let (used, limit) = (beside + now, self.zone.tenant.limit);
        let is_over = used > limit && self.is_to_blame(now, before);
        is_over.then(|| SpaceError::Overflow {
            command: self.command.to_owned(),
            before: beside + before,
            used,
            limit,
            undone: false,
        })
    }
}

fn extent_of_copy(directory: &Root) -> Result<Extent, DiskError> {
    let (totals, directories) = (directory.measure()?, 0);
    Ok(Extent {
        totals,
        directories,
    })
}

/// The right to change the working copy of the caller's own locked edit. Its lock keeps everybody
/// else off it, so it needs no other.
pub struct OpenEndedEdit<'a> {
    space: Rc<CommandSpace<'a>>,
    directory: &'a Root,
    copy: &'a ZonePath,
    /// The content of the copy before.
    content: Staged,
}

/// Lets a command change a working copy: `copy`, which is alone in `directory`.
pub fn begin_edit<'a>(
    zone: &'a Zone<'a>,
    command: &'static str,
    directory: &'a Root,
    copy: &'a ZonePath,
) -> Result<OpenEndedEdit<'a>, Error> {
    let file = directory.followed(copy)?.open()?;
    let before = extent_of_copy(directory)?;
    let used = zone.store.used_without_bin(&zone.tenant)?;
    Ok(OpenEndedEdit {
        space: Rc::new(CommandSpace {
            zone,
            command,
            measured: Measured::Copy(directory, used.saturating_sub(before.totals.bytes)),
            may_be_over: true,
            before,
            stopped_for: RefCell::default(),
            directories: None,
        }),
        directory,
        copy,
        content: zone.store.staging(&zone.tenant)?.copy(file)?,
    })
}

impl<'a> OpenEndedEdit<'a> {
    /// Returns a function that returns `true` if the command takes too much space and must stop.
    pub fn must_stop(&self) -> impl Fn() -> bool + use<'a> {
        let space = Rc::clone(&self.space);
        move || space.must_stop()
    }

    /// Ends the command: enters its changes, or puts them back and returns the refusal if they do not
    /// fit.
    pub fn finish(self) -> Result<Option<Error>, Error> {
        let zone = self.space.zone;
        let staging = zone.store.staging(&zone.tenant)?;
        let measured = extent_of_copy(self.directory).map(|extent| extent.totals);
        let excess = self
            .space
            .excess(measured.unwrap_or(self.space.before.totals))?;
        if excess.is_some() {
            for found in self.directory.list(&ZonePath::root())? {
                if found.path != *self.copy {
                    let entry = self.directory.entry(&found.path)?;
                    staging.remove(&entry)?.keep()?;
                }
            }
            let target = self.directory.target(self.copy)?;
            self.content.install(target)?.keep();
        }
        zone.store.measure_edits(&zone.tenant, zone.name)?;
        zone.store.make_space(&zone.tenant, Totals::default())?;
        Ok(excess.map(|excess| excess.undone().into()))
    }
}

impl SpaceError {
    /// The same, of a zone that is as it was before.
    pub(crate) fn undone(mut self) -> Self {
        if let Self::Overflow { undone, .. } | Self::TooMany { undone, .. } = &mut self {
            *undone = true;
        }
        self
    }
}

diagnostics! {
    /// A command that takes more space than there is.
    #[derive(Clone, Debug, thiserror::Error)]
    pub(crate) enum SpaceError {
        /// It wrote more than the quota leaves.
        #[error("`{command}` was stopped because it exceeded the quota: {} were used, {} are \
                 allowed, it reached {}{}",
            human_size(*before), human_size(*limit), human_size(*used),
            if *undone { "; its changes were undone" } else { "; the files that it wrote stay" })]
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
            if *undone { "; its changes were undone" } else { "; the files that it made stay" })]
        TooMany {
            /// The command.
            command: String,
            /// Files or directories.
            what: &'static str => ["files", "directories"],
            /// Their number when it ended.
            count: u64 = 100_001,
            /// The allowed number.
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
            /// Their number.
            count: u64 = 100_001,
            /// The allowed number.
            limit: u64 = 100_000,
        } => {
            code: QuotaExceeded,
            hint: "remove directories with shed_delete",
            details: { "directories": count, "max_files": limit },
        },
    }
}
