//! Names of entries, which become paths below a directory or are refused.
//!
//! Readers of archives disagree about what is strange in a name; the rule here is to refuse what
//! any of them could take for a way out. What some system cannot hold gets the nearest name.

use std::borrow::Cow;

use super::error::EntryFault;
use fileshed_zones::zone::{
    NAME_MAX_BYTES, PATH_MAX_BYTES, PathError, ZoneName, ZonePath, fault_of_name, is_git_name,
    is_reserved, portable_name,
};

/// The parameter that [`PathError`] would name; entries have none.
const PARAMETER: &str = "src";

/// Separators of names: programs of Windows write backslashes, against the format.
pub(super) const SEPARATORS: [char; 2] = ['/', '\\'];

/// The path that an entry of this name gets below a directory whose own path takes `above` bytes,
/// and `true` if a name in it is another.
pub(super) fn path_of(
    name: &str,
    zone: ZoneName,
    above: usize,
) -> Result<(ZonePath, bool), EntryFault> {
    if name.contains('\0') {
        return Err(EntryFault::Control { character: '\0' });
    }
    let mut segments = name.split(SEPARATORS);
    if segments.clone().any(|segment| segment == "..") {
        return Err(EntryFault::Climbs);
    }
    if name.starts_with(SEPARATORS) || has_drive(name) {
        return Err(EntryFault::Absolute);
    }
    if name.is_empty() {
        return Err(EntryFault::NoName);
    }
    let is_kept =
        |segment: &str| is_reserved(segment) || (zone.is_versioned() && is_git_name(segment));
    if segments.any(is_kept) {
        return Err(EntryFault::Protected);
    }
    let names = name.split(SEPARATORS);
    let names = names.filter(|segment| !matches!(*segment, "" | "."));
    let names: Vec<_> = names.map(nearest).collect();
    let is_renamed = names.iter().any(|name| matches!(name, Cow::Owned(_)));
    let path = match &*names.join("/") {
        "" => ZonePath::root(),
        path => ZonePath::parse(PARAMETER, path).map_err(|error| fault(&error))?,
    };
    if above + 1 + path.as_str().len() > PATH_MAX_BYTES {
        return Err(EntryFault::TooLong);
    }
    Ok((path, is_renamed))
}

/// The nearest name that every system can hold.
fn nearest(name: &str) -> Cow<'_, str> {
    if fault_of_name(name).is_some() || name.len() > NAME_MAX_BYTES {
        portable_name(name).into()
    } else {
        name.into()
    }
}

/// Returns `true` for what the Finder adds to an archive: attributes and looks of folders.
pub(super) fn is_of_finder(name: &str) -> bool {
    let is_store = name.rsplit(SEPARATORS).next() == Some(".DS_Store");
    is_store || name.split(SEPARATORS).next() == Some("__MACOSX")
}

/// The name that an entry gets for a path: what other systems take for a separator or a drive is
/// written as the character that looks like it.
pub(super) fn written_name(path: &str) -> String {
    let name = path.replace('\\', "\u{ff3c}");
    if has_drive(&name) {
        name.replacen(':', "\u{ff1a}", 1)
    } else {
        name
    }
}

/// `C:` and the like, which is a place of its own on Windows.
fn has_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

fn fault(error: &PathError) -> EntryFault {
    match error {
        PathError::LongName { .. } | PathError::LongPath { .. } => EntryFault::TooLong,
        PathError::Reserved { .. } => EntryFault::Protected,
        _ => EntryFault::NoName,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fileshed_types::Code;

    fn path(name: &str, zone: ZoneName) -> Result<String, Code> {
        path_of(name, zone, 10)
            .map(|(path, _)| path.as_str().to_owned())
            .map_err(|fault| fault.code())
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        for (given, written) in [
            ("a/b.txt", "a/b.txt"),
            ("a\\..\\b", "a\u{ff3c}..\u{ff3c}b"),
            ("Q: what", "Q\u{ff1a} what"),
            ("a/Q: what", "a/Q: what"),
            ("ab: c", "ab: c"),
        ] {
            assert_eq!(written_name(given), written);
            assert_eq!(path(written, ZoneName::Storage), Ok(written.to_owned()));
        }
    }

    #[test]
    fn long_names_are_shortened() {
        let (path, is_renamed) =
            path_of(&"\u{6587}".repeat(100), ZoneName::Storage, 0).expect("a path");
        assert_eq!(path.as_str(), "\u{6587}".repeat(85));
        assert!(is_renamed);
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
            ("a\\b", Ok("a/b")),
            ("a\\b\\", Ok("a/b")),
            ("a\0b", Err(Code::InvalidPath)),
            ("a\nb", Ok("a_b")),
            ("Icon\r", Ok("Icon_")),
            ("a/con", Ok("a/_con")),
            ("what?", Ok("what_")),
            ("dot./x ", Ok("dot/x")),
            (".. /x", Ok("file/x")),
            ("-", Ok("-")),
            ("", Err(Code::InvalidFormat)),
            (".lfsig", Err(Code::ProtectedPath)),
            ("a/.FS_PEPPER/b", Err(Code::ProtectedPath)),
            (&long, Err(Code::InvalidPath)),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(path(name, ZoneName::Storage), expected, "{name:?}");
        }
        for name in [
            ".git/config",
            "a/.GIT",
            "git~1/x",
            ".g\u{200c}it",
            "a\\.git\\x",
        ] {
            let refused = Err(Code::ProtectedPath);
            assert_eq!(path(name, ZoneName::Documents), refused, "{name}");
            assert!(path(name, ZoneName::Storage).is_ok(), "{name}");
        }
    }
}
