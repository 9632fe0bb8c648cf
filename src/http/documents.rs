//! `GET /openapi.json`, the interface for programs, and `GET /docs/`, Swagger UI, in which developers read and
//! try it. They need no credential and show nothing of a user.
//!
//! The files of Swagger UI are in the program, so neither the build nor the browser needs the internet.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read as _};
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Path, Query};
use axum::http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use fileshed_core::programs::Programs;
use fileshed_core::{Toolset, diagnostics};
use serde::Deserialize;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

use crate::http::packed_file::PackedFile;
use crate::http::{envelope, route};
use crate::openapi;

#[derive(Deserialize)]
struct DocumentQuery {
    toolset: Option<String>,
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

const DOCUMENT: &str = "index.html";
const INITIALIZER: &str = "swagger-initializer.js";

/// The document and the files that it loads.
const FILES: [&str; 8] = [
    DOCUMENT,
    INITIALIZER,
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "swagger-ui.css",
    "index.css",
    "favicon-16x16.png",
    "favicon-32x32.png",
];

/// The initializer of the distribution shows a pet shop. The validator badge would call a server on the
/// internet.
const INITIALIZE: &str = include_str!("documents/initializer.js");

/// Scripts and calls of this address alone; Swagger UI writes styles into its elements.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'none'",
);

/// The files, unpacked when somebody first opens the page.
static UI: LazyLock<HashMap<&str, PackedFile>> = LazyLock::new(|| {
    let unpacked = FILES.iter().filter_map(|name| {
        let content = match *name {
            INITIALIZER => INITIALIZE.as_bytes().to_vec(),
            name => from_distribution(name)?,
        };
        Some((*name, PackedFile::new(name, content.into())))
    });
    unpacked.collect()
});

/// The content of a file of the distribution, which lies in a directory named for its version.
fn from_distribution(name: &str) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED)).ok()?;
    let end = format!("/dist/{name}");
    let ends = |path: Result<Cow<'_, str>, _>| path.is_ok_and(|path| path.ends_with(&end));
    let index = archive.file_names().position(ends)?;
    let mut content = Vec::new();
    archive
        .by_index(index)
        .ok()?
        .read_to_end(&mut content)
        .ok()?;
    Some(content)
}

/// The addresses of documents.
pub(super) fn routes<S: Clone + Send + Sync + 'static>(programs: &Programs) -> Router<S> {
    let programs: Vec<&str> = programs.chosen().collect();
    // Each is made once: Open WebUI fetches one on every chat turn.
    let documents = [Toolset::All, Toolset::Core].map(|toolset| {
        let programs = programs.clone();
        let make = move || PackedFile::document(&openapi::document_with(toolset, &programs));
        (toolset.as_str(), LazyLock::new(make))
    });
    let documents = Arc::new(HashMap::from(documents));
    let openapi = async move |headers: HeaderMap, Query(query): Query<DocumentQuery>| {
        let toolset = query.toolset.unwrap_or_else(|| "all".to_owned());
        match documents.get(toolset.as_str()) {
            Some(document) => document.answer_fresh(&headers),
            None => envelope::failure(UnknownToolset { toolset }),
        }
    };
    Router::new()
        .route("/openapi.json", get(openapi))
        .route("/docs", get(|| async { Redirect::to("/docs/") }))
        .route("/docs/", get(|request| file(DOCUMENT.to_owned(), request)))
        .route(
            "/docs/{name}",
            get(|Path(name), request| file(name, request)),
        )
}

async fn file(name: String, request: Parts) -> Response {
    let Some(file) = UI.get(name.as_str()) else {
        return route::unknown(request).await;
    };
    let deny = HeaderValue::from_static("DENY");
    let headers = [(CONTENT_SECURITY_POLICY, POLICY), (X_FRAME_OPTIONS, deny)];
    (headers, file.answer_fresh(&request.headers)).into_response()
}
