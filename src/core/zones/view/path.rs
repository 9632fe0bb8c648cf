//! Paths of the tree.

use fileshed_types::ZoneName;
use fileshed_types::zone::PathError;

/// The directory in which a caller begins.
pub const HOME: &str = "/storage";

/// The directories at the top, in the order in which they are listed.
pub const TOP: [&str; 5] = ["documents", "groups", "logs", "storage", "uploads"];

/// An absolute path of the tree, without `.`, `..`, empty segments and a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ViewPath {
    text: String,
    /// `true` if `/uploads` has a directory for each conversation.
    by_chat: bool,
}

/// The part of the tree that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewPlace<'a> {
    /// `/`
    Top,
    /// `/groups`
    Groups,
    /// `/uploads`, if it has a directory for each conversation.
    Chats,
    /// A zone: its name, its group if it has one, and the path in it as text.
    Zone(ZoneName, Option<&'a str>, &'a str),
    /// `/logs`, and the path below it.
    Logs(&'a str),
    /// No part of the tree.
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
        Ok(Self::kept(format!("/{}", segments.join("/"))))
    }

    /// Returns the same path in a tree whose `/uploads` has a directory for each conversation of the
    /// caller: the tree of a caller outside of all conversations.
    #[must_use]
    pub fn by_chat(self) -> Self {
        let by_chat = true;
        Self { by_chat, ..self }
    }

    /// Returns `true` if a path depends on the working directory.
    #[must_use]
    pub fn is_relative(text: &str) -> bool {
        !(text.starts_with('/') || text == "~" || text.starts_with("~/"))
    }

    /// Returns the home of every caller.
    #[must_use]
    pub fn home() -> Self {
        Self::kept(HOME.to_owned())
    }

    /// Creates a path from the text of [`ViewPath::as_str`].
    #[must_use]
    pub(super) fn kept(text: String) -> Self {
        let by_chat = false;
        Self { text, by_chat }
    }

    /// Returns another path of the same tree.
    fn with_text(&self, text: String) -> Self {
        let by_chat = self.by_chat;
        Self { text, by_chat }
    }

    /// Returns the path as text, with a slash in front.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the last segment; `None` for the top.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.text.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// Returns the directory above it; `None` for the top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (above, name) = self.text.rsplit_once('/')?;
        let above = if above.is_empty() { "/" } else { above };
        (!name.is_empty()).then(|| self.with_text(above.to_owned()))
    }

    /// Returns the path of an entry of this directory; `name` may have several segments.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        self.with_text(format!("{}/{name}", self.text.trim_end_matches('/')))
    }

    /// Returns the directory of the tree that is the root of the path's zone.
    #[must_use]
    pub fn root(&self) -> Self {
        let depth = match self.place() {
            ViewPlace::Top => return self.with_text("/".to_owned()),
            ViewPlace::Zone(ZoneName::Group, ..) => 2,
            ViewPlace::Zone(ZoneName::Uploads, ..) if self.by_chat => 2,
            _ => 1,
        };
        let segments: Vec<&str> = self.text.split('/').skip(1).take(depth).collect();
        self.with_text(format!("/{}", segments.join("/")))
    }

    /// Returns the conversation whose uploads hold it, if the path names one.
    #[must_use]
    pub fn chat(&self) -> Option<&str> {
        let below = self.text.strip_prefix("/uploads/")?;
        self.by_chat.then(|| split(below).0)
    }

    /// Returns the part of the tree that it leads to.
    #[must_use]
    pub fn place(&self) -> ViewPlace<'_> {
        let (first, rest) = split(self.text.trim_start_matches('/'));
        match first {
            "" => ViewPlace::Top,
            "uploads" if self.by_chat && rest.is_empty() => ViewPlace::Chats,
            "uploads" if self.by_chat => ViewPlace::Zone(ZoneName::Uploads, None, split(rest).1),
            "uploads" => ViewPlace::Zone(ZoneName::Uploads, None, rest),
            "storage" => ViewPlace::Zone(ZoneName::Storage, None, rest),
            "documents" => ViewPlace::Zone(ZoneName::Documents, None, rest),
            "groups" if rest.is_empty() => ViewPlace::Groups,
            "groups" => {
                let (group, rest) = split(rest);
                ViewPlace::Zone(ZoneName::Group, Some(group), rest)
            }
            "logs" => ViewPlace::Logs(rest),
            _ => ViewPlace::Nowhere,
        }
    }
}

impl std::fmt::Display for ViewPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Splits a path into its first segment and the rest.
fn split(path: &str) -> (&str, &str) {
    path.split_once('/').unwrap_or((path, ""))
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

    #[test]
    fn uploads_have_a_directory_for_each_chat_where_nobody_is_in_one() {
        let place = |path: &ViewPath| format!("{:?}", path.place());
        for (text, expected, root, chat) in [
            ("/uploads", "Chats", "/uploads", None),
            (
                "/uploads/c1",
                "Zone(Uploads, None, \"\")",
                "/uploads/c1",
                Some("c1"),
            ),
            (
                "/uploads/c1/a/b",
                "Zone(Uploads, None, \"a/b\")",
                "/uploads/c1",
                Some("c1"),
            ),
            (
                "/storage/c1/a",
                "Zone(Storage, None, \"c1/a\")",
                "/storage",
                None,
            ),
        ] {
            let path = ViewPath::kept(text.to_owned()).by_chat();
            assert_eq!(place(&path), expected, "{text}");
            assert_eq!(path.root().as_str(), root, "{text}");
            assert_eq!(path.chat(), chat, "{text}");
        }
        let inside = ViewPath::kept("/uploads".to_owned()).by_chat().join("c1/a");
        assert_eq!(inside.chat(), Some("c1"));
        let above = inside.parent().map(|above| place(&above));
        assert_eq!(above.as_deref(), Some("Zone(Uploads, None, \"\")"));
        let of_one_chat = ViewPath::kept("/uploads/c1/a".to_owned());
        assert_eq!(of_one_chat.chat(), None);
        assert_eq!(place(&of_one_chat), "Zone(Uploads, None, \"c1/a\")");
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
