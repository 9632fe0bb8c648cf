//! `glob_search`: files by their names.

use std::ops::ControlFlow;

use fileshed_search::{Exclusions, Globs};
use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::Files;
use crate::error::ToolError;
use crate::path;

/// The longest pattern, in bytes.
const LENGTH: usize = 1024;

/// Names to look for.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct GlobSearch {
    /// Like **/*.md or src/*.{js,ts}
    pub pattern: String,
    /// Directory
    #[serde(alias = "cwd")]
    pub path: Option<String>,
    /// Names to leave out
    pub exclude: Option<Vec<String>>,
    /// Skip files .gitignore names
    pub gitignore: Option<bool>,
}

/// Response of `glob_search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GlobAnswer {
    /// `ok`
    pub status: &'static str,
    /// The pattern received.
    pub pattern: String,
    /// Paths in the workspace.
    pub matches: Vec<String>,
    /// `true` if there may be more.
    pub truncated: bool,
    /// Directories that were not searched to their end.
    pub truncated_branches: Vec<String>,
}

impl Files<'_> {
    /// Finds files and directories whose path below `path` fits a pattern.
    pub fn glob_search(&self, request: &GlobSearch) -> Result<GlobAnswer, Error> {
        let given = request.path.as_deref().unwrap_or("");
        let start = path::parse(given)?;
        let pattern = request
            .pattern
            .trim_start_matches("./")
            .trim_start_matches('/');
        if pattern.split(['/', '\\']).any(|segment| segment == "..") {
            let path = request.pattern.clone();
            return Err(ToolError::Escapes { path }.into());
        }
        let names = NamePattern::new("pattern", pattern, false)?;
        let exclude = excluded(request.exclude.as_deref(), request.gitignore)?;
        let mut matches = Vec::new();
        let unseen = self.walk(given, &start, &exclude, |entry| {
            let path = entry.path.below(&start);
            let name = path.rsplit('/').next().unwrap_or_default();
            if names.fit(name, path) {
                if matches.len() >= self.limits.results {
                    return Ok(ControlFlow::Break(()));
                }
                matches.push(entry.path.as_str().to_owned());
            }
            Ok(ControlFlow::Continue(()))
        })?;
        matches.sort_unstable();
        Ok(GlobAnswer {
            status: "ok",
            pattern: request.pattern.clone(),
            matches,
            truncated: unseen.any,
            truncated_branches: unseen.branches,
        })
    }
}

/// The entries that `exclude` and `gitignore` leave out.
pub(super) fn excluded(
    exclude: Option<&[String]>,
    gitignore: Option<bool>,
) -> Result<Exclusions, ToolError> {
    Exclusions::new(exclude, gitignore).map_err(|error| ToolError::Glob {
        parameter: "exclude",
        reason: error.reason(),
    })
}

/// A pattern of names, where `*` stays within a name and `**` does not.
pub(super) struct NamePattern {
    globs: Globs,
    /// Below the directory, too, and not only in it.
    at_any_depth: bool,
}

impl NamePattern {
    /// The value of `parameter`. One without a slash stands for names `at_any_depth` or in the
    /// directory itself.
    pub(super) fn new(
        parameter: &'static str,
        pattern: &str,
        at_any_depth: bool,
    ) -> Result<Self, ToolError> {
        let rejected = |reason: String| ToolError::Glob { parameter, reason };
        if pattern.is_empty() || pattern.len() > LENGTH {
            return Err(rejected("it must have 1 to 1024 bytes".to_owned()));
        }
        let globs = Globs::new(parameter, [pattern]);
        let is_path = pattern.trim_end_matches('/').contains('/');
        Ok(Self {
            globs: globs.map_err(|error| rejected(error.reason()))?,
            at_any_depth: at_any_depth || pattern == "**" || is_path,
        })
    }

    /// `true` if the pattern fits an entry with this path below the directory.
    pub(super) fn fit(&self, name: &str, path: &str) -> bool {
        (self.at_any_depth || !path.contains('/')) && self.globs.fit(name, || path.to_owned())
    }
}
