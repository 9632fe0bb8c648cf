//! The intent of who changes where a tenant lies: no file of it changes, and no space is asked for.

use crate::Error;
use crate::store::Store;
use crate::tenant::TenantRoot;
use fileshed_registry::{Intent, NewIntent, Placement, RegistryError, Switch};

/// What marks a tenant as being changed. Dropped, it says that nothing was.
#[derive(Debug)]
#[must_use = "the tenant is being changed as long as it is there"]
pub(crate) struct TenantIntent<'a> {
    store: &'a Store,
    tenant: String,
    intent: Option<Intent>,
}

impl Store {
    /// Enters that something of a tenant changes which takes no space and has no author.
    pub(super) fn begin_without_space(
        &self,
        tenant: &TenantRoot,
        zone: &str,
        operation: &'static str,
    ) -> Result<Intent, Error> {
        self.registry().begin(&NewIntent {
            tenant: &tenant.key,
            zone,
            instance: self.instance(),
            operation,
            author_name: "",
            author_email: "",
            bytes: 0,
            files: 0,
            limit: tenant.limit,
            most_files: self.settings().max_files,
            ownership_change: None,
            moves: tenant.volume.moves,
        })
    }

    /// Enters such an intent. Whoever takes this process for dead marks it, and then it can end nothing.
    pub(crate) fn begin_on_tenant(
        &self,
        tenant: &TenantRoot,
        operation: &'static str,
    ) -> Result<TenantIntent<'_>, Error> {
        let zone = tenant.zones.first().map_or("", |zone| zone.as_str());
        let intent = self.begin_without_space(tenant, zone, operation)?;
        Ok(TenantIntent {
            store: self,
            tenant: tenant.key.clone(),
            intent: Some(intent),
        })
    }
}

impl TenantIntent<'_> {
    /// Has the tenant lie in the volume `to`, where nothing stands against it; then the intent has ended.
    pub(crate) fn switch(&mut self, from: &Placement, to: &str) -> Result<Switch, RegistryError> {
        let Some(intent) = self.intent else {
            return Ok(Switch::Elsewhere);
        };
        let now = self.store.clock().now().as_second();
        let registry = self.store.registry();
        let switched = registry.switch((&self.tenant, intent), from, to, now)?;
        if switched == Switch::Done {
            self.intent = None;
        }
        Ok(switched)
    }
}

impl Drop for TenantIntent<'_> {
    fn drop(&mut self) {
        let Some(intent) = self.intent.take() else {
            return;
        };
        if let Err(error) = self.store.registry().commit(intent) {
            tracing::warn!(%error, "a tenant seems to be changed until this process ends");
        }
    }
}
