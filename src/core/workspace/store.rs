//! The opened parts of a data directory, and what is true of all of them: settings, clock, registry,
//! queues and processes. It knows callers and tenants, and no zone.

mod activity;
mod bin;
mod former_volumes;
mod histories;
mod instance;
mod last_calls;
mod measure;
mod opening;
mod registry_copy;
mod tenant_roots;
mod tenants;
mod unfinished;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::attachment_cache::AttachmentCache;
use crate::chat_host::{ChatHost, Ending, Task};
use crate::command_slots::CommandSlots;
use crate::commit_coalescer::CommitCoalescer;
use crate::file_storage::FileStorage;
use crate::group_claims::GroupClaimCache;
use crate::link_key::LinkKey;
use crate::namespace::Pepper;
use crate::packer::HistoryPacker;
use crate::processes::Processes;
use crate::programs::Programs;
use crate::running_commands::RunningCommands;
use crate::space_in_use::SpaceInUse;
use crate::tenant::TenantRoot;
use crate::transfer_limiter::{TransferLimiter, TransferPermit, TransferQueue};
use crate::trust_list::TrustList;
use crate::watched::WatchedZones;
use crate::write_leases::WriteLeases;
use crate::write_lock::{BusyError, WriteLock};
use crate::{Caller, Clock, Error, Settings, UserId, ZoneName};
use fileshed_history::KeptRepositories;
use fileshed_registry::{Registry, Tokens};
use fileshed_sandbox::egress::Egress;
use fileshed_sandbox::{Confinement, Zygote};
use fileshed_storage::{CachedReader, DiskError, FileIdentity, Flusher, Remover, Reserve, Root};
use fileshed_types::fair::Grant;
use fileshed_types::limiter::Limiter;

pub(crate) use histories::HistoryOf;
use instance::Instance;
pub use last_calls::CallRecorder;
use last_calls::LastCalls;
pub(crate) use opening::Opening;
pub use opening::{Loss, Part, StoreError};
pub(crate) use tenants::group_key;
use unfinished::Unfinished;

/// Directory of the one workspace of shared mode.
pub(crate) const SHARED: &str = "shared";

/// Directory of all users.
pub(crate) const USERS: &str = "users";

/// Directory of all groups.
pub(crate) const GROUPS: &str = "groups";

/// Rolls back what dead processes left half done in the databases of a zone. It starts a command, so
/// it is handed to the store from above.
pub(crate) type RecoverDatabases = fn(&Store, &TenantRoot, ZoneName) -> Result<(), Error>;

/// Everything under one data directory.
#[derive(Debug)]
pub struct Store {
    settings: Settings,
    clock: Clock,
    data: Root,
    registry: Registry,
    /// The file of the registry that is open.
    registry_file: Option<FileIdentity>,
    /// `true` if the registry was without its last changes when it was opened.
    pub(crate) is_log_cut: bool,
    /// The secret that all keys of the installation are made from.
    pub(crate) pepper: Pepper,
    instance: Instance,
    packer: HistoryPacker,
    repositories: KeptRepositories,
    remover: Remover,
    /// Dropped after what may still write there.
    flusher: Flusher,
    /// Files that are read without waiting for a disk.
    pub(crate) cached_files: CachedReader,
    /// Space that is kept for deletions.
    reserve: Reserve,
    /// Tenants in whose staging this process has looked.
    visited: Mutex<HashSet<String>>,
    /// Histories that are whole, as far as a power cut goes.
    recovered: Mutex<HashSet<(String, ZoneName)>>,
    programs: Programs,
    slots: CommandSlots,
    shell_slots: CommandSlots,
    watched: WatchedZones,
    space_in_use: SpaceInUse,
    running_commands: RunningCommands,
    last_calls: LastCalls,
    processes: Processes,
    limiter: Limiter,
    /// Marks of connections and processes that last, with the trust on which each was begun.
    pub(crate) trusts: TrustList,
    /// Unix seconds of the opening.
    pub(crate) opened_at: i64,
    draining: AtomicBool,
    zygote: Zygote,
    confinement: OnceLock<Confinement>,
    egress: Egress,
    transfer_limiter: TransferLimiter,
    /// The key that signs links.
    pub(crate) link_key: LinkKey,
    /// Where people reach the server, if nobody said so: set when it listens.
    address: OnceLock<String>,
    /// Where the other servers on the data reach this one: set when it listens.
    peer_address: OnceLock<String>,
    chat_host: OnceLock<Arc<dyn ChatHost>>,
    files: FileStorage,
    /// Files that are attached to conversations, as far as they are known.
    pub(crate) attachments: AttachmentCache,
    /// The groups that the last calls of users named.
    pub(crate) group_claims: GroupClaimCache,
    saves: CommitCoalescer,
    unfinished: Unfinished,
    recover_databases: RecoverDatabases,
}

impl Store {
    /// Opens every part of a data directory; refuses one in which something is lost.
    pub(crate) fn assemble(
        settings: Settings,
        clock: Clock,
        opening: Opening,
        recover_databases: RecoverDatabases,
    ) -> Result<Self, Error> {
        let (data, is_log_cut) = opening::open(&settings, opening)?;
        let pepper = Pepper::load(&data)?;
        let registry = Registry::open(&data, &settings)?;
        registry.expect_pepper(&pepper.fingerprint())?;
        former_volumes::expect_all_in_first(&registry)?;
        let limiter = Limiter::new(&clock);
        let instance = Instance::register(&data, &settings, &limiter, &registry)?;
        let among = registry.holds_leases().then(|| instance.name());
        Ok(Self {
            files: FileStorage::open(&settings, &clock),
            registry_file: data.identity(fileshed_registry::FILE_NAME)?,
            is_log_cut,
            packer: HistoryPacker::start(data.try_clone()?, &settings, &clock, instance.queue())?,
            repositories: KeptRepositories::default(),
            remover: Remover::start()?,
            flusher: Flusher::start(
                &data,
                settings.durability,
                &clock,
                &settings.timings.storage,
            )?,
            cached_files: CachedReader::new(&data)?,
            reserve: Reserve::take(&data)?,
            visited: Mutex::default(),
            recovered: Mutex::default(),
            programs: Programs::find(&settings),
            slots: CommandSlots::new(&settings, &limiter),
            shell_slots: CommandSlots::for_lines(&settings, &limiter),
            watched: WatchedZones::new(&settings, &clock),
            space_in_use: SpaceInUse::default(),
            running_commands: RunningCommands::default(),
            last_calls: LastCalls::default(),
            processes: Processes::new(&settings, &limiter, among),
            transfer_limiter: TransferLimiter::new(&settings, &limiter),
            trusts: TrustList::default(),
            opened_at: clock.now().as_second(),
            draining: AtomicBool::new(false),
            zygote: Zygote::new(&settings, &clock),
            confinement: OnceLock::new(),
            egress: Egress::new(&settings, &clock),
            link_key: LinkKey::of(&pepper),
            address: OnceLock::new(),
            peer_address: OnceLock::new(),
            chat_host: OnceLock::new(),
            attachments: AttachmentCache::default(),
            group_claims: GroupClaimCache::new(&settings, &clock),
            saves: CommitCoalescer::new(&settings),
            unfinished: Unfinished::default(),
            recover_databases,
            limiter,
            instance,
            registry,
            pepper,
            data,
            clock,
            settings,
        })
    }

    /// Says that the server is about to stop: whoever asks whether it is ready is told no.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Whether the server is about to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// What the administrator decided.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The time.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The personal tokens.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::new(&self.registry, &self.clock)
    }

    /// Where people reach the server; empty where nobody knows.
    #[must_use]
    pub fn public_url(&self) -> &str {
        let set = &self.settings.public_url;
        if set.is_empty() {
            self.address.get().map_or("", String::as_str)
        } else {
            set.as_str()
        }
    }

    /// Says where the server listens, for links where no public address is set. Only for an
    /// address of this machine: what others call it, nobody here can know.
    pub fn listens_at(&self, address: SocketAddr) {
        if address.ip().is_loopback() {
            let _first_counts = self.address.set(format!("http://{address}"));
        }
    }

    /// Where the other servers on the data reach this one, if there may be any.
    pub(crate) fn peer_address(&self) -> &OnceLock<String> {
        &self.peer_address
    }

    /// Says which application people chat in. The first that is named stays.
    pub fn connect(&self, chat_host: Arc<dyn ChatHost>) {
        let _first_counts = self.chat_host.set(chat_host);
    }

    /// The application that people chat in, if there is one that can be asked.
    #[must_use]
    pub fn chat_host(&self) -> Option<&dyn ChatHost> {
        self.chat_host.get().map(AsRef::as_ref)
    }

    /// Whether the application that people chat in says that it has this user no more, or not active.
    #[must_use]
    pub fn is_gone(&self, user: &UserId) -> bool {
        self.chat_host()
            .is_some_and(|chat_host| chat_host.has_account(user) == Some(false))
    }

    /// Does what may last. The caller's conversation shows it as soon as it does, and then how it
    /// ended: `result` says in a few words what came of it.
    pub fn shown<T>(
        &self,
        caller: &Caller,
        task: Option<Task>,
        result: impl FnOnce(&T) -> Option<String>,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let line = task.and_then(|task| self.chat_host()?.line(caller, task));
        let done = work();
        if let Some(line) = line {
            line.end(match &done {
                Ok(done) => Ending::Done(result(done)),
                Err(error) => Ending::of_failure(caller, error),
            });
        }
        done
    }

    /// The right to move bytes for a caller. Waits a moment for it; blocks.
    pub fn transfer_permit(&self, caller: &Caller) -> Result<TransferPermit, Error> {
        Ok(self
            .transfer_limiter
            .wait(&self.tenant_key(caller)?, caller)?)
    }

    /// The queues in which a transfer of a caller has to get a place, for who waits without
    /// blocking; with the id of a link, for whoever has it.
    pub fn transfer_queues(
        &self,
        caller: &Caller,
        link: Option<&str>,
    ) -> Result<Vec<TransferQueue>, Error> {
        Ok(self
            .transfer_limiter
            .queues(&self.tenant_key(caller)?, link))
    }

    /// The right to move bytes for a caller who has a place of each of these queues.
    pub fn transfer_permit_with(
        &self,
        caller: &Caller,
        places: Vec<Grant>,
    ) -> Result<TransferPermit, Error> {
        Ok(self
            .transfer_limiter
            .transfer_permit(&self.tenant_key(caller)?, places))
    }

    /// The whitelisted programs of this machine.
    #[must_use]
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// How the kernel of this machine confines commands; tried once, when it is first asked.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        self.confinement.get_or_init(|| {
            // A directory in which no other file system is mounted.
            let own = self.data.subdirectory(instance::DIRECTORY);
            let place = own.as_ref().unwrap_or(&self.data).handle();
            Confinement::probe(&self.zygote, place, &self.settings)
        })
    }

    /// Has the kernel bound each command together with all that it starts, where this process may
    /// have that. For a server, before anything else is done with its store.
    pub fn claim_cgroups(&self) {
        self.zygote.claim_cgroups();
    }

    /// Whether a command is bounded together with all that it starts; otherwise each of its processes
    /// is.
    #[must_use]
    pub fn bounds_trees(&self) -> bool {
        self.zygote.bounds_trees().is_ok()
    }

    /// The proxy through which commands reach the network.
    #[must_use]
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// Ends the command with most watches of epoll, because the account has none left.
    pub fn end_most_watches(&self) {
        match self.zygote.end_most_watches() {
            Ok(()) => tracing::warn!("the command with most watches of epoll is ended"),
            Err(error) => tracing::warn!(%error, "no command is ended"),
        }
    }

    /// The process that commands are started from.
    pub(crate) fn zygote(&self) -> &Zygote {
        &self.zygote
    }

    /// Commands that are running.
    pub(crate) fn slots(&self) -> &CommandSlots {
        &self.slots
    }

    /// Lines of shells that are running.
    pub(crate) fn shell_slots(&self) -> &CommandSlots {
        &self.shell_slots
    }

    /// The zones of which this process is told what changes.
    pub(crate) fn watched(&self) -> &WatchedZones {
        &self.watched
    }

    /// The space that running commands take.
    pub(crate) fn space_in_use(&self) -> &SpaceInUse {
        &self.space_in_use
    }

    /// The commands of calls that run now.
    pub(crate) fn running_commands(&self) -> &RunningCommands {
        &self.running_commands
    }

    /// Everything that bounds what is under way at once.
    #[must_use]
    pub fn limiter(&self) -> &Limiter {
        &self.limiter
    }

    /// Lines and shells, which outlive the calls that start them.
    #[must_use]
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// The directory of all data.
    pub(crate) fn data(&self) -> &Root {
        &self.data
    }

    /// Whether the file of the registry that is open still has its name.
    pub(crate) fn has_registry_file(&self) -> bool {
        let found = self.data.identity(fileshed_registry::FILE_NAME);
        self.registry.holds_leases() || matches!(found, Ok(found) if found == self.registry_file)
    }

    /// The names of all processes that share the data directory.
    pub(crate) fn live_instances(&self) -> Result<Vec<String>, DiskError> {
        self.instance.live_instances()
    }

    /// Whether several machines may have the data.
    pub(crate) fn shares_data(&self) -> bool {
        self.instance.queue().leases().is_some()
    }

    /// Fails where others may have taken this process for dead, because it stood still or could not say
    /// that it lives.
    pub(crate) fn expect_alive(&self) -> Result<(), Error> {
        match self.instance.queue().leases() {
            Some(leases) => leases.expect_alive(),
            None => Ok(()),
        }
    }

    /// Whether others took this process for dead. Then it can change nothing any more, and has to end.
    #[must_use]
    pub fn is_taken_for_dead(&self) -> bool {
        let leases = self.instance.queue().leases();
        leases.is_some_and(WriteLeases::is_taken_for_dead)
    }

    /// The tenants in which processes that died left something unfinished; waits for a moment. Nothing
    /// where only this machine has the data: the next call for a tenant finds that then.
    pub(crate) fn tenants_left(&self, patience: Duration) -> Option<Vec<String>> {
        let leases = self.instance.queue().leases()?;
        Some(leases.tenants_left(patience))
    }

    /// Marks the unfinished changes of processes that died.
    pub(crate) fn mark_dead_instances(&self) -> Result<(), Error> {
        self.instance.mark_dead_instances(&self.registry)
    }

    /// Rolls back what dead processes left half done in the databases of a zone.
    pub(crate) fn recover_databases(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
    ) -> Result<(), Error> {
        (self.recover_databases)(self, tenant, zone)
    }

    pub(crate) fn visited(&self) -> MutexGuard<'_, HashSet<String>> {
        self.visited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn unfinished(&self) -> &Unfinished {
        &self.unfinished
    }

    pub(crate) fn recovered(&self) -> MutexGuard<'_, HashSet<(String, ZoneName)>> {
        self.recovered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Where the files of the compact tools are.
    #[must_use]
    pub fn files(&self) -> &FileStorage {
        &self.files
    }

    /// Changes of programs that belong together.
    pub(crate) fn saves(&self) -> &CommitCoalescer {
        &self.saves
    }

    /// The name of this process in the registry and in staging.
    pub(crate) fn instance(&self) -> &str {
        self.instance.name()
    }

    /// Locks opened at or before this second have expired.
    pub(crate) fn locks_expired_before(&self) -> i64 {
        let age = self.settings.lock_max_age_hours.saturating_mul(3600);
        self.clock.now().as_second().saturating_sub(age as i64)
    }

    /// Waits for the write lock of one zone.
    pub(crate) fn write_lock(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
    ) -> Result<WriteLock, Error> {
        self.write_lock_within(tenant, zone, self.settings.timings.calls.write_lock)
    }

    /// The same, for who waits so long. Whoever waited in vain for a command is told which.
    pub(crate) fn write_lock_within(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
        patience: Duration,
    ) -> Result<WriteLock, Error> {
        let write_lock = self.instance.queue().of_zone(tenant, zone, patience);
        write_lock.map_err(|error| match error.cause() {
            Some(BusyError::Zone) => {
                let holder = self.running_commands.holder(&tenant.key, zone);
                holder.unwrap_or(error)
            }
            _ => error,
        })
    }
}
