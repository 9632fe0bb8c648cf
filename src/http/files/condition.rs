//! Conditions of a request on the state of a file, and the part of it that is asked for: RFC 9110, parts 13
//! and 14. One range; a request for several gets the whole file.
//!
//! Ranges are not the type of `headers`: it takes no unit in capitals, refuses the last thirty bytes of
//! ten, and takes `+1` for a number.

use std::time::SystemTime;

use axum::http::HeaderMap;
use axum::http::header::{IF_MATCH, IF_NONE_MATCH, RANGE};
use fileshed_core::storage::{Entry, Stamp};
use fileshed_core::{Error, diagnostics, timings};
use headers::{
    ETag, HeaderMapExt as _, IfMatch, IfModifiedSince, IfNoneMatch, IfRange, IfUnmodifiedSince,
    LastModified,
};

use crate::http::header;

/// Why a request is not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnmetPrecondition {
    /// The client has it already; only for reading.
    NotModified,
    /// The state is another than the client wants.
    Failed,
}

/// A state of a file as conditions name it.
#[derive(Clone, Debug)]
pub(super) struct Validators {
    tag: Option<ETag>,
    modified: SystemTime,
}

impl Validators {
    pub(super) fn of(stamp: &Stamp) -> Self {
        let seconds = u64::try_from(stamp.modified().as_second()).unwrap_or_default();
        Self {
            tag: format!("\"{}\"", stamp.tag()).parse().ok(),
            modified: SystemTime::UNIX_EPOCH + timings::seconds(seconds),
        }
    }

    /// Writes the header `ETag`.
    pub(super) fn insert_tag(&self, headers: &mut HeaderMap) {
        if let Some(tag) = &self.tag {
            headers.typed_insert(tag.clone());
        }
    }

    /// Writes the headers `ETag` and `Last-Modified`.
    pub(super) fn insert(&self, headers: &mut HeaderMap) {
        self.insert_tag(headers);
        headers.typed_insert(LastModified::from(self.modified));
    }

    /// Returns `true` if a range of it continues the bytes that the client has.
    pub(super) fn continues(&self, headers: &HeaderMap) -> bool {
        match headers.typed_try_get::<IfRange>() {
            Ok(None) => true,
            // A date must be exactly this one, not only as late.
            Ok(Some(condition)) => {
                condition == IfRange::date(self.modified)
                    || !condition.is_modified(self.tag.as_ref(), None)
            }
            Err(_) => false,
        }
    }
}

/// Evaluates the conditions of a request in the order of the standard; `state` is `None` if there is no file.
/// An invalid date is ignored.
pub(super) fn evaluate(
    headers: &HeaderMap,
    state: Option<&Validators>,
    reading: bool,
) -> Result<(), UnmetPrecondition> {
    let tag = state.and_then(|state| state.tag.as_ref());
    let is_expected = if headers.contains_key(IF_MATCH) {
        let condition = headers.typed_get::<IfMatch>().zip(tag);
        condition.is_some_and(|(condition, tag)| condition.precondition_passes(tag))
    } else {
        let condition = headers.typed_get::<IfUnmodifiedSince>().zip(state);
        condition.is_none_or(|(condition, state)| condition.precondition_passes(state.modified))
    };
    if !is_expected {
        return Err(UnmetPrecondition::Failed);
    }
    let is_news = if headers.contains_key(IF_NONE_MATCH) {
        let condition = headers.typed_get::<IfNoneMatch>().zip(tag);
        condition.is_none_or(|(condition, tag)| condition.precondition_passes(tag))
    } else {
        let condition = headers.typed_get::<IfModifiedSince>().zip(state);
        let is_modified = |(condition, state): (IfModifiedSince, &Validators)| {
            condition.is_modified(state.modified)
        };
        !reading || condition.is_none_or(is_modified)
    };
    match (is_news, reading) {
        (true, _) => Ok(()),
        (false, true) => Err(UnmetPrecondition::NotModified),
        (false, false) => Err(UnmetPrecondition::Failed),
    }
}

/// Fails where a request that writes wants another state than that of the entry that is there.
pub(in crate::http) fn expect_state(
    headers: &HeaderMap,
    entry: Option<&Entry>,
) -> Result<(), Error> {
    let state = entry.map(|entry| Validators::of(&entry.stamp()));
    evaluate(headers, state.as_ref(), false).map_err(|_| ConditionError.into())
}

diagnostics! {
    /// The file is not as the request wants it.
    #[derive(Debug, thiserror::Error)]
    #[error(
        "the file is not in the state that `if-match`, `if-none-match` or `if-unmodified-since` asks for"
    )]
    pub(in crate::http) struct ConditionError => {
        code: PreconditionFailed,
        hint: "fetch the file again with GET, and send its new ETag in If-Match",
    }
}

/// The part of a file to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteRange {
    /// All of it.
    Whole,
    /// From the first byte to the last, both included.
    Part(u64, u64),
    /// A part that the file does not have.
    Nothing,
}

/// Reads the header; one that cannot be read does not count.
pub(super) fn asked(headers: &HeaderMap, size: u64) -> ByteRange {
    let text = header::text(headers, &RANGE);
    text.and_then(|text| read(text, size))
        .unwrap_or(ByteRange::Whole)
}

fn read(text: &str, size: u64) -> Option<ByteRange> {
    let (unit, range) = text.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    if first.is_empty() {
        let length = number(last)?;
        return Some(match size.checked_sub(length.min(size)) {
            Some(start) if length > 0 && size > 0 => ByteRange::Part(start, size - 1),
            _ => ByteRange::Nothing,
        });
    }
    let first = number(first)?;
    let last = if last.is_empty() {
        u64::MAX
    } else {
        number(last)?
    };
    if last < first {
        return None;
    }
    Some(if first < size {
        ByteRange::Part(first, last.min(size - 1))
    } else {
        ByteRange::Nothing
    })
}

/// Digits only; more than fit are more than any file has.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u64::MAX))
}

diagnostics! {
    /// Bytes that the file does not have.
    #[derive(Debug, thiserror::Error)]
    #[error("the file has {size} bytes, so the header `range` selects none")]
    pub(super) struct RangeError {
        pub(super) size: u64,
    } => {
        code: RangeNotSatisfiable,
        hint: "leave the header `range` out, or request bytes that exist",
        details: { "size_bytes": size },
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header::{IF_MODIFIED_SINCE, IF_RANGE, IF_UNMODIFIED_SINCE};
    use axum::http::{HeaderName, HeaderValue};

    use super::UnmetPrecondition::{Failed, NotModified};
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
        let state = Validators {
            tag: "\"a\"".parse().ok(),
            modified: SystemTime::UNIX_EPOCH + timings::seconds(784_111_777),
        };
        let (there, nothing) = (Some(&state), None);
        for (list, state, reading, verdict) in [
            (&[][..], there, true, Ok(())),
            (&[(IF_MATCH, "\"a\"")], there, false, Ok(())),
            (&[(IF_MATCH, "\"b\", \"a\"")], there, false, Ok(())),
            (&[(IF_MATCH, "W/\"a\"")], there, false, Err(Failed)),
            (&[(IF_MATCH, "\"b\"")], there, true, Err(Failed)),
            (&[(IF_MATCH, "*")], there, false, Ok(())),
            (&[(IF_MATCH, "*")], nothing, false, Err(Failed)),
            (&[(IF_NONE_MATCH, "*")], nothing, false, Ok(())),
            (&[(IF_NONE_MATCH, "*")], there, false, Err(Failed)),
            (&[(IF_NONE_MATCH, "W/\"a\"")], there, true, Err(NotModified)),
            (&[(IF_NONE_MATCH, "\"a\"")], there, false, Err(Failed)),
            (&[(IF_NONE_MATCH, "\"b\"")], there, true, Ok(())),
            (&[(IF_MODIFIED_SINCE, DATE)], there, true, Err(NotModified)),
            (&[(IF_MODIFIED_SINCE, LATER)], there, true, Err(NotModified)),
            (&[(IF_MODIFIED_SINCE, EARLIER)], there, true, Ok(())),
            (&[(IF_MODIFIED_SINCE, "soon")], there, true, Ok(())),
            (&[(IF_MODIFIED_SINCE, DATE)], there, false, Ok(())),
            (&[(IF_UNMODIFIED_SINCE, DATE)], there, false, Ok(())),
            (&[(IF_UNMODIFIED_SINCE, EARLIER)], there, true, Err(Failed)),
            // The tag decides, not the date beside it.
            (
                &[(IF_NONE_MATCH, "\"b\""), (IF_MODIFIED_SINCE, DATE)],
                there,
                true,
                Ok(()),
            ),
            (
                &[(IF_MATCH, "\"a\""), (IF_UNMODIFIED_SINCE, EARLIER)],
                there,
                true,
                Ok(()),
            ),
        ] {
            assert_eq!(
                evaluate(&headers(list), state, reading),
                verdict,
                "{list:?}"
            );
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

#[cfg(test)]
mod range_tests {
    use super::*;

    #[test]
    fn ranges_of_ten_bytes() {
        for (text, meant) in [
            ("bytes=0-3", Some(ByteRange::Part(0, 3))),
            ("Bytes=4-", Some(ByteRange::Part(4, 9))),
            ("bytes=4-99", Some(ByteRange::Part(4, 9))),
            ("bytes=-3", Some(ByteRange::Part(7, 9))),
            ("bytes=-30", Some(ByteRange::Part(0, 9))),
            ("bytes=-0", Some(ByteRange::Nothing)),
            ("bytes=10-", Some(ByteRange::Nothing)),
            ("bytes=99999999999999999999-", Some(ByteRange::Nothing)),
            ("bytes=3-2", None),
            ("bytes=0-1,4-5", None),
            ("bytes=+1-2", None),
            ("bytes=a-b", None),
            ("bytes=-", None),
            ("bytes", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(read(text, 10), meant, "{text}");
        }
        assert_eq!(read("bytes=0-", 0), Some(ByteRange::Nothing));
        assert_eq!(read("bytes=-5", 0), Some(ByteRange::Nothing));
    }
}
