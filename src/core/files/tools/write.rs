//! `write_file`: a file with this content, whatever was there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::Files;
use crate::error::ToolError;
use crate::path;
use crate::provider::Write;

/// Encoding of a content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
pub enum ContentEncoding {
    /// As text.
    #[default]
    #[serde(rename = "utf-8", alias = "utf8")]
    Utf8,
    /// Bytes in base64.
    #[serde(rename = "base64")]
    Base64,
}

/// The file.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct WriteFile {
    /// File; directories are made
    pub path: String,
    /// The whole content
    pub content: String,
    /// base64 for bytes
    #[schema(inline)]
    pub encoding: Option<ContentEncoding>,
    /// Type, if the name does not tell it
    pub mime_type: Option<String>,
}

impl WriteFile {
    /// A text.
    pub fn new(path: &str, content: &str) -> Self {
        Self {
            path: path.to_owned(),
            content: content.to_owned(),
            ..Self::default()
        }
    }
}

/// Response of `write_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WriteAnswer {
    /// `created` or `updated`
    pub status: &'static str,
    /// The path received.
    pub path: String,
    /// Bytes that the file has now.
    pub bytes_written: u64,
}

impl Files<'_> {
    /// Writes a file.
    pub fn write_file(&self, request: &WriteFile) -> Result<WriteAnswer, Error> {
        self.expect_writable()?;
        let given = request.path.as_str();
        let path = path::inside(given)?;
        let decoded;
        let bytes = match request.encoding.unwrap_or_default() {
            ContentEncoding::Utf8 => request.content.as_bytes(),
            ContentEncoding::Base64 => {
                let read = STANDARD.decode(request.content.trim());
                decoded = read.map_err(|error| ToolError::Base64(error.to_string()))?;
                &decoded
            }
        };
        self.expect_size(bytes.len() as u64)?;
        // An existing file may be written whatever its name; a new name must suit every system.
        if let Err(error) = path::check_new("path", &path)
            && self.stat(given, &path).is_err()
        {
            return Err(error.into());
        }
        let write = Write {
            mime_type: request.mime_type.clone().filter(|kind| !kind.is_empty()),
            ..Write::default()
        };
        let written = self.provider.write(&self.at(&path), &mut &*bytes, &write);
        let written = written.map_err(|error| ToolError::of_provider(given, error))?;
        Ok(WriteAnswer {
            status: if written.created {
                "created"
            } else {
                "updated"
            },
            path: given.to_owned(),
            bytes_written: bytes.len() as u64,
        })
    }
}
