//! Steps of a zone without history, taken back one by one.

use std::collections::{BTreeMap, HashMap, HashSet};

use fileshed_history::merge_texts;
use fileshed_registry::{BinRow, Change, ChangeFilter, ListedChange, Step};
use fileshed_storage::{ContentState, DiskError, Entry, Kind};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Caller, Code, Error, ZoneName};
use fileshed_zones::content_digest::sha256_between;
use fileshed_zones::zone::{Zone, ZonePath};
use sha2::Digest as _;

use super::way::{Way, back_to, swap_together};
use super::{KeptReason, MOST, UndoOutcome, UndonePath};

/// The largest file that is merged by lines, in bytes.
const LARGEST_MERGED: u64 = 8 * MEBIBYTE;

/// Steps that are taken back in one change.
const MOST_TOGETHER: usize = 256;

/// Takes the changes back, the last one first, or only says what would be done.
pub(super) fn take_back(
    zone: &Zone<'_>,
    changes: &[ListedChange],
    only: Option<&ZonePath>,
    dry_run: bool,
) -> Result<Vec<UndonePath>, Error> {
    let mut plan = UndoPlan::of(zone, changes)?;
    let mut outcomes = Vec::new();
    // Changes that only wrote over files are taken back together, as long as each has paths of its own.
    let (mut together, mut paths) = (Vec::new(), HashSet::new());
    for row in changes {
        let steps = row.change.steps();
        let is_apart =
            |step: &Step| matches!(step, Step::Replaced { .. }) && !paths.contains(step.path());
        if !steps.iter().all(is_apart) || paths.len() + steps.len() > MOST_TOGETHER {
            paths.clear();
            outcomes.extend(plan.swap_together(&std::mem::take(&mut together))?);
        }
        let ways = plan.judge(row, steps, only)?;
        if !dry_run && ways.are_swaps() && ways.steps.len() <= MOST_TOGETHER {
            paths.extend(ways.steps.iter().map(|step| step.path().to_owned()));
            together.push(ways);
            continue;
        }
        outcomes.extend(plan.swap_together(&std::mem::take(&mut together))?);
        outcomes.extend(plan.carry_out(&ways, dry_run)?);
    }
    outcomes.extend(plan.swap_together(&together)?);
    Ok(outcomes)
}

/// The ways back from one change.
struct ChangeWays {
    /// Its number.
    number: i64,
    steps: Vec<Step>,
    /// `true` if these ways take all of it back that was not taken back before.
    is_all: bool,
    /// The ways, each with the position of its step, and the state of the file when it was judged.
    ways: Vec<(usize, Way, Option<ContentState>)>,
}

impl ChangeWays {
    /// Returns `true` if each way gives another file its former content.
    fn are_swaps(&self) -> bool {
        let mut paths = HashSet::new();
        let is_swap = |way: &Way| {
            matches!(way, Way::Swap(..)) && way.places().all(|path| paths.insert(path.clone()))
        };
        !self.ways.is_empty() && self.ways.iter().map(|(_, way, _)| way).all(is_swap)
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

/// Knowledge about the zone while steps are judged.
struct UndoPlan<'p> {
    zone: &'p Zone<'p>,
    /// Steps that an undo took back which left others of their change: its number and the position of each.
    done: HashSet<(i64, usize)>,
    /// Steps of changes that stay, by path: the number of the change with each.
    others: BTreeMap<String, Vec<(i64, Step)>>,
    /// Steps of the changes that are taken back, by path, the last one first: the number of the change with
    /// each, and `true` if it is all that the change did.
    own: HashMap<String, Vec<(i64, Step, bool)>>,
    /// Paths that later steps leave as the next step left them, with the number of the change of the last one.
    settled: HashMap<String, i64>,
    /// Paths out of which a later step cuts its addition, but not what others added since.
    shortened: HashSet<String>,
    /// Paths at which one merge takes back several steps, with the number of the oldest change of them.
    merged: HashMap<String, i64>,
    /// Changes that are marked as taken back by the steps of others.
    marked: HashSet<i64>,
    /// Paths of the steps of the present change that were judged.
    touched: HashSet<String>,
    /// Those of them that another step of it changes before.
    chained: HashSet<String>,
}

/// The path of a step.
struct StepPath {
    path: ZonePath,
    /// The entry that is there now.
    there: Option<Entry>,
    /// `true` if later steps leave there what this one left.
    is_settled: bool,
}

impl StepPath {
    /// Returns `true` if edits of others stay there, which the steps before must not pass over.
    fn keeps_more(&self, way: &Way) -> bool {
        match (way, &self.there) {
            (Way::Rewrite(..), _) => true,
            (Way::Shorten(_, _, after), Some(there)) => !self.is_settled && there.size() > *after,
            _ => false,
        }
    }
}

/// Steps at one path that one merge takes back.
struct Chain {
    /// The file before the oldest of them.
    kept: BinRow,
    /// The number of the oldest change of them.
    oldest: i64,
    /// The older changes that did nothing else.
    whole: Vec<i64>,
}

impl<'p> UndoPlan<'p> {
    fn of(zone: &'p Zone<'p>, changes: &[ListedChange]) -> Result<Self, Error> {
        let oldest = changes.iter().map(|row| row.number).min();
        let filter = ChangeFilter {
            tenant: Some(&zone.tenant.key),
            zone: Some(zone.name.as_str()),
            after: oldest,
            ..ChangeFilter::default()
        };
        let undone: HashSet<i64> = changes.iter().map(|row| row.number).collect();
        let mut own: HashMap<String, Vec<(i64, Step, bool)>> = HashMap::new();
        let mut rows = zone.store.registry.listed_changes(&filter, MOST)?;
        let taken_back = rows.iter().filter(|row| row.undone_by.is_none());
        let done: HashSet<(i64, usize)> = taken_back.flat_map(|row| row.change.parts()).collect();
        for row in changes {
            let steps = row.change.steps();
            let is_all = steps.len() == 1;
            for (at, step) in steps.into_iter().enumerate().rev() {
                if done.contains(&(row.number, at)) {
                    continue;
                }
                let path = step.path().to_owned();
                own.entry(path)
                    .or_default()
                    .push((row.number, step, is_all));
            }
        }
        let mut others: BTreeMap<String, Vec<(i64, Step)>> = BTreeMap::new();
        rows.retain(|row| {
            // A change and its undo are nothing together.
            let stands = row.undone_by.is_none() && row.change.undoes.is_none();
            let is_of_chat =
                zone.name != ZoneName::Uploads || row.change.chat == zone.caller.chat.as_str();
            stands && is_of_chat && !undone.contains(&row.number)
        });
        for row in rows.iter().rev() {
            for (at, step) in row.change.steps().into_iter().enumerate() {
                if done.contains(&(row.number, at)) {
                    continue;
                }
                let path = step.path().to_owned();
                others.entry(path).or_default().push((row.number, step));
            }
        }
        Ok(Self {
            zone,
            done,
            others,
            own,
            settled: HashMap::new(),
            shortened: HashSet::new(),
            merged: HashMap::new(),
            marked: HashSet::new(),
            touched: HashSet::new(),
            chained: HashSet::new(),
        })
    }

    /// Returns the ways back from a change.
    fn judge(
        &mut self,
        row: &ListedChange,
        steps: Vec<Step>,
        only: Option<&ZonePath>,
    ) -> Result<ChangeWays, Error> {
        self.touched.clear();
        self.chained.clear();
        let (mut ways, mut is_all) = (Vec::new(), true);
        for (at, step) in steps.iter().enumerate().rev() {
            if self.done.contains(&(row.number, at)) {
                continue;
            }
            if only.is_some_and(|only| step.path() != only.as_str()) {
                is_all = false;
                continue;
            }
            if let Some(way) = self.way(row, step)? {
                let (way, seen) = self.locked(way)?;
                ways.push((at, way, seen));
            }
        }
        let number = row.number;
        Ok(ChangeWays {
            number,
            steps,
            is_all,
            ways,
        })
    }

    /// Takes changes back that only wrote over files, as one change; if that is not possible, one after the
    /// other.
    fn swap_together(&mut self, changes: &[ChangeWays]) -> Result<Vec<UndonePath>, Error> {
        let zone = self.zone;
        let whole = changes.iter().filter(|ways| ways.is_all);
        let numbers: Vec<i64> = whole.map(|ways| ways.number).collect();
        let parts = changes.iter().filter(|ways| ways.steps.len() > 1);
        let parts = parts.flat_map(|ways| ways.ways.iter().map(|(at, ..)| (ways.number, *at)));
        let caller = Caller {
            undoes: Some(Change::undoing(&numbers, parts)),
            ..zone.caller.clone()
        };
        let swaps = changes.iter().flat_map(|ways| &ways.ways);
        let swaps = swaps.map(|(_, way, seen)| (way, *seen)).collect::<Vec<_>>();
        if swaps.len() > 1 {
            let done = zone
                .store
                .zone_as_it_is(&caller, zone.name)
                .and_then(|zone| swap_together(&zone.made()?, &swaps));
            match done {
                Ok(()) => {
                    self.marked.extend(numbers);
                    let outcomes = changes.iter().flat_map(|ways| {
                        ways.ways.iter().map(|(_, way, _)| {
                            let (path, outcome) = way.outcome();
                            ways.outcome(zone, path, outcome)
                        })
                    });
                    return Ok(outcomes.collect());
                }
                Err(error) => tracing::debug!(%error, "files are not swapped together"),
            }
        }
        let mut outcomes = Vec::new();
        for ways in changes {
            outcomes.extend(self.carry_out(ways, false)?);
        }
        Ok(outcomes)
    }

    /// Takes a change back step by step, or only says what would be done.
    fn carry_out(&mut self, ways: &ChangeWays, dry_run: bool) -> Result<Vec<UndonePath>, Error> {
        let zone = self.zone;
        let mut is_whole = ways.is_all;
        let (mut outcomes, mut failed) = (Vec::new(), HashSet::new());
        let last = ways.ways.last().map(|(at, ..)| *at);
        for (at, way, seen) in &ways.ways {
            let (path, mut outcome) = way.outcome();
            let is_stuck = way.places().any(|path| failed.contains(path));
            if is_stuck {
                outcome = UndoOutcome::Kept(KeptReason::Changed);
            } else if !dry_run && !matches!(way, Way::Stay(..)) {
                // Each step is a change by itself: the last one marks the change, if all are taken back.
                let marks = is_whole && last == Some(*at);
                let mut numbers = way.older().to_vec();
                numbers.extend(marks.then_some(ways.number));
                let part = (ways.steps.len() > 1).then_some((ways.number, *at));
                let caller = Caller {
                    undoes: Some(Change::undoing(&numbers, part)),
                    ..zone.caller.clone()
                };
                let done = zone
                    .store
                    .zone_as_it_is(&caller, zone.name)
                    .and_then(|zone| way.go(&zone.made()?, *seen));
                match done {
                    Ok(()) => self.marked.extend(numbers),
                    Err(error) => {
                        tracing::warn!(%error, "a step is not taken back");
                        outcome = UndoOutcome::Kept(KeptReason::of(&error));
                        self.unsettle(way);
                        failed.extend(way.places());
                    }
                }
            }
            is_whole &= !matches!(outcome, UndoOutcome::Kept(_));
            outcomes.push(ways.outcome(zone, path, outcome));
        }
        let number = ways.number;
        if !dry_run && ways.is_all && ways.ways.is_empty() && !self.marked.contains(&number) {
            zone.store.registry.mark_undone(&[number], 0)?;
        }
        Ok(outcomes)
    }

    /// Returns `true` if later steps leave at a path what was there after this change.
    fn is_settled(&self, row: &ListedChange, path: &str) -> bool {
        let settled = self.settled.get(path);
        settled.is_some_and(|by| !self.is_touched_between(path, row.number, *by))
    }

    /// Returns `true` if a change that stays touched a path, or what is below it, between two changes.
    fn is_touched_between(&self, path: &str, after: i64, before: i64) -> bool {
        let is_between = |(number, _): &(i64, Step)| *number > after && *number < before;
        let mut below = self.others.range(format!("{path}/")..format!("{path}0"));
        let at_path = self.others.get(path);
        at_path.is_some_and(|steps| steps.iter().any(is_between))
            || below.any(|(_, steps)| steps.iter().any(is_between))
    }

    /// Forgets what a way should have left at its paths, because they stay.
    fn unsettle(&mut self, way: &Way) {
        for path in way.places() {
            self.settled.remove(path.as_str());
            self.shortened.remove(path.as_str());
            self.merged.remove(path.as_str());
        }
    }

    /// Returns the steps before this one at its path that a merge takes back together with it; `None` if
    /// there are none of which the former file is known.
    fn chain(&self, row: &ListedChange, path: &str) -> Result<Option<Chain>, Error> {
        let own = self.own.get(path).map_or(&[][..], Vec::as_slice);
        let is_here = |(number, ..): &&(i64, Step, bool)| *number == row.number;
        if own.iter().filter(is_here).count() > 1 {
            return Ok(None);
        }
        let (mut chain, mut whole, mut newer) = (None, Vec::new(), row.number);
        for (number, step, is_all) in own.iter().filter(|(number, ..)| *number < row.number) {
            if *number == newer || self.is_touched_between(path, *number, newer) {
                break;
            }
            whole.extend(is_all.then_some(*number));
            match step {
                Step::Replaced { kept, .. } => {
                    let Some(kept) = self.in_bin(kept.as_deref())? else {
                        break;
                    };
                    let (oldest, whole) = (*number, whole.clone());
                    chain = Some(Chain {
                        kept,
                        oldest,
                        whole,
                    });
                }
                Step::Appended { .. } => {}
                _ => break,
            }
            newer = *number;
        }
        Ok(chain)
    }

    /// Returns the way by which one merge takes back a step and those before it at its path.
    fn merge_chain(&mut self, row: &ListedChange, entry: &Entry) -> Result<Option<Way>, Error> {
        let path = entry.path().as_str();
        let Some(chain) = self.chain(row, path)? else {
            return Ok(None);
        };
        let Some(content) = self.merged(row, entry, &chain.kept)? else {
            return Ok(None);
        };
        self.merged.insert(path.to_owned(), chain.oldest);
        let path = ZonePath::found(path.to_owned());
        Ok(Some(Way::Rewrite(path, content, chain.whole)))
    }

    /// Returns the way back from a step; `None` if nothing is left to do.
    fn way(&mut self, row: &ListedChange, step: &Step) -> Result<Option<Way>, Error> {
        let path = ZonePath::found(step.path().to_owned());
        let oldest = self.merged.get(step.path());
        if oldest.is_some_and(|oldest| *oldest <= row.number) {
            return Ok(None);
        }
        if path.is_root() {
            // A command changed more than its change lists.
            return Ok(Some(Way::Stay(path, KeptReason::Gone)));
        }
        let place = StepPath {
            there: self.zone.data.existing_entry(&path)?,
            is_settled: self.is_settled(row, step.path()),
            path: path.clone(),
        };
        let (there, is_settled) = (place.there.as_ref(), place.is_settled);
        let stay = |reason| Ok(Some(Way::Stay(path.clone(), reason)));
        let way = match step {
            Step::Made {
                existing,
                state,
                from_bin,
                ..
            } => match there {
                None if !is_settled => return Ok(None),
                Some(entry) if !is_settled && !self.is_unchanged(row, entry, *state)? => {
                    return stay(KeptReason::Changed);
                }
                _ => Way::Discard(path.clone(), *existing, from_bin.clone()),
            },
            Step::Replaced {
                state,
                from_bin,
                kept,
                ..
            } => self.way_of_replaced(row, &place, (*state, from_bin.as_ref()), kept.as_deref())?,
            Step::Removed { kept, .. } => {
                let Some(kept) = self.in_bin(kept.as_deref())? else {
                    return stay(KeptReason::Gone);
                };
                if there.is_some() && !is_settled {
                    return stay(KeptReason::Taken);
                }
                Way::BringBack(path.clone(), kept)
            }
            Step::Moved { from, existing, .. } => {
                let back = ZonePath::found(from.clone());
                let is_free =
                    self.is_settled(row, from) || self.zone.data.existing_entry(&back)?.is_none();
                let is_another = there.is_none() || self.is_replaced_after(row, step.path());
                if is_another && !is_settled {
                    return stay(KeptReason::Changed);
                }
                if !is_free {
                    return stay(KeptReason::Taken);
                }
                if !self.is_touched_between(step.path(), row.number, i64::MAX) {
                    self.settled.insert(from.clone(), row.number);
                }
                self.touched.insert(from.clone());
                self.chained.insert(from.clone());
                Way::Rename(path.clone(), back, *existing)
            }
            Step::Came {
                existing,
                zone,
                from,
                chat,
                ..
            } => {
                if there.is_none() && !is_settled {
                    return stay(KeptReason::Changed);
                }
                let (zone, from) = (ZoneName::parse(zone)?, ZonePath::found(from.clone()));
                let caller = back_to(self.zone, zone, chat);
                let source = self.zone.store.zone_as_it_is(&caller, zone)?;
                if source.data.existing_entry(&from)?.is_some() {
                    return stay(KeptReason::Taken);
                }
                Way::Send(path.clone(), *existing, zone, from, chat.clone())
            }
            Step::Appended {
                before,
                after,
                inode,
                digest,
                ..
            } => {
                let added = (*before, *after, *inode);
                self.way_of_appended(row, &place, added, digest.as_deref())?
            }
        };
        if matches!(way, Way::Stay(..)) {
            return Ok(Some(way));
        }
        if !place.keeps_more(&way) {
            self.settled.insert(step.path().to_owned(), row.number);
        }
        if !self.touched.insert(step.path().to_owned()) {
            self.chained.insert(step.path().to_owned());
        }
        Ok(Some(way))
    }

    /// Returns the way back from a step that put something in the place of what is in the bin now.
    fn way_of_replaced(
        &mut self,
        row: &ListedChange,
        place: &StepPath,
        (state, from_bin): (Option<ContentState>, Option<&String>),
        kept: Option<&str>,
    ) -> Result<Way, Error> {
        let (path, is_settled) = (place.path.clone(), place.is_settled);
        let Some(kept) = self.in_bin(kept)? else {
            return Ok(Way::Stay(path, KeptReason::Gone));
        };
        let Some(entry) = &place.there else {
            return Ok(if is_settled {
                Way::Swap(path, kept, from_bin.cloned())
            } else {
                Way::Stay(path, KeptReason::Changed)
            });
        };
        if is_settled || self.is_unchanged(row, entry, state)? {
            return Ok(Way::Swap(path, kept, from_bin.cloned()));
        }
        if let Some(way) = self.merge_chain(row, entry)? {
            return Ok(way);
        }
        Ok(match self.merged(row, entry, &kept)? {
            Some(content) => Way::Rewrite(path, content, Vec::new()),
            None => Way::Stay(path, KeptReason::Changed),
        })
    }

    /// Returns the way back from a step that added to a file: its size before and after, and its inode.
    fn way_of_appended(
        &mut self,
        row: &ListedChange,
        place: &StepPath,
        (before, after, inode): (u64, u64, u64),
        digest: Option<&str>,
    ) -> Result<Way, Error> {
        let (path, there) = (place.path.clone(), place.there.as_ref());
        if !place.is_settled {
            let is_there = self.has_addition(row, there, (after, inode))
                && has_digest(there, (before, after), digest)?
                && !self.is_replaced_after(row, path.as_str());
            let has_more = |entry: &&Entry| !is_there || entry.size() > after;
            if let Some(entry) = there.filter(has_more)
                && let Some(way) = self.merge_chain(row, entry)?
            {
                return Ok(way);
            }
            if !is_there {
                return Ok(Way::Stay(path, KeptReason::Changed));
            }
        }
        self.shortened.insert(path.as_str().to_owned());
        Ok(Way::Shorten(path, before, after))
    }

    /// Returns `true` if a file still has an addition of the change, after which it had this size and inode.
    fn has_addition(
        &self,
        row: &ListedChange,
        there: Option<&Entry>,
        (after, inode): (u64, u64),
    ) -> bool {
        let Some(there) = there else {
            return false;
        };
        // Each addition may have made the file anew.
        let later = self.after(row, there.path().as_str());
        let inodes = later.filter_map(|step| match step {
            Step::Appended { inode, .. } => Some(*inode),
            _ => None,
        });
        let is_same = there.stamp().inode() == inodes.last().unwrap_or(inode);
        there.size() >= after && (is_same || self.shortened.contains(there.path().as_str()))
    }

    /// Returns a way with the state of what is there now; it stays if it is locked.
    fn locked(&mut self, way: Way) -> Result<(Way, Option<ContentState>), Error> {
        let path = way.outcome().0;
        let mut stays = false;
        for place in way.places() {
            match crate::check_lock(self.zone, place) {
                Err(error) if error.code() == Code::FileLocked => stays = true,
                checked => checked?,
            }
        }
        let seen = match &way {
            Way::Discard(path, ..)
            | Way::Swap(path, ..)
            | Way::Shorten(path, ..)
            | Way::Rewrite(path, ..)
                if !self.chained.contains(path.as_str()) =>
            {
                let there = self.zone.data.existing_entry(path)?;
                there.map(|entry| entry.stamp().content())
            }
            _ => None,
        };
        let way = if stays {
            self.unsettle(&way);
            Way::Stay(path, KeptReason::Locked)
        } else {
            way
        };
        Ok((way, seen))
    }

    fn in_bin(&self, id: Option<&str>) -> Result<Option<BinRow>, Error> {
        let Some(id) = id else {
            return Ok(None);
        };
        let tenant = &self.zone.tenant.key;
        Ok(self.zone.store.registry.entry_in_bin(tenant, id)?)
    }

    /// Returns the steps at a path of changes after this one that stay.
    fn after(&self, row: &ListedChange, path: &str) -> impl Iterator<Item = &Step> {
        let steps = self.others.get(path).into_iter().flatten();
        let number = row.number;
        steps.filter_map(move |(of, step)| (*of > number).then_some(step))
    }

    fn is_replaced_after(&self, row: &ListedChange, path: &str) -> bool {
        let is_other = |step: &Step| !matches!(step, Step::Appended { .. });
        self.after(row, path).any(is_other)
    }

    /// Returns `true` if an entry is as the change left it.
    fn is_unchanged(
        &self,
        row: &ListedChange,
        entry: &Entry,
        state: Option<ContentState>,
    ) -> Result<bool, Error> {
        let path = entry.path().as_str();
        if entry.kind() != Kind::Directory {
            return Ok(match state {
                Some(state) => entry.stamp().content() == state,
                None => self.after(row, path).next().is_none(),
            });
        }
        let below = format!("{path}/");
        let mut others = self.others.iter();
        let is_touched = others.any(|(other, steps)| {
            (other == path || other.starts_with(&below))
                && steps.iter().any(|(number, _)| *number > row.number)
        });
        if is_touched {
            return Ok(false);
        }
        let mut is_older = true;
        self.zone.data.walk(entry.path(), |found| {
            let is_later = found.stat.st_mtime > row.change.changed_at;
            if is_later
                && found.kind == Kind::File
                && !self.settled.contains_key(found.path.as_str())
            {
                is_older = false;
            }
            Ok(is_older)
        })?;
        Ok(is_older)
    }

    /// Returns the text that has both what the entry in the bin had and what was changed since; `None`
    /// if that cannot be told.
    fn merged(
        &self,
        row: &ListedChange,
        entry: &Entry,
        kept: &BinRow,
    ) -> Result<Option<Vec<u8>>, Error> {
        let bin = self.zone.tenant.bin()?;
        let content = |id: &str| -> Result<Option<Vec<u8>>, Error> {
            let entry = bin.existing_entry(&ZonePath::found(id.to_owned()))?;
            let is_text =
                |entry: &Entry| entry.kind() == Kind::File && entry.size() <= LARGEST_MERGED;
            let entry = entry.filter(is_text);
            Ok(entry.map(|entry| entry.content()).transpose()?)
        };
        if entry.kind() != Kind::File || entry.size() > LARGEST_MERGED {
            return Ok(None);
        }
        let now = entry.content()?;
        // The text that the change wrote: the next one put it into the bin, or added to its end.
        let path = entry.path().as_str();
        let mut later = self.after(row, path);
        let wrote = match later.next() {
            Some(Step::Replaced { kept: Some(id), .. }) => content(id)?,
            Some(Step::Appended { before, .. }) => {
                let written_over = later.find(|step| !matches!(step, Step::Appended { .. }));
                let longer = match written_over {
                    None if !self.shortened.contains(path) => Some(now.clone()),
                    Some(Step::Replaced { kept: Some(id), .. }) => content(id)?,
                    _ => None,
                };
                longer.and_then(|longer| longer.get(..*before as usize).map(<[u8]>::to_vec))
            }
            _ => None,
        };
        let (Some(wrote), Some(former)) = (wrote, content(&kept.id)?) else {
            return Ok(None);
        };
        Ok(merge_texts(&wrote, &now, &former))
    }
}

/// Returns `true` if the bytes between these two have a digest, or if that is not known.
fn has_digest(
    there: Option<&Entry>,
    (before, after): (u64, u64),
    digest: Option<&str>,
) -> Result<bool, DiskError> {
    let (Some(there), Some(digest)) = (there, digest) else {
        return Ok(true);
    };
    let added = sha256_between(&there.open()?, before..after, there.path())?;
    Ok(hex::encode(added.finalize()) == digest)
}
