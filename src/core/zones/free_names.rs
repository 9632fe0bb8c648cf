//! Names beside one that is taken.

use crate::zone::ZonePath;
use fileshed_types::random;

/// Names that are tried: `a (2).txt` to `a (99).txt`.
const NAMES_MAX: u32 = 99;

/// Returns a name and its alternatives, in the order in which they are tried.
pub fn names(path: &ZonePath) -> impl Iterator<Item = ZonePath> {
    let others = (2..=NAMES_MAX).map(|number| numbered(path, &number.to_string()));
    std::iter::once(path.clone()).chain(others)
}

/// Names that are tried which nobody can have taken on purpose.
const UNLIKELY: usize = 8;

/// Returns a name, its alternatives, and then names that are certainly free.
pub fn endless_names(path: &ZonePath) -> impl Iterator<Item = ZonePath> {
    let unlikely = || random::bytes::<8>().ok().map(hex::encode);
    let others = std::iter::from_fn(move || Some(numbered(path, &unlikely()?)));
    names(path).chain(others.take(UNLIKELY))
}

/// Returns `a (2).txt` for `a.txt`, within the length that a name may have.
fn numbered(path: &ZonePath, number: &str) -> ZonePath {
    let name = path.name().unwrap_or_default();
    let (stem, extension) = match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name, ""),
    };
    let suffix = format!(" ({number}){extension}");
    let room = crate::zone::NAME_MAX_BYTES.saturating_sub(suffix.len());
    let end = (0..=room.min(stem.len()))
        .rev()
        .find(|end| stem.is_char_boundary(*end))
        .unwrap_or_default();
    let parent = path.parent().unwrap_or_else(ZonePath::root);
    parent.join(&format!("{}{suffix}", &stem[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_name_for_a_taken_one() {
        let long = "é".repeat(127);
        for (path, number, expected) in [
            ("a.txt", 2, "a (2).txt".to_owned()),
            ("d/a.tar.gz", 10, "d/a.tar (10).gz".to_owned()),
            (".hidden", 2, ".hidden (2)".to_owned()),
            ("none", 99, "none (99)".to_owned()),
            (&long, 2, format!("{} (2)", "é".repeat(125))),
        ] {
            let path = ZonePath::parse("file", path).expect("a path");
            let other = numbered(&path, &number.to_string());
            assert_eq!(other.as_str(), expected);
            assert!(other.name().is_some_and(|name| name.len() <= 255));
        }
    }
}
