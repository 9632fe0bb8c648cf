//! Types of answers of a history.

use git2::Oid;

use fileshed_storage::Totals;
use fileshed_types::zone::ZonePath;

/// 40 hex digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CommitId(String);

impl CommitId {
    pub(super) fn of(id: Oid) -> Self {
        Self(id.to_string())
    }

    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// How a file on disk differs from the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// New.
    Added,
    /// Other bytes, or a link in place of a file.
    Modified,
    /// Gone.
    Deleted,
    /// The same bytes, executable or no longer so.
    ModeChanged,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which one.
    pub path: ZonePath,
    /// How.
    pub kind: ChangeKind,
}

/// What [`super::History::capture`] found and committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// The commit; nothing where nothing had changed.
    pub commit: Option<CommitId>,
    /// In the order of their paths.
    pub changed: Vec<Change>,
    /// Space of everything on disk, versioned or not.
    pub totals: Totals,
}
