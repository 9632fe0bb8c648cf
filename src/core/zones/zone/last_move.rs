//! The last change of each user, if it was a move inside a zone: a client that sends the move twice
//! learns that it is done. Kept in memory, by the process that made the change.

use super::open_zone::Zone;
use fileshed_types::ZonePath;

impl Zone<'_> {
    /// Notes that the caller changes something here: moves the first of two paths to the second, or
    /// something else. To be called with the write lock.
    pub fn note_change(&self, moved: Option<(&ZonePath, &ZonePath)>) {
        let (mut last, user) = (self.store.last_moves.lock(), self.caller.user.clone());
        match moved {
            Some((from, to)) => drop(last.insert(user, self.text_of_move(from, to))),
            None => drop(last.remove(&user)),
        }
    }

    /// Returns `true` if the last change of the caller was this move.
    #[must_use]
    pub fn was_last_move(&self, from: &ZonePath, to: &ZonePath) -> bool {
        let last = self.store.last_moves.lock();
        last.get(&self.caller.user) == Some(&self.text_of_move(from, to))
    }

    /// Returns a text that identifies a move. Its parts are joined by NUL, which no path has.
    fn text_of_move(&self, from: &ZonePath, to: &ZonePath) -> String {
        let (tenant, zone) = (&self.tenant.key, self.name);
        format!("{tenant}\0{zone}\0{}\0{}", from.key(), to.key())
    }
}
