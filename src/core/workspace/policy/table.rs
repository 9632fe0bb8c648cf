//! The whitelist: one rule a command, in families.
//!
//! A rule says what the words of its command mean. Options that are not listed pass as switches
//! where a command can do no harm with them; commands that reach further list all they accept.

mod archives;
mod compare;
mod data;
mod documents;
mod files;
mod media;
mod misc;
mod network;
mod search;
mod text;

use std::sync::LazyLock;

use super::rule::CommandRule;

static TABLE: LazyLock<Vec<CommandRule>> = LazyLock::new(|| {
    let families = [
        files::RULES,
        text::RULES,
        compare::RULES,
        search::RULES,
        data::RULES,
        archives::RULES,
        media::RULES,
        documents::RULES,
        misc::RULES,
        network::RULES,
    ];
    families.concat()
});

/// Every command that any zone offers.
#[must_use]
pub fn commands() -> &'static [CommandRule] {
    &TABLE
}
