//! Names and contents that hold what somebody types into a search box, in pages.
//!
//! Names come before contents. The contents of files are searched in the order of the answer and
//! only as far as the page needs them.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use fileshed_storage::{Kind, Name};
use fileshed_text::folded;
use fileshed_types::{Mutex, ZonePath};
use serde::Serialize;

use crate::grep::{LineSearch, SearchedFile};
use crate::names::{Rank, nearness};
use crate::queue::{Best, Queue};
use crate::walk::{Here, WalkScope, join, walk};
use crate::{Bounds, ContentMatch, Documents, Pattern, SearchRoot, Wanted};

/// Lines that are shown of a file.
const LINES: usize = 3;

/// The most files whose contents are searched.
const FILES: usize = 500_000;

/// Parameters of a search for names and contents.
#[derive(Clone, Debug)]
pub struct Matches {
    /// Text that a name or a line contains, in any case.
    pub query: String,
    /// The same, for lines.
    pub pattern: Pattern,
    /// `true` if hidden entries count.
    pub shows_hidden: bool,
    /// Results that are left out at the beginning.
    pub offset: usize,
    /// The most that a page holds.
    pub most: usize,
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Its path in the tree.
    pub path: String,
    /// Its path seen from where the search begins.
    pub relative_path: String,
    /// Its name.
    pub name: String,
    /// `file` or `directory`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `true` if its path contains the text.
    pub name_match: bool,
    /// The first lines that contain the text.
    pub content_matches: Vec<ContentMatch>,
}

/// A part of what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPage {
    /// The nearest first.
    pub items: Vec<Match>,
    /// Offset of the next page, if there is one.
    pub next_offset: Option<usize>,
}

/// Looks at every name, and at contents as far as the page needs them.
pub fn matches(
    trees: &[SearchRoot<'_>],
    matches: &Matches,
    bounds: &Bounds,
    documents: &dyn Documents,
) -> MatchPage {
    let last = matches.offset.saturating_add(matches.most);
    let search = PageSearch {
        trees,
        matches,
        bounds,
        documents,
    };
    let named = Best::new(last);
    let count = AtomicUsize::new(0);
    let others = Mutex::new(Vec::new());
    let scope = WalkScope {
        shows_hidden: matches.shows_hidden,
        exclude: None,
        wanted: Wanted::Any,
    };
    let query = folded(&matches.query);
    let visit = |(): &mut (), here: &Here, name: &Name| {
        let below = join(&here.below, &name.text);
        let folded = folded(&below);
        let found = nearness(&name.text, &query).or_else(|| folded.contains(&query).then_some(3));
        let key = Rank {
            nearness: found.unwrap_or(u8::MAX),
            length: below.chars().count(),
            folded,
            place: here.place_of(name),
        };
        let candidate = || Candidate {
            number: here.number,
            path: here.directory.path().join(&name.text),
            below,
            name: name.text.clone(),
            kind: name.kind,
        };
        if found.is_some() {
            count.fetch_add(1, Relaxed);
            if named.takes(&key) {
                named.add(key, candidate());
            }
        } else if name.kind == Kind::File {
            let mut others = others.lock();
            if others.len() < FILES {
                others.push((key, candidate()));
            }
        }
    };
    walk(trees, &scope, bounds, || (), |_| false, visit);
    let count = count.into_inner();
    let (mut named, mut has_more) = named.finish();
    let named = named.split_off(matches.offset.min(named.len()));
    let (mut items, _) = search.in_order(&named, named.len(), true);
    if !has_more {
        let mut others = others.into_inner();
        others.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        let others: Vec<Candidate> = others.into_iter().map(|(_, other)| other).collect();
        let most = last - count.min(last);
        let (found, more) = search.in_order(&others, most, false);
        items.extend(found.into_iter().skip(matches.offset.saturating_sub(count)));
        has_more = more;
    }
    MatchPage {
        items,
        next_offset: has_more.then_some(last),
    }
}

/// An entry that may be part of the answer.
struct Candidate {
    number: usize,
    path: ZonePath,
    below: String,
    name: String,
    kind: Kind,
}

/// The search of contents for a page.
struct PageSearch<'a> {
    trees: &'a [SearchRoot<'a>],
    matches: &'a Matches,
    bounds: &'a Bounds,
    documents: &'a dyn Documents,
}

impl PageSearch<'_> {
    /// Returns the first `most` results of candidates, in their order, and whether there are more.
    /// Those whose path does not hold the text need a line that does.
    fn in_order(
        &self,
        candidates: &[Candidate],
        most: usize,
        name_match: bool,
    ) -> (Vec<Match>, bool) {
        let best = Best::new(most);
        let queue = Queue::new((0..candidates.len()).map(|number| (number, ())));
        let worker = || LineSearch::new(&self.matches.pattern, self.documents);
        queue.run(self.bounds, worker, |search, number, ()| {
            let candidate = &candidates[number];
            if !best.takes(&number) {
                queue.close();
                return;
            }
            let content_matches = self.lines(search, candidate);
            if name_match || !content_matches.is_empty() {
                let found = Match {
                    path: self.trees[candidate.number].show(&candidate.path),
                    relative_path: candidate.below.clone(),
                    name: candidate.name.clone(),
                    kind: candidate.kind.entry_type(),
                    name_match,
                    content_matches,
                };
                best.add(number, found);
            }
        });
        best.finish()
    }

    fn lines(&self, search: &mut LineSearch<'_>, candidate: &Candidate) -> Vec<ContentMatch> {
        if candidate.kind == Kind::Directory || self.bounds.are_over() {
            return Vec::new();
        }
        let tree = &self.trees[candidate.number];
        let Ok(file) = tree.root.open_as_named(&candidate.path) else {
            return Vec::new();
        };
        let file = SearchedFile {
            file,
            name: &candidate.name,
            shown: &|| tree.show(&candidate.path),
        };
        search.lines(file, LINES, self.bounds)
    }
}
