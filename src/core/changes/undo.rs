//! Undo: what one answer, one change, or the last change of one path did is taken back.
//!
//! In a zone with history the commits are taken out of the files of today, by lines, and the outcome is
//! one commit. In the others each step is taken back by itself, the last one first, and what it did goes
//! into the bin. Either way the undo is a change of the list like others, so it can be undone.

mod carry_out;
mod commits;
mod others;
mod overlay;
mod steps;
mod way;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use fileshed_history::CommitReader;
use fileshed_registry::{ChangeFilter, ListedChange};
use fileshed_types::{
    Caller, Chat, Code, Error, Hint, NextCall, Repeat, ZoneAddress, ZoneName, diagnostics, random,
};
use fileshed_zones::store::Store;
use fileshed_zones::zone::{Zone, ZonePath, expect_write_scope};
use serde_json::{Value, json};

use self::carry_out::{ChangeWays, ZoneUndo};
pub use crate::judge::{change_in, range};

/// The operation, for history and logs.
pub const OPERATION: &str = "shed_undo";

/// Changes of one answer, or newer than it, that are looked at.
const MOST: u32 = 10_000;

/// Rows whose files are looked at for one answer.
pub(crate) const OF_PATH: u32 = 2_000;

/// Files that a refusal names.
const NAMED: usize = 20;

/// Files whose versions a hint compares.
const COMPARED: usize = 3;

/// The changes to take back.
#[derive(Clone, Copy, Debug)]
pub enum Undoing<'u> {
    /// Those of an answer; without an id, of the last one of the conversation that changed something.
    Answer(Option<&'u str>),
    /// One change, by its number.
    Change(i64),
    /// The last change of a path, or what the change of this number did there.
    Path(&'u Zone<'u>, &'u ZonePath, Option<i64>),
}

/// The outcome for one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoOutcome {
    /// It is as it was.
    Restored,
    /// It did not exist, and is gone.
    Removed,
    /// It got its name back.
    MovedBack,
    /// It has what it had, and what was changed since.
    Merged,
    /// It stays as it is: the reason is with it.
    Kept(KeptReason),
}

/// Why something stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptReason {
    /// Somebody changed it since, in the same place.
    Changed,
    /// Something else has the name.
    Taken,
    /// The former one was not kept.
    Gone,
    /// It is locked.
    Locked,
    /// The caller may not change it: it is another member's, or nobody may.
    Foreign,
    /// The bin, or the quota, has no room for it.
    NoRoom,
    /// The caller does not have the group any more.
    Left,
    /// The server could not do it now.
    Failed,
}

impl KeptReason {
    /// The reason that a failure is.
    fn of(error: &Error) -> Self {
        match error.code() {
            Code::FileLocked => Self::Locked,
            Code::PermissionDenied => Self::Foreign,
            Code::QuotaExceeded | Code::FileTooLarge => Self::NoRoom,
            Code::FileExists => Self::Taken,
            Code::FileNotFound | Code::NotAFile => Self::Changed,
            _ => Self::Failed,
        }
    }

    /// Returns the reason in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Changed => "was changed since",
            Self::Taken => "has something else at its path",
            Self::Gone => "was not kept",
            Self::Locked => "is locked",
            Self::Foreign => "is not yours to change",
            Self::NoRoom => "has no room in the bin or the quota",
            Self::Left => "is in a group that is not yours any more",
            Self::Failed => "could not be put back now",
        }
    }
}

/// One path of an undo.
#[derive(Clone, Debug)]
pub struct UndonePath {
    /// The zone.
    pub zone: ZoneName,
    /// The name of the group whose zone it is.
    pub group: Option<String>,
    /// The path.
    pub path: ZonePath,
    /// The outcome for it.
    pub outcome: UndoOutcome,
    /// The version before, as `shed_diff` reads it, if the path stays as it is and there is one.
    pub version: Option<String>,
}

/// The result of an undo.
#[derive(Clone, Debug)]
pub struct Undone {
    /// The id of the undo: an answer that can be undone. `None` if nothing was done.
    pub id: Option<String>,
    /// The answer whose changes were taken back.
    pub answer: String,
    /// Each path.
    pub paths: Vec<UndonePath>,
}

/// The changes of one zone that are taken back, the last one first.
struct ZoneChanges {
    caller: Caller,
    zone: ZoneName,
    group: Option<String>,
    changes: Vec<ListedChange>,
}

/// Changes of one zone that are taken back before those of others. Zones without history take turns, so that a file
/// that moved between them is where the next one expects it.
struct UndoPart {
    /// The position of the zone.
    zone: usize,
    /// The number of the last change.
    last: Option<i64>,
    /// The ways back from each change, in a zone without history.
    ways: Vec<ChangeWays>,
    /// The outcome for each path.
    paths: Vec<UndonePath>,
}

/// The extent of an undo.
#[derive(Clone, Copy, Debug, Default)]
pub struct UndoOptions {
    /// Only says what would be done.
    pub dry_run: bool,
    /// Takes back the rest if some files have to stay.
    pub partial: bool,
}

/// Takes changes back, in all zones of the caller. If something stands in the way, nothing is done, unless
/// `partial` allows the rest. A failure that only shows after a part was done is named beside that part.
pub fn undo(
    store: &Store,
    caller: &Caller,
    what: Undoing<'_>,
    options: UndoOptions,
) -> Result<Undone, Error> {
    let (only, number) = match what {
        Undoing::Path(_, path, number) => (Some(path), number),
        _ => (None, None),
    };
    let id = format!("undo-{:08x}", u32::from_be_bytes(random::bytes()?));
    let mut before = None;
    let (answer, (zones, parts), mut paths) = loop {
        let changes = chosen(store, caller, what, before)?;
        before = changes.last().map(|row| row.number);
        let answer = changes[0].change.answer.clone();
        let zones = by_zone(store, caller, changes, &id)?;
        let parts = judge(store, &zones, only)?;
        let paths = parts.iter().flat_map(|part| part.paths.clone());
        let paths: Vec<UndonePath> = paths.collect();
        // Of a path, the last change of which something is left.
        if !paths.is_empty() || only.is_none() {
            break (answer, (zones, parts), paths);
        }
        if number.is_some() {
            return Err(UndoError::Undone { answer }.into());
        }
    };
    let refusal = UndoError::of(&paths).filter(|_| !options.partial && !options.dry_run);
    if let Some(refusal) = refusal {
        return Err(refusal.into());
    }
    let is_stuck = !paths.is_empty() && paths.iter().all(UndonePath::is_kept);
    let id = if options.dry_run || is_stuck {
        None
    } else {
        expect_write_scope(caller)?;
        paths = take_back(store, (&zones, &parts), only, options)?;
        paths.iter().any(|path| !path.is_kept()).then_some(id)
    };
    // Of a path that several changes touched, the last outcome counts.
    let mut named = HashSet::new();
    paths.reverse();
    paths.retain(|path| named.insert((path.zone, path.group.clone(), path.path.clone())));
    paths.reverse();
    Ok(Undone { id, answer, paths })
}

impl UndonePath {
    /// Returns `true` if it stays as it is.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        matches!(self.outcome, UndoOutcome::Kept(_))
    }
}

/// Returns the changes that are meant, the last one first; there is at least one. Of a path, only changes
/// before the number `before`.
fn chosen(
    store: &Store,
    caller: &Caller,
    what: Undoing<'_>,
    before: Option<i64>,
) -> Result<Vec<ListedChange>, Error> {
    let registry = &store.registry;
    let actor = store.tenant_key(caller)?;
    let own = ChangeFilter {
        actor: Some(&actor),
        ..ChangeFilter::default()
    };
    let mut changes = match what {
        Undoing::Change(number) => {
            let change = registry.change(number)?.filter(|row| {
                let tenant = &row.change.tenant;
                let group = tenant.strip_prefix("groups/");
                *tenant == actor
                    || group.is_some_and(|id| store.group_zone(caller, Some(id)).is_ok())
            });
            change.into_iter().collect()
        }
        Undoing::Answer(Some(answer)) => {
            let answer = Some(answer);
            registry.listed_changes(&ChangeFilter { answer, ..own }, MOST)?
        }
        Undoing::Answer(None) => {
            let chat = Some(caller.chat.as_str());
            let own = ChangeFilter { chat, ..own };
            let mut last = None;
            registry.visit_changes(&own, MOST, |row| -> Result<bool, Error> {
                let stands = row.undone_by.is_none() && row.change.undoes.is_none();
                last = stands.then_some(row.change.answer);
                Ok(!stands)
            })?;
            match last.as_deref() {
                Some(answer) => {
                    let answer = Some(answer);
                    registry.listed_changes(&ChangeFilter { answer, ..own }, MOST)?
                }
                None => Vec::new(),
            }
        }
        Undoing::Path(zone, path, Some(number)) => {
            let commits = CommitReader::open(&zone.base).ok();
            let row = change_in(zone, number)?;
            let row = row.filter(|row| has_touched(row, path, commits.as_ref()));
            row.into_iter().collect()
        }
        Undoing::Path(zone, path, None) => last_of_path(zone, path, before)?.into_iter().collect(),
    };
    if let Some(row) = changes.first().filter(|row| row.undone_by.is_some())
        && changes.iter().all(|row| row.undone_by.is_some())
    {
        let answer = row.change.answer.clone();
        return Err(UndoError::Undone { answer }.into());
    }
    changes.retain(|row| row.undone_by.is_none());
    if changes.is_empty() {
        return Err(match what {
            Undoing::Path(zone, path, _) => {
                let group = zone.group().map(|group| group.name.as_str());
                let whole = ZoneAddress {
                    zone: zone.name,
                    group,
                    path: ".",
                };
                UndoError::NoPath {
                    zone: whole.to_string(),
                    path: path.clone(),
                }
            }
            _ => UndoError::Nothing,
        }
        .into());
    }
    Ok(changes)
}

/// Returns the last change of a path that was not taken back.
fn last_of_path(
    zone: &Zone<'_>,
    path: &ZonePath,
    before: Option<i64>,
) -> Result<Option<ListedChange>, Error> {
    let filter = ChangeFilter {
        tenant: Some(&zone.tenant.key),
        zone: Some(zone.name.as_str()),
        before,
        ..ChangeFilter::default()
    };
    let chat = zone.caller.chat.as_str();
    let commits = CommitReader::open(&zone.base).ok();
    let mut last = None;
    let visit = |row: ListedChange| -> Result<bool, Error> {
        let is_of_chat = zone.name != ZoneName::Uploads || row.change.chat == chat;
        if row.undone_by.is_some() || row.change.undoes.is_some() || !is_of_chat {
            return Ok(true);
        }
        let touches = has_touched(&row, path, commits.as_ref());
        last = touches.then_some(row);
        Ok(!touches)
    };
    zone.store.registry.visit_changes(&filter, OF_PATH, visit)?;
    Ok(last)
}

/// Returns `true` if a change did something at a path, or below it.
fn has_touched(row: &ListedChange, path: &ZonePath, commits: Option<&CommitReader>) -> bool {
    if let Some(range) = range(row) {
        // The history may have been made anew.
        let changed = commits.and_then(|commits| commits.changed_by(&range, MOST as usize).ok());
        let (changed, _) = changed.unwrap_or_default();
        return changed.iter().any(|file| file.path.is_at_or_below(path));
    }
    let steps = row.change.steps();
    let mut paths = steps
        .iter()
        .map(|step| ZonePath::found(step.path().to_owned()));
    paths.any(|changed| changed.is_at_or_below(path))
}

/// Returns the changes by the zones that the caller has; those of others do not exist.
fn by_zone(
    store: &Store,
    caller: &Caller,
    changes: Vec<ListedChange>,
    id: &str,
) -> Result<Vec<ZoneChanges>, Error> {
    let own = store.tenant_key(caller)?;
    let mut zones: BTreeMap<(String, String, String), ZoneChanges> = BTreeMap::new();
    for row in changes {
        let change = &row.change;
        let zone = ZoneName::parse(&change.zone)?;
        let group = change.tenant.strip_prefix("groups/").map(str::to_owned);
        if group.is_none() && change.tenant != own {
            return Err(UndoError::Nothing.into());
        }
        // Each conversation has uploads of its own.
        let chat = match zone {
            ZoneName::Uploads => Chat::new(&change.chat),
            _ => caller.chat.clone(),
        };
        let key = (
            change.tenant.clone(),
            change.zone.clone(),
            chat.as_str().to_owned(),
        );
        let of_zone = zones.entry(key).or_insert_with(|| ZoneChanges {
            caller: Caller {
                chat,
                message: Some(id.to_owned()),
                ..caller.clone()
            },
            zone,
            group,
            changes: Vec::new(),
        });
        of_zone.changes.push(row);
    }
    let mut zones: Vec<ZoneChanges> = zones.into_values().collect();
    for of_zone in &mut zones {
        let numbers = of_zone.changes.iter().map(|row| row.number.to_string());
        // In a zone without history each step is a change by itself.
        let is_one = of_zone.zone.is_versioned();
        of_zone.caller.undoes = is_one.then(|| numbers.collect::<Vec<_>>().join(","));
    }
    Ok(zones)
}

/// Opens the zones; `None` for those that the caller does not have any more.
fn open<'s>(store: &'s Store, zones: &'s [ZoneChanges]) -> Result<Vec<Option<Zone<'s>>>, Error> {
    zones.iter().map(|zone| zone.open(store)).collect()
}

/// Finds what becomes of each path. The part with the last change comes first. Changes nothing.
fn judge(
    store: &Store,
    zones: &[ZoneChanges],
    only: Option<&ZonePath>,
) -> Result<Vec<UndoPart>, Error> {
    let opened = open(store, zones)?;
    let (mut parts, mut by_step) = (Vec::new(), Vec::new());
    for (at, (of_zone, zone)) in zones.iter().zip(&opened).enumerate() {
        let paths = match zone {
            None => vec![of_zone.as_it_is(KeptReason::Left)],
            Some(zone) if of_zone.zone.is_versioned() => {
                zone.expect_writable()?;
                commits::judge(zone, &of_zone.changes, only)?
            }
            Some(zone) => {
                by_step.push((at, zone, &*of_zone.changes));
                continue;
            }
        };
        let last = of_zone.changes.iter().map(|row| row.number).max();
        parts.push(UndoPart {
            zone: at,
            last,
            ways: Vec::new(),
            paths,
        });
    }
    for (at, ways) in steps::judge(&by_step, only)? {
        let Some(zone) = &opened[at] else { continue };
        let paths = ways.outcomes(zone);
        match parts.last_mut().filter(|part| part.zone == at) {
            Some(part) => {
                part.ways.push(ways);
                part.paths.extend(paths);
            }
            None => parts.push(UndoPart {
                zone: at,
                last: Some(ways.number),
                ways: vec![ways],
                paths,
            }),
        }
    }
    parts.sort_by_key(|part| Reverse(part.last));
    Ok(parts)
}

/// Takes the parts back, in their order; returns the outcome for each path.
fn take_back(
    store: &Store,
    (zones, parts): (&[ZoneChanges], &[UndoPart]),
    only: Option<&ZonePath>,
    options: UndoOptions,
) -> Result<Vec<UndonePath>, Error> {
    let opened = open(store, zones)?;
    let undos = opened.iter().map(|zone| zone.as_ref().map(ZoneUndo::of));
    let mut undos: Vec<Option<ZoneUndo<'_>>> = undos.collect();
    let (mut paths, mut failed) = (Vec::new(), HashSet::new());
    for part in parts {
        let of_zone = &zones[part.zone];
        let done = match &mut undos[part.zone] {
            _ if failed.contains(&part.zone) => continue,
            None => Ok(vec![of_zone.as_it_is(KeptReason::Left)]),
            Some(undo) if of_zone.zone.is_versioned() => {
                of_zone.take_commits_back(undo.zone(), only, options)
            }
            Some(undo) => undo.carry_out(&part.ways),
        };
        match done {
            Ok(outcomes) => paths.extend(outcomes),
            // The answer has to name the id by which the other zones are undone.
            Err(error) if paths.iter().any(|path: &UndonePath| !path.is_kept()) => {
                tracing::warn!(%error, "a zone is not taken back");
                paths.push(of_zone.as_it_is(KeptReason::of(&error)));
                failed.insert(part.zone);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(paths)
}

impl ZoneChanges {
    /// Opens the zone; `None` if it is of a group that the caller does not have any more.
    fn open<'s>(&'s self, store: &'s Store) -> Result<Option<Zone<'s>>, Error> {
        match store.open_zone(&self.caller, self.zone, self.group.as_deref()) {
            Err(error) if error.code() == Code::GroupNotFound => Ok(None),
            opened => Ok(Some(opened?.made()?)),
        }
    }

    /// Takes the changes of a zone with history back.
    fn take_commits_back(
        &self,
        zone: &Zone<'_>,
        only: Option<&ZonePath>,
        options: UndoOptions,
    ) -> Result<Vec<UndonePath>, Error> {
        zone.expect_writable()?;
        let outcomes = commits::take_back(zone, &self.changes, only, options)?;
        if outcomes.is_empty() {
            let numbers: Vec<i64> = self.changes.iter().map(|row| row.number).collect();
            zone.store.registry.mark_undone(&numbers)?;
        }
        Ok(outcomes)
    }

    /// The outcome for a zone that stays as it is.
    fn as_it_is(&self, reason: KeptReason) -> UndonePath {
        UndonePath {
            zone: self.zone,
            group: self.group.clone(),
            path: ZonePath::root(),
            outcome: UndoOutcome::Kept(reason),
            version: None,
        }
    }
}

impl UndonePath {
    fn of(zone: &Zone<'_>, path: ZonePath, outcome: UndoOutcome) -> Self {
        Self {
            zone: zone.name,
            group: zone.group().map(|group| group.name.clone()),
            path,
            outcome,
            version: None,
        }
    }

    /// Returns its address.
    #[must_use]
    pub fn address(&self) -> String {
        let (group, path) = (self.group.as_deref(), self.path.display());
        let zone = self.zone;
        ZoneAddress { zone, group, path }.to_string()
    }

    /// Returns the reason why it stays, in words; empty if it does not.
    fn reason(&self) -> &'static str {
        match self.outcome {
            UndoOutcome::Kept(reason) => reason.describe(),
            _ => "",
        }
    }

    /// Returns the call that shows the version before beside the present one.
    fn comparison(&self) -> Option<NextCall> {
        let version = self.version.as_deref()?;
        let call = match self.group.as_deref() {
            Some(group) => NextCall::new("shed_diff")
                .with("zone", "group")
                .with("group", group),
            None => NextCall::new("shed_diff").with("zone", self.zone.as_str()),
        };
        Some(
            call.with("path", self.path.display())
                .with("version", version),
        )
    }

    fn details(&self) -> Value {
        let mut details = json!({ "path": self.address(), "reason": self.reason() });
        if let Some(version) = &self.version {
            details["version"] = version.as_str().into();
        }
        details
    }
}

/// Adds to a hint the calls that show both versions of files that stay, of the first ones.
#[must_use]
pub fn compared(hint: Hint, kept: &[&UndonePath]) -> Hint {
    let calls = kept.iter().filter_map(|path| path.comparison());
    let mut calls = calls.take(COMPARED).peekable();
    if calls.peek().is_none() {
        return hint;
    }
    let hint = calls.fold(hint, |hint, call| {
        let said = " shows a version before (-) and the present one (+)";
        hint.or("").call(call).say(said)
    });
    hint.instead("shed_history with its path and diff shows the versions of a file")
}

impl UndoError {
    /// The refusal of an undo that would leave some of these as they are; `None` if it leaves none.
    fn of(paths: &[UndonePath]) -> Option<Self> {
        let kept = paths.iter().filter(|path| path.is_kept());
        let count = kept.clone().count();
        (count > 0).then(|| Self::Conflicts {
            paths: kept.take(NAMED).cloned().collect(),
            count,
        })
    }
}

/// Returns the words for files that stay.
fn named(paths: &[UndonePath]) -> String {
    let named = paths.iter();
    let named = named.map(|path| format!("`{}` {}", path.address(), path.reason()));
    named.collect::<Vec<_>>().join(", ")
}

/// Returns the code of a refusal that names these.
fn code_of(paths: &[UndonePath]) -> Code {
    let is_for = |reason| move |path: &UndonePath| path.outcome == UndoOutcome::Kept(reason);
    if paths.iter().any(is_for(KeptReason::Locked)) {
        Code::FileLocked
    } else if paths.iter().all(is_for(KeptReason::Foreign)) {
        Code::PermissionDenied
    } else if paths.iter().all(is_for(KeptReason::Gone)) {
        Code::FileNotFound
    } else {
        Code::FileExists
    }
}

diagnostics! {
    /// Changes that are not taken back.
    #[derive(Debug, thiserror::Error)]
    pub enum UndoError {
        /// There is no such change.
        #[error("no change of yours is meant: none was made, it is older than the list, or it was taken back")]
        Nothing => {
            code: FileNotFound,
            hint: Hint::new("list the changes with ").call(NextCall::new("shed_history")),
        },
        /// The path has no change in the list.
        #[error("the list has no change of `{path}` in `{zone}`")]
        NoPath {
            /// The address of the zone.
            zone: String = "storage".to_owned(),
            /// The path.
            path: ZonePath,
        } => {
            code: FileNotFound,
            hint: Hint::new("list the changes of the zone with ")
                .call(NextCall::new("shed_history").with("path", zone.as_str())),
            details: { "path": path.display() },
        },
        /// It was undone before.
        #[error("the changes of `{answer}` were taken back already")]
        Undone {
            /// The answer.
            answer: String,
        } => {
            code: FileExists,
            hint: Hint::new("list the changes with ").call(NextCall::new("shed_history"))
                .say("; an undo is undone by its own id"),
            details: { "answer": answer },
        },
        /// Some files cannot be put back.
        #[error("{count} of the files cannot be put back: {}", named(paths))]
        Conflicts {
            /// Some of them.
            paths: Vec<UndonePath> = vec![UndonePath {
                zone: ZoneName::Storage,
                group: None,
                path: ZonePath::found("notes.md".to_owned()),
                outcome: UndoOutcome::Kept(KeptReason::Changed),
                version: Some("12".to_owned()),
            }],
            /// Their number.
            count: usize = 1,
        } => {
            code: code_of(paths),
            hint: compared(
                Hint::from(Repeat::with("partial", true))
                    .say(" to take back everything else; these stay as they are"),
                &paths.iter().collect::<Vec<_>>(),
            ),
            details: {
                "conflicts": paths.iter().map(UndonePath::details).collect::<Vec<_>>(),
                "count": count
            },
        },
    }
}
