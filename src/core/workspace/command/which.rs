//! `which`, answered by the server: the program is a shell script on common systems.

use super::built_in::Said;
use crate::zone::Zone;
use fileshed_rules::CommandPlan;

/// Its name.
pub(super) const COMMAND: &str = "which";

/// Says where the whitelisted commands among the arguments are.
pub(super) fn run(zone: &Zone<'_>, plan: &CommandPlan) -> Said {
    let names: Vec<&String> = plan
        .args
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let found: Vec<String> = names
        .iter()
        .filter_map(|name| zone.store.programs().shown_place(name))
        .map(|place| place + "\n")
        .collect();
    Said {
        status: i32::from(found.len() < names.len() || names.is_empty()),
        stdout: found.concat(),
        stderr: String::new(),
    }
}
