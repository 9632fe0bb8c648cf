//! Changes of a command in a zone without history that its arguments do not name, as those of an archive
//! that is unpacked: the kernel tells which names changed, at the cost of the change alone.
//!
//! Content that the command replaced is gone. Files that it made go with an undo.

use std::collections::{BTreeMap, HashMap};

use fileshed_registry::{ChangeFilter, Intent, Step};
use fileshed_storage::{ChangedPaths, Entry, Kind, WatchedName};
use fileshed_types::{Error, ZoneName};
use fileshed_zones::watched::Unsettled;
use fileshed_zones::zone::{Zone, ZonePath};

use crate::judge::Finished;

/// Commands of which only the arguments are looked at: git keeps its own history, and the others leave the
/// content of what is there as it is.
const BY_ARGUMENTS: [&str; 3] = ["chmod", "git", "touch"];

/// Changes of others that are looked at.
const MOST: u32 = 1_000;

/// The directory of a repository, whose files belong together.
const REPOSITORY: &str = ".git";

/// The zone when a command began that was alone in it.
pub(super) struct Effects {
    /// The number of the last change before.
    last: i64,
}

/// A path that a command changed.
struct FoundChange {
    path: ZonePath,
    was: Option<WatchedName>,
    now: Option<Entry>,
}

impl Effects {
    /// Begins to note what changes. `None` if the command cannot be told from others that write in the zone.
    pub(super) fn begin(zone: &Zone<'_>, command: &str) -> Result<Option<Self>, Error> {
        if zone.name != ZoneName::Storage || BY_ARGUMENTS.contains(&command) {
            return Ok(None);
        }
        let registry = &zone.store.registry;
        if registry.is_in_use((&zone.tenant.key, zone.name.as_str()), None)? {
            return Ok(None);
        }
        // The changes so far are not those of the command.
        if zone.store.watched.unsettled(&zone.roots()).is_none() {
            return Ok(None);
        }
        let last = registry.listed_changes(&changes_of(zone), 1)?;
        let last = last.first().map_or(0, |row| row.number);
        Ok(Some(Self { last }))
    }

    /// Has the commands that are under way list nothing but what their arguments name.
    pub(super) fn give_up(zone: &Zone<'_>) {
        if zone.name == ZoneName::Storage {
            zone.store.watched.unsettle(&zone.roots());
        }
    }

    /// Adds the steps that the arguments do not name, and the files whose content is gone; returns what is known
    /// of the zone.
    pub(super) fn enter(
        self,
        zone: &Zone<'_>,
        intent: Intent,
        steps: &mut Vec<Step>,
        finished: &mut Finished,
    ) -> Result<Option<Unsettled>, Error> {
        let (registry, watched) = (&zone.store.registry, &zone.store.watched);
        if registry.is_in_use((&zone.tenant.key, zone.name.as_str()), Some(intent))? {
            return Ok(None);
        }
        let found = watched.unsettled(&zone.roots());
        if let Some(paths) = found.as_ref().and_then(|found| found.paths.as_ref()) {
            self.list(zone, paths, steps, finished)?;
        } else {
            finished.is_unlisted = true;
            // So that an undo does not pass over it.
            steps.push(Step::Replaced {
                path: String::new(),
                state: None,
                from_bin: None,
                kept: None,
            });
        }
        Ok(found)
    }

    fn list(
        &self,
        zone: &Zone<'_>,
        paths: &ChangedPaths,
        steps: &mut Vec<Step>,
        finished: &mut Finished,
    ) -> Result<(), Error> {
        let mut known: Vec<String> = steps.iter().flat_map(paths_of).collect();
        let since = ChangeFilter {
            after: Some(self.last),
            ..changes_of(zone)
        };
        let others = zone.store.registry.listed_changes(&since, MOST)?;
        known.extend(others.iter().flat_map(|row| {
            let steps = row.change.steps();
            steps.iter().flat_map(paths_of).collect::<Vec<_>>()
        }));
        let mut effects: BTreeMap<String, FoundChange> = BTreeMap::new();
        for (path, was) in paths {
            let Ok(text) = std::str::from_utf8(path) else {
                continue;
            };
            let is_known = |known: &String| is_at_or_below(text, known);
            let is_inside = effects.values().any(|above| {
                above.is_whole_directory() && is_at_or_below(text, above.path.as_str())
            });
            if text.split('/').any(|name| name == REPOSITORY)
                || is_inside
                || known.iter().any(is_known)
            {
                continue;
            }
            let path = ZonePath::found(text.to_owned());
            let now = zone.data.existing_entry(&path)?;
            let effect = FoundChange {
                path,
                was: *was,
                now,
            };
            if effect.is_change() {
                effects.insert(text.to_owned(), effect);
            }
        }
        enter(effects, steps, finished);
        Ok(())
    }
}

impl FoundChange {
    /// Returns `true` if something else is there, or has another content.
    fn is_change(&self) -> bool {
        match (&self.was, &self.now) {
            (None, None) => false,
            (Some(was), Some(now)) if was.is_directory() => {
                was.stamp().inode() != now.stamp().inode()
            }
            (Some(was), Some(now)) => !now.stamp().has_content_of(&was.stamp()),
            _ => true,
        }
    }

    /// Returns `true` for a directory that came or went with all that is in it.
    fn is_whole_directory(&self) -> bool {
        let is_new = |now: &Entry| now.kind() == Kind::Directory;
        self.was.is_some_and(|was| was.is_directory()) || self.now.as_ref().is_some_and(is_new)
    }

    /// Returns the number of leading segments of its path that were there.
    fn existing(&self) -> usize {
        self.path.segments().count().saturating_sub(1)
    }
}

/// Adds the steps for effects: first what moved, so that an undo moves it back last.
fn enter(
    mut effects: BTreeMap<String, FoundChange>,
    steps: &mut Vec<Step>,
    finished: &mut Finished,
) {
    // A directory that was made has the files in it.
    steps.retain(|step| {
        let is_inside = |above: &FoundChange| {
            above.was.is_none() && is_at_or_below(step.path(), above.path.as_str())
        };
        !(matches!(step, Step::Made { .. }) && effects.values().any(is_inside))
    });
    let gone = effects.values().filter(|effect| effect.now.is_none());
    let gone = gone.filter_map(|effect| Some((effect.was?.stamp().inode(), effect.path.clone())));
    let gone: HashMap<u64, ZonePath> = gone.collect();
    let moved = effects.values().filter_map(|effect| {
        let from = gone.get(&effect.now.as_ref()?.stamp().inode())?;
        Some((from.clone(), effect.path.clone()))
    });
    for (from, to) in moved.collect::<Vec<_>>() {
        effects.remove(from.as_str());
        let Some(effect) = effects.remove(to.as_str()) else {
            continue;
        };
        let path = to.as_str().to_owned();
        if effect.was.is_some() {
            let path = path.clone();
            finished.lost.push(to);
            steps.push(Step::Removed { path, kept: None });
        }
        steps.push(Step::Moved {
            from: from.as_str().to_owned(),
            to: path,
            existing: effect.existing(),
        });
    }
    for (path, effect) in effects {
        let is_file = |now: &&Entry| now.kind() == Kind::File;
        let state = effect.now.as_ref().filter(is_file);
        let state = state.map(|now| now.stamp().content());
        let existing = effect.existing();
        if effect.was.is_some() {
            finished.lost.push(effect.path);
        }
        steps.push(match (effect.was, effect.now) {
            (None, _) => Step::Made {
                from_bin: None,
                path,
                existing,
                state,
            },
            (Some(_), None) => Step::Removed { path, kept: None },
            (Some(_), Some(_)) => Step::Replaced {
                path,
                state,
                from_bin: None,
                kept: None,
            },
        });
    }
}

/// Returns the paths that a step changed.
fn paths_of(step: &Step) -> Vec<String> {
    let mut paths = vec![step.path().to_owned()];
    if let Step::Moved { from, .. } = step {
        paths.push(from.clone());
    }
    paths
}

fn is_at_or_below(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn changes_of<'z>(zone: &'z Zone<'_>) -> ChangeFilter<'z> {
    ChangeFilter {
        tenant: Some(&zone.tenant.key),
        zone: Some(zone.name.as_str()),
        ..ChangeFilter::default()
    }
}
