//! Searches over whole trees of files: lines ([`grep()`]), names by patterns ([`glob()`]), names by
//! what somebody begins to type ([`ranked_names()`]), names and contents together ([`matches()`]).
//!
//! All of them share one walk over handles, which several threads make together, and never follow
//! a link. What is found is bounded, and so is the time; what a search answers does not depend on
//! the number of threads or on which of them was first. Patterns are searched in linear time. Files
//! are read through the handles of [`fileshed_storage`] and never mapped into memory: a mapping of
//! a file that a command cuts short would end the server.

mod best;
mod bounds;
mod content;
mod error;
mod found;
mod glob;
mod globs;
mod grep;
mod matches;
mod pattern;
mod queue;
mod ranked_names;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

pub use bounds::Bounds;
pub use error::SearchError;
pub use found::Found;
pub use glob::{Glob, NamedEntry, glob};
pub use globs::Globs;
pub use grep::{Grep, MatchingLine, grep};
pub use matches::{ContentMatch, Match, MatchPage, Matches, matches};
pub use pattern::Pattern;
pub use ranked_names::{RankedEntry, RankedNames, ranked_names};
pub use tree::{Tree, Wanted};

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/search.md");
