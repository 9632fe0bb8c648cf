//! The names that a zone takes, and names as other systems write them, made such ones.

use unicode_normalization::UnicodeNormalization;

/// Longest name of one file or directory, in bytes: the limit of the usual file systems.
pub const NAME_MAX_BYTES: usize = 255;

/// Names that no path may hold, in any zone and any mode.
const RESERVED: [&str; 2] = [".lfsig", ".fs_pepper"];

/// The name of a file if all characters of its own are removed.
const NAMELESS: &str = "file";

/// Longest end of a name that is kept as it is when the name is too long, in bytes.
const EXTENSION_MAX_BYTES: usize = 32;

/// Returns the nearest file name that every system can hold. Directories before the name are removed,
/// and forbidden characters become `_`.
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

/// Shortens a name to the length that a name may have; its extension stays.
fn shortened(name: &str) -> String {
    if name.len() <= NAME_MAX_BYTES {
        return name.to_owned();
    }
    let dot = name
        .rfind('.')
        .filter(|dot| name.len() - dot <= EXTENSION_MAX_BYTES);
    let (stem, extension) = name.split_at(dot.unwrap_or(name.len()));
    let room = NAME_MAX_BYTES - extension.len();
    let stem = stem[..stem.floor_char_boundary(room)].trim_end_matches(is_no_end);
    format!("{stem}{extension}")
}

/// Returns `true` if no name ends so.
fn is_no_end(character: char) -> bool {
    character == '.' || character.is_whitespace()
}

/// Returns `true` if a name is kept for the server.
pub fn is_reserved(name: &str) -> bool {
    RESERVED
        .iter()
        .any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// Returns `true` if a name in NFC can be spelled in no other way. Three ASCII characters have a second
/// code point: K (Kelvin's sign), `;` (the Greek question mark) and the grave accent.
pub fn has_one_spelling(name: &str) -> bool {
    name.is_ascii() && !name.contains(['K', ';', '`'])
}

/// Returns `true` if one name is `.git` to git on any system, as a whole or after a backslash.
pub fn is_git_name(name: &str) -> bool {
    let visible: String = name
        .chars()
        .filter(|character| !is_ignored_by_hfs(*character))
        .collect();
    visible.split('\\').any(|part| {
        let part = part.split(':').next().unwrap_or(part);
        let bare = part.trim_end_matches(['.', ' ']);
        bare.eq_ignore_ascii_case(".git") || bare.eq_ignore_ascii_case("git~1")
    })
}

/// Returns `true` for zero-width characters that HFS+ drops when it compares names (git's `is_hfs_dotgit`).
fn is_ignored_by_hfs(character: char) -> bool {
    matches!(character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// Returns the reason why some operating system cannot hold a file of this name; `None` if all can.
pub fn fault_of_name(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let stem = stem.to_ascii_uppercase();
    let port = stem.strip_prefix("COM").or(stem.strip_prefix("LPT"));
    let is_port = port.is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']));
    if name.contains(char::is_control) {
        Some("holds a control character")
    } else if is_port || ["CON", "PRN", "AUX", "NUL"].contains(&&*stem) {
        Some("is a device name on Windows")
    } else if name.contains(['<', '>', '"', '|', '?', '*']) {
        Some("holds one of < > \" | ? *")
    } else if name.ends_with(['.', ' ']) {
        Some("ends with a dot or a blank")
    } else {
        None
    }
}

/// Returns `true` if no operation makes a name: it is kept for the server or for git, or some system cannot
/// hold it.
pub fn is_never_made(name: &str) -> bool {
    is_reserved(name) || is_git_name(name) || fault_of_name(name).is_some()
}

/// Returns `true` if a name is a drive of Windows, or a path that begins with one.
pub(super) fn has_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [drive, b':', rest @ ..]
        if drive.is_ascii_alphabetic() && matches!(rest, [] | [b'\\', ..]))
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
