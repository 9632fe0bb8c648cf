//! `GET /openapi.json`: what there is, for programs. It needs no credential and shows nothing of a
//! user.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Query;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use fileshed_core::{Toolset, diagnostics};
use headers::{ETag, HeaderMapExt as _, IfNoneMatch};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::envelope;
use crate::openapi;

/// The document of all operations, made once: Open WebUI fetches it on every chat turn.
static ALL: LazyLock<Document> = LazyLock::new(|| Document::new(&openapi::document(Toolset::All)));

/// The document of the small toolset.
static CORE: LazyLock<Document> =
    LazyLock::new(|| Document::new(&openapi::document(Toolset::Core)));

/// A document as it is sent.
pub(super) struct Document {
    bytes: Bytes,
    tag: Option<ETag>,
}

impl Document {
    pub(super) fn new(document: &Value) -> Self {
        let bytes = Bytes::from(document.to_string());
        let digest = hex::encode(Sha256::digest(&bytes));
        Self {
            bytes,
            tag: format!("\"{}\"", &digest[..32]).parse().ok(),
        }
    }

    /// Whether the client has it already.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let condition = headers.typed_get::<IfNoneMatch>();
        condition
            .zip(self.tag.as_ref())
            .is_some_and(|(condition, tag)| !condition.precondition_passes(tag))
    }

    /// The document, or that the client has it already.
    pub(super) fn answer(&self, headers: &HeaderMap) -> Response {
        let mut fixed = HeaderMap::new();
        if let Some(tag) = &self.tag {
            fixed.typed_insert(tag.clone());
        }
        fixed.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        fixed.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.is_known(headers) {
            (StatusCode::NOT_MODIFIED, fixed).into_response()
        } else {
            (fixed, self.bytes.clone()).into_response()
        }
    }
}

#[derive(Deserialize)]
pub(super) struct DocumentQuery {
    toolset: Option<String>,
}

/// `GET /openapi.json`
pub(super) async fn openapi(headers: HeaderMap, Query(query): Query<DocumentQuery>) -> Response {
    let name = query.toolset.unwrap_or_else(|| "all".to_owned());
    let document: &Document = match Toolset::parse(&name) {
        Some(Toolset::All) => &ALL,
        Some(Toolset::Core) => &CORE,
        None => return envelope::failure(UnknownToolset(name)),
    };
    document.answer(&headers)
}

diagnostics! {
    /// A toolset that does not exist.
    #[derive(Debug, thiserror::Error)]
    #[error("there is no toolset `{0}`")]
    struct UnknownToolset(toolset: String) => {
        code: InvalidParameter,
        hint: format!("toolset is one of {}", Toolset::NAMES.join(", ")),
    }
}
