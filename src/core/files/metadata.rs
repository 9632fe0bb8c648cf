//! Metadata of a file or directory: everything but its content.

use fileshed_types::ZonePath;
use jiff::Timestamp;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// Type of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryType {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// Opaque identifier of one state of a file: two states of a path never have the same version. Only the
/// provider that made it can interpret it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub String);

/// A file or directory, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Its path below the root of the provider.
    pub path: ZonePath,
    /// Its type.
    pub kind: EntryType,
    /// The type of a file, where it was given when it was written.
    pub mime_type: Option<String>,
    /// Bytes of a file; 0 of a directory.
    pub size: u64,
    /// Time at which the file came into being; a renamed file counts as the same file.
    pub created_at: Timestamp,
    /// Time at which its content was last written.
    pub updated_at: Timestamp,
    /// Version of its current state.
    pub version: Version,
}

impl Metadata {
    /// Returns `true` if it is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == EntryType::Directory
    }

    /// The type of a file: the one that it was written with, else the one of its name.
    pub fn mime_type(&self) -> Option<String> {
        if self.is_directory() {
            return None;
        }
        let by_name = || {
            let guess = mime_guess::from_path(self.path.as_str());
            guess.first_raw().map(str::to_owned)
        };
        self.mime_type.clone().or_else(by_name)
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mime_type = self.mime_type();
        let fields = 5 + usize::from(mime_type.is_some());
        let mut entry = serializer.serialize_struct("Metadata", fields)?;
        entry.serialize_field("path", self.path.as_str())?;
        entry.serialize_field("type", &self.kind)?;
        if let Some(mime_type) = mime_type {
            entry.serialize_field("mimeType", &mime_type)?;
        }
        entry.serialize_field("size", &self.size)?;
        entry.serialize_field("createdAt", &self.created_at.to_string())?;
        entry.serialize_field("updatedAt", &self.updated_at.to_string())?;
        entry.end()
    }
}
