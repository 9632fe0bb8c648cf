//! Where the files of the compact tools are.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// An address: `file:`, `memory:`, or a bucket of an object storage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FilesUrl {
    /// In the storage zone of each user.
    #[default]
    Zone,
    /// In memory, gone with the process.
    Memory,
    /// In an object storage, like `s3://bucket/path`.
    Objects(String),
}

/// Kinds of object storages.
const SCHEMES: [&str; 6] = ["s3://", "s3a://", "gs://", "az://", "azure://", "abfss://"];

impl FromStr for FilesUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "file:" => Ok(Self::Zone),
            "memory:" => Ok(Self::Memory),
            _ if SCHEMES.iter().any(|scheme| text.starts_with(scheme)) => {
                Ok(Self::Objects(text.to_owned()))
            }
            _ => Err(
                "must be file:, memory:, s3://bucket/path, gs://bucket/path or az://container/path"
                    .to_owned(),
            ),
        }
    }
}

impl Display for FilesUrl {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Zone => "file:",
            Self::Memory => "memory:",
            Self::Objects(address) => address,
        })
    }
}
