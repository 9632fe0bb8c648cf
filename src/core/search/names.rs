//! Files and directories by their names: those that fit a pattern, and those that hold what somebody
//! begins to type.

use fileshed_storage::Name;
use fileshed_text::folded;
use serde::Serialize;

use crate::queue::Best;
use crate::walk::{Here, WalkScope, join, walk};
use crate::{Bounds, Exclusions, Globs, SearchResults, SearchRoot, Wanted};

/// Patterns of names to look for.
#[derive(Clone, Debug)]
pub struct Glob {
    /// Patterns of names that fit.
    pub pattern: Globs,
    /// Entries that are left out.
    pub exclude: Exclusions,
    /// Kind of the entries.
    pub wanted: Wanted,
    /// The most that is found.
    pub most: usize,
}

/// Text to look for in names, with the nearest ones first.
#[derive(Clone, Debug)]
pub struct RankedNames {
    /// Text that a name holds, in any case; every name fits if it is empty.
    pub query: String,
    /// Kind of the entries.
    pub wanted: Wanted,
    /// `true` if hidden entries count.
    pub shows_hidden: bool,
    /// The most that is found.
    pub most: usize,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedEntry {
    /// Its path: seen from where the search begins if it fits a pattern, else as answers show it.
    pub path: String,
    /// Its name, unless it fits a pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `file` or `directory`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Bytes of a file.
    pub size: u64,
    /// When it was changed, in seconds since 1970.
    pub modified: f64,
}

impl NamedEntry {
    /// Looks at an entry. `None` if it is gone.
    fn new(here: &Here, entry: &Name, path: String, name: Option<String>) -> Option<Self> {
        let looked = here.directory.look_at(&entry.text).ok()?;
        Some(Self {
            path,
            name,
            kind: looked.kind.entry_type(),
            size: looked.size(),
            modified: looked.stat.st_mtime as f64 + looked.stat.st_mtime_nsec as f64 / 1e9,
        })
    }
}

/// Finds the names that fit a pattern, in the order of the tree.
pub fn glob(trees: &[SearchRoot<'_>], glob: &Glob, bounds: &Bounds) -> SearchResults<NamedEntry> {
    let scope = WalkScope {
        shows_hidden: true,
        exclude: Some(&glob.exclude),
        wanted: glob.wanted,
    };
    let best = Best::new(glob.most);
    let has_enough = |place: &[u8]| !best.takes(&place.to_vec());
    let is_whole = walk(
        trees,
        &scope,
        bounds,
        || (),
        has_enough,
        |(), here, name| {
            let path = || join(&here.below, &name.text);
            if !glob.pattern.fit(&name.text, path) {
                return;
            }
            let place = here.place_of(name);
            if best.takes(&place)
                && let Some(found) = NamedEntry::new(here, name, path(), None)
            {
                best.add(place, found);
            }
        },
    );
    SearchResults::new(best, is_whole)
}

/// Finds names, the nearest first: equal names, then names that begin with the text, then names that hold
/// it; of these the shortest first.
pub fn ranked_names(
    trees: &[SearchRoot<'_>],
    names: &RankedNames,
    bounds: &Bounds,
) -> Vec<NamedEntry> {
    let scope = WalkScope {
        shows_hidden: names.shows_hidden,
        exclude: None,
        wanted: names.wanted,
    };
    let query = folded(names.query.trim());
    let best = Best::new(names.most);
    walk(
        trees,
        &scope,
        bounds,
        || (),
        |_| false,
        |(), here, name| {
            let Some(nearness) = nearness(&name.text, &query) else {
                return;
            };
            let key = Rank {
                nearness,
                length: name.text.chars().count(),
                folded: folded(&join(&here.below, &name.text)),
                place: here.place_of(name),
            };
            if !best.takes(&key) {
                return;
            }
            let path = trees[here.number].show(&here.directory.path().join(&name.text));
            if let Some(found) = NamedEntry::new(here, name, path, Some(name.text.clone())) {
                best.add(key, found);
            }
        },
    );
    best.finish().0
}

/// The place of an entry among those that hold what is looked for.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) nearness: u8,
    pub(crate) length: usize,
    /// The path, folded.
    pub(crate) folded: String,
    /// The place in the order of the tree, which no other entry has.
    pub(crate) place: Vec<u8>,
}

/// Returns how near a name is to a folded query.
pub(crate) fn nearness(name: &str, query: &str) -> Option<u8> {
    let name = folded(name);
    if name == query {
        Some(0)
    } else if name.starts_with(query) {
        Some(1)
    } else {
        name.contains(query).then_some(2)
    }
}
