//! Flushing of acknowledged changes to disk.
//!
//! One thread flushes the file system that holds the data: within a second after a change
//! (relaxed), or at once, with everybody who waits sharing one flush (strict).

use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{DiskError, Root};
use fileshed_types::settings::Durability;
use fileshed_types::timings::StorageTimings;
use fileshed_types::zone::ZonePath;
use fileshed_types::{Clock, Mutex};

#[derive(Debug, Default)]
struct FlushState {
    /// Changes so far.
    asked: u64,
    /// Changes that the last flush covered.
    done: u64,
    stopping: bool,
}

#[derive(Debug, Default)]
struct FlushQueue {
    state: Mutex<FlushState>,
    /// Signalled when the first flush is requested after a pause, and when the thread must end.
    wanted: Condvar,
    /// Signalled when requested flushes are done, or never will be.
    settled: Condvar,
}

/// The flushing thread and the way to wait for it.
#[derive(Debug)]
pub struct Flusher {
    shared: Arc<FlushQueue>,
    durability: Durability,
    thread: Option<JoinHandle<()>>,
}

impl Flusher {
    /// Starts flushing the file system of `root`.
    pub fn start(
        root: &Root,
        durability: Durability,
        clock: &Clock,
        timings: &StorageTimings,
    ) -> Result<Self, DiskError> {
        let shared = Arc::new(FlushQueue::default());
        let directory = root.try_clone()?.into_handle();
        let thread = std::thread::Builder::new()
            .name("flush".to_owned())
            .spawn({
                let (shared, clock) = (Arc::clone(&shared), clock.clone());
                let interval = (durability == Durability::Relaxed).then_some(timings.sync);
                move || flush_until_stopped(&shared, &directory, &clock, interval)
            })
            .map_err(|error| DiskError::of("flush", &ZonePath::root(), error))?;
        Ok(Self {
            shared,
            durability,
            thread: Some(thread),
        })
    }

    /// Marks the data as changed. If durability is strict, returns when the change is on disk.
    pub fn changed(&self) {
        let mut state = self.shared.state.lock();
        // Else the thread has something to do, and looks again when it is done.
        let was_idle = state.asked == state.done;
        state.asked += 1;
        if was_idle {
            self.shared.wanted.notify_one();
        }
        if self.durability == Durability::Relaxed {
            return;
        }
        let mine = state.asked;
        let _settled = self
            .shared
            .settled
            .wait_while(state, |state| state.done < mine && !state.stopping)
            .unwrap_or_else(PoisonError::into_inner);
    }

    /// Returns `true` if every change so far is on disk.
    #[cfg(test)]
    pub(super) fn is_flushed(&self) -> bool {
        let state = self.shared.state.lock();
        state.asked == state.done
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.shared.state.lock().stopping = true;
        self.shared.wanted.notify_one();
        self.shared.settled.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

/// Flushes what changes: at once, or after an interval in which more may change.
fn flush_until_stopped(
    shared: &FlushQueue,
    directory: &OwnedFd,
    clock: &Clock,
    interval: Option<Duration>,
) {
    loop {
        let mut state = shared
            .wanted
            .wait_while(shared.state.lock(), |state| {
                state.asked == state.done && !state.stopping
            })
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(interval) = interval {
            // Changes of the coming interval share this flush.
            let deadline = clock.instant() + interval;
            state = clock.wait_while(&shared.wanted, state, deadline, |state| !state.stopping);
        }
        let (covered, stopping) = (state.asked, state.stopping);
        drop(state);
        if let Err(error) = rustix::fs::syncfs(directory) {
            tracing::error!(%error, "the data could not be flushed to disk");
        }
        let mut state = shared.state.lock();
        state.done = covered;
        shared.settled.notify_all();
        if stopping {
            return;
        }
    }
}
