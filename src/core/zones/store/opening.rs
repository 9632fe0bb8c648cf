//! Checks of a data directory before it is opened, which tell a first start from a loss.
//!
//! A first start makes the pepper, then the registry, then `.instances`, and only then anything of
//! a user. So what is missing beside what comes later was there and is lost; to make it anew would
//! let everything of everybody vanish without a word.

use super::{GROUPS, SHARED, Store, USERS, former_volumes, instance};
use crate::namespace::{PEPPER_FILE, Pepper, PepperError};
use fileshed_registry::{ExistingRegistry, Registry, RegistryError};
use fileshed_storage::{DiskError, Kind, Root};
use fileshed_types::settings::NamespaceStyle;
use fileshed_types::{Clock, Error, Settings, ZonePath, diagnostics, names};

names! {
    /// A part of the data whose loss an administrator can accept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DataPart {
        /// The secret behind the names of users' directories.
        Pepper = "pepper",
        /// Locks, tokens, links, groups, owners.
        Registry = "registry",
    }
}

impl DataPart {
    /// Returns the name of its file below the data directory.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::Pepper => PEPPER_FILE,
            Self::Registry => fileshed_registry::FILE_NAME,
        }
    }
}

/// The treatment of a store that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It is made, or the original's tree is taken over.
    Make,
    /// It must be there.
    Existing,
}

/// Opens the data directory and finds that nothing in it is lost. Also returns `true` if the last changes
/// of the registry are missing.
pub(super) fn open(settings: &Settings, opening: Opening) -> Result<(Root, bool), Error> {
    let data = match opening {
        Opening::Make => Root::open_ambient(&settings.storage_base_path)?,
        Opening::Existing => existing(settings)?,
    };
    data.expect_writable()?;
    former_volumes::expect_first(&data)?;
    // A look opens the registry, which begins with what its log has.
    let is_log_cut = Registry::is_log_cut(&data, settings);
    if is_new(&data, settings)? {
        if opening == Opening::Existing {
            return Err(StoreError::None.into());
        }
        tracing::info!(directory = %data.location().display(), "a new store begins");
    }
    Ok((data, is_log_cut))
}

/// Opens a data directory that must be there.
pub(super) fn existing(settings: &Settings) -> Result<Root, Error> {
    let data = Root::open_existing_ambient(&settings.storage_base_path)?;
    Ok(data.ok_or(StoreError::None)?)
}

/// Returns `true` if nothing of this program is in a data directory yet; fails if something is lost.
fn is_new(data: &Root, settings: &Settings) -> Result<bool, Error> {
    // The part that is made last is looked at first: another process may be at its first start.
    let was_used = data.existing_subdirectory(instance::DIRECTORY)?.is_some();
    let has_users = has_entries(data, USERS)?;
    let has_files = has_users || has_entries(data, GROUPS)? || has_entries(data, SHARED)?;
    let registry = Registry::look(data, settings)?;
    let has_pepper = data.has(PEPPER_FILE)?;
    let lost = |part| match part {
        DataPart::Registry if settings.registry.is_some() => Err(StoreError::LostDatabase.into()),
        part => Err(StoreError::Lost { part }.into()),
    };
    match (has_pepper, registry) {
        (true, ExistingRegistry::Ours) => Ok(false),
        (false, ExistingRegistry::Ours) => lost(DataPart::Pepper),
        (false, _) if was_used => lost(DataPart::Pepper),
        // A tree of the original has the ids themselves for its users' directories.
        (false, _) if has_users && settings.namespace == NamespaceStyle::Hmac => {
            Err(StoreError::UnknownUsers.into())
        }
        (true, ExistingRegistry::Foreign) if was_used => lost(DataPart::Registry),
        (true, ExistingRegistry::Nothing | ExistingRegistry::Empty) if was_used || has_files => {
            lost(DataPart::Registry)
        }
        _ => Ok(true),
    }
}

fn has_entries(data: &Root, name: &str) -> Result<bool, DiskError> {
    match data.existing_subdirectory(name)? {
        Some(directory) => Ok(!directory.list(&ZonePath::root())?.is_empty()),
        None => Ok(false),
    }
}

impl Store {
    /// Returns a text on what would be lost with an unusable part; fails if the part can be used.
    pub fn loss(settings: &Settings, part: DataPart) -> Result<String, Error> {
        let data = existing(settings)?;
        loss_in(&data, settings, part)
    }

    /// Replaces a part that cannot be used: its remains are set aside, and a new one is made. No process
    /// may have the data directory open.
    pub fn accept_loss(settings: &Settings, part: DataPart) -> Result<String, Error> {
        let data = existing(settings)?;
        data.expect_writable()?;
        let loss = loss_in(&data, settings, part)?;
        if instance::is_anybody_there(&data, settings)? {
            return Err(StoreError::InUse.into());
        }
        let suffix = format!("lost-{}", Clock::SYSTEM.now().as_second());
        match part {
            DataPart::Registry => {
                Registry::set_aside(&data, settings, &suffix)?;
                Registry::open(&data, settings)?;
            }
            DataPart::Pepper => {
                if matches!(Pepper::read(&data), Err(PepperError::WrongSize { .. })) {
                    data.set_aside(PEPPER_FILE, &format!("{PEPPER_FILE}.{suffix}"))?;
                }
                Pepper::load(&data)?;
                // One that is lost as well is for its own turn.
                if let Ok(ExistingRegistry::Ours) = Registry::look(&data, settings) {
                    Registry::open(&data, settings)?.forget_pepper()?;
                }
            }
        }
        Ok(loss)
    }
}

fn loss_in(data: &Root, settings: &Settings, part: DataPart) -> Result<String, Error> {
    let tenants = |parent: &str| -> Result<usize, Error> {
        let Some(below) = data.existing_subdirectory(parent)? else {
            return Ok(0);
        };
        let entries = below.list(&ZonePath::root())?.into_iter();
        let directories = entries.filter(|entry| entry.kind == Kind::Directory);
        Ok(directories.count())
    };
    if matches!(is_new(data, settings), Ok(true)) {
        return Err(StoreError::None.into());
    }
    if is_usable(data, settings, part)? {
        return Err(StoreError::NotLost { part }.into());
    }
    Ok(match part {
        DataPart::Pepper => {
            let users = tenants(USERS)?;
            let names = match settings.namespace {
                NamespaceStyle::Hmac => format!(
                    "the {users} directories of users below `{USERS}` keep their files, but no \
                     user has access to them: every user begins with an empty workspace, and an \
                     administrator moves the files by hand"
                ),
                NamespaceStyle::Plain => {
                    format!(
                        "the {users} directories of users below `{USERS}` remain those of their \
                         users"
                    )
                }
            };
            format!(
                "{names}; existing links no longer work; `uploads` of conversations whose id is \
                 not a plain name begin empty"
            )
        }
        DataPart::Registry => {
            let groups = tenants(GROUPS)?;
            format!(
                "personal tokens, links, locks of edits, suspensions, and the groups of `fileshed \
                 group` with their members; in {groups} groups below `{GROUPS}` the owners and \
                 modes of files; the entries of bins, which are emptied; quotas of single users \
                 and groups; changes that a crash interrupted are not repaired. The files of all \
                 users and groups, and their history, stay"
            )
        }
    })
}

fn is_usable(data: &Root, settings: &Settings, part: DataPart) -> Result<bool, Error> {
    match part {
        DataPart::Registry => {
            let opened = match Registry::look(data, settings) {
                Ok(ExistingRegistry::Ours) => Registry::open(data, settings).map(|_| true),
                Ok(_) => Ok(false),
                Err(error) => Err(error),
            };
            match opened {
                // One that another version wrote is as good as it was.
                Err(error) if error.cause().is_some_and(RegistryError::is_damage) => Ok(false),
                other => other,
            }
        }
        DataPart::Pepper => {
            let pepper = match Pepper::read(data) {
                Ok(Some(pepper)) => pepper,
                Ok(None) | Err(PepperError::WrongSize { .. }) => return Ok(false),
                Err(error) => return Err(error.into()),
            };
            match Registry::look(data, settings) {
                Ok(ExistingRegistry::Ours) => {
                    let registry = Registry::open(data, settings)?;
                    Ok(registry.expect_pepper(&pepper.fingerprint()).is_ok())
                }
                _ => Ok(true),
            }
        }
    }
}

diagnostics! {
    /// The data directory is not what it has to be.
    #[derive(Debug, thiserror::Error)]
    pub enum StoreError {
        /// The data directory has no files of this program.
        #[error("there is no store")]
        None => {
            code: InternalApiError,
            hint: "`fileshed serve` creates one; if this is the wrong directory, give \
                the right one with --storage-base-path",
        },
        /// A part is gone or empty beside what was made with it.
        #[error("`{}` is lost: it is missing or empty, and the data directory was in use", part.file())]
        Lost {
            /// Which part.
            part: DataPart => [DataPart::Pepper, DataPart::Registry],
        } => {
            code: InternalApiError,
            hint: format!(
                "nothing was changed; restore `{}` from a backup, and start again; without a \
                 backup, `fileshed data accept-loss {}` lists the loss and continues without it",
                part.file(),
                part.as_str()
            ),
        },
        /// The database is not the one that belongs to the data directory.
        #[error(
            "the database that the setting `registry` names has no registry, and the data directory was \
             in use"
        )]
        LostDatabase => {
            code: InternalApiError,
            hint: "nothing was changed; check that `registry` names the right database; `fileshed \
                   registry copy --from file --to setting` copies a registry file beside the data; \
                   otherwise restore the database from a backup, or list the loss with `fileshed \
                   data accept-loss registry`",
        },
        /// The source of a copy has no registry.
        #[error("there is no registry to copy")]
        NoRegistry => {
            code: InternalApiError,
            hint: "name its place with --from: file, setting, or the URL of a database",
        },
        /// The directory has users' directories, but neither pepper nor registry to tell whose.
        #[error(
            "there are directories of users below `{USERS}`, and neither `{PEPPER_FILE}` nor a registry \
             that says whose they are"
        )]
        UnknownUsers => {
            code: InternalApiError,
            hint: format!(
                "restore `{PEPPER_FILE}` and `{}` from a backup; to use a tree of the original \
                 Fileshed, set `namespace = \"plain\"`",
                fileshed_registry::FILE_NAME
            ),
        },
        /// A part is as it should be.
        #[error("the {} exists and can be used: nothing is lost", part.as_str())]
        NotLost {
            /// Which part.
            part: DataPart = DataPart::Pepper,
        } => {
            code: InternalApiError,
            hint: "start the server with `fileshed serve`",
        },
        /// Another process has the data directory open.
        #[error("another fileshed process has this data directory open")]
        InUse => {
            code: InternalApiError,
            hint: "stop it first",
        },
    }
}
