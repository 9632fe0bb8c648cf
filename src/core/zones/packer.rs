//! Packing of histories, beside everything else: one at a time for the whole server, on a thread
//! that gets what time nobody else wants.
//!
//! It counts work on each history, and examines a history after a number of changes, and again when the
//! history was left alone for a while. A history that it does not reach stays as it is, only larger.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::tenant::TenantRoot;
use crate::write_lock::WriteLocks;
use fileshed_history::packing::{self, Worth};
use fileshed_storage::{DiskError, Root, give_way};
use fileshed_types::fair::CallSlot;
use fileshed_types::{
    Background, BinNotes, Clock, Error, Mutex, Settings, StopSign, ZoneName, ZonePath,
};

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

type TouchedHistories = Mutex<HashMap<HistoryKey, Touched>>;

/// The packing thread.
#[derive(Debug)]
pub(crate) struct HistoryPacker {
    touched: Arc<TouchedHistories>,
    clock: Clock,
    /// Objects that are worth a pack.
    objects: u64,
    /// Wakes the thread, also when it is dropped, which is before the thread is joined.
    wake: SyncSender<()>,
    _thread: Background,
}

impl HistoryPacker {
    /// Starts packing below the data directory, if histories are packed. `queue` has the write locks.
    pub(crate) fn start(
        data: Root,
        settings: &Settings,
        clock: &Clock,
        queue: &Arc<WriteLocks>,
    ) -> Result<Option<Self>, Error> {
        let Some(objects) = settings.history_pack_objects else {
            return Ok(None);
        };
        let (wake, woken) = sync_channel(1);
        let touched = Arc::default();
        let worker = PackThread {
            touched: Arc::clone(&touched),
            woken,
            data,
            queue: Arc::clone(queue),
            clock: clock.clone(),
            objects: objects.get(),
            quiet: settings.timings.history.quiet,
            patience: settings.timings.calls.write_lock,
        };
        let thread = Background::start("pack", move |stop| worker.work(stop));
        Ok(Some(Self {
            touched,
            clock: clock.clone(),
            objects: objects.get(),
            wake,
            _thread: thread.map_err(|error| DiskError::of("pack", &ZonePath::root(), error))?,
        }))
    }

    /// Counts work on a history.
    pub(crate) fn touched(&self, tenant: &str, zone: ZoneName) {
        let now = self.clock.instant();
        let mut touched = self.touched.lock();
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
            let _once_is_enough = self.wake.try_send(());
        }
    }
}

/// Returns the number of changes after which a history is examined.
fn looks_after(objects: u64) -> u64 {
    (objects / LOOKS).max(1)
}

struct PackThread {
    touched: Arc<TouchedHistories>,
    woken: Receiver<()>,
    data: Root,
    queue: Arc<WriteLocks>,
    clock: Clock,
    objects: u64,
    /// Time without changes after which even a small history is packed.
    quiet: Duration,
    /// Longest wait for a write lock.
    patience: Duration,
}

impl PackThread {
    fn work(&self, stop: &StopSign) {
        give_way();
        while let Some((key, is_quiet)) = self.next(stop) {
            if let Err(error) = self.pack(&key, is_quiet, stop) {
                let (tenant, zone) = key;
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::warn!(
                    tenant, zone = zone.as_str(), %error, cause,
                    "a history could not be packed"
                );
            }
        }
    }

    /// Waits for a history that may be worth it, and says whether it was left alone. `None` at the
    /// end.
    fn next(&self, stop: &StopSign) -> Option<(HistoryKey, bool)> {
        while !stop.is_given() {
            let mut touched = self.touched.lock();
            let busy = touched
                .iter_mut()
                .max_by_key(|(_, one)| one.times)
                .filter(|(_, one)| one.times >= looks_after(self.objects));
            if let Some((key, one)) = busy {
                one.times = 0;
                return Some((key.clone(), false));
            }
            let oldest = touched.iter().min_by_key(|(_, one)| one.last);
            let oldest = oldest.map(|(key, one)| (key.clone(), one.last + self.quiet));
            if let Some((key, quiet)) = &oldest
                && self.clock.is_past(*quiet)
            {
                touched.remove(key);
                return Some((key.clone(), true));
            }
            drop(touched);
            match oldest {
                Some((_, quiet)) => {
                    let left = self.clock.left(quiet);
                    if self.clock.receive(&self.woken, left) == Err(RecvTimeoutError::Disconnected)
                    {
                        return None;
                    }
                }
                None => self.woken.recv().ok()?,
            }
        }
        None
    }

    fn pack(&self, key: &HistoryKey, is_quiet: bool, stop: &StopSign) -> Result<(), Error> {
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
            notes: BinNotes::default(),
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
        let packed = packing::pack(&base, worth, &|| !stop.is_given())?;
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
