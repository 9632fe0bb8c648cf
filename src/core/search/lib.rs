//! Searches over whole trees of files: lines ([`grep()`]), names by patterns ([`glob()`]), names by their
//! first typed characters ([`ranked_names()`]), names and contents together ([`matches()`]).
//!
//! All of them share one walk over handles, which several threads make together, and never follow a link. The
//! number of results is bounded, and so is the time; the results do not depend on the number of threads or on
//! their order. Patterns are searched in linear time. Files are read through the handles of
//! [`fileshed_storage`] and never mapped into memory: if a command cut a mapped file short, the server would
//! be ended. The text of documents comes from [`Documents`], since no parser of one runs here.

mod bounds;
mod documents;
mod error;
mod exclusions;
mod grep;
mod matches;
mod names;
mod pattern;
mod queue;
#[cfg(test)]
mod tests;
mod walk;

pub use bounds::Bounds;
pub use documents::{Documents, sections};
pub use error::SearchError;
pub use exclusions::{Exclusions, GITIGNORE, GITIGNORE_BYTES, IgnoreRules};
pub use grep::{ContentMatch, Grep, MatchingLine, grep};
pub use matches::{Match, MatchPage, Matches, matches};
pub use names::{Glob, NamedEntry, RankedNames, glob, ranked_names};
pub use pattern::{Globs, Pattern};
pub use queue::SearchResults;
pub use walk::{SearchRoot, Wanted};

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/search.md");
