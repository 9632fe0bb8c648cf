//! Paths as callers write them, turned once into the one form that everything below uses.
//!
//! A [`ZonePath`] is relative, NFC-normalised, free of `.`, `..` and empty segments, and of names that
//! are reserved for the server. Only this module reads a path that comes from a caller. The path is
//! still only a name; fileshed-storage resolves it, on handles.

use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::ZoneName;
use super::file_name_rules::{
    NAME_MAX_BYTES, fault_of_name, has_drive, is_git_name, is_reserved, portable_name,
};
use crate::{Hint, NextCall, Repeat, diagnostics};

/// Longest path below a zone's root, in bytes: leaves space for the zone's own path on disk.
pub const PATH_MAX_BYTES: usize = 3072;

/// A path below the root of a zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ZonePath {
    /// Segments joined by `/`; empty for the root.
    text: String,
    /// The spelling before NFC, if it differs: files that commands create keep their own.
    spelling: Option<String>,
    /// `true` if it was given with a trailing slash, which only directories have.
    ends_with_slash: EndsWithSlash,
}

/// A trailing slash in the notation of a path. It is no part of the path: two paths that differ in it
/// are equal.
#[derive(Clone, Copy, Debug, Default)]
struct EndsWithSlash(bool);

impl PartialEq for EndsWithSlash {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for EndsWithSlash {}

impl std::hash::Hash for EndsWithSlash {
    fn hash<H: std::hash::Hasher>(&self, _state: &mut H) {}
}

impl PartialOrd for EndsWithSlash {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for EndsWithSlash {
    fn cmp(&self, _other: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl ZonePath {
    /// Returns the zone's root.
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads the value of `parameter`. A leading `/` means the root; `..` may move inside the
    /// zone and never above it; the root itself comes out for `"."` and `"/"`.
    pub fn parse(parameter: &'static str, text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Missing { parameter });
        }
        let given = || text.to_owned();
        if let Some(character) = text.chars().find(|character| character.is_control()) {
            return Err(PathError::Control {
                parameter,
                path: given().replace(char::is_control, "\u{fffd}"),
                character,
            });
        }
        let mut segments: Vec<&str> = Vec::new();
        for segment in text.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    if segments.pop().is_none() {
                        return Err(PathError::Escape {
                            parameter,
                            path: given(),
                        });
                    }
                }
                name if is_reserved(name) => {
                    return Err(PathError::Reserved {
                        parameter,
                        path: given(),
                        name: name.to_owned(),
                    });
                }
                name if name.nfc().map(char::len_utf8).sum::<usize>() > NAME_MAX_BYTES => {
                    return Err(PathError::LongName { parameter });
                }
                name => segments.push(name),
            }
        }
        let mut path = Self::spelled(segments.join("/"));
        path.ends_with_slash = EndsWithSlash(text.ends_with('/') && !path.is_root());
        if path.text.len() > PATH_MAX_BYTES {
            return Err(PathError::LongPath { parameter });
        }
        Ok(path)
    }

    /// Creates a path that was found on disk, in its spelling there.
    pub fn found(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Returns the path as registries key it: one key for every spelling of the same name.
    pub fn key(&self) -> String {
        if self.text.is_ascii() {
            return self.text.clone();
        }
        self.text.nfc().collect()
    }

    fn spelled(text: String) -> Self {
        if is_nfc(&text) {
            return Self::found(text);
        }
        Self {
            text: text.nfc().collect(),
            spelling: Some(text),
            ..Self::default()
        }
    }

    /// Returns the same path in the given spelling, if that is not NFC.
    pub fn as_spelled(&self) -> Option<Self> {
        self.spelling.clone().map(Self::found)
    }

    /// Returns `true` if this is the zone's root.
    pub fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the path as text; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the path as responses show it; `.` for the root.
    pub fn display(&self) -> &str {
        if self.is_root() { "." } else { &self.text }
    }

    /// Returns the segments from the root down.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.text.split('/').filter(|segment| !segment.is_empty())
    }

    /// Returns the last segment; `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.text.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// Returns the directory that holds this path; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let parent = self.text.rsplit_once('/').map_or("", |(parent, _)| parent);
        Some(Self::found(parent.to_owned()))
    }

    /// Returns the path of `name` in this directory.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        Self::found(if self.is_root() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.text)
        })
    }

    /// Returns the path of `inside` below this directory; this directory if `inside` is the root.
    #[must_use]
    pub fn join_path(&self, inside: &Self) -> Self {
        if inside.is_root() {
            self.clone()
        } else if self.is_root() {
            // As it was spelled.
            inside.clone()
        } else {
            self.join(inside.as_str())
        }
    }

    /// Returns `true` if this is `other` or below it, however both are spelled.
    pub fn is_at_or_below(&self, other: &Self) -> bool {
        let (path, other) = (self.key(), other.key());
        path == other || is_below(&path, &other)
    }

    /// Returns the part of this path below `directory`, which it begins with.
    pub fn below(&self, directory: &Self) -> &str {
        let rest = self.text.get(directory.text.len()..);
        rest.unwrap_or_default().trim_start_matches('/')
    }

    /// Returns `true` if it was given with a trailing slash: it means a directory, existing or to be created.
    pub fn names_directory(&self) -> bool {
        self.ends_with_slash.0
    }

    /// Returns the destination of an entry called `name` that is moved or copied to this path: below the
    /// directory if the path names one, else the path itself.
    #[must_use]
    pub fn for_arrival(self, name: Option<&str>) -> Self {
        match name {
            Some(name) if self.names_directory() => self.join(name),
            _ => self,
        }
    }

    /// Returns `true` if a segment is `.git` in one of the spellings that git itself protects: any case,
    /// trailing dots or blanks, the short name of NTFS, characters that HFS+ ignores.
    pub fn has_git_segment(&self) -> bool {
        self.segments().any(is_git_name)
    }

    /// Returns the zone whose name the path begins with, in any case, and the rest of the path. Models
    /// write `storage/x` for `x`, and `documents/x` for `x` of another zone.
    pub fn zone_in_front(&self) -> Option<(ZoneName, Self)> {
        let first = self.segments().next()?;
        let zone = ZoneName::ALL
            .into_iter()
            .find(|zone| first.eq_ignore_ascii_case(zone.as_str()))?;
        let rest = self.text[first.len()..].trim_start_matches('/').to_owned();
        Some((zone, Self::found(rest)))
    }

    /// Refuses the root, where an operation needs something inside it.
    pub fn refuse_root(&self, parameter: &'static str) -> Result<(), PathError> {
        if self.is_root() {
            return Err(PathError::Root { parameter });
        }
        Ok(())
    }

    /// Refuses names that some system of the people who share these files cannot hold. `existing`
    /// counts the leading segments that are on disk already and may stay as they are.
    pub fn check_new_names(
        &self,
        parameter: &'static str,
        existing: usize,
    ) -> Result<(), PathError> {
        if let Some(meant) = self.foreign(existing) {
            return Err(PathError::Foreign {
                parameter,
                path: self.text.clone(),
                meant,
            });
        }
        let mut new = self.segments().skip(existing);
        match new.find_map(|name| Some((name, fault_of_name(name)?))) {
            None => Ok(()),
            Some((name, reason)) => Err(PathError::NewName {
                parameter,
                path: self.text.clone(),
                name: name.to_owned(),
                reason,
            }),
        }
    }

    /// Returns the path that a Windows path means, if the new part of it has a backslash or a drive.
    fn foreign(&self, existing: usize) -> Option<Self> {
        let has_drive = existing == 0 && self.segments().next().is_some_and(has_drive);
        let mut new = self.segments().skip(existing);
        if !has_drive && !new.any(|name| name.contains('\\')) {
            return None;
        }
        let text = if has_drive {
            &self.text[2..]
        } else {
            &self.text
        };
        let text = text.replace('\\', "/");
        let meant = text
            .split('/')
            .filter(|name| !matches!(*name, "" | "." | ".."));
        Some(Self::found(meant.collect::<Vec<_>>().join("/")))
    }
}

impl std::fmt::Display for ZonePath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.display())
    }
}

diagnostics! {
    /// A path that cannot be used.
    #[derive(Debug, thiserror::Error)]
    pub enum PathError {
        /// Empty.
        #[error("parameter `{parameter}` is required, got an empty path")]
        Missing {
            /// The parameter at fault.
            parameter: &'static str,
        } => {
            code: MissingParameter,
            hint: format!("name a file, for instance {parameter}=\"notes/todo.md\""),
            details: { "parameter": parameter },
        },
        /// NUL or another control character.
        #[error("parameter `{parameter}` holds the control character U+{:04X}: `{path}`", u32::from(*character))]
        Control {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received, made printable.
            path: String = "notes/to\u{fffd}do.md".into(),
            /// The first control character.
            character: char,
        } => {
            code: InvalidPath,
            hint: format!(
                "leave control characters out of names, for instance {parameter}=\"notes/todo.md\""
            ),
            details: { "parameter": parameter, "path": path },
        },
        /// A segment over 255 bytes.
        #[error("parameter `{parameter}` has a name of more than {NAME_MAX_BYTES} bytes")]
        LongName {
            /// The parameter at fault.
            parameter: &'static str,
        } => {
            code: InvalidPath,
            hint: SHORTER,
            details: { "parameter": parameter },
        },
        /// The whole path is too long.
        #[error("parameter `{parameter}` has more than {PATH_MAX_BYTES} bytes")]
        LongPath {
            /// The parameter at fault.
            parameter: &'static str,
        } => {
            code: InvalidPath,
            hint: SHORTER,
            details: { "parameter": parameter },
        },
        /// `..` above the root.
        #[error("parameter `{parameter}` leads out of the zone: `{path}`")]
        Escape {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received.
            path: String = "../a.md".into(),
        } => {
            code: PathEscape,
            hint: Hint::from(format!(
                "paths are relative to the root of the zone and stay inside it, for instance \
                 {parameter}=\"notes/todo.md\""
            ))
            .or("shed_tree shows what is there"),
            details: { "parameter": parameter, "path": path },
        },
        /// A name that is kept for the server.
        #[error("parameter `{parameter}` holds the reserved name `{name}`: `{path}`")]
        Reserved {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received.
            path: String = "notes/.lfsig".into(),
            /// The reserved segment.
            name: String = ".lfsig".into(),
        } => {
            code: ProtectedPath,
            hint: "choose another name; this one is reserved for the server",
            details: { "parameter": parameter, "path": path },
        },
        /// `.git`, in which the server keeps history.
        #[error("parameter `{parameter}` is inside git's own directory: `{path}`")]
        Git {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received.
            path: String = ".git/config".into(),
        } => {
            code: ProtectedPath,
            hint: history(),
            details: { "parameter": parameter, "path": path },
        },
        /// Begins with the name of a zone.
        #[error(
            "parameter `{parameter}` begins with the name of {}: `{path}`",
            if zone == named { "its own zone".to_owned() } else { format!("the zone {named}") }
        )]
        StartsWithZone {
            /// The parameter at fault.
            parameter: &'static str => ["path", "path", "path", "args"],
            /// The value received.
            path: String = "documents/a.md".into(),
            /// The zone that the path is read in.
            zone: ZoneName => [ZoneName::Documents, ZoneName::Storage],
            /// The zone that it names.
            named: ZoneName => [ZoneName::Documents, ZoneName::Documents, ZoneName::Group],
            /// The path that was probably meant.
            corrected: ZonePath = ZonePath::found("a.md".into()),
        } => {
            code: PathStartsWithZone,
            hint: inside(parameter, *zone, *named, corrected),
            details: { "parameter": parameter, "path": path },
        },
        /// A name that belongs to a database, from somebody who may not write it.
        #[error("parameter `{parameter}` has the name of a database journal: `{path}`")]
        Journal {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received.
            path: String = "a.db-wal".into(),
        } => {
            code: ProtectedPath,
            hint: "use another name: SQLite applies files that end in -journal, -wal or -shm to \
                   the database beside them",
            details: { "parameter": parameter, "path": path },
        },
        /// The zone's root, where something inside it is needed.
        #[error("parameter `{parameter}` is the root")]
        Root {
            /// The parameter at fault.
            parameter: &'static str,
        } => {
            code: InvalidPath,
            hint: Hint::from(format!(
                "name something inside it, for instance {parameter}=\"notes\""
            ))
            .or("shed_tree shows what is there"),
            details: { "parameter": parameter },
        },
        /// A file is to be made, and the path is that of a directory.
        #[error("parameter `{parameter}` names a directory, with a slash at its end: `{path}/`")]
        Directory {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received.
            path: String = "notes/todo".into(),
            /// The file that was probably meant.
            meant: String = "notes/todo".into(),
        } => {
            code: InvalidPath,
            hint: Hint::new("for a file of this name, ")
                .again(Repeat::with(*parameter, meant.as_str())),
            details: { "parameter": parameter, "path": path },
        },
        /// A new path as Windows writes it.
        #[error("parameter `{parameter}` holds a backslash or a drive: `{path}`")]
        Foreign {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received.
            path: String => ["notes\\todo.md".into(), "C:".into()],
            /// The path with slashes, below the root.
            meant: ZonePath => [ZonePath::found("notes/todo.md".to_owned()), ZonePath::root()],
        } => {
            code: InvalidPath,
            hint: match *parameter {
                _ if meant.is_root() => {
                    format!("give `{parameter}` without a drive, relative to the zone").into()
                }
                "args" => Hint::from(format!("give the argument as `{meant}`")),
                _ => Hint::from(Repeat::with(*parameter, meant.as_str())),
            },
            details: { "parameter": parameter, "path": path },
        },
        /// A new name that not every system can hold.
        #[error("parameter `{parameter}`: the new name `{name}` {reason}")]
        NewName {
            /// The parameter at fault.
            parameter: &'static str,
            /// The value received.
            path: String = "notes/a?.md".into(),
            /// The segment at fault.
            name: String = "a?.md".into(),
            /// The fault of the segment.
            reason: &'static str,
        } => {
            code: InvalidPath,
            hint: format!("choose a plain name for `{parameter}`, for instance `{}`", portable_name(name)),
            details: { "parameter": parameter, "path": path },
        },
    }
}

const SHORTER: &str = "use a shorter name; an emoji counts 4 bytes, an accented letter 2";

/// Returns a hint on reading the history, which has no path.
fn history() -> Hint {
    let log = NextCall::here("shed_exec")
        .with("cmd", "git")
        .with("args", vec!["log", "--oneline"]);
    Hint::new("the server keeps the history, with a commit for every change")
        .or("read it with ")
        .call(log)
}

/// Returns a hint with the path without the leading name of the zone, in the zone that it names.
fn inside(parameter: &str, zone: ZoneName, named: ZoneName, corrected: &ZonePath) -> Hint {
    let known = zone == named || named != ZoneName::Group;
    if zone == named && corrected.is_root() && parameter != "args" {
        return Hint::new("paths are already inside the zone: name something in it, which ")
            .call(NextCall::here("shed_tree"))
            .say(" shows");
    }
    if parameter == "args" || corrected.is_root() || !known {
        let word = if parameter == "args" {
            format!("the argument `{corrected}`, or add allow_zone_in_path=true")
        } else {
            format!("{parameter}=\"{corrected}\"")
        };
        let group = if known { "" } else { ", group=…" };
        return format!("paths are already inside the zone: give zone=\"{named}\"{group}, {word}")
            .into();
    }
    let mut repeat = Repeat::default();
    if zone != named {
        repeat = repeat.and("zone", named.as_str());
    }
    Hint::new("paths are already inside the zone: ")
        .again(repeat.and(parameter, corrected.display()))
}

/// Returns `true` if a path leads to something inside the directory `above`.
pub fn is_below(path: &str, above: &str) -> bool {
    let rest = path.strip_prefix(above);
    rest.is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::zone::has_one_spelling;
    use crate::{Code, Diagnostic};

    fn parse(text: &str) -> Result<String, Code> {
        ZonePath::parse("path", text)
            .map(|path| path.display().to_owned())
            .map_err(|error| error.code())
    }

    #[test]
    fn few_ascii_names_have_another_spelling() {
        let others = (0x80..=0x10_ffff).filter_map(char::from_u32);
        let ascii: std::collections::BTreeSet<char> = others
            .filter_map(|character| {
                let mut composed = std::iter::once(character).nfc();
                let first = composed.next().filter(char::is_ascii)?;
                composed.next().is_none().then_some(first)
            })
            .collect();
        assert!(ascii.iter().eq([';', 'K', '`'].iter()), "{ascii:?}");
        assert!(has_one_spelling("a-k.md"));
        for name in ["\u{e9}", "aK", "a;", "`"] {
            assert!(!has_one_spelling(name));
        }
    }

    #[test]
    fn paths_as_callers_write_them() {
        let long = "x".repeat(256);
        for (given, expected) in [
            ("a/b.md", Ok("a/b.md")),
            ("/a/b.md", Ok("a/b.md")),
            ("./a//b/", Ok("a/b")),
            ("a/../b", Ok("b")),
            ("a/..", Ok(".")),
            (".", Ok(".")),
            ("/", Ok(".")),
            ("e\u{301}te\u{301}.md", Ok("\u{e9}t\u{e9}.md")),
            ("na me/😀.txt", Ok("na me/😀.txt")),
            ("..", Err(Code::PathEscape)),
            ("a/../../b", Err(Code::PathEscape)),
            ("", Err(Code::MissingParameter)),
            ("a\0b", Err(Code::InvalidPath)),
            ("a\nb", Err(Code::InvalidPath)),
            (long.as_str(), Err(Code::InvalidPath)),
            (".lfsig/x", Err(Code::ProtectedPath)),
            ("a/.FS_PEPPER", Err(Code::ProtectedPath)),
        ] {
            assert_eq!(parse(given), expected.map(str::to_owned), "{given:?}");
        }
    }

    #[test]
    fn new_names_suit_every_system() {
        for (given, existing, fine) in [
            ("notes/todo.md", 0, true),
            ("CONSOLE.md", 0, true),
            ("COM10", 0, true),
            ("con", 0, false),
            ("a/Nul.txt", 0, false),
            ("lpt1.log", 0, false),
            ("a?b", 0, false),
            ("a|b/c", 0, false),
            ("a|b/c", 1, true),
            ("dot.", 0, false),
            ("blank ", 0, false),
        ] {
            let path = ZonePath::parse("path", given).expect(given);
            assert_eq!(
                path.check_new_names("path", existing).is_ok(),
                fine,
                "{given}"
            );
        }
    }

    #[test]
    fn every_spelling_of_git() {
        for name in [
            ".git",
            ".GIT",
            ".git.",
            ".git ",
            "git~1",
            ".g\u{200c}it",
            ".git:x",
            ".git .:x",
            ".git::$INDEX_ALLOCATION",
            "a\\.git",
            "\\.git",
            "a\\git~1 .\\b",
        ] {
            assert!(is_git_name(name), "{name}");
        }
        for name in [
            ".gitignore",
            "git",
            ".gitattributes",
            "a.git",
            "a\\b",
            "git~2",
        ] {
            assert!(!is_git_name(name), "{name}");
        }
    }

    #[test]
    fn the_zone_in_front_is_found() {
        for (given, expected) in [
            ("Storage/a/b", Some((ZoneName::Storage, "a/b"))),
            ("DOCUMENTS", Some((ZoneName::Documents, "."))),
            ("group/team/x", Some((ZoneName::Group, "team/x"))),
            ("uploads/x", Some((ZoneName::Uploads, "x"))),
            ("storage2/x", None),
            ("a/storage/x", None),
            (".", None),
        ] {
            let path = ZonePath::parse("path", given).expect("a plain path");
            let found = path.zone_in_front();
            let found = found.as_ref().map(|(zone, rest)| (*zone, rest.display()));
            assert_eq!(found, expected, "{given}");
        }
    }

    proptest! {
        #[test]
        fn no_path_climbs(text in "[a-c./]{0,20}") {
            if let Ok(path) = ZonePath::parse("path", &text) {
                prop_assert!(path.segments().all(|segment| segment != ".." && segment != "."));
                prop_assert!(!path.as_str().starts_with('/'));
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            if let Ok(path) = ZonePath::parse("path", &text) {
                let _outcome = path.check_new_names("path", 0);
                prop_assert!(is_nfc(path.as_str()));
                prop_assert_eq!(ZonePath::parse("path", &format!("/{}", path.as_str())).ok().map(|p| p.text), Some(path.text));
            }
        }
    }
}
