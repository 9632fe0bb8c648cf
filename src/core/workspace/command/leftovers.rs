//! What a command leaves under names that no operation makes is taken away or renamed, before anything
//! of it is entered.

use super::names_left::{NamesBefore, find, is_below};
use super::outcome::CommandOutcome;
use super::portable::Renamed;
use crate::Error;
use crate::changes::OpenEndedPermit;
use crate::zone::{Zone, fault_of_name};
use fileshed_rules::CommandPlan;

/// Commands that make no name, or only names that are judged before.
const HARMLESS: [&str; 5] = ["chmod", "rename", "rm", "rmdir", "shred"];

/// Commands that make no name but those of their arguments.
const LITERAL: [&str; 6] = ["mkdir", "sort", "tee", "touch", "truncate", "uniq"];

/// Runs a command, and takes away or renames what it left under names that no operation makes. What
/// has such a name already came another way, from an administrator or a former server, and stays.
pub(super) fn without<'a>(
    zone: &'a Zone<'a>,
    plan: &CommandPlan,
    permit: &OpenEndedPermit<'_>,
    effect: impl FnOnce() -> Result<CommandOutcome, Error>,
) -> Result<CommandOutcome, Error> {
    let command = plan.command;
    let makes_names = !HARMLESS.contains(&command)
        && (!LITERAL.contains(&command) || plan.args.iter().any(|text| may_name(text)));
    if !makes_names {
        return effect();
    }
    let before = NamesBefore::of(zone)?;
    let outcome = effect();
    let put_right = before.put_right(permit, true)?;
    outcome.map(|outcome| CommandOutcome {
        removed: put_right.removed,
        renamed: put_right.renamed,
        ..outcome
    })
}

/// What was done to names that no operation makes.
#[derive(Debug)]
pub(crate) struct PutRight {
    /// What was taken away.
    pub(crate) removed: Vec<String>,
    /// What has another name now.
    pub(crate) renamed: Vec<Renamed>,
}

impl NamesBefore<'_> {
    /// Takes away what has come under kept names by now, and, where the command is over, gives other names to what
    /// some system cannot hold.
    pub(crate) fn put_right(
        &self,
        permit: &OpenEndedPermit<'_>,
        is_over: bool,
    ) -> Result<PutRight, Error> {
        let mut found = find(self.zone)?;
        let removed = self.remove_kept(permit, &found)?;
        let mut renamed = Vec::new();
        if is_over {
            let is_gone = |path: &str, gone: &str| path == gone || is_below(path, gone);
            found.retain(|(path, _)| !removed.iter().any(|gone| is_gone(path, gone)));
            renamed = self.rename_others(permit, found);
        }
        Ok(PutRight { removed, renamed })
    }
}

/// Whether an argument may hold a path of which some system cannot hold a name: as a whole, behind
/// the letter of an option, or behind `=`.
fn may_name(argument: &str) -> bool {
    let behind = argument.strip_prefix('-').and_then(|option| {
        let mut letters = option.chars();
        letters.next().map(|_| letters.as_str())
    });
    let value = argument.split_once('=').map(|(_, value)| value);
    let values = [Some(argument), behind, value];
    let mut names = values
        .into_iter()
        .flatten()
        .flat_map(|text| text.split('/'));
    names.any(|name| !matches!(name, "." | "..") && fault_of_name(name).is_some())
}
