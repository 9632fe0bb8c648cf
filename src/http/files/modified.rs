//! The time at which a file was changed where it comes from, as clients send it.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::http::header;

/// The header of clients that synchronise files, such as rclone and those of ownCloud: seconds.
const X_OC_MTIME: HeaderName = HeaderName::from_static("x-oc-mtime");

/// The last second of the year 9999.
const LATEST: i64 = 253_402_300_799;

/// Returns `true` if a time, in seconds since 1970, is one that files get.
pub(in crate::http) fn is_kept(time: i64) -> bool {
    (1..=LATEST).contains(&time)
}

/// The time in seconds since 1970 of a text that has seconds.
pub(in crate::http) fn of_seconds(text: &str) -> Option<i64> {
    let whole = text.trim().split('.').next()?;
    whole.parse().ok().filter(|time| is_kept(*time))
}

/// The same of a text that has milliseconds, as browsers know them.
pub(in crate::http) fn of_milliseconds(text: &str) -> Option<i64> {
    let milliseconds: i64 = text.trim().split('.').next()?.parse().ok()?;
    Some(milliseconds / 1000).filter(|time| is_kept(*time))
}

/// The same by the name of a field of a form, or of metadata; `None` for other fields.
pub(in crate::http) fn of_field(name: &str, text: &str) -> Option<i64> {
    match name {
        "mtime" => of_seconds(text),
        "lastModified" => of_milliseconds(text),
        _ => None,
    }
}

/// The time that the headers of a request have.
pub(in crate::http) fn of_headers(headers: &HeaderMap) -> Option<i64> {
    of_seconds(header::text(headers, &X_OC_MTIME)?)
}

/// Says that the time is kept.
pub(in crate::http) fn acknowledge(headers: &mut HeaderMap) {
    headers.insert(X_OC_MTIME, HeaderValue::from_static("accepted"));
}

#[cfg(test)]
mod tests {
    use super::{of_field, of_seconds};

    #[test]
    fn times_as_clients_send_them() {
        for (text, expected) in [
            ("1500000000", Some(1_500_000_000)),
            ("1500000000.75", Some(1_500_000_000)),
            (" 1500000000 ", Some(1_500_000_000)),
            ("0", None),
            ("-5", None),
            ("999999999999999", None),
            ("yesterday", None),
        ] {
            assert_eq!(of_seconds(text), expected, "{text}");
        }
        assert_eq!(
            of_field("lastModified", "1500000000123"),
            Some(1_500_000_000)
        );
        assert_eq!(of_field("mtime", "1500000000"), Some(1_500_000_000));
        assert_eq!(of_field("other", "1500000000"), None);
    }
}
