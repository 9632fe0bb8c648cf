//! Packing of histories, beside everything else: one at a time for the whole server, on a thread
//! that gets what time nobody else wants.
//!
//! It is told of each piece of work on a history, and looks at one after a number of them, and
//! when it was left alone for a while. What it does not get to is as before, only larger.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::tenant::TenantRoot;
use crate::write_lock::WriteLocks;
use fileshed_history::packing::{self, Worth};
use fileshed_storage::{DiskError, Root, give_way};
use fileshed_types::fair::CallSlot;
use fileshed_types::zone::ZonePath;
use fileshed_types::{Clock, Error, Mutex, Settings, ZoneName};

/// A history is looked at after a part of the objects that are worth a pack.
const LOOKS: u64 = 16;

/// In a quiet history a part of the objects is worth it.
const QUIET_SHARE: u64 = 8;

/// Bytes of files of objects that are worth a pack, and those of a quiet history.
const BYTES: u64 = 8 * 1024 * 1024;
const QUIET_BYTES: u64 = 1024 * 1024;

/// A tenant and a zone of it.
type HistoryKey = (String, ZoneName);

/// A history that may be worth it.
#[derive(Debug)]
struct Touched {
    times: u64,
    last: Instant,
}

#[derive(Debug)]
struct PackQueue {
    touched: Mutex<HashMap<HistoryKey, Touched>>,
    changed: Condvar,
    stopping: AtomicBool,
    clock: Clock,
    /// A history that nothing was done to for so long is packed although it is small.
    quiet: Duration,
}

/// The packing thread, if histories are packed.
#[derive(Debug)]
pub(crate) struct HistoryPacker {
    shared: Arc<PackQueue>,
    /// Objects that are worth a pack; none are where this is nothing.
    objects: u64,
    thread: Option<JoinHandle<()>>,
}

impl HistoryPacker {
    /// Starts packing below the data directory. `queue` has the write locks.
    pub(crate) fn start(
        data: Root,
        settings: &Settings,
        clock: &Clock,
        queue: &Arc<WriteLocks>,
    ) -> Result<Self, Error> {
        let shared = Arc::new(PackQueue {
            touched: Mutex::default(),
            changed: Condvar::new(),
            stopping: AtomicBool::new(false),
            clock: clock.clone(),
            quiet: settings.timings.history.quiet,
        });
        let objects = settings.history_pack_objects.map_or(0, NonZeroU64::get);
        let mut thread = None;
        if objects > 0 {
            let worker = PackThread {
                shared: Arc::clone(&shared),
                data,
                queue: Arc::clone(queue),
                objects,
                patience: settings.timings.calls.write_lock,
            };
            let builder = std::thread::Builder::new().name("pack".to_owned());
            let started = builder.spawn(move || worker.work());
            let fail = |error| DiskError::of("pack", &ZonePath::root(), error);
            thread = Some(started.map_err(fail)?);
        }
        Ok(Self {
            shared,
            objects,
            thread,
        })
    }

    /// Says that something was done to a history.
    pub(crate) fn touched(&self, tenant: &str, zone: ZoneName) {
        if self.objects == 0 {
            return;
        }
        let now = self.shared.clock.instant();
        let mut touched = self.shared.touched.lock();
        let is_first = touched.is_empty();
        let one = touched
            .entry((tenant.to_owned(), zone))
            .or_insert_with(|| Touched {
                times: 0,
                last: now,
            });
        one.times += 1;
        one.last = now;
        if is_first || one.times >= looks_after(self.objects) {
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for HistoryPacker {
    fn drop(&mut self) {
        let touched = self.shared.touched.lock();
        self.shared.stopping.store(true, Ordering::Relaxed);
        drop(touched);
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

impl PackQueue {
    fn goes_on(&self) -> bool {
        !self.stopping.load(Ordering::Relaxed)
    }
}

/// Work on a history after which it is looked at.
fn looks_after(objects: u64) -> u64 {
    (objects / LOOKS).max(1)
}

struct PackThread {
    shared: Arc<PackQueue>,
    data: Root,
    queue: Arc<WriteLocks>,
    objects: u64,
    /// How long it waits for a write lock.
    patience: Duration,
}

impl PackThread {
    fn work(&self) {
        give_way();
        while let Some((key, is_quiet)) = self.next() {
            if let Err(error) = self.pack(&key, is_quiet) {
                let (tenant, zone) = key;
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(tenant, zone = zone.as_str(), %error, cause, "a history is not packed");
            }
        }
    }

    /// Waits for a history that may be worth it, and says whether it was left alone. Nothing at
    /// the end.
    fn next(&self) -> Option<(HistoryKey, bool)> {
        let mut touched = self.shared.touched.lock();
        while self.shared.goes_on() {
            let busy = touched
                .iter_mut()
                .max_by_key(|(_, one)| one.times)
                .filter(|(_, one)| one.times >= looks_after(self.objects));
            if let Some((key, one)) = busy {
                one.times = 0;
                return Some((key.clone(), false));
            }
            let oldest = touched.iter().min_by_key(|(_, one)| one.last);
            let quiet = |one: &Touched| one.last + self.shared.quiet;
            let oldest = oldest.map(|(key, one)| (key.clone(), quiet(one)));
            let clock = &self.shared.clock;
            touched = match oldest {
                Some((key, quiet)) if clock.is_past(quiet) => {
                    touched.remove(&key);
                    return Some((key, true));
                }
                Some((_, quiet)) => clock.wait(&self.shared.changed, touched, quiet),
                None => {
                    let wait = self.shared.changed.wait(touched);
                    wait.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        None
    }

    fn pack(&self, key: &HistoryKey, is_quiet: bool) -> Result<(), Error> {
        let (tenant, zone) = (&key.0, key.1);
        let Some(root) = self.data.existing_subdirectory(tenant)? else {
            return Ok(());
        };
        let tenant = TenantRoot {
            key: tenant.clone(),
            root,
            limit: 0,
            zones: &[],
            place: CallSlot::default(),
        };
        let Some(base) = tenant.existing_base(zone)? else {
            return Ok(());
        };
        let worth = if is_quiet {
            Worth {
                objects: (self.objects / QUIET_SHARE).max(1) as usize,
                bytes: QUIET_BYTES,
            }
        } else {
            Worth {
                objects: self.objects as usize,
                bytes: BYTES,
            }
        };
        let packed = packing::pack(&base, worth, &|| self.shared.goes_on())?;
        if packed > 0 {
            let _write_lock = self.queue.of_zone(&tenant, zone, self.patience)?;
            packing::tidy(&base)?;
            tracing::debug!(
                tenant = tenant.key,
                zone = zone.as_str(),
                packed,
                "packed a history"
            );
        }
        Ok(())
    }
}
