//! The judgement of the steps of a zone without history: each one's way back. Changes nothing.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use fileshed_history::{LARGEST_MERGED, MOST_MERGED, merge_texts};
use fileshed_registry::{BinRow, ChangeFilter, ListedChange, Step, parts_taken_back};
use fileshed_storage::{ContentState, DiskError, Entry, Kind};
use fileshed_types::zone::is_below;
use fileshed_types::{Code, Error, ZoneName};
use fileshed_zones::content_digest::sha256_between;
use fileshed_zones::zone::{Zone, ZonePath};
use sha2::{Digest as _, Sha256};

use super::carry_out::ChangeWays;
use super::others::OtherSteps;
use super::overlay::{ExpectedEntry, Overlay, SentEntry, cut_out, is_of};
use super::way::{Way, back_to};
use super::{KeptReason, MOST};
use crate::webdav;

/// Changes of a zone, with the position by which the zone is known.
type ChangesOf<'z> = (usize, &'z Zone<'z>, &'z [ListedChange]);

/// Finds the ways back from the changes of several zones, the last one first, whatever its zone.
pub(super) fn judge(
    zones: &[ChangesOf<'_>],
    only: Option<&ZonePath>,
) -> Result<Vec<(usize, ChangeWays)>, Error> {
    let plans = zones
        .iter()
        .map(|(_, zone, changes)| UndoPlan::of(zone, changes));
    let mut plans = plans.collect::<Result<Vec<UndoPlan<'_>>, Error>>()?;
    let rows = zones.iter().enumerate();
    let rows = rows.flat_map(|(plan, (_, _, rows))| rows.iter().map(move |row| (plan, row)));
    let mut rows: Vec<(usize, &ListedChange)> = rows.collect();
    rows.sort_by_key(|(_, row)| Reverse(row.number));
    let (mut judged, mut sent) = (Vec::new(), Vec::new());
    for (plan, row) in rows {
        let taken = taken_sources(&plans, &sent, (plan, row))?;
        let (ways, more) = plans[plan].judge(row, only, &taken)?;
        for sent in &more {
            for plan in plans.iter_mut().filter(|plan| sent.is_for(plan.zone)) {
                plan.overlay.receive(sent);
            }
        }
        sent.extend(more);
        judged.push((zones[plan].0, ways));
    }
    Ok(judged)
}

/// Returns the positions of the steps of a change that brought something from a place where something else will
/// be. `sent` goes to other zones.
fn taken_sources(
    plans: &[UndoPlan<'_>],
    sent: &[SentEntry],
    (plan, row): (usize, &ListedChange),
) -> Result<HashSet<usize>, Error> {
    let mut taken = HashSet::new();
    for (at, step) in row.change.steps().into_iter().enumerate() {
        let Step::Came {
            zone, from, chat, ..
        } = step
        else {
            continue;
        };
        let (zone, from) = (ZoneName::parse(&zone)?, ZonePath::found(from));
        let mut others = plans.iter();
        let is_there = if let Some(plan) = others.find(|plan| is_of(plan.zone, zone, &chat)) {
            plan.overlay.at(&from)?.is_some()
        } else {
            let here = plans[plan].zone;
            let caller = back_to(here, zone, &chat);
            let source = here.store.zone_as_it_is(&caller, zone)?;
            let is_sent = sent.iter().any(|sent| sent.is_at(&source, &from));
            is_sent || source.data.existing_entry(&from)?.is_some()
        };
        if is_there {
            taken.insert(at);
        }
    }
    Ok(taken)
}

/// Knowledge about the zone while steps are judged.
struct UndoPlan<'p> {
    zone: &'p Zone<'p>,
    /// The zone after the ways that were found.
    overlay: Overlay<'p>,
    /// Entries of the bin that the steps put there, by id.
    in_bin: HashMap<String, BinRow>,
    /// `true` if something in the zone is locked.
    has_locks: bool,
    /// Bytes of the files that are merged.
    merging: usize,
    /// Steps that undos took back which left others of their change: the positions by its number.
    done: HashMap<i64, HashSet<usize>>,
    others: OtherSteps,
    /// Steps of the changes that are taken back, by path, the last one first: the number of the change with
    /// each, and `true` if it is all that the change did.
    own: HashMap<String, Vec<(i64, Step, bool)>>,
    /// Paths that later steps leave as the next step left them, with the number of the change of the last one.
    settled: HashMap<String, i64>,
    /// Paths out of which a later step cuts its addition, but not what others added since.
    shortened: HashSet<String>,
    /// Paths at which one merge takes back several steps, with the number of the oldest change of them.
    merged: HashMap<String, i64>,
}

/// The path of a step.
struct StepPath {
    path: ZonePath,
    /// The entry that is there once later steps are taken back.
    there: Option<ExpectedEntry>,
    /// `true` if later steps leave there what this one left.
    is_settled: bool,
}

impl StepPath {
    /// Returns `true` if edits of others stay there, which the steps before must not pass over. `has_edits` if
    /// others changed it since.
    fn keeps_more(&self, way: &Way, has_edits: bool) -> bool {
        match (way, &self.there) {
            (Way::Rewrite(..), _) => true,
            (Way::Shorten(_, _, after, _), Some(there)) => {
                !self.is_settled && (has_edits || there.size() > *after)
            }
            _ => false,
        }
    }
}

/// The text of a file before a step.
enum FormerText<'f> {
    /// It is in the bin.
    Kept(&'f BinRow),
    /// It is what the step left without these bytes, which have this digest if it is known.
    Without(Range<u64>, Option<&'f str>),
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
        let since = |number: Option<i64>| {
            let filter = ChangeFilter {
                tenant: Some(&zone.tenant.key),
                after: number,
                ..ChangeFilter::default()
            };
            zone.store.registry.listed_changes(&filter, MOST)
        };
        let undone: HashSet<i64> = changes.iter().map(|row| row.number).collect();
        let mut own: HashMap<String, Vec<(i64, Step, bool)>> = HashMap::new();
        let mut rows = since(oldest)?;
        let numbers = rows.iter().flat_map(|row| row.change.undone());
        let first = numbers.map(|(number, _)| number - 1).min();
        // The steps of older changes tell which paths their undos are about.
        if first.is_some() && first < oldest {
            rows = since(first)?;
        }
        let done = parts_taken_back(&rows);
        for row in changes {
            let (steps, done) = (row.change.steps(), done.get(&row.number));
            let is_all = steps.len() == 1;
            for (at, step) in steps.into_iter().enumerate().rev() {
                if done.is_some_and(|done| done.contains(&at)) {
                    continue;
                }
                let path = step.path().to_owned();
                own.entry(path)
                    .or_default()
                    .push((row.number, step, is_all));
            }
        }
        let kept = own
            .values()
            .flatten()
            .filter_map(|(_, step, _)| match step {
                Step::Replaced { kept, .. } | Step::Removed { kept, .. } => kept.as_deref(),
                _ => None,
            });
        let kept: Vec<&str> = kept.collect();
        let kept = zone
            .store
            .registry
            .entries_in_bin(&zone.tenant.key, &kept)?;
        Ok(Self {
            zone,
            overlay: Overlay::over(zone)?,
            others: OtherSteps::of(zone, &rows, &undone, &done),
            in_bin: kept.into_iter().map(|row| (row.id.clone(), row)).collect(),
            has_locks: webdav::has_locks(zone)?,
            merging: 0,
            done,
            own,
            settled: HashMap::new(),
            shortened: HashSet::new(),
            merged: HashMap::new(),
        })
    }

    /// Returns the ways back from a change, and what they send to other zones. The sources of the steps `taken`
    /// have something else.
    fn judge(
        &mut self,
        row: &ListedChange,
        only: Option<&ZonePath>,
        taken: &HashSet<usize>,
    ) -> Result<(ChangeWays, Vec<SentEntry>), Error> {
        let steps = row.change.steps();
        let (mut ways, mut sent, mut is_all) = (Vec::new(), Vec::new(), true);
        for (at, step) in steps.iter().enumerate().rev() {
            let done = self.done.get(&row.number);
            if done.is_some_and(|done| done.contains(&at)) {
                continue;
            }
            let path = ZonePath::found(step.path().to_owned());
            if only.is_some_and(|only| !path.is_at_or_below(only)) {
                is_all = false;
                continue;
            }
            if let Some((way, seen)) = self.way(row, step, taken.contains(&at))? {
                let way = self.unless_stopped(way)?;
                if let Way::Rename(path, back, _) = &way {
                    self.settle_inside(row, path.as_str(), back.as_str());
                }
                sent.extend(self.overlay.sent(&way)?);
                self.overlay.take(&way);
                ways.push((at, way, seen));
            }
        }
        let number = row.number;
        let ways = ChangeWays {
            number,
            steps,
            is_all,
            ways,
        };
        Ok((ways, sent))
    }

    /// Returns `true` if later steps leave at a path what was there after this change.
    fn is_settled(&self, row: &ListedChange, path: &str) -> bool {
        let settled = self.settled.get(path);
        settled.is_some_and(|by| !self.others.are_between(path, row.number, *by))
    }

    /// Notes of what is settled in a directory that it is so by the name that the directory had before a change.
    fn settle_inside(&mut self, row: &ListedChange, path: &str, former: &str) {
        let inside = self.settled.keys();
        let inside = inside.filter(|at| is_below(at, path) && self.is_settled(row, at));
        let inside = inside.map(|at| format!("{former}{}", &at[path.len()..]));
        let inside: Vec<String> = inside.collect();
        self.settled.retain(|at, _| !is_below(at, path));
        self.settled
            .extend(inside.into_iter().map(|at| (at, row.number)));
    }

    /// Returns the steps before this one at its path that a merge takes back together with it; `None` if
    /// there are none of which the former file is known.
    fn chain(&self, row: &ListedChange, path: &str) -> Option<Chain> {
        let own = self.own.get(path).map_or(&[][..], Vec::as_slice);
        let is_here = |(number, ..): &&(i64, Step, bool)| *number == row.number;
        if own.iter().filter(is_here).count() > 1 {
            return None;
        }
        let (mut chain, mut whole, mut newer) = (None, Vec::new(), row.number);
        for (number, step, is_all) in own.iter().filter(|(number, ..)| *number < row.number) {
            if *number == newer || self.others.are_between(path, *number, newer) {
                break;
            }
            whole.extend(is_all.then_some(*number));
            match step {
                Step::Replaced { kept, .. } => {
                    let Some(kept) = self.in_bin(kept.as_deref()) else {
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
        chain
    }

    /// Returns the way by which one merge takes back a step and those before it at its path.
    fn merge_chain(
        &mut self,
        row: &ListedChange,
        path: &ZonePath,
        there: &ExpectedEntry,
    ) -> Result<Option<Way>, Error> {
        let Some(chain) = self.chain(row, path.as_str()) else {
            return Ok(None);
        };
        let former = FormerText::Kept(&chain.kept);
        let Some(content) = self.merged(row, path, there, &former)? else {
            return Ok(None);
        };
        self.merged.insert(path.as_str().to_owned(), chain.oldest);
        Ok(Some(Way::Rewrite(
            path.clone(),
            content.into(),
            chain.whole,
        )))
    }

    /// Returns the way back from a step, and the state of what it changes; `None` if nothing is left to do. `taken`
    /// if something else is where it came from.
    fn way(
        &mut self,
        row: &ListedChange,
        step: &Step,
        taken: bool,
    ) -> Result<Option<(Way, Option<ContentState>)>, Error> {
        let path = ZonePath::found(step.path().to_owned());
        let oldest = self.merged.get(step.path());
        if oldest.is_some_and(|oldest| *oldest <= row.number) {
            return Ok(None);
        }
        if path.is_root() {
            // A command changed more than its change lists.
            return Ok(Some((Way::Stay(path, KeptReason::Gone), None)));
        }
        let place = StepPath {
            there: self.overlay.at(&path)?,
            is_settled: self.is_settled(row, step.path()),
            path: path.clone(),
        };
        let (there, is_settled) = (place.there.as_ref(), place.is_settled);
        if self.is_back(row, step, there) {
            return Ok(None);
        }
        let stay = |reason| Ok(Some((Way::Stay(path.clone(), reason), None)));
        let way = match step {
            Step::Made {
                existing,
                state,
                from_bin,
                ..
            } => match there {
                None => return Ok(None),
                Some(there) if !is_settled && !self.is_unchanged(row, &path, there, *state)? => {
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
                let Some(kept) = self.in_bin(kept.as_deref()) else {
                    return stay(KeptReason::Gone);
                };
                if there.is_some() {
                    return stay(KeptReason::Taken);
                }
                Way::BringBack(path.clone(), kept)
            }
            Step::Moved { from, existing, .. } => {
                self.way_of_moved(row, &place, (from, *existing))?
            }
            Step::Came {
                existing,
                zone,
                from,
                chat,
                ..
            } => {
                let is_another = !is_settled && self.others.is_made_anew(row.number, step.path());
                if there.is_none() || is_another {
                    return stay(KeptReason::Changed);
                }
                if taken {
                    return stay(KeptReason::Taken);
                }
                let (zone, from) = (ZoneName::parse(zone)?, ZonePath::found(from.clone()));
                Way::Send(path.clone(), *existing, zone, from, chat.clone())
            }
            Step::Appended {
                before,
                after,
                inode,
                digest,
                modified,
                ..
            } => {
                let added = (*before, *after, *inode);
                self.way_of_appended(row, &place, added, (digest.as_deref(), *modified))?
            }
        };
        if matches!(way, Way::Stay(..)) {
            return Ok(Some((way, None)));
        }
        let has_edits = self.others.after(row.number, step.path()).next().is_some();
        if !place.keeps_more(&way, has_edits) {
            self.settled.insert(step.path().to_owned(), row.number);
        }
        let is_in_place = !matches!(way, Way::Rename(..) | Way::Send(..));
        // The ways before move the time of change of a directory.
        let seen = there.filter(|_| is_in_place && !self.overlay.is_touched_below(&path));
        let seen = seen.and_then(ExpectedEntry::state);
        Ok(Some((way, seen)))
    }

    /// Returns the way back from a step that gave something another name than `from`, below so many directories that
    /// were there.
    fn way_of_moved(
        &mut self,
        row: &ListedChange,
        place: &StepPath,
        (from, existing): (&str, usize),
    ) -> Result<Way, Error> {
        let (path, back) = (place.path.clone(), ZonePath::found(from.to_owned()));
        let is_another = !place.is_settled && self.is_replaced_after(row, path.as_str());
        if place.there.is_none() || is_another {
            return Ok(Way::Stay(path, KeptReason::Changed));
        }
        if self.overlay.at(&back)?.is_some() {
            return Ok(Way::Stay(path, KeptReason::Taken));
        }
        // All that is known of the name so far is about something that came there later.
        let is_stale = |at: &str| at == from || is_below(at, from);
        self.settled.retain(|at, _| !is_stale(at));
        self.shortened.retain(|at| !is_stale(at));
        if !self.others.are_between(path.as_str(), row.number, i64::MAX) {
            self.settled.insert(from.to_owned(), row.number);
        }
        Ok(Way::Rename(path, back, existing))
    }

    /// Returns `true` if another undo brought back since what a step put into the bin.
    fn is_back(&self, row: &ListedChange, step: &Step, there: Option<&ExpectedEntry>) -> bool {
        let (Step::Replaced { kept, .. } | Step::Removed { kept, .. }) = step else {
            return false;
        };
        let (Some(id), Some(now)) = (kept, there.and_then(ExpectedEntry::state)) else {
            return false;
        };
        self.in_bin(Some(id)).is_none()
            && self.others.brought_back(row.number, id, (step.path(), now))
    }

    /// Returns the way back from a step that put something in the place of what is in the bin now.
    fn way_of_replaced(
        &mut self,
        row: &ListedChange,
        place: &StepPath,
        (state, from_bin): (Option<ContentState>, Option<&String>),
        kept: Option<&str>,
    ) -> Result<Way, Error> {
        let path = place.path.clone();
        let Some(kept) = self.in_bin(kept) else {
            return Ok(Way::Stay(path, KeptReason::Gone));
        };
        let Some(there) = &place.there else {
            return Ok(if place.is_settled {
                Way::BringBack(path, kept)
            } else {
                Way::Stay(path, KeptReason::Changed)
            });
        };
        if place.is_settled || self.is_unchanged(row, &path, there, state)? {
            return Ok(Way::Swap(path, kept, from_bin.cloned()));
        }
        if let Some(way) = self.merge_chain(row, &path, there)? {
            return Ok(way);
        }
        self.merge(row, path, there, &FormerText::Kept(&kept))
    }

    /// Returns the way by which a merge takes a step back; the path stays as it is if that cannot be told.
    fn merge(
        &mut self,
        row: &ListedChange,
        path: ZonePath,
        there: &ExpectedEntry,
        former: &FormerText<'_>,
    ) -> Result<Way, Error> {
        Ok(match self.merged(row, &path, there, former)? {
            Some(content) => Way::Rewrite(path, content.into(), Vec::new()),
            None => Way::Stay(path, KeptReason::Changed),
        })
    }

    /// Returns the way back from a step that added to a file: its size before and after, and its inode.
    fn way_of_appended(
        &mut self,
        row: &ListedChange,
        place: &StepPath,
        (before, after, inode): (u64, u64, u64),
        (digest, modified): (Option<&str>, Option<i64>),
    ) -> Result<Way, Error> {
        let (path, there) = (place.path.clone(), place.there.as_ref());
        if !place.is_settled {
            let now = there.and_then(ExpectedEntry::state);
            let is_listed =
                now.is_some_and(|now| self.others.is_listed(row.number, path.as_str(), now));
            let is_there = self.has_addition(row, &path, there, (after, inode), is_listed)
                && has_digest(there, (before, after), digest)?
                && !self.is_replaced_after(row, path.as_str());
            let has_more = |there: &&ExpectedEntry| !is_there || there.size() > after;
            if let Some(there) = there.filter(has_more)
                && let Some(way) = self.merge_chain(row, &path, there)?
            {
                return Ok(way);
            }
            match there {
                _ if is_there => {}
                Some(there) => {
                    let end = (there.size().saturating_sub(after - before), there.size());
                    if is_listed
                        && digest.is_some()
                        && self.others.are_additions(row.number, path.as_str())
                        && has_digest(Some(there), end, digest)?
                    {
                        return Ok(Way::Shorten(path, end.0, end.1, None));
                    }
                    let former = FormerText::Without(before..after, digest);
                    return self.merge(row, path, there, &former);
                }
                None => return Ok(Way::Stay(path, KeptReason::Changed)),
            }
        }
        self.shortened.insert(path.as_str().to_owned());
        let is_last = there.is_some_and(|there| there.size() == after)
            && self
                .others
                .after(row.number, path.as_str())
                .next()
                .is_none();
        let modified = modified.filter(|_| place.is_settled || is_last);
        Ok(Way::Shorten(path, before, after, modified))
    }

    /// Returns `true` if a file may still have an addition of the change, after which it had this size and
    /// inode. `is_listed` if the file is as the list of changes says.
    fn has_addition(
        &self,
        row: &ListedChange,
        path: &ZonePath,
        there: Option<&ExpectedEntry>,
        (after, inode): (u64, u64),
        is_listed: bool,
    ) -> bool {
        let Some((there, source)) = there.and_then(|there| Some((there, there.source()?))) else {
            return false;
        };
        // Each addition may have made the file anew.
        let later = self.others.after(row.number, path.as_str());
        let inodes = later.filter_map(|step| match step {
            Step::Appended { inode, .. } => Some(*inode),
            _ => None,
        });
        let is_same = source.stamp().inode() == inodes.last().unwrap_or(inode);
        let is_same = is_same || is_listed || self.shortened.contains(path.as_str());
        there.size() >= after && is_same
    }

    /// Returns a way; its path stays as it is if it is locked, or would be too large.
    fn unless_stopped(&mut self, way: Way) -> Result<Way, Error> {
        let largest = self.zone.store.settings.largest_file();
        let mut stays = match &way {
            Way::Rewrite(_, content, _) if content.len() as u64 > largest => {
                Some(KeptReason::NoRoom)
            }
            _ => None,
        };
        for place in way.places().filter(|_| self.has_locks) {
            match crate::check_lock(self.zone, place) {
                Err(error) if error.code() == Code::FileLocked => stays = Some(KeptReason::Locked),
                checked => checked?,
            }
        }
        let Some(reason) = stays else {
            return Ok(way);
        };
        for path in way.places() {
            self.settled.remove(path.as_str());
            self.shortened.remove(path.as_str());
            self.merged.remove(path.as_str());
        }
        Ok(Way::Stay(way.outcome().0, reason))
    }

    fn in_bin(&self, id: Option<&str>) -> Option<BinRow> {
        self.in_bin.get(id?).cloned()
    }

    fn is_replaced_after(&self, row: &ListedChange, path: &str) -> bool {
        let is_other = |step: &Step| !matches!(step, Step::Appended { .. });
        self.others.after(row.number, path).any(is_other)
    }

    /// Returns `true` if what is at a path is as the change left it.
    fn is_unchanged(
        &self,
        row: &ListedChange,
        path: &ZonePath,
        there: &ExpectedEntry,
        state: Option<ContentState>,
    ) -> Result<bool, Error> {
        let source = self.overlay.source(path);
        let mut paths = [Some(path), source.as_ref()].into_iter().flatten();
        let mut is_touched =
            || paths.any(|path| self.others.are_between(path.as_str(), row.number, i64::MAX));
        if there.kind() != Kind::Directory {
            return Ok(match state {
                Some(left) => {
                    let left_there = (row.number, path.as_str(), left);
                    let is_put_back = |now| self.others.were_put_back(left_there, now);
                    let now = there.state();
                    now == state || now.is_some_and(is_put_back)
                }
                None => !is_touched(),
            });
        }
        let is_known = |path: &str| self.settled.contains_key(path);
        Ok(!is_touched()
            && !self
                .overlay
                .has_later(path, row.change.changed_at, is_known)?)
    }

    /// Returns the text that has both what the former one had and what was changed since; `None` if that
    /// cannot be told.
    fn merged(
        &mut self,
        row: &ListedChange,
        path: &ZonePath,
        there: &ExpectedEntry,
        former: &FormerText<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        if there.kind() != Kind::File || there.size() > LARGEST_MERGED {
            return Ok(None);
        }
        let now = there.content()?;
        let Some(wrote) = self.wrote(row, path, &now)? else {
            return Ok(None);
        };
        let former = match former {
            FormerText::Kept(kept) => self.former(&kept.id)?,
            FormerText::Without(added, digest) => {
                let mut former = wrote.clone();
                let cut = cut_out(&mut former, added);
                let is_it = |digest: &str| hex::encode(Sha256::digest(&cut)) == digest;
                digest.is_none_or(is_it).then_some(former)
            }
        };
        let Some(former) = former else {
            return Ok(None);
        };
        let merged = merge_texts(&wrote, &now, &former);
        let merged = merged.filter(|merged| self.merging + merged.len() <= MOST_MERGED);
        self.merging += merged.as_ref().map_or(0, Vec::len);
        Ok(merged)
    }

    /// Returns the text that a change wrote to a file: the next one put it into the bin, or added to its end.
    fn wrote(
        &self,
        row: &ListedChange,
        path: &ZonePath,
        now: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let mut later = self.others.after(row.number, path.as_str());
        let before = match later.next() {
            Some(Step::Replaced { kept: Some(id), .. }) => return self.former(id),
            Some(Step::Appended { before, .. }) => *before as usize,
            _ => return Ok(None),
        };
        let longer = match later.find(|step| !matches!(step, Step::Appended { .. })) {
            None if !self.shortened.contains(path.as_str()) => Some(now.to_vec()),
            Some(Step::Replaced { kept: Some(id), .. }) => self.former(id)?,
            _ => None,
        };
        Ok(longer.and_then(|longer| longer.get(..before).map(<[u8]>::to_vec)))
    }

    /// Returns the text of a file in the bin.
    fn former(&self, id: &str) -> Result<Option<Vec<u8>>, Error> {
        let is_text = |entry: &Entry| entry.kind() == Kind::File && entry.size() <= LARGEST_MERGED;
        let entry = self.overlay.in_bin(id)?.filter(is_text);
        Ok(entry.map(|entry| entry.content()).transpose()?)
    }
}

/// Returns `true` if the bytes between these two have a digest, or if that is not known.
fn has_digest(
    there: Option<&ExpectedEntry>,
    (before, after): (u64, u64),
    digest: Option<&str>,
) -> Result<bool, DiskError> {
    let source = there.and_then(ExpectedEntry::source);
    let (Some(source), Some(digest)) = (source, digest) else {
        return Ok(true);
    };
    let added = sha256_between(&source.open()?, before..after, source.path())?;
    Ok(hex::encode(added.finalize()) == digest)
}
