//! Names of the files that SQLite keeps beside a database: rollback journal, write-ahead log and its
//! index (<https://sqlite.org/tempfiles.html>).
//!
//! They belong to the database of that name: a program that writes one decides what is in the database
//! when it is opened next.

use super::ZonePath;

/// Endings that SQLite adds to the name of a database: rollback journal, write-ahead log, its index.
pub const JOURNAL_ENDS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Returns the name of the database that a file of this name belongs to. Case does not count, because
/// some file systems ignore it.
fn stem(name: &str) -> Option<&str> {
    JOURNAL_ENDS.iter().find_map(|end| {
        let at = name.len().checked_sub(end.len()).filter(|at| *at > 0)?;
        let behind = name.get(at..)?;
        behind.eq_ignore_ascii_case(end).then(|| &name[..at])
    })
}

impl ZonePath {
    /// Returns the paths of the files that SQLite would keep beside a database at this path, in the
    /// order of [`JOURNAL_ENDS`].
    pub fn journals(&self) -> impl Iterator<Item = Self> {
        let above = self.parent().unwrap_or_else(Self::root);
        let name = self.name().unwrap_or_default().to_owned();
        JOURNAL_ENDS
            .iter()
            .map(move |end| above.join(&format!("{name}{end}")))
    }

    /// Returns the database that a file at this path would belong to.
    pub fn database(&self) -> Option<Self> {
        let name = stem(self.name()?)?;
        Some(self.parent().unwrap_or_else(Self::root).join(name))
    }

    /// Returns `true` if a segment has the name of a journal of a database.
    pub fn has_journal_segment(&self) -> bool {
        self.segments().any(|segment| stem(segment).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_database() {
        for (path, database) in [
            ("a.db-journal", Some("a.db")),
            ("d/A.DB-WAL", Some("d/A.DB")),
            ("d/é-Shm", Some("d/é")),
            ("a.db-wal-journal", Some("a.db-wal")),
            ("-journal", None),
            ("journal", None),
            ("a.db-journal2", None),
            ("d-wal/a", None),
        ] {
            let path = ZonePath::found(path.to_owned());
            let found = path.database().map(|path| path.as_str().to_owned());
            assert_eq!(found.as_deref(), database);
        }
        assert!(ZonePath::found("d-wal/a".to_owned()).has_journal_segment());
        let of: Vec<_> = ZonePath::found("d/a".to_owned()).journals().collect();
        assert_eq!(of[0].as_str(), "d/a-journal");
    }
}
