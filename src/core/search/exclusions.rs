//! Entries that a search leaves out: by patterns of its caller, and by the `.gitignore` files of the
//! tree.

use std::io::Read as _;
use std::sync::Arc;

use fileshed_storage::Directory;
use fileshed_types::ZonePath;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::{Globs, SearchError};

/// The name of the files that hold rules.
pub const GITIGNORE: &str = ".gitignore";

/// Bytes and lines that are read of all such files that count in one directory: patterns are compiled.
pub const GITIGNORE_BYTES: u64 = 64 << 10;
const GITIGNORE_LINES: usize = 1000;

/// Entries that a search leaves out, with everything below them.
#[derive(Clone, Debug)]
pub struct Exclusions {
    /// Patterns of their names.
    pub globs: Globs,
    /// `true` if the `.gitignore` files of the tree count, with those above where the search begins.
    pub by_gitignore: bool,
}

impl Exclusions {
    /// The values of the parameters `exclude` and `gitignore`.
    pub fn new(exclude: Option<&[String]>, gitignore: Option<bool>) -> Result<Self, SearchError> {
        let patterns = exclude.unwrap_or_default();
        Ok(Self {
            globs: Globs::new("exclude", patterns.iter().map(String::as_str))?,
            by_gitignore: gitignore.unwrap_or(false),
        })
    }
}

/// The rules of the `.gitignore` files of a directory and of the directories above it.
#[derive(Clone, Debug, Default)]
pub struct IgnoreRules(Option<Arc<RuleFile>>);

#[derive(Debug)]
struct RuleFile {
    directory: ZonePath,
    rules: Gitignore,
    above: IgnoreRules,
    /// Bytes and lines that were read, with those above.
    read: (usize, usize),
}

impl IgnoreRules {
    /// Returns the rules of the directories above one, the highest first; `read` adds those of each.
    pub fn above(directory: &ZonePath, read: impl Fn(&Self, &ZonePath) -> Self) -> Self {
        let above = std::iter::successors(directory.parent(), ZonePath::parent);
        let above: Vec<ZonePath> = above.collect();
        let highest_first = above.iter().rev();
        highest_first.fold(Self::default(), |rules, directory| read(&rules, directory))
    }

    /// Returns the rules in `directory`, whose own file holds `text`. A line that is no pattern has
    /// no effect, as in git.
    #[must_use]
    pub fn below(&self, directory: &ZonePath, text: &[u8]) -> Self {
        let (bytes, lines) = self.0.as_ref().map_or((0, 0), |file| file.read);
        let left = (GITIGNORE_BYTES as usize).saturating_sub(bytes);
        // A line that is cut would be another rule.
        let text = match text.get(..left) {
            Some(cut) => &cut[..cut.iter().rposition(|byte| *byte == b'\n').unwrap_or(0)],
            None => text,
        };
        let shown = String::from_utf8_lossy(text);
        let shown = shown.trim_start_matches('\u{feff}').lines();
        let mut builder = GitignoreBuilder::new("");
        let mut count = lines;
        for line in shown.take(GITIGNORE_LINES.saturating_sub(lines)) {
            count += 1;
            // Braces mean nothing to git.
            let plain = line.replace('{', "\\{").replace('}', "\\}");
            let _no_pattern = builder.add_line(None, &plain);
        }
        match builder.build() {
            Ok(rules) if !rules.is_empty() => Self(Some(Arc::new(RuleFile {
                directory: directory.clone(),
                rules,
                above: self.clone(),
                read: (bytes + text.len(), count),
            }))),
            _ => self.clone(),
        }
    }

    /// Returns the rules in a directory that is open.
    pub(crate) fn in_directory(&self, directory: &Directory) -> Self {
        let mut text = Vec::new();
        let read = directory.open(GITIGNORE).map(|file| {
            let mut beginning = file.take(GITIGNORE_BYTES);
            beginning.read_to_end(&mut text)
        });
        match read {
            Ok(Ok(_)) => self.below(directory.path(), &text),
            _ => self.clone(),
        }
    }

    /// Returns `true` if they leave an entry out. The nearest file decides, and in it the last rule.
    pub fn ignore(&self, path: &ZonePath, is_directory: bool) -> bool {
        let mut rules = self;
        while let Some(file) = &rules.0 {
            let found = file
                .rules
                .matched(path.below(&file.directory), is_directory);
            if !found.is_none() {
                return found.is_ignore();
            }
            rules = &file.above;
        }
        false
    }
}
