//! The name under which a browser saves a file: RFC 6266 and RFC 8187.

use axum::http::HeaderValue;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

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
pub(super) fn header(name: &str, inline: bool) -> HeaderValue {
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
            assert_eq!(header(name, false), expected);
        }
        assert_eq!(header("a", true), "inline; filename=\"a\"");
    }
}
