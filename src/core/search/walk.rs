//! The walk that all searches share.
//!
//! Every directory is opened once, by openat2 from the root of its zone and through no link, and
//! its names are read without a look at the files. Its entries are searched in batches, through its
//! handle, before its directories are opened: so few handles are open at any depth. Batches and
//! directories are taken in the order of the answer, so that a search that has enough passes by the
//! rest. It does not end there: a thread that is opening a directory may still come with entries
//! that lie before what was found.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use fileshed_storage::{Directory, Kind, Name};
use fileshed_types::zone::ZonePath;

use crate::queue::Queue;
use crate::tree::join;
use crate::{Bounds, Tree};

/// Entries that one thread searches before others may take the next.
const BATCH: usize = 16;

/// What is done with the entries of a walk.
pub(crate) trait Visitor: Sync {
    /// What each thread has for itself.
    type Worker;

    /// Makes that.
    fn worker(&self) -> Self::Worker;

    /// Whether an entry belongs to the search; a directory that does not is not entered. `above` is
    /// the path of its directory, seen from where the search begins.
    fn belongs(&self, above: &str, name: &Name) -> bool;

    /// Whether an entry that belongs to it is looked at.
    fn wants(&self, name: &Name) -> bool;

    /// Whether nothing at this place or behind it in the order of the tree is wanted any more.
    fn has_enough(&self, _place: &[u8]) -> bool {
        false
    }

    /// Looks at an entry.
    fn visit(&self, worker: &mut Self::Worker, here: &Here<'_>, name: &Name);
}

/// A directory of the walk.
pub(crate) struct Here<'a> {
    pub(crate) tree: &'a Tree<'a>,
    /// Its number among the trees.
    pub(crate) number: usize,
    pub(crate) directory: &'a Directory,
    /// Its path seen from where the search begins.
    pub(crate) below: &'a str,
    place: &'a [u8],
}

impl Here<'_> {
    /// Where an entry is in the order of the tree.
    pub(crate) fn place_of(&self, name: &Name) -> Vec<u8> {
        place(self.place, name)
    }
}

/// Walks through trees, which lie behind each other in the order of the answer. Says whether it
/// came to its end.
pub(crate) fn walk<V: Visitor>(trees: &[Tree<'_>], visitor: &V, bounds: &Bounds) -> bool {
    let first = trees.iter().enumerate().map(|(number, tree)| Job {
        // A digit more than there are zones of anybody.
        place: (number as u32).to_be_bytes().to_vec(),
        number,
        below: tree.below.clone().into(),
        work: if tree.is_file {
            Work::File(tree.path.clone())
        } else {
            Work::Directory(tree.path.clone())
        },
    });
    let is_cut = AtomicBool::new(false);
    let queue = Queue::new(first);
    queue.run(
        bounds,
        || visitor.worker(),
        |worker, job: Job| {
            if bounds.are_over() {
                is_cut.store(true, Relaxed);
                queue.close();
            } else if !visitor.has_enough(&job.place) {
                let tree = &trees[job.number];
                match job.work {
                    Work::Directory(path) => {
                        let step = Step {
                            tree,
                            number: job.number,
                            below: job.below,
                            place: job.place,
                        };
                        queue.extend(step.open(visitor, &path));
                    }
                    Work::Batch(opened, range) => {
                        let here = Here {
                            tree,
                            number: job.number,
                            directory: &opened.directory,
                            below: &job.below,
                            place: &opened.place,
                        };
                        for name in &opened.names[range] {
                            if bounds.are_over() {
                                is_cut.store(true, Relaxed);
                                break;
                            }
                            visitor.visit(worker, &here, name);
                        }
                    }
                    Work::File(path) => {
                        let here = (job.number, job.place.as_slice());
                        visit_file(visitor, worker, tree, here, &path);
                    }
                }
            }
        },
    );
    !is_cut.into_inner()
}

/// Looks at the one file that a tree is.
fn visit_file<V: Visitor>(
    visitor: &V,
    worker: &mut V::Worker,
    tree: &Tree<'_>,
    (number, place): (usize, &[u8]),
    path: &ZonePath,
) {
    let (Some(above), Some(name)) = (path.parent(), path.name()) else {
        return;
    };
    let Ok(directory) = tree.root.hold(&above) else {
        return;
    };
    let here = Here {
        tree,
        number,
        directory: &directory,
        below: &tree.below,
        place,
    };
    let name = Name {
        text: name.to_owned(),
        kind: Kind::File,
    };
    if visitor.wants(&name) {
        visitor.visit(worker, &here, &name);
    }
}

struct Job {
    place: Vec<u8>,
    number: usize,
    below: Arc<str>,
    work: Work,
}

enum Work {
    Directory(ZonePath),
    Batch(Arc<Opened>, Range<usize>),
    File(ZonePath),
}

struct Opened {
    directory: Directory,
    names: Vec<Name>,
    place: Vec<u8>,
}

/// A directory that is about to be opened.
struct Step<'a> {
    tree: &'a Tree<'a>,
    number: usize,
    below: Arc<str>,
    place: Vec<u8>,
}

impl Step<'_> {
    /// What is to be done in a directory. One that vanished or may not be entered has nothing.
    fn open<V: Visitor>(self, visitor: &V, path: &ZonePath) -> Vec<Job> {
        let Ok((directory, mut names)) = self.tree.root.read_names(path) else {
            return Vec::new();
        };
        names.retain(|name| visitor.belongs(&self.below, name));
        let mut jobs: Vec<Job> = names
            .iter()
            .filter(|name| name.kind == Kind::Directory)
            .map(|name| Job {
                place: place(&self.place, name),
                number: self.number,
                below: join(&self.below, &name.text).into(),
                work: Work::Directory(path.join(&name.text)),
            })
            .collect();
        names.retain(|name| visitor.wants(name));
        names.sort_unstable_by(|a, b| (is_directory(a), &a.text).cmp(&(is_directory(b), &b.text)));
        let count = names.len();
        let opened = Arc::new(Opened {
            directory,
            names,
            place: self.place,
        });
        jobs.extend((0..count).step_by(BATCH).map(|start| Job {
            place: place(&opened.place, &opened.names[start]),
            number: self.number,
            below: Arc::clone(&self.below),
            work: Work::Batch(Arc::clone(&opened), start..count.min(start + BATCH)),
        }));
        jobs
    }
}

fn is_directory(name: &Name) -> bool {
    name.kind == Kind::Directory
}

/// Where an entry is in the order of the tree: bytes that compare as its place does. The files of a
/// directory come before its directories; no name has a NUL.
fn place(above: &[u8], name: &Name) -> Vec<u8> {
    let mark = [0, u8::from(is_directory(name))];
    [above, &mark, name.text.as_bytes()].concat()
}

impl Job {
    /// Batches come before the directories that begin at the same place.
    fn order(&self) -> (&[u8], bool) {
        (&self.place, matches!(self.work, Work::Directory(_)))
    }
}

impl Ord for Job {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Job {}
