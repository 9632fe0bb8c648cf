//! Patterns of names, as a shell has them.

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::SearchError;
use crate::error::beginning;

/// The longest pattern, in bytes.
const LENGTH: usize = 1024;

/// The most patterns.
const COUNT: usize = 100;

/// Patterns of which one must fit: `*`, `?`, `[…]`, `{a,b}`, and `**/` for any directories. One
/// without a slash is held against names, at any depth; one with a slash against paths, where `*`
/// stays within a name.
#[derive(Clone, Debug)]
pub struct Globs {
    names: GlobSet,
    paths: GlobSet,
}

impl Globs {
    /// The values of `parameter`.
    pub fn new<'t>(
        parameter: &'static str,
        patterns: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, SearchError> {
        let (mut names, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for (count, pattern) in patterns.into_iter().enumerate() {
            if pattern.len() > LENGTH || count >= COUNT {
                let reason = "more than 100 patterns, or one of more than 1024 bytes";
                return Err(SearchError::TooLarge { parameter, reason });
            }
            let plain = pattern.trim_start_matches("./").trim_end_matches('/');
            let glob = GlobBuilder::new(plain)
                .literal_separator(true)
                .allow_unclosed_class(true)
                .build()
                .map_err(|error| SearchError::Glob {
                    parameter,
                    reason: error.kind().to_string(),
                    pattern: beginning(pattern),
                })?;
            if plain.contains('/') {
                paths.add(glob);
            } else {
                names.add(glob);
            }
        }
        let built = |set: &GlobSetBuilder| {
            set.build().map_err(|error| SearchError::Glob {
                parameter,
                reason: error.kind().to_string(),
                pattern: error.glob().map(beginning).unwrap_or_default(),
            })
        };
        Ok(Self {
            names: built(&names)?,
            paths: built(&paths)?,
        })
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    /// Whether one fits an entry: its name, or its path, which is asked for only where that matters.
    pub(crate) fn fit(&self, name: &str, path: impl FnOnce() -> String) -> bool {
        self.names
            .is_match_candidate(&Candidate::from_bytes(name.as_bytes()))
            || (!self.paths.is_empty() && self.paths.is_match(path()))
    }
}
