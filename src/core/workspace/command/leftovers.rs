//! What a command leaves under names that no operation makes is taken away or renamed, before anything
//! of it is entered.

use super::names_left::NamesBefore;
use super::outcome::CommandOutcome;
use crate::Error;
use crate::guard::OpenEndedPermit;
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
    let removed = before.remove_kept(permit)?;
    let renamed = before.rename_others(permit)?;
    outcome.map(|outcome| CommandOutcome {
        removed,
        renamed,
        ..outcome
    })
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
