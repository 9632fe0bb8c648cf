//! Pages that links open in a browser, and headers for browsers.
//!
//! Pages come from the binary alone, and the policy that is sent with them lets nothing else run: styles and
//! scripts are named by their hash. A file has a policy, too, and a name under which it is saved (RFC 6266 and
//! RFC 8187).

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
use fileshed_core::text::transliterated;
use percent_encoding::utf8_percent_encode;
use sha2::{Digest as _, Sha256};

use crate::http::envelope;
use crate::http::header::UNRESERVED;
pub(super) use crate::http::response_body::INERT;

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

/// Policy for a page that a link opens: it runs its own scripts in an origin of its own and reaches no
/// network.
pub(super) const ISOLATED_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src data: 'unsafe-inline'; style-src data: 'unsafe-inline'; \
     img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; \
     form-action 'none'; sandbox allow-scripts allow-modals allow-popups allow-downloads",
);
/// Policy for a PDF that is shown: it loads and runs nothing, and only the server's own page has it in a
/// frame. It has no sandbox, because a browser's viewer does not start in one.
pub(super) const VIEWED_DOCUMENT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'self'");
/// Nobody keeps a copy that outlives the right to it.
pub(super) const CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// The header for a file: saved, or shown where the browser can.
pub(super) fn disposition(name: &str, inline: bool) -> HeaderValue {
    let how = if inline { "inline" } else { "attachment" };
    // Open WebUI's file browser reads only this one.
    let plain: String = transliterated(name)
        .chars()
        .map(|character| match character {
            '"' | '\\' | '%' => '_',
            ' '..='~' => character,
            _ => '_',
        })
        .collect();
    let text = if plain == name {
        format!("{how}; filename=\"{plain}\"")
    } else {
        let encoded = utf8_percent_encode(name, UNRESERVED);
        format!("{how}; filename=\"{plain}\"; filename*=UTF-8''{encoded}")
    };
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_need_quoting() {
        for (name, expected) in [
            ("a b.txt", "attachment; filename=\"a b.txt\""),
            (
                "é\"\\%\n.txt",
                "attachment; filename=\"e____.txt\"; filename*=UTF-8''%C3%A9%22%5C%25%0A.txt",
            ),
            (
                "Übersicht Straße.csv",
                "attachment; filename=\"Uebersicht Strasse.csv\"; \
                 filename*=UTF-8''%C3%9Cbersicht%20Stra%C3%9Fe.csv",
            ),
            (
                "日本.md",
                "attachment; filename=\"__.md\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.md",
            ),
        ] {
            assert_eq!(disposition(name, false), expected);
        }
        assert_eq!(disposition("a", true), "inline; filename=\"a\"");
    }
}
