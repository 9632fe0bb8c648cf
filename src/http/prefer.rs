//! What a client prefers of answers: `Prefer: return=minimal` (RFC 7240).
//!
//! Proxies may drop the header, since it is no part of what they know of a request; the same text
//! is taken from a header of our own.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use fileshed_core::Answers;

pub(super) const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The header for those whose proxy drops `Prefer`.
pub(super) const X_FILESHED_PREFER: HeaderName = HeaderName::from_static("x-fileshed-prefer");
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The form of the answer that the headers ask for. Of several the first counts (part 2), and what
/// is not known is ignored.
pub(super) fn answers(headers: &HeaderMap) -> Answers {
    let wanted = [PREFER, X_FILESHED_PREFER]
        .iter()
        .flat_map(|name| headers.get_all(name))
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .find_map(returned);
    wanted.unwrap_or_default()
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
            (PREFER, "return=minimal", Answers::Minimal),
            (
                PREFER,
                "wait=10, Return = \"minimal\"; x=1",
                Answers::Minimal,
            ),
            (
                PREFER,
                "return=representation, return=minimal",
                Answers::Full,
            ),
            (PREFER, "return=everything", Answers::Full),
            (PREFER, "respond-async", Answers::Full),
            (X_FILESHED_PREFER, "return=minimal", Answers::Minimal),
        ] {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            assert_eq!(answers(&headers), meant, "{value}");
        }
        assert_eq!(answers(&HeaderMap::new()), Answers::Full);
    }
}
