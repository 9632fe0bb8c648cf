//! find: starting points, then an expression of predicates. Only known predicates pass.

use super::checker::Checker;
use super::error::CommandError;
use super::syntax::{ArgumentRole, OptionEffect, OptionRule, OptionValues};
use fileshed_types::{Hint, Repeat};

/// Checks the arguments of find.
pub(super) fn read(checker: &mut Checker<'_>, args: &[String]) -> Result<(), CommandError> {
    let syntax = &checker.rule.syntax;
    let start = ArgumentRole::of_file(args.iter().any(|word| word == "-delete"));
    let mut words = args.iter().map(String::as_str);
    let mut in_expression = false;
    while let Some(word) = words.next() {
        // A caller used to a shell escapes what a shell would take.
        let word = match word {
            "\\(" => "(",
            "\\)" => ")",
            "\\!" => "!",
            other => other,
        };
        let is_operator = matches!(word, "(" | ")" | "!" | ",");
        let is_global = matches!(word, "-H" | "-L" | "-P") || word.starts_with("-O");
        if !in_expression && is_global {
            checker.switch(word)?;
            continue;
        }
        if !in_expression && !word.starts_with('-') && !is_operator {
            checker.operand(start, word)?;
            continue;
        }
        in_expression = true;
        let known = word.strip_prefix('-').and_then(|name| syntax.option(name));
        if let Some(reason) = known.and_then(OptionRule::refused) {
            let starts_programs = word.starts_with("-exec") || word.starts_with("-ok");
            let hint = if starts_programs {
                without_program(args, word)
            } else {
                "use -print, -printf or -ls in `args`, with `stdout_file`".into()
            };
            return Err(checker.refuse_with(word, reason, hint));
        }
        if known.is_none() && !is_operator && word != "--help" && word != "--version" {
            return Err(checker.refuse(word, "it is not among the predicates accepted here"));
        }
        if known.is_some_and(|option| option.effect == OptionEffect::Changes) {
            checker.changes(word);
        }
        checker.switch(word)?;
        if let Some(OptionValues::One(role)) = known.map(|option| option.takes)
            && let Some(value) = words.next()
        {
            checker.operand(role, value)?;
        }
    }
    Ok(())
}

/// Returns the call that finds the same and starts nothing, where the action is the last word of the
/// expression: else it may be a test, and what follows it would hold for other files.
fn without_program(args: &[String], action: &str) -> Hint {
    let is_action = |word: &String| word == action;
    let at = args.iter().position(is_action).unwrap_or(args.len());
    let (begin, rest) = args.split_at(at);
    let is_end = |word: &String| matches!(word.as_str(), ";" | "\\;" | "+");
    let is_last = rest
        .iter()
        .position(is_end)
        .is_none_or(|end| end + 1 == rest.len());
    let is_joined =
        |word: &String| matches!(word.as_str(), "!" | "-not" | "-o" | "-or" | "(" | "\\(");
    if !is_last || begin.iter().any(is_joined) {
        return "print the names, and name the files in the next call".into();
    }
    let removes = rest.get(1).is_some_and(|program| program == "rm");
    let next = if removes {
        " finds the files; -type f and -delete at the end of `args` remove them"
    } else {
        " finds the files; name them in the next call"
    };
    Hint::from(Repeat::with("args", begin.to_vec())).say(next)
}
