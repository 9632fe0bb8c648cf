//! Changes of a command in a zone without history that its arguments do not name, as those of an archive
//! that is unpacked: the kernel tells which names changed, at the cost of the change alone.
//!
//! Each file is a step of its own, so an undo touches no file of others. Content that the command replaced
//! is gone. A command that was not alone in the zone has no such steps: nobody could say whose they are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fileshed_registry::{ChangeFilter, Intent, Step};
use fileshed_storage::{ChangedPaths, ContentState, Entry, Kind, WatchedName};
use fileshed_types::zone::is_below;
use fileshed_types::{Error, ZoneName};
use fileshed_zones::watched::Unsettled;
use fileshed_zones::zone::{Zone, ZonePath};

use crate::judge::Finished;

/// Commands of which only the arguments are looked at: git keeps its own history, and the others leave the
/// content of what is there as it is.
const BY_ARGUMENTS: [&str; 3] = ["chmod", "git", "touch"];

/// Changes of others that are looked at.
const CHANGES_MOST: u32 = 10_000;

/// Files that a change lists, and bytes of the list.
const FILES_MOST: usize = 4_096;
const BYTES_MOST: usize = 512 * 1024;

/// The directory of a repository, whose files belong together.
const REPOSITORY: &str = ".git";

/// The steps of a change, and the files whose content is gone.
type ListedEffects = (Vec<Step>, Vec<ZonePath>);

/// The zone when a command began.
pub(super) struct Effects {
    /// The number of the last change before.
    last: i64,
    /// `true` if nothing else was under way in it.
    is_alone: bool,
}

/// A path at which a command changed a file.
struct ChangedFile {
    was: Option<WatchedName>,
    now: Option<Entry>,
    /// The number of leading segments of the path that were there before.
    existing: usize,
}

/// The effects of a command, by path.
#[derive(Default)]
struct FoundEffects {
    files: BTreeMap<String, ChangedFile>,
    /// Directories that came.
    new: BTreeMap<String, Entry>,
    /// Those of them in which no file came.
    empty: BTreeSet<String>,
    /// Those of them that had another name before.
    moved: Vec<(String, String)>,
    /// Directories that went.
    gone: BTreeMap<String, WatchedName>,
}

impl Effects {
    /// Begins to note what changes. `None` if nobody can tell it.
    pub(super) fn begin(zone: &Zone<'_>, command: &str) -> Result<Option<Self>, Error> {
        if zone.name != ZoneName::Storage || BY_ARGUMENTS.contains(&command) {
            return Ok(None);
        }
        // The changes so far are not those of the command.
        if zone.store.watched.unsettled(&zone.roots()).is_none() {
            return Ok(None);
        }
        let registry = &zone.store.registry;
        let is_alone = !registry.is_in_use((&zone.tenant.key, zone.name.as_str()), None)?;
        let last = registry.listed_changes(&changes_of(zone), 1)?;
        let last = last.first().map_or(0, |row| row.number);
        Ok(Some(Self { last, is_alone }))
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
        let Some(found) = watched.unsettled(&zone.roots()) else {
            return Ok(None);
        };
        let place = (zone.tenant.key.as_str(), zone.name.as_str());
        if !self.is_alone || registry.is_in_use(place, Some(intent))? {
            let paths = found.paths.as_ref();
            let more = paths.map(|paths| self.steps(zone, paths, steps));
            let more = more.transpose()?;
            // They may be of others, so an undo does not take them back.
            finished.is_uncertain = more.is_some_and(|more| {
                more.is_none_or(|(steps, lost)| !steps.is_empty() || !lost.is_empty())
            });
            return Ok(None);
        }
        let listed = match &found.paths {
            Some(paths) => self.steps(zone, paths, steps)?,
            None if found.is_overflow => None,
            None => {
                // Another command came and went meanwhile.
                finished.is_uncertain = true;
                return Ok(Some(found));
            }
        };
        if let Some((more, lost)) = listed {
            steps.extend(more);
            finished.lost.extend(lost);
        } else {
            finished.is_unlisted = true;
            // The zone itself, so that an undo does not pass over it.
            steps.push(replaced(String::new(), None));
        }
        Ok(Some(found))
    }

    /// Returns the steps, and the files whose content is gone; `None` if they are more than a change lists.
    fn steps(
        &self,
        zone: &Zone<'_>,
        paths: &ChangedPaths,
        own: &[Step],
    ) -> Result<Option<ListedEffects>, Error> {
        let since = ChangeFilter {
            after: Some(self.last),
            ..changes_of(zone)
        };
        let others = zone.store.registry.listed_changes(&since, CHANGES_MOST)?;
        if others.len() >= CHANGES_MOST as usize {
            return Ok(None);
        }
        let mut known: BTreeSet<String> = own.iter().flat_map(paths_of).collect();
        for row in &others {
            known.extend(row.change.steps().iter().flat_map(paths_of));
        }
        let mut found = FoundEffects::default();
        for (path, was) in paths {
            if let Ok(path) = std::str::from_utf8(path)
                && !is_known(&known, path)
            {
                found.look(zone, path, *was)?;
            }
        }
        if !found.look_into_new(zone, &known)? {
            return Ok(None);
        }
        let (steps, lost) = found.into_steps();
        let bytes: usize = steps.iter().map(|step| step.path().len() + 100).sum();
        let fits = steps.len() <= FILES_MOST && bytes <= BYTES_MOST;
        Ok(fits.then_some((steps, lost)))
    }
}

impl FoundEffects {
    /// Looks at what is at a path now.
    fn look(&mut self, zone: &Zone<'_>, path: &str, was: Option<WatchedName>) -> Result<(), Error> {
        let now = zone
            .data
            .existing_entry(&ZonePath::found(path.to_owned()))?;
        let was_directory = was.filter(WatchedName::is_directory);
        let (new, now) = match now {
            Some(entry) if entry.kind() == Kind::Directory => (Some(entry), None),
            now => (None, now),
        };
        if let (Some(was), Some(new)) = (&was_directory, &new)
            && was.stamp().inode() == new.stamp().inode()
        {
            return Ok(());
        }
        self.gone
            .extend(was_directory.map(|was| (path.to_owned(), was)));
        self.new.extend(new.map(|new| (path.to_owned(), new)));
        let was = was.filter(|was| !was.is_directory());
        let is_same = match (&was, &now) {
            (Some(was), Some(now)) => now.stamp().has_content_of(&was.stamp()),
            (was, now) => was.is_none() && now.is_none(),
        };
        if !is_same {
            let existing = segments_above(path);
            let file = ChangedFile { was, now, existing };
            self.files.insert(path.to_owned(), file);
        }
        Ok(())
    }

    /// Looks at the files in new directories, but for those that were moved as a whole. Returns `false` if they
    /// are too many.
    fn look_into_new(&mut self, zone: &Zone<'_>, known: &BTreeSet<String>) -> Result<bool, Error> {
        let gone = self.gone.iter();
        let gone = gone.map(|(path, was)| (was.stamp().content(), path.clone()));
        let mut gone: HashMap<ContentState, String> = gone.collect();
        let new = std::mem::take(&mut self.new);
        let mut seen: Vec<String> = Vec::new();
        for (path, entry) in new {
            if seen.iter().any(|above| is_below(&path, above)) {
                continue;
            }
            seen.push(path.clone());
            if let Some(from) = gone.remove(&entry.stamp().content()) {
                self.gone.remove(&from);
                self.moved.push((from, path));
                continue;
            }
            let existing = segments_above(&path);
            let (mut inside, mut is_empty) = (Vec::new(), true);
            zone.data.walk(entry.path(), |one| {
                let path = one.path.as_str();
                let is_ours = !is_known(known, path);
                is_empty &= is_ours && one.kind == Kind::Directory;
                if is_ours && one.kind != Kind::Directory {
                    inside.push(one.path.clone());
                }
                Ok(is_ours && inside.len() <= FILES_MOST)
            })?;
            if inside.len() > FILES_MOST {
                return Ok(false);
            }
            let has_known = known.iter().any(|known| is_below(known, &path));
            if is_empty && !has_known {
                self.empty.insert(path);
                continue;
            }
            for path in inside {
                let now = zone.data.existing_entry(&path)?;
                let (was, path) = (None, path.as_str().to_owned());
                let file = ChangedFile { was, now, existing };
                self.files.insert(path, file);
            }
        }
        Ok(true)
    }

    /// Returns the steps, and the files whose content is gone.
    fn into_steps(mut self) -> ListedEffects {
        let (mut steps, mut lost) = (Vec::new(), Vec::new());
        // Names whose file is somewhere else now, or nowhere.
        let left = self.files.iter().filter_map(|(path, file)| {
            let was = file.was?.stamp();
            let stays = |now: &Entry| now.stamp().inode() == was.inode();
            let is_left = !file.now.as_ref().is_some_and(stays);
            is_left.then(|| (was.content(), path.clone()))
        });
        let left: HashMap<ContentState, String> = left.collect();
        let arrived = self.files.iter().filter_map(|(path, file)| {
            let from = left.get(&file.now.as_ref()?.stamp().content())?;
            (from != path).then(|| (from.clone(), path.clone()))
        });
        let mut arrived: Vec<(String, String)> = arrived.collect();
        let left_for: BTreeSet<String> = arrived.iter().map(|(from, _)| from.clone()).collect();
        while !arrived.is_empty() {
            // A name was free, or its file had moved on, when the next one got it.
            let is_next = |(_, to): &(String, String)| arrived.iter().all(|(from, _)| from != to);
            let next = arrived.iter().position(is_next).unwrap_or_default();
            let (from, to) = arrived.swap_remove(next);
            let Some(file) = self.files.remove(&to) else {
                continue;
            };
            if file.was.is_some() && !left_for.contains(&to) {
                lost.push(ZonePath::found(to.clone()));
                let path = to.clone();
                steps.push(Step::Removed { path, kept: None });
            }
            if let Some(file) = self.files.get_mut(&from) {
                file.was = None;
            }
            let existing = file.existing;
            steps.push(Step::Moved { from, to, existing });
        }
        for (from, to) in self.moved {
            let existing = segments_above(&to);
            steps.push(Step::Moved { from, to, existing });
        }
        for path in self.empty {
            let existing = segments_above(&path);
            steps.push(made(path, existing, None));
        }
        for path in self.gone.into_keys() {
            lost.push(ZonePath::found(path.clone()));
            steps.push(Step::Removed { path, kept: None });
        }
        for (path, file) in self.files {
            let state = file.now.as_ref().map(|now| now.stamp().content());
            match (file.was, file.now) {
                (None, None) => {}
                (None, Some(_)) => steps.push(made(path, file.existing, state)),
                (Some(_), now) => {
                    lost.push(ZonePath::found(path.clone()));
                    steps.push(match now {
                        Some(_) => replaced(path, state),
                        None => Step::Removed { path, kept: None },
                    });
                }
            }
        }
        (steps, lost)
    }
}

fn made(path: String, existing: usize, state: Option<ContentState>) -> Step {
    Step::Made {
        from_bin: None,
        path,
        existing,
        state,
    }
}

fn replaced(path: String, state: Option<ContentState>) -> Step {
    Step::Replaced {
        path,
        state,
        from_bin: None,
        kept: None,
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

/// Returns `true` for a path that a step has, or a directory above it, and for those of repositories.
fn is_known(known: &BTreeSet<String>, path: &str) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at);
    let mut above = ends.chain([path.len()]).map(|end| &path[..end]);
    above.any(|above| known.contains(above)) || path.split('/').any(|name| name == REPOSITORY)
}

fn segments_above(path: &str) -> usize {
    path.matches('/').count()
}

fn changes_of<'z>(zone: &'z Zone<'_>) -> ChangeFilter<'z> {
    ChangeFilter {
        tenant: Some(&zone.tenant.key),
        zone: Some(zone.name.as_str()),
        ..ChangeFilter::default()
    }
}
