//! `output_file`: a file for the person.

use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::Files;
use crate::error::ToolError;
use crate::{Metadata, path};

/// Which file.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutputFile {
    /// File
    pub path: String,
    /// What it is, in a few words
    pub description: Option<String>,
}

/// What became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// Whether the person has it.
    pub sent: bool,
    /// As it was given.
    pub path: String,
    /// Where it is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What to tell the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Files<'_> {
    /// Hands a file to the person: `hand` does it, and says with which address and words. What
    /// cannot be sent is no failure of the call.
    pub fn output_file(
        &self,
        request: &OutputFile,
        hand: impl FnOnce(&Metadata) -> Result<(Option<String>, Option<String>), Error>,
    ) -> Sent {
        let path = request.path.clone();
        match self
            .file(&request.path)
            .and_then(|metadata| hand(&metadata))
        {
            Ok((url, message)) => Sent {
                sent: true,
                path,
                url,
                message,
                error: None,
            },
            Err(error) => Sent {
                path,
                error: Some(error.message().to_owned()),
                ..Sent::default()
            },
        }
    }

    fn file(&self, given: &str) -> Result<Metadata, Error> {
        let path = path::inside(given)?;
        let metadata = self.provider.stat(&path);
        let metadata = metadata.map_err(|error| ToolError::of_provider(given, error))?;
        if metadata.is_directory() {
            let path = given.to_owned();
            return Err(ToolError::IsDirectory { path }.into());
        }
        Ok(metadata)
    }
}
