//! Turns: one writer a zone, in this process and across processes.

#![expect(
    clippy::disallowed_methods,
    reason = "the file that is locked for other processes is in no zone"
)]

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::tenant::TenantRoot;
use crate::write_leases::{WriteLease, WriteLeases};
use crate::{Clock, Error, Settings, ZoneName, ZonePath, diagnostics};
use fileshed_storage::{DiskError, Root};
use fileshed_types::fair::Place;
use fileshed_types::timings::CallTimings;

/// Calls of this process that wait for one zone: half of all that may wait, so that one group's many
/// members leave the rest to others. They are done with within seconds; more are told to come back.
const LONGEST_QUEUE: usize = 256;

/// The holders of write locks in this process and those who wait: for each key a queue, whose first
/// member holds the lock.
#[derive(Debug)]
pub(crate) struct Queue {
    queues: Mutex<HashMap<String, VecDeque<Arc<Condvar>>>>,
    /// What keeps other processes apart, where it is not files.
    leases: Option<WriteLeases>,
    clock: Clock,
    timings: CallTimings,
}

/// The right to change one zone. When it is dropped, the next one in the queue gets it.
#[derive(Debug)]
pub(crate) struct WriteLock<'a> {
    queue: &'a Queue,
    key: String,
    called: Arc<Condvar>,
    among_processes: Option<AmongProcesses>,
}

/// What a write lock is for other processes, until it is dropped.
#[derive(Debug)]
enum AmongProcesses {
    /// A file that is locked.
    File { _locked: OwnedFd },
    /// A row of the registry.
    Lease { _held: WriteLease },
}

impl Queue {
    /// Write locks that other processes see as leases, where there are any, else as locked files.
    pub(crate) fn new(leases: Option<WriteLeases>, settings: &Settings, clock: &Clock) -> Self {
        Self {
            queues: Mutex::default(),
            leases,
            clock: clock.clone(),
            timings: settings.timings.calls.clone(),
        }
    }

    /// The leases of this process, where there are any.
    pub(crate) fn leases(&self) -> Option<&WriteLeases> {
        self.leases.as_ref()
    }

    /// Waits so long for the write lock of `key`, first come, first served; `directory` holds the lock
    /// file for other processes. Who waits has given back its `place` among the calls that run.
    fn write_lock(
        &self,
        key: String,
        (directory, name): (&Root, &str),
        place: &Place,
        patience: Duration,
    ) -> Result<WriteLock<'_>, Error> {
        let deadline = self.clock.instant() + patience;
        let mut write_lock = self.line_up(key)?;
        if let Some(leases) = &self.leases {
            let wait = || {
                write_lock.wait(deadline)?;
                let lease = leases.take(&write_lock.key, deadline)?;
                Ok::<WriteLease, Error>(lease.ok_or(BusyError::Zone)?)
            };
            let at_hand = if write_lock.is_first() {
                leases.take_at_hand(&write_lock.key)?
            } else {
                None
            };
            let lease = match at_hand {
                Some(lease) => lease,
                None => place.while_waiting(wait).ok_or(BusyError::Zone)??,
            };
            write_lock.among_processes = Some(AmongProcesses::Lease { _held: lease });
            return Ok(write_lock);
        }
        let file = open_lock_file(directory, name)?;
        if write_lock.is_first() && lock(&file)? {
            write_lock.among_processes = Some(AmongProcesses::File { _locked: file });
            return Ok(write_lock);
        }
        let wait = || {
            write_lock.wait(deadline)?;
            while !lock(&file)? {
                if self.clock.is_past(deadline) {
                    return Err(BusyError::Zone.into());
                }
                self.clock.sleep(self.timings.locked_file);
            }
            Ok::<(), Error>(())
        };
        place.while_waiting(wait).ok_or(BusyError::Zone)??;
        write_lock.among_processes = Some(AmongProcesses::File { _locked: file });
        Ok(write_lock)
    }

    /// Waits so long for the write lock of one zone.
    pub(crate) fn of_zone(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
        patience: Duration,
    ) -> Result<WriteLock<'_>, Error> {
        let staging = tenant.root.subdirectory("staging")?;
        self.write_lock(
            format!("{}/{zone}", tenant.key),
            (&staging, &format!("{zone}.lock")),
            &tenant.place,
            patience,
        )
    }

    fn line_up(&self, key: String) -> Result<WriteLock<'_>, BusyError> {
        let called = Arc::new(Condvar::new());
        let mut queues = self.queues();
        let queue = queues.entry(key.clone()).or_default();
        if queue.len() >= LONGEST_QUEUE {
            return Err(BusyError::Zone);
        }
        queue.push_back(Arc::clone(&called));
        drop(queues);
        Ok(WriteLock {
            queue: self,
            key,
            called,
            among_processes: None,
        })
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Arc<Condvar>>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriteLock<'_> {
    fn is_first(&self) -> bool {
        self.is_first_in(&self.queue.queues())
    }

    fn is_first_in(&self, queues: &HashMap<String, VecDeque<Arc<Condvar>>>) -> bool {
        let first = queues.get(&self.key).and_then(VecDeque::front);
        first.is_some_and(|first| Arc::ptr_eq(first, &self.called))
    }

    /// Waits to be first.
    fn wait(&self, deadline: Instant) -> Result<(), Error> {
        let clock = &self.queue.clock;
        let queues = clock.wait_while(&self.called, self.queue.queues(), deadline, |queues| {
            !self.is_first_in(queues)
        });
        if !self.is_first_in(&queues) {
            return Err(BusyError::Zone.into());
        }
        Ok(())
    }
}

impl Drop for WriteLock<'_> {
    fn drop(&mut self) {
        self.among_processes = None;
        let mut queues = self.queue.queues();
        let Some(queue) = queues.get_mut(&self.key) else {
            return;
        };
        queue.retain(|other| !Arc::ptr_eq(other, &self.called));
        match queue.front() {
            Some(next) => next.notify_one(),
            None => drop(queues.remove(&self.key)),
        }
    }
}

fn open_lock_file(directory: &Root, name: &str) -> Result<OwnedFd, Error> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory.handle(), name, flags, Mode::RUSR | Mode::WUSR);
    Ok(file.map_err(not_lockable)?)
}

/// Locks the file, unless another process has.
fn lock(file: &OwnedFd) -> Result<bool, Error> {
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(not_lockable(error).into()),
        }
    }
}

fn not_lockable(error: Errno) -> DiskError {
    DiskError::of("lock", &ZonePath::root(), error)
}

diagnostics! {
    /// Too much at once.
    #[derive(Debug, thiserror::Error)]
    pub enum BusyError {
        /// Another change of the same zone takes too long.
        #[error("another change of this zone is still under way")]
        Zone => {
            code: Busy,
            hint: AGAIN,
            details: { "scope": "zone" },
            retry_after: 1,
        },
        /// A command has the zone while it runs.
        #[error("`{command}` has been changing this zone since {}", moment(*since))]
        Command {
            /// The program.
            command: String,
            /// Unix seconds of its start.
            since: i64 = 1_790_000_000,
            /// The name by which an administrator ends it.
            id: String = "command-7".to_owned(),
        } => {
            code: Busy,
            hint: format!("repeat the same call when it is over: a command ends when the call that \
                runs it is cancelled, at its timeout, or when an administrator ends `{id}`"),
            details: { "scope": "zone", "command": command, "since": moment(*since), "id": id },
            retry_after: 1,
        },
        /// The user runs as many commands as one user may.
        #[error("{limit} of your commands are running, which is as many as one user may run at once")]
        User {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: AGAIN,
            details: { "scope": "user" },
            retry_after: 1,
        },
        /// The server runs as many commands as it may.
        #[error("the server runs {limit} commands, which is as many as it may at once")]
        Server {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: AGAIN,
            details: { "scope": "server" },
            retry_after: 1,
        },
    }
}

const AGAIN: &str = "wait a moment and repeat the same call";

fn moment(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |at| at.to_string())
}
