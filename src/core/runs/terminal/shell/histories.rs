//! The repositories of the zones of a shell, as git finds them there. They can be read; the server alone
//! writes them. For `documents` git has an index of the shell's own, which `git restore` needs.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fileshed_history::History;
use fileshed_sandbox::BindMount;
use fileshed_storage::{DiskError, Kind, PrivateDirectory, Stamp};
use fileshed_types::{Error, ZoneName};
use fileshed_zones::view::ViewPath;
use fileshed_zones::zone::{Zone, ZonePath};

/// The private directory, as a shell with a tree sees it.
pub(super) const TEMPORARY: &str = "/tmp";

/// Directory of the repositories, where a shell has the tree.
const PLACE: &str = "/.history";

/// Directory of what git writes, in the private directory.
const OWN: &str = ".history";

/// The repositories of the zones of one shell.
#[derive(Default)]
pub(super) struct Histories(Vec<ShownHistory>);

/// One repository.
struct ShownHistory {
    /// Position of its zone among those of the shell.
    zone: usize,
    /// The root of the zone in the tree.
    root: String,
    on_disk: PathBuf,
    /// The same as the shell sees it.
    place: PathBuf,
    /// The branches when git's index was made.
    seen: Cell<Option<Stamp>>,
}

impl Histories {
    /// Prepares the repositories of zones: as they are now where the line, or a person, may ask git.
    /// `begins_in` is the directory of a shell that has the tree.
    pub(super) fn show(
        zones: &[Zone<'_>],
        private: &PrivateDirectory,
        line: Option<&str>,
        begins_in: Option<&Path>,
    ) -> Self {
        let mut shown = Vec::new();
        for (number, zone) in zones.iter().enumerate() {
            let root = root(zone);
            let is_named = |line: &str| line.contains(root.rsplit('/').next().unwrap_or_default());
            let is_about =
                |line| begins_in.is_none_or(|at| at.starts_with(&root) || is_named(line));
            let asks = line.is_none_or(|line| line.contains("git") && is_about(line));
            let patience = zone.store.settings.timings.calls.command;
            let patience = asks.then_some(patience);
            match prepare((number, zone), private, patience, begins_in.is_some()) {
                Ok(history) => shown.extend(history),
                Err(error) => tracing::warn!(%error, "the history of a shell is not available"),
            }
        }
        Self(shown)
    }

    /// Shows git the commits that came meanwhile.
    pub(super) fn renew(&self, zones: &[Zone<'_>], private: &PrivateDirectory) {
        for history in &self.0 {
            let zone = &zones[history.zone];
            let has_tree = history.place != history.on_disk;
            if branches(zone) == history.seen.get() {
                continue;
            }
            match prepare(
                (history.zone, zone),
                private,
                Some(Duration::ZERO),
                has_tree,
            ) {
                Ok(renewed) => history
                    .seen
                    .set(renewed.and_then(|renewed| renewed.seen.get())),
                Err(error) => {
                    tracing::debug!(%error, "the history of a shell could not be updated");
                }
            }
        }
    }

    /// Places that the shell may read.
    pub(super) fn readable(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().map(|history| history.place.clone())
    }

    /// The repositories in the tree, and the files that lead git to them.
    pub(super) fn mounts(&self, private: &PrivateDirectory) -> impl Iterator<Item = BindMount> {
        let own = private.location().join(OWN);
        let mounts = self.0.iter().flat_map(move |history| {
            let pointer = own.join(pointer(history.zone));
            let at = Path::new(&history.root).join(".git");
            [
                (history.on_disk.clone(), history.place.clone()),
                (pointer, at),
            ]
        });
        mounts.map(|(source, target)| BindMount::new(source, target, false))
    }

    /// The index of git in a shell without a tree, which has one zone.
    pub(super) fn index(&self, zone: &Zone<'_>, temporary: &Path) -> Option<String> {
        let [history] = &*self.0 else { return None };
        let is_own = is_own(zone) && history.place == history.on_disk;
        is_own.then(|| temporary.join(OWN).join("index").to_string_lossy().into())
    }
}

/// Prepares the files of git for one zone. With a patience, the index becomes that of the last commit;
/// where others hold the zone longer, it stays as it is.
fn prepare(
    (number, zone): (usize, &Zone<'_>),
    private: &PrivateDirectory,
    patience: Option<Duration>,
    has_tree: bool,
) -> Result<Option<ShownHistory>, Error> {
    if !zone.name.is_versioned() {
        return Ok(None);
    }
    let mut seen = None;
    if let Some(patience) = patience
        && let Ok(_hold) = fileshed_changes::hold_within(zone, patience)
    {
        zone.history(History::refresh_index)?;
        seen = branches(zone);
    }
    // Somebody's own repository in its place stays as it is.
    let leads = zone.data.existing_entry(&found(".git"))?;
    let leads = leads.is_some_and(|entry| entry.kind() == Kind::File);
    let repository = zone.base.existing_subdirectory("repo.git")?;
    let Some(repository) = repository.filter(|_| leads) else {
        return Ok(None);
    };
    let (root, on_disk) = (root(zone), repository.location().to_owned());
    let mut place = on_disk.clone();
    if has_tree {
        place = PathBuf::from(format!("{PLACE}{root}"));
    }
    let write = |name: &str, text: String| private.replace((OWN, name), &mut text.as_bytes(), None);
    let mut to = place.clone();
    if is_own(zone) {
        to = Path::new(TEMPORARY).join(OWN);
        write("commondir", format!("{}\n", place.display()))?;
        for name in ["HEAD", "index"] {
            let Some(entry) = repository.existing_entry(&found(name))? else {
                continue;
            };
            let mut file = entry.open()?;
            // By the time of its index git knows which files may have changed since.
            let modified = file.metadata().and_then(|file| file.modified());
            let modified = modified.map_err(DiskError::server)?;
            private.replace((OWN, name), &mut file, Some(modified))?;
        }
    }
    write(&pointer(number), format!("gitdir: {}\n", to.display()))?;
    Ok(Some(ShownHistory {
        zone: number,
        root,
        on_disk,
        place,
        seen: Cell::new(seen),
    }))
}

/// Returns `true` for a zone that a shell may change.
pub(super) fn is_own(zone: &Zone<'_>) -> bool {
    matches!(zone.name, ZoneName::Storage | ZoneName::Documents)
}

/// The name of the file that leads git to a zone's repository.
fn pointer(zone: usize) -> String {
    format!("git-{zone}")
}

/// Tells one state of a zone's branches from another.
fn branches(zone: &Zone<'_>) -> Option<Stamp> {
    let branches = zone.base.existing_entry(&found("repo.git/refs/heads"));
    Some(branches.ok()??.stamp())
}

fn root(zone: &Zone<'_>) -> String {
    ViewPath::of(zone, &ZonePath::root()).as_str().to_owned()
}

fn found(path: &str) -> ZonePath {
    ZonePath::found(path.to_owned())
}
