//! Whether a user is active: an administrator may have suspended the account.

use super::Store;
use fileshed_registry::Standing;
use fileshed_types::trust::Revocation;
use fileshed_types::{Caller, Error};

impl Store {
    /// Fails where an administrator has suspended the caller. Every way to something of a caller
    /// asks this; what does not lead to anything of theirs, such as help, asks it too.
    pub fn expect_active(&self, caller: &Caller) -> Result<(), Error> {
        let Some(user) = &caller.user else {
            return Ok(());
        };
        // Whoever opens something next asks the same.
        let arrival = self
            .registry
            .arrival(user.as_str(), &self.tenant_of_user(user)?)?;
        match &arrival.standing {
            Some(standing) if standing.suspended_at.is_some() => Err(Revocation::Suspended.into()),
            _ => Ok(()),
        }
    }

    /// Fails if the caller, of whom this is known, is suspended, and records who it is, since the name
    /// of a directory does not tell.
    pub(crate) fn meet(&self, caller: &Caller, standing: Option<&Standing>) -> Result<(), Error> {
        let Some(user) = &caller.user else {
            return Ok(());
        };
        let name = caller.name.as_deref().unwrap_or_default();
        match standing {
            Some(standing) if standing.suspended_at.is_some() => {
                return Err(Revocation::Suspended.into());
            }
            Some(standing) if name.is_empty() || standing.name == name => return Ok(()),
            _ => {}
        }
        let now = self.clock.now().as_second();
        if let Err(error) = self.registry.meet(user.as_str(), name, now) {
            // Nothing of the call depends on it, and the next one tries again.
            tracing::warn!(%error, "a user could not be noted");
        }
        Ok(())
    }
}
