//! Health checks of the store, for `fileshed doctor`, `/ready` and the log.

mod machine;

use crate::admin::Admin;
use fileshed_history::SET_ASIDE;
use fileshed_registry::FILE_NAME;
use fileshed_runs::programs::Programs;
use fileshed_sandbox::{Confinement, Zygote};
use fileshed_storage::{DiskError, Root, Staging, Support};
use fileshed_types::settings::SandboxPolicy;
use fileshed_types::{Clock, Error, Settings, ZoneName, ZonePath, names};
use fileshed_zones::store::{GROUPS, SHARED, StoreError, USERS};
use machine::Machine;

/// Damaged histories that are named.
const NAMED: usize = 20;

names! {
    /// Result of a check.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CheckState {
        /// As it should be.
        Ok = "ok",
        /// The server works, less than it could.
        Warning = "warning",
        /// The server does not work.
        Failed = "failed",
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    /// Name of the check.
    pub name: String,
    /// The result.
    pub state: CheckState,
    /// The result in a sentence.
    pub text: String,
}

impl Check {
    /// A check of this name, and what it found.
    pub fn new(name: &str, state: CheckState, text: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state,
            text: text.into(),
        }
    }

    pub(super) fn ok(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, CheckState::Ok, text)
    }

    pub(super) fn warning(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, CheckState::Warning, text)
    }

    pub(super) fn failed(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, CheckState::Failed, text)
    }

    /// Why a store cannot be opened. That nobody has made one yet is no failure.
    pub fn of_store(error: &Error) -> Self {
        let state = match error.cause() {
            Some(StoreError::None) => CheckState::Warning,
            _ => CheckState::Failed,
        };
        let cause = std::error::Error::source(error);
        let cause = cause.map_or_else(String::new, |cause| format!(": {cause}"));
        Self::new("data", state, format!("{error}{cause}; {}", error.hint()))
    }
}

names! {
    /// The confinement of commands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sandbox {
        /// By the kernel.
        Enforced = "enforced",
        /// Not, or not wholly; the administrator chose to run them all the same.
        BestEffort = "best_effort",
        /// They are not run.
        Off = "off",
    }
}

names! {
    /// The separation of users whose commands run.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Isolation {
        /// By every layer that there is.
        Full = "full",
        /// Their files are; a layer is missing, so that a command may learn more than it should.
        Reduced = "reduced",
        /// Not: the administrator chose to run commands that nothing holds.
        None = "none",
        /// No command runs.
        NoCommands = "no_commands",
    }
}

impl Admin {
    /// Returns the separation of users whose commands run on this server.
    pub fn isolation(&self) -> Isolation {
        match self.sandbox() {
            Sandbox::Off => Isolation::NoCommands,
            Sandbox::BestEffort => Isolation::None,
            Sandbox::Enforced if self.has_namespaces() && self.runs.confinement().is_complete() => {
                Isolation::Full
            }
            Sandbox::Enforced => Isolation::Reduced,
        }
    }

    /// Returns how commands are confined on this server.
    pub fn sandbox(&self) -> Sandbox {
        match (
            self.runs.confinement().enforced(),
            self.store.settings.exec_sandbox,
        ) {
            (Ok(()), _) => Sandbox::Enforced,
            (Err(_), SandboxPolicy::BestEffort) => Sandbox::BestEffort,
            (Err(_), SandboxPolicy::Required) => Sandbox::Off,
        }
    }

    /// Returns `true` if commands have namespaces of their own for files and processes.
    pub fn has_namespaces(&self) -> bool {
        self.runs.confinement().has_namespaces()
    }

    /// Returns `true` if the kernel counts the resources of each user's commands apart, and not together as
    /// the server's.
    pub fn separates_accounts(&self) -> bool {
        self.runs.confinement().separates_accounts().is_ok()
    }

    /// Looks at everything that the store depends on.
    pub fn check(&self) -> Vec<Check> {
        [self.check_registry(), self.check_data()]
            .into_iter()
            .chain(self.check_files())
            .chain(self.machine().check())
            .collect()
    }

    fn machine(&self) -> Machine<'_> {
        Machine {
            settings: &self.store.settings,
            confinement: self.runs.confinement(),
            trees: self.runs.zygote.bounds_trees(),
            programs: &self.runs.programs,
        }
    }

    /// Looks at everything that a store would depend on where there is none that can be opened.
    pub fn check_machine(settings: &Settings) -> Result<Vec<Check>, Error> {
        let zygote = Zygote::new(settings, &Clock::SYSTEM);
        let anywhere = Root::open_ambient(&std::env::temp_dir())?;
        let machine = Machine {
            settings,
            confinement: &Confinement::probe(&zygote, anywhere.handle(), settings),
            trees: zygote.bounds_trees(),
            programs: &Programs::find(settings),
        };
        Ok(machine.check())
    }

    /// Tries what the file system of the data directory has to promise. It makes files, so it is for
    /// people who ask, not for probes.
    pub fn check_storage(settings: &Settings) -> Result<Vec<Check>, Error> {
        let data = Root::open_ambient(&settings.storage_base_path)?;
        let promises = data.try_promises(Clock::SYSTEM.now())?.into_iter();
        let checks = promises.map(|promise| {
            let state = match promise.support {
                Support::Native => CheckState::Ok,
                Support::Emulated => CheckState::Warning,
                Support::Missing => CheckState::Failed,
            };
            Check::new(&format!("storage {}", promise.name), state, promise.text)
        });
        Ok(checks.collect())
    }

    /// Looks for histories that were damaged. It looks into every tenant, so it is for people who
    /// ask, not for probes.
    pub fn check_histories(&self) -> Check {
        let kept = match self.histories_set_aside() {
            Ok(kept) => kept,
            Err(error) => return Check::failed("history", error.message()),
        };
        if kept.is_empty() {
            return Check::ok("history", "none is damaged");
        }
        let more = kept.len().saturating_sub(NAMED);
        let named = kept[..kept.len() - more].join(", ");
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Check::warning(
            "history",
            format!(
                "damaged, set aside and begun anew: {named}{more}; inspect them with git, then \
                 remove them"
            ),
        )
    }

    /// Returns the paths of damaged repositories that were set aside, below the data directory.
    fn histories_set_aside(&self) -> Result<Vec<String>, Error> {
        let mut kept = Vec::new();
        let users = self.store.tenants_below(USERS)?.into_iter();
        let personal = users.chain([SHARED.to_owned()]);
        let places = personal.map(|tenant| (tenant, ZoneName::Documents)).chain(
            self.store
                .tenants_below(GROUPS)?
                .into_iter()
                .map(|tenant| (tenant, ZoneName::Group)),
        );
        for (key, zone) in places {
            let tenant = self.store.existing_tenant(&key)?;
            let base = tenant
                .map(|tenant| tenant.existing_base(zone))
                .transpose()?;
            let Some(directory) = base.flatten() else {
                continue;
            };
            let place = match zone.directory() {
                Some(directory) => format!("{key}/{directory}"),
                None => key,
            };
            let entries = directory.list(&ZonePath::root())?.into_iter();
            let names = entries.filter(|entry| entry.path.as_str().starts_with(SET_ASIDE));
            kept.extend(names.map(|entry| format!("{place}/{}", entry.path)));
        }
        kept.sort();
        Ok(kept)
    }

    /// Looks at the registry.
    pub fn check_registry(&self) -> Check {
        match self.store.registry.ping() {
            // SQLite goes on with a file that has lost its name, and all of it ends with the server.
            Ok(()) if !self.store.has_registry_file() => Check::failed(
                "registry",
                format!(
                    "`{FILE_NAME}` was removed or replaced while the server runs: stop the \
                     server, and restore the file from a backup"
                ),
            ),
            Ok(()) if self.store.is_log_cut => Check::warning(
                "registry",
                format!(
                    "`{FILE_NAME}-wal` was cut, removed or replaced before it was opened: the \
                     latest changes may be missing, among them tokens, links, locks, members and \
                     owners of groups, quotas, and entries of bins; restore all of `{FILE_NAME}*` \
                     from one backup, or continue without these changes"
                ),
            ),
            Ok(()) => Check::ok("registry", "answers"),
            Err(error) => Check::failed("registry", error.to_string()),
        }
    }

    /// Checks the memory of the compact tools' files; `None` if these files are in zones.
    fn check_files(&self) -> Option<Check> {
        let text = self.files.memory_use()?;
        Some(Check::ok("files", text))
    }

    /// Checks that the data directory is writable.
    fn check_data(&self) -> Check {
        match self.probe_data() {
            Ok(()) => Check::ok("data", "can be written"),
            Err(error) => {
                let error = Error::from(error);
                let text = format!("{}; {}", error.message(), error.hint());
                Check::failed("data", text)
            }
        }
    }

    fn probe_data(&self) -> Result<(), DiskError> {
        let directory = self.store.data.subdirectory(".instances")?;
        let mut staged = Staging::new(directory, &self.store.instance.name).write(b"probe")?;
        let _size = staged.file();
        let _size = staged.size()?;
        self.store.data.expect_writable()?;
        for parent in [USERS, GROUPS, SHARED] {
            if let Some(directory) = self.store.data.existing_subdirectory(parent)? {
                directory.expect_writable()?;
            }
        }
        Ok(())
    }
}
