//! `read_file`: lines of a text, a picture, or bytes.

use std::borrow::Cow;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_text::{Encoding, LineRequest, SelectedLines, count_lines};
use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::write::ContentEncoding;
use super::{Files, is_binary};
use crate::error::ToolError;
use crate::path;
use crate::provider::{FileBytes, ProviderError};

/// Bytes of a long file that are read at once.
const PIECE: u64 = 1 << 20;

/// File to read.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct ReadFile {
    /// File
    pub path: String,
    /// First line, from 1
    pub offset: Option<i64>,
    /// Max lines
    pub limit: Option<i64>,
    /// First character of the first line
    pub column: Option<i64>,
    /// base64: bytes, not lines
    #[schema(inline)]
    pub encoding: Option<ContentEncoding>,
}

impl ReadFile {
    /// The whole file.
    pub fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..Self::default()
        }
    }
}

/// Response of `read_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReadAnswer {
    /// Lines of a text.
    Lines(ReadLines),
    /// The whole file.
    Bytes {
        /// `ok`
        status: &'static str,
        /// The path received.
        path: String,
        /// The bytes in base64.
        content: String,
        /// Encoding of `content`.
        encoding: &'static str,
        /// Type of the file.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// Bytes of the file.
        size: u64,
    },
    /// A picture, for who can see.
    #[serde(skip)]
    Image {
        /// Type of the image.
        mime_type: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// Lines of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadLines {
    /// `ok`
    pub status: &'static str,
    /// The path received.
    pub path: String,
    /// The lines with their numbers: `     1→text`.
    pub content: String,
    /// Lines of the whole file.
    pub total_lines: u64,
    /// The first line that is shown.
    pub start_line: u64,
    /// Lines that are shown.
    pub num_lines: u64,
    /// `true` if the response is cut because it would be too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The first line of the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// The character of that line at which the rest begins, if a part of the line was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_column: Option<u64>,
    /// Type of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Bytes of the file.
    pub size: u64,
}

impl ReadAnswer {
    /// The numbered lines of a text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Lines(lines) => Some(&lines.content),
            _ => None,
        }
    }
}

impl Files<'_> {
    /// Reads a file.
    pub fn read_file(&self, request: &ReadFile) -> Result<ReadAnswer, Error> {
        let given = request.path.as_str();
        let path = path::inside(given)?;
        let lines = LineRequest {
            offset: match request.offset {
                Some(0) => {
                    return Err(ToolError::Below {
                        parameter: "offset",
                        value: 0,
                    }
                    .into());
                }
                offset => offset.unwrap_or(1),
            },
            limit: number("limit", request.limit)?.unwrap_or(u64::MAX),
            column: number("column", request.column)?.unwrap_or(1),
        };
        let content = self.beginning(given, &path)?;
        let (mime_type, size) = (content.metadata.mime_type(), content.metadata.size);
        let is_long = self.expect_size(size).is_err();
        let document = if request.encoding.is_none() && !is_long {
            self.document(path.as_str(), &content).transpose()?
        } else {
            None
        };
        let is_text = !is_binary(&content.bytes);
        let is_range = request.offset.is_some() || request.limit.is_some();
        let most = self.limits.answer_bytes;
        let lines = if let Some(text) = &document {
            Some(lines.of(text, most))
        } else if is_long && is_range && is_text && request.encoding.is_none() {
            Some(self.long_text(given, lines, &content)?)
        } else {
            self.expect_size(size)?;
            is_text.then(|| lines.of(&decoded(&content.bytes), most))
        };
        let bytes = content.bytes;
        if request.encoding == Some(ContentEncoding::Base64) {
            return Ok(ReadAnswer::Bytes {
                status: "ok",
                path: given.to_owned(),
                content: STANDARD.encode(&bytes),
                encoding: "base64",
                mime_type,
                size,
            });
        }
        if document.is_none()
            && let Some(mime_type) = mime_type.as_ref().filter(|kind| is_picture(kind))
            && is_binary(&bytes)
        {
            let mime_type = mime_type.clone();
            return Ok(ReadAnswer::Image { mime_type, bytes });
        }
        let Some(lines) = lines else {
            return Err(ToolError::Binary(given.to_owned()).into());
        };
        Ok(ReadAnswer::Lines(ReadLines {
            status: "ok",
            path: given.to_owned(),
            content: lines.numbered(),
            total_lines: lines.total,
            start_line: lines.first,
            num_lines: lines.count(),
            truncated: lines.rest.is_some(),
            next_offset: lines.rest.map(|(line, _)| line),
            next_column: lines
                .rest
                .map(|(_, column)| column)
                .filter(|column| *column > 1),
            mime_type,
            size,
        }))
    }

    /// Lines of a text that is too long to be held, of which this is the beginning.
    fn long_text(
        &self,
        given: &str,
        lines: LineRequest,
        beginning: &FileBytes,
    ) -> Result<SelectedLines, Error> {
        let encoding = Encoding::of(&beginning.bytes, false);
        let source = || FileReader {
            files: self,
            beginning,
            piece: Vec::new(),
            position: 0,
        };
        let count = || count_lines(&mut source(), encoding.clone());
        let selected = lines
            .range(self.limits.answer_bytes, count)
            .and_then(|range| range.read(&mut source(), encoding.clone()));
        selected.map_err(|error| {
            let changed = || ProviderError::Changed(beginning.metadata.path.clone());
            let error = error.downcast().unwrap_or_else(|_| changed());
            ToolError::of_provider(given, error)
        })
    }
}

/// The content of a file, read in pieces, all of the same state.
struct FileReader<'f> {
    files: &'f Files<'f>,
    beginning: &'f FileBytes,
    /// The bytes that were read last.
    piece: Vec<u8>,
    position: u64,
}

impl io::Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            let metadata = &self.beginning.metadata;
            let range = self.position..self.position + PIECE;
            let provider = self.files.provider;
            let read = provider
                .read(&metadata.path, range)
                .map_err(io::Error::other)?;
            if read.metadata.version != metadata.version {
                let changed = ProviderError::Changed(metadata.path.clone());
                return Err(io::Error::other(changed));
            }
            self.position += read.bytes.len() as u64;
            self.piece = read.bytes;
        }
        let count = self.piece.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.piece[..count]);
        self.piece.drain(..count);
        Ok(count)
    }
}

/// The characters of a text, whatever its encoding; control characters are shown as they are.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    Encoding::of(bytes, true).decode(bytes)
}

/// Returns `true` if models can see images of this type.
fn is_picture(mime_type: &str) -> bool {
    ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(&mime_type)
}

pub(crate) fn number(
    parameter: &'static str,
    given: Option<i64>,
) -> Result<Option<u64>, ToolError> {
    match given {
        Some(value) if value < 1 => Err(ToolError::Below { parameter, value }),
        given => Ok(given.map(|value| value as u64)),
    }
}
