//! Conditions of a request on the state of a file: RFC 9110, part 13.

use std::time::{Duration, SystemTime};

use axum::http::header::{
    HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
};
use axum::http::{HeaderMap, HeaderValue};
use fileshed_core::disk::Stamp;
use fileshed_core::{Code, Diagnostic, Hint};

/// What the conditions come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Go on.
    Proceed,
    /// The client has it already; only for reading.
    Known,
    /// No.
    Failed,
}

/// A state as conditions name it.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// With its quotes.
    tag: String,
    modified: SystemTime,
}

impl State {
    pub(super) fn of(stamp: &Stamp) -> Self {
        let seconds = u64::try_from(stamp.modified().as_second()).unwrap_or_default();
        Self {
            tag: format!("\"{}\"", stamp.tag()),
            modified: SystemTime::UNIX_EPOCH + Duration::from_secs(seconds),
        }
    }

    /// The header `ETag`.
    pub(super) fn tag(&self) -> HeaderValue {
        HeaderValue::from_str(&self.tag).unwrap_or_else(|_| HeaderValue::from_static("\"\""))
    }

    /// The header `Last-Modified`.
    pub(super) fn modified(&self) -> HeaderValue {
        HeaderValue::from_str(&httpdate::fmt_http_date(self.modified))
            .unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// Whether a range of it continues what the client has.
    pub(super) fn continues(&self, headers: &HeaderMap) -> bool {
        let Some(value) = headers.get(IF_RANGE) else {
            return true;
        };
        let text = value.to_str().unwrap_or_default().trim();
        if text.starts_with('"') {
            text == self.tag
        } else {
            // Weak tags never continue anything; a date must be exactly this one.
            httpdate::parse_http_date(text).is_ok_and(|date| date == self.modified)
        }
    }
}

/// Judges the conditions of a request; `state` is nothing where there is no file.
pub(super) fn judge(headers: &HeaderMap, state: Option<&State>, reading: bool) -> Verdict {
    if headers.contains_key(IF_MATCH) {
        if !lists(headers, &IF_MATCH, state, false) {
            return Verdict::Failed;
        }
    } else if let (Some(date), Some(state)) = (date(headers, &IF_UNMODIFIED_SINCE), state)
        && state.modified > date
    {
        return Verdict::Failed;
    }
    if headers.contains_key(IF_NONE_MATCH) {
        if lists(headers, &IF_NONE_MATCH, state, true) {
            return if reading {
                Verdict::Known
            } else {
                Verdict::Failed
            };
        }
    } else if let (true, Some(date), Some(state)) =
        (reading, date(headers, &IF_MODIFIED_SINCE), state)
        && state.modified <= date
    {
        return Verdict::Known;
    }
    Verdict::Proceed
}

/// Whether a list of tags has the one of `state`; `*` has every state that there is.
fn lists(headers: &HeaderMap, name: &HeaderName, state: Option<&State>, weak: bool) -> bool {
    let Some(state) = state else { return false };
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .map(|tag| match tag.strip_prefix("W/") {
            Some(strong) if weak => strong,
            _ => tag,
        })
        .any(|tag| tag == "*" || tag == state.tag)
}

/// A date that is one; others do not count.
fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let text = headers.get(name)?.to_str().ok()?;
    httpdate::parse_http_date(text.trim()).ok()
}

/// The file is not as the request wants it.
#[derive(Debug, thiserror::Error)]
#[error(
    "the file is not in the state that `if-match`, `if-none-match` or `if-unmodified-since` asks for"
)]
pub(super) struct ConditionError;

impl Diagnostic for ConditionError {
    fn code(&self) -> Code {
        Code::PreconditionFailed
    }

    fn hint(&self) -> Hint {
        "fetch the file again with GET, and send its new ETag in If-Match".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Sunday, 06-Nov-94 08:49:38 GMT";
    const EARLIER: &str = "Sun Nov  6 08:49:36 1994";

    fn headers(list: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs = list.iter().cloned();
        pairs
            .map(|(name, value)| (name, HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn conditions_in_the_order_of_the_standard() {
        let state = State {
            tag: "\"a\"".to_owned(),
            modified: httpdate::parse_http_date(DATE).expect("a date"),
        };
        let (there, nothing) = (Some(&state), None);
        for (list, state, reading, verdict) in [
            (&[][..], there, true, Verdict::Proceed),
            (&[(IF_MATCH, "\"a\"")], there, false, Verdict::Proceed),
            (
                &[(IF_MATCH, "\"b\", \"a\"")],
                there,
                false,
                Verdict::Proceed,
            ),
            (&[(IF_MATCH, "W/\"a\"")], there, false, Verdict::Failed),
            (&[(IF_MATCH, "\"b\"")], there, true, Verdict::Failed),
            (&[(IF_MATCH, "*")], there, false, Verdict::Proceed),
            (&[(IF_MATCH, "*")], nothing, false, Verdict::Failed),
            (&[(IF_NONE_MATCH, "*")], nothing, false, Verdict::Proceed),
            (&[(IF_NONE_MATCH, "*")], there, false, Verdict::Failed),
            (&[(IF_NONE_MATCH, "W/\"a\"")], there, true, Verdict::Known),
            (&[(IF_NONE_MATCH, "\"a\"")], there, false, Verdict::Failed),
            (&[(IF_NONE_MATCH, "\"b\"")], there, true, Verdict::Proceed),
            (&[(IF_MODIFIED_SINCE, DATE)], there, true, Verdict::Known),
            (&[(IF_MODIFIED_SINCE, LATER)], there, true, Verdict::Known),
            (
                &[(IF_MODIFIED_SINCE, EARLIER)],
                there,
                true,
                Verdict::Proceed,
            ),
            (
                &[(IF_MODIFIED_SINCE, "soon")],
                there,
                true,
                Verdict::Proceed,
            ),
            (&[(IF_MODIFIED_SINCE, DATE)], there, false, Verdict::Proceed),
            (
                &[(IF_UNMODIFIED_SINCE, DATE)],
                there,
                false,
                Verdict::Proceed,
            ),
            (
                &[(IF_UNMODIFIED_SINCE, EARLIER)],
                there,
                true,
                Verdict::Failed,
            ),
            // The tag decides, not the date beside it.
            (
                &[(IF_NONE_MATCH, "\"b\""), (IF_MODIFIED_SINCE, DATE)],
                there,
                true,
                Verdict::Proceed,
            ),
            (
                &[(IF_MATCH, "\"a\""), (IF_UNMODIFIED_SINCE, EARLIER)],
                there,
                true,
                Verdict::Proceed,
            ),
        ] {
            assert_eq!(judge(&headers(list), state, reading), verdict, "{list:?}");
        }
        for (value, continues) in [
            ("\"a\"", true),
            ("W/\"a\"", false),
            ("\"b\"", false),
            (DATE, true),
            (LATER, false),
            (EARLIER, false),
        ] {
            let list = headers(&[(IF_RANGE, value)]);
            assert_eq!(state.continues(&list), continues, "{value}");
        }
    }
}
