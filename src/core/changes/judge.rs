//! The outcome of a command in a zone with history: its changes become one commit, or are put back.
//!
//! In a group it is judged by its changes: everything on disk is compared with the commit before it,
//! and if one file was not the caller's to change, all is put back from that commit. The intent knows
//! where it began, so that after a crash the repair judges in the same way.

use jiff::Timestamp;

mod claims;

use std::collections::HashSet;

use self::claims::Claims;
use crate::owner::{self, GroupOwners};
use fileshed_history::{Author, CommitRange, HeldLine, History, ReferenceState};
use fileshed_registry::{ListedChange, OwnershipChange, OwnershipEffect};
use fileshed_storage::{Staging, Totals};
use fileshed_types::{Error, ZoneName, ZonePath};
use fileshed_zones::store::Store;
use fileshed_zones::tenant::ZoneRoots;
use fileshed_zones::zone::Zone;

/// Limits of space of a command that still has its permit.
pub(crate) trait SpaceLimits {
    /// Returns the refusal of a change that leaves so much, if that is too much: of one that stays, and
    /// of one that is put back.
    fn refusals(&self, totals: Totals) -> Result<Option<(Error, Error)>, Error>;

    /// Returns the directories before the command, if nothing else can have changed any.
    fn directories_if_alone(&self) -> Result<Option<&HashSet<Box<[u8]>>>, Error>;
}

/// A command that is over. Nobody else has the write lock of its zone.
pub(crate) struct EndedCommand<'a> {
    pub(crate) store: &'a Store,
    pub(crate) history: ZoneRoots<'a>,
    pub(crate) staging: Staging,
    /// Id of the group whose zone it is, and what the caller calls it.
    pub(crate) group: Option<(&'a str, &'a str)>,
    /// The position at which it began and the owner of its new files, if recorded.
    pub(crate) begun: Option<&'a OwnershipChange>,
    pub(crate) message: &'a str,
    pub(crate) author: &'a Author,
}

/// The outcome of a command.
pub(crate) struct JudgedCommand {
    /// Space of the zone now.
    pub(crate) totals: Totals,
    /// The commit of what it changed, or the last one that it made.
    pub(crate) commit: Option<String>,
    /// Its effect on ownership; `None` if it was put back.
    pub(crate) effect: Option<OwnershipEffect>,
    pub(crate) finished: Finished,
}

/// The answer about the outcome of a command.
#[derive(Debug, Default)]
pub struct Finished {
    /// The refusal, if it was put back or took too much space.
    pub refused: Option<Error>,
    /// A remark on the history, if it is not as git left it.
    pub history: Option<String>,
    /// Files that it changed and whose former content is not kept.
    pub lost: Vec<ZonePath>,
    /// `true` if it changed more files than the list of changes names.
    pub is_unlisted: bool,
    /// `true` if others worked in the zone at the same time, and files changed that no change lists.
    pub is_uncertain: bool,
}

impl EndedCommand<'_> {
    /// Commits the changes of the command, or puts them back. A repair knows no
    /// limits of space.
    pub(crate) fn judge(
        &self,
        now: Timestamp,
        limits: Option<&dyn SpaceLimits>,
    ) -> Result<JudgedCommand, Error> {
        let work = |history: &History| self.judge_in(history, now, limits);
        self.store.work_on_history(&self.history, now, work)
    }

    fn judge_in(
        &self,
        history: &History,
        now: Timestamp,
        limits: Option<&dyn SpaceLimits>,
    ) -> Result<JudgedCommand, Error> {
        let start = self.start_in(history)?;
        let mut line = match &start {
            Some(start) => history.hold_line(start)?,
            None => HeldLine::default(),
        };
        if let (Some(_), Some(start)) = (self.group, &start) {
            // Commits that git added are joined to one by the caller.
            line.message = line.message.or(history.return_to(start)?);
            self.history.data.grant_owner()?;
        }
        let mut found = history.find()?;
        let (mut denied, mut effect) = (None, None);
        if let (Some((group, name)), Some(begun)) = (self.group, self.begun) {
            effect = Some(OwnershipEffect::Touch { files: Vec::new() });
            if start.is_some() {
                let owners = GroupOwners {
                    registry: &self.store.registry,
                    group,
                    data: self.history.data,
                };
                let claims = Claims::of(owners, &begun.owner, &found);
                denied = owner::refuse(claims.denied()?, name, &begun.owner).err();
                let former = match &begun.effect {
                    OwnershipEffect::Command { former, .. } => former.clone(),
                    _ => Vec::new(),
                };
                effect = Some(claims.effect(&history.moved(&found), former));
            }
        }
        let excess = match limits {
            Some(limits) => limits.refusals(found.totals())?,
            None => None,
        };
        // Putting back without the state before would remove every file.
        let is_lost = start.is_none()
            && self
                .begun
                .is_some_and(|begun| start_of(&begun.effect).is_some());
        let directories = match limits {
            Some(limits) if denied.is_some() || (excess.is_some() && !is_lost) => {
                limits.directories_if_alone()?
            }
            _ => None,
        };
        if denied.is_some() || excess.is_some() && directories.is_some() {
            if let (None, Some(start)) = (self.group, &start) {
                history.return_to(start)?;
                found = history.find()?;
            }
            let totals = history.restore(found, directories, &self.staging)?;
            let refused = denied.or(excess.map(|(_, undone)| undone));
            let history = None;
            return Ok(JudgedCommand {
                totals,
                commit: None,
                effect: None,
                finished: Finished {
                    refused,
                    history,
                    ..Finished::default()
                },
            });
        }
        let message = line.message.as_deref().unwrap_or(self.message);
        let captured = history.capture_found(found, message, self.author, now)?;
        let own = captured.commit.as_ref().map(ToString::to_string);
        let moved = || -> Result<_, Error> {
            let now = history.position()?.commit;
            Ok(now.filter(|now| {
                start
                    .as_ref()
                    .is_some_and(|start| start.commit.as_ref() != Some(now))
            }))
        };
        Ok(JudgedCommand {
            totals: captured.totals,
            commit: own.map_or_else(moved, |own| Ok(Some(own)))?,
            effect,
            finished: Finished {
                refused: excess.map(|(stays, _)| stays),
                history: said_of(&line, captured.commit.is_some()),
                ..Finished::default()
            },
        })
    }

    /// The position of history at which the command began; `None` if it is not known, or if the disk
    /// lost what was there, so that nothing can be compared nor put back.
    fn start_in(&self, history: &History) -> Result<Option<ReferenceState>, Error> {
        let start = self.begun.and_then(|begun| start_of(&begun.effect));
        let Some(start) = start else {
            return Ok(None);
        };
        if history.has(&start)? {
            return Ok(Some(start));
        }
        let tenant = self.history.tenant;
        tracing::error!(
            tenant,
            "a command could not be checked: the commit before it is lost"
        );
        Ok(None)
    }
}

/// Returns the commits of a change in a zone with history.
#[must_use]
pub fn range(row: &ListedChange) -> Option<CommitRange> {
    let commit = row.change.commit.clone()?;
    let before = row.change.before.clone();
    Some(CommitRange {
        before,
        commit,
        taken_back: HashSet::new(),
    })
}

/// Returns the change of this number, if it is one of a zone. Each conversation has uploads of its own.
pub fn change_in(zone: &Zone<'_>, number: i64) -> Result<Option<ListedChange>, Error> {
    let row = zone.store.registry.change(number)?;
    Ok(row.filter(|ListedChange { change, .. }| {
        let is_of_chat = zone.name != ZoneName::Uploads || change.chat == zone.caller.chat.as_str();
        let is_here = change.tenant == zone.tenant.key && change.zone == zone.name.as_str();
        is_here && is_of_chat
    }))
}

/// Returns the position of history at which a command began.
pub(crate) fn start_of(effect: &OwnershipEffect) -> Option<ReferenceState> {
    match effect {
        OwnershipEffect::Command {
            reference,
            commit,
            references,
            ..
        } => Some(ReferenceState {
            reference: reference.clone(),
            commit: commit.clone(),
            references: references.clone(),
        }),
        _ => None,
    }
}

/// Returns the remark on a history that is not as git left it; the files as git left them were
/// `committed`, or do not differ.
fn said_of(line: &HeldLine, committed: bool) -> Option<String> {
    let mut told = Vec::new();
    if let Some(branch) = &line.put_back {
        let branch = short(branch);
        told.push(format!(
            "history only grows here: HEAD stays on `{branch}`, {}",
            if committed {
                "and the files as git left them are a new commit on it"
            } else {
                "and no file differs from its last commit"
            }
        ));
    }
    told.extend(line.kept.iter().map(|tip| {
        let (before, now) = (short(&tip.before), &tip.now);
        format!("the commit that `{before}` named is kept as `{now}`")
    }));
    (!told.is_empty()).then(|| told.join("; "))
}

/// A reference as people write it.
fn short(reference: &str) -> &str {
    let of = |kind| reference.strip_prefix(kind);
    of("refs/heads/")
        .or_else(|| of("refs/"))
        .unwrap_or(reference)
}
