//! The list of changes as its readers see it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use fileshed_history::{ChangeKind, CommitReader};
use fileshed_registry::{ChangeFilter, ListedChange, Step};
use fileshed_types::{Caller, Error, ZoneName};
use fileshed_zones::store::Store;
use fileshed_zones::zone::{Zone, ZonePath};

use crate::undo::{OF_PATH, range};

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
            let below = format!("{path}/");
            files.retain(|(file, _)| file == path || file.as_str().starts_with(&below));
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

/// Returns where a file is as it was before and after a change of a zone without history.
pub fn contents(
    zone: &Zone<'_>,
    row: &ListedChange,
    path: &ZonePath,
) -> Result<(Content, Content), Error> {
    let binned = |kept: Option<String>| kept.map_or(Content::Gone, Content::Binned);
    let steps = row.change.steps().into_iter();
    let mut steps = steps.filter(|step| step.path() == path.as_str());
    let before = match steps.next() {
        Some(Step::Made { .. } | Step::Came { .. }) => Content::Absent,
        Some(Step::Replaced { kept, .. }) => binned(kept),
        Some(Step::Removed { kept, .. }) => return Ok((binned(kept), Content::Absent)),
        Some(Step::Moved { .. } | Step::Appended { .. }) | None => Content::Gone,
    };
    let filter = ChangeFilter {
        tenant: Some(&zone.tenant.key),
        zone: Some(zone.name.as_str()),
        after: Some(row.number),
        ..ChangeFilter::default()
    };
    for later in zone
        .store
        .registry
        .listed_changes(&filter, MOST)?
        .iter()
        .rev()
    {
        let is_of_chat = zone.name != ZoneName::Uploads || later.change.chat == row.change.chat;
        for step in later.change.steps() {
            if is_of_chat && step.path() == path.as_str() {
                return Ok((
                    before,
                    match step {
                        Step::Replaced { kept, .. } | Step::Removed { kept, .. } => binned(kept),
                        _ => Content::Gone,
                    },
                ));
            }
        }
    }
    Ok((before, Content::Now))
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
