//! Notes about the side effects of a call on the bin, for its response.

use std::sync::Arc;

use crate::Mutex;

/// Notes of one call about the bin, shared by all copies of its caller.
#[derive(Clone, Debug, Default)]
pub struct BinNotes(Arc<Mutex<[NamedEntries; 2]>>);

/// A number of entries, and the path of the first.
#[derive(Debug, Default)]
struct NamedEntries {
    count: usize,
    first: String,
}

/// Index of the entries that the bin did not keep.
const NOT_KEPT: usize = 0;

/// Index of the entries that left the bin to free space.
const MADE_WAY: usize = 1;

impl BinNotes {
    /// Notes an entry that was replaced or deleted, and is not in the bin.
    pub fn not_kept(&self, path: &str) {
        self.add(NOT_KEPT, path);
    }

    /// Notes an entry that left the bin because space was needed.
    pub fn made_way(&self, path: &str) {
        self.add(MADE_WAY, path);
    }

    fn add(&self, position: usize, path: &str) {
        let mut notes = self.0.lock();
        if notes[position].count == 0 {
            path.clone_into(&mut notes[position].first);
        }
        notes[position].count += 1;
    }

    /// Takes the notes, a sentence each.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        let [not_kept, made_way] = std::mem::take(&mut *self.0.lock());
        let not_kept = not_kept.told().map(|(names, is_one)| {
            if is_one {
                format!("{names} was not kept: it is too large for the bin")
            } else {
                format!("{names} were not kept: they are too large for the bin")
            }
        });
        let made_way = made_way.told().map(|(names, is_one)| {
            if is_one {
                format!("{names} left the bin to make space")
            } else {
                format!("{names} left the bin to make space, oldest first")
            }
        });
        not_kept.into_iter().chain(made_way).collect()
    }
}

impl NamedEntries {
    /// Returns the entries in words, and `true` if there is one.
    fn told(&self) -> Option<(String, bool)> {
        let first = &self.first;
        match self.count {
            0 => None,
            1 => Some((format!("`{first}`"), true)),
            2 => Some((format!("`{first}` and 1 other"), false)),
            count => Some((format!("`{first}` and {} others", count - 1), false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_once() {
        let notes = BinNotes::default();
        assert_eq!(notes.take(), Vec::<String>::new());
        notes.clone().not_kept("a");
        for path in ["b", "c", "d"] {
            notes.made_way(path);
        }
        assert_eq!(
            notes.take(),
            [
                "`a` was not kept: it is too large for the bin",
                "`b` and 2 others left the bin to make space, oldest first",
            ]
        );
        assert_eq!(notes.take(), Vec::<String>::new());
    }
}
