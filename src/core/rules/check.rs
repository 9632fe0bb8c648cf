//! A command line from its name to its plan, or to the refusal of one word.

use crate::checker::Checker;
use crate::error::{CommandError, CommandRefusal};
use crate::plan::{CommandContext, CommandPlan};
use crate::{alternatives, grammar, text};

/// Checks a command line as it is.
pub(crate) fn check(
    cmd: &str,
    args: &[String],
    context: &CommandContext<'_>,
) -> Result<CommandPlan, CommandError> {
    let mut words = std::iter::once(cmd).chain(args.iter().map(String::as_str));
    if let Some(word) = words.find(|word| word.contains('\0')) {
        return Err(CommandError::Nul(Box::new(CommandRefusal {
            command: text::shown(cmd).replace('\0', "\\0"),
            argument: Some(text::shown(word).replace('\0', "\\0")),
            reason: "it contains a NUL character".to_owned(),
            hint: "remove the NUL character (\\u0000) from `cmd` and `args`".into(),
            zone: context.zone,
        })));
    }
    let rule = alternatives::command(cmd, args, context)?;
    let mut checker = Checker::new(rule, context);
    grammar::check(&mut checker, args)?;
    checker.finish()
}
