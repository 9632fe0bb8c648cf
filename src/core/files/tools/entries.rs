//! `list_files`, `stat_file`, `remove_file` and `output_file`: entries as a whole.

use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::Files;
use crate::error::ToolError;
use crate::provider::{Page, ProviderError};
use crate::{Metadata, path};

/// The directory.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct ListFiles {
    /// Directory
    pub path: Option<String>,
}

/// The answer of `list_files`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListAnswer {
    /// `ok`
    pub status: &'static str,
    /// The path received.
    pub path: String,
    /// In the order of their names.
    pub entries: Vec<Metadata>,
    /// `true` if there are more.
    pub truncated: bool,
}

/// The file.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct StatFile {
    /// File or directory
    pub path: String,
}

/// The answer of `stat_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatAnswer {
    /// `ok`
    pub status: &'static str,
    /// The entry.
    #[serde(flatten)]
    pub metadata: Metadata,
}

/// Entry to remove.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct RemoveFile {
    /// File, or directory and contents
    pub path: String,
}

/// The answer of `remove_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RemoveAnswer {
    /// `true` if it was there and is removed.
    pub removed: bool,
    /// The path received.
    pub path: String,
}

/// The file.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct OutputFile {
    /// File
    pub path: String,
    /// Description in a few words
    pub description: Option<String>,
}

/// The answer of `output_file`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// `true` if the person has it.
    pub sent: bool,
    /// The path received.
    pub path: String,
    /// The address at which it is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The message for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The reason if it was not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Files<'_> {
    /// Lists a directory.
    pub fn list_files(&self, request: &ListFiles) -> Result<ListAnswer, Error> {
        let given = request.path.as_deref().unwrap_or("");
        let directory = path::parse(given)?;
        let at = self.at(&directory);
        let page = match self.provider.list(&at, None, self.limits.results) {
            // The workspace is always there.
            Err(ProviderError::NotFound(_)) if directory.is_root() => Page {
                entries: Vec::new(),
                more: false,
            },
            page => page.map_err(|error| ToolError::of_provider(given, error))?,
        };
        let entries = page.entries.into_iter().map(|entry| Metadata {
            path: self.in_workspace(&entry.path),
            ..entry
        });
        Ok(ListAnswer {
            status: "ok",
            path: given.to_owned(),
            entries: entries.collect(),
            truncated: page.more,
        })
    }

    /// Looks at a file or directory.
    pub fn stat_file(&self, request: &StatFile) -> Result<StatAnswer, Error> {
        let given = request.path.as_str();
        let path = path::parse(given)?;
        let metadata = self.stat(given, &path)?;
        Ok(StatAnswer {
            status: "ok",
            metadata: Metadata { path, ..metadata },
        })
    }

    /// Removes a file or a directory.
    pub fn remove_file(&self, request: &RemoveFile) -> Result<RemoveAnswer, Error> {
        self.expect_writable()?;
        let given = request.path.as_str();
        let path = path::inside(given)?;
        let removed = match self.provider.remove(&self.at(&path)) {
            Ok(()) => true,
            Err(ProviderError::NotFound(_)) => false,
            Err(error) => return Err(ToolError::of_provider(given, error)),
        };
        Ok(RemoveAnswer {
            removed,
            path: given.to_owned(),
        })
    }

    /// Hands a file to the person: `hand` gets it as the provider has it, and says with which address
    /// and words. A file that cannot be sent is no failure of the call.
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
        let metadata = self.stat(given, &path)?;
        if metadata.is_directory() {
            return Err(ToolError::IsDirectory(given.to_owned()).into());
        }
        Ok(metadata)
    }
}
