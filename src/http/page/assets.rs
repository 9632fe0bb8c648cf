//! The files that the page is made of. An address has the digest of all of them in it, so a browser
//! keeps what it has for good, and a new version of the program is another address.

use std::io::Write as _;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::{Path, Request};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HOST, IF_NONE_MATCH, REFERRER_POLICY, VARY, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::http::route;

/// What the page may do beside running its scripts: show and ask what comes from this address. Pictures
/// may lie in the page itself, or be made by it.
const POLICY: &str = "style-src 'self'; img-src 'self' data: blob:; media-src 'self'; \
     connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'self'";

/// The only addresses of scripts: a file that somebody uploaded is none, whatever it holds.
const SCRIPTS: &str = "/page/assets/";
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

macro_rules! files {
    ($($name:literal: $kind:expr,)*) => {
        &[$(($name, $kind, include_bytes!(concat!("web/", $name)))),*]
    };
}

/// Name, type and content.
const FILES: &[(&str, &str, &[u8])] = files! {
    "actions.js": JAVASCRIPT,
    "admin.js": JAVASCRIPT,
    "api.js": JAVASCRIPT,
    "app.js": JAVASCRIPT,
    "bin.js": JAVASCRIPT,
    "chats.js": JAVASCRIPT,
    "dialog.js": JAVASCRIPT,
    "editor.js": JAVASCRIPT,
    "format.js": JAVASCRIPT,
    "groups.js": JAVASCRIPT,
    "history.js": JAVASCRIPT,
    "icons.js": JAVASCRIPT,
    "later.js": JAVASCRIPT,
    "links.js": JAVASCRIPT,
    "list.js": JAVASCRIPT,
    "markdown.js": JAVASCRIPT,
    "menu.js": JAVASCRIPT,
    "notes.js": JAVASCRIPT,
    "preview.js": JAVASCRIPT,
    "resumable.js": JAVASCRIPT,
    "search.js": JAVASCRIPT,
    "sidebar.js": JAVASCRIPT,
    "state.js": JAVASCRIPT,
    "tables.js": JAVASCRIPT,
    "target.js": JAVASCRIPT,
    "tokens.js": JAVASCRIPT,
    "toolbar.js": JAVASCRIPT,
    "upload.js": JAVASCRIPT,
    "words.js": JAVASCRIPT,
    "icon.svg": "image/svg+xml",
    "lib/core.js": JAVASCRIPT,
    "lib/editor.js": JAVASCRIPT,
    "lib/markdown.js": JAVASCRIPT,
    "lib/tus.js": JAVASCRIPT,
    "lib/licences.txt": TEXT,
    "style.css": STYLE,
};

/// What is loaded when it is first needed.
const LATER: [&str; 11] = [
    "admin.js",
    "bin.js",
    "chats.js",
    "history.js",
    "lib/editor.js",
    "lib/markdown.js",
    "lib/tus.js",
    "resumable.js",
    "search.js",
    "tables.js",
    "tokens.js",
];

/// The document; `{version}` stands where the addresses of the files have it, `{modules}` for those
/// that the page begins with: a browser would else learn of one from another.
const DOCUMENT: &str = include_str!("web/index.html");

static PAGE: LazyLock<PageAssets> = LazyLock::new(PageAssets::new);

/// All of it, ready to be sent.
struct PageAssets {
    /// The digest of all files, in the addresses.
    version: String,
    document: Packed,
    files: Vec<(&'static str, Packed)>,
}

/// A file as it is and as gzip packs it.
struct Packed {
    kind: &'static str,
    plain: Bytes,
    gzip: Bytes,
    tag: String,
}

impl PageAssets {
    fn new() -> Self {
        let mut digest = Sha256::new();
        for (name, _, content) in FILES {
            digest.update(name);
            digest.update(content);
        }
        let version = hex::encode(&digest.finalize()[..8]);
        let first = FILES
            .iter()
            .filter(|(name, kind, _)| *kind == JAVASCRIPT && !LATER.contains(name));
        let modules: Vec<String> = first
            .map(|(name, ..)| {
                format!("<link rel=\"modulepreload\" href=\"page/assets/{{version}}/{name}\">")
            })
            .collect();
        let document = DOCUMENT
            .replace("{modules}", &modules.join("\n"))
            .replace("{version}", &version);
        let files = FILES.iter().map(|(name, kind, content)| {
            let content = Bytes::from_static(content);
            (*name, Packed::new(kind, content))
        });
        Self {
            document: Packed::new("text/html; charset=utf-8", document.into()),
            files: files.collect(),
            version,
        }
    }
}

impl Packed {
    fn new(kind: &'static str, plain: Bytes) -> Self {
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

    fn answer(&self, request: &HeaderMap, cache: HeaderValue) -> Response {
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

/// `GET /`, for browsers, at the public address or the one that the request is for.
pub(in crate::http) fn document(request: &Request, public_url: &str) -> Response {
    let no_cache = HeaderValue::from_static("no-cache");
    let mut response = PAGE.document.answer(request.headers(), no_cache);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy(request, public_url));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_ROBOTS_TAG, HeaderValue::from_static("noindex"));
    // What is at this address depends on who asks.
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
    response
}

/// The policy of the page. A policy has no relative addresses, so it names the directory of the scripts at
/// each address that the page may have; for a host that a policy cannot name, as one of IPv6, it allows
/// the whole site.
fn policy(request: &Request, public_url: &str) -> HeaderValue {
    let host = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(Authority::as_str));
    let (_, public) = public_url.split_once("://").unwrap_or_default();
    let scripts = match host.filter(|host| host.bytes().all(is_plain)) {
        None => "'self'".to_owned(),
        Some(host) if public.is_empty() || public == host || !public.bytes().all(is_plain) => {
            format!("{host}{SCRIPTS}")
        }
        Some(host) => format!("{public}{SCRIPTS} {host}{SCRIPTS}"),
    };
    let text = format!("default-src 'none'; script-src {scripts}; {POLICY}");
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// `true` for what an address in a policy may have without being encoded.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/%".contains(&byte)
}

/// `GET /page/assets/{version}/{name}`
pub(super) async fn asset(
    Path((version, name)): Path<(String, String)>,
    request: Request,
) -> Response {
    let found = PAGE.files.iter().find(|(known, _)| *known == name);
    match found.filter(|_| version == PAGE.version) {
        Some((_, file)) => {
            let immutable = HeaderValue::from_static("public, max-age=31536000, immutable");
            file.answer(request.headers(), immutable)
        }
        None => route::unknown(request).await,
    }
}
