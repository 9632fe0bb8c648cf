//! The pages that links open in a browser. They come from the binary alone, and the policy that
//! is sent with them lets nothing else run: styles and scripts are named by their hash.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::Error;
use sha2::{Digest as _, Sha256};

use crate::http::envelope;

const FRAME: &str = include_str!("page/frame.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/upload.js");
const UPLOAD: &str = include_str!("page/upload.html");

const X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    );
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
});

/// Whether a browser shows the answer to a person.
pub(in crate::http) fn is_wanted(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.contains("text/html"))
}

/// The page that takes files of up to `limit` MB.
pub(super) fn upload(limit: u64) -> Response {
    let content = UPLOAD.replace("{limit}", &limit.to_string());
    page(StatusCode::OK, "Send files", &content, SCRIPT)
}

/// The answer to a form that was sent without scripts.
pub(super) fn stored(count: usize) -> Response {
    let content = format!(
        "<p role=\"status\">{}</p>\n<p><a href=\"\">Send more files</a></p>",
        sentence(count)
    );
    page(StatusCode::OK, "Thank you", &content, "")
}

/// A failure in words for people.
pub(in crate::http) fn refused(error: &Error) -> Response {
    let content = format!(
        "<p role=\"alert\">{}</p>\n<p>{}</p>",
        escaped(error.message()),
        escaped(&error.hint().to_string())
    );
    let status = envelope::status(error);
    let title = if status == StatusCode::NOT_FOUND {
        "This link does not work"
    } else {
        "This did not work"
    };
    page(status, title, &content, "")
}

/// A page of our own; nothing but its style and the script runs in it.
pub(in crate::http) fn page(
    status: StatusCode,
    title: &str,
    content: &str,
    script: &str,
) -> Response {
    let script = if script.is_empty() {
        String::new()
    } else {
        format!("<script>{script}</script>")
    };
    let text = FRAME
        .replace("{title}", title)
        .replace("{style}", STYLE)
        .replace("{content}", content)
        .replace("{script}", &script);
    let headers = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (CONTENT_SECURITY_POLICY, POLICY.clone()),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (X_ROBOTS_TAG, HeaderValue::from_static("noindex")),
    ];
    (status, headers, text).into_response()
}

/// How many files were stored.
pub(super) fn sentence(count: usize) -> String {
    match count {
        1 => "The file was received.".to_owned(),
        count => format!("{count} files were received."),
    }
}

/// Text as a page shows it.
pub(in crate::http) fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut escaped, character| {
        let _written = match character {
            '<' | '>' | '&' | '"' | '\'' => write!(escaped, "&#{};", u32::from(character)),
            character => write!(escaped, "{character}"),
        };
        escaped
    })
}
