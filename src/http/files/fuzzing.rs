//! A door for fuzz targets: forms.

use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use fileshed_core::Error;

use super::multipart::{FormFile, MultipartReader};
use crate::http::body::BodyReader;

/// Result of reading a form: its files, by name, and the failure that ended it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The name and the content of each file; that of the last one as far as it came.
    pub files: Vec<(String, Vec<u8>)>,
    /// The failure that ended it too early.
    pub failure: Option<String>,
}

/// Reads a form that arrives in pieces.
pub fn form<'a>(content_type: &str, pieces: impl Iterator<Item = &'a [u8]>) -> Form {
    let mut form = Form::default();
    let pieces = pieces.map(Bytes::copy_from_slice).collect();
    form.failure = read(content_type, pieces, &mut form.files)
        .err()
        .map(|error| format!("{error}; {}", error.hint()));
    form
}

fn read(
    content_type: &str,
    pieces: Vec<Bytes>,
    files: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), Error> {
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(content_type) {
        headers.insert(CONTENT_TYPE, value);
    }
    let mut reader = BodyReader::arrived(pieces);
    let mut form = MultipartReader::new(&headers, &mut reader)?;
    form.begin()?;
    while let Some(FormFile { name, .. }) = form.file()? {
        let mut content = Vec::new();
        let outcome = form.content(|piece| {
            content.extend_from_slice(piece);
            Ok(())
        });
        files.push((name, content));
        outcome?;
    }
    Ok(())
}
