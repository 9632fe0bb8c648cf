//! What a change is going to touch, said before it is allowed.

use crate::zone::ZonePath;
use fileshed_history::PreparedContent;
use fileshed_registry::{Lock, OwnershipEffect};
use fileshed_storage::{Entry, Merge, Target, Totals, Vacancy, Weight};

/// What a change touches and how much more space it takes.
#[derive(Debug, Default)]
#[must_use]
pub struct ChangeRequest {
    pub(super) paths: Vec<ZonePath>,
    pub(super) bytes: i64,
    pub(super) files: i64,
    /// The largest file that comes into being, and its size.
    pub(super) largest: Option<(ZonePath, u64)>,
    /// The locked edit that ends with this change; its lock is not in its own way.
    pub(super) ends_edit: Option<Lock>,
    pub(super) kind: RequestKind,
    /// What is ready for history of the files that come into being.
    pub(super) prepared: Vec<PreparedContent>,
}

/// How the paths of a change change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum RequestKind {
    /// Where they lie, if at all.
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

impl ChangeRequest {
    /// `target` gets `size` bytes.
    pub fn write(target: &Target, size: u64) -> Self {
        Self {
            paths: vec![target.path().clone()],
            bytes: size as i64 - target.size() as i64,
            files: i64::from(target.entry().is_none()),
            largest: Some((target.path().clone(), size)),
            kind: RequestKind::Arriving,
            ..Self::default()
        }
    }

    /// `target` gets what was staged, of this weight; what is there now holds `replaced`.
    pub fn install(target: &Target, weight: &Weight, replaced: Totals) -> Self {
        Self {
            paths: vec![target.path().clone()],
            bytes: weight.totals.bytes as i64 - replaced.bytes as i64,
            files: weight.totals.files as i64 - replaced.files as i64,
            largest: weight
                .largest
                .as_ref()
                .map(|(inside, size)| (target.path().join_path(inside), *size)),
            kind: RequestKind::Arriving,
            ..Self::default()
        }
    }

    /// What this much held is free again.
    pub(crate) fn giving_back(mut self, replaced: Totals) -> Self {
        self.bytes -= replaced.bytes as i64;
        self.files -= replaced.files as i64;
        self
    }

    /// A directory gets what was staged, beside what it has.
    pub fn merge(merge: &Merge) -> Self {
        let weight = merge.weight();
        Self {
            paths: merge.paths().cloned().collect(),
            bytes: weight.totals.bytes as i64,
            files: weight.totals.files as i64,
            largest: merge.largest(),
            kind: RequestKind::Arriving,
            ..Self::default()
        }
    }

    /// `entry`, which holds `totals`, goes.
    pub fn remove(entry: &Entry, totals: Totals) -> Self {
        Self {
            paths: vec![entry.path().clone()],
            bytes: -(totals.bytes as i64),
            files: -(totals.files as i64),
            kind: RequestKind::Removed,
            ..Self::default()
        }
    }

    /// `entry` goes into the bin. Its space goes along, when that is done.
    pub(super) fn discard(entry: &Entry) -> Self {
        Self {
            paths: vec![entry.path().clone()],
            kind: RequestKind::Discarded,
            ..Self::default()
        }
    }

    /// `vacancy` gets what is in the bin. Its space comes along, when that is done.
    pub(crate) fn bring_back(vacancy: &Vacancy) -> Self {
        Self {
            paths: vec![vacancy.path().clone()],
            kind: RequestKind::Arriving,
            ..Self::default()
        }
    }

    /// `entry` gets the name of `vacancy`.
    pub fn rename(entry: &Entry, vacancy: &Vacancy) -> Self {
        Self {
            paths: vec![entry.path().clone(), vacancy.path().clone()],
            kind: RequestKind::Renamed,
            ..Self::default()
        }
    }

    /// `entry` gets the place of `taken`, which goes with the `replaced` that it holds.
    pub fn supplant(entry: &Entry, taken: &Entry, replaced: Totals) -> Self {
        Self {
            paths: vec![entry.path().clone(), taken.path().clone()],
            kind: RequestKind::Renamed,
            ..Self::default()
        }
        .giving_back(replaced)
    }

    /// Files that are changed where they lie, by as much as their end shows.
    pub(crate) fn in_place(paths: Vec<ZonePath>) -> Self {
        Self {
            paths,
            ..Self::default()
        }
    }

    /// These contents need not be made ready for history any more.
    pub(crate) fn prepared(mut self, contents: Vec<PreparedContent>) -> Self {
        self.prepared = contents;
        self
    }

    /// The caller's own locked edit ends with this change.
    pub(crate) fn ending_edit(mut self, lock: &Lock) -> Self {
        self.ends_edit = Some(lock.clone());
        self
    }

    /// What the change does to ownership, as far as it can be told before.
    pub(super) fn effect(&self) -> Option<OwnershipEffect> {
        match (self.kind, self.paths.as_slice()) {
            (RequestKind::Removed, [at]) => Some(OwnershipEffect::Remove {
                at: at.as_str().to_owned(),
            }),
            (RequestKind::Renamed, [from, to]) => Some(OwnershipEffect::Move {
                from: from.as_str().to_owned(),
                to: to.as_str().to_owned(),
            }),
            (RequestKind::Touched, files) => Some(OwnershipEffect::Touch {
                files: files.iter().map(|path| path.as_str().to_owned()).collect(),
            }),
            _ => None,
        }
    }
}
