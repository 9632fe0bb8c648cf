//! Files that are part of the program, as browsers get them.

use std::io::Write as _;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// A file as it is and as gzip packs it.
pub(super) struct PackedFile {
    kind: &'static str,
    plain: Bytes,
    gzip: Bytes,
    tag: String,
}

impl PackedFile {
    pub(super) fn new(kind: &'static str, plain: Bytes) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        // A writer to memory does not fail; what is empty is not sent.
        let gzip = match encoder.write_all(&plain) {
            Ok(()) => encoder.finish().unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&plain)[..16]));
        Self {
            kind,
            plain,
            gzip: gzip.into(),
            tag,
        }
    }

    /// The file, packed for a client that takes gzip, or that the client has it already.
    pub(super) fn answer(&self, request: &HeaderMap, cache: HeaderValue) -> Response {
        let mut headers = HeaderMap::from_iter([
            (CACHE_CONTROL, cache),
            (CONTENT_TYPE, HeaderValue::from_static(self.kind)),
            (VARY, HeaderValue::from_static("accept-encoding")),
        ]);
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            headers.insert(ETAG, tag);
        }
        if has(request, &IF_NONE_MATCH, &self.tag) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        if has(request, &ACCEPT_ENCODING, "gzip") && !self.gzip.is_empty() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return (headers, self.gzip.clone()).into_response();
        }
        (headers, self.plain.clone()).into_response()
    }
}

/// Whether a header's list has this element, with nothing or anything but a zero weight behind it.
fn has(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    let values = headers.get_all(name).iter();
    values.filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|element| {
            let (element, weight) = element.split_once(';').unwrap_or((element, ""));
            let weight = weight.trim().trim_start_matches("q=");
            element.trim() == wanted && weight.parse::<f32>() != Ok(0.0)
        })
    })
}
