//! Rules of commands: the programs that run, and their arguments.
//!
//! A command line is checked before anything starts: [`plan()`] takes a name and its arguments and
//! answers with the arguments to run, the files they name and whether the zone may change, or with
//! a failure that tells a model what to call instead. The *role* of an argument decides: a path is held
//! to the zone, a search word is not, and a semicolon in an awk program is no shell syntax.
//!
//! This is the early and friendly line. The kernel sandbox that the command runs in protects,
//! so a rule aims at what an honest caller gets wrong and at the known ways out, not at proving a
//! program harmless by reading its text. The module is pure: it opens no file and starts nothing.
//!
//! - `table`: one rule a command, as text ([`commands`]);
//! - `syntax`: the types of a rule;
//! - `tokenizer`: reads options as the tools do (bundles, `--long=value`, abbreviations);
//! - `checker`: gives each word its role, collects paths, makes the [`CommandPlan`] or refuses it;
//! - `script`: looks into programs of awk, sed, dc, jq, SQL and the like;
//! - `archives`, `curl`, `documents`, `find`, `git`, `media`: tools with a grammar of their own;
//! - `check`: a command line from its name to its plan;
//! - `alternatives`: calls to make instead of a command that is not offered;
//! - `correction`: the command line that a refused one was probably meant to be.

mod alternatives;
mod archives;
mod check;
mod checker;
mod correction;
mod curl;
mod documents;
mod error;
mod find;
mod git;
mod media;
mod plan;
mod script;
mod syntax;
mod table;
mod text;
mod tokenizer;

#[cfg(test)]
fileshed_types::catalogue_test!("../../../tests/texts/failures/rules.md");

#[cfg(test)]
mod tests;

pub use alternatives::instead_in_terminal;
pub use error::{CommandError, CommandRefusal};
pub use plan::{ArchiveArgument, CommandContext, CommandPlan, Compression, Growth, PathArgument};
pub use syntax::CommandRule;
pub use table::{commands, package_of};

/// Checks a command line for a caller. If a refused one can be corrected, the hint says how.
pub fn plan(
    cmd: &str,
    args: &[String],
    context: &CommandContext<'_>,
) -> Result<CommandPlan, CommandError> {
    check::check(cmd, args, context).map_err(|error| {
        match correction::hint(&error, cmd, args, context) {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    })
}
