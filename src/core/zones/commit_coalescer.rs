//! Commit coalescer: changes of a program that belong together become one commit of a history.
//!
//! A program that saves a document writes, renames and removes files one by one, and never says that it
//! is done. So what the same caller changes in the same zone within some seconds, by calls that say so,
//! is one save. Each change is committed before it is acknowledged, and takes the place of the commit
//! before it, as long as that one is the last: a commit of anybody else ends the save.

use std::collections::HashMap;

use jiff::Timestamp;

use fileshed_history::{Author, CommitId};
use fileshed_types::timings::HistoryTimings;
use fileshed_types::{Mutex, Settings, ZoneName};

/// A zone: the key of its tenant, and which one.
type ZoneKey = (String, ZoneName);

/// The last saves of all zones, as far as they are not over.
#[derive(Debug)]
pub(crate) struct CommitCoalescer {
    all: Mutex<HashMap<ZoneKey, Save>>,
    timings: HistoryTimings,
}

#[derive(Debug)]
struct Save {
    author: Author,
    commit: CommitId,
    begun: Timestamp,
    changed: Timestamp,
}

impl CommitCoalescer {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            all: Mutex::default(),
            timings: settings.timings.history.clone(),
        }
    }

    fn is_over(&self, save: &Save, now: Timestamp) -> bool {
        let passed = |since: Timestamp| now.duration_since(since).unsigned_abs();
        now > save.changed && passed(save.changed) > self.timings.save_quiet
            || now > save.begun && passed(save.begun) > self.timings.save_longest
    }

    /// Returns the commit that may take in another change of this author now.
    pub(crate) fn open(&self, zone: &ZoneKey, author: &Author, now: Timestamp) -> Option<CommitId> {
        let saves = self.all.lock();
        let save = saves.get(zone)?;
        (save.author == *author && !self.is_over(save, now)).then(|| save.commit.clone())
    }

    /// Records a commit; it begins a save, unless it `joined` one.
    pub(crate) fn committed(
        &self,
        zone: ZoneKey,
        author: &Author,
        commit: CommitId,
        (now, joined): (Timestamp, bool),
    ) {
        let mut saves = self.all.lock();
        saves.retain(|_, save| !self.is_over(save, now));
        let begun = match saves.get(&zone) {
            Some(save) if joined => save.begun,
            _ => now,
        };
        let save = Save {
            author: author.clone(),
            commit,
            begun,
            changed: now,
        };
        saves.insert(zone, save);
    }
}
