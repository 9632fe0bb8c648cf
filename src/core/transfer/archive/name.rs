//! Names of entries, which become paths below a directory or are refused.
//!
//! Readers of archives disagree about what is strange in a name; the rule here is to refuse what
//! any of them could take for a way out. What is left obeys the rules of every new path.

use super::error::EntryFault;
use fileshed_zones::zone::{PATH_MAX_BYTES, PathError, ZoneName, ZonePath};

/// The parameter that [`PathError`] would name; entries have none.
const PARAMETER: &str = "src";

/// The path that an entry of this name gets below a directory whose own path takes `above` bytes.
pub(super) fn path_of(name: &str, zone: ZoneName, above: usize) -> Result<ZonePath, EntryFault> {
    if let Some(character) = name.chars().find(|character| character.is_control()) {
        return Err(EntryFault::Control { character });
    }
    let mut segments = name.split(['/', '\\']);
    if segments.any(|segment| segment == "..") {
        return Err(EntryFault::Climbs);
    }
    if name.starts_with(['/', '\\']) || has_drive(name) {
        return Err(EntryFault::Absolute);
    }
    if name.contains('\\') {
        return Err(EntryFault::Backslash);
    }
    if name.is_empty() {
        return Err(EntryFault::NoName);
    }
    let path = ZonePath::parse(PARAMETER, name).map_err(|error| fault(&error))?;
    if zone.is_versioned() && path.has_git_segment() {
        return Err(EntryFault::Protected);
    }
    path.check_new_names(PARAMETER, 0)
        .map_err(|error| fault(&error))?;
    if above + 1 + path.as_str().len() > PATH_MAX_BYTES {
        return Err(EntryFault::TooLong);
    }
    Ok(path)
}

/// `C:` and the like, which is a place of its own on Windows.
fn has_drive(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && characters.next() == Some(':')
}

fn fault(error: &PathError) -> EntryFault {
    match error {
        PathError::Reserved { .. } | PathError::Git { .. } | PathError::Journal { .. } => {
            EntryFault::Protected
        }
        PathError::LongName { .. } | PathError::LongPath { .. } => EntryFault::TooLong,
        PathError::NewName { name, reason, .. } => EntryFault::NewName {
            name: name.clone(),
            reason,
        },
        PathError::Control { character, .. } => EntryFault::Control {
            character: *character,
        },
        PathError::Escape { .. } => EntryFault::Climbs,
        PathError::Foreign { .. } => EntryFault::Backslash,
        PathError::Directory { .. }
        | PathError::Missing { .. }
        | PathError::StartsWithZone { .. }
        | PathError::Root { .. } => EntryFault::NoName,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fileshed_types::Code;

    fn path(name: &str, zone: ZoneName) -> Result<String, Code> {
        path_of(name, zone, 10)
            .map(|path| path.as_str().to_owned())
            .map_err(|fault| fault.code())
    }

    #[test]
    fn names_become_paths_below_or_are_refused() {
        let long = format!("{}/x", "x/".repeat(1531));
        for (name, expected) in [
            ("a/b.txt", Ok("a/b.txt")),
            ("a/b/", Ok("a/b")),
            ("./a//b", Ok("a/b")),
            ("./", Ok("")),
            ("e\u{301}.txt", Ok("\u{e9}.txt")),
            ("a:b", Err(Code::PathEscape)),
            ("ab:c", Ok("ab:c")),
            ("..a/b..c", Ok("..a/b..c")),
            ("../a", Err(Code::PathEscape)),
            ("a/../b", Err(Code::PathEscape)),
            ("a/..", Err(Code::PathEscape)),
            ("..\\a", Err(Code::PathEscape)),
            ("a\\..\\..\\b", Err(Code::PathEscape)),
            ("/etc/passwd", Err(Code::PathEscape)),
            ("\\\\host\\share", Err(Code::PathEscape)),
            ("C:\\a", Err(Code::PathEscape)),
            ("c:/a", Err(Code::PathEscape)),
            ("a\\b", Err(Code::InvalidPath)),
            ("a\0b", Err(Code::InvalidPath)),
            ("a\nb", Err(Code::InvalidPath)),
            ("a/con", Err(Code::InvalidPath)),
            ("what?", Err(Code::InvalidPath)),
            ("dot./x", Err(Code::InvalidPath)),
            ("", Err(Code::InvalidFormat)),
            (".lfsig", Err(Code::ProtectedPath)),
            ("a/.FS_PEPPER/b", Err(Code::ProtectedPath)),
            (&long, Err(Code::InvalidPath)),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(path(name, ZoneName::Storage), expected, "{name:?}");
        }
        for name in [".git/config", "a/.GIT", "git~1/x", ".g\u{200c}it"] {
            let refused = Err(Code::ProtectedPath);
            assert_eq!(path(name, ZoneName::Documents), refused, "{name}");
            assert!(path(name, ZoneName::Storage).is_ok(), "{name}");
        }
    }
}
