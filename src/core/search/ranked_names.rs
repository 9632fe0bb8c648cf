//! Names that hold what somebody begins to type, the nearest first.

use fileshed_storage::{Kind, Name};

use crate::best::Best;
use crate::glob::modified;
use crate::tree::{is_passed_by, join};
use crate::walk::{Here, Visitor, walk};
use crate::{Bounds, Tree, Wanted};

/// Which names are looked for.
#[derive(Clone, Debug)]
pub struct RankedNames {
    /// What a name holds, in any case; every name, where it is empty.
    pub query: String,
    /// Of which kind.
    pub wanted: Wanted,
    /// Whether hidden ones count.
    pub shows_hidden: bool,
    /// The most that is found.
    pub most: usize,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedEntry {
    /// Its path in the tree.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Bytes of a file.
    pub size: u64,
    /// When it was changed, in seconds since 1970.
    pub modified: f64,
}

/// Looks at every name: what is called so comes first, then what begins so, then what holds it;
/// of these the shortest.
#[must_use]
pub fn ranked_names(trees: &[Tree<'_>], names: &RankedNames, bounds: &Bounds) -> Vec<RankedEntry> {
    let search = RankedSearch {
        names,
        query: names.query.trim().to_lowercase(),
        best: Best::new(names.most),
    };
    walk(trees, &search, bounds);
    search.best.finish().0
}

/// How near a name in small letters is to what is looked for.
pub(crate) fn rank(name: &str, query: &str) -> Option<u8> {
    if name == query {
        Some(0)
    } else if name.starts_with(query) {
        Some(1)
    } else {
        name.contains(query).then_some(2)
    }
}

struct RankedSearch<'a> {
    names: &'a RankedNames,
    query: String,
    best: Best<(u8, usize, String), RankedEntry>,
}

impl Visitor for RankedSearch<'_> {
    type Worker = ();

    fn worker(&self) {}

    fn belongs(&self, _above: &str, name: &Name) -> bool {
        !is_passed_by(name, self.names.shows_hidden)
    }

    fn wants(&self, name: &Name) -> bool {
        self.names.wanted.is(name.kind)
    }

    fn visit(&self, (): &mut (), here: &Here<'_>, name: &Name) {
        let Some(rank) = rank(&name.text.to_lowercase(), &self.query) else {
            return;
        };
        let below = join(here.below, &name.text).to_lowercase();
        let key = (rank, name.text.chars().count(), below);
        if !self.best.takes(&key) {
            return;
        }
        let Ok(looked) = here.directory.look_at(&name.text) else {
            return;
        };
        let found = RankedEntry {
            path: here.tree.show(&looked.path),
            name: name.text.clone(),
            is_directory: looked.kind == Kind::Directory,
            size: looked.size(),
            modified: modified(&looked),
        };
        self.best.add(key, found);
    }
}
