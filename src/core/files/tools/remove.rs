//! `remove_file`: a file goes, or a directory with everything in it.

use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::Files;
use crate::error::ToolError;
use crate::path;
use crate::provider::ProviderError;

/// What goes.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RemoveFile {
    /// File, or directory with all in it
    pub path: String,
}

/// What went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Whether it was there, and is gone.
    pub removed: bool,
    /// As it was given.
    pub path: String,
}

impl Files<'_> {
    /// Removes a file or a directory.
    pub fn remove_file(&self, request: &RemoveFile) -> Result<Removed, Error> {
        self.expect_writable()?;
        let given = request.path.as_str();
        let path = path::inside(given)?;
        let removed = match self.provider.remove(&path) {
            Ok(()) => true,
            Err(ProviderError::NotFound(_)) => false,
            Err(error) => return Err(ToolError::of_provider(given, error)),
        };
        Ok(Removed {
            removed,
            path: given.to_owned(),
        })
    }
}
