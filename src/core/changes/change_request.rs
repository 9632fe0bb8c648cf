//! Request for a change: the paths that it touches, and the space that it takes.

use fileshed_registry::OwnershipEffect;
use fileshed_storage::{Entry, Merge, Target, Totals, Vacancy, Weight};
use fileshed_zones::zone::ZonePath;

/// The paths that a change touches, and the space that it takes.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct ChangeRequest {
    pub(super) paths: Vec<ZonePath>,
    pub(super) bytes: i64,
    pub(super) files: i64,
    /// The largest file that comes into being, and its size.
    pub(super) largest: Option<(ZonePath, u64)>,
    pub(super) kind: PathsChange,
}

/// The kind of change of the paths.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum PathsChange {
    /// They change where they lie, if at all.
    #[default]
    Touched,
    /// By what arrives: known when it does.
    Arriving,
    /// They go.
    Removed,
    /// They go, and may come back.
    Discarded,
    /// The first becomes the second.
    Renamed,
}

/// The space of a change that takes none.
const NOTHING: Totals = Totals { bytes: 0, files: 0 };

impl ChangeRequest {
    fn new<'p>(
        kind: PathsChange,
        paths: impl IntoIterator<Item = &'p ZonePath>,
        gained: Totals,
        lost: Totals,
    ) -> Self {
        Self {
            paths: paths.into_iter().cloned().collect(),
            bytes: gained.bytes as i64 - lost.bytes as i64,
            files: gained.files as i64 - lost.files as i64,
            largest: None,
            kind,
        }
    }

    /// The file at `target` gets `size` bytes.
    pub(super) fn write(target: &Target, size: u64) -> Self {
        let replaced = Totals {
            bytes: target.size(),
            files: u64::from(target.entry().is_some()),
        };
        Self::install(target, &Weight::of_file(size), replaced)
    }

    /// `target` gets what was staged, of this weight; what is there now holds `replaced`.
    pub(super) fn install(target: &Target, weight: &Weight, replaced: Totals) -> Self {
        let largest = weight.largest.as_ref();
        Self {
            largest: largest.map(|(inside, size)| (target.path().join_path(inside), *size)),
            ..Self::new(
                PathsChange::Arriving,
                [target.path()],
                weight.totals,
                replaced,
            )
        }
    }

    /// A directory gets the staged entries, which replace entries of `replaced` bytes and files.
    pub(super) fn merge(merge: &Merge, replaced: Totals) -> Self {
        Self {
            largest: merge.largest(),
            ..Self::new(
                PathsChange::Arriving,
                merge.paths(),
                merge.weight().totals,
                replaced,
            )
        }
    }

    /// `entry`, which holds `totals`, goes.
    pub(super) fn remove(entry: &Entry, totals: Totals) -> Self {
        Self::new(PathsChange::Removed, [entry.path()], NOTHING, totals)
    }

    /// `entry` goes into the bin. Its space goes along, when that is done.
    pub(super) fn discard(entry: &Entry) -> Self {
        Self::new(PathsChange::Discarded, [entry.path()], NOTHING, NOTHING)
    }

    /// `vacancy` gets what is in the bin. Its space comes along, when that is done.
    pub(super) fn bring_back(vacancy: &Vacancy) -> Self {
        Self::new(PathsChange::Arriving, [vacancy.path()], NOTHING, NOTHING)
    }

    /// `entry` gets the name of `vacancy`.
    pub(super) fn rename(entry: &Entry, vacancy: &Vacancy) -> Self {
        let paths = [entry.path(), vacancy.path()];
        Self::new(PathsChange::Renamed, paths, NOTHING, NOTHING)
    }

    /// `entry` gets the place of `taken`, which goes with the `replaced` that it holds.
    pub(super) fn supplant(entry: &Entry, taken: &Entry, replaced: Totals) -> Self {
        let paths = [entry.path(), taken.path()];
        Self::new(PathsChange::Renamed, paths, NOTHING, replaced)
    }

    /// Files that are changed where they lie, by as much as their end shows.
    pub(super) fn in_place(paths: Vec<ZonePath>) -> Self {
        Self {
            paths,
            ..Self::default()
        }
    }

    /// Returns the effect of the change on ownership, as far as it is known before.
    pub(super) fn effect(&self) -> Option<OwnershipEffect> {
        match (self.kind, self.paths.as_slice()) {
            (PathsChange::Removed, [at]) => Some(OwnershipEffect::Remove {
                at: at.as_str().to_owned(),
            }),
            (PathsChange::Renamed, [from, to]) => Some(OwnershipEffect::Move {
                from: from.as_str().to_owned(),
                to: to.as_str().to_owned(),
            }),
            (PathsChange::Touched, files) => Some(OwnershipEffect::Touch {
                files: files.iter().map(|path| path.as_str().to_owned()).collect(),
            }),
            _ => None,
        }
    }
}
