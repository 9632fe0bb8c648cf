//! `read_file`: lines of a text, a picture, or bytes.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_text::Encoding;
use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::write::ContentEncoding;
use super::{Files, is_binary};
use crate::error::ToolError;
use crate::path;

/// What to read.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReadFile {
    /// File
    pub path: String,
    /// First line, from 1
    pub offset: Option<i64>,
    /// Most lines
    pub limit: Option<i64>,
    /// base64: bytes, not lines
    #[cfg_attr(feature = "schema", schema(inline))]
    pub encoding: Option<ContentEncoding>,
}

impl ReadFile {
    /// The whole file.
    #[must_use]
    pub fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..Self::default()
        }
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ReadAnswer {
    /// Lines of a text.
    Lines(ReadLines),
    /// The whole file.
    Bytes {
        /// `ok`
        status: &'static str,
        /// As it was given.
        path: String,
        /// The bytes in base64.
        content: String,
        /// How they are written here.
        encoding: &'static str,
        /// What they are.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// How many.
        size: u64,
    },
    /// A picture, for who can see.
    #[serde(skip)]
    Image {
        /// What it is.
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
    /// As it was given.
    pub path: String,
    /// The lines with their numbers: `     1→text`.
    pub content: String,
    /// Lines of the whole file.
    pub total_lines: u64,
    /// The first line that is shown.
    pub start_line: u64,
    /// How many are shown.
    pub num_lines: u64,
    /// Whether the answer ends before what was asked for, because it would be too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What the file is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Bytes of the file.
    pub size: u64,
}

impl ReadAnswer {
    /// The numbered lines of a text.
    #[must_use]
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
        let first = number("offset", request.offset)?.unwrap_or(1);
        let limit = number("limit", request.limit)?.unwrap_or(u64::MAX);
        let content = self.whole(given, &path)?;
        let (mime_type, size) = (content.metadata.mime_type(), content.metadata.size);
        let document = match request.encoding {
            None => self.document(path.as_str(), &content).transpose()?,
            Some(_) => None,
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
        if document.is_none() && is_binary(&bytes) {
            return Err(ToolError::Binary(given.to_owned()).into());
        }
        let text = document.map_or_else(|| decoded(&bytes), Cow::Owned);
        let numbered = Numbered::of(&text, first, limit, self.limits.answer_bytes);
        Ok(ReadAnswer::Lines(ReadLines {
            status: "ok",
            path: given.to_owned(),
            content: numbered.content,
            total_lines: numbered.total,
            start_line: first,
            num_lines: numbered.count,
            truncated: numbered.truncated,
            mime_type,
            size,
        }))
    }
}

/// The characters of a text, whatever its encoding.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    match Encoding::of(bytes, true) {
        // Control characters, but no NUL: shown as they are.
        Encoding::Binary => String::from_utf8_lossy(bytes),
        encoding => encoding.decode(bytes),
    }
}

/// Whether a model may see it.
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

/// Lines with their numbers in front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The lines: `     1→text`.
    pub content: String,
    /// Lines of the whole text.
    pub total: u64,
    /// How many are shown.
    pub count: u64,
    /// Whether they end because there would be too many bytes.
    pub truncated: bool,
}

impl Numbered {
    /// The lines of a text from the one numbered `first` on, at most `limit` of them and about
    /// `most_bytes`.
    #[must_use]
    pub fn of(text: &str, first: u64, limit: u64, most_bytes: usize) -> Self {
        let (mut content, mut total, mut count, mut truncated) = (String::new(), 0, 0, false);
        for line in text.lines() {
            total += 1;
            if total < first || count >= limit || truncated {
                continue;
            }
            let left = most_bytes.saturating_sub(content.len());
            if line.len() > left {
                truncated = true;
                if count > 0 {
                    continue;
                }
            }
            if count > 0 {
                content.push('\n');
            }
            let shown = &line[..line.floor_char_boundary(left)];
            let _written = write!(content, "{total:>6}→{shown}");
            count += 1;
        }
        Self {
            content,
            total,
            count,
            truncated,
        }
    }
}
