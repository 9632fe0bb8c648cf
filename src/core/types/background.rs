//! Threads that work beside everything else until they are dropped.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{Clock, Mutex};

/// A thread that works until this is dropped, which waits for its end.
#[derive(Debug)]
pub struct Background {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The sign for such a thread to stop.
#[derive(Debug)]
pub struct StopSign(Mutex<Receiver<()>>);

impl Background {
    /// Starts a thread of this name.
    pub fn start(name: &str, work: impl FnOnce(&StopSign) + Send + 'static) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || work(&StopSign(Mutex::new(stopped))))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl StopSign {
    /// Returns `true` if the thread has to stop.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.0.lock().try_recv() != Err(TryRecvError::Empty)
    }

    /// Waits for a time. Returns `true` as soon as the thread has to stop.
    #[must_use]
    pub fn is_given_within(&self, clock: &Clock, time: Duration) -> bool {
        clock.receive(&self.0.lock(), time) != Err(RecvTimeoutError::Timeout)
    }
}
