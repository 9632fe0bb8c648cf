//! A command in a group: all of it, or nothing.
//!
//! What a command will change cannot be told beforehand, so it runs alone in the group and is
//! judged by what it did: everything on disk is compared with the commit before it. If one file
//! was not the caller's to change, all is put back from that commit; else what changed becomes one
//! commit on top of it, by its real author, whatever git was told to do with the history. The
//! intent knows where it began, so that after a crash the repair judges in the same way.

use jiff::Timestamp;

use super::claims::Claims;
use super::finished::{Finished, said_of};
use super::owner;
use super::space::CommandSpace;
use crate::store::HistoryOf;
use crate::zone::{Zone, ZoneName};
use crate::{Error, Store};
use fileshed_history::{Author, History, Position};
use fileshed_registry::{OwnershipChange, OwnershipEffect, Registry};
use fileshed_storage::{Root, Staging};

/// Message of the commit of what came by other ways than through the server.
pub(super) const OUTSIDE: &str = "Take in what came from outside";

/// Where a transaction takes place.
pub(super) struct GroupTransaction<'a> {
    pub(super) store: &'a Store,
    /// Key of the group's tenant.
    pub(super) tenant: &'a str,
    /// The group's id.
    pub(super) group: &'a str,
    /// What the caller calls it.
    pub(super) group_name: &'a str,
    pub(super) base: &'a Root,
    pub(super) data: &'a Root,
    pub(super) staging: Staging,
}

/// How a transaction ended.
pub(super) struct TransactionOutcome {
    /// What it did to ownership; nothing where it was put back.
    pub(super) ownership_change: Option<OwnershipChange>,
    /// The refusal, where it was put back, and what is said of the history.
    pub(super) finished: Finished,
}

impl TransactionOutcome {
    /// How it ended, and what becomes of ownership: nothing where the command was put back.
    pub(super) fn into_parts(self) -> (Finished, OwnershipChange) {
        let ownership_change = self.ownership_change.unwrap_or_else(|| OwnershipChange {
            owner: String::new(),
            mode: String::new(),
            asked: false,
            effect: OwnershipEffect::Touch { files: Vec::new() },
        });
        (self.finished, ownership_change)
    }

    /// All was put back.
    fn refused(error: Error) -> Self {
        Self {
            ownership_change: None,
            finished: Finished {
                refused: Some(error),
                history: None,
            },
        }
    }
}

impl<'a> GroupTransaction<'a> {
    /// The transaction of a command in `zone`; nothing outside groups.
    pub(super) fn of(zone: &'a Zone<'_>) -> Result<Option<Self>, Error> {
        let Some(group) = zone.group() else {
            return Ok(None);
        };
        Ok(Some(Self {
            store: zone.store,
            tenant: &zone.tenant.key,
            group: group.id.as_str(),
            group_name: &group.name,
            base: &zone.base,
            data: &zone.data,
            staging: zone.store.staging(&zone.tenant)?,
        }))
    }

    pub(super) fn registry(&self) -> &Registry {
        self.store.registry()
    }

    fn history<T>(
        &self,
        now: Timestamp,
        work: impl FnMut(&History) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let of = HistoryOf {
            tenant: self.tenant,
            zone: ZoneName::Group,
            base: self.base,
            data: self.data,
        };
        self.store.work_on_history(&of, now, work)
    }

    /// Where the group is before the command. What came by other ways than through the server is
    /// taken into history first: nothing that a refusal could not put back.
    pub(super) fn begin(&self, now: Timestamp) -> Result<Position, Error> {
        let author = Author::server();
        self.history(now, |history| {
            history.capture(OUTSIDE, &author, now)?;
            history.remember_inodes()?;
            Ok(history.position()?)
        })
    }

    /// Judges what the disk is now, compared with `start`, as a change for which `ownership_change` names the
    /// owner. Alone in the group.
    pub(super) fn judge(
        &self,
        ownership_change: &OwnershipChange,
        start: &Position,
        message: &str,
        author: &Author,
        now: Timestamp,
        space: Option<&CommandSpace<'_>>,
    ) -> Result<TransactionOutcome, Error> {
        self.history(now, |history| {
            self.judge_in(
                history,
                ownership_change,
                start,
                message,
                (author, now),
                space,
            )
        })
    }

    fn judge_in(
        &self,
        history: &History,
        ownership_change: &OwnershipChange,
        start: &Position,
        message: &str,
        (author, now): (&Author, Timestamp),
        space: Option<&CommandSpace<'_>>,
    ) -> Result<TransactionOutcome, Error> {
        if !history.has(start)? {
            // The disk lost what was there before, so nothing can be compared nor put back.
            tracing::error!(
                tenant = self.tenant,
                "a command could not be judged: its history is lost"
            );
            let captured = history.capture(message, author, now)?;
            self.measured(captured.totals)?;
            let effect = OwnershipEffect::Touch { files: Vec::new() };
            let ownership_change = Some(OwnershipChange {
                effect,
                ..ownership_change.clone()
            });
            return Ok(TransactionOutcome {
                ownership_change,
                finished: Finished::default(),
            });
        }
        let mut line = history.hold_line(start)?;
        // Commits that git added are joined to one by the caller.
        line.message = line.message.or(history.return_to(start)?);
        self.data.grant_owner()?;
        let found = history.find()?;
        let claims = Claims::of(
            (self.registry(), self.group, self.data),
            &ownership_change.owner,
            &found,
        );
        let denied = claims.denied()?;
        let denied = owner::refuse(denied, self.group_name, &ownership_change.owner);
        let refused = match (denied, space) {
            (Err(denied), _) => Some(denied),
            (Ok(()), Some(space)) => space
                .excess(found.totals())?
                .map(|excess| excess.undone().into()),
            (Ok(()), None) => None,
        };
        if let Some(refused) = refused {
            drop(claims);
            let directories = space.and_then(|space| space.directories.as_ref());
            self.measured(history.restore(found, directories, &self.staging)?)?;
            return Ok(TransactionOutcome::refused(refused));
        }
        let effect = claims.effect(&history.moved(&found));
        drop(claims);
        let message = line.message.as_deref().unwrap_or(message);
        let captured = history.capture_found(found, message, author, now)?;
        self.measured(captured.totals)?;
        Ok(TransactionOutcome {
            ownership_change: Some(OwnershipChange {
                effect,
                ..ownership_change.clone()
            }),
            finished: Finished {
                refused: None,
                history: said_of(&line, captured.commit.is_some()),
            },
        })
    }

    fn measured(&self, totals: fileshed_storage::Totals) -> Result<(), Error> {
        let zone = ZoneName::Group.as_str();
        Ok(self.registry().measured(self.tenant, zone, totals)?)
    }
}
