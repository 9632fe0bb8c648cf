//! The list of changes as its readers see it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use fileshed_history::{ChangeKind, CommitReader};
use fileshed_registry::{ChangeFilter, ListedChange, Step};
use fileshed_types::{Caller, Error, ZoneName};
use fileshed_zones::store::Store;
use fileshed_zones::zone::{Zone, ZonePath};

use crate::undo::{OF_PATH, range};
use crate::undone_commits::taken_back;

/// Files of one change that are named.
pub const NAMED: usize = 20;

/// Rows that are looked at for one answer.
const MOST: u32 = 10_000;

/// The changes that are asked for; what is `None` does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangesRequest<'l> {
    /// Those of a zone, whoever made them; else the caller's own in all zones.
    pub zone: Option<&'l Zone<'l>>,
    /// Those of this path, and below it.
    pub path: Option<&'l ZonePath>,
    /// Those made in this conversation.
    pub chat: Option<&'l str>,
    /// Those of this answer.
    pub answer: Option<&'l str>,
    /// Those at this second or after it.
    pub since: Option<i64>,
    /// Those with smaller numbers.
    pub before: Option<i64>,
    /// Those with larger numbers.
    pub after: Option<i64>,
}

/// The effect of a change on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEffect {
    /// It came into being.
    Created,
    /// Its content changed.
    Changed,
    /// It went.
    Deleted,
    /// It came from another path.
    Moved,
}

impl FileEffect {
    /// Returns the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
            Self::Moved => "moved",
        }
    }
}

/// A change of the list.
#[derive(Clone, Debug)]
pub struct ChangeEntry {
    /// The row.
    pub row: ListedChange,
    /// The zone.
    pub zone: ZoneName,
    /// The name of the group whose zone it is.
    pub group: Option<String>,
    /// `true` if the caller made it.
    pub is_own: bool,
    /// The first files that it changed.
    pub files: Vec<(ZonePath, FileEffect)>,
    /// The number of all of them.
    pub count: usize,
}

/// Returns the files of changes that undos took back which left others: the position of each by the number of its
/// change.
pub fn undone_files(
    store: &Store,
    entries: &[ChangeEntry],
) -> Result<HashMap<i64, HashSet<usize>>, Error> {
    let mut zones: HashMap<(&str, &str), i64> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.count > 1) {
        let change = &entry.row.change;
        let oldest = zones.entry((&change.tenant, &change.zone));
        let oldest = oldest.or_insert(entry.row.number);
        *oldest = entry.row.number.min(*oldest);
    }
    let mut found = HashMap::new();
    for (zone, oldest) in zones {
        found.extend(taken_back(&store.registry, zone, oldest)?);
    }
    Ok(found)
}

/// Returns the changes that the caller may see, the last one first, at most so many.
pub fn list(
    store: &Store,
    caller: &Caller,
    request: &ChangesRequest<'_>,
    most: usize,
) -> Result<Vec<ChangeEntry>, Error> {
    let own = store.tenant_key(caller)?;
    let filter = ChangeFilter {
        actor: request.zone.is_none().then_some(&*own),
        tenant: request.zone.map(|zone| &*zone.tenant.key),
        zone: request.zone.map(|zone| zone.name.as_str()),
        chat: request.chat,
        answer: request.answer,
        since: request.since,
        before: request.before,
        after: request.after,
    };
    let mut places = HashMap::new();
    let mut entries = Vec::new();
    // With a path each row is looked into.
    let rows = if request.path.is_some() {
        OF_PATH
    } else {
        MOST
    };
    let visit = |row: ListedChange| -> Result<bool, Error> {
        if entries.len() >= most {
            return Ok(false);
        }
        let key = (row.change.tenant.clone(), row.change.zone.clone());
        let place = match places.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(ChangedZone::of(store, caller, &own, &row)?),
        };
        let Some(place) = place else {
            return Ok(true);
        };
        let (mut files, count) = place.files(&row, request.path.is_some());
        if let Some(path) = request.path {
            files.retain(|(file, _)| file.is_at_or_below(path));
            if files.is_empty() {
                return Ok(true);
            }
        }
        files.truncate(NAMED);
        entries.push(ChangeEntry {
            zone: place.zone,
            group: place.group.clone(),
            is_own: row.change.actor == own,
            files,
            count,
            row,
        });
        Ok(true)
    };
    store.registry.visit_changes(&filter, rows, visit)?;
    Ok(entries)
}

/// The place of the content of a file, before a change or after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// There was no file.
    Absent,
    /// In the bin, by its id.
    Binned(String),
    /// In the zone.
    Now,
    /// Nowhere any more.
    Gone,
}

impl Content {
    fn binned(kept: Option<String>) -> Self {
        kept.map_or(Self::Gone, Self::Binned)
    }

    /// Returns where a file is as it was before a change of a zone without history.
    #[must_use]
    pub fn before(row: &ListedChange, path: &ZonePath) -> Self {
        match row
            .change
            .steps()
            .into_iter()
            .find(|step| step.path() == path.as_str())
        {
            Some(Step::Made { .. } | Step::Came { .. }) => Self::Absent,
            Some(Step::Replaced { kept, .. } | Step::Removed { kept, .. }) => Self::binned(kept),
            Some(Step::Moved { .. } | Step::Appended { .. }) | None => Self::Gone,
        }
    }
}

/// The steps at each path of a zone without history, for the files as changes left them.
#[derive(Debug)]
pub struct ZoneSteps {
    /// The number of the change with each step, the first one first.
    by_path: HashMap<String, Vec<(i64, Step)>>,
}

impl ZoneSteps {
    /// Reads the steps of the changes from this number on.
    pub fn since(zone: &Zone<'_>, number: i64) -> Result<Self, Error> {
        let filter = ChangeFilter {
            tenant: Some(&zone.tenant.key),
            zone: Some(zone.name.as_str()),
            // Each conversation has uploads of its own.
            chat: (zone.name == ZoneName::Uploads).then_some(zone.caller.chat.as_str()),
            after: Some(number - 1),
            ..ChangeFilter::default()
        };
        let mut by_path: HashMap<String, Vec<(i64, Step)>> = HashMap::new();
        let rows = zone.store.registry.listed_changes(&filter, MOST)?;
        for row in rows.into_iter().rev() {
            for step in row.change.steps() {
                let path = step.path().to_owned();
                by_path.entry(path).or_default().push((row.number, step));
            }
        }
        Ok(Self { by_path })
    }

    /// Returns where a file is as it was after a change, which is not older than the first one read.
    #[must_use]
    pub fn after(&self, row: &ListedChange, path: &ZonePath) -> Content {
        let steps = self.by_path.get(path.as_str()).into_iter().flatten();
        let (own, later): (Vec<_>, Vec<_>) = steps
            .filter(|(number, _)| *number >= row.number)
            .partition(|(number, _)| *number == row.number);
        let is_removed = |(_, step): &&(i64, Step)| matches!(step, Step::Removed { .. });
        if own.first().is_some_and(is_removed) {
            return Content::Absent;
        }
        match later.first() {
            None => Content::Now,
            Some((_, Step::Replaced { kept, .. } | Step::Removed { kept, .. })) => {
                Content::binned(kept.clone())
            }
            Some(_) => Content::Gone,
        }
    }
}

/// The zone of a change.
struct ChangedZone {
    zone: ZoneName,
    group: Option<String>,
    /// Its commits, opened once; `None` without history.
    commits: Option<CommitReader>,
}

impl ChangedZone {
    /// The zone of a change; `None` if the caller does not have it, or not any more.
    fn of(
        store: &Store,
        caller: &Caller,
        own: &str,
        row: &ListedChange,
    ) -> Result<Option<Self>, Error> {
        let zone = ZoneName::parse(&row.change.zone)?;
        if let Some(id) = row.change.tenant.strip_prefix("groups/") {
            let Ok(open) = store.group_zone(caller, Some(id)) else {
                return Ok(None);
            };
            let group = open.group().map(|group| group.name.clone());
            let commits = CommitReader::open(&open.base).ok();
            return Ok(Some(Self {
                zone,
                group,
                commits,
            }));
        }
        if row.change.tenant != own {
            return Ok(None);
        }
        let base = if zone.is_versioned() {
            store.tenant(caller)?.existing_base(zone)?
        } else {
            None
        };
        Ok(Some(Self {
            zone,
            group: None,
            commits: base.and_then(|base| CommitReader::open(&base).ok()),
        }))
    }

    /// Returns files that a change touched, and how many there are: the first ones, or all of them.
    fn files(&self, row: &ListedChange, all: bool) -> (Vec<(ZonePath, FileEffect)>, usize) {
        let most = if all { usize::MAX } else { NAMED };
        let Some(range) = range(row) else {
            let steps = row.change.steps();
            let files = steps.iter().take(most).map(|step| {
                let effect = match step {
                    Step::Made { .. } => FileEffect::Created,
                    Step::Replaced { .. } | Step::Appended { .. } => FileEffect::Changed,
                    Step::Removed { .. } => FileEffect::Deleted,
                    Step::Moved { .. } | Step::Came { .. } => FileEffect::Moved,
                };
                (ZonePath::found(step.path().to_owned()), effect)
            });
            return (files.collect(), steps.len());
        };
        // The history of a zone may have been made anew.
        let commits = self.commits.as_ref();
        let changed = commits.and_then(|commits| commits.changed_by(&range, most).ok());
        let (changed, count) = changed.unwrap_or_default();
        let files = changed.into_iter().map(|file| {
            let effect = match file.kind {
                ChangeKind::Added => FileEffect::Created,
                ChangeKind::Deleted => FileEffect::Deleted,
                ChangeKind::Modified | ChangeKind::ModeChanged => FileEffect::Changed,
            };
            (file.path, effect)
        });
        (files.collect(), count)
    }
}
