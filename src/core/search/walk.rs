//! The walk that all searches share.
//!
//! Every directory is opened once, by openat2 from the root of its zone and through no link, and
//! its names are read without a look at the files. Its entries are searched in batches, through its
//! handle, before its directories are opened: so few handles are open at any depth. Batches and
//! directories are taken in the order of the answer, so that a search that has enough passes by the
//! rest. It does not end there: a thread that is opening a directory may still come with entries
//! that lie before what was found.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use fileshed_storage::{Directory, Entry, Kind, Name, Root};
use fileshed_types::zone::{ZonePath, is_git_name, is_reserved};
use serde::Deserialize;

use crate::Bounds;
use crate::exclusions::{Exclusions, IgnoreRules};
use crate::queue::Queue;

/// Entries that one thread searches before others may take the next.
const BATCH: usize = 16;

/// A directory or a file to search.
#[derive(Debug)]
pub struct SearchRoot<'a> {
    pub(crate) root: &'a Root,
    path: ZonePath,
    is_file: bool,
    /// Its path seen from where the search begins.
    below: String,
    /// Its path in answers.
    shown: String,
}

impl<'a> SearchRoot<'a> {
    /// The tree at `entry` of `root`. In answers it is called `shown`, and `below` seen from where the
    /// whole search begins: empty if that is the entry itself.
    pub fn new(root: &'a Root, entry: &Entry, shown: &str, below: &str) -> Self {
        Self {
            root,
            path: entry.path().clone(),
            is_file: entry.kind() == Kind::File,
            below: below.to_owned(),
            shown: shown.trim_end_matches('/').to_owned(),
        }
    }

    /// Returns the path of an entry in answers; `path` is its path in the zone.
    pub(crate) fn show(&self, path: &ZonePath) -> String {
        let above = self.path.as_str();
        let inside = path.as_str().strip_prefix(above).unwrap_or_default();
        let inside = inside.trim_start_matches('/');
        if inside.is_empty() {
            self.shown.clone()
        } else {
            format!("{}/{inside}", self.shown)
        }
    }

    /// Opens the directory of the one file that the tree is.
    fn open_above(&self) -> Option<(Directory, Vec<Name>)> {
        let name = Name {
            text: self.path.name()?.to_owned(),
            kind: Kind::File,
        };
        let directory = self.root.hold(&self.path.parent()?).ok()?;
        Some((directory, vec![name]))
    }
}

/// The kinds of entries that a search looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// Only files.
    File,
    /// Only directories.
    Directory,
    /// Files and directories.
    #[default]
    Any,
}

/// The entries that a walk shows.
pub(crate) struct WalkScope<'a> {
    pub(crate) shows_hidden: bool,
    pub(crate) exclude: Option<&'a Exclusions>,
    pub(crate) wanted: Wanted,
}

impl WalkScope<'_> {
    /// `true` unless an entry is left out, with everything below it: entries of git or of the
    /// server, entries that are neither file nor directory, and hidden ones unless those are wanted.
    fn has(&self, above: &str, name: &Name) -> bool {
        let is_hidden = name.text.starts_with('.');
        let is_directory = name.kind == Kind::Directory;
        let is_searched = matches!(name.kind, Kind::File | Kind::Directory)
            && (self.shows_hidden || !is_hidden)
            && !((is_directory || is_hidden) && is_git_name(&name.text))
            && !(is_hidden && is_reserved(&name.text));
        let excludes = |exclude: &Exclusions| {
            let path = || join(above, &name.text);
            exclude.globs.fit(&name.text, path)
        };
        is_searched && !self.exclude.is_some_and(excludes)
    }

    fn reads_gitignore(&self) -> bool {
        self.exclude.is_some_and(|exclude| exclude.by_gitignore)
    }

    /// The rules of the directories above a tree, which count if those in it do.
    fn rules_above(&self, tree: &SearchRoot<'_>) -> IgnoreRules {
        if !self.reads_gitignore() {
            return IgnoreRules::default();
        }
        IgnoreRules::above(&tree.path, |rules, path| match tree.root.hold(path) {
            Ok(directory) => rules.in_directory(&directory),
            Err(_) => rules.clone(),
        })
    }

    fn wants(&self, name: &Name) -> bool {
        match self.wanted {
            Wanted::Any => matches!(name.kind, Kind::File | Kind::Directory),
            Wanted::File => name.kind == Kind::File,
            Wanted::Directory => name.kind == Kind::Directory,
        }
    }
}

/// A directory of the walk, held open, and its entries that are shown.
pub(crate) struct Here {
    /// The number of its tree.
    pub(crate) number: usize,
    pub(crate) directory: Directory,
    /// Its path seen from where the search begins.
    pub(crate) below: String,
    place: Vec<u8>,
    names: Vec<Name>,
}

impl Here {
    /// Returns the place of an entry in the order of the tree.
    pub(crate) fn place_of(&self, name: &Name) -> Vec<u8> {
        place(&self.place, name)
    }
}

/// The place of a job in the order of the tree. Batches come before the directories that begin at the
/// same place.
type JobKey = (Vec<u8>, bool);

enum WalkJob {
    Directory(DirectoryJob),
    Batch(Arc<Here>, Range<usize>),
}

/// A directory that is read.
struct DirectoryJob {
    number: usize,
    path: ZonePath,
    below: String,
    /// Rules of the directories above it.
    rules: IgnoreRules,
}

/// Walks through trees, which lie behind each other in the order of the answer, and shows their
/// entries to `visit`, with what `worker` made for the thread. The walk skips the entries behind a
/// position if `has_enough` says so. Returns `false` if the bounds ended it.
pub(crate) fn walk<W>(
    trees: &[SearchRoot<'_>],
    scope: &WalkScope<'_>,
    bounds: &Bounds,
    worker: impl Fn() -> W + Sync,
    has_enough: impl Fn(&[u8]) -> bool + Sync,
    visit: impl Fn(&mut W, &Here, &Name) + Sync,
) -> bool {
    let first = trees.iter().enumerate().map(|(number, tree)| {
        // A digit more than there are zones of anybody.
        let place = (number as u32).to_be_bytes().to_vec();
        let job = DirectoryJob {
            number,
            path: tree.path.clone(),
            below: tree.below.clone(),
            rules: scope.rules_above(tree),
        };
        ((place, true), WalkJob::Directory(job))
    });
    let is_cut = AtomicBool::new(false);
    let queue = Queue::new(first);
    queue.run(bounds, worker, |worker, (place, _), job| {
        if bounds.are_over() {
            is_cut.store(true, Relaxed);
            queue.close();
            return;
        }
        if has_enough(&place) {
            return;
        }
        match job {
            WalkJob::Directory(job) => queue.extend(open(trees, scope, job, place)),
            WalkJob::Batch(here, range) => {
                for name in &here.names[range] {
                    if bounds.are_over() {
                        is_cut.store(true, Relaxed);
                        break;
                    }
                    visit(worker, &here, name);
                }
            }
        }
    });
    !is_cut.into_inner()
}

/// Returns the work in a directory. One that vanished or may not be entered has nothing.
fn open(
    trees: &[SearchRoot<'_>],
    scope: &WalkScope<'_>,
    mut job: DirectoryJob,
    above: Vec<u8>,
) -> Vec<(JobKey, WalkJob)> {
    let tree = &trees[job.number];
    let opened = if tree.is_file {
        tree.open_above()
    } else {
        tree.root.read_names(&job.path).ok()
    };
    let Some((directory, mut names)) = opened else {
        return Vec::new();
    };
    if !tree.is_file {
        if scope.reads_gitignore() {
            job.rules = job.rules.in_directory(&directory);
        }
        names.retain(|name| {
            let path = || job.path.join(&name.text);
            scope.has(&job.below, name) && !job.rules.ignore(&path(), is_directory(name))
        });
    }
    let mut jobs: Vec<(JobKey, WalkJob)> = names
        .iter()
        .filter(|name| is_directory(name))
        .map(|name| {
            let job = DirectoryJob {
                number: job.number,
                path: job.path.join(&name.text),
                below: join(&job.below, &name.text),
                rules: job.rules.clone(),
            };
            ((place(&above, name), true), WalkJob::Directory(job))
        })
        .collect();
    names.retain(|name| scope.wants(name));
    names.sort_unstable_by(|a, b| (is_directory(a), &a.text).cmp(&(is_directory(b), &b.text)));
    let here = Arc::new(Here {
        number: job.number,
        directory,
        below: job.below,
        place: above,
        names,
    });
    let count = here.names.len();
    jobs.extend((0..count).step_by(BATCH).map(|start| {
        let batch = WalkJob::Batch(Arc::clone(&here), start..count.min(start + BATCH));
        ((here.place_of(&here.names[start]), false), batch)
    }));
    jobs
}

fn is_directory(name: &Name) -> bool {
    name.kind == Kind::Directory
}

/// Returns the place of an entry in the order of the tree: bytes that compare as its place does. The
/// files of a directory come before its directories; no name has a NUL.
fn place(above: &[u8], name: &Name) -> Vec<u8> {
    let mark = [0, u8::from(is_directory(name))];
    [above, &mark, name.text.as_bytes()].concat()
}

/// Returns the path of an entry seen from above.
pub(crate) fn join(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}/{name}")
    }
}
