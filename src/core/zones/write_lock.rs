//! Per-zone write lock: one writer at a time, across threads and processes.

#![expect(
    clippy::disallowed_methods,
    reason = "the file that is locked for other processes is in no zone"
)]

use std::os::fd::OwnedFd;
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::tenant::TenantRoot;
use crate::write_leases::{WriteLease, WriteLeases};
use fileshed_storage::{DiskError, Root};
use fileshed_types::cancellation::Cancellation;
use fileshed_types::fair::{FairSemaphore, Grant, Shares};
use fileshed_types::limiter::{Limiter, Pool};
use fileshed_types::timings::CallTimings;
use fileshed_types::{Clock, Error, Settings, ZoneName, ZonePath, diagnostics};

/// Calls of this process that wait for one zone: half of all that may wait, so that one group's many
/// members leave the rest to others. They are done with within seconds; more are told to come back.
const LONGEST_QUEUE: usize = 256;

/// The write locks of this process.
#[derive(Debug)]
pub(crate) struct WriteLocks {
    /// Queues of writers: one place a zone, first come, first served.
    turns: FairSemaphore,
    /// Leases of the registry, if servers of several machines share the data; otherwise locked files keep
    /// other processes apart.
    pub(crate) leases: Option<WriteLeases>,
    clock: Clock,
    timings: CallTimings,
}

/// The right to change one zone. When it is dropped, the next caller in the queue gets it.
#[derive(Debug)]
pub struct WriteLock {
    // Dropped in this order.
    _among_processes: AmongProcesses,
    _turn: Grant,
}

/// The write lock as other processes see it, until it is dropped.
#[derive(Debug)]
enum AmongProcesses {
    /// A file that is locked.
    File { _locked: OwnedFd },
    /// A row of the registry.
    Lease { _held: WriteLease },
}

impl WriteLocks {
    /// Creates the write locks. Other processes see them as leases, if there are any, else as file locks.
    pub(crate) fn new(leases: Option<WriteLeases>, settings: &Settings, limiter: &Limiter) -> Self {
        Self {
            turns: limiter.open(Pool::Writers, Shares::fixed(1, u64::MAX)),
            leases,
            clock: limiter.clock().clone(),
            timings: settings.timings.calls.clone(),
        }
    }

    /// Waits so long for the write lock of one zone. A caller that waits has given back its place among
    /// the calls that run.
    pub(crate) fn of_zone(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
        patience: Duration,
    ) -> Result<WriteLock, Error> {
        let staging = tenant.root.subdirectory("staging")?;
        let (key, place) = (&format!("{}/{zone}", tenant.key), &tenant.place);
        let deadline = self.clock.instant() + patience;
        let free = self.turns.try_take(key).ok();
        let is_free = free.is_some();
        if !is_free && self.turns.waiting_of(key) >= LONGEST_QUEUE {
            return Err(BusyError::Zone.into());
        }
        let take_turn = || {
            let waited = || self.turns.take(key, patience, &Cancellation::default());
            free.map_or_else(waited, Ok).map_err(|_| BusyError::Zone)
        };
        if let Some(leases) = &self.leases {
            let at_hand = if is_free {
                leases.take_at_hand(key)?
            } else {
                None
            };
            let (turn, held) = if let Some(lease) = at_hand {
                (take_turn()?, lease)
            } else {
                let wait = || {
                    let turn = take_turn()?;
                    let lease = leases.take(key, deadline)?.ok_or(BusyError::Zone)?;
                    Ok::<_, Error>((turn, lease))
                };
                place.while_waiting(wait).ok_or(BusyError::Zone)??
            };
            return Ok(WriteLock {
                _among_processes: AmongProcesses::Lease { _held: held },
                _turn: turn,
            });
        }
        let file = open_lock_file(&staging, &format!("{zone}.lock"))?;
        let turn = if is_free && lock(&file)? {
            take_turn()?
        } else {
            let wait = || {
                let turn = take_turn()?;
                while !lock(&file)? {
                    if self.clock.is_past(deadline) {
                        return Err(BusyError::Zone.into());
                    }
                    self.clock.sleep(self.timings.locked_file);
                }
                Ok::<_, Error>(turn)
            };
            place.while_waiting(wait).ok_or(BusyError::Zone)??
        };
        Ok(WriteLock {
            _among_processes: AmongProcesses::File { _locked: file },
            _turn: turn,
        })
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
        #[error("another change of this zone is still in progress")]
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
        #[error("{limit} of your commands are running, which is the maximum for one user")]
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
        #[error("the server runs {limit} commands, which is its maximum")]
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
