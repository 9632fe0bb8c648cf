//! Files that are part of the program, as clients get them.

use std::io::Write as _;

use axum::body::Bytes;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use headers::{ETag, HeaderMapExt as _, IfNoneMatch};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::content_type;

/// A file as it is, and as gzip packs it.
pub(super) struct PackedFile {
    kind: HeaderValue,
    plain: Bytes,
    gzip: Option<Bytes>,
    tag: Option<ETag>,
}

impl PackedFile {
    /// Makes a file of a page, whose type follows from its name.
    pub(super) fn new(name: &str, plain: Bytes) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(&plain).and_then(|()| encoder.finish());
        let kind = HeaderValue::try_from(content_type::header(name, &plain, true));
        Self {
            // A writer to memory does not fail.
            gzip: packed.ok().map(Bytes::from),
            ..Self::unpacked(
                kind.unwrap_or(HeaderValue::from_static(content_type::BYTES)),
                plain,
            )
        }
    }

    /// A document for programs.
    pub(super) fn document(document: &Value) -> Self {
        let json = HeaderValue::from_static("application/json");
        Self::unpacked(json, document.to_string().into())
    }

    fn unpacked(kind: HeaderValue, plain: Bytes) -> Self {
        let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&plain)[..16]));
        Self {
            kind,
            plain,
            gzip: None,
            tag: tag.parse().ok(),
        }
    }

    /// The file, packed for a client that takes gzip, or that the client has it already.
    pub(super) fn answer(&self, request: &HeaderMap, cache: HeaderValue) -> Response {
        let mut headers =
            HeaderMap::from_iter([(CACHE_CONTROL, cache), (CONTENT_TYPE, self.kind.clone())]);
        if let Some(tag) = &self.tag {
            headers.typed_insert(tag.clone());
            let condition = request.typed_get::<IfNoneMatch>();
            if condition.is_some_and(|condition| !condition.precondition_passes(tag)) {
                return (StatusCode::NOT_MODIFIED, headers).into_response();
            }
        }
        if let Some(gzip) = &self.gzip {
            headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
            if takes_gzip(request) {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                return (headers, gzip.clone()).into_response();
            }
        }
        (headers, self.plain.clone()).into_response()
    }

    /// The same for what is fetched again and again.
    pub(super) fn answer_fresh(&self, request: &HeaderMap) -> Response {
        self.answer(request, HeaderValue::from_static("no-cache"))
    }
}

/// `true` if a request lists gzip, with nothing or anything but a zero weight behind it.
fn takes_gzip(request: &HeaderMap) -> bool {
    let values = request.get_all(ACCEPT_ENCODING).iter();
    values.filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').any(|element| {
            let (element, weight) = element.split_once(';').unwrap_or((element, ""));
            let weight = weight.trim().trim_start_matches("q=");
            element.trim() == "gzip" && weight.parse::<f32>() != Ok(0.0)
        })
    })
}
