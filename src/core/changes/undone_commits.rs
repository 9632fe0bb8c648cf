//! Commits that an undo takes back, with the files of each that were taken back before.
//!
//! The list of changes remembers both: an undo names changes of which nothing is left by their numbers, and files
//! of others by their positions among the files that the commits changed.

use std::collections::{HashMap, HashSet};

use fileshed_history::{CommitRange, CommitReader, History, HistoryError, Reversal};
use fileshed_registry::{Change, ChangeFilter, ListedChange, Registry, parts_taken_back};
use fileshed_types::Error;
use fileshed_zones::store::Store;
use fileshed_zones::tenant::ZoneRoots;

use crate::judge::range;

/// The commits of changes of one zone.
pub(crate) struct UndoneCommits {
    /// Those of each change, by its number, the last one first.
    changes: Vec<(i64, CommitRange)>,
    /// The same, joined if one follows the other.
    pub(crate) joined: Vec<CommitRange>,
    /// `true` if the history was made anew since, without some of the commits.
    pub(crate) is_lossy: bool,
}

impl UndoneCommits {
    /// Looks at changes, the last one first.
    pub(crate) fn of(
        registry: &Registry,
        commits: Option<&CommitReader>,
        changes: &[ListedChange],
    ) -> Result<Self, Error> {
        let mut taken_back = match changes.last() {
            Some(ListedChange { number, change, .. }) => {
                taken_back(registry, (&change.tenant, &change.zone), *number)?
            }
            None => HashMap::new(),
        };
        let changes = changes.iter().filter_map(|row| {
            let taken_back = taken_back.remove(&row.number).unwrap_or_default();
            let range = range(row)?;
            Some((
                row.number,
                CommitRange {
                    taken_back,
                    ..range
                },
            ))
        });
        let mut changes: Vec<(i64, CommitRange)> = changes.collect();
        let ranges = changes.iter().map(|(_, range)| range.clone()).collect();
        let (joined, lost) = match commits {
            Some(commits) => commits.joined(ranges),
            None => (Vec::new(), ranges),
        };
        let lost: HashSet<&str> = lost.iter().map(|range| &*range.commit).collect();
        changes.retain(|(_, range)| !lost.contains(&*range.commit));
        Ok(Self {
            changes,
            joined,
            is_lossy: !lost.is_empty(),
        })
    }

    /// Returns the text for `undoes` of the change that a reversal of the commits becomes.
    pub(crate) fn undoes(&self, history: &History, reversal: &Reversal) -> String {
        let (numbers, ranges): (Vec<i64>, Vec<&CommitRange>) = self
            .changes
            .iter()
            .map(|(number, range)| (*number, range))
            .unzip();
        if reversal.is_whole() && ranges.iter().all(|range| range.taken_back.is_empty()) {
            return Change::undoing(&numbers, []);
        }
        // If a commit cannot be read, the next undo judges all files anew.
        let files = history.reversed_files(reversal, &ranges);
        let (mut numbers, mut parts) = (Vec::new(), Vec::new());
        for ((number, range), files) in self.changes.iter().zip(files.unwrap_or_default()) {
            if files.is_all {
                numbers.push(*number);
            }
            if !files.is_all || !range.taken_back.is_empty() {
                parts.extend(files.positions.into_iter().map(|at| (*number, at)));
            }
        }
        Change::undoing(&numbers, parts)
    }
}

/// Returns the parts of changes of a zone, from the number `oldest` on, that undos took back which left others: the
/// position of each by the number of its change.
pub(crate) fn taken_back(
    registry: &Registry,
    (tenant, zone): (&str, &str),
    oldest: i64,
) -> Result<HashMap<i64, HashSet<usize>>, Error> {
    let filter = ChangeFilter {
        tenant: Some(tenant),
        zone: Some(zone),
        after: Some(oldest),
        ..ChangeFilter::default()
    };
    let newer = registry.listed_changes(&filter, u32::MAX)?;
    Ok(parts_taken_back(&newer))
}

/// Returns the text for `undoes` of an interrupted undo of changes, the last one first, of which `commit` has what
/// it did.
pub(crate) fn interrupted(
    store: &Store,
    of: &ZoneRoots<'_>,
    changes: &[ListedChange],
    commit: &str,
) -> Result<String, Error> {
    let commits = CommitReader::open(of.base).ok();
    let undone = UndoneCommits::of(&store.registry, commits.as_ref(), changes)?;
    let undoes = store.work_on_history(of, store.clock.now(), |history| {
        // The history may have been made anew.
        let reversal = history.reversal_in(commit, &undone.joined).ok();
        Ok::<_, HistoryError>(reversal.map(|reversal| undone.undoes(history, &reversal)))
    })?;
    Ok(undoes.unwrap_or_default())
}
