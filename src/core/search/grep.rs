//! Lines of files that match a pattern.

use std::fs::File;
use std::io::{self, Cursor, Read as _};

use fileshed_storage::Name;
use fileshed_text::{Encoding, without_line_end};
use grep_matcher::{LineTerminator, Matcher as _};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkMatch};
use serde::Serialize;

use crate::bounds::BoundedFile;
use crate::queue::Best;
use crate::walk::{Here, WalkScope, join, walk};
use crate::{
    Bounds, Documents, Exclusions, Globs, Pattern, SearchResults, SearchRoot, Wanted, documents,
    sections,
};

/// The longest line that is searched, in bytes: with one that is longer the search of a file ends.
const LINE: usize = 16 << 20;

/// The largest file that is searched as the text that it is in another encoding than UTF-8; a
/// larger one is searched as its bytes.
const DECODED: u64 = 8 << 20;

/// Bytes of a line that are shown, and how many of them lie before the match where the line is
/// longer.
const SHOWN: usize = 4000;
const BEFORE: usize = 200;

/// Parameters of a search in files.
#[derive(Clone, Debug)]
pub struct Grep {
    /// In each line.
    pub pattern: Pattern,
    /// Files that are searched; all, where there is none.
    pub include: Globs,
    /// Entries that are left out.
    pub exclude: Exclusions,
    /// Every line that matches, or only the first one of each file.
    pub each_line: bool,
    /// The most that is found.
    pub most: usize,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContentMatch {
    /// Its number, counted from 1.
    pub line: u64,
    /// Column of the match, from 1, in UTF-16 units, as browsers count.
    pub column: usize,
    /// The line without its end; of a very long one the part around the match.
    pub text: String,
}

/// A file that has a line that matches, with the line if each is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchingLine {
    /// The path of the file.
    pub file: String,
    /// The number of the line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The line; of a very long one the part around the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Searches the lines of every file, and the text of documents. Other files that are not text are
/// passed by.
pub fn grep(
    trees: &[SearchRoot<'_>],
    grep: &Grep,
    bounds: &Bounds,
    readers: &dyn Documents,
) -> SearchResults<MatchingLine> {
    let scope = WalkScope {
        shows_hidden: true,
        exclude: Some(&grep.exclude),
        wanted: Wanted::File,
    };
    let best = Best::new(grep.most);
    let most = if grep.each_line { grep.most + 1 } else { 1 };
    let visit = |search: &mut LineSearch<'_>, here: &Here, name: &Name| {
        let path = || join(&here.below, &name.text);
        if !grep.include.is_empty() && !grep.include.fit(&name.text, path) {
            return;
        }
        let Ok(file) = here.directory.open(&name.text) else {
            return;
        };
        let shown = || trees[here.number].show(&here.directory.path().join(&name.text));
        let file = SearchedFile {
            file,
            name: &name.text,
            shown: &shown,
        };
        for found in search.lines(file, most, bounds) {
            let key = (here.place_of(name), found.line);
            if !best.takes(&key) {
                return;
            }
            let matching = MatchingLine {
                file: shown(),
                line: grep.each_line.then_some(found.line),
                content: grep.each_line.then_some(found.text),
            };
            best.add(key, matching);
        }
    };
    let has_enough = |place: &[u8]| !best.takes(&(place.to_vec(), 0));
    let worker = || LineSearch::new(&grep.pattern, readers);
    let is_whole = walk(trees, &scope, bounds, worker, has_enough, visit);
    SearchResults::new(best, is_whole)
}

/// A file that is searched.
pub(crate) struct SearchedFile<'f> {
    pub(crate) file: File,
    pub(crate) name: &'f str,
    /// Its path in answers.
    pub(crate) shown: &'f dyn Fn() -> String,
}

/// The pattern and buffers with which one thread searches files.
pub(crate) struct LineSearch<'d> {
    pattern: Pattern,
    searcher: Searcher,
    documents: &'d dyn Documents,
}

impl<'d> LineSearch<'d> {
    pub(crate) fn new(pattern: &Pattern, documents: &'d dyn Documents) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_terminator(LineTerminator::crlf())
            .heap_limit(Some(LINE))
            .memory_map(MmapChoice::never())
            .build();
        Self {
            pattern: pattern.clone(),
            searcher,
            documents,
        }
    }

    /// Returns the first `most` lines of a file that match, up to its first NUL: the bytes behind it
    /// are not text. A file that cannot be read has those before the fault. Lines of a document begin
    /// with the page, slide or sheet that has them.
    pub(crate) fn lines(
        &mut self,
        searched: SearchedFile<'_>,
        most: usize,
        bounds: &Bounds,
    ) -> Vec<ContentMatch> {
        let mut file = searched.file;
        let mut lines = Lines {
            pattern: &self.pattern,
            most,
            found: Vec::new(),
        };
        if self.documents.may_be(searched.name) {
            if bounds.are_over() {
                return lines.found;
            }
            match documents::text_of(self.documents, &(searched.shown)(), &mut file) {
                Ok(Some(Ok(text))) => {
                    let matcher = &self.pattern.matcher;
                    let _whole = self
                        .searcher
                        .search_slice(matcher, text.as_bytes(), &mut lines);
                    let mut section = sections(&text);
                    for line in &mut lines.found {
                        locate(line, section(line.line));
                    }
                    return lines.found;
                }
                Ok(None) => {}
                Ok(Some(Err(_))) | Err(_) => return lines.found,
            }
        }
        let mut reader = BoundedFile { file, bounds };
        let Ok((mut beginning, encoding)) = Encoding::of_beginning(&mut reader) else {
            return lines.found;
        };
        let matcher = &self.pattern.matcher;
        let is_decoded = encoding.is_encoded()
            && (encoding.has_line_bytes() || beginning.contains(&0))
            && (&mut reader)
                .take(DECODED)
                .read_to_end(&mut beginning)
                .is_ok()
            && (beginning.len() as u64) < DECODED;
        let _whole = if is_decoded {
            let text = encoding.decode(&beginning);
            self.searcher
                .search_slice(matcher, text.as_bytes(), &mut lines)
        } else {
            let whole = Cursor::new(beginning).chain(reader);
            self.searcher.search_reader(matcher, whole, &mut lines)
        };
        lines.found
    }
}

/// Puts the page, slide or sheet in front of a line of a document.
fn locate(line: &mut ContentMatch, section: Option<&str>) {
    if let Some(section) = section {
        let prefix = format!("[{section}] ");
        line.column += prefix.encode_utf16().count();
        line.text.insert_str(0, &prefix);
    }
}

struct Lines<'a> {
    pattern: &'a Pattern,
    most: usize,
    found: Vec<ContentMatch>,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        let bytes = without_line_end(line.bytes());
        let found = self.pattern.matcher.find(bytes).ok().flatten();
        let start = found.map_or(0, |found| found.start());
        let before = String::from_utf8_lossy(&bytes[..start]);
        self.found.push(ContentMatch {
            line: line.line_number().unwrap_or(0),
            column: before.encode_utf16().count() + 1,
            text: part(bytes, start),
        });
        Ok(self.found.len() < self.most)
    }
}

/// Returns a line, or the part of a long one that shows a match.
fn part(line: &[u8], start: usize) -> String {
    if line.len() <= SHOWN {
        return String::from_utf8_lossy(line).into_owned();
    }
    let begin = if start + BEFORE < SHOWN {
        0
    } else {
        character(line, start - BEFORE)
    };
    let end = character(line, line.len().min(begin + SHOWN));
    let before = if begin > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    format!(
        "{before}{}{after}",
        String::from_utf8_lossy(&line[begin..end])
    )
}

/// Returns the beginning of the character at a byte.
fn character(line: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80))
        .unwrap_or(at)
}
