//! `GET /openapi.json`: what there is, for programs. It needs no credential and shows nothing of a
//! user.

use std::sync::LazyLock;

use axum::extract::Query;
use axum::http::HeaderMap;
use axum::response::Response;
use fileshed_core::{Toolset, diagnostics};
use serde::Deserialize;

use super::envelope;
use super::packed_file::PackedFile;
use crate::openapi;

/// The document of all operations, made once: Open WebUI fetches it on every chat turn.
static ALL: LazyLock<PackedFile> =
    LazyLock::new(|| PackedFile::document(&openapi::document(Toolset::All)));

/// The document of the small toolset.
static CORE: LazyLock<PackedFile> =
    LazyLock::new(|| PackedFile::document(&openapi::document(Toolset::Core)));

#[derive(Deserialize)]
pub(super) struct DocumentQuery {
    toolset: Option<String>,
}

/// `GET /openapi.json`
pub(super) async fn openapi(headers: HeaderMap, Query(query): Query<DocumentQuery>) -> Response {
    let name = query.toolset.unwrap_or_else(|| "all".to_owned());
    let document: &PackedFile = match Toolset::parse(&name) {
        Some(Toolset::All) => &ALL,
        Some(Toolset::Core) => &CORE,
        None => return envelope::failure(UnknownToolset { toolset: name }),
    };
    document.answer_fresh(&headers)
}

diagnostics! {
    /// A toolset that does not exist.
    #[derive(Debug, thiserror::Error)]
    #[error("there is no toolset `{toolset}`")]
    struct UnknownToolset { toolset: String } => {
        code: InvalidParameter,
        hint: format!("toolset is one of {}", Toolset::NAMES.join(", ")),
    }
}
