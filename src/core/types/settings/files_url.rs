//! Where the files of the compact tools are.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// An address: `file:` or `memory:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilesUrl {
    /// In the storage zone of each user.
    #[default]
    Zone,
    /// In memory, gone with the process.
    Memory,
}

/// Addresses of buckets, which version 0.1.0 took.
const BUCKETS: [&str; 6] = ["s3://", "s3a://", "gs://", "az://", "azure://", "abfss://"];

impl FromStr for FilesUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "file:" => Ok(Self::Zone),
            "memory:" => Ok(Self::Memory),
            _ if BUCKETS.iter().any(|scheme| text.starts_with(scheme)) => Err(
                "must be file: or memory:: only version 0.1.0 kept files in buckets, and what is there is \
                 copied out with the bucket's own tools"
                    .to_owned(),
            ),
            _ => Err("must be file: or memory:".to_owned()),
        }
    }
}

impl Display for FilesUrl {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Zone => "file:",
            Self::Memory => "memory:",
        })
    }
}
