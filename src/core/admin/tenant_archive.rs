//! A user or a group as one archive: taken out of an installation, and brought into another one.
//!
//! It is a ZIP archive with a manifest, the files of all zones and the repositories. It holds contents,
//! so it is made only where the data directory is: at the command line.

mod error;
mod export;
mod import;

pub use error::TenantArchiveError;
pub use export::TenantExport;
pub use import::ImportedTenant;

use serde::{Deserialize, Serialize};

use crate::administration::TenantId;
use fileshed_registry::Record;
use fileshed_types::group::GroupId;
use fileshed_types::{Error, UserId, ZoneName};
use fileshed_zones::tenant::DATA;

/// The repository beside the files of a versioned zone.
const REPOSITORY: &str = "repo.git";

/// Directory of a repository within its own work tree.
const OWN_REPOSITORY: &str = ".git";

/// Prefix of every path of a file in the archive.
const FILES: &str = "files/";

/// Entries of a repository that are not exported: the server makes them anew, or never reads them.
const LEFT_OUT: [&str; 4] = ["hooks", "fileshed", "worktrees", "index"];

/// The directories of a zone that are taken along, below the tenant's root.
fn directories(zone: ZoneName) -> Vec<String> {
    let below = |name: &str| match zone.directory() {
        Some(directory) => format!("{directory}/{name}"),
        None => name.to_owned(),
    };
    match zone {
        ZoneName::Uploads => zone.directory().map(str::to_owned).into_iter().collect(),
        zone if zone.is_versioned() => vec![below(DATA), below(REPOSITORY)],
        _ => vec![below(DATA)],
    }
}

/// The name of the manifest in the archive, of which it is the first entry.
const MANIFEST: &str = "fileshed-tenant.json";

/// The form of the archive.
const FORMAT: u32 = 1;

/// The manifest.
#[derive(Debug, Deserialize, Serialize)]
struct Manifest {
    format: u32,
    /// The version of the program that wrote it.
    version: String,
    exported_at: String,
    #[serde(flatten)]
    tenant: ExportedTenant,
    /// Display name.
    name: Option<String>,
    /// Bytes, if it had a quota of its own.
    quota_bytes: Option<u64>,
    /// Owners of the files of a group.
    #[serde(default)]
    owners: Vec<Record>,
}

/// Owner of an archive.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "kind", content = "id", rename_all = "lowercase")]
enum ExportedTenant {
    User(String),
    Group(String),
}

impl Manifest {
    fn new(
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
    fn text(&self) -> Result<Vec<u8>, Error> {
        let unwritable = |error: serde_json::Error| TenantArchiveError::Manifest {
            reason: error.to_string(),
        };
        Ok(serde_json::to_vec_pretty(self).map_err(unwritable)?)
    }

    /// Reads what [`Self::text`] wrote.
    fn read(text: &[u8]) -> Result<Self, TenantArchiveError> {
        let unusable = |reason: String| TenantArchiveError::Manifest { reason };
        let manifest: Self =
            serde_json::from_slice(text).map_err(|error| unusable(error.to_string()))?;
        if manifest.format != FORMAT {
            let format = manifest.format;
            return Err(unusable(format!("its form is {format}, not {FORMAT}")));
        }
        Ok(manifest)
    }

    /// Returns the owner of the archive.
    fn id(&self) -> Result<TenantId, Error> {
        Ok(match &self.tenant {
            ExportedTenant::User(user) => TenantId::User(UserId::parse(user)?),
            ExportedTenant::Group(group) => TenantId::Group(GroupId::parse(group)?),
        })
    }
}
