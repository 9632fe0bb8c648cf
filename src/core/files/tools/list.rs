//! `list_files`: what is in a directory.

use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::Files;
use crate::error::ToolError;
use crate::{Metadata, path};

/// Which directory.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListFiles {
    /// Directory
    pub path: Option<String>,
}

/// What is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// `ok`
    pub status: &'static str,
    /// As it was given.
    pub path: String,
    /// In the order of their names.
    pub entries: Vec<Metadata>,
    /// Whether there are more.
    pub truncated: bool,
}

impl Files<'_> {
    /// Lists a directory.
    pub fn list_files(&self, request: &ListFiles) -> Result<Listed, Error> {
        let given = request.path.as_deref().unwrap_or("");
        let directory = path::parse(given)?;
        let page = self.provider.list(&directory, None, self.limits.results);
        let page = page.map_err(|error| ToolError::of_provider(given, error))?;
        Ok(Listed {
            status: "ok",
            path: given.to_owned(),
            entries: page.entries,
            truncated: page.more,
        })
    }
}
