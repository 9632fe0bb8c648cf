//! One attempt to move a tenant.

use std::time::{Duration, Instant};

use super::leftovers::MOVING;
use super::{Moved, TenantMoveError};
use crate::administration::TenantId;
use crate::store::Store;
use crate::tenant::TenantRoot;
use crate::transfer::ARRIVING;
use crate::volumes::Volume;
use crate::write_lock::WriteLock;
use crate::{Code, Error, ZonePath};
use fileshed_history::packing::{self, PackingHold};
use fileshed_registry::{Placement, Switch};
use fileshed_storage::{ArrivingFile, DiskError, Mirror, OpenedArrivingFile, Staging, Target};

/// What is not copied: whoever prepares a change there has to begin anew.
const LEFT_OUT: [&str; 1] = ["staging"];

/// How long it is waited for a history that is being packed, while nobody can write.
const PACKING: Duration = Duration::from_secs(5);

/// How often it is looked whether it is packed.
const LOOK: Duration = Duration::from_millis(10);

/// The name for logs, and of a repair after a move that was killed.
const OPERATION: &str = "tenant_move";

/// Passes beside everybody else, at most.
const PASSES: usize = 5;

/// What may be left for the pass for which everybody waits.
const FEW_BYTES: u64 = 32 * 1024 * 1024;
const FEW_CHANGES: u64 = 200;

/// Passes while nobody writes. Only what another program writes there takes more than two.
const LAST_PASSES: usize = 5;

/// A tenant on its way to another volume.
pub(super) struct Relocation<'a> {
    store: &'a Store,
    tenant: TenantRoot,
    from: Placement,
    to: &'a Volume,
    mirror: Mirror,
    moved: Moved,
}

/// What keeps everybody from changing the tenant.
pub(super) struct TenantHold<'a> {
    _write_locks: Vec<WriteLock<'a>>,
    _arriving: Vec<ArrivingFile>,
    _unpacked: Vec<PackingHold>,
    since: Instant,
}

/// What came of an attempt.
pub(super) enum Attempt {
    /// It lies there; for so long nobody could write.
    Done(Duration),
    /// Something began before the end.
    CameBetween,
}

impl<'a> Relocation<'a> {
    pub(super) fn begin(
        store: &'a Store,
        (id, key): (&TenantId, &str),
        to: &'a Volume,
    ) -> Result<Self, Error> {
        let arrival = store.registry().arrival("", key)?;
        let tenant = store.made_tenant(key, &arrival)?;
        let (id, name) = (id.to_string(), to.name.clone());
        let from = store.registry().placement(key)?;
        let Some(from) = from.filter(|from| from.volume != to.name) else {
            return Err(TenantMoveError::AlreadyThere { id, name }.into());
        };
        // Of an earlier move, or of one that was killed.
        store.remove_old_copy(key, to)?;
        let (needed, free) = (tenant.root.measure()?.bytes, to.root.free_space()?);
        if needed > free {
            return Err(TenantMoveError::Space { name, needed, free }.into());
        }
        to.make_parent_of(key)?;
        let staging = Staging::new(to.root.subdirectory(MOVING)?, store.instance());
        Ok(Self {
            mirror: Mirror::begin(&tenant.root, &staging)?,
            moved: Moved::default(),
            store,
            tenant,
            from,
            to,
        })
    }

    /// What was copied so far.
    pub(super) fn moved(&self) -> Moved {
        self.moved
    }

    /// Copies beside everybody else, until there is little left, and has that on disk: when everybody
    /// waits, there is little to flush.
    pub(super) fn follow(&mut self) -> Result<(), Error> {
        for _ in 0..PASSES {
            let changes = self.moved.bytes;
            let pass = self.pass(false)?;
            if self.moved.bytes - changes <= FEW_BYTES && pass <= FEW_CHANGES {
                break;
            }
        }
        Ok(self.to.root.flush_file_system()?)
    }

    /// Takes over what changed since the last pass; how many entries did.
    fn pass(&mut self, is_last: bool) -> Result<u64, DiskError> {
        let pass = self.mirror.pass(is_last, &LEFT_OUT)?;
        self.moved.bytes += pass.bytes;
        self.moved.skipped = pass.skipped;
        Ok(pass.changes)
    }

    /// Keeps everybody from changing the tenant and brings over the rest; or says what has to end first.
    pub(super) fn hold(&mut self) -> Result<Result<TenantHold<'a>, String>, Error> {
        for zone in self.tenant.zones {
            self.store.try_make_ready(&self.tenant, *zone, None)?;
        }
        let since = Instant::now();
        let mut write_locks = Vec::new();
        for zone in self.tenant.zones {
            match self.store.write_lock(&self.tenant, *zone) {
                Ok(write_lock) => write_locks.push(write_lock),
                Err(error) if error.code() == Code::Busy => {
                    return Ok(Err("a change that lasts".to_owned()));
                }
                Err(error) => return Err(error),
            }
        }
        let changes = self.store.registry().changes_under_way(&self.tenant.key)?;
        if !changes.is_empty() {
            return Ok(Err(changes.join(", ")));
        }
        let Some(arriving) = self.hold_uploads()? else {
            return Ok(Err("an upload".to_owned()));
        };
        let Some(unpacked) = self.hold_packing()? else {
            return Ok(Err("the packing of a history".to_owned()));
        };
        for _ in 0..LAST_PASSES {
            if self.pass(true)? == 0 {
                return Ok(Ok(TenantHold {
                    _write_locks: write_locks,
                    _arriving: arriving,
                    _unpacked: unpacked,
                    since,
                }));
            }
        }
        Ok(Err("what another program writes there".to_owned()))
    }

    /// Keeps histories from being packed; nothing where one is for too long. Whoever packs is asked to
    /// end, but has the lowest priority, and gets on while nobody can write.
    fn hold_packing(&self) -> Result<Option<Vec<PackingHold>>, Error> {
        let versioned = self.tenant.zones.iter().filter(|zone| zone.is_versioned());
        let mut held = Vec::new();
        for zone in versioned {
            let Some(base) = self.tenant.existing_base(*zone)? else {
                continue;
            };
            let since = Instant::now();
            held.push(loop {
                match packing::hold(&base)? {
                    Some(unpacked) => break unpacked,
                    None if since.elapsed() >= PACKING => return Ok(None),
                    None => std::thread::sleep(LOOK),
                }
            });
        }
        Ok(Some(held))
    }

    /// Keeps uploads from going on that are not complete; nothing where a piece of one arrives.
    fn hold_uploads(&self) -> Result<Option<Vec<ArrivingFile>>, Error> {
        let mut held = Vec::new();
        let Some(directory) = self.tenant.root.existing_subdirectory(ARRIVING)? else {
            return Ok(Some(held));
        };
        for entry in directory.list(&ZonePath::root())? {
            match ArrivingFile::open(&directory, entry.path.as_str())? {
                OpenedArrivingFile::Open(file) => held.push(file),
                OpenedArrivingFile::Missing => {}
                OpenedArrivingFile::Taken => return Ok(None),
            }
        }
        Ok(Some(held))
    }

    /// Gives the copy its name, and says in the registry that the tenant lies there.
    pub(super) fn end(self, held: TenantHold<'a>) -> Result<Attempt, Error> {
        let (store, key) = (self.store, &self.tenant.key);
        let mut intent = store.begin_on_tenant(&self.tenant, OPERATION)?;
        let root = &self.to.root;
        let vacancy = root.vacancy_as_named(&ZonePath::found(key.clone()))?;
        let copy = self.mirror.into_copy();
        let installed = copy.install(Target::Vacancy(vacancy))?;
        // Its name as well.
        root.flush_file_system()?;
        match intent.switch(&self.from, &self.to.name) {
            Ok(Switch::Done) => {
                installed.keep();
                // Before anybody writes there, and before the old copy goes.
                store.data().flush_file_system()?;
                let time = held.since.elapsed();
                drop(held);
                Ok(Attempt::Done(time))
            }
            // The copy goes, then the intent, then the write locks.
            Ok(Switch::UnderWay(_) | Switch::Occupied(_) | Switch::Elsewhere) => {
                drop(installed);
                Ok(Attempt::CameBetween)
            }
            Err(error) => {
                // Nobody knows whether it lies there now: either place has all of it.
                installed.keep();
                Err(error.into())
            }
        }
    }
}
