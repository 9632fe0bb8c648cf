//! Paths as text: normal form, what is kept for the server, the zone's own name.

use unicode_normalization::UnicodeNormalization;

use fileshed_types::zone::{is_git_name, is_reserved};

/// Why a text is no path inside the zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathFault {
    Absolute,
    Climbs,
}

/// The path without `.`, `..` and doubled slashes, in NFC; the zone itself is `.`.
pub(super) fn normalise(text: &str) -> Result<String, PathFault> {
    if text.starts_with('/') {
        return Err(PathFault::Absolute);
    }
    let mut segments = Vec::new();
    for segment in text.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop().ok_or(PathFault::Climbs)?;
            }
            other => segments.push(other),
        }
    }
    if segments.is_empty() {
        return Ok(".".to_owned());
    }
    Ok(segments.join("/").nfc().collect())
}

/// A segment that belongs to the server in every zone.
pub(super) fn reserved(text: &str) -> bool {
    text.split('/').any(is_reserved)
}

/// A segment that names the repository, in the spellings that other systems take for it.
pub(super) fn repository(text: &str) -> bool {
    text.split('/').any(is_git_name)
}

/// The path without the zone's own name in front, when it has it there.
pub(super) fn without_zone<'a>(normal: &'a str, zone: &str) -> Option<&'a str> {
    let (first, rest) = normal.split_once('/').unwrap_or((normal, "."));
    first.eq_ignore_ascii_case(zone).then_some(rest)
}

/// Whether a shell would expand it.
pub(super) fn glob(text: &str) -> bool {
    text.contains(['*', '?'])
}
