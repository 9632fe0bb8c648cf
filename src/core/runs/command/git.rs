//! Environment and repository checks of the command `git`.
//!
//! In documents and groups the repository lies beside the files and is named by the environment;
//! in storage git looks for one below the zone's root and never above it.

mod config;
mod repository;

use std::path::PathBuf;

use super::places::Places;
use crate::process::{Variables, variables};
use fileshed_rules::CommandPlan;
use fileshed_types::Error;
use fileshed_zones::zone::Zone;

/// Subcommands that read only commits: no index needs to be fresh for them.
const HISTORY_ONLY: &str = "log show blame shortlog reflog describe rev-parse rev-list cat-file ls-tree \
    branch tag";

/// Name of the command.
pub(super) const COMMAND: &str = "git";

/// Returns `true` if git works on the repository that the server keeps: git and the server must not write it
/// at the same time.
pub(super) fn shares_repository(zone: &Zone<'_>, plan: &CommandPlan) -> bool {
    plan.command == COMMAND && zone.name.is_versioned()
}

/// Prepares the zone for git: returns its variables, and the repository beside the zone, if it is used.
pub(super) fn prepare(
    zone: &Zone<'_>,
    arguments: &[String],
    places: &Places,
) -> Result<(Variables, Option<PathBuf>), Error> {
    let author = zone.author();
    let mut environment = variables([
        ("GIT_AUTHOR_NAME", author.name.as_str()),
        ("GIT_AUTHOR_EMAIL", author.email.as_str()),
        ("GIT_COMMITTER_NAME", author.name.as_str()),
        ("GIT_COMMITTER_EMAIL", author.email.as_str()),
    ]);
    let mut repository = None;
    let place = |path: &std::path::Path| path.to_string_lossy().into_owned();
    if zone.name.is_versioned() {
        let is_history_only = |name: &str| arguments.iter().any(|argument| argument == name);
        let history_only = HISTORY_ONLY.split_whitespace().any(is_history_only);
        if !history_only {
            repository::check_below(zone)?;
        }
        let git_dir = zone.history(|history| {
            if !history_only {
                history.refresh_index()?;
            }
            Ok(history.git_dir().to_owned())
        })?;
        environment.push(("GIT_DIR".to_owned(), place(&places.repository(&git_dir))));
        repository = Some(git_dir);
        environment.push(("GIT_WORK_TREE".to_owned(), place(&places.zone)));
    } else if let Some(above) = places.zone.parent() {
        repository::check_from(zone, folder(arguments))?;
        environment.push(("GIT_CEILING_DIRECTORIES".to_owned(), place(above)));
    }
    Ok((environment, repository))
}

/// Returns the directory in which git looks for a repository: the one after a leading `-C`, otherwise the
/// zone's root.
fn folder(arguments: &[String]) -> &str {
    match arguments {
        [option, folder, ..] if option == "-C" => folder,
        _ => ".",
    }
}
