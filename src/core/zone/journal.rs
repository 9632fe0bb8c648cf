//! Names of what SQLite keeps beside a database: what it was, what it will be, and who reads it
//! (<https://sqlite.org/tempfiles.html>).
//!
//! They belong to the database of that name: who puts one there decides what is in the database
//! when it is opened next.

use super::ZonePath;

/// What stands behind the name of the database: rollback journal, write-ahead log, its index.
const ENDS: [&str; 3] = ["-journal", "-wal", "-shm"];

/// The name of the database that a file of this name belongs to. Case does not count: some file
/// systems know none.
fn stem(name: &str) -> Option<&str> {
    ENDS.iter().find_map(|end| {
        let at = name.len().checked_sub(end.len()).filter(|at| *at > 0)?;
        let behind = name.get(at..)?;
        behind.eq_ignore_ascii_case(end).then(|| &name[..at])
    })
}

impl ZonePath {
    /// Whether a segment is named as what belongs to a database.
    #[must_use]
    pub fn has_journal_segment(&self) -> bool {
        self.segments().any(|segment| stem(segment).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_what_belongs_to_a_database() {
        for (path, belongs) in [
            ("a.db-journal", true),
            ("d/A.DB-WAL", true),
            ("d-wal/a", true),
            ("d/é-Shm", true),
            ("-journal", false),
            ("journal", false),
            ("a.db-journal2", false),
        ] {
            let path = ZonePath::found(path.to_owned());
            assert_eq!(path.has_journal_segment(), belongs, "{path}");
        }
    }
}
