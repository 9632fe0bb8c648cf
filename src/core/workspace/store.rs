//! The whole store, opened once: the way from a caller to a zone.

mod all_tenants;
mod databases;
mod health;
mod instance;
mod machine;
mod opening;
mod repair;
mod users;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::attachments::Attachments;
use crate::chat_host::{ChatHost, Ending, Task};
use crate::directory::Group;
use crate::disk::{FileIdentity, Flusher, Reserve, Root, Staging, Totals};
use crate::exec::egress::Egress;
use crate::exec::{Confinement, Helper, Programs, Running, Slots};
use crate::fair::Grant;
use crate::guard::write_lock::{Queue, WriteLock};
use crate::link::{LinkKey, Links};
use crate::namespace::Pepper;
use crate::publication::Publications;
use crate::registry::{self, QuotaError, Registry, Tokens, Usage};
use crate::settings::MEBIBYTE;
use crate::transfer::{TransferLimiter, TransferPermit, TransferQueue};
use crate::zone::{Shared, TenantRoot, Zone, ZoneError, ZoneName};
use crate::{Caller, Clock, Error, Settings, UserId};

pub use all_tenants::{NotAdministrator, Numbers};
pub use health::{Check, CheckState, Isolation, Sandbox};
use instance::Instance;
use opening::Opening;
pub use opening::{Loss, Part, StoreError};
pub use users::{SpaceSummary, Suspended, UnknownUser, UserSummary};

/// Directory of the one workspace of shared mode.
const SHARED: &str = "shared";

/// Directory of all users.
const USERS: &str = "users";

/// Directory of all groups.
const GROUPS: &str = "groups";

/// What stands for a directory that is not there, below a home: always empty.
const NOTHING: &str = ".empty";

/// Directory of a zone's files, beside what belongs to them.
const DATA: &str = "data";

/// Everything under one data directory.
#[derive(Debug)]
pub struct Store {
    settings: Settings,
    clock: Clock,
    data: Root,
    registry: Registry,
    /// The file of the registry that is open.
    registry_file: Option<FileIdentity>,
    pepper: Pepper,
    instance: Instance,
    queue: Queue,
    flusher: Flusher,
    reserve: Reserve,
    /// Homes that this process has swept.
    visited: Mutex<HashSet<String>>,
    programs: Programs,
    slots: Slots,
    running: Running,
    helper: Helper,
    confinement: OnceLock<Confinement>,
    egress: Egress,
    transfer_limiter: TransferLimiter,
    links: LinkKey,
    /// Where people reach the server, if nobody said so: set when it listens.
    address: OnceLock<String>,
    chat_host: OnceLock<Arc<dyn ChatHost>>,
    attachments: Attachments,
}

impl Store {
    /// Opens the data directory; makes it at the first start, and refuses one in which something
    /// is lost.
    pub fn open(settings: Settings) -> Result<Self, Error> {
        Self::open_at(settings, Clock::default())
    }

    /// The same; refuses a directory that has no store yet.
    pub fn open_existing(settings: Settings) -> Result<Self, Error> {
        Self::open_as(settings, Clock::default(), Opening::Existing)
    }

    /// [`Store::open`] with a clock that a test moves.
    pub fn open_at(settings: Settings, clock: Clock) -> Result<Self, Error> {
        Self::open_as(settings, clock, Opening::Make)
    }

    fn open_as(settings: Settings, clock: Clock, opening: Opening) -> Result<Self, Error> {
        let data = opening::open(&settings, opening)?;
        let pepper = Pepper::load(&data)?;
        let registry = Registry::open(&data, settings.durability)?;
        registry.expect_pepper(&pepper.fingerprint())?;
        let registry_file = data.identity(registry::FILE_NAME)?;
        let instance = Instance::register(&data, &registry)?;
        let flusher = Flusher::start(&data, settings.durability)?;
        let reserve = Reserve::take(&data)?;
        let egress = Egress::new(&settings);
        let helper = Helper::new(settings.helper.clone());
        let links = LinkKey::of(&pepper);
        let slots = Slots::new(&settings);
        let transfer_limiter = TransferLimiter::new(&settings);
        Ok(Self {
            settings,
            clock,
            data,
            registry,
            registry_file,
            pepper,
            instance,
            queue: Queue::default(),
            flusher,
            reserve,
            visited: Mutex::default(),
            programs: Programs::find(),
            slots,
            running: Running::default(),
            helper,
            confinement: OnceLock::new(),
            egress,
            transfer_limiter,
            links,
            address: OnceLock::new(),
            chat_host: OnceLock::new(),
            attachments: Attachments::default(),
        })
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

    /// The links of one registry.
    #[must_use]
    pub fn links(&self) -> Links<'_> {
        let said = &self.settings.public_url;
        let base = if said.is_empty() {
            self.address.get().map_or("", String::as_str)
        } else {
            said.as_str()
        };
        Links::new(self, &self.links, base)
    }

    /// The files that were put into the application that people chat in.
    #[must_use]
    pub fn publications(&self) -> Publications<'_> {
        Publications::new(self)
    }

    /// Says where the server listens, for links where no public address is set. Only for an
    /// address of this machine: what others call it, nobody here can know.
    pub fn listens_at(&self, address: SocketAddr) {
        if address.ip().is_loopback() {
            let _first_counts = self.address.set(format!("http://{address}"));
        }
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

    /// Whether the application that people chat in says that it has this user no more.
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

    /// The caller's zone, ready to use. `zone` and `group` are the parameters of those names.
    pub fn zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: &str,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.zone_of_parameter(caller, "zone", zone, group)
    }

    /// A zone of the caller, ready to use; of `group`, by id or name, where it is a group's.
    pub fn open_zone<'a>(
        &'a self,
        caller: &'a Caller,
        zone: ZoneName,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        match zone {
            ZoneName::Group => self.group_zone(caller, group),
            personal => self.personal_zone(caller, personal),
        }
    }

    /// The zone of one of the caller's groups, ready to use.
    pub fn group_zone<'a>(
        &'a self,
        caller: &'a Caller,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.meet(caller)?;
        let group = self.group(caller, group)?;
        let key = group_key(&group);
        let tenant = TenantRoot {
            root: self.data.subdirectory(&key)?,
            key,
            limit: self.settings.quota_per_group_mb * MEBIBYTE,
            zones: &ZoneName::SHARED,
            place: caller.place.clone(),
        };
        Ok(Zone {
            ready: self.make_ready(&tenant, ZoneName::Group),
            store: self,
            caller,
            name: ZoneName::Group,
            base: tenant.root.try_clone()?,
            data: tenant.root.subdirectory(DATA)?,
            tenant,
            absent: false,
            group: Some(Shared {
                group,
                mode: self.settings.group_default_mode,
                asked: false,
            }),
        })
    }

    /// The same for a parameter of another name.
    pub fn zone_of_parameter<'a>(
        &'a self,
        caller: &'a Caller,
        parameter: &'static str,
        zone: &str,
        group: Option<&str>,
    ) -> Result<Zone<'a>, Error> {
        self.open_zone(caller, ZoneName::parse_parameter(parameter, zone)?, group)
    }

    /// Space of each of the caller's zones.
    pub fn usage(&self, caller: &Caller) -> Result<Vec<Usage>, Error> {
        let tenant = self.tenant(caller)?;
        for &zone in tenant.zones {
            // One that cannot be repaired has the space that it had.
            let _as_it_was = self.make_ready(&tenant, zone);
        }
        Ok(self.registry.usage(&tenant.key)?)
    }

    /// Space of a group of the caller, as it was last counted.
    pub fn group_usage(&self, group: &Group) -> Result<Totals, Error> {
        let usage = self.registry.usage(&group_key(group))?;
        Ok(usage.iter().fold(Totals::default(), |sum, usage| Totals {
            bytes: sum.bytes + usage.totals.bytes,
            files: sum.files + usage.totals.files,
        }))
    }

    /// One of the caller's own zones, ready to use. Uploads have what is attached to the
    /// conversation.
    pub fn personal_zone<'a>(
        &'a self,
        caller: &'a Caller,
        name: ZoneName,
    ) -> Result<Zone<'a>, Error> {
        if name == ZoneName::Uploads {
            self.bring_attachments(caller);
        }
        self.zone_as_it_is(caller, name)
    }

    /// The same without a look at the conversation.
    pub fn zone_as_it_is<'a>(
        &'a self,
        caller: &'a Caller,
        name: ZoneName,
    ) -> Result<Zone<'a>, Error> {
        let tenant = self.tenant(caller)?;
        let ready = self.make_ready(&tenant, name);
        let directory = name.directory().ok_or(ZoneError::NotPersonal)?;
        let (base, data, absent) = if name == ZoneName::Uploads {
            let place = self.uploads_of(caller);
            // Who only looks leaves nothing behind in each of many conversations.
            let (base, absent) = match tenant.root.existing_subdirectory(&place)? {
                Some(base) => (base, false),
                None => (tenant.root.subdirectory(NOTHING)?, true),
            };
            (base.try_clone()?, base, absent)
        } else {
            let base = tenant.root.subdirectory(directory)?;
            let data = base.subdirectory(DATA)?;
            (base, data, false)
        };
        Ok(Zone {
            store: self,
            caller,
            name,
            tenant,
            base,
            data,
            ready,
            absent,
            group: None,
        })
    }

    /// The directory of a conversation's uploads, below the home.
    pub(crate) fn uploads_of(&self, caller: &Caller) -> String {
        let directory = ZoneName::Uploads.directory().unwrap_or_default();
        format!("{directory}/{}", self.chat_directory(caller))
    }

    /// The name of that directory: the conversation's.
    pub(crate) fn chat_directory(&self, caller: &Caller) -> String {
        self.pepper.chat_directory(&caller.chat)
    }

    /// The caller's name in logs: the same as its directory, so that it tells nothing more.
    #[must_use]
    pub fn namespace(&self, caller: &Caller) -> String {
        self.tenant_key(caller)
            .unwrap_or_else(|_| "refused".to_owned())
    }

    pub(crate) fn tenant_key(&self, caller: &Caller) -> Result<String, Error> {
        Ok(match &caller.user {
            None => SHARED.to_owned(),
            Some(user) => format!(
                "{USERS}/{}",
                self.pepper.namespace(user, self.settings.namespace)?
            ),
        })
    }

    /// Everything of the caller.
    pub(crate) fn tenant(&self, caller: &Caller) -> Result<TenantRoot, Error> {
        self.meet(caller)?;
        let key = self.tenant_key(caller)?;
        Ok(TenantRoot {
            root: self.data.subdirectory(&key)?,
            key,
            limit: self.settings.quota_per_user_mb * MEBIBYTE,
            zones: &ZoneName::PERSONAL,
            place: caller.place.clone(),
        })
    }

    /// The whitelisted programs of this machine.
    #[must_use]
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// How the kernel of this machine confines commands; tried once, when it is first asked.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        self.confinement
            .get_or_init(|| Confinement::probe(&self.helper, &self.data, &self.settings))
    }

    /// The way of commands to the network when it is `safe`.
    #[must_use]
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// The process that commands are started from.
    pub(crate) fn helper(&self) -> &Helper {
        &self.helper
    }

    /// Commands that are running.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// What commands that are running take.
    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// Whether no other process works on the same data.
    pub(crate) fn is_alone(&self) -> bool {
        self.instance
            .live_instances()
            .is_ok_and(|live_instances| live_instances.len() <= 1)
    }

    /// Fails where so many bytes more do not fit.
    pub(crate) fn expect_space(&self, tenant: &TenantRoot, needed: u64) -> Result<(), Error> {
        let (used, limit) = (self.used(tenant)?, tenant.limit);
        if used.saturating_add(needed) > limit {
            return Err(QuotaError {
                used,
                needed,
                limit,
            }
            .into());
        }
        Ok(())
    }

    /// Bytes that a home may still take.
    pub(crate) fn space_left(&self, tenant: &TenantRoot) -> Result<u64, Error> {
        Ok(tenant.limit.saturating_sub(self.used(tenant)?))
    }

    /// Bytes that a home holds.
    pub(crate) fn used(&self, tenant: &TenantRoot) -> Result<u64, Error> {
        let usage = self.registry.usage(&tenant.key)?;
        Ok(usage.iter().map(|usage| usage.totals.bytes).sum())
    }

    fn visited(&self) -> MutexGuard<'_, HashSet<String>> {
        self.visited.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What is known of files that are attached to conversations.
    pub(crate) fn attachments(&self) -> &Attachments {
        &self.attachments
    }

    /// Space that is kept for deletions.
    pub(crate) fn reserve(&self) -> &Reserve {
        &self.reserve
    }

    pub(crate) fn flusher(&self) -> &Flusher {
        &self.flusher
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

    /// The turn to change one zone.
    pub(crate) fn write_lock(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
    ) -> Result<WriteLock<'_>, Error> {
        let staging = tenant.root.subdirectory("staging")?;
        self.queue.write_lock(
            format!("{}/{zone}", tenant.key),
            &staging,
            &format!("{zone}.lock"),
            &tenant.place,
        )
    }

    /// Where changes of one home are prepared.
    pub(crate) fn staging(&self, tenant: &TenantRoot) -> Result<Staging, Error> {
        let directory = tenant.root.subdirectory("staging")?;
        Ok(Staging::new(&directory, self.instance.name())?)
    }
}

/// The directory of a group, and its key in the registry.
fn group_key(group: &Group) -> String {
    format!("{GROUPS}/{}", group.id.as_str())
}
