//! The files that the page is made of. An address has the digest of all of them in it, so a browser
//! keeps what it has for good, and a new version of the program is another address.

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY, X_FRAME_OPTIONS};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

use crate::http::packed_file::PackedFile;
use crate::http::words::Language;
use crate::http::{header, route};

/// Permissions of the page beside running its scripts: it shows and requests content of this origin alone.
/// Pictures may also be embedded in the page or made by it.
const POLICY: &str = "style-src 'self'; img-src 'self' data: blob:; media-src 'self'; \
     connect-src 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; \
     form-action 'self'";

/// The only addresses of scripts: a file that somebody uploaded is none, whatever it holds.
const SCRIPTS: &str = "/page/assets/";
const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

macro_rules! files {
    ($($name:literal,)*) => {
        &[$(($name, include_bytes!(concat!("web/", $name)))),*]
    };
}

/// Name and content of the modules that the page begins with.
const FIRST: &[(&str, &[u8])] = files! {
    "actions.js",
    "api.js",
    "app.js",
    "dialog.js",
    "drag.js",
    "format.js",
    "icons.js",
    "later.js",
    "list.js",
    "menu.js",
    "notes.js",
    "sidebar.js",
    "state.js",
    "toolbar.js",
    "upload.js",
    "words.js",
    "lib/core.js",
};

/// The modules that they load, some of them when they are first needed.
const OTHERS: &[(&str, &[u8])] = files! {
    "admin.js",
    "bin.js",
    "changes.js",
    "chats.js",
    "details.js",
    "difference.js",
    "editing.js",
    "editor.js",
    "groups.js",
    "history.js",
    "keys.js",
    "links.js",
    "markdown.js",
    "pages.js",
    "preview.js",
    "recent.js",
    "resumable.js",
    "search.js",
    "shown.js",
    "tables.js",
    "target.js",
    "tokens.js",
    "icon.svg",
    "lib/editor.js",
    "lib/formulas.js",
    "lib/markdown.js",
    "lib/tus.js",
    "lib/licences.txt",
    "style.css",
};

/// The document; `{version}` stands where the addresses of the files have it, `{modules}` for those
/// that the page begins with: a browser would else learn of one from another. The words of one `{language}`
/// are among them.
const DOCUMENT: &str = include_str!("web/index.html");

static PAGE: LazyLock<PageAssets> = LazyLock::new(PageAssets::new);

/// All of it, ready to be sent.
struct PageAssets {
    /// The digest of all files, in the addresses.
    version: String,
    /// One for each language, by its tag.
    documents: HashMap<&'static str, PackedFile>,
    files: HashMap<String, PackedFile>,
}

impl PageAssets {
    fn new() -> Self {
        let given = FIRST.iter().chain(OTHERS);
        let given = given.map(|(name, content)| ((*name).to_owned(), Bytes::from_static(content)));
        let words = Language::all().map(|language| (words_of(language), language.module().into()));
        let mut digest = Sha256::new();
        let mut files = HashMap::new();
        for (name, content) in given.chain(words) {
            digest.update(&name);
            digest.update(&content);
            let file = PackedFile::new(&name, content);
            files.insert(name, file);
        }
        let version = hex::encode(&digest.finalize()[..8]);
        let documents = Language::all().map(|language| {
            let document = document_of(language, &version).into();
            (language.tag(), PackedFile::new("index.html", document))
        });
        Self {
            documents: documents.collect(),
            files,
            version,
        }
    }
}

/// The name of the module with the words of a language.
fn words_of(language: Language) -> String {
    format!("words/{}.js", language.tag())
}

fn document_of(language: Language, version: &str) -> String {
    let names = FIRST.iter().map(|(name, _)| (*name).to_owned());
    let modules = names.chain([words_of(language)]).map(|name| {
        format!("<link rel=\"modulepreload\" href=\"page/assets/{{version}}/{name}\">")
    });
    DOCUMENT
        .replace("{modules}", &modules.collect::<Vec<_>>().join("\n"))
        .replace("{version}", version)
        .replace("{language}", language.tag())
        .replace("{no_scripts}", language.say_on_page("no_scripts"))
}

/// `GET /`, for browsers, at the public address or the one that the request is for.
pub(in crate::http) fn document(request: &Parts, public_url: &str) -> Response {
    let language = Language::of(&request.headers);
    let Some(document) = PAGE.documents.get(language.tag()) else {
        return Response::default();
    };
    let headers = [
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (X_ROBOTS_TAG, "noindex"),
        // The content at this URL depends on the headers of the request.
        (VARY, "accept, accept-encoding, accept-language"),
    ];
    let policy = [(CONTENT_SECURITY_POLICY, policy(request, public_url))];
    (headers, policy, document.answer_fresh(&request.headers)).into_response()
}

/// The policy of the page. A policy has no relative addresses, so it names the directory of the scripts at
/// each address that the page may have; for a host that a policy cannot name, as one of IPv6, it allows
/// the whole site.
fn policy(request: &Parts, public_url: &str) -> HeaderValue {
    let host = header::host(&request.headers, &request.uri);
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
    request: Parts,
) -> Response {
    let found = PAGE.files.get(name.as_str());
    match found.filter(|_| version == PAGE.version) {
        Some(file) => {
            let immutable = HeaderValue::from_static("public, max-age=31536000, immutable");
            file.answer(&request.headers, immutable)
        }
        None => route::unknown(request).await,
    }
}
