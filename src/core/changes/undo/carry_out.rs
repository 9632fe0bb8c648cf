//! The ways back from the steps of a zone without history, carried out in the order of their judgement.

use std::collections::{HashMap, HashSet};
use std::slice;

use fileshed_registry::{Change, Step};
use fileshed_storage::ContentState;
use fileshed_types::zone::is_below;
use fileshed_types::{Caller, Error};
use fileshed_zones::zone::{Zone, ZonePath};

use super::way::{Way, swap_together};
use super::{KeptReason, UndoOutcome, UndonePath};

/// Files that get their former contents in one change.
const MOST_TOGETHER: usize = 256;

/// The ways back from one change.
pub(super) struct ChangeWays {
    /// Its number.
    pub(super) number: i64,
    pub(super) steps: Vec<Step>,
    /// `true` if these ways take all of it back that was not taken back before.
    pub(super) is_all: bool,
    /// The ways, each with the position of its step, and the state that the file has before it, if that is
    /// known.
    pub(super) ways: Vec<(usize, Way, Option<ContentState>)>,
}

impl ChangeWays {
    /// Returns what becomes of the paths if nothing fails.
    pub(super) fn outcomes(&self, zone: &Zone<'_>) -> Vec<UndonePath> {
        let outcomes = self.ways.iter().map(|(_, way, _)| way.outcome());
        let outcomes = outcomes.map(|(path, outcome)| self.outcome(zone, path, outcome));
        outcomes.collect()
    }

    /// Returns what becomes of the path of a way.
    fn outcome(&self, zone: &Zone<'_>, path: ZonePath, outcome: UndoOutcome) -> UndonePath {
        let stays = matches!(outcome, UndoOutcome::Kept(reason) if reason != KeptReason::Gone);
        let version = (stays && has_former(&self.steps, &path)).then(|| self.number.to_string());
        UndonePath {
            version,
            ..UndonePath::of(zone, path, outcome)
        }
    }
}

/// Returns `true` if the bin got what was at a path before these steps.
fn has_former(steps: &[Step], path: &ZonePath) -> bool {
    let mut at_path = steps.iter().filter(|step| step.path() == path.as_str());
    matches!(
        at_path.next(),
        Some(Step::Replaced { kept: Some(_), .. } | Step::Removed { kept: Some(_), .. })
    )
}

/// State of an undo that is carried out in a zone.
pub(super) struct ZoneUndo<'u> {
    zone: &'u Zone<'u>,
    /// Changes that are marked as taken back.
    marked: HashSet<i64>,
    /// Paths that stay as they are, because a way failed there.
    failed: HashSet<String>,
    /// Files that ways made anew, with the state of each.
    rewritten: HashMap<ZonePath, ContentState>,
}

impl<'u> ZoneUndo<'u> {
    pub(super) fn of(zone: &'u Zone<'u>) -> Self {
        Self {
            zone,
            marked: HashSet::new(),
            failed: HashSet::new(),
            rewritten: HashMap::new(),
        }
    }

    pub(super) fn zone(&self) -> &'u Zone<'u> {
        self.zone
    }

    /// Takes changes back, the last one first.
    pub(super) fn carry_out(&mut self, changes: &[ChangeWays]) -> Result<Vec<UndonePath>, Error> {
        let (mut outcomes, mut rest) = (Vec::new(), changes);
        while let Some(first) = rest.first() {
            let (together, after) = rest.split_at(self.leading_swaps(rest));
            if let Some(done) = self.swap_together(together) {
                outcomes.extend(done);
                rest = after;
                continue;
            }
            let one_by_one = if together.is_empty() {
                slice::from_ref(first)
            } else {
                together
            };
            for change in one_by_one {
                outcomes.extend(self.take_back(change)?);
            }
            rest = &rest[one_by_one.len()..];
        }
        Ok(outcomes)
    }

    /// Returns the number of the first changes that only wrote over files, each over others.
    fn leading_swaps(&self, changes: &[ChangeWays]) -> usize {
        let mut paths = HashSet::new();
        for (count, change) in changes.iter().enumerate() {
            let fits = (1..=MOST_TOGETHER - paths.len()).contains(&change.ways.len());
            let mut ways = change.ways.iter().map(|(_, way, _)| way);
            let are_swaps = ways.all(|way| {
                matches!(way, Way::Swap(path, ..) if !self.is_stuck(way) && paths.insert(path))
            });
            if !fits || !are_swaps || self.has_failed(change) {
                return count;
            }
        }
        changes.len()
    }

    /// Takes changes back that only wrote over files, as one change; `None` if that is not possible.
    fn swap_together(&mut self, changes: &[ChangeWays]) -> Option<Vec<UndonePath>> {
        let whole = changes.iter().filter(|change| change.is_all);
        let numbers: Vec<i64> = whole.map(|change| change.number).collect();
        let parts = changes.iter().filter(|change| change.steps.len() > 1);
        let parts =
            parts.flat_map(|change| change.ways.iter().map(|(at, ..)| (change.number, *at)));
        let swaps = changes.iter().flat_map(|change| &change.ways);
        let swaps: Vec<_> = swaps.map(|(_, way, seen)| (way, *seen)).collect();
        if swaps.len() < 2 {
            return None;
        }
        let undoing = Change::undoing(&numbers, parts);
        if let Err(error) = self.as_change(undoing, |zone| swap_together(zone, &swaps)) {
            tracing::debug!(%error, "files are not swapped together");
            return None;
        }
        self.marked.extend(numbers);
        let outcomes = changes.iter().flat_map(|change| change.outcomes(self.zone));
        Some(outcomes.collect())
    }

    /// Takes a change back step by step.
    fn take_back(&mut self, change: &ChangeWays) -> Result<Vec<UndonePath>, Error> {
        let zone = self.zone;
        // A merge that failed may have been to take steps of this change back, too.
        let is_all = change.is_all && !self.has_failed(change);
        let (mut outcomes, mut is_whole) = (Vec::new(), is_all);
        let last = change.ways.last().map(|(at, ..)| *at);
        for (at, way, seen) in &change.ways {
            let (path, mut outcome) = way.outcome();
            let stays = matches!(way, Way::Stay(..));
            if !stays && self.is_stuck(way) {
                outcome = UndoOutcome::Kept(KeptReason::Changed);
                self.fail(way);
            } else if !stays {
                // Each step is a change by itself: the last one marks the change, if all are taken back.
                let marks = is_whole && last == Some(*at);
                let mut numbers = way.older().to_vec();
                numbers.extend(marks.then_some(change.number));
                let part = (change.steps.len() > 1).then_some((change.number, *at));
                let undoing = Change::undoing(&numbers, part);
                let seen = seen.or_else(|| self.rewritten.get(&path).copied());
                match self.as_change(undoing, |zone| way.go(zone, seen)) {
                    Ok(()) => {
                        self.marked.extend(numbers);
                        self.note_rewritten(way)?;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a step is not taken back");
                        outcome = UndoOutcome::Kept(KeptReason::of(&error));
                        self.fail(way);
                    }
                }
            }
            is_whole &= !matches!(outcome, UndoOutcome::Kept(_));
            outcomes.push(change.outcome(zone, path, outcome));
        }
        let number = change.number;
        if is_all && change.ways.is_empty() && !self.marked.contains(&number) {
            zone.store.registry.mark_undone(&[number])?;
        }
        Ok(outcomes)
    }

    /// Does work as a change that takes others back.
    fn as_change(
        &self,
        undoing: String,
        work: impl FnOnce(&Zone<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let caller = Caller {
            undoes: Some(undoing),
            ..self.zone.caller.clone()
        };
        let zone = self.zone.store.zone_as_it_is(&caller, self.zone.name)?;
        work(&zone.made()?)
    }

    /// Notes the state of a file that a way made anew, for the next way there.
    fn note_rewritten(&mut self, way: &Way) -> Result<(), Error> {
        if let Way::Rewrite(path, ..) | Way::Shorten(path, ..) = way
            && let Some(entry) = self.zone.data.existing_entry(path)?
        {
            let state = entry.stamp().content();
            self.rewritten.insert(path.clone(), state);
        }
        Ok(())
    }

    /// Returns `true` if a way failed at the path of a step of a change.
    fn has_failed(&self, change: &ChangeWays) -> bool {
        let mut steps = change.steps.iter();
        !self.failed.is_empty() && steps.any(|step| self.failed.contains(step.path()))
    }

    fn fail(&mut self, way: &Way) {
        let places = way.places().map(|path| path.as_str().to_owned());
        self.failed.extend(places);
    }

    /// Returns `true` if a way depends on one that failed.
    fn is_stuck(&self, way: &Way) -> bool {
        !self.failed.is_empty()
            && way.places().any(|path| {
                let path = path.as_str();
                let mut failed = self.failed.iter();
                failed.any(|failed| {
                    failed == path || is_below(path, failed) || is_below(failed, path)
                })
            })
    }
}
