//! A part of a file: RFC 9110, part 14. One range; who asks for several gets the whole.
//!
//! Not the type of `headers`: it takes no unit in capitals, refuses the last thirty bytes of ten,
//! and takes `+1` for a number.

use axum::http::HeaderMap;
use axum::http::header::RANGE;
use fileshed_core::diagnostics;

use crate::http::header;

/// What of a file to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteRange {
    /// All of it.
    Whole,
    /// From the first byte to the last, both included.
    Part(u64, u64),
    /// Nothing that it has.
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
    #[error("the file has {size} bytes, and none of those that `range` asks for")]
    pub(super) struct RangeError {
        pub(super) size: u64,
    } => {
        code: RangeNotSatisfiable,
        hint: "leave the header `range` out, or ask for bytes that are there",
        details: { "size_bytes": size },
    }
}

#[cfg(test)]
mod tests {
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
