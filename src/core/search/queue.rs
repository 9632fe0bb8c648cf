//! Work that makes more work, done by several threads, the first in order first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::Bounds;

/// Threads of all searches together that help the one which was asked: a server with many callers
/// has none to spare.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// Jobs that wait before it is worth to start a thread.
const MANY: usize = 4;

/// Jobs in order.
pub(crate) struct Queue<J> {
    state: Mutex<State<J>>,
    changed: Condvar,
}

struct State<J> {
    waiting: BinaryHeap<Reverse<J>>,
    active: usize,
    is_closed: bool,
}

impl<J: Ord + Send> Queue<J> {
    pub(crate) fn new(jobs: impl IntoIterator<Item = J>) -> Self {
        Self {
            state: Mutex::new(State {
                waiting: jobs.into_iter().map(Reverse).collect(),
                active: 0,
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// More to do.
    pub(crate) fn extend(&self, jobs: impl IntoIterator<Item = J>) {
        self.state().waiting.extend(jobs.into_iter().map(Reverse));
        self.changed.notify_all();
    }

    /// Nothing that waits is done any more.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// Does everything, with `worker` made once in each thread.
    pub(crate) fn run<W>(
        &self,
        bounds: &Bounds,
        worker: impl Fn() -> W + Sync,
        work: impl Fn(&mut W, J) + Sync,
    ) {
        let (worker, work) = (&worker, &work);
        std::thread::scope(|scope| {
            let mut mine = worker();
            let mut helpers = Vec::new();
            while let Some(job) = self.take() {
                let _active = Active(self);
                work(&mut mine, job);
                if helpers.len() + 1 < bounds.threads
                    && self.state().waiting.len() >= MANY
                    && let Some(helper) = Helper::new(bounds.threads)
                {
                    helpers.push(scope.spawn(move || {
                        let _helper = helper;
                        let mut mine = worker();
                        while let Some(job) = self.take() {
                            let _active = Active(self);
                            work(&mut mine, job);
                        }
                    }));
                }
            }
        });
    }

    /// The first job; nothing when none is left and none can come.
    fn take(&self) -> Option<J> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(Reverse(job)) = state.waiting.pop() {
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

    fn state(&self) -> MutexGuard<'_, State<J>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job that is being done, however it ends.
struct Active<'a, J: Ord + Send>(&'a Queue<J>);

impl<J: Ord + Send> Drop for Active<'_, J> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.active -= 1;
        if state.active == 0 && state.waiting.is_empty() {
            self.0.changed.notify_all();
        }
    }
}

/// The place of a helping thread among all of them.
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
