//! Lines of all files that match a pattern.

use fileshed_storage::{Kind, Name};

use crate::best::Best;
use crate::content::{Line, LineSearch};
use crate::tree::{is_passed_by, join};
use crate::walk::{Here, Visitor, walk};
use crate::{Bounds, Found, Globs, Pattern, Tree};

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Grep {
    /// In each line.
    pub pattern: Pattern,
    /// Files that are searched; all, where there is none.
    pub include: Globs,
    /// Every line that matches, or only the first one of each file.
    pub each_line: bool,
    /// The most that is found.
    pub most: usize,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchingLine {
    /// Its file.
    pub file: String,
    /// Its number, counted from 1.
    pub line: u64,
    /// Its text; of a very long one the part around the match.
    pub content: String,
}

/// Searches the lines of every file. Files that are not text are passed by.
#[must_use]
pub fn grep(trees: &[Tree<'_>], grep: &Grep, bounds: &Bounds) -> Found<MatchingLine> {
    let search = GrepSearch {
        grep,
        bounds,
        best: Best::new(grep.most),
    };
    let is_whole = walk(trees, &search, bounds);
    let (items, more) = search.best.finish();
    Found {
        items,
        truncated: more || !is_whole,
    }
}

struct GrepSearch<'a> {
    grep: &'a Grep,
    bounds: &'a Bounds,
    best: Best<(Vec<u8>, u64), MatchingLine>,
}

impl Visitor for GrepSearch<'_> {
    type Worker = LineSearch;

    fn worker(&self) -> LineSearch {
        LineSearch::new(&self.grep.pattern, false)
    }

    fn belongs(&self, _above: &str, name: &Name) -> bool {
        !is_passed_by(name, true)
    }

    fn wants(&self, name: &Name) -> bool {
        name.kind == Kind::File
    }

    fn has_enough(&self, place: &[u8]) -> bool {
        !self.best.takes(&(place.to_vec(), 0))
    }

    fn visit(&self, search: &mut LineSearch, here: &Here<'_>, name: &Name) {
        let include = &self.grep.include;
        if !include.is_empty() && !include.fit(&name.text, || join(here.below, &name.text)) {
            return;
        }
        let Ok(file) = here.directory.open(&name.text) else {
            return;
        };
        let most = if self.grep.each_line {
            self.grep.most + 1
        } else {
            1
        };
        let lines = search.lines(file, most, self.bounds);
        if lines.is_empty() {
            return;
        }
        let place = here.place_of(name);
        let file = here.tree.show(&here.directory.path().join(&name.text));
        for Line { number, text, .. } in lines {
            let key = (place.clone(), number);
            if !self.best.takes(&key) {
                return;
            }
            let found = MatchingLine {
                file: file.clone(),
                line: number,
                content: text,
            };
            self.best.add(key, found);
        }
    }
}
