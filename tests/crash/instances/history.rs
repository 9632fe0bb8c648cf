//! Histories of the calls that several callers made for shared objects.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::linearizability::{Event, Moment, Specification, check};
use super::specifications::{EditCall, FileCall, NameCall, OwnedCall};

/// The present moment, after all that were asked for before by any thread.
pub(crate) fn now() -> Moment {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::SeqCst) + 1
}

/// The calls for each of many objects of one kind.
#[derive(Debug)]
pub(crate) struct History<C>(Mutex<BTreeMap<String, Vec<Event<C>>>>);

impl<C> Default for History<C> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<C: Specification + Clone + Debug> History<C> {
    /// Records a call that was answered just now.
    pub(crate) fn answered(&self, object: &str, begun: Moment, call: C) {
        self.record(object, begun, Some(now()), call);
    }

    /// Records a call whose outcome is unknown.
    pub(crate) fn unanswered(&self, object: &str, begun: Moment, call: C) {
        self.record(object, begun, None, call);
    }

    fn record(&self, object: &str, begun: Moment, answered: Option<Moment>, call: C) {
        let event = Event {
            call,
            begun,
            answered,
        };
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        objects.entry(object.to_owned()).or_default().push(event);
    }

    /// Asserts that the calls of each object below a name are linearizable, and returns the number of
    /// calls.
    #[track_caller]
    fn assert_linearizable(&self, below: &str) -> usize {
        let objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let objects = objects.iter().filter(|(name, _)| name.contains(below));
        objects
            .map(|(name, history)| {
                if let Err(why) = check(history) {
                    panic!("{name} is not linearizable: {why}");
                }
                history.len()
            })
            .sum()
    }
}

/// Histories of all kinds of objects.
#[derive(Debug, Default)]
pub(crate) struct Histories {
    pub(crate) files: History<FileCall>,
    pub(crate) names: History<NameCall>,
    pub(crate) edits: History<EditCall>,
    pub(crate) owned: History<OwnedCall>,
}

impl Histories {
    /// Asserts that the calls of each object below a name are linearizable, and returns the number of
    /// calls.
    #[track_caller]
    pub(crate) fn assert_linearizable(&self, below: &str) -> usize {
        self.files.assert_linearizable(below)
            + self.names.assert_linearizable(below)
            + self.edits.assert_linearizable(below)
            + self.owned.assert_linearizable(below)
    }
}
