//! Headers for browsers: the content security policy of a file, and the name under which it is saved
//! (RFC 6266 and RFC 8187).

use axum::http::HeaderValue;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub(super) use crate::http::response_body::INERT;

/// Policy for a page that a link opens: it runs its own scripts in an origin of its own and reaches no
/// network.
pub(super) const ISOLATED_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; \
     form-action 'none'; sandbox allow-scripts allow-modals allow-popups allow-downloads",
);
/// Policy for a PDF that is shown: it loads and runs nothing, and only the server's own page has it in a
/// frame. It has no sandbox, because a browser's viewer does not start in one.
pub(super) const VIEWED_DOCUMENT: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'self'");
/// Nobody keeps a copy that outlives the right to it.
pub(super) const CACHE: HeaderValue = HeaderValue::from_static("private, no-cache");

/// What may stand unencoded in an extended value.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The header for a file: saved, or shown where the browser can.
pub(super) fn disposition(name: &str, inline: bool) -> HeaderValue {
    let how = if inline { "inline" } else { "attachment" };
    let plain: String = name
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
        let encoded = utf8_percent_encode(name, ENCODED);
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
                "attachment; filename=\"_____.txt\"; filename*=UTF-8''%C3%A9%22%5C%25%0A.txt",
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
