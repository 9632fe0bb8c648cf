//! The last change of each user, where it was a move inside a zone: a client that sends the move twice
//! learns that it is done. Kept in memory, by the process that made the change.

use std::collections::HashMap;

use fileshed_types::{Mutex, UserId};

/// The moves of users who have changed nothing since, each as one text.
#[derive(Debug, Default)]
pub struct LastMoves(Mutex<HashMap<Option<UserId>, String>>);

impl LastMoves {
    /// Notes that a user changes something: by a move, or in another way. To be called with the write lock
    /// of the zone.
    pub fn note(&self, user: Option<&UserId>, moved: Option<String>) {
        let (mut last, user) = (self.0.lock(), user.cloned());
        match moved {
            Some(moved) => drop(last.insert(user, moved)),
            None => drop(last.remove(&user)),
        }
    }

    /// Returns `true` if the last change of a user was this move.
    #[must_use]
    pub fn is_last(&self, user: Option<&UserId>, moved: &str) -> bool {
        let last = self.0.lock();
        last.get(&user.cloned()).is_some_and(|last| last == moved)
    }
}
