//! Names with `*`, `?` and `[…]` in arguments: no shell runs, so the zone expands them.

use std::collections::HashMap;
use std::rc::Rc;

use regex::Regex;

use super::error::{BYTES_MAX, ExecError, NAMES_MAX};
use fileshed_storage::{Kind, Root, WalkEntry};
use fileshed_types::Error;
use fileshed_zones::zone::ZonePath;

/// Entries of directories that are kept for the next argument.
const KEPT_MAX: usize = 100_000;

/// Entries that are compared before it is asked whether to go on.
const STEP: usize = 4096;

/// The expansion of all arguments of one call: each directory is read once, and names, bytes and
/// time count together.
pub(super) struct Expansion<'a, G> {
    data: &'a Root,
    /// Fails if it is not to go on.
    check: G,
    read: HashMap<ZonePath, Rc<[WalkEntry]>>,
    kept: usize,
    names: usize,
    bytes: usize,
    compared: usize,
}

impl<'a, G: Fn() -> Result<(), Error>> Expansion<'a, G> {
    /// An expansion in `data`. `check` is asked now and then, and fails if it is not to go on.
    pub(super) fn new(data: &'a Root, check: G) -> Self {
        Self {
            data,
            check,
            read: HashMap::new(),
            kept: 0,
            names: 0,
            bytes: 0,
            compared: 0,
        }
    }

    /// The paths that `pattern` stands for, in order. As in a shell, a wildcard stands for no `/`
    /// and for no leading dot.
    pub(super) fn matches(&mut self, pattern: &str) -> Result<Vec<String>, Error> {
        let mut found = vec![ZonePath::root()];
        let mut segments = pattern.split('/').peekable();
        while let Some(segment) = segments.next() {
            let needs_directory = segments.peek().is_some();
            let names = wildcards(segment);
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
                    let suits = names.as_ref().is_some_and(|names| names.is_match(name))
                        && (segment.starts_with('.') || !name.starts_with('.'));
                    if suits && (!needs_directory || entry.kind == Kind::Directory) {
                        next.push(entry.path.clone());
                    }
                    if next.len() > NAMES_MAX {
                        return Err(ExecError::TooManyNames.into());
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
            return Err(ExecError::TooManyNames.into());
        }
        Ok(found
            .into_iter()
            .map(|path| path.as_str().to_owned())
            .collect())
    }

    fn list(&mut self, directory: &ZonePath) -> Rc<[WalkEntry]> {
        if let Some(entries) = self.read.get(directory) {
            return Rc::clone(entries);
        }
        let entries: Rc<[WalkEntry]> = self.data.list(directory).unwrap_or_default().into();
        if self.kept + entries.len() > KEPT_MAX {
            self.read.clear();
            self.kept = 0;
        }
        self.kept += entries.len();
        self.read.insert(directory.clone(), Rc::clone(&entries));
        entries
    }

    fn compare(&mut self, work: usize) -> Result<(), Error> {
        self.compared += work;
        if self.compared < STEP {
            return Ok(());
        }
        self.compared = 0;
        (self.check)()
    }
}

/// The names that a segment with wildcards stands for. By characters and in linear time, whatever
/// stars it has.
fn wildcards(segment: &str) -> Option<Regex> {
    let mut expression = String::from("(?s)^");
    let mut rest = segment;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            '[' => rest = set(rest, &mut expression)?,
            other => expression.push_str(&escaped(other)),
        }
    }
    expression.push('$');
    Regex::new(&expression).ok()
}

/// Appends the set whose members begin here, and answers with what follows its `]`.
fn set<'a>(text: &'a str, expression: &mut String) -> Option<&'a str> {
    let others = text.strip_prefix(['!', '^']);
    let text = others.unwrap_or(text);
    // A `]` that comes first is a member.
    let (end, _) = text
        .char_indices()
        .skip(1)
        .find(|(_, character)| *character == ']')?;
    let members: Vec<char> = text[..end].chars().collect();
    let mut members = members.as_slice();
    expression.push_str(if others.is_some() { "[^" } else { "[" });
    while let [first, rest @ ..] = members {
        members = rest;
        expression.push_str(&escaped(*first));
        if let ['-', last, rest @ ..] = rest {
            members = rest;
            expression.push('-');
            expression.push_str(&escaped(*last));
        }
    }
    expression.push(']');
    Some(&text[end + 1..])
}

fn escaped(character: char) -> String {
    format!(r"\x{{{:x}}}", u32::from(character))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes files")]
mod tests {
    use super::*;
    use fileshed_types::Code;

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
            ("[é].md", "é.md", true),
            ("[!é].md", "é.md", false),
            ("[à-é]?", "çx", true),
            ("[^a-]", "-", false),
            ("[z-a]", "m", false),
            ("{a,b}(c)\\d.$", "{a,b}(c)\\d.$", true),
            ("a*", "a\nb", true),
            ("*", "", true),
            ("[a", "[a", false),
        ] {
            let found = wildcards(pattern).is_some_and(|names| names.is_match(name));
            assert_eq!(found, expected, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = "*a".repeat(60);
        let names = wildcards(&pattern).expect("wildcards");
        assert!(!names.is_match(&"a".repeat(59)));
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
            let mut expansion = Expansion::new(&root, || Ok(()));
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
        let mut expansion = Expansion::new(&root, || Ok(()));
        let fitting = (0..40).take_while(|_| expansion.matches("*x").is_ok());
        assert_eq!(fitting.count(), 16);
        let refused = expansion.matches("*x").map_err(|error| error.code());
        assert_eq!(refused, Err(Code::InvalidParameter));
        assert_eq!(expansion.read.len(), 1, "one directory is read once");
        let stop = || Err(ExecError::NoNetwork { missing: "" }.into());
        let mut stopped = Expansion::new(&root, stop);
        let end = (0..100).find_map(|_| stopped.matches("none*").err());
        assert_eq!(end.map(|end| end.code()), Some(Code::SandboxUnavailable));
    }
}
