//! Patterns that are not searched for.

use fileshed_types::diagnostics;

diagnostics! {
    /// A pattern that cannot be used.
    #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum SearchError {
        /// The engine does not take it.
        #[error("`{parameter}` is not a valid pattern: {reason}; got `{pattern}`")]
        Pattern {
            /// The parameter.
            parameter: &'static str = "query",
            /// The reason.
            reason: String = "unclosed group".to_owned(),
            /// Its beginning.
            pattern: String = "(a".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "correct it, or search for the text as it is with regex=false; look-around and \
                backreferences are not supported",
            details: { "parameter": parameter, "received": pattern, "reason": reason },
        },
        /// It would take too much space or time.
        #[error("`{parameter}` is too large a pattern: {reason}")]
        TooLarge {
            /// The parameter.
            parameter: &'static str = "query",
            /// The limit that it exceeds.
            reason: &'static str = "it has more than 4096 bytes",
        } => {
            code: InvalidParameter,
            hint: "make it shorter, with smaller counts in braces",
            details: { "parameter": parameter, "reason": reason },
        },
        /// A line has no end within it.
        #[error("`{parameter}` has a line end, but lines are searched one by one")]
        LineEnd {
            /// The parameter.
            parameter: &'static str = "query",
        } => {
            code: InvalidParameter,
            hint: "search for a part of it that is on one line",
            details: { "parameter": parameter },
        },
        /// Not a pattern of names.
        #[error("`{parameter}` is not a valid name pattern: {reason}; got `{pattern}`")]
        Glob {
            /// The parameter.
            parameter: &'static str = "pattern",
            /// The reason.
            reason: String = "unclosed alternate group".to_owned(),
            /// The pattern received.
            pattern: String = "*.{md".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "write it as in a shell: *.md, src/**/*.{js,ts}, report-[0-9]?.pdf",
            details: { "parameter": parameter, "received": pattern, "reason": reason },
        },
    }
}

impl SearchError {
    /// Returns why the pattern cannot be used, as a fragment.
    pub fn reason(self) -> String {
        match self {
            Self::Pattern { reason, .. } | Self::Glob { reason, .. } => reason,
            Self::TooLarge { reason, .. } => reason.to_owned(),
            Self::LineEnd { .. } => {
                "it has a line end, but lines are searched one by one".to_owned()
            }
        }
    }
}
