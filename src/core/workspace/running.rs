//! Commands under way: what they take together, and what stays when one of them is undone.
//!
//! A command that wants more than the quota is undone, and with it everything in its zone that
//! nobody was promised yet. What stays is what was there before the first of the commands that
//! overlap, and what came by others that ended well since. Several commands of one user share what
//! is left, because each measurement counts for all.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ZonePath;
use crate::watched::WatchedZones;
use fileshed_registry::Usage;
use fileshed_storage::{DiskError, Root, Snapshot, Totals};

/// All commands of this process that may make something larger.
#[derive(Debug)]
pub(crate) struct Running {
    zones: Mutex<HashMap<(String, &'static str), Arc<RunningZone>>>,
    /// Bytes outside the zones, by tenant and command.
    temporary: Mutex<HashMap<String, HashMap<u64, u64>>>,
    numbers: AtomicU64,
    watched: WatchedZones,
}

/// One zone in which commands run.
#[derive(Debug, Default)]
struct RunningZone {
    state: Mutex<RunningState>,
}

#[derive(Debug, Default)]
struct RunningState {
    /// Nothing until the first command looked.
    kept: Option<Snapshot>,
    /// Bytes in the zone when one of them was last measured.
    measured: Option<u64>,
    /// For each command, whether it was undone with another.
    commands: Vec<Arc<AtomicBool>>,
}

impl RunningZone {
    fn state(&self) -> MutexGuard<'_, RunningState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One command that may make its zone larger. Dropped, it is over.
#[derive(Debug)]
pub(crate) struct Growing<'a> {
    running: &'a Running,
    key: (String, &'static str),
    running_zone: Arc<RunningZone>,
    undone: Arc<AtomicBool>,
    /// Whether it may run in a tenant that holds too much already, as long as it adds nothing.
    may_be_over: bool,
    before: Totals,
    directories_before: u64,
    /// Directories where it was stopped for them.
    directories: AtomicU64,
    /// What stays, where no other command needs to know.
    own: Mutex<Option<Snapshot>>,
}

/// What a tenant may hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpaceLimits {
    pub(crate) bytes: u64,
    /// Files, and directories of one zone.
    pub(crate) files: u64,
    /// Files of the zone that are the server's own and do not count.
    pub(crate) own_files: u64,
}

impl Running {
    pub(crate) fn new(watched: WatchedZones) -> Self {
        Self {
            zones: Mutex::default(),
            temporary: Mutex::default(),
            numbers: AtomicU64::new(0),
            watched,
        }
    }

    fn zones(&self) -> MutexGuard<'_, HashMap<(String, &'static str), Arc<RunningZone>>> {
        self.zones.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What lies in a zone.
    pub(crate) fn snapshot(
        &self,
        (tenant, zone): (&str, &'static str),
        data: &Root,
    ) -> Result<Snapshot, DiskError> {
        match self.watched.snapshot(tenant, zone, data) {
            Some(snapshot) => Ok(snapshot),
            None => data.snapshot(),
        }
    }

    /// The zones of which it is told what changes.
    pub(crate) fn watched(&self) -> &WatchedZones {
        &self.watched
    }

    fn running_zone(&self, tenant: &str, zone: &'static str) -> Option<Arc<RunningZone>> {
        self.zones().get(&(tenant.to_owned(), zone)).cloned()
    }

    /// Enters a command. The first one in a zone looks at everything that is there.
    pub(crate) fn begin(
        &self,
        tenant: &str,
        zone: &'static str,
        data: &Root,
        may_be_over: bool,
    ) -> Result<Growing<'_>, DiskError> {
        let key = (tenant.to_owned(), zone);
        let running_zone = Arc::clone(self.zones().entry(key.clone()).or_default());
        let undone = Arc::new(AtomicBool::new(false));
        let mut growing = Growing {
            running: self,
            key,
            running_zone,
            undone,
            may_be_over,
            before: Totals::default(),
            directories_before: 0,
            directories: AtomicU64::new(0),
            own: Mutex::default(),
        };
        let running_zone = Arc::clone(&growing.running_zone);
        let mut state = running_zone.state();
        let kept = match state.kept.take() {
            Some(kept) => kept,
            None => self.snapshot((tenant, zone), data)?,
        };
        growing.before = kept.totals();
        growing.directories_before = kept.directories();
        state.kept = Some(kept);
        state.commands.push(Arc::clone(&growing.undone));
        drop(state);
        Ok(growing)
    }

    /// What the caller was promised at these paths stays, whatever happens to a command.
    pub(crate) fn keep<'p>(
        &self,
        (tenant, zone): (&str, &'static str),
        data: &Root,
        paths: impl IntoIterator<Item = &'p ZonePath>,
    ) -> Result<(), DiskError> {
        let Some(running_zone) = self.running_zone(tenant, zone) else {
            return Ok(());
        };
        if let Some(kept) = &mut running_zone.state().kept {
            for path in paths {
                data.remember(path, kept)?;
            }
        }
        Ok(())
    }

    /// A command that takes no space ended well in this zone: what is there now stays, if others
    /// run. Where the zone holds more than `most` by now, one of them is to blame, and only what is
    /// empty stays.
    pub(crate) fn keep_all(
        &self,
        (tenant, zone): (&str, &'static str),
        data: &Root,
        most: u64,
    ) -> Result<(), DiskError> {
        let Some(running_zone) = self.running_zone(tenant, zone) else {
            return Ok(());
        };
        let mut state = running_zone.state();
        if let Some(kept) = &mut state.kept {
            let snapshot = self.snapshot((tenant, zone), data)?;
            if snapshot.totals().bytes <= most {
                *kept = snapshot.after(kept);
            } else {
                data.remember_empty(kept)?;
            }
        }
        Ok(())
    }

    /// Bytes in the other zones of a tenant, as they were last measured.
    fn beside(&self, tenant: &str, zone: &str, usage: &[Usage]) -> u64 {
        let measured = |usage: &Usage| {
            let zones = self.zones();
            let running_zone = zones
                .iter()
                .find(|((at, name), _)| at == tenant && *name == usage.zone);
            running_zone.and_then(|(_, running_zone)| running_zone.state().measured)
        };
        usage
            .iter()
            .filter(|usage| usage.zone != zone)
            .map(|usage| measured(usage).unwrap_or(usage.totals.bytes))
            .sum()
    }

    /// A number for a command that may take space outside its zone.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Enters what a command takes outside its zone; returns what all of this tenant take together.
    pub(crate) fn temporary(&self, tenant: &str, number: u64, bytes: u64) -> u64 {
        let mut tenants = self.temporarily();
        let commands = tenants.entry(tenant.to_owned()).or_default();
        commands.insert(number, bytes);
        commands.values().sum()
    }

    /// The command is over.
    pub(crate) fn release(&self, tenant: &str, number: u64) {
        let mut tenants = self.temporarily();
        if let Some(commands) = tenants.get_mut(tenant) {
            commands.remove(&number);
            if commands.is_empty() {
                tenants.remove(tenant);
            }
        }
    }

    fn temporarily(&self) -> MutexGuard<'_, HashMap<String, HashMap<u64, u64>>> {
        self.temporary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Growing<'_> {
    /// Whether it is to blame for `now` being too much. What was there before holds what other
    /// commands were writing at that moment, so it excuses only those that may begin with too much.
    pub(crate) fn is_to_blame(&self, now: u64, before: u64) -> bool {
        !self.may_be_over || now > before
    }

    /// What was there before.
    pub(crate) fn before(&self) -> Totals {
        self.before
    }

    /// Directories that were there before, where these are more than `most`; or those that the
    /// command came to, where it was stopped for them.
    pub(crate) fn too_many_directories(&self, most: u64) -> Option<u64> {
        let count = self
            .directories_before
            .max(self.directories.load(Ordering::Relaxed));
        (count > most).then_some(count)
    }

    /// Whether the command must stop: it was undone, or the tenant holds more than `limits` let it,
    /// with what its other commands wrote so far, and more than before. `usage` is what its zones
    /// held when they were last measured.
    pub(crate) fn is_over(&self, data: &Root, usage: &[Usage], limits: SpaceLimits) -> bool {
        if self.is_undone() {
            return true;
        }
        // What vanishes while it is measured is measured again soon.
        let Ok(seen) = self.seen(data) else {
            return false;
        };
        let (totals, directories) = (seen.totals(), seen.directories());
        self.running_zone.state().measured = Some(totals.bytes);
        let (tenant, zone) = &self.key;
        let beside = self.running.beside(tenant, zone, usage);
        let others = usage.iter().filter(|usage| usage.zone != *zone);
        let files = totals.files + others.map(|usage| usage.totals.files).sum::<u64>();
        let too_many = files > limits.files + limits.own_files
            && self.is_to_blame(totals.files, self.before().files);
        if directories > limits.files && self.is_to_blame(directories, self.directories_before) {
            self.directories.store(directories, Ordering::Relaxed);
            return true;
        }
        let too_much = beside + totals.bytes > limits.bytes
            && self.is_to_blame(totals.bytes, self.before().bytes);
        too_many || too_much
    }

    /// What is there now, where other commands run in the zone, too. Where none does, the next one
    /// looks for itself.
    pub(crate) fn look(&self, data: &Root) -> Result<Option<Snapshot>, DiskError> {
        let mut state = self.running_zone.state();
        if state.commands.len() <= 1 {
            *self.own() = state.kept.take();
            return Ok(None);
        }
        drop(state);
        self.seen(data).map(Some)
    }

    fn seen(&self, data: &Root) -> Result<Snapshot, DiskError> {
        let (tenant, zone) = &self.key;
        self.running.snapshot((tenant, zone), data)
    }

    fn own(&self) -> MutexGuard<'_, Option<Snapshot>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The command ended well, and what it left stays: `seen`, as it was judged.
    pub(crate) fn settle(&self, seen: Option<Snapshot>) {
        let mut state = self.running_zone.state();
        if let (Some(seen), Some(kept)) = (seen, &state.kept) {
            state.kept = Some(seen.after(kept));
        }
    }

    /// Whether it was undone with another.
    pub(crate) fn is_undone(&self) -> bool {
        self.undone.load(Ordering::Relaxed)
    }

    /// Works on what stays, and tells the other commands of the zone that they are undone.
    pub(crate) fn undo<T>(&self, work: impl FnOnce(&Snapshot) -> T) -> T {
        let state = self.running_zone.state();
        for command in &state.commands {
            command.store(true, Ordering::Relaxed);
        }
        let own = self.own();
        let kept = own.as_ref().or(state.kept.as_ref());
        work(kept.unwrap_or(&Snapshot::default()))
    }
}

impl Drop for Growing<'_> {
    fn drop(&mut self) {
        let mut zones = self.running.zones();
        let mut state = self.running_zone.state();
        state
            .commands
            .retain(|command| !Arc::ptr_eq(command, &self.undone));
        let is_last = state.commands.is_empty();
        drop(state);
        // Another one that waits for its first look has it, too.
        if is_last && Arc::strong_count(&self.running_zone) == 2 {
            zones.remove(&self.key);
        }
    }
}
