//! When a search ends that has not found everything.

use std::fs::File;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use fileshed_types::Clock;
use fileshed_types::cancellation::Cancellation;

/// Time and threads that a search may use.
#[derive(Clone, Debug)]
pub struct Bounds {
    cancellation: Cancellation,
    clock: Clock,
    deadline: Instant,
    pub(crate) threads: usize,
}

impl Bounds {
    /// Ends when the caller is gone or the time is over. More than one thread works where there is
    /// enough to do.
    pub fn new(cancellation: Cancellation, clock: &Clock, time: Duration, threads: usize) -> Self {
        Self {
            cancellation,
            clock: clock.clone(),
            deadline: clock.instant() + time,
            threads: threads.max(1),
        }
    }

    /// Returns `true` if the search has to stop.
    pub fn are_over(&self) -> bool {
        self.cancellation.is_cancelled() || self.clock.is_past(self.deadline)
    }
}

/// A file that can be read as long as there is time.
pub(crate) struct BoundedFile<'a> {
    pub(crate) file: File,
    pub(crate) bounds: &'a Bounds,
}

impl Read for BoundedFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.bounds.are_over() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.file.read(buffer)
    }
}
