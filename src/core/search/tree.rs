//! Where a search begins, and what it passes by.

use fileshed_storage::{Entry, Kind, Name, Root};
use fileshed_types::zone::{ZonePath, is_git_name, is_reserved};

/// A directory or a file to search.
#[derive(Debug)]
pub struct Tree<'a> {
    pub(crate) root: &'a Root,
    pub(crate) path: ZonePath,
    pub(crate) is_file: bool,
    /// How it is called where it is searched from.
    pub(crate) below: String,
    /// How it is called in answers.
    pub(crate) shown: String,
}

impl<'a> Tree<'a> {
    /// What `entry` of `root` is. In answers it is called `shown`, and `below` seen from where the
    /// whole search begins: nothing where that is itself.
    #[must_use]
    pub fn new(root: &'a Root, entry: &Entry, shown: &str, below: &str) -> Self {
        Self {
            root,
            path: entry.path().clone(),
            is_file: entry.kind() == Kind::File,
            below: below.to_owned(),
            shown: shown.trim_end_matches('/').to_owned(),
        }
    }

    /// How an entry is called in answers; `path` is its path in the zone.
    pub(crate) fn show(&self, path: &ZonePath) -> String {
        let above = self.path.as_str();
        let inside = path.as_str().strip_prefix(above).unwrap_or_default();
        let inside = inside.trim_start_matches('/');
        if inside.is_empty() {
            self.shown.clone()
        } else {
            format!("{}/{inside}", self.shown)
        }
    }
}

/// What a search looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Files and directories.
    Any,
    /// Only files.
    Files,
    /// Only directories.
    Directories,
}

impl Wanted {
    pub(crate) fn is(self, kind: Kind) -> bool {
        match self {
            Self::Any => matches!(kind, Kind::File | Kind::Directory),
            Self::Files => kind == Kind::File,
            Self::Directories => kind == Kind::Directory,
        }
    }
}

/// Whether an entry is passed by, with everything below it: what belongs to git or to the server, what is
/// neither a file nor a directory, and what is hidden unless that is wanted.
pub(crate) fn is_passed_by(name: &Name, shows_hidden: bool) -> bool {
    let is_hidden = name.text.starts_with('.');
    !matches!(name.kind, Kind::File | Kind::Directory)
        || (is_hidden && !shows_hidden)
        || (name.kind == Kind::Directory || is_hidden) && is_git_name(&name.text)
        || is_hidden && is_reserved(&name.text)
}

/// The path of an entry seen from above.
pub(crate) fn join(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}/{name}")
    }
}
