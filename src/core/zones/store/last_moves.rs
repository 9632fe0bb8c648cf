//! The last change of each user, where it was a move inside a zone: a client that sends the move twice
//! learns that it is done. Kept in memory, by the process that made the change.

use std::collections::HashMap;

use crate::zone::{Zone, ZonePath};
use fileshed_types::{Mutex, UserId};

/// The moves of users who have changed nothing since, each as one text.
#[derive(Debug, Default)]
pub struct LastMoves(Mutex<HashMap<Option<UserId>, String>>);

impl LastMoves {
    /// Notes that the caller of `zone` changes something there: moves the first of two paths to the
    /// second, or something else. To be called with the write lock.
    pub fn note(&self, zone: &Zone<'_>, moved: Option<(&ZonePath, &ZonePath)>) {
        let (mut last, user) = (self.0.lock(), zone.caller.user.clone());
        match moved {
            Some((from, to)) => drop(last.insert(user, text(zone, from, to))),
            None => drop(last.remove(&user)),
        }
    }

    /// Returns `true` if the last change of the caller of `zone` was this move.
    #[must_use]
    pub fn is_last(&self, zone: &Zone<'_>, from: &ZonePath, to: &ZonePath) -> bool {
        let last = self.0.lock();
        last.get(&zone.caller.user) == Some(&text(zone, from, to))
    }
}

/// No path has a NUL character.
fn text(zone: &Zone<'_>, from: &ZonePath, to: &ZonePath) -> String {
    let (tenant, zone) = (&zone.tenant.key, zone.name);
    format!("{tenant}\0{zone}\0{}\0{}", from.key(), to.key())
}
