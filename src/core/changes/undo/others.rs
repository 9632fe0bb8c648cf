//! Steps of changes that stay, beside those that an undo takes back.

use std::collections::{BTreeMap, HashMap, HashSet};

use fileshed_registry::{Change, ListedChange, Step};
use fileshed_storage::ContentState;
use fileshed_types::ZoneName;
use fileshed_zones::zone::Zone;

use super::overlay::below;

/// The steps by their paths, the first one first.
pub(super) struct OtherSteps(BTreeMap<String, Vec<OtherStep>>);

/// A step of a change that stays.
struct OtherStep {
    /// The number of the change.
    number: i64,
    /// The number of the oldest change that it takes back at the path, if it is of an undo.
    undoes: Option<i64>,
    step: Step,
}

impl OtherStep {
    /// Returns `true` if it changed what the change of this number left: an undo and the changes that it takes
    /// back are nothing together.
    fn is_after(&self, number: i64) -> bool {
        self.number > number && self.undoes.is_none_or(|oldest| oldest < number)
    }
}

impl OtherSteps {
    /// Finds them among changes, the last one first, which are also those that these undo. Those of `undone` are
    /// taken back, and of others the steps `done`.
    pub(super) fn of(
        zone: &Zone<'_>,
        rows: &[ListedChange],
        undone: &HashSet<i64>,
        done: &HashMap<i64, HashSet<usize>>,
    ) -> Self {
        let steps = rows.iter().map(|row| (row.number, row.change.steps()));
        let steps: HashMap<i64, Vec<Step>> = steps.collect();
        let stand = rows.iter().rev().filter(|row| {
            let change = &row.change;
            // An undo that is not known to have happened as a whole takes nothing back.
            let is_whole = change.undoes.is_none() || change.undone().next().is_some();
            let is_here = change.zone == zone.name.as_str()
                && (zone.name != ZoneName::Uploads || change.chat == zone.caller.chat.as_str());
            row.undone_by.is_none() && is_whole && is_here && !undone.contains(&row.number)
        });
        let mut found: BTreeMap<String, Vec<OtherStep>> = BTreeMap::new();
        for row in stand {
            let own = steps.get(&row.number).map_or(&[][..], Vec::as_slice);
            let own = own.iter().enumerate();
            let done = done.get(&row.number);
            let own = own.filter(|(at, _)| done.is_none_or(|done| !done.contains(at)));
            for (_, step) in own {
                found
                    .entry(step.path().to_owned())
                    .or_default()
                    .push(OtherStep {
                        number: row.number,
                        undoes: oldest_undone(&row.change, step.path(), &steps),
                        step: step.clone(),
                    });
            }
        }
        Self(found)
    }

    fn at(&self, path: &str) -> impl DoubleEndedIterator<Item = &OtherStep> {
        self.0.get(path).into_iter().flatten()
    }

    /// Returns the steps at a path after a change.
    pub(super) fn after(&self, number: i64, path: &str) -> impl Iterator<Item = &Step> {
        let steps = self.at(path).filter(move |other| other.is_after(number));
        steps.map(|other| &other.step)
    }

    /// Returns `true` if a change touched a path, or what is below it, between two changes.
    pub(super) fn are_between(&self, path: &str, after: i64, before: i64) -> bool {
        let is_between = |other: &OtherStep| other.is_after(after) && other.number < before;
        let mut below = self.0.range(below(path));
        self.at(path).any(is_between) || below.any(|(_, steps)| steps.iter().any(is_between))
    }

    /// Returns `true` if nothing but additions and undos came after a change at a path.
    pub(super) fn are_additions(&self, number: i64, path: &str) -> bool {
        let mut later = self.at(path).filter(|other| other.is_after(number));
        later.all(|other| other.undoes.is_some() || matches!(other.step, Step::Appended { .. }))
    }

    /// Returns `true` if an undo after a change brought the entry of this id back out of the bin, and left it in this
    /// state.
    pub(super) fn brought_back(&self, number: i64, id: &str, there: (&str, ContentState)) -> bool {
        let (path, now) = there;
        let mut later = self.at(path).filter(|other| other.number > number);
        later.any(|other| match &other.step {
            Step::Made {
                state, from_bin, ..
            }
            | Step::Replaced {
                state, from_bin, ..
            } => from_bin.as_deref() == Some(id) && *state == Some(now),
            _ => false,
        })
    }

    /// Returns `true` if something else came to a path after a change.
    pub(super) fn is_made_anew(&self, number: i64, path: &str) -> bool {
        let is_edit = |step: &Step| matches!(step, Step::Replaced { .. } | Step::Appended { .. });
        self.after(number, path).any(|step| !is_edit(step))
    }

    /// Returns `true` if the last change of a path, which came after this one, left a file there in this state.
    pub(super) fn is_listed(&self, number: i64, path: &str, now: ContentState) -> bool {
        let last = self.at(path).next_back();
        let last = last.filter(|last| last.number > number);
        last.is_some_and(|last| match &last.step {
            Step::Appended { after, inode, .. } => (*inode, *after) == (now.0, now.1),
            step => step.state() == Some(now),
        })
    }

    /// Returns `true` if all changes of a path after one that left a file there are nothing together with undos, which
    /// left there now what has the same size and time of change.
    pub(super) fn were_put_back(
        &self,
        (number, path, left): (i64, &str, ContentState),
        now: ContentState,
    ) -> bool {
        (left.1, left.2) == (now.1, now.2)
            && self.is_listed(number, path, now)
            && self.after(number, path).next().is_none()
    }
}

/// Returns `true` if a step changed something at a path.
fn touches(step: &Step, path: &str) -> bool {
    match step {
        Step::Moved { from, .. } => from == path || step.path() == path,
        step => step.path() == path,
    }
}

/// Returns the number of the oldest change that an undo takes back at a path; `None` if the change is no undo.
fn oldest_undone(change: &Change, path: &str, steps: &HashMap<i64, Vec<Step>>) -> Option<i64> {
    let is_here = |(number, at): &(i64, Option<usize>)| {
        let steps = steps.get(number).map_or(&[][..], Vec::as_slice);
        let part = at.map_or(steps, |at| steps.get(at..=at).unwrap_or_default());
        part.iter().any(|step| touches(step, path))
    };
    let here = change.undone().filter(is_here);
    let here = here.map(|(number, _)| number).min();
    here.or_else(|| change.undone().map(|(number, _)| number).min())
}
