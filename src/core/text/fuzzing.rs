//! Entry point for fuzz targets: patterns, from the dialect to the matches of the engine.

use std::ops::Range;

use crate::TextError;
use crate::pattern::{CompiledPattern, SearchedText};

/// Returns the places where a pattern occurs in a text, and its number of groups.
pub fn search(
    pattern: &str,
    flags: &str,
    crlf: bool,
    text: &[u8],
) -> Result<(Vec<Range<usize>>, usize), TextError> {
    let pattern = CompiledPattern::compile(pattern, flags, crlf)?;
    let meter = pattern.meter(text)?;
    let subject = SearchedText::new(text);
    let mut matches = pattern.matches(&subject, &meter);
    let mut found = Vec::new();
    while let Some(one) = matches.next()? {
        found.push(one.whole);
    }
    Ok((found, pattern.groups()))
}
