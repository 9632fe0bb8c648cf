//! Work that makes more work, done by several threads, the first in order first; and the first so many
//! of what they find in any order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, PoisonError};

use fileshed_types::Mutex;

use crate::Bounds;

/// Threads of all searches together that help the one which was asked: a server with many callers
/// has none to spare.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// Jobs that wait before it is worth to start a thread.
const MANY: usize = 4;

/// Jobs in the order of their keys, each of which is there once.
pub(crate) struct Queue<K, J> {
    state: Mutex<QueueState<K, J>>,
    changed: Condvar,
}

struct QueueState<K, J> {
    waiting: BTreeMap<K, J>,
    active: usize,
    is_closed: bool,
}

impl<K: Ord + Send, J: Send> Queue<K, J> {
    pub(crate) fn new(jobs: impl IntoIterator<Item = (K, J)>) -> Self {
        Self {
            state: Mutex::new(QueueState {
                waiting: jobs.into_iter().collect(),
                active: 0,
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds jobs.
    pub(crate) fn extend(&self, jobs: impl IntoIterator<Item = (K, J)>) {
        self.state.lock().waiting.extend(jobs);
        self.changed.notify_all();
    }

    /// Drops the jobs that wait.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Does everything, with `worker` made once in each thread.
    pub(crate) fn run<W>(
        &self,
        bounds: &Bounds,
        worker: impl Fn() -> W + Sync,
        work: impl Fn(&mut W, K, J) + Sync,
    ) {
        let next = |own: &mut W| {
            let Some((key, job)) = self.take() else {
                return false;
            };
            let _active = Active(self);
            work(own, key, job);
            true
        };
        let (worker, next) = (&worker, &next);
        std::thread::scope(|scope| {
            let mut own = worker();
            let mut helpers = 0;
            while next(&mut own) {
                if helpers + 1 < bounds.threads
                    && self.state.lock().waiting.len() >= MANY
                    && let Some(helper) = Helper::new(bounds.threads)
                {
                    helpers += 1;
                    scope.spawn(move || {
                        let _helper = helper;
                        let mut own = worker();
                        while next(&mut own) {}
                    });
                }
            }
        });
    }

    /// Takes the first job. `None` if none is left and none can come.
    fn take(&self) -> Option<(K, J)> {
        let mut state = self.state.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.waiting.pop_first() {
                state.active += 1;
                return Some(job);
            }
            if state.active == 0 {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A job that is being done, however it ends.
struct Active<'a, K: Ord + Send, J: Send>(&'a Queue<K, J>);

impl<K: Ord + Send, J: Send> Drop for Active<'_, K, J> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.active -= 1;
        if state.active == 0 && state.waiting.is_empty() {
            self.0.changed.notify_all();
        }
    }
}

/// A permit for a helping thread.
struct Helper;

impl Helper {
    fn new(threads: usize) -> Option<Self> {
        HELPERS
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |helpers| {
                (helpers + 1 < threads).then_some(helpers + 1)
            })
            .ok()
            .map(|_| Self)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The items with the smallest keys, each of which is there once: `most` of them and one more, which
/// says that there are more.
pub(crate) struct Best<K, T> {
    most: usize,
    found: Mutex<BTreeMap<K, T>>,
    is_full: AtomicBool,
}

impl<K: Ord, T> Best<K, T> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            found: Mutex::new(BTreeMap::new()),
            is_full: AtomicBool::new(false),
        }
    }

    /// `true` if an item with this key could be kept. Once it could not, it never can.
    pub(crate) fn takes(&self, key: &K) -> bool {
        let is_first = || {
            let found = self.found.lock();
            found.last_key_value().is_none_or(|(worst, _)| key < worst)
        };
        !self.is_full.load(Ordering::Relaxed) || is_first()
    }

    pub(crate) fn add(&self, key: K, value: T) {
        let mut found = self.found.lock();
        found.insert(key, value);
        if found.len() > self.most {
            self.is_full.store(true, Ordering::Relaxed);
        }
        if found.len() > self.most + 1 {
            found.pop_last();
        }
    }

    /// Returns the items that were kept, in the order of the keys, and `true` if there were more.
    pub(crate) fn finish(self) -> (Vec<T>, bool) {
        let found = self.found.into_inner();
        let has_more = found.len() > self.most;
        (found.into_values().take(self.most).collect(), has_more)
    }
}

/// Results of a search, and a mark if there are more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResults<T> {
    /// In the order of the tree: of each directory its files, then its directories, by name.
    pub items: Vec<T>,
    /// `true` if more was left out, or not everything was searched in time.
    pub truncated: bool,
}

impl<T> SearchResults<T> {
    pub(crate) fn new<K: Ord>(best: Best<K, T>, is_whole: bool) -> Self {
        let (items, has_more) = best.finish();
        Self {
            items,
            truncated: has_more || !is_whole,
        }
    }
}
