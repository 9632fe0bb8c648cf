//! Names and contents that hold what somebody types into a search box, in pages.
//!
//! Names come before contents. The contents of files are searched in the order of the answer and
//! only as far as the page needs them.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fileshed_storage::{Kind, Name};
use fileshed_types::zone::ZonePath;

use crate::best::Best;
use crate::content::LineSearch;
use crate::queue::Queue;
use crate::ranked_names::rank;
use crate::tree::{is_passed_by, join};
use crate::walk::{Here, Visitor, walk};
use crate::{Bounds, Pattern, Tree};

/// Lines that are shown of a file.
const LINES: usize = 3;

/// The most files whose contents are searched.
const FILES: usize = 500_000;

/// What is looked for.
#[derive(Clone, Debug)]
pub struct Matches {
    /// What a name or a line holds, in any case.
    pub query: String,
    /// The same, for lines.
    pub pattern: Pattern,
    /// Whether hidden entries count.
    pub shows_hidden: bool,
    /// How many are left out at the beginning.
    pub offset: usize,
    /// The most that a page holds.
    pub most: usize,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its path in the tree.
    pub path: String,
    /// Its path seen from where the search begins.
    pub relative_path: String,
    /// Its name.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether its path holds what was looked for.
    pub name_match: bool,
    /// The first lines that do.
    pub content_matches: Vec<ContentMatch>,
}

/// A line that holds what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentMatch {
    /// Its number, counted from 1.
    pub line: u64,
    /// Where it begins, in UTF-16 units, counted from 1.
    pub column: usize,
    /// The line; of a very long one the part around the match.
    pub text: String,
}

/// A part of what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPage {
    /// The nearest first.
    pub items: Vec<Match>,
    /// Where the next page begins, if there is one.
    pub next_offset: Option<usize>,
}

/// Looks at every name, and at contents as far as the page needs them.
#[must_use]
pub fn matches(trees: &[Tree<'_>], matches: &Matches, bounds: &Bounds) -> MatchPage {
    let last = matches.offset.saturating_add(matches.most);
    let search = Names {
        matches,
        query: matches.query.to_lowercase(),
        named: Best::new(last),
        count: AtomicUsize::new(0),
        others: Mutex::new(Vec::new()),
    };
    walk(trees, &search, bounds);
    let count = search.count.into_inner();
    let (named, mut has_more) = search.named.finish();
    let named = named.get(matches.offset..).unwrap_or_default();
    let (mut items, _) = in_order(named, named.len(), matches, bounds, |search, candidate| {
        let lines = candidate.lines(search, trees, bounds);
        Some(candidate.shown(trees, true, lines))
    });
    if !has_more {
        let mut others = search
            .others
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        others.sort_unstable_by(|a, b| a.order.cmp(&b.order));
        let most = last - count.min(last);
        let (found, more) = in_order(&others, most, matches, bounds, |search, candidate| {
            let lines = candidate.lines(search, trees, bounds);
            (!lines.is_empty()).then(|| candidate.shown(trees, false, lines))
        });
        items.extend(found.into_iter().skip(matches.offset.saturating_sub(count)));
        has_more = more;
    }
    MatchPage {
        items,
        next_offset: has_more.then_some(last),
    }
}

/// The first `most` results of candidates, in their order, and whether there are more.
fn in_order(
    candidates: &[Candidate],
    most: usize,
    matches: &Matches,
    bounds: &Bounds,
    search: impl Fn(&mut LineSearch, &Candidate) -> Option<Match> + Sync,
) -> (Vec<Match>, bool) {
    let best = Best::new(most);
    let queue = Queue::new(0..candidates.len());
    queue.run(
        bounds,
        || LineSearch::new(&matches.pattern, true),
        |worker, number: usize| {
            if !best.takes(&number) {
                queue.close();
            } else if let Some(found) = search(worker, &candidates[number]) {
                best.add(number, found);
            }
        },
    );
    best.finish()
}

/// An entry that may be part of the answer.
struct Candidate {
    order: (usize, String),
    number: usize,
    path: ZonePath,
    below: String,
    name: String,
    is_directory: bool,
}

impl Candidate {
    fn lines(
        &self,
        search: &mut LineSearch,
        trees: &[Tree<'_>],
        bounds: &Bounds,
    ) -> Vec<ContentMatch> {
        if self.is_directory || bounds.are_over() {
            return Vec::new();
        }
        let Ok(file) = trees[self.number].root.open_as_named(&self.path) else {
            return Vec::new();
        };
        let lines = search.lines(file, LINES, bounds).into_iter();
        let shown = lines.map(|line| ContentMatch {
            line: line.number,
            column: line.column,
            text: line.text,
        });
        shown.collect()
    }

    fn shown(
        &self,
        trees: &[Tree<'_>],
        name_match: bool,
        content_matches: Vec<ContentMatch>,
    ) -> Match {
        Match {
            path: trees[self.number].show(&self.path),
            relative_path: self.below.clone(),
            name: self.name.clone(),
            is_directory: self.is_directory,
            name_match,
            content_matches,
        }
    }
}

struct Names<'a> {
    matches: &'a Matches,
    query: String,
    named: Best<(u8, usize, String), Candidate>,
    count: AtomicUsize,
    others: Mutex<Vec<Candidate>>,
}

impl Visitor for Names<'_> {
    type Worker = ();

    fn worker(&self) {}

    fn belongs(&self, _above: &str, name: &Name) -> bool {
        !is_passed_by(name, self.matches.shows_hidden)
    }

    fn wants(&self, _name: &Name) -> bool {
        true
    }

    fn visit(&self, (): &mut (), here: &Here<'_>, name: &Name) {
        let below = join(here.below, &name.text);
        let lower = below.to_lowercase();
        let rank = rank(&name.text.to_lowercase(), &self.query)
            .or_else(|| lower.contains(&self.query).then_some(3));
        let length = below.chars().count();
        let is_directory = name.kind == Kind::Directory;
        let candidate = |order| Candidate {
            order,
            number: here.number,
            path: here.directory.path().join(&name.text),
            below,
            name: name.text.clone(),
            is_directory,
        };
        if let Some(rank) = rank {
            self.count.fetch_add(1, Relaxed);
            let key = (rank, length, lower);
            if self.named.takes(&key) {
                self.named.add(key, candidate((0, String::new())));
            }
        } else if !is_directory {
            let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
            if others.len() < FILES {
                others.push(candidate((length, lower)));
            }
        }
    }
}
