//! Files and directories whose names fit a pattern.

use fileshed_storage::{Found as Looked, Kind, Name};

use crate::best::Best;
use crate::tree::{is_passed_by, join};
use crate::walk::{Here, Visitor, walk};
use crate::{Bounds, Found, Globs, Tree, Wanted};

/// Which names are looked for.
#[derive(Clone, Debug)]
pub struct Glob {
    /// Those that fit.
    pub pattern: Globs,
    /// Those that are left out, with everything below them.
    pub exclude: Globs,
    /// Of which kind.
    pub wanted: Wanted,
    /// The most that is found.
    pub most: usize,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedEntry {
    /// Its path seen from where the search begins.
    pub path: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Bytes of a file.
    pub size: u64,
    /// When it was changed, in seconds since 1970.
    pub modified: f64,
}

/// Looks at every name.
#[must_use]
pub fn glob(trees: &[Tree<'_>], glob: &Glob, bounds: &Bounds) -> Found<NamedEntry> {
    let search = GlobSearch {
        glob,
        best: Best::new(glob.most),
    };
    let is_whole = walk(trees, &search, bounds);
    let (items, more) = search.best.finish();
    Found {
        items,
        truncated: more || !is_whole,
    }
}

/// When an entry was changed, in seconds since 1970.
pub(crate) fn modified(looked: &Looked) -> f64 {
    looked.stat.st_mtime as f64 + looked.stat.st_mtime_nsec as f64 / 1e9
}

struct GlobSearch<'a> {
    glob: &'a Glob,
    best: Best<Vec<u8>, NamedEntry>,
}

impl Visitor for GlobSearch<'_> {
    type Worker = ();

    fn worker(&self) {}

    fn belongs(&self, above: &str, name: &Name) -> bool {
        let exclude = &self.glob.exclude;
        !is_passed_by(name, true)
            && (exclude.is_empty() || !exclude.fit(&name.text, || join(above, &name.text)))
    }

    fn wants(&self, name: &Name) -> bool {
        self.glob.wanted.is(name.kind)
    }

    fn has_enough(&self, place: &[u8]) -> bool {
        !self.best.takes(&place.to_vec())
    }

    fn visit(&self, (): &mut (), here: &Here<'_>, name: &Name) {
        let path = || join(here.below, &name.text);
        if !self.glob.pattern.fit(&name.text, path) {
            return;
        }
        let place = here.place_of(name);
        if !self.best.takes(&place) {
            return;
        }
        let Ok(looked) = here.directory.look_at(&name.text) else {
            return;
        };
        let found = NamedEntry {
            path: path(),
            is_directory: looked.kind == Kind::Directory,
            size: looked.size(),
            modified: modified(&looked),
        };
        self.best.add(place, found);
    }
}
