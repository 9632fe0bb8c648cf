//! Headers of requests that all surfaces read: once, and what a client prefers of answers, which is
//! `Prefer: return=minimal` (RFC 7240).
//!
//! Proxies may drop that header, since it is no part of what they know of a request; the same text
//! is taken from a header of our own.

use axum::http::header::{CONTENT_LENGTH, HOST};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri};
use axum::response::Response;
use fileshed_core::Answers;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// Characters of an address that always mean themselves (RFC 3986, section 2.3); all others are encoded.
pub(super) const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A header that was sent several times, and may be sent once.
#[derive(Debug)]
pub(super) struct Repeated;

/// Returns the value of a header that may be sent once.
pub(super) fn once<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(Repeated),
    }
}

/// Returns the text of a header; `None` if it is not sent exactly once, or is no text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    once(headers, name).ok()??.to_str().ok()
}

/// Returns the header `Content-Length`.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    text(headers, &CONTENT_LENGTH)?.parse().ok()
}

/// Returns the host and port that a request is for, as the client says.
pub(super) fn host<'a>(headers: &'a HeaderMap, target: &'a Uri) -> Option<&'a str> {
    let target = || Some(target.authority()?.as_str());
    text(headers, &HOST).or_else(target)
}

pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The header for those whose proxy drops `Prefer`.
pub(super) const X_FILESHED_PREFER: HeaderName = HeaderName::from_static("x-fileshed-prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The form of the answer that the headers ask for; `None` if they ask for none. Of several the first
/// counts (part 2), and what is not known is ignored.
pub(super) fn answers(headers: &HeaderMap) -> Option<Answers> {
    [PREFER, X_FILESHED_PREFER]
        .iter()
        .flat_map(|name| headers.get_all(name))
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .find_map(returned)
}

/// `return=minimal`, in any case, with or without quotes and parameters.
fn returned(preference: &str) -> Option<Answers> {
    let preference = preference.split(';').next()?;
    let (name, value) = preference.split_once('=')?;
    if !name.trim().eq_ignore_ascii_case("return") {
        return None;
    }
    match value.trim().trim_matches('"') {
        "minimal" => Some(Answers::Minimal),
        "representation" => Some(Answers::Full),
        _ => None,
    }
}

/// Says which preference was met.
pub(super) fn applied(response: &mut Response, answers: Answers) {
    if answers == Answers::Minimal {
        let value = HeaderValue::from_static("return=minimal");
        response.headers_mut().insert(PREFERENCE_APPLIED, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_preference_counts() {
        for (name, value, meant) in [
            (PREFER, "return=minimal", Some(Answers::Minimal)),
            (
                PREFER,
                "wait=10, Return = \"minimal\"; x=1",
                Some(Answers::Minimal),
            ),
            (
                PREFER,
                "return=representation, return=minimal",
                Some(Answers::Full),
            ),
            (PREFER, "return=everything", None),
            (PREFER, "respond-async", None),
            (X_FILESHED_PREFER, "return=minimal", Some(Answers::Minimal)),
        ] {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            assert_eq!(answers(&headers), meant, "{value}");
        }
        assert_eq!(answers(&HeaderMap::new()), None);
    }
}
