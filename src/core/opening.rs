//! The front door: opens a data directory with everything that works on it.

use std::ops::Deref;
use std::sync::{Arc, Weak};

use fileshed_changes::{FileStorage, repair};
use fileshed_registry::TenantCondition;
use fileshed_runs::{Runs, databases};
use fileshed_transfer::Transfer;
use fileshed_types::{Caller, Clock, Error, Settings, ZoneName};
use fileshed_zones::Zone;
use fileshed_zones::store::{Hooks, Opening, Store};
use fileshed_zones::tenant::TenantRoot;
use fileshed_zones::view::View;

use crate::Admin;

/// Everything that works on one data directory.
#[derive(Debug)]
pub struct Core {
    /// Zones of callers, and what is true of the data directory.
    pub store: Arc<Store>,
    /// Commands, lines, shells and databases.
    pub runs: Arc<Runs>,
    /// Uploads, links and attached files.
    pub transfer: Arc<Transfer>,
    /// Administration, and what the server does for itself.
    pub admin: Admin,
    /// Storage of the compact tools, if it is not a zone.
    pub files: Arc<FileStorage>,
}

/// The core as one caller may use it: the caller's tree of files, and everything that works on it.
#[derive(Clone, Copy, Debug)]
pub struct CallerView<'a> {
    /// The core.
    pub core: &'a Arc<Core>,
    view: View<'a>,
}

impl<'a> CallerView<'a> {
    /// The core for `caller`.
    #[must_use]
    pub fn of(core: &'a Arc<Core>, caller: &'a Caller) -> Self {
        Self {
            core,
            view: View::of(&core.store, caller),
        }
    }
}

impl<'a> Deref for CallerView<'a> {
    type Target = View<'a>;

    fn deref(&self) -> &View<'a> {
        &self.view
    }
}

impl Core {
    /// Returns the caller's zone, ready to use. `zone` and `group` are the parameters of those names.
    pub fn zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: &str,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.store.zone(caller, zone, group)
    }

    /// Returns a zone of the caller, ready to use; that of `group`, by id or name, if it is a group's.
    pub fn open_zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: ZoneName,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.store.open_zone(caller, zone, group)
    }

    /// Opens the data directory; makes it at the first start, and refuses one in which something
    /// is lost.
    pub fn open(settings: Settings) -> Result<Self, Error> {
        Self::open_at(settings, Clock::SYSTEM)
    }

    /// [`Core::open`] with a clock, which a test may move.
    pub fn open_at(settings: Settings, clock: Clock) -> Result<Self, Error> {
        Self::assemble(settings, clock, Opening::Make)
    }

    /// Opens a data directory that exists; refuses one in which nothing is.
    pub fn open_existing(settings: Settings) -> Result<Self, Error> {
        Self::assemble(settings, Clock::SYSTEM, Opening::Existing)
    }

    fn assemble(settings: Settings, clock: Clock, opening: Opening) -> Result<Self, Error> {
        let files = Arc::new(FileStorage::open(&settings, &clock));
        let store = Arc::new(Store::assemble(settings, clock, opening)?);
        let runs = Arc::new(Runs::new(Arc::clone(&store)));
        let transfer = Arc::new(Transfer::new(Arc::clone(&store)));
        store.set_hooks(Box::new(CoreHooks {
            runs: Arc::downgrade(&runs),
            transfer: Arc::downgrade(&transfer),
        }));
        let admin = Admin {
            store: Arc::clone(&store),
            runs: Arc::clone(&runs),
            transfer: Arc::clone(&transfer),
            files: Arc::clone(&files),
        };
        Ok(Self {
            store,
            runs,
            transfer,
            admin,
            files,
        })
    }
}

/// The hooks of the store, as weak references: the crates above hold the store themselves.
#[derive(Debug)]
struct CoreHooks {
    runs: Weak<Runs>,
    transfer: Weak<Transfer>,
}

impl Hooks for CoreHooks {
    fn make_ready(
        &self,
        store: &Store,
        tenant: &TenantRoot,
        zone: ZoneName,
        known: Option<&TenantCondition>,
    ) -> bool {
        repair::make_ready(store, tenant, zone, known)
    }

    fn bring_attachments(&self, caller: &Caller) {
        if let Some(transfer) = self.transfer.upgrade() {
            transfer.bring_attachments(caller);
        }
    }

    fn claim_waiting(&self, caller: &Caller, is_named: &dyn Fn(&str) -> bool) -> bool {
        let transfer = self.transfer.upgrade();
        transfer.is_some_and(|transfer| transfer.claim_named(caller, is_named))
    }

    fn take_in_logs(&self, tenant: &TenantRoot) -> Result<(), Error> {
        match self.runs.upgrade() {
            Some(runs) => runs.known_logs(tenant).map(drop),
            None => Ok(()),
        }
    }

    fn recover_databases(&self, tenant: &TenantRoot, zone: ZoneName) -> Result<(), Error> {
        match self.runs.upgrade() {
            Some(runs) => databases::recover_all(&runs, tenant, zone),
            None => Ok(()),
        }
    }

    fn lacks_command(&self, command: &str) -> bool {
        let runs = self.runs.upgrade();
        runs.is_some_and(|runs| runs.programs.lacks(command))
    }
}
