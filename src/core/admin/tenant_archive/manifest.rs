//! Manifest of the tenant in an archive.

use serde::{Deserialize, Serialize};

use super::TenantArchiveError;
use crate::administration::TenantId;
use fileshed_registry::Record;
use fileshed_types::group::GroupId;
use fileshed_types::{Error, UserId};

/// The name of the manifest in the archive, of which it is the first entry.
pub(super) const MANIFEST: &str = "fileshed-tenant.json";

/// The form of the archive.
const FORMAT: u32 = 1;

/// The manifest.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Manifest {
    format: u32,
    /// The version of the program that wrote it.
    version: String,
    exported_at: String,
    #[serde(flatten)]
    tenant: ExportedTenant,
    /// What people call it.
    pub(super) name: Option<String>,
    /// Bytes, if it had a quota of its own.
    pub(super) quota_bytes: Option<u64>,
    /// Owners of the files of a group.
    #[serde(default)]
    pub(super) owners: Vec<Record>,
}

/// Whose archive it is.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "kind", content = "id", rename_all = "lowercase")]
enum ExportedTenant {
    User(String),
    Group(String),
}

impl Manifest {
    pub(super) fn new(
        tenant: &TenantId,
        exported_at: String,
        (name, quota_bytes): (Option<String>, Option<u64>),
        owners: Vec<Record>,
    ) -> Self {
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            exported_at,
            tenant: match tenant {
                TenantId::User(user) => ExportedTenant::User(user.as_str().to_owned()),
                TenantId::Group(group) => ExportedTenant::Group(group.as_str().to_owned()),
            },
            name,
            quota_bytes,
            owners,
        }
    }

    /// As it is written.
    pub(super) fn text(&self) -> Result<Vec<u8>, Error> {
        let unwritable = |error: serde_json::Error| TenantArchiveError::Manifest {
            reason: error.to_string(),
        };
        Ok(serde_json::to_vec_pretty(self).map_err(unwritable)?)
    }

    /// Reads what [`Self::text`] wrote.
    pub(super) fn read(text: &[u8]) -> Result<Self, TenantArchiveError> {
        let unusable = |reason: String| TenantArchiveError::Manifest { reason };
        let manifest: Self =
            serde_json::from_slice(text).map_err(|error| unusable(error.to_string()))?;
        if manifest.format != FORMAT {
            let format = manifest.format;
            return Err(unusable(format!("its form is {format}, not {FORMAT}")));
        }
        Ok(manifest)
    }

    /// Whose archive it is.
    pub(super) fn id(&self) -> Result<TenantId, Error> {
        Ok(match &self.tenant {
            ExportedTenant::User(user) => TenantId::User(UserId::parse(user)?),
            ExportedTenant::Group(group) => TenantId::Group(GroupId::parse(group)?),
        })
    }
}
