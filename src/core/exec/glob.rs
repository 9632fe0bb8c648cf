//! Names with `*`, `?` and `[…]` in arguments: no shell runs, so the zone expands them.

use crate::disk::{Kind, Root};
use crate::zone::ZonePath;

/// The paths that `pattern` stands for, in order, at most `limit` of them. As in a shell, a
/// wildcard stands for no `/` and for no leading dot.
pub(super) fn matches(data: &Root, pattern: &str, limit: usize) -> Vec<String> {
    let mut found = vec![ZonePath::root()];
    let mut segments = pattern.split('/').peekable();
    while let Some(segment) = segments.next() {
        let needs_directory = segments.peek().is_some();
        let mut next = Vec::new();
        for directory in &found {
            if !segment.contains(['*', '?', '[']) {
                let path = directory.join(segment);
                if data.followed(&path).is_ok() {
                    next.push(path);
                }
                continue;
            }
            for entry in data.list(directory).unwrap_or_default() {
                let name = entry.path.name().unwrap_or_default();
                let suits = fits(segment.as_bytes(), name.as_bytes())
                    && (segment.starts_with('.') || !name.starts_with('.'));
                if suits && (!needs_directory || entry.kind == Kind::Directory) {
                    next.push(entry.path);
                }
            }
        }
        next.sort();
        next.truncate(limit);
        found = next;
    }
    found
        .into_iter()
        .map(|path| path.as_str().to_owned())
        .collect()
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
        let expand = |pattern: &str| matches(&root, pattern, 100);
        assert_eq!(expand("*.md"), ["top.md"]);
        assert_eq!(expand("*/x.md"), ["a/x.md", "b/x.md"]);
        assert_eq!(expand("a/*"), ["a/x.md", "a/y.md"]);
        assert_eq!(expand(".*.md"), [".hidden.md"]);
        assert!(expand("*.none").is_empty());
    }
}
