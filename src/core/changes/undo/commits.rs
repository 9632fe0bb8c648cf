//! Commits of a zone with history that are taken back: out of the files of today, by lines, as one commit.

use std::collections::{BTreeMap, HashSet};

use fileshed_history::{CommitReader, Reversal, Reversed};
use fileshed_registry::{ListedChange, Record};
use fileshed_rules::Growth;
use fileshed_types::{Error, UserId};
use fileshed_zones::store::Store;
use fileshed_zones::zone::{Zone, ZonePath};

use super::{KeptReason, MOST, OPERATION, UndoError, UndoOptions, UndoOutcome, UndonePath};
use crate::judge::range;
use crate::open_ended::{self, OpenEndedRequest};
use crate::undone_commits::UndoneCommits;
use crate::webdav;

/// Finds what becomes of each path. Changes nothing.
pub(super) fn judge(
    zone: &Zone<'_>,
    changes: &[ListedChange],
    only: Option<&ZonePath>,
) -> Result<Vec<UndonePath>, Error> {
    let _lock = crate::hold(zone)?;
    let undo = CommitUndo::of(zone, changes, only)?;
    let mut reversal = undo.reversal()?;
    let kept = undo.kept(&mut reversal)?;
    Ok(undo.outcomes(&reversal, kept))
}

/// Takes the commits back, as one.
pub(super) fn take_back(
    zone: &Zone<'_>,
    changes: &[ListedChange],
    only: Option<&ZonePath>,
    options: UndoOptions,
) -> Result<Vec<UndonePath>, Error> {
    let request = OpenEndedRequest {
        operation: OPERATION,
        command: OPERATION,
        growth: Growth::Either,
        message: match changes {
            [row] => format!("Undo change {}", row.number),
            _ => format!("Undo {} changes", changes.len()),
        },
    };
    let mut permit = open_ended::begin(zone, request, None)?;
    let undo = CommitUndo::of(zone, changes, only)?;
    let mut reversal = undo.reversal()?;
    let paths: Vec<ZonePath> = reversal.paths().map(|(path, _)| path.clone()).collect();
    // Lines of shells may have written there what no commit has yet.
    if open_ended::commit_outside(zone, &paths)? {
        reversal = undo.reversal()?;
    }
    let mut kept = undo.kept(&mut reversal)?;
    // Something stands in the way since the zone was judged.
    if let Some(refusal) = UndoError::of(&kept).filter(|_| !options.partial) {
        permit.cancel()?;
        return Err(refusal.into());
    }
    permit.give_back(undo.former_owners(&reversal)?)?;
    let staging = zone.store.staging(&zone.tenant)?;
    let since = changes.iter().map(|row| row.change.changed_at).min();
    let since = since.unwrap_or_default();
    let carry_out =
        |reversal: &Reversal| zone.history(|it| it.carry_out(reversal, since, &staging));
    let done = carry_out(&reversal).and_then(|done| {
        let gone = |path: &ZonePath| {
            UndonePath::of(zone, path.clone(), UndoOutcome::Kept(KeptReason::Gone))
        };
        kept.extend(done.1.iter().map(gone));
        match UndoError::of(&kept).filter(|_| !options.partial) {
            Some(refusal) => Err(refusal.into()),
            None => Ok(done),
        }
    });
    let (contents, lost) = match done {
        Ok(done) => done,
        Err(error) => {
            // All that was there is in the last commit.
            carry_out(&reversal.inverse())?;
            permit.cancel()?;
            return Err(error);
        }
    };
    reversal.leave_out(|path| lost.contains(path));
    permit.undoes(zone.history(|history| Ok(undo.undone.undoes(history, &reversal)))?);
    let paths = reversal.paths().map(|(path, _)| path.clone());
    permit.know(paths.collect(), contents);
    if let Some(refused) = permit.finish()?.refused {
        return Err(refused);
    }
    Ok(undo.outcomes(&reversal, kept))
}

/// The commits that are taken back in one zone.
struct CommitUndo<'u> {
    zone: &'u Zone<'u>,
    changes: &'u [ListedChange],
    only: Option<&'u ZonePath>,
    /// `None` if the history cannot be read.
    commits: Option<CommitReader>,
    undone: UndoneCommits,
}

impl<'u> CommitUndo<'u> {
    fn of(
        zone: &'u Zone<'u>,
        changes: &'u [ListedChange],
        only: Option<&'u ZonePath>,
    ) -> Result<Self, Error> {
        let commits = CommitReader::open(&zone.base).ok();
        Ok(Self {
            zone,
            changes,
            only,
            undone: UndoneCommits::of(&zone.store.registry, commits.as_ref(), changes)?,
            commits,
        })
    }

    fn reversal(&self) -> Result<Reversal, Error> {
        self.zone
            .history(|history| history.reversal(&self.undone.joined, self.only))
    }

    /// Leaves out of a reversal what has to stay, and returns that.
    fn kept(&self, reversal: &mut Reversal) -> Result<Vec<UndonePath>, Error> {
        let kept = |(path, reason)| UndonePath::of(self.zone, path, UndoOutcome::Kept(reason));
        let left = left_out(self.zone, reversal)?.into_iter().map(kept);
        let conflicts = reversal.conflicts.iter().map(|(path, before)| {
            let reason = match before {
                Some(_) => KeptReason::Changed,
                None => KeptReason::Taken,
            };
            UndonePath {
                version: before.clone(),
                ..kept((path.clone(), reason))
            }
        });
        let gone = self
            .undone
            .is_lossy
            .then(|| kept((ZonePath::root(), KeptReason::Gone)));
        Ok(left.chain(conflicts).chain(gone).collect())
    }

    fn outcomes(&self, reversal: &Reversal, kept: Vec<UndonePath>) -> Vec<UndonePath> {
        let done = reversal.paths().map(|(path, reversed)| {
            let outcome = match reversed {
                Reversed::Removed => UndoOutcome::Removed,
                Reversed::Restored => UndoOutcome::Restored,
                Reversed::Merged => UndoOutcome::Merged,
            };
            UndonePath::of(self.zone, path.clone(), outcome)
        });
        done.chain(kept).collect()
    }

    /// Returns the records that a group's files had before the changes, of those that are there after the
    /// reversal.
    fn former_owners(&self, reversal: &Reversal) -> Result<Vec<Record>, Error> {
        let (zone, changes) = (self.zone, self.changes);
        let Some(group) = zone.group() else {
            return Ok(Vec::new());
        };
        // The oldest change knows what was before all of them.
        let records = changes.iter().flat_map(|row| {
            row.change
                .owners()
                .into_iter()
                .map(move |record| (row, record))
        });
        let former: BTreeMap<String, (&ListedChange, Record)> = records
            .map(|(row, record)| (record.path.clone(), (row, record)))
            .collect();
        let back = reversal.paths();
        let back = back.filter(|(_, reversed)| *reversed != Reversed::Removed);
        let back: HashSet<String> = back.map(|(path, _)| path.key()).collect();
        let mut owners = Vec::new();
        for (path, (row, record)) in former {
            if !back.contains(&path) {
                continue;
            }
            let present = zone.store.registry.record(group.id.as_str(), &path)?;
            // A later one of the changes may have brought a file of somebody else to the path.
            let is_of_another = || {
                let mut later = changes.iter().filter(|later| later.number > row.number);
                later.any(|later| self.touches(later, &path))
            };
            let is_given =
                present.is_some_and(|present| is_given(zone.store, row, &record, &present));
            if !is_given || is_of_another() {
                owners.push(record);
            }
        }
        Ok(owners)
    }

    /// Returns `true` if a change touched the file with this key.
    fn touches(&self, row: &ListedChange, key: &str) -> bool {
        let changed = self.commits.as_ref().zip(range(row));
        let changed =
            changed.and_then(|(commits, range)| commits.changed_by(&range, MOST as usize).ok());
        let (files, _) = changed.unwrap_or_default();
        files.iter().any(|file| file.path.key() == key)
    }
}

/// Returns `true` if a file was given to its present owner after a change, and not by it.
fn is_given(store: &Store, row: &ListedChange, former: &Record, present: &Record) -> bool {
    // An undo gives files to others than who makes it.
    if row.change.undoes.is_some() || present.owner == former.owner {
        return false;
    }
    let owner = UserId::parse(&present.owner).ok();
    let tenant = owner.and_then(|owner| store.tenant_of_user(&owner).ok());
    tenant.is_none_or(|tenant| tenant != row.change.actor)
}

/// Leaves out of a reversal what the caller may not change now, and what would lie below that; returns each
/// path with the reason.
fn left_out(
    zone: &Zone<'_>,
    reversal: &mut Reversal,
) -> Result<Vec<(ZonePath, KeptReason)>, Error> {
    let mut left = Vec::new();
    let has_locks = webdav::has_locks(zone)?;
    for (path, _) in reversal.paths() {
        let asked = if has_locks {
            webdav::check(zone, path)
        } else {
            Ok(())
        };
        let Err(error) = asked.and_then(|()| crate::check_owner(zone, [path])) else {
            continue;
        };
        match KeptReason::of(&error) {
            reason @ (KeptReason::Locked | KeptReason::Foreign) => {
                left.push((path.clone(), reason));
            }
            _ => return Err(error),
        }
    }
    let stays: HashSet<ZonePath> = left.iter().map(|(path, _)| path.clone()).collect();
    for (path, reversed) in reversal.paths() {
        let mut above = std::iter::successors(path.parent(), ZonePath::parent);
        if reversed != Reversed::Removed
            && !stays.contains(path)
            && above.any(|above| stays.contains(&above))
        {
            left.push((path.clone(), KeptReason::Taken));
        }
    }
    let stays: HashSet<&ZonePath> = left.iter().map(|(path, _)| path).collect();
    reversal.leave_out(|path| stays.contains(path));
    Ok(left)
}
