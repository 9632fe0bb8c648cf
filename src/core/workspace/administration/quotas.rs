//! Quotas of single users and groups.

use super::{AdministrationError, TenantId};
use crate::Error;
use crate::store::Store;
use fileshed_types::settings::MEBIBYTE;

/// The largest quota: an exbibyte.
pub(super) const QUOTA_MAX_MB: u64 = 1 << 40;

impl Store {
    /// Gives a user or a group a quota of its own, or the one of all others again. It counts from the
    /// next call on, also in servers that run; what is there stays.
    pub fn set_tenant_quota(&self, tenant: &TenantId, mebibytes: Option<u64>) -> Result<(), Error> {
        if let Some(mebibytes) = mebibytes
            && !(1..=QUOTA_MAX_MB).contains(&mebibytes)
        {
            return Err(AdministrationError::Quota { mebibytes }.into());
        }
        let key = self.existing_key(tenant)?;
        let bytes = mebibytes.map(|mebibytes| mebibytes * MEBIBYTE);
        let now = self.clock().now().as_second();
        Ok(self.registry().set_tenant_quota(&key, bytes, now)?)
    }
}
