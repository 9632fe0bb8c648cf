//! Whether the store can do its work: for `fileshed doctor`, `/ready` and the log.

use super::{GROUPS, SHARED, Shed, USERS};
use crate::Error;
use crate::exec::Confinement;
use crate::history::SET_ASIDE;
use crate::policy::commands;
use crate::settings::{NetworkMode, SandboxPolicy};
use crate::zone::{ZoneName, ZonePath};

/// Damaged histories that are named.
const NAMED: usize = 20;

/// How one thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// As it should be.
    Ok,
    /// The server works, less than it could.
    Warning,
    /// The server does not work.
    Failed,
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    /// What.
    pub name: String,
    /// How it is.
    pub state: CheckState,
    /// In a sentence.
    pub text: String,
}

impl Check {
    fn new(name: &str, state: CheckState, text: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state,
            text: text.into(),
        }
    }
}

/// How commands are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// By the kernel.
    Enforced,
    /// Not, or not wholly; the administrator chose to run them all the same.
    BestEffort,
    /// They are not run.
    Off,
}

impl Sandbox {
    /// The name in `/health`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::BestEffort => "best_effort",
            Self::Off => "off",
        }
    }
}

impl Shed {
    /// How commands are held on this server.
    #[must_use]
    pub fn sandbox(&self) -> Sandbox {
        match (self.confinement().enforced(), self.settings.exec_sandbox) {
            (Ok(()), _) => Sandbox::Enforced,
            (Err(_), SandboxPolicy::BestEffort) => Sandbox::BestEffort,
            (Err(_), SandboxPolicy::Required) => Sandbox::Off,
        }
    }

    /// Whether commands have files and processes of their own.
    #[must_use]
    pub fn has_namespaces(&self) -> bool {
        self.confinement().has_namespaces()
    }

    /// Looks at everything that the store depends on.
    #[must_use]
    pub fn check(&self) -> Vec<Check> {
        vec![
            self.check_registry(),
            self.check_data(),
            self.check_confinement(),
            self.check_network(),
            self.check_commands(),
        ]
    }

    /// Looks for histories that were damaged. It looks into every home, so it is for people who
    /// ask, not for probes.
    #[must_use]
    pub fn check_histories(&self) -> Check {
        let kept = match self.histories_set_aside() {
            Ok(kept) => kept,
            Err(error) => return Check::new("history", CheckState::Failed, error.message()),
        };
        if kept.is_empty() {
            return Check::new("history", CheckState::Ok, "none is damaged");
        }
        let more = kept.len().saturating_sub(NAMED);
        let named = kept[..kept.len() - more].join(", ");
        let more = match more {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Check::new(
            "history",
            CheckState::Warning,
            format!(
                "damaged, set aside and begun anew: {named}{more}; look into them with git, then remove them"
            ),
        )
    }

    /// Where damaged repositories are kept, below the data directory.
    fn histories_set_aside(&self) -> Result<Vec<String>, Error> {
        let mut kept = Vec::new();
        let users = self.homes_below(USERS)?.into_iter();
        let personal = users.chain([SHARED.to_owned()]);
        let documents = ZoneName::Documents.directory().unwrap_or_default();
        let places = personal
            .map(|home| format!("{home}/{documents}"))
            .chain(self.homes_below(GROUPS)?);
        for place in places {
            let Some(directory) = self.data.existing_subdirectory(&place)? else {
                continue;
            };
            let entries = directory.list(&ZonePath::root())?.into_iter();
            let names = entries.filter(|entry| entry.path.as_str().starts_with(SET_ASIDE));
            kept.extend(names.map(|entry| format!("{place}/{}", entry.path)));
        }
        kept.sort();
        Ok(kept)
    }

    fn check_registry(&self) -> Check {
        match self.ledger.ping() {
            Ok(()) => Check::new("registry", CheckState::Ok, "answers"),
            Err(error) => Check::new("registry", CheckState::Failed, error.to_string()),
        }
    }

    /// Not a failure: without commands everything else works.
    fn check_confinement(&self) -> Check {
        let confinement = self.confinement();
        let policy = self.settings.exec_sandbox;
        let version = confinement.landlock_version().unwrap_or_default();
        let remedy = confinement.remedy();
        let layers = if confinement.has_namespaces() {
            "seccomp and namespaces"
        } else if confinement.is_supervised() {
            "seccomp and a supervisor"
        } else {
            "seccomp"
        };
        match (confinement.enforced(), policy) {
            (Ok(()), _) => {
                let mut text =
                    format!("commands are held by Landlock (version {version}), {layers}");
                let mut state = CheckState::Ok;
                if !confinement.has_namespaces() {
                    text += "; there are no namespaces, so a command that its argument rules let \
                             pass can learn that other files exist: ";
                    text += Confinement::NAMESPACES_REMEDY;
                }
                if !confinement.is_complete() {
                    text += "; Linux 6.15 knows all rights of Landlock, and what this version \
                             lacks is held by seccomp";
                    state = CheckState::Warning;
                }
                if !confinement.has_namespaces() && !confinement.is_supervised() {
                    text += "; ";
                    text += Confinement::UNSUPERVISED;
                    state = CheckState::Warning;
                }
                Check::new("sandbox", state, text)
            }
            (Err(missing), SandboxPolicy::Required) => Check::new(
                "sandbox",
                CheckState::Warning,
                format!("commands are off, {missing} is missing: {remedy}"),
            ),
            (Err(missing), SandboxPolicy::BestEffort) => Check::new(
                "sandbox",
                CheckState::Warning,
                format!(
                    "commands are not held (exec.sandbox is best_effort), {missing} is missing: {remedy}"
                ),
            ),
        }
    }

    /// Not a failure either: only commands with network are off.
    fn check_network(&self) -> Check {
        let mode = self.settings.network_mode;
        match (mode, self.confinement().holds_connections()) {
            (NetworkMode::Safe, Err(missing)) => Check::new(
                "network",
                CheckState::Warning,
                format!(
                    "commands with network are off, {missing} is missing; network_mode is safe"
                ),
            ),
            (NetworkMode::Disabled, _) => Check::new("network", CheckState::Ok, "off"),
            (NetworkMode::Safe, Ok(())) => Check::new(
                "network",
                CheckState::Ok,
                "downloads only, through the proxy",
            ),
            (NetworkMode::All, _) => Check::new(
                "network",
                CheckState::Ok,
                "open: commands reach every address that this machine reaches",
            ),
        }
    }

    fn check_commands(&self) -> Check {
        let (found, missing): (Vec<&str>, Vec<&str>) = commands()
            .iter()
            .map(|rule| rule.name)
            .partition(|name| self.programs.has(name));
        if missing.is_empty() {
            return Check::new("commands", CheckState::Ok, "all are installed");
        }
        Check::new(
            "commands",
            CheckState::Warning,
            format!(
                "{} of {} are installed; missing: {}",
                found.len(),
                found.len() + missing.len(),
                missing.join(", ")
            ),
        )
    }

    fn check_data(&self) -> Check {
        let probe = self
            .data
            .subdirectory(".instances")
            .map_err(Error::from)
            .and_then(|directory| {
                let mut staged =
                    crate::disk::Staging::new(&directory, self.instance.name())?.write(b"probe")?;
                let _size = staged.file();
                Ok(staged.size()?)
            });
        match probe {
            Ok(_) => Check::new("data", CheckState::Ok, "can be written"),
            Err(error) => Check::new("data", CheckState::Failed, error.message()),
        }
    }
}
