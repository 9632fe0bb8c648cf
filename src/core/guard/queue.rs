//! Turns: one writer a zone, in this process and across processes.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use serde_json::{Map, Value};

use crate::disk::{DiskError, Root};
use crate::zone::ZonePath;
use crate::{Code, Error, Teach};

/// Longest wait for a turn. Turns last milliseconds, so this is a sign of overload.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a lock that another process holds is tried.
const OTHER_PROCESS: Duration = Duration::from_millis(5);

/// Who has a turn in this process.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    taken: Mutex<HashSet<String>>,
    freed: Condvar,
}

/// The turn to change one zone. Dropped, the next one has it.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    queue: &'a Queue,
    key: String,
    /// Locked until it is closed.
    file: Option<OwnedFd>,
}

impl Queue {
    /// Waits for the turn of `key`; `directory` holds the lock file for other processes.
    pub(crate) fn turn(
        &self,
        key: String,
        directory: &Root,
        name: &str,
    ) -> Result<Turn<'_>, Error> {
        let deadline = Instant::now() + PATIENCE;
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, wait) = self
            .freed
            .wait_timeout_while(taken, PATIENCE, |taken| taken.contains(&key))
            .unwrap_or_else(PoisonError::into_inner);
        if wait.timed_out() {
            return Err(BusyError::Zone.into());
        }
        taken.insert(key.clone());
        drop(taken);
        let mut turn = Turn {
            queue: self,
            key,
            file: None,
        };
        turn.file = Some(lock_file(directory, name, deadline)?);
        Ok(turn)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.file = None;
        let mut taken = self
            .queue
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        taken.remove(&self.key);
        self.queue.freed.notify_all();
    }
}

fn lock_file(directory: &Root, name: &str, deadline: Instant) -> Result<OwnedFd, Error> {
    let fail = |error: Errno| DiskError::of("lock", &ZonePath::root(), error);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory.handle(), name, flags, Mode::RUSR | Mode::WUSR)
        .map_err(fail)?;
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => {
                std::thread::sleep(OTHER_PROCESS);
            }
            Err(Errno::WOULDBLOCK) => return Err(BusyError::Zone.into()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(fail(error).into()),
        }
    }
}

/// Too much at once.
#[derive(Debug, thiserror::Error)]
pub enum BusyError {
    /// Another change of the same zone takes too long.
    #[error("another change of this zone is still under way")]
    Zone,
    /// The user runs as many commands as one user may.
    #[error("{limit} of your commands are running, which is as many as one user may run at once")]
    User {
        /// The limit.
        limit: u64,
    },
    /// The server runs as many commands as it may.
    #[error("the server runs {limit} commands, which is as many as it may at once")]
    Server {
        /// The limit.
        limit: u64,
    },
}

impl Teach for BusyError {
    fn code(&self) -> Code {
        Code::Busy
    }

    fn hint(&self) -> String {
        "wait a moment and repeat the same call".to_owned()
    }

    fn details(&self) -> Map<String, Value> {
        let scope = match self {
            Self::Zone => "zone",
            Self::User { .. } => "user",
            Self::Server { .. } => "server",
        };
        Map::from_iter([("scope".to_owned(), Value::from(scope))])
    }

    fn retry_after(&self) -> Option<u64> {
        Some(1)
    }
}
