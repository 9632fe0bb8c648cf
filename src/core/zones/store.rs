//! The opened parts of a data directory, and what is true of all of them: settings, clock, registry,
//! queues.

mod answers;
mod bin;
mod former_volumes;
mod hooks;
pub mod instance;
mod last_calls;
mod measure;
mod opening;
mod registry_copy;
mod tenants;
mod unfinished;

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::chat_host::{ChatHost, Task, TaskEnd};
use crate::commit_coalescer::CommitCoalescer;
use crate::namespace::Pepper;
use crate::packer::HistoryPacker;
use crate::recalled::{Recalled, RecalledAnswers};
use crate::running_commands::RunningCommands;
use crate::space_in_use::SpaceInUse;
use crate::tenant::TenantRoot;
use crate::trust_list::TrustList;
use crate::watched::WatchedZones;
use crate::write_leases::WriteLeases;
use crate::write_lock::{BusyError, WriteLock};
use fileshed_registry::{Intent, PageSessions, Registry, SessionLife, Tokens};
use fileshed_storage::{CachedReader, FileIdentity, Flusher, Remover, Reserve, Root};
use fileshed_types::limiter::Limiter;
use fileshed_types::{Caller, Clock, Error, GroupClaim, Mutex, Settings, UserId, ZoneName};

pub use hooks::Hooks;
use hooks::NoHooks;
use instance::Instance;
use last_calls::LastCalls;
pub use opening::{DataPart, Opening, StoreError};
pub(crate) use tenants::group_key;

/// Directory of the one workspace of shared mode.
pub const SHARED: &str = "shared";

/// Directory of all users.
pub const USERS: &str = "users";

/// Directory of all groups.
pub const GROUPS: &str = "groups";

/// Everything under one data directory.
#[derive(Debug)]
pub struct Store {
    /// The decisions of the administrator.
    pub settings: Settings,
    /// The clock.
    pub clock: Clock,
    /// The directory of all data.
    pub data: Root,
    /// The registry.
    pub registry: Arc<Registry>,
    /// The file of the registry that is open.
    registry_file: Option<FileIdentity>,
    /// `true` if the registry was without its last changes when it was opened.
    pub is_log_cut: bool,
    /// The secret that all keys of the installation are made from.
    pub pepper: Pepper,
    /// This process among those that share the data.
    pub instance: Instance,
    packer: Option<HistoryPacker>,
    remover: Remover,
    /// Dropped after what may still write there.
    flusher: Flusher,
    /// Files that are read without waiting for a disk.
    pub cached_files: CachedReader,
    /// Space that is kept for deletions.
    pub reserve: Arc<Reserve>,
    /// Tenants in whose staging this process has looked.
    pub visited: Mutex<HashSet<String>>,
    /// Histories that are whole, as far as a power cut goes.
    pub recovered: Mutex<HashSet<(String, ZoneName)>>,
    /// The zones of which this process is told what changes.
    pub watched: WatchedZones,
    /// The space that running commands take.
    pub space_in_use: SpaceInUse,
    /// The commands of calls that run now.
    pub running_commands: RunningCommands,
    last_calls: LastCalls,
    /// The last change of each user, if it was a move inside a zone.
    pub(crate) last_moves: Mutex<HashMap<Option<UserId>, String>>,
    /// The bounds of everything that is under way at once.
    pub limiter: Limiter,
    /// Marks of connections and processes that last, with the trust on which each was begun.
    pub(crate) trusts: TrustList,
    /// Unix seconds of the opening.
    pub opened_at: i64,
    draining: AtomicBool,
    /// URL at which this machine reaches the server, used if no public URL is set. Set when the server
    /// listens.
    address: OnceLock<String>,
    /// Address at which the other servers on the data reach this one, if there can be any. Set when the
    /// server listens.
    pub peer_address: OnceLock<String>,
    chat_host: OnceLock<Arc<dyn ChatHost>>,
    /// The groups that the last calls of users named.
    pub group_claims: Recalled<UserId, Vec<GroupClaim>>,
    /// The answers that are being written.
    pub(crate) answers: RecalledAnswers,
    /// Changes of programs that belong together.
    pub(crate) saves: CommitCoalescer,
    /// Changes that are not marked for repair yet, with their tenants: the registry did not answer.
    unfinished: Mutex<Vec<(String, Intent)>>,
    hooks: OnceLock<Box<dyn Hooks>>,
}

impl Store {
    /// Opens every part of a data directory; refuses one in which something is lost.
    pub fn assemble(settings: Settings, clock: Clock, opening: Opening) -> Result<Self, Error> {
        let (data, is_log_cut) = opening::open(&settings, opening)?;
        let pepper = Pepper::load(&data)?;
        let registry = Arc::new(Registry::open(&data, &settings)?);
        registry.expect_pepper(&pepper.fingerprint())?;
        former_volumes::expect_all_in_first(&registry)?;
        let limiter = Limiter::new(&clock);
        let instance = Instance::register(&data, &settings, &limiter, &registry)?;
        Ok(Self {
            registry_file: data.identity(fileshed_registry::FILE_NAME)?,
            is_log_cut,
            packer: HistoryPacker::start(data.try_clone()?, &settings, &clock, &instance.queue)?,
            remover: Remover::start()?,
            flusher: Flusher::start(
                &data,
                settings.durability,
                &clock,
                &settings.timings.storage,
            )?,
            cached_files: CachedReader::new(&data)?,
            reserve: Arc::new(Reserve::take(&data)?),
            visited: Mutex::default(),
            recovered: Mutex::default(),
            watched: WatchedZones::new(&settings, &clock),
            space_in_use: SpaceInUse::default(),
            running_commands: RunningCommands::default(),
            last_calls: LastCalls::default(),
            last_moves: Mutex::default(),
            trusts: TrustList::default(),
            opened_at: clock.now().as_second(),
            draining: AtomicBool::new(false),
            address: OnceLock::new(),
            peer_address: OnceLock::new(),
            chat_host: OnceLock::new(),
            group_claims: Recalled::new(settings.timings.rounds.group_claims, &clock),
            answers: Recalled::new(settings.timings.rounds.answers, &clock),
            saves: CommitCoalescer::new(&settings),
            unfinished: Mutex::default(),
            hooks: OnceLock::new(),
            limiter,
            instance,
            registry,
            pepper,
            data,
            clock,
            settings,
        })
    }

    /// Marks the server as about to stop, so that it reports that it is not ready.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    /// Returns `true` if the server is about to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// Returns the personal tokens.
    #[must_use]
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::new(&self.registry, &self.clock)
    }

    /// Browsers that are signed in.
    #[must_use]
    pub fn page_sessions(&self) -> PageSessions<'_> {
        let seconds = |hours: u64| i64::try_from(hours.saturating_mul(3600)).unwrap_or(i64::MAX);
        let life = SessionLife {
            seconds: seconds(self.settings.session_hours),
            idle_seconds: seconds(self.settings.session_idle_hours),
        };
        PageSessions::new(&self.registry, &self.clock, life)
    }

    /// Returns the URL at which people reach the server; empty if it is not known.
    #[must_use]
    pub fn public_url(&self) -> &str {
        let set = &self.settings.public_url;
        if set.is_empty() {
            self.address.get().map_or("", String::as_str)
        } else {
            set.as_str()
        }
    }

    /// Sets the address at which the server listens, for links if no public URL is set. Ignores all but
    /// loopback addresses, because the server cannot know its name in the network.
    pub fn listens_at(&self, address: SocketAddr) {
        if address.ip().is_loopback() {
            let _first_counts = self.address.set(format!("http://{address}"));
        }
    }

    /// Sets the application that people chat in. Only the first call counts.
    pub fn connect(&self, chat_host: Arc<dyn ChatHost>) {
        let _first_counts = self.chat_host.set(chat_host);
    }

    /// Returns the application that people chat in, if there is one that can be asked.
    #[must_use]
    pub fn chat_host(&self) -> Option<&dyn ChatHost> {
        self.chat_host.get().map(AsRef::as_ref)
    }

    /// Returns `true` if the chat application reports that it has no active account of this user.
    #[must_use]
    pub fn is_gone(&self, user: &UserId) -> bool {
        self.chat_host()
            .is_some_and(|chat_host| chat_host.has_account(user) == Some(false))
    }

    /// Does work that may take long. The caller's conversation shows the work once it has taken a while,
    /// and then its end; `result` describes the outcome in a few words.
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
                Ok(done) => TaskEnd::Done(result(done)),
                Err(error) => TaskEnd::of_failure(caller, error),
            });
        }
        done
    }

    /// Returns `true` if the registry is in a database server, or if its open file still has its name.
    pub fn has_registry_file(&self) -> bool {
        let found = self.data.identity(fileshed_registry::FILE_NAME);
        self.registry.holds_leases() || matches!(found, Ok(found) if found == self.registry_file)
    }

    fn leases(&self) -> Option<&WriteLeases> {
        self.instance.queue.leases.as_ref()
    }

    /// Fails if others may have taken this process for dead, because it stood still or could not renew
    /// its lease.
    pub fn expect_alive(&self) -> Result<(), Error> {
        self.leases()
            .map_or(Ok(()), |leases| leases.shared.expect_alive())
    }

    /// Returns `true` if others took this process for dead. Then it cannot change anything any more, and
    /// has to end.
    #[must_use]
    pub fn is_taken_for_dead(&self) -> bool {
        let is_dead = |leases: &WriteLeases| leases.shared.taken_for_dead.load(Ordering::Acquire);
        self.leases().is_some_and(is_dead)
    }

    /// Returns the tenants in which processes that died left a change unfinished; waits for a moment.
    /// `None` if the data directory belongs to this machine alone: then the next call for a tenant finds
    /// its unfinished changes.
    pub fn tenants_left(&self, patience: Duration) -> Option<Vec<String>> {
        Some(self.leases()?.tenants_left(patience))
    }

    /// Returns the hooks of the crates above, which run when a zone is opened.
    pub fn hooks(&self) -> &dyn Hooks {
        self.hooks.get().map_or(&NoHooks, |hooks| &**hooks)
    }

    /// Sets the hooks of the crates above. Only the first call counts.
    pub fn set_hooks(&self, hooks: Box<dyn Hooks>) {
        let _first_counts = self.hooks.set(hooks);
    }

    /// Returns the Unix second at or before which expired locks were opened.
    pub fn locks_expired_before(&self) -> i64 {
        let age = self.settings.lock_max_age_hours.saturating_mul(3600);
        self.clock.now().as_second().saturating_sub(age as i64)
    }

    /// Waits for the write lock of one zone.
    pub fn write_lock(&self, tenant: &TenantRoot, zone: ZoneName) -> Result<WriteLock, Error> {
        self.write_lock_within(tenant, zone, self.settings.timings.calls.write_lock)
    }

    /// Waits for the write lock at most `patience`. If a command of the server holds it for longer, the
    /// failure names the command.
    pub fn write_lock_within(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
        patience: Duration,
    ) -> Result<WriteLock, Error> {
        let write_lock = self.instance.queue.of_zone(tenant, zone, patience);
        write_lock.map_err(|error| match error.cause() {
            Some(BusyError::Zone) => {
                let holder = self.running_commands.holder(&tenant.key, zone);
                holder.unwrap_or(error)
            }
            _ => error,
        })
    }
}
