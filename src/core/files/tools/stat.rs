//! `stat_file`: what is known of a file.

use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::Files;
use crate::error::ToolError;
use crate::{Metadata, path};

/// Which file.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StatFile {
    /// File or directory
    pub path: String,
}

/// What is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// `ok`
    pub status: &'static str,
    /// The entry.
    #[serde(flatten)]
    pub metadata: Metadata,
}

impl Files<'_> {
    /// Looks at a file or directory.
    pub fn stat_file(&self, request: &StatFile) -> Result<Shown, Error> {
        let given = request.path.as_str();
        let path = path::parse(given)?;
        let metadata = self.provider.stat(&path);
        let metadata = metadata.map_err(|error| ToolError::of_provider(given, error))?;
        Ok(Shown {
            status: "ok",
            metadata,
        })
    }
}
