//! Values that earlier calls named, for calls that cannot name them.
//!
//! The proxy in front of the terminal passes no headers that a caller chooses. So the groups of its
//! user, and the answer that is being written, come from other calls: those of the same user, and of the
//! same conversation. They expire soon, because a user who has left a group must not see it for long.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use fileshed_types::{Chat, Clock, Mutex, UserId};

/// Most values that are remembered.
const ENTRIES_MAX: usize = 10_000;

/// Values that calls named, each with the time of the call.
#[derive(Debug)]
pub struct Recalled<K, V> {
    entries: Mutex<HashMap<K, (Instant, V)>>,
    clock: Clock,
    /// Time for which a value counts.
    counts: Duration,
}

/// The answers that are being written, by user and conversation.
pub(crate) type RecalledAnswers = Recalled<(Option<UserId>, Chat), String>;

impl<K: Clone + Eq + Hash, V: Clone> Recalled<K, V> {
    pub(crate) fn new(counts: Duration, clock: &Clock) -> Self {
        Self {
            entries: Mutex::default(),
            clock: clock.clone(),
            counts,
        }
    }

    /// Remembers a value that a call named. If there is no room, it replaces the oldest one.
    pub fn remember(&self, key: K, value: V) {
        let mut entries = self.entries.lock();
        if entries.len() >= ENTRIES_MAX && !entries.contains_key(&key) {
            entries.retain(|_, (at, _)| self.counts(*at));
            let oldest = entries.iter().min_by_key(|(_, (at, _))| *at);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone())
                && entries.len() >= ENTRIES_MAX
            {
                entries.remove(&oldest);
            }
        }
        entries.insert(key, (self.clock.instant(), value));
    }

    /// Returns the value that was named last; `None` if it has expired.
    pub(crate) fn recall(&self, key: &K) -> Option<V> {
        let entries = self.entries.lock();
        let (at, value) = entries.get(key)?;
        self.counts(*at).then(|| value.clone())
    }

    fn counts(&self, at: Instant) -> bool {
        self.clock.elapsed(at) < self.counts
    }
}

#[cfg(test)]
mod tests {
    use fileshed_types::{Chat, timings};

    use super::*;

    #[test]
    fn as_much_is_remembered_as_there_is_room_for_and_as_long_as_it_counts() {
        let (clock, counts) = (Clock::movable(), timings::minutes(1));
        let recalled = Recalled::new(counts, &clock);
        for number in 0..=ENTRIES_MAX {
            recalled.remember(Chat::new(&format!("c{number}")), number);
            clock.pass(timings::milliseconds(1));
        }
        let last = Chat::new(&format!("c{ENTRIES_MAX}"));
        assert_eq!(recalled.recall(&Chat::new("c0")), None);
        assert_eq!(recalled.recall(&Chat::new("c1")), Some(1));
        assert_eq!(recalled.recall(&last), Some(ENTRIES_MAX));
        recalled.remember(last.clone(), 7);
        assert_eq!(recalled.recall(&last), Some(7));
        clock.pass(counts);
        assert_eq!(recalled.recall(&last), None);
    }
}
