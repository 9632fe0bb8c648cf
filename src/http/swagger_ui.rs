//! `GET /docs/`: Swagger UI, in which developers read and try the operations. Its files are in the
//! program, so neither the build nor the browser needs the internet.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read as _};
use std::sync::LazyLock;

use axum::Router;
use axum::extract::{Path, Request};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS};
use axum::response::{Redirect, Response};
use axum::routing::get;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

use super::packed_file::PackedFile;
use super::route;

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
const INITIALIZE: &str = r##"window.onload = () => {
  window.ui = SwaggerUIBundle({
    url: "../openapi.json",
    dom_id: "#swagger-ui",
    deepLinking: true,
    validatorUrl: "none",
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: "StandaloneLayout",
  });
};
"##;

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

/// The addresses of Swagger UI.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/docs", get(|| async { Redirect::to("/docs/") }))
        .route("/docs/", get(|request| file(DOCUMENT.to_owned(), request)))
        .route(
            "/docs/{name}",
            get(|Path(name), request| file(name, request)),
        )
}

async fn file(name: String, request: Request) -> Response {
    let Some(file) = UI.get(name.as_str()) else {
        return route::unknown(request).await;
    };
    let mut response = file.answer_fresh(request.headers());
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}
