//! Names as other systems write them, made ones that a zone takes.

use unicode_normalization::UnicodeNormalization;

use super::path::{NAME_MAX_BYTES, has_drive, is_never_made};

/// What a name is called of which nothing is left.
const NAMELESS: &str = "file";

/// Longest end of a name that is kept as it is when the name is too long, in bytes.
const EXTENSION_MAX_BYTES: usize = 32;

/// The nearest name of one file that every system can hold: what other names have before it goes,
/// what a name cannot have becomes `_`.
#[must_use]
pub fn portable_name(text: &str) -> String {
    let name = text.rsplit(['/', '\\']).next().unwrap_or_default();
    let taken = |character: char| {
        let refused = character.is_control() || "<>\"|?*".contains(character);
        if refused { '_' } else { character }
    };
    let name: String = name.nfc().map(taken).collect();
    let name = name.trim().trim_end_matches(is_no_end);
    let name = match name {
        "" => NAMELESS.to_owned(),
        name if is_never_made(name) || has_drive(name) => format!("_{name}"),
        name => name.to_owned(),
    };
    shortened(&name)
}

/// The same name within the length that a name may have; its extension stays.
fn shortened(name: &str) -> String {
    if name.len() <= NAME_MAX_BYTES {
        return name.to_owned();
    }
    let dot = name
        .rfind('.')
        .filter(|dot| name.len() - dot <= EXTENSION_MAX_BYTES);
    let (stem, extension) = name.split_at(dot.unwrap_or(name.len()));
    let room = NAME_MAX_BYTES - extension.len();
    let end = (0..=room).rev().find(|end| stem.is_char_boundary(*end));
    let stem = stem[..end.unwrap_or_default()].trim_end_matches(is_no_end);
    format!("{stem}{extension}")
}

/// Whether no name ends so.
fn is_no_end(character: char) -> bool {
    character == '.' || character.is_whitespace()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ZonePath;

    #[test]
    fn names_become_ones_that_are_taken() {
        let long = "é".repeat(200);
        for (text, expected) in [
            ("report.pdf", "report.pdf"),
            ("..", "file"),
            ("", "file"),
            ("../../etc/passwd", "passwd"),
            (r"C:\Users\ada\plan.docx", "plan.docx"),
            ("a/b/", "file"),
            ("what?\u{7}.txt", "what__.txt"),
            ("CON.txt", "_CON.txt"),
            ("com1", "_com1"),
            (" end. . ", "end"),
            ("end\u{a0}.", "end"),
            ("end.\u{2003}. ", "end"),
            (".git", "_.git"),
            (".lfsig", "_.lfsig"),
            ("Cafe\u{301}", "Café"),
            (
                &format!("{long}.tar.gz"),
                &format!("{}.gz", "é".repeat(126)),
            ),
            (&long, &"é".repeat(127)),
        ] {
            assert_eq!(portable_name(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_comes_is_a_name_in_the_end(text in "\\PC{0,300}|.{0,20}[./\\\\ \u{7}]{0,5}") {
            let name = portable_name(&text);
            let path = ZonePath::parse("file", &name).expect("a path");
            prop_assert_eq!(path.segments().count(), 1);
            prop_assert!(path.check_new_names("file", 0).is_ok(), "{}", name);
            prop_assert_eq!(path.as_str(), name.as_str());
            prop_assert_eq!(portable_name(&name), name);
        }
    }
}
