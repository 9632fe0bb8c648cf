//! Copy of the registry of an installation from a file into a database, or back.

use super::{Store, instance, opening};
use crate::store::StoreError;
use fileshed_registry::{CopiedTable, ExistingRegistry, Registry};
use fileshed_types::settings::RegistryUrl;
use fileshed_types::{Clock, Error, Settings};

impl Store {
    /// Copies the registry of a data directory from one database to another, verified row by row; `None`
    /// is the file beside the data. The source is then set aside, so that no server uses it any more. No
    /// process may have the data directory open.
    pub fn copy_registry(
        settings: &Settings,
        from: Option<RegistryUrl>,
        to: Option<RegistryUrl>,
    ) -> Result<Vec<CopiedTable>, Error> {
        let data = opening::existing(settings)?;
        data.expect_writable()?;
        let at = |registry| Settings {
            registry,
            ..settings.clone()
        };
        let (from, to) = (at(from), at(to));
        for registry in [&from, &to] {
            if instance::is_anybody_there(&data, registry)? {
                return Err(StoreError::InUse.into());
            }
        }
        if Registry::look(&data, &from)? != ExistingRegistry::Ours {
            return Err(StoreError::NoRegistry.into());
        }
        let source = Registry::open(&data, &from)?;
        let copied = source.copy_to(&Registry::open(&data, &to)?)?;
        drop(source);
        let suffix = format!("copied-{}", Clock::SYSTEM.now().as_second());
        Registry::set_aside(&data, &from, &suffix)?;
        Ok(copied)
    }
}
