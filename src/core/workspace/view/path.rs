//! Paths of the tree.

use crate::ZoneName;
use fileshed_types::zone::PathError;

/// Where a caller begins.
pub const HOME: &str = "/storage";

/// The directories at the top, in the order in which they are listed.
pub const TOP: [&str; 5] = ["documents", "groups", "logs", "storage", "uploads"];

/// An absolute path of the tree, without `.`, `..`, empty segments and a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewPath(String);

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewPlace<'a> {
    /// `/`
    Top,
    /// `/groups`
    Groups,
    /// A zone: its name, its group where it has one, and the path in it as text.
    Zone(ZoneName, Option<&'a str>, &'a str),
    /// `/logs`, and the path below it.
    Logs(&'a str),
    /// Nothing of the tree.
    Nowhere,
}

impl ViewPath {
    /// Reads the value of `parameter`. A relative path begins in `directory`, `~` is the home; as in
    /// a shell, `..` at the top stays there.
    pub fn parse(parameter: &'static str, text: &str, directory: &Self) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Missing { parameter });
        }
        if let Some(character) = text.chars().find(|character| character.is_control()) {
            return Err(PathError::Control {
                parameter,
                path: text.replace(char::is_control, "\u{fffd}"),
                character,
            });
        }
        let (start, rest) = match text {
            "~" => (HOME, ""),
            _ if text.starts_with('/') => ("", text),
            _ => match text.strip_prefix("~/") {
                Some(rest) => (HOME, rest),
                None => (directory.as_str(), text),
            },
        };
        let mut segments: Vec<&str> = start.split('/').filter(|part| !part.is_empty()).collect();
        for segment in rest.split('/') {
            match segment {
                "" | "." => {}
                ".." => {
                    segments.pop();
                }
                name => segments.push(name),
            }
        }
        Ok(Self(format!("/{}", segments.join("/"))))
    }

    /// Whether what a text means depends on where it is said.
    #[must_use]
    pub fn is_relative(text: &str) -> bool {
        !(text.starts_with('/') || text == "~" || text.starts_with("~/"))
    }

    /// The home of every caller.
    #[must_use]
    pub fn home() -> Self {
        Self(HOME.to_owned())
    }

    /// A path that was written by [`ViewPath::as_str`].
    #[must_use]
    pub(super) fn kept(text: String) -> Self {
        Self(text)
    }

    /// The path as text, with a slash in front.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment; nothing for the top.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The directory above it; nothing for the top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (above, name) = self.0.rsplit_once('/')?;
        (!name.is_empty()).then(|| Self(if above.is_empty() { "/" } else { above }.to_owned()))
    }

    /// The path of an entry of this directory; `name` may have several segments.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        Self(format!("{}/{name}", self.0.trim_end_matches('/')))
    }

    /// The directory of the tree that is the root of the path's zone.
    #[must_use]
    pub fn root(&self) -> Self {
        let depth = match self.place() {
            ViewPlace::Top => return Self("/".to_owned()),
            ViewPlace::Zone(ZoneName::Group, ..) => 2,
            _ => 1,
        };
        let segments: Vec<&str> = self.0.split('/').skip(1).take(depth).collect();
        Self(format!("/{}", segments.join("/")))
    }

    /// What it leads to.
    #[must_use]
    pub fn place(&self) -> ViewPlace<'_> {
        let path = self.0.trim_start_matches('/');
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        match first {
            "" => ViewPlace::Top,
            "uploads" => ViewPlace::Zone(ZoneName::Uploads, None, rest),
            "storage" => ViewPlace::Zone(ZoneName::Storage, None, rest),
            "documents" => ViewPlace::Zone(ZoneName::Documents, None, rest),
            "groups" if rest.is_empty() => ViewPlace::Groups,
            "groups" => {
                let (group, rest) = rest.split_once('/').unwrap_or((rest, ""));
                ViewPlace::Zone(ZoneName::Group, Some(group), rest)
            }
            "logs" => ViewPlace::Logs(rest),
            _ => ViewPlace::Nowhere,
        }
    }
}

impl std::fmt::Display for ViewPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> String {
        let directory = ViewPath::kept("/storage/work".to_owned());
        let path = ViewPath::parse("path", text, &directory).expect("a path");
        path.as_str().to_owned()
    }

    #[test]
    fn paths_as_a_shell_reads_them() {
        for (text, expected) in [
            ("a.txt", "/storage/work/a.txt"),
            ("./a//b/", "/storage/work/a/b"),
            ("..", "/storage"),
            ("../../..", "/"),
            ("/", "/"),
            ("/documents/", "/documents"),
            ("~", "/storage"),
            ("~/a", "/storage/a"),
            ("~a", "/storage/work/~a"),
            ("/groups/t/../u/a b#c?d%20.md", "/groups/u/a b#c?d%20.md"),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn the_root_of_a_zone_and_what_is_above() {
        for (text, root, parent) in [
            ("/", "/", None),
            ("/storage", "/storage", Some("/")),
            ("/storage/a/b", "/storage", Some("/storage/a")),
            ("/groups", "/groups", Some("/")),
            ("/groups/t", "/groups/t", Some("/groups")),
            ("/groups/t/a/b", "/groups/t", Some("/groups/t/a")),
            ("/etc/passwd", "/etc", Some("/etc")),
        ] {
            let path = ViewPath::kept(text.to_owned());
            assert_eq!(path.root().as_str(), root, "{text}");
            let above = path.parent();
            assert_eq!(above.as_ref().map(ViewPath::as_str), parent, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_an_absolute_path(text in "[a-c./~ ]{1,20}") {
            let path = parse(&text);
            prop_assert!(path.starts_with('/'));
            prop_assert!(path.split('/').skip(1).all(|segment| segment != "." && segment != ".."));
            prop_assert!(path == "/" || !path.ends_with('/'));
            prop_assert_eq!(parse(&path), path);
        }
    }
}
