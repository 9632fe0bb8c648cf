//! What a browser may do with a file that it gets.

use axum::http::HeaderValue;

pub(super) use crate::http::response_body::INERT;

/// What a page may do that a link opens: run what it has in itself, apart from this address, and
/// reach nothing.
pub(super) const ISOLATED_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; \
     form-action 'none'; sandbox allow-scripts allow-modals allow-popups allow-downloads",
);
/// What a PDF may do that is shown: a browser's viewer does not start in a sandbox. It loads and runs
/// nothing, and only the server's own page has it in a frame.
pub(super) const VIEWED_DOCUMENT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'self'");
/// Nobody keeps a copy that outlives the right to it.
pub(super) const CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");
