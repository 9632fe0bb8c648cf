//! Names that are not valid on every system, as programs write them to a drive.
//!
//! Clients request a file under the name with which they wrote it, so such a name is stored in a
//! reversible form: a character that is not valid on every system is stored as U+F000 plus its code, as
//! Windows clients of network drives do. The drive shows the original name.

use std::borrow::Cow;

use fileshed_core::zone::fault_of_name;

/// Start of the private range that stands for characters of ASCII that are not valid in every name.
const PRIVATE: u32 = 0xf000;

/// Returns the stored form of a path of the tree; the directories above a zone keep their names.
pub(super) fn stored(path: &str) -> String {
    below_zone(path, stored_name)
}

/// Returns a stored path as the drive shows it.
pub(super) fn shown(path: &str) -> String {
    below_zone(path, shown_name)
}

fn below_zone(path: &str, change: impl Fn(&str) -> Cow<'_, str>) -> String {
    let mut above = match path.trim_start_matches('/').split('/').next() {
        Some("uploads" | "groups") => 2,
        _ => 1,
    };
    let changed = path.split('/').map(|name| {
        if name.is_empty() || above > 0 {
            above -= u32::from(!name.is_empty());
            return name.into();
        }
        change(name)
    });
    changed.collect::<Vec<_>>().join("/")
}

fn stored_name(name: &str) -> Cow<'_, str> {
    let is_refused =
        |character: char| character.is_ascii_control() || "<>\"|?*\\".contains(character);
    if matches!(name, "." | "..") {
        return name.into();
    }
    let has_bad_end = name.ends_with(['.', ' ']);
    if !name.contains(is_refused) && !has_bad_end && fault_of_name(name).is_none() {
        return name.into();
    }
    let last = name.chars().count() - 1;
    let kept = |(place, character): (usize, char)| {
        if is_refused(character) || (has_bad_end && place == last) {
            private(character)
        } else {
            character
        }
    };
    let stored: String = name.chars().enumerate().map(kept).collect();
    if fault_of_name(&stored).is_none() {
        return stored.into();
    }
    // The name of a device.
    let mut rest = stored.chars();
    let first = rest.next().map(private);
    first.into_iter().chain(rest).collect::<String>().into()
}

fn private(character: char) -> char {
    char::from_u32(PRIVATE + u32::from(character))
        .filter(|_| character.is_ascii())
        .unwrap_or(character)
}

/// Returns the original name of a stored one.
pub(super) fn shown_name(stored: &str) -> Cow<'_, str> {
    let is_private = |character: char| (PRIVATE + 1..PRIVATE + 128).contains(&u32::from(character));
    if !stored.contains(is_private) {
        return stored.into();
    }
    let plain = |character: char| {
        let ascii =
            char::from_u32(u32::from(character) - PRIVATE * u32::from(is_private(character)));
        ascii.unwrap_or(character)
    };
    let shown: String = stored.chars().map(plain).collect();
    let is_name = !shown.contains('/') && !matches!(&*shown, "." | "..");
    if is_name && stored_name(&shown) == stored {
        shown.into()
    } else {
        stored.into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_name_leads_to_the_directory_that_it_is_in() {
        for name in [".", ".."] {
            assert_eq!(stored_name(name), name);
        }
        for name in ["\u{f02e}", "\u{f02e}.", ".\u{f02e}", "\u{f02e}\u{f02e}"] {
            assert_eq!(shown_name(name), name);
        }
    }

    #[test]
    fn names_that_some_system_cannot_hold_lead_back() {
        for (name, expected) in [
            ("plain.txt", "plain.txt"),
            ("What now?.txt", "What now\u{f03f}.txt"),
            (
                "a|b<c>\"d\"*",
                "a\u{f07c}b\u{f03c}c\u{f03e}\u{f022}d\u{f022}\u{f02a}",
            ),
            ("a\\b", "a\u{f05c}b"),
            ("Icon\r", "Icon\u{f00d}"),
            ("etc.", "etc\u{f02e}"),
            ("blank ", "blank\u{f020}"),
            ("12:30", "12:30"),
            ("aux.c", "\u{f061}ux.c"),
        ] {
            assert_eq!(stored_name(name), expected, "{name}");
            assert_eq!(shown_name(expected), name);
        }
        assert_eq!(shown_name("a\u{f062}c"), "a\u{f062}c");
        assert_eq!(stored("/groups/R&D?/a?"), "/groups/R&D?/a\u{f03f}");
        assert_eq!(stored("storage/a?/b?"), "storage/a\u{f03f}/b\u{f03f}");
        assert_eq!(shown("/storage/a\u{f03f}"), "/storage/a?");
    }

    proptest! {
        #[test]
        fn every_name_leads_back(name in "[ -~\u{1}-\u{1f}\u{f001}-\u{f07f}é]{1,12}") {
            prop_assume!(!name.contains('/') && name != "." && name != "..");
            let stored = stored_name(&name);
            prop_assert_eq!(fault_of_name(&stored), None);
            prop_assert_eq!(stored_name(&stored), &*stored);
            if !name.contains(|c| ('\u{f001}'..'\u{f080}').contains(&c)) {
                prop_assert_eq!(shown_name(&stored), &*name);
            }
        }
    }
}
