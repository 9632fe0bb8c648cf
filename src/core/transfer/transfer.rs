//! State of everything that moves between zones and the world.

use std::sync::Arc;

use fileshed_types::fair::Grant;
use fileshed_types::{Caller, Error};
use fileshed_zones::store::Store;

use crate::attachment_cache::AttachmentCache;
use crate::transfer_limiter::{TransferLimiter, TransferPermit, TransferQueue};

/// Everything that moves between zones and the world.
#[derive(Debug)]
pub struct Transfer {
    pub(crate) store: Arc<Store>,
    limiter: TransferLimiter,
    /// Files that are attached to conversations, as far as they are known.
    pub(crate) attachments: AttachmentCache,
}

impl Transfer {
    /// Moves files of the zones of `store`.
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            limiter: TransferLimiter::new(&store.settings, &store.limiter),
            attachments: AttachmentCache::default(),
            store,
        }
    }

    /// The right to move bytes for a caller. Waits a moment for it; blocks.
    pub fn permit(&self, caller: &Caller) -> Result<TransferPermit, Error> {
        Ok(self.limiter.wait(&self.store.tenant_key(caller)?, caller)?)
    }

    /// The queues in which a transfer of a caller has to get a place, and as whom, for who waits
    /// without blocking; with the id of a link, for whoever has it.
    pub fn queues(
        &self,
        caller: &Caller,
        link: Option<&str>,
    ) -> Result<Vec<(TransferQueue, String)>, Error> {
        Ok(self.limiter.queues(&self.store.tenant_key(caller)?, link))
    }

    /// The right to move bytes for a caller who has a place of each of these queues.
    pub fn permit_with(
        &self,
        caller: &Caller,
        places: Vec<Grant>,
    ) -> Result<TransferPermit, Error> {
        let tenant = self.store.tenant_key(caller)?;
        Ok(self.limiter.transfer_permit(&tenant, places))
    }
}
