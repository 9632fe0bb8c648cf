//! Names with `*`, `?` and `[…]` in arguments: no shell runs, so the zone expands them.

use std::collections::HashMap;
use std::rc::Rc;

use crate::disk::{Found, Kind, Root};
use crate::zone::ZonePath;

/// Names that all arguments of a call may stand for together.
pub(super) const NAMES_MAX: usize = 5000;

/// Bytes of these names: what the kernel takes as arguments of a program, less some for others.
pub(super) const BYTES_MAX: usize = 1 << 20;

/// Entries of directories that are kept for the next argument.
const KEPT_MAX: usize = 100_000;

/// Entries that are compared before it is asked whether to go on.
const STEP: usize = 4096;

/// Why arguments were not expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unexpanded {
    /// They stand for more than a call may have.
    TooMany,
    /// It was not to go on.
    Stopped,
}

/// The expansion of all arguments of one call: each directory is read once, and names, bytes and
/// time count together.
pub(super) struct Expansion<'a, G> {
    data: &'a Root,
    goes_on: G,
    read: HashMap<ZonePath, Rc<[Found]>>,
    kept: usize,
    names: usize,
    bytes: usize,
    compared: usize,
}

impl<'a, G: Fn() -> bool> Expansion<'a, G> {
    /// None yet. `goes_on` is asked now and then.
    pub(super) fn new(data: &'a Root, goes_on: G) -> Self {
        Self {
            data,
            goes_on,
            read: HashMap::new(),
            kept: 0,
            names: 0,
            bytes: 0,
            compared: 0,
        }
    }

    /// The paths that `pattern` stands for, in order. As in a shell, a wildcard stands for no `/`
    /// and for no leading dot.
    pub(super) fn matches(&mut self, pattern: &str) -> Result<Vec<String>, Unexpanded> {
        let mut found = vec![ZonePath::root()];
        let mut segments = pattern.split('/').peekable();
        while let Some(segment) = segments.next() {
            let needs_directory = segments.peek().is_some();
            let mut next = Vec::new();
            for directory in &found {
                self.compare(1)?;
                if !segment.contains(['*', '?', '[']) {
                    let path = directory.join(segment);
                    if self.data.followed(&path).is_ok() {
                        next.push(path);
                    }
                    continue;
                }
                for entry in self.list(directory).iter() {
                    self.compare(1 + segment.len() / 64)?;
                    let name = entry.path.name().unwrap_or_default();
                    let suits = fits(segment.as_bytes(), name.as_bytes())
                        && (segment.starts_with('.') || !name.starts_with('.'));
                    if suits && (!needs_directory || entry.kind == Kind::Directory) {
                        next.push(entry.path.clone());
                    }
                    if next.len() > NAMES_MAX {
                        return Err(Unexpanded::TooMany);
                    }
                }
            }
            next.sort();
            found = next;
        }
        self.names += found.len();
        self.bytes += found
            .iter()
            .map(|path| path.as_str().len() + 1)
            .sum::<usize>();
        if self.names > NAMES_MAX || self.bytes > BYTES_MAX {
            return Err(Unexpanded::TooMany);
        }
        Ok(found
            .into_iter()
            .map(|path| path.as_str().to_owned())
            .collect())
    }

    fn list(&mut self, directory: &ZonePath) -> Rc<[Found]> {
        if let Some(entries) = self.read.get(directory) {
            return Rc::clone(entries);
        }
        let entries: Rc<[Found]> = self.data.list(directory).unwrap_or_default().into();
        if self.kept + entries.len() > KEPT_MAX {
            self.read.clear();
            self.kept = 0;
        }
        self.kept += entries.len();
        self.read.insert(directory.clone(), Rc::clone(&entries));
        entries
    }

    fn compare(&mut self, work: usize) -> Result<(), Unexpanded> {
        self.compared += work;
        if self.compared < STEP {
            return Ok(());
        }
        self.compared = 0;
        if (self.goes_on)() {
            Ok(())
        } else {
            Err(Unexpanded::Stopped)
        }
    }
}

/// Whether a wildcard segment stands for a name. Steps back only to the last `*`, so its time is
/// bounded by the product of the lengths.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        let step = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at + 1, place));
                at += 1;
                continue;
            }
            // One character may have several bytes.
            Some(b'?') => Some((1, character_length(name[place]))),
            Some(b'[') => set(&pattern[at..], name[place]).map(|length| (length, 1)),
            Some(byte) if *byte == name[place] => Some((1, 1)),
            _ => None,
        };
        match (step, star) {
            (Some((in_pattern, in_name)), _) => {
                at += in_pattern;
                place += in_name;
            }
            (None, Some((after_star, began))) => {
                at = after_star;
                place = began + 1;
                star = Some((after_star, place));
            }
            (None, None) => return false,
        }
    }
    place == name.len() && pattern[at..].iter().all(|byte| *byte == b'*')
}

fn character_length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}

/// The length of the set `[…]` at the beginning of `pattern` if it holds `byte`.
fn set(pattern: &[u8], byte: u8) -> Option<usize> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let start = 1 + usize::from(negated);
    let end = start
        + 1
        + pattern
            .get(start + 1..)?
            .iter()
            .position(|byte| *byte == b']')?;
    let members = &pattern[start..end];
    let mut holds = false;
    let mut at = 0;
    while at < members.len() {
        if members.len() > at + 2 && members[at + 1] == b'-' {
            holds |= (members[at]..=members[at + 2]).contains(&byte);
            at += 3;
        } else {
            holds |= members[at] == byte;
            at += 1;
        }
    }
    (holds != negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_as_a_shell_has_them() {
        for (pattern, name, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "a.md", false),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "aXbYb", false),
            ("?.md", "é.md", true),
            ("??.md", "é.md", false),
            ("[a-c]1", "b1", true),
            ("[!a-c]1", "b1", false),
            ("[]x]", "]", true),
            ("*", "", true),
            ("[a", "[a", false),
        ] {
            assert_eq!(
                fits(pattern.as_bytes(), name.as_bytes()),
                expected,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(60);
        assert!(!fits(pattern.as_bytes(), "a".repeat(59).as_bytes()));
    }

    #[test]
    fn patterns_across_directories() {
        let directory = tempfile::tempdir().expect("a directory");
        for path in ["a/x.md", "a/y.md", "b/x.md", ".hidden.md", "top.md"] {
            let file = directory.path().join(path);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("made");
            std::fs::write(file, "").expect("written");
        }
        let root = Root::open_ambient(directory.path()).expect("a root");
        let expand = |pattern: &str| {
            let mut expansion = Expansion::new(&root, || true);
            expansion.matches(pattern).expect("few")
        };
        assert_eq!(expand("*.md"), ["top.md"]);
        assert_eq!(expand("*/x.md"), ["a/x.md", "b/x.md"]);
        assert_eq!(expand("a/*"), ["a/x.md", "a/y.md"]);
        assert_eq!(expand(".*.md"), [".hidden.md"]);
        assert!(expand("*.none").is_empty());
    }

    #[test]
    fn names_bytes_and_time_count_over_all_arguments() {
        let directory = tempfile::tempdir().expect("a directory");
        for number in 0..300 {
            let name = format!("{number:03}{}", "x".repeat(200));
            std::fs::write(directory.path().join(name), "").expect("written");
        }
        let root = Root::open_ambient(directory.path()).expect("a root");
        // 300 names of 204 bytes: 16 times are 4800 names, 17 times more than a mebibyte.
        let mut expansion = Expansion::new(&root, || true);
        let fitting = (0..40).take_while(|_| expansion.matches("*x").is_ok());
        assert_eq!(fitting.count(), 16);
        assert_eq!(expansion.matches("*x"), Err(Unexpanded::TooMany));
        assert_eq!(expansion.read.len(), 1, "one directory is read once");
        let mut stopped = Expansion::new(&root, || false);
        let end = (0..100).find_map(|_| stopped.matches("none*").err());
        assert_eq!(end, Some(Unexpanded::Stopped));
    }
}
