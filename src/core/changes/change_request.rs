//! Request for a change: the paths that it touches, and the space that it takes.

use fileshed_registry::{BinRow, OwnershipEffect, Step};
use fileshed_storage::{Entry, Kind, Merge, Stamp, Target, Totals, Vacancy, Weight};
use fileshed_types::{Error, random};
use fileshed_zones::chats::DAY_SECONDS;
use fileshed_zones::zone::{Zone, ZonePath};
use sha2::{Digest as _, Sha256};

/// Returns the digest of what is added to a file.
pub(crate) fn digest_of(added: &[u8]) -> String {
    hex::encode(Sha256::digest(added))
}

/// The paths that a change touches, and the space that it takes.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct ChangeRequest {
    pub(super) paths: Vec<ZonePath>,
    pub(crate) bytes: i64,
    pub(crate) files: i64,
    /// The largest file that comes into being, and its size.
    pub(super) largest: Option<(ZonePath, u64)>,
    pub(super) kind: PathsChange,
    /// The steps for the list of changes, in a zone without history.
    pub(crate) steps: Vec<Step>,
    /// The entries that it takes away.
    pub(crate) taken: Vec<Taken>,
}

/// A file or directory that a change takes away: the bin may keep it.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(super) path: ZonePath,
    pub(super) is_directory: bool,
    pub(super) inode: u64,
    pub(super) totals: Totals,
    /// `true` if something takes its place.
    pub(super) is_replaced: bool,
}

impl Taken {
    /// Returns its row in the bin.
    pub(crate) fn row_in_bin(&self, zone: &Zone<'_>, days: u64) -> Result<BinRow, Error> {
        let deleted_at = zone.store.clock.now().as_second();
        let days = i64::try_from(days).unwrap_or(i64::MAX);
        Ok(BinRow {
            id: hex::encode(random::bytes::<16>()?),
            tenant: zone.tenant.key.clone(),
            zone: zone.name.as_str().to_owned(),
            path: self.path.as_str().to_owned(),
            is_directory: self.is_directory,
            totals: self.totals,
            chat: zone.caller.chat.as_str().to_owned(),
            deleted_at,
            ends_at: deleted_at.saturating_add(days.saturating_mul(DAY_SECONDS)),
            inode: if self.is_replaced { self.inode } else { 0 },
            is_replaced: self.is_replaced,
        })
    }

    /// An entry that holds `totals`.
    fn of(entry: &Entry, totals: Totals, is_replaced: bool) -> Option<Self> {
        (entry.kind() != Kind::Special).then(|| Self {
            path: entry.path().clone(),
            is_directory: entry.kind() == Kind::Directory,
            inode: entry.stamp().inode(),
            totals,
            is_replaced,
        })
    }
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
            steps: Vec::new(),
            taken: Vec::new(),
        }
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Adds another request of the same kind, for other paths.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.paths.extend(other.paths);
        self.bytes += other.bytes;
        self.files += other.files;
        self.steps.extend(other.steps);
        self.taken.extend(other.taken);
        self
    }

    /// The entry at `target`, if one is there, gives way; it holds `replaced`.
    fn arriving_at(self, target: &Target, replaced: Totals) -> Self {
        match target {
            Target::Vacancy(vacancy) => self.made(vacancy),
            Target::Entry(entry) => self.replacing(entry, replaced),
        }
    }

    /// Notes the id that what arrives had in the bin.
    pub(crate) fn out_of_bin(mut self, id: &str) -> Self {
        for step in &mut self.steps {
            if let Step::Made { from_bin, .. } | Step::Replaced { from_bin, .. } = step {
                *from_bin = Some(id.to_owned());
            }
        }
        self
    }

    /// Notes the state of what arrives.
    pub(crate) fn in_state(mut self, stamp: Stamp) -> Self {
        for step in &mut self.steps {
            if let Step::Made { state, .. } | Step::Replaced { state, .. } = step {
                *state = Some(stamp.content());
            }
        }
        self
    }

    /// Notes that what arrives at `target` is `entry` of another zone of the tenant.
    pub(super) fn came_from(&mut self, zone: &Zone<'_>, entry: &Entry, target: &Target) {
        let is_made = |step: &Step| matches!(step, Step::Made { .. });
        self.steps.retain(|step| !is_made(step));
        let existing = match target {
            Target::Vacancy(vacancy) => vacancy.existing_segments(),
            Target::Entry(there) => there.path().segments().count(),
        };
        self.steps.push(Step::Came {
            path: target.path().as_str().to_owned(),
            existing,
            zone: zone.name.as_str().to_owned(),
            from: entry.path().as_str().to_owned(),
            chat: zone.caller.chat.as_str().to_owned(),
        });
    }

    fn replacing(mut self, entry: &Entry, replaced: Totals) -> Self {
        self.taken.extend(Taken::of(entry, replaced, true));
        let path = entry.path().as_str().to_owned();
        self.step(Step::Replaced {
            path,
            state: None,
            from_bin: None,
            kept: None,
        })
    }

    /// `target` gets what was staged, of this weight; what is there now holds `replaced`.
    pub(super) fn install(target: &Target, weight: &Weight, replaced: Totals) -> Self {
        let largest = weight.largest.as_ref();
        let path = target.path();
        Self {
            largest: largest.map(|(inside, size)| (path.join_path(inside), *size)),
            ..Self::new(PathsChange::Arriving, [path], weight.totals, replaced)
                .arriving_at(target, replaced)
        }
    }

    /// A directory gets the staged entries, which replace entries of `replaced` bytes and files.
    pub(super) fn merge(merge: &Merge, replaced: Totals) -> Self {
        let made = merge.new_paths().map(|(path, stamp)| Step::Made {
            path: path.as_str().to_owned(),
            existing: path.segments().count().saturating_sub(1),
            state: Some(stamp.content()),
            from_bin: None,
        });
        let mut steps: Vec<Step> = made.collect();
        let mut taken = Vec::new();
        for (file, stamp) in merge.replaced() {
            let (bytes, files) = (file.size, 1);
            taken.push(Taken {
                path: file.path.clone(),
                is_directory: false,
                inode: file.inode,
                totals: Totals { bytes, files },
                is_replaced: true,
            });
            steps.push(Step::Replaced {
                path: file.path.as_str().to_owned(),
                state: Some(stamp.content()),
                from_bin: None,
                kept: None,
            });
        }
        let (kind, arriving) = (PathsChange::Arriving, merge.weight().totals);
        Self {
            largest: merge.largest(),
            steps,
            taken,
            ..Self::new(kind, merge.paths(), arriving, replaced)
        }
    }

    /// The file at `target` gets an addition of this digest; then it has `size` bytes and this inode.
    pub(super) fn append(target: &Target, size: u64, inode: u64, digest: String) -> Self {
        let replaced = Totals {
            bytes: target.size(),
            files: 1,
        };
        let path = target.path().as_str().to_owned();
        let before = target.size();
        let weight = Weight::of_file(size);
        let after = size;
        Self {
            taken: Vec::new(),
            steps: vec![Step::Appended {
                path,
                before,
                after,
                inode,
                digest: Some(digest),
                modified: target.entry().map(|entry| entry.stamp().content().2),
            }],
            ..Self::install(target, &weight, replaced)
        }
    }

    /// `entry`, which holds `totals`, goes.
    pub(super) fn remove(entry: &Entry, totals: Totals) -> Self {
        let path = entry.path().as_str().to_owned();
        let mut request = Self::new(PathsChange::Removed, [entry.path()], NOTHING, totals)
            .step(Step::Removed { path, kept: None });
        request.taken.extend(Taken::of(entry, totals, false));
        request
    }

    /// `entry`, which holds `totals`, goes to another zone of its tenant. If the change there does not say from
    /// where it came (`is_told`), it is gone here.
    pub(super) fn leave(entry: &Entry, totals: Totals, is_told: bool) -> Self {
        let request = Self::new(PathsChange::Removed, [entry.path()], NOTHING, totals);
        if is_told {
            return request;
        }
        let path = entry.path().as_str().to_owned();
        request.step(Step::Removed { path, kept: None })
    }

    /// `vacancy` gets what is in the bin. Its space comes along, when that is done.
    pub(super) fn bring_back(vacancy: &Vacancy) -> Self {
        Self::new(PathsChange::Arriving, [vacancy.path()], NOTHING, NOTHING).made(vacancy)
    }

    /// An entry in the bin, in this state, takes the place of `entry`, which holds `replaced`. Its space
    /// comes along, when that is done.
    pub(crate) fn swap(entry: &Entry, replaced: Totals, stamp: Stamp) -> Self {
        Self::new(PathsChange::Arriving, [entry.path()], NOTHING, replaced)
            .replacing(entry, replaced)
            .in_state(stamp)
    }

    fn made(self, vacancy: &Vacancy) -> Self {
        let (path, existing) = (vacancy.path().as_str(), vacancy.existing_segments());
        self.step(Step::Made {
            path: path.to_owned(),
            existing,
            state: None,
            from_bin: None,
        })
    }

    /// `entry` gets the name of `vacancy`.
    pub(super) fn rename(entry: &Entry, vacancy: &Vacancy) -> Self {
        let paths = [entry.path(), vacancy.path()];
        let existing = vacancy.existing_segments();
        Self::new(PathsChange::Renamed, paths, NOTHING, NOTHING).moved(entry, paths[1], existing)
    }

    fn moved(self, entry: &Entry, to: &ZonePath, existing: usize) -> Self {
        let (from, to) = (entry.path().as_str().to_owned(), to.as_str().to_owned());
        self.step(Step::Moved { from, to, existing })
    }

    /// `entry` gets the place of `taken`, which goes with the `replaced` that it holds.
    pub(super) fn supplant(entry: &Entry, taken: &Entry, replaced: Totals) -> Self {
        let paths = [entry.path(), taken.path()];
        let existing = taken.path().segments().count();
        Self::new(PathsChange::Renamed, paths, NOTHING, replaced)
            .replacing(taken, replaced)
            .moved(entry, taken.path(), existing)
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
